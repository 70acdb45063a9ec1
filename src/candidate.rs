//! Candidates: one for every offer, payable or not, with the reasons.
//!
//! Turns facts into a verdict. Refuses to know how facts were read and how candidates are ordered.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::amount::Amount;
use crate::approval::Approval;
use crate::health::{Circuit, Score};
use crate::json::{Record, Value};
use crate::network::ChainId;
use crate::scheme::{Route, Transfer, permit2, spl};
use crate::text::say;
use crate::verdict::{Key, Note, Obstacle, Reason, Rejection, Rejections};

/// One offer of the merchant's, as this buyer stands towards it.
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
    /// What must be deposited for schemes that pay out of a deposit, in atomic units; it, not the price, must
    /// be there.
    #[serde(default)]
    pub deposit: Option<Amount>,
    /// What Permit2 may spend of that address's balance, in atomic units; absent when it was not read.
    #[serde(default)]
    pub allowance: Option<Amount>,
    /// What the buyer would have to send first; present exactly with `allowance-required`.
    #[serde(default)]
    pub approval: Option<Approval>,
    /// What the token itself keeps of the payment, in atomic units: the recipient gets so much less. Present
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
    /// That endpoint's host, and port if it is not the scheme's own.
    #[serde(default)]
    pub endpoint: Option<Arc<str>>,
    /// Whether the offer can be paid.
    pub viable: bool,
    /// Why it cannot; empty exactly when `viable`.
    #[serde(flatten)]
    pub rejections: Rejections,
    /// The key of the cascade that set it apart from the winner; absent on the winner.
    #[serde(default)]
    pub decided_by: Option<Key>,
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
        record.known_text("decidedBy", self.decided_by.map(Key::name));
        record.texts("notes", self.notes.iter().map(|note| note.name()));
        record
    }

    /// Adds a reason, which makes the candidate unpayable. A reason that it has already gains the detail.
    pub fn reject(&mut self, reason: Reason, detail: impl Into<String>) {
        self.viable = false;
        self.rejections.add(Rejection { reason, detail: detail.into() });
    }

    /// Whether `reason` is among the rejections.
    #[must_use]
    pub fn is_rejected_for(&self, reason: Reason) -> bool {
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
        let (mut text, unit) = match (&self.symbol, self.decimals) {
            (Some(symbol), Some(decimals)) => (amount.to_units(decimals), &**symbol),
            _ => (amount.to_string(), "atomic units"),
        };
        say(&mut text, &[" ", unit]);
        text
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

/// What a probe found out about one candidate.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) reading: Reading,
    pub(crate) endpoint: Option<Arc<str>>,
    pub(crate) circuit: Circuit,
    pub(crate) health_score: Score,
    pub(crate) latency_us: Option<u64>,
    pub(crate) lag_ms: Option<u64>,
    pub(crate) notes: Vec<Note>,
}

