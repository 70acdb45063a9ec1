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
}

impl Unread {
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::WrongChain(detail) | Self::NoAnswer(detail) | Self::Untold(detail) => detail,
        }
    }
}

/// What the chain says of one balance, as a family's decoder found it: the balance and whether its
/// account is frozen, or why there is none.
pub(super) type Told = Result<(Amount, bool), Untold>;

/// Why one balance of an otherwise good answer is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// The chain itself has no balance to tell. Says nothing about the endpoint.
    Chain(&'static str),
    /// The endpoint refused or garbled this item.
    Endpoint(Failure),
}

impl From<Failure> for Untold {
    fn from(failure: Failure) -> Self {
        Self::Endpoint(failure)
    }
}
