//! Why there is no selection, and why there is no selector: a stable code, and every candidate that was made.

use crate::config_error::ConfigurationError;
use crate::payment::DecodeError;
use crate::ranking::{Candidate, Deficit, Obstacle};
use crate::util::text::joined;

/// Why nothing was selected. Decide by [`code`](Self::code) or by variant, never by message.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// `invalid-payment-required` or `unsupported-version`: no offer could be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// `no-supported-route`: nothing offered can be paid by this configuration, or the chain was
    /// read and says no for another reason than a balance.
    #[error("no offer can be paid: {}", summary(.0))]
    NoSupportedRoute(Vec<Candidate>),
    /// `refused-by-policy`: everything payable was refused by policy.
    #[error("the policy refuses every offer that could be paid: {}", summary(.0))]
    RefusedByPolicy(Vec<Candidate>),
    /// `insufficient-liquidity`: balances were read and none suffices. Only offers count that lack nothing but
    /// funds (and perhaps an approval).
    #[error("no balance is high enough: {}", joined(deficits))]
    InsufficientLiquidity {
        /// What is short where, in the merchant's order.
        deficits: Vec<Deficit>,
        /// Every candidate, ranked.
        candidates: Vec<Candidate>,
    },
    /// `balances-unavailable`: no balance could be read. Says nothing about the buyer's funds.
    #[error("no balance could be read: {}", summary(.0))]
    BalancesUnavailable(Vec<Candidate>),
    /// `configuration`: the configuration is not accepted.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// `runtime`: the program around the selector lacks what a selection needs.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl SelectError {
    /// The code: stable, kebab-case, the same in every language.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Decode(DecodeError::UnsupportedVersion { .. }) => "unsupported-version",
            Self::Decode(_) => "invalid-payment-required",
            Self::NoSupportedRoute(_) => "no-supported-route",
            Self::RefusedByPolicy(_) => "refused-by-policy",
            Self::InsufficientLiquidity { .. } => "insufficient-liquidity",
            Self::BalancesUnavailable(_) => "balances-unavailable",
            Self::Configuration(_) => "configuration",
            Self::Runtime(_) => "runtime",
        }
    }

    /// Every candidate, ranked; empty where none were made.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        match self {
            Self::NoSupportedRoute(candidates)
            | Self::RefusedByPolicy(candidates)
            | Self::InsufficientLiquidity { candidates, .. }
            | Self::BalancesUnavailable(candidates) => candidates,
            Self::Decode(_) | Self::Configuration(_) | Self::Runtime(_) => &[],
        }
    }

    /// What is short on which network, in the merchant's order; empty for every other error.
    #[must_use]
    pub fn deficits(&self) -> &[Deficit] {
        match self {
            Self::InsufficientLiquidity { deficits, .. } => deficits,
            _ => &[],
        }
    }

    /// The error that `candidates`, ranked and none of them viable, amount to.
    pub(crate) fn from_candidates(candidates: Vec<Candidate>) -> Self {
        let only = |obstacle| {
            move |candidate: &Candidate| {
                candidate.rejections.iter().all(|rejection| rejection.reason.obstacle() == obstacle)
            }
        };
        let deficits = deficits(&candidates);
        if !deficits.is_empty() {
            Self::InsufficientLiquidity { deficits, candidates }
        } else if candidates.iter().any(only(Obstacle::Unread)) {
            Self::BalancesUnavailable(candidates)
        } else if candidates.iter().any(only(Obstacle::Policy)) {
            Self::RefusedByPolicy(candidates)
        } else {
            Self::NoSupportedRoute(candidates)
        }
    }
}

/// What the program around the selector lacks: a Tokio runtime, a transport, or what the transport needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; needed is {needed}")]
pub struct RuntimeError {
    problem: &'static str,
    needed: &'static str,
}

impl RuntimeError {
    pub(crate) fn new(problem: &'static str, needed: &'static str) -> Self {
        Self { problem, needed }
    }
}

/// Why there is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// `configuration`: the configuration lists what the ready-made transport cannot reach.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// `runtime`: there is no transport, or the ready-made one cannot be made.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl BuildError {
    /// The code: that of the [`SelectError`] which this becomes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Configuration(_) => "configuration",
            Self::Runtime(_) => "runtime",
        }
    }
}

impl From<BuildError> for SelectError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Configuration(error) => Self::Configuration(error),
            BuildError::Runtime(error) => Self::Runtime(error),
        }
    }
}

fn in_offered_order(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut offered: Vec<&Candidate> = candidates.iter().collect();
    offered.sort_by_key(|candidate| candidate.requirement_index);
    offered
}

fn deficits(candidates: &[Candidate]) -> Vec<Deficit> {
    let short = in_offered_order(candidates).into_iter().filter(|candidate| candidate.lacks_only_funds());
    short.filter_map(Deficit::from_candidate).collect()
}

/// The first reason of every candidate, in the merchant's order.
fn summary(candidates: &[Candidate]) -> String {
    joined(in_offered_order(candidates).into_iter().map(|candidate| {
        let index = candidate.requirement_index;
        let reason = candidate.rejections.first().map(ToString::to_string).unwrap_or_default();
        match &candidate.network_name {
            Some(name) => format!("offer {index} ({name}): {reason}"),
            None => format!("offer {index}: {reason}"),
        }
    }))
}
