//! What a probe finds out for a candidate, and the endpoint that reported it.

use std::sync::Arc;

use crate::chain::Amount;
use crate::health::{Circuit, Score};
use crate::ranking::{Note, RejectionReason};
use crate::scheme::spl::TransferFee;

/// What a probe found out for one candidate.
#[derive(Clone, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) outcome: ReadOutcome<'a>,
    pub(crate) endpoint: Option<Arc<str>>,
    pub(crate) circuit: Circuit,
    pub(crate) health_score: Score,
    pub(crate) latency_us: Option<u64>,
    pub(crate) lag_ms: Option<u64>,
    pub(crate) notes: Vec<Note>,
}

impl Reading<'_> {
    /// A reading without any endpoint. `detail` says why.
    pub(crate) fn not_asked(detail: &str) -> Self {
        let (reason, detail) = (RejectionReason::BalanceUnavailable, detail.to_owned());
        Self {
            outcome: ReadOutcome::Unreadable { reason, detail },
            endpoint: None,
            circuit: Circuit::Closed,
            health_score: Score::NEW,
            latency_us: None,
            lag_ms: None,
            notes: Vec::new(),
        }
    }
}

/// What an owner holds of an asset, or why that is unknown. Unknown is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome<'a> {
    AccountState(&'a AccountState),
    Unreadable { reason: RejectionReason, detail: String },
}

/// What a chain of proven identity reports about an owner and a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccountState {
    pub(crate) balance: Amount,
    /// Why the token would not move, whatever the balance.
    pub(crate) blockers: Vec<(RejectionReason, &'static str)>,
    /// The hash of the token's signing domain, if the token has a function for it.
    pub(crate) domain_separator: Option<[u8; 32]>,
    /// What Permit2 may spend; `None` if that was not asked.
    pub(crate) allowance: Option<Amount>,
    /// The token has the functions of EIP-2612.
    pub(crate) takes_permits: bool,
    /// The owner is an EOA, perhaps with an EIP-7702 delegation: it can sign ECDSA.
    pub(crate) is_eoa: bool,
    /// What the token keeps of every transfer, if it states that.
    pub(crate) transfer_fee: Option<TransferFee>,
    pub(crate) notes: Vec<Note>,
}
