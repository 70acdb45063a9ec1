//! Candidates: one for every offer, payable or not, with the reasons.
//!
//! The data and its JSON. `scheme` decides what is a reason; `cascade` orders.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chain::{Amount, ChainId};
use crate::health::{Circuit, Score};
use crate::ranking::{Approval, DecidingKey, Note, Obstacle, Rejection, RejectionReason, rejections};
use crate::util::latency_ms;

/// One offer of the merchant, and whether and why this buyer can pay it.
///
/// Serialises as the JSON object of the configuration's language: camelCase names, amounts as
/// decimal strings of atomic units, what is unknown left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Candidate {
    /// Position of the offer in the merchant's list, from 0; unique within a list of candidates.
    pub requirement_index: usize,
    /// Place in the ranking, from 1; 0 before ranking.
    #[serde(default)]
    pub rank: usize,
    /// The network as CAIP-2 id; absent where the offer's network is not known by any name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<ChainId>,
    /// The network's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_name: Option<Arc<str>>,
    /// The payment scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<Arc<str>>,
    /// The asset as CAIP-19 id; absent where the asset is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asset_id: Option<Arc<str>>,
    /// The asset's symbol, from the registry or the configuration, never from the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Arc<str>>,
    /// The asset's decimals, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u8>,
    /// The price in atomic units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// The buyer's address that would pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Arc<str>>,
    /// What that address holds, in atomic units; absent when it was not read. Never 0 for unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Amount>,
    /// How much of the balance other payments hold, in atomic units: it cannot pay this offer too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held: Amount,
    /// What must be deposited for schemes that pay out of a deposit, in atomic units; the balance must cover it
    /// instead of the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<Amount>,
    /// What Permit2 may spend of that address's balance, in atomic units; absent when it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Amount>,
    /// The transaction that the buyer would have to send first; present exactly with `allowance-required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// What the token itself keeps of the payment, in atomic units: the recipient gets that much less. Present
    /// exactly with the note `transfer-fee`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_fee: Option<Amount>,
    /// What paying here costs the buyer besides the price, in atomic units of the asset.
    #[serde(default)]
    pub fee: Amount,
    /// Health of the endpoint that was asked; 0.8 when none was.
    pub health_score: Score,
    /// Average latency of that endpoint in microseconds; `latencyMs` in JSON.
    #[serde(default, rename = "latencyMs", with = "latency_ms", skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u64>,
    /// How far that endpoint's chain lies behind the others of its network, in milliseconds; absent
    /// where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ms: Option<u64>,
    /// That endpoint's circuit when it was asked.
    pub circuit: Circuit,
    /// That endpoint's host, and port if it is not the scheme's own; a provider's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Arc<str>>,
    /// Whether the offer can be paid.
    pub viable: bool,
    /// Why it cannot; empty exactly when `viable`. In JSON `rejectionReasons`, the names, and `rejectionDetails`,
    /// the particulars by name.
    #[serde(flatten, with = "rejections")]
    pub rejections: Vec<Rejection>,
    /// The key of the cascade that set it apart from the winner; absent on the winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidingKey>,
    /// Remarks that do not change viability.
    #[serde(default)]
    pub notes: Vec<Note>,
}

impl Candidate {
    /// A viable candidate of which nothing else is known, for what-if rankings.
    #[must_use]
    pub fn new(requirement_index: usize) -> Self {
        Self {
            requirement_index,
            rank: 0,
            network: None,
            network_name: None,
            scheme: None,
            asset_id: None,
            symbol: None,
            decimals: None,
            amount: None,
            owner: None,
            balance: None,
            held: Amount::ZERO,
            deposit: None,
            allowance: None,
            approval: None,
            transfer_fee: None,
            fee: Amount::ZERO,
            health_score: Score::NEW,
            latency_us: None,
            lag_ms: None,
            circuit: Circuit::Closed,
            endpoint: None,
            viable: true,
            rejections: Vec::new(),
            decided_by: None,
            notes: Vec::new(),
        }
    }

