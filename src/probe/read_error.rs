//! What an endpoint reports about balances, and why a balance was not read.

use super::rpc::Failure;
use crate::health::{FailureClass, Next};
use crate::scheme::facts::AccountState;

/// The reply of an endpoint that proved its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BalanceReport {
    /// One for each read, in order.
    pub(super) results: Vec<BalanceResult>,
    /// Calls that were throttled, whether or not the balances could be read without them.
    pub(super) throttles: Vec<Failure>,
    /// The chain's own time, in milliseconds since 1970, if the read plan brings it.
    pub(super) chain_time_ms: Option<u64>,
}

pub(super) type BalanceResult = Result<AccountState, Unread>;

/// Why a balance was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The endpoint did not prove which chain it serves, or it serves another one.
    Unproven(Failure),
    /// The chain has nothing at the address that can be read as a balance. No fault of the endpoint.
    Chain(&'static str),
    /// The chain proves that there is no contract at the asset's address.
    NoContract,
    /// The endpoint proved its chain, but refused or garbled this item.
    Item(Failure),
}

impl Unread {
    /// Whether every other endpoint would answer the same: the token itself refused.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Item(failure) if failure.class.next() == Next::Accept)
    }

    pub(super) fn is_wrong_chain(&self) -> bool {
        matches!(self, Self::Unproven(failure) if failure.class == FailureClass::Identity)
    }

    /// For people.
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::Unproven(failure) | Self::Item(failure) => &failure.detail,
            Self::Chain(detail) => detail,
            Self::NoContract => "no contract answers at the asset's address",
        }
    }
}
