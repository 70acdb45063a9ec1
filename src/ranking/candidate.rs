//! Candidates: one for every offer, payable or not, with the reasons.
//!
//! The data and its JSON. Refuses to know what the reasons follow from and how candidates are ordered.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::chain::{Amount, ChainId};
use crate::health::{Circuit, Score};
use crate::json::{Record, Value};
use crate::ranking::{Approval, DecidingKey, Note, Obstacle, Rejection, RejectionReason, Rejections};

/// One offer of the merchant, and whether and why this buyer can pay it.
///
/// Serialises as the JSON object of the configuration's language: camelCase names, amounts as
/// decimal strings of atomic units, what is unknown left out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Candidate {
    /// Position of the offer in the merchant's list, from 0; unique within a list of candidates.
    pub requirement_index: usize,
    /// Place in the ranking, from 1; 0 before ranking.
    #[serde(default)]
    pub rank: usize,
    /// The network as CAIP-2 id; absent where the offer's network is not known by any name.
    #[serde(default)]
    pub network: Option<ChainId>,
    /// The network's name for people.
    #[serde(default)]
    pub network_name: Option<Arc<str>>,
    /// The payment scheme.
    #[serde(default)]
    pub scheme: Option<Arc<str>>,
    /// The asset as CAIP-19 id; absent where the asset is not known.
    #[serde(default)]
    pub asset_id: Option<Arc<str>>,
    /// The asset's symbol, from the registry or the configuration, never from the merchant.
    #[serde(default)]
    pub symbol: Option<Arc<str>>,
    /// The asset's decimals, likewise.
    #[serde(default)]
    pub decimals: Option<u8>,
    /// The price in atomic units.
    #[serde(default)]
    pub amount: Option<Amount>,
    /// The buyer's address that would pay.
    #[serde(default)]
    pub owner: Option<Arc<str>>,
    /// What that address holds, in atomic units; absent when it was not read. Never 0 for unread.
    #[serde(default)]
    pub balance: Option<Amount>,
    /// How much of the balance other payments hold, in atomic units: it cannot pay this offer too.
    #[serde(default)]
    pub held: Amount,
    /// What must be deposited for schemes that pay out of a deposit, in atomic units; the balance must cover it
    /// instead of the price.
    #[serde(default)]
    pub deposit: Option<Amount>,
    /// What Permit2 may spend of that address's balance, in atomic units; absent when it was not read.
    #[serde(default)]
    pub allowance: Option<Amount>,
    /// The transaction that the buyer would have to send first; present exactly with `allowance-required`.
    #[serde(default)]
    pub approval: Option<Approval>,
    /// What the token itself keeps of the payment, in atomic units: the recipient gets that much less. Present
    /// exactly with the note `transfer-fee`.
    #[serde(default)]
    pub transfer_fee: Option<Amount>,
    /// What paying here costs the buyer besides the price, in atomic units of the asset.
    #[serde(default)]
    pub fee: Amount,
    /// Health of the endpoint that was asked; 0.8 when none was.
    pub health_score: Score,
    /// Average latency of that endpoint in microseconds; `latencyMs` in JSON.
    #[serde(default, rename = "latencyMs", deserialize_with = "micros")]
    pub latency_us: Option<u64>,
    /// How far that endpoint's chain lies behind the others of its network, in milliseconds; absent
    /// where nobody knows.
    #[serde(default)]
    pub lag_ms: Option<u64>,
    /// That endpoint's circuit when it was asked.
    pub circuit: Circuit,
    /// That endpoint's host, and port if it is not the scheme's own; a provider's label.
    #[serde(default)]
    pub endpoint: Option<Arc<str>>,
    /// Whether the offer can be paid.
    pub viable: bool,
    /// Why it cannot; empty exactly when `viable`.
    #[serde(flatten)]
    pub rejections: Rejections,
    /// The key of the cascade that set it apart from the winner; absent on the winner.
    #[serde(default)]
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
            rejections: Rejections::default(),
            decided_by: None,
            notes: Vec::new(),
        }
    }

    /// The candidate as it is serialised.
    #[doc(hidden)]
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.whole("requirementIndex", self.requirement_index as u64);
        record.whole("rank", self.rank as u64);
        record.known_text("network", self.network.as_ref().map(ChainId::as_str));
        put_known(&mut record, "networkName", &self.network_name);
        put_known(&mut record, "scheme", &self.scheme);
        put_known(&mut record, "assetId", &self.asset_id);
        put_known(&mut record, "symbol", &self.symbol);
        record.known_whole("decimals", self.decimals.map(u64::from));
        put_amount(&mut record, "amount", self.amount.as_ref());
        put_known(&mut record, "owner", &self.owner);
        put_amount(&mut record, "balance", self.balance.as_ref());
        put_amount(&mut record, "held", Some(&self.held).filter(|held| !held.is_zero()));
        put_amount(&mut record, "deposit", self.deposit.as_ref());
        put_amount(&mut record, "allowance", self.allowance.as_ref());
        if let Some(approval) = &self.approval {
            record.put("approval", Value::Record(approval.record()));
        }
        put_amount(&mut record, "transferFee", self.transfer_fee.as_ref());
        put_amount(&mut record, "fee", Some(&self.fee));
        record.put("healthScore", self.health_score.value());
        if let Some(us) = self.latency_us {
            record.put("latencyMs", Value::Decimal(us, 3));
        }
        record.known_whole("lagMs", self.lag_ms);
        record.text("circuit", self.circuit.name());
        put_known(&mut record, "endpoint", &self.endpoint);
        record.flag("viable", self.viable);
        self.rejections.write_to(&mut record);
        record.known_text("decidedBy", self.decided_by.map(DecidingKey::name));
        record.texts("notes", self.notes.iter().map(|note| note.name()));
        record
    }

    /// Adds a reason, which makes the candidate unpayable. A reason that it has already gains the detail.
    pub fn reject(&mut self, reason: RejectionReason, detail: impl Into<String>) {
        self.viable = false;
        self.rejections.add(Rejection { reason, detail: detail.into() });
    }

    /// Whether `reason` is among the rejections.
    #[must_use]
    pub fn is_rejected_for(&self, reason: RejectionReason) -> bool {
        self.rejections.iter().any(|rejection| rejection.reason == reason)
    }

    /// Whether it lacks funds, and nothing that funds and an approval would not mend.
    pub(crate) fn lacks_funds_alone(&self) -> bool {
        let (mut lacks, mut alone) = (false, true);
        for rejection in self.rejections.iter() {
            lacks |= rejection.reason.obstacle() == Obstacle::Funds;
            alone &= matches!(rejection.reason.obstacle(), Obstacle::Funds | Obstacle::Approval);
        }
        lacks && alone
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

fn put_known(record: &mut Record, name: &'static str, text: &Option<Arc<str>>) {
    record.known_text(name, text.as_deref());
}

fn put_amount(record: &mut Record, name: &'static str, amount: Option<&Amount>) {
    if let Some(amount) = amount {
        record.text(name, &amount.to_string());
    }
}

impl Serialize for Candidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// Microseconds inside, milliseconds with three decimals in JSON.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
fn micros<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let millis = Option::<f64>::deserialize(deserializer)?;
    Ok(millis.map(|ms| (ms * 1_000.0 + 0.5) as u64))
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

    /// Every field is named here, so that a new one is not forgotten in `record`.
    #[test]
    fn no_field_is_lost_on_the_way_through_json() {
        let mut candidate = Candidate {
            requirement_index: 3,
            rank: 2,
            network: Some(ChainId::resolve("base").unwrap()),
            network_name: Some("Base".into()),
            scheme: Some("exact".into()),
            asset_id: Some("eip155:8453/erc20:0x1".into()),
            symbol: Some("USD\u{20ae}\"".into()),
            decimals: Some(6),
            amount: Some(Amount::from_u64(1)),
            owner: Some("0x2".into()),
            balance: Some(Amount::from_u64(2)),
            held: Amount::from_u64(3),
            deposit: Some(Amount::from_u64(4)),
            allowance: Some(Amount::from_u64(5)),
            approval: Some(Approval::new("0x3", "0x4", Amount::from_u64(6))),
            transfer_fee: Some(Amount::from_u64(8)),
            fee: Amount::from_u64(7),
            health_score: Score::from_bps(8_067),
            latency_us: Some(1_005),
            lag_ms: Some(9),
            circuit: Circuit::HalfOpen,
            endpoint: Some("rpc.example".into()),
            viable: false,
            rejections: Rejections::default(),
            decided_by: Some(DecidingKey::Latency),
            notes: vec![Note::Offline, Note::TransferFee],
        };
        candidate.reject(RejectionReason::InsufficientBalance, "0.05 short");
        candidate.reject(RejectionReason::AccountFrozen, "");
        let json = candidate.record().to_json();
        assert_eq!(serde_json::from_str::<Candidate>(&json).unwrap(), candidate);
    }
}
