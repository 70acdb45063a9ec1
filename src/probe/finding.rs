//! What can come of asking an endpoint for a balance.

use super::rpc::Failure;
use crate::candidate::Holding;

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
    /// It serves the right chain, where there is no token at the address.
    NoContract,
}

impl Unread {
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::WrongChain(detail) | Self::NoAnswer(detail) | Self::Untold(detail) | Self::Refused(detail) => detail,
            Self::NoContract => "no contract answers at the asset's address",
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

/// What is held, or why nobody can tell.
pub(super) type ToldBalance = Result<Holding, Untold>;

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

impl Told {
    /// What several answers of one endpoint tell together. One that failed speaks for all.
    pub(super) fn joined(answers: Vec<Result<Self, Failure>>) -> Result<Self, Failure> {
        let mut all = Self { balances: Vec::new(), chain_time_ms: None };
        for answer in answers {
            let Self { balances, chain_time_ms } = answer?;
            all.balances.extend(balances);
            all.chain_time_ms = all.chain_time_ms.max(chain_time_ms);
        }
        Ok(all)
    }

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
