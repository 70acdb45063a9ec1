//! What a failure is, and what follows from it: one table for health, read plan and failover.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds of failure that endpoints show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureClass {
    /// Too many requests for now.
    RateLimited,
    /// A plan's allowance is used up.
    Quota,
    /// The request itself is at fault.
    ClientError,
    /// The node has not caught up.
    Behind,
    /// The endpoint does not offer this way of asking.
    Unsupported,
    /// The endpoint does not accept the credentials, or their absence.
    Auth,
    /// The endpoint failed.
    Fault,
    /// The endpoint probably failed: nothing else explains what it said.
    SoftFault,
    /// The call ran and reverted: a valid answer.
    Reverted,
    /// The endpoint serves another chain.
    Identity,
}

/// What a class does to the endpoint's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Counts as a failure.
    Fault,
    /// Counts as half of one.
    SoftFault,
    /// Not to be asked before a time; never a failure.
    Throttle,
    /// The same, for longer.
    LongThrottle,
    /// The circuit opens at once.
    OpenNow,
    /// Nothing.
    Nothing,
}

/// What becomes of the read plan that the endpoint was asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanEffect {
    Keep,
    /// Ask the same endpoint in the next way.
    Downgrade,
}

/// What a class means to the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another endpoint may tell.
    AskAnother,
    /// The chain has spoken; others would say the same.
    Accept,
}

impl FailureClass {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::RateLimited,
        Self::Quota,
        Self::ClientError,
        Self::Behind,
        Self::Unsupported,
        Self::Auth,
        Self::Fault,
        Self::SoftFault,
        Self::Reverted,
        Self::Identity,
    ];

    #[rustfmt::skip] // One row a class reads as the table that it is.
    fn row(self) -> (&'static str, &'static str, Effect, PlanEffect, Next) {
        use Next::{Accept, AskAnother};
        use PlanEffect::{Downgrade, Keep};
        match self {
            Self::RateLimited => ("rate-limited", "rate limited",     Effect::Throttle,     Keep,      AskAnother),
            Self::Quota       => ("quota",        "quota used up",    Effect::LongThrottle, Keep,      AskAnother),
            Self::ClientError => ("client-error", "request refused",  Effect::Nothing,      Keep,      AskAnother),
            Self::Behind      => ("behind",       "node is behind",   Effect::Nothing,      Keep,      AskAnother),
            Self::Unsupported => ("unsupported",  "not supported",    Effect::Nothing,      Downgrade, AskAnother),
            Self::Auth        => ("auth",         "access refused",   Effect::Fault,        Keep,      AskAnother),
            Self::Fault       => ("fault",        "endpoint failure", Effect::Fault,        Keep,      AskAnother),
            Self::SoftFault   => ("soft-fault",   "unclear failure",  Effect::SoftFault,    Keep,      AskAnother),
            Self::Reverted    => ("reverted",     "call reverted",    Effect::Nothing,      Keep,      Accept),
            Self::Identity    => ("identity",     "another chain",    Effect::OpenNow,      Keep,      AskAnother),
        }
    }

    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The class in words.
    pub(crate) fn words(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn effect(self) -> Effect {
        self.row().2
    }

    pub(crate) fn plan_effect(self) -> PlanEffect {
        self.row().3
    }

    pub(crate) fn next(self) -> Next {
        self.row().4
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_endpoints_own_counts_against_it() {
        let counting: Vec<&str> = (FailureClass::ALL.iter())
            .filter(|class| matches!(class.effect(), Effect::Fault | Effect::SoftFault | Effect::OpenNow))
            .map(|class| class.name())
            .collect();
        assert_eq!(counting, ["auth", "fault", "soft-fault", "identity"]);
    }

    #[test]
    fn the_json_name_is_the_displayed_name() {
        for class in FailureClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
