//! What can come of asking an endpoint for a balance.

use super::rpc::Failure;
use crate::amount::Amount;
use crate::verdict::Note;

/// A balance that an endpoint told, beside the proof of its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) balance: Amount,
    pub(super) frozen: bool,
    pub(super) notes: Vec<Note>,
}

/// Why an endpoint did not tell a balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It serves another chain.
    WrongChain(String),
    /// There is no proof of which chain it serves.
    NoAnswer(String),
    /// It serves the right chain and gave nothing that can be read as a balance.
    Untold(String),
    /// It serves the right chain, and the token itself refused to tell.
    Refused(String),
}

impl Unread {
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::WrongChain(detail) | Self::NoAnswer(detail) | Self::Untold(detail) | Self::Refused(detail) => detail,
        }
    }
}

/// What a chain of proven identity told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// One a read, in order.
    pub(super) balances: Vec<ToldBalance>,
    /// The chain's own time, in milliseconds since 1970, where the way of asking brings it.
    pub(super) chain_time_ms: Option<u64>,
}

/// A balance and whether its account is frozen, or why there is none.
pub(super) type ToldBalance = Result<(Amount, bool), Untold>;

/// Why one balance of an otherwise good answer is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// The chain itself has no balance to tell. Says nothing about the endpoint.
    Chain(&'static str),
    /// The endpoint refused or garbled this item.
    Endpoint(Failure),
}

impl Told {
    pub(super) fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.balances.iter().filter_map(|balance| match balance {
            Err(Untold::Endpoint(failure)) => Some(failure),
            _ => None,
        })
    }
}

impl From<Failure> for Untold {
    fn from(failure: Failure) -> Self {
        Self::Endpoint(failure)
    }
}
