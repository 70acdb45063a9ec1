//! What a probe can find out about a candidate: the facts, and the endpoint that told them.
//!
//! Refuses to know how they are read and what they mean for the offer.

use std::sync::Arc;

use crate::chain::Amount;
use crate::health::{Circuit, Score};
use crate::ranking::{Note, RejectionReason};

/// What a probe found out about one candidate.
#[derive(Clone, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) reading: ReadOutcome<'a>,
    pub(crate) endpoint: Option<Arc<str>>,
    pub(crate) circuit: Circuit,
    pub(crate) health_score: Score,
    pub(crate) latency_us: Option<u64>,
    pub(crate) lag_ms: Option<u64>,
    pub(crate) notes: Vec<Note>,
}

impl<'a> Reading<'a> {
    /// A reading for which no endpoint could be asked.
    pub(crate) fn unasked(reading: ReadOutcome<'a>) -> Self {
        Self {
            reading,
            endpoint: None,
            circuit: Circuit::Closed,
            health_score: Score::NEW,
            latency_us: None,
            lag_ms: None,
            notes: Vec::new(),
        }
    }
}

/// What an owner holds of an asset, or why nobody could tell. Unknown is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome<'a> {
    AccountState(&'a AccountState),
    Unreadable { reason: RejectionReason, detail: String },
}

/// What a chain of proven identity says of an owner and a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccountState {
    pub(crate) balance: Amount,
    /// Why the token would not move, whatever the balance.
    pub(crate) blockers: Vec<(RejectionReason, &'static str)>,
    /// The hash of the token's signing domain, where the token tells it.
    pub(crate) domain_separator: Option<[u8; 32]>,
    /// What Permit2 may spend; `None` where that was not asked.
    pub(crate) allowance: Option<Amount>,
    /// The token has what takes permits (EIP-2612).
    pub(crate) takes_permits: bool,
    /// A key signs for the owner: there is no code at the address, or that of a delegate (EIP-7702).
    pub(crate) key_signs: bool,
    /// What the token keeps of every transfer, where it says so.
    pub(crate) transfer_fee: Option<TransferFee>,
    pub(crate) notes: Vec<Note>,
}

/// What a mint keeps of every transfer, as its extension states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferFee {
    pub(crate) basis_points: u16,
    /// In atomic units.
    pub(crate) maximum: u64,
}
