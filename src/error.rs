//! Why there is no selection: one type, a stable code, and every candidate that was made.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::amount::Amount;
use crate::candidate::Candidate;
use crate::config::ConfigError;
use crate::json::Record;
use crate::network::ChainId;
use crate::order::sorted_by_key;
use crate::payment::DecodeError;
use crate::text::{add_part, say};
use crate::verdict::Obstacle;

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
    #[error("no balance is high enough: {}", list(deficits))]
    InsufficientLiquidity {
        /// What is short where, in the merchant's order.
        deficits: Vec<Deficit>,
        /// Every candidate, ranked.
        candidates: Vec<Candidate>,
    },
    /// `balances-unavailable`: no balance could be read. Says nothing about the buyer's funds.
    #[error("no balance could be read: {}", summary(.0))]
    BalancesUnavailable(Vec<Candidate>),
    /// `configuration`: the configuration, or the place where the selector runs, is not accepted.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// `cancelled`: the caller gave up. This crate never returns it: dropping the future cancels a selection
    /// without an error. It is for a host that cancels in another way and must report that as an error.
    #[error("the selection was cancelled")]
    Cancelled,
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
            Self::Cancelled => "cancelled",
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
            Self::Decode(_) | Self::Configuration(_) | Self::Cancelled => &[],
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
    pub(crate) fn of(candidates: Vec<Candidate>) -> Self {
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

/// How much is missing to pay one offer. `Display` is a sentence in token units:
/// `0.03 USDC short on Base (needs 0.05, has 0.02)`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deficit {
    /// Position of the offer in the merchant's list, from 0.
    pub requirement_index: usize,
    /// The network as CAIP-2 id.
    pub network: ChainId,
    /// The network's name for people.
    pub network_name: Arc<str>,
    /// The asset as CAIP-19 id.
    pub asset_id: Arc<str>,
    /// The asset's symbol.
    pub symbol: Arc<str>,
    /// The asset's decimals.
    pub decimals: u8,
    /// The price, or the deposit of schemes that pay out of one, in atomic units.
    pub required: Amount,
    /// The balance without what is held, in atomic units.
    pub available: Amount,
    /// How much of the balance other payments hold, in atomic units.
    #[serde(default)]
    pub held: Amount,
    /// `required - available`.
    pub shortfall: Amount,
}

impl Deficit {
    /// What `candidate` needs and what there is, short or not; `None` where no balance was read.
    pub(crate) fn of(candidate: &Candidate) -> Option<Self> {
        let Candidate { deposit, amount, balance, held, decimals, .. } = *candidate;
        let Candidate { network, network_name, asset_id, symbol, .. } = candidate;
        let (required, balance, decimals) = (deposit.or(amount)?, balance?, decimals?);
        let (network, network_name) = (network.as_ref()?, network_name.as_ref()?);
        let (asset_id, symbol) = (asset_id.as_ref()?, symbol.as_ref()?);
        let available = balance.saturating_sub(held);
        Some(Self {
            requirement_index: candidate.requirement_index,
            network: network.clone(),
            network_name: network_name.clone(),
            asset_id: asset_id.clone(),
            symbol: symbol.clone(),
            decimals,
            required,
            available,
            held,
            shortfall: required.saturating_sub(available),
        })
    }

    /// The same with `held` of `balance` held by other payments.
    pub(crate) fn with_held(self, balance: Amount, held: Amount) -> Self {
        let available = balance.saturating_sub(held);
        Self { available, held, shortfall: self.required.saturating_sub(available), ..self }
    }

    /// The deficit as it is serialised.
    #[doc(hidden)]
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.whole("requirementIndex", self.requirement_index as u64);
        record.text("network", self.network.as_str());
        record.text("networkName", &self.network_name);
        record.text("assetId", &self.asset_id);
        record.text("symbol", &self.symbol);
        record.whole("decimals", u64::from(self.decimals));
        record.text("required", &self.required.to_string());
        record.text("available", &self.available.to_string());
        record.text("held", &self.held.to_string());
        record.text("shortfall", &self.shortfall.to_string());
        record
    }
}

impl Serialize for Deficit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

impl fmt::Display for Deficit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = |amount: Amount| amount.to_units(self.decimals);
        let (shortfall, required, available) = (units(self.shortfall), units(self.required), units(self.available));
        let Self { symbol, network_name, .. } = self;
        write!(f, "{shortfall} {symbol} short on {network_name} (needs {required}, has {available}")?;
        match self.held.is_zero() {
            true => f.write_str(")"),
            false => write!(f, " beside {} held)", units(self.held)),
        }
    }
}

fn in_offered_order(candidates: &[Candidate]) -> Vec<&Candidate> {
    sorted_by_key(candidates, |candidate| candidate.requirement_index)
}

fn deficits(candidates: &[Candidate]) -> Vec<Deficit> {
    let mut deficits = Vec::new();
    for candidate in in_offered_order(candidates) {
        if candidate.lacks_funds_alone() {
            deficits.extend(Deficit::of(candidate));
        }
    }
    deficits
}

fn list(deficits: &[Deficit]) -> String {
    let mut text = String::new();
    deficits.iter().for_each(|deficit| add_part(&mut text, deficit));
    text
}

/// The first reason of every candidate, in the merchant's order.
fn summary(candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for candidate in in_offered_order(candidates) {
        add_part(&mut text, &"offer ");
        text.push_str(&candidate.requirement_index.to_string());
        if let Some(name) = &candidate.network_name {
            say(&mut text, &[" (", name, ")"]);
        }
        let reason = candidate.rejections.first().map(ToString::to_string).unwrap_or_default();
        say(&mut text, &[": ", &reason]);
    }
    text
}