    /// Adds a reason, which makes the candidate unpayable. A reason that it has already gains the detail.
    pub fn reject(&mut self, reason: RejectionReason, detail: impl Into<String>) {
        self.viable = false;
        let rejection = Rejection { reason, detail: detail.into() };
        match self.rejections.iter_mut().find(|known| known.reason == reason) {
            None => self.rejections.push(rejection),
            Some(known) if known.detail.contains(&rejection.detail) => {}
            Some(known) if known.detail.is_empty() => known.detail = rejection.detail,
            Some(known) => known.detail = format!("{}; {}", known.detail, rejection.detail),
        }
    }

    /// Whether `reason` is among the rejections.
    #[must_use]
    pub fn is_rejected_for(&self, reason: RejectionReason) -> bool {
        self.rejections.iter().any(|rejection| rejection.reason == reason)
    }

    /// Whether it lacks funds, and nothing that funds and an approval would not mend.
    pub(crate) fn lacks_only_funds(&self) -> bool {
        let obstacles = || self.rejections.iter().map(|rejection| rejection.reason.obstacle());
        obstacles().any(|obstacle| obstacle == Obstacle::Funds)
            && obstacles().all(|obstacle| matches!(obstacle, Obstacle::Funds | Obstacle::Approval))
    }

    pub(crate) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The contract in its CAIP-19 id.
    pub(crate) fn token(&self) -> Option<&str> {
        let (_chain, asset) = self.asset_id.as_deref()?.split_once('/')?;
        asset.split_once(':').map(|(_namespace, address)| address)
    }

    /// What must be there: the deposit, else the price.
    pub(crate) fn due(&self) -> Amount {
        self.deposit.or(self.amount).unwrap_or_default()
    }

    /// An atomic amount of this candidate's asset for people: `0.05 USDC`.
    pub(crate) fn in_units(&self, amount: Amount) -> String {
        match (&self.symbol, self.decimals) {
            (Some(symbol), Some(decimals)) => format!("{} {symbol}", amount.to_units(decimals)),
            _ => format!("{amount} atomic units"),
        }
    }
}

/// For serde, which asks by reference.
fn is_zero(amount: &Amount) -> bool {
    amount.is_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trips_and_leaves_out_what_is_unknown() {
        let mut candidate = Candidate { balance: Some(Amount::ZERO), latency_us: Some(1_250), ..Candidate::new(0) };
        candidate.reject(RejectionReason::AccountFrozen, "the buyer's token account is frozen");
        candidate.reject(RejectionReason::InsufficientBalance, "0.05 USDC short");
        let json = serde_json::to_value(&candidate).unwrap();
        assert_eq!(json["rejectionReasons"], serde_json::json!(["account-frozen", "insufficient-balance"]));
        assert_eq!(json["rejectionDetails"]["insufficient-balance"], "0.05 USDC short");
        assert_eq!(json["latencyMs"], 1.25);
        assert_eq!(json["balance"], "0");
        assert!(json.get("owner").is_none());
        assert_eq!(serde_json::from_value::<Candidate>(json).unwrap(), candidate);
    }

    #[test]
    fn a_reason_is_there_once_with_all_that_was_said_of_it() {
        let mut candidate = Candidate::new(0);
        for (reason, detail) in [
            (RejectionReason::TokenPaused, "b"),
            (RejectionReason::AccountFrozen, "ours"),
            (RejectionReason::AccountFrozen, "theirs"),
            (RejectionReason::AccountFrozen, "ours"),
            (RejectionReason::NoOwner, ""),
            (RejectionReason::NoOwner, "a"),
            (RejectionReason::NoOwner, ""),
        ] {
            candidate.reject(reason, detail);
        }
        let json = serde_json::to_string(&candidate).unwrap();
        let expected = r#""rejectionReasons":["token-paused","account-frozen","no-owner"],"rejectionDetails":{"token-paused":"b","account-frozen":"ours; theirs","no-owner":"a"}"#;
        assert!(json.contains(expected), "{json}");
        assert_eq!(serde_json::from_str::<Candidate>(&json).unwrap(), candidate);
    }
}