impl Evidence {
    /// A reading for which no endpoint could be asked.
    pub(crate) fn unasked(reading: Reading) -> Self {
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
pub(crate) enum Reading {
    Holding(Holding),
    Unreadable { reason: Reason, detail: String },
}

/// What a chain of proven identity says of an owner and a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) balance: Amount,
    /// Why the token would not move, whatever the balance.
    pub(crate) objections: Vec<(Reason, &'static str)>,
    /// The hash of the token's signing domain, where the token tells it.
    pub(crate) domain_separator: Option<[u8; 32]>,
    /// What Permit2 may spend; `None` where that was not asked.
    pub(crate) allowance: Option<Amount>,
    /// The token has what takes permits (EIP-2612).
    pub(crate) takes_permits: bool,
    /// A key signs for the owner: there is no code at the address, or that of a delegate (EIP-7702).
    pub(crate) key_signs: bool,
    /// What the token keeps of every transfer, where it says so.
    pub(crate) transfer_fee: Option<spl::TransferFee>,
    pub(crate) notes: Vec<Note>,
}

/// The signing domain that an offer states.
#[derive(Clone, Debug)]
pub(crate) struct StatedDomain {
    pub(crate) separator: [u8; 32],
    /// Whether the asset's row states the same.
    pub(crate) confirmed: bool,
}

/// Turns the facts about a candidate into its verdict.
pub(crate) fn judge(candidate: &mut Candidate, route: Option<&Route>, evidence: &Evidence) {
    candidate.endpoint = evidence.endpoint.clone();
    candidate.circuit = evidence.circuit;
    candidate.health_score = evidence.health_score;
    candidate.latency_us = evidence.latency_us;
    candidate.lag_ms = evidence.lag_ms;
    evidence.notes.iter().for_each(|note| candidate.note(*note));
    match &evidence.reading {
        Reading::Unreadable { reason, detail } => candidate.reject(*reason, detail.as_str()),
        Reading::Holding(holding) => judge_holding(candidate, route, holding),
    }
}

fn judge_holding(candidate: &mut Candidate, route: Option<&Route>, holding: &Holding) {
    let (due, balance) = (candidate.due(), holding.balance);
    candidate.balance = Some(balance);
    holding.notes.iter().for_each(|note| candidate.note(*note));
    holding.objections.iter().for_each(|(reason, detail)| candidate.reject(*reason, *detail));
    match route.map(|route| &route.transfer) {
        Some(Transfer::Eip3009 { domain: Some(stated), .. }) => judge_domain(candidate, stated, holding),
        Some(Transfer::Permit2(stand_ins)) => permit2::judge(candidate, stand_ins, due, holding),
        Some(Transfer::Spl) => spl::judge(candidate, due, holding),
        Some(Transfer::Eip3009 { domain: None, .. }) | None => {}
    }
    let available = balance.saturating_sub(candidate.held);
    if available < due {
        judge_shortage(candidate, due, due.saturating_sub(available));
    }
}

fn judge_shortage(candidate: &mut Candidate, due: Amount, shortage: Amount) {
    let mut detail = candidate.in_units(shortage);
    detail.push_str(" short");
    let mut reason = Reason::InsufficientBalance;
    if candidate.deposit.is_some() {
        reason = Reason::DepositRequired;
        say(&mut detail, &[" of ", &candidate.in_units(due), " to deposit"]);
    }
    if !candidate.held.is_zero() {
        say(&mut detail, &[" while other payments hold ", &candidate.in_units(candidate.held)]);
    }
    candidate.reject(reason, detail);
}

fn judge_domain(candidate: &mut Candidate, stated: &StatedDomain, holding: &Holding) {
    match holding.domain_separator {
        Some(real) if stated.separator != real => {
            candidate.reject(Reason::DomainMismatch, "extra.name and extra.version do not make the token's domain");
        }
        None if !stated.confirmed => candidate.note(Note::DomainUnchecked),
        _ => {}
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

    fn priced(amount: u64) -> Candidate {
        Candidate { amount: Some(amount.into()), symbol: Some("USDC".into()), decimals: Some(6), ..Candidate::new(0) }
    }

    fn verdict(reading: Reading) -> Candidate {
        let mut candidate = priced(50_000);
        let evidence = Evidence {
            reading,
            endpoint: Some("rpc.example".into()),
            circuit: Circuit::Closed,
            health_score: Score::NEW,
            latency_us: Some(1_250),
            lag_ms: None,
            notes: vec![],
        };
        judge(&mut candidate, None, &evidence);
        candidate
    }

    #[test]
    fn a_balance_of_exactly_the_price_pays() {
        let holding = |balance: u64| Reading::Holding(Holding { balance: balance.into(), ..Holding::default() });
        assert!(verdict(holding(50_000)).viable);
        let short = verdict(holding(49_999));
        assert!(short.is_rejected_for(Reason::InsufficientBalance));
        assert_eq!(short.rejections[0].to_string(), "the balance is too low: 0.000001 USDC short");
    }

    #[test]
    fn unreadable_is_never_insufficient_and_has_no_balance() {
        let unread = verdict(Reading::Unreadable { reason: Reason::BalanceUnavailable, detail: "timeout".into() });
        assert_eq!(unread.balance, None);
        assert!(!unread.is_rejected_for(Reason::InsufficientBalance));
    }

    #[test]
    fn a_domain_is_compared_where_the_token_tells_it_and_noted_where_nobody_does() {
        let verdict = |told: Option<[u8; 32]>, confirmed| {
            let mut candidate = priced(1);
            let holding = Holding { balance: Amount::from_u64(1), domain_separator: told, ..Holding::default() };
            let evidence = Evidence::unasked(Reading::Holding(holding));
            let domain = StatedDomain { separator: [7; 32], confirmed };
            let route = Route {
                transfer: Transfer::Eip3009 { domain: Some(domain), is_known: true },
                deposit: None,
                contracts: &[],
            };
            judge(&mut candidate, Some(&route), &evidence);
            (candidate.viable, candidate.notes)
        };
        assert_eq!(verdict(Some([7; 32]), false), (true, vec![]));
        assert_eq!(verdict(Some([8; 32]), true), (false, vec![]), "the chain knows better than the row");
        assert_eq!(verdict(None, true), (true, vec![]));
        assert_eq!(verdict(None, false), (true, vec![Note::DomainUnchecked]));
    }

    #[test]
    fn json_round_trips_and_leaves_out_what_is_unknown() {
        let objections = vec![(Reason::AccountFrozen, "the buyer's token account is frozen")];
        let candidate = verdict(Reading::Holding(Holding { objections, ..Holding::default() }));
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
            health_score: Score::from_ten_thousandths(8_067),
            latency_us: Some(1_005),
            lag_ms: Some(9),
            circuit: Circuit::HalfOpen,
            endpoint: Some("rpc.example".into()),
            viable: false,
            rejections: Rejections::default(),
            decided_by: Some(Key::Latency),
            notes: vec![Note::Offline, Note::TransferFee],
        };
        candidate.reject(Reason::InsufficientBalance, "0.05 short");
        candidate.reject(Reason::AccountFrozen, "");
        let json = candidate.record().to_json();
        assert_eq!(serde_json::from_str::<Candidate>(&json).unwrap(), candidate);
    }
}
