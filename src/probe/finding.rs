//! What can come of asking an endpoint for a balance.

use super::rpc::Failure;
use crate::scheme::facts::AccountState;

/// Why an endpoint did not tell a balance, in a word and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) why: Why,
    pub(super) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It serves another chain.
    WrongChain,
    /// There is no proof of which chain it serves.
    NoAnswer,
    /// It serves the right chain and gave nothing that can be read as a balance.
    Untold,
    /// It serves the right chain, and the token itself refused to tell.
    Refused,
    /// It serves the right chain, where there is no token at the address.
    NoContract,
}

/// What a chain of proven identity told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// One a read, in order.
    pub(super) balances: Vec<ToldBalance>,
    /// What was refused for want of patience, beside the balances or for them.
    pub(super) throttles: Vec<Failure>,
    /// The chain's own time, in milliseconds since 1970, where the way of asking brings it.
    pub(super) chain_time_ms: Option<u64>,
}

/// What is held, or why nobody can tell.
pub(super) type ToldBalance = Result<Box<AccountState>, Untold>;

/// Why one balance of an otherwise good answer is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// The chain itself has no balance to tell. Says nothing about the endpoint.
    Chain(&'static str),
    /// The chain proves that there is no contract at the asset's address.
    NoContract,
    /// The endpoint refused or garbled this item.
    Endpoint(Failure),
}

impl From<Failure> for Untold {
    fn from(failure: Failure) -> Self {
        Self::Endpoint(failure)
    }
}
