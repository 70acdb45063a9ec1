//! One entry of `accepts`: what it offers, or why it cannot be paid as written.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::chain::{Amount, ChainFamily, ChainId, check_address, is_zero_address};
use crate::util::json::{Json, Kind, Members};
use crate::util::text::shown;

/// The largest integer that every JSON reader keeps exactly (RFC 8259 §6).
const EXACT_INTEGER: u64 = (1 << 53) - 1;

/// The terms of a readable offer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Terms {
    /// The payment scheme, for example `exact`.
    pub scheme: Arc<str>,
    /// The network as the merchant wrote it.
    pub network: Arc<str>,
    /// The same network as a CAIP-2 id, where its name is known.
    pub chain: Option<ChainId>,
    /// The price, or for some schemes its maximum, in atomic units of the asset.
    pub amount: Amount,
    /// The asset as the merchant wrote it: a token address or a currency code.
    pub asset: Arc<str>,
    /// The recipient.
    pub pay_to: Arc<str>,
    /// Seconds that the payment authorization may live.
    pub max_timeout_seconds: u64,
    /// Scheme-specific terms.
    pub extra: Extra,
}

/// The `extra` object of an offer: its members by name, each as its exact text.
#[derive(Clone, Debug, Default)]
pub struct Extra(Vec<(String, Box<RawValue>)>);

impl Extra {
    /// The text under `key`; absent and `null` are `None`.
    ///
    /// # Errors
    /// There is a value and it is not a string.
    pub fn text(&self, key: &str) -> Result<Option<String>, MalformedField> {
        self.get(key).map(|value| value.string().map_err(|problem| Self::malformed(key, &problem))).transpose()
    }

    /// The whole number under `key`; absent and `null` are `None`.
    pub(crate) fn whole_number(&self, key: &str) -> Result<Option<u64>, MalformedField> {
        let exact = |value: Json<'_>| value.whole().filter(|number| *number <= EXACT_INTEGER);
        let malformed = || Self::malformed(key, "is not a whole number");
        self.get(key).map(|value| exact(value).ok_or_else(malformed)).transpose()
    }

    fn get(&self, key: &str) -> Option<Json<'_>> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(Json::from(&**value)).filter(|value| !value.is_null())
    }

    fn malformed(key: &str, problem: &str) -> MalformedField {
        MalformedField::new(&format!("extra.{key}"), problem)
    }
}

/// Why an entry cannot be paid as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedField {
    /// The field, for example `amount`; `entry` for the entry as a whole.
    pub field: String,
    /// The problem, as the end of a sentence that starts with the field.
    pub problem: String,
}

impl MalformedField {
    fn new(field: &str, problem: &str) -> Self {
        Self { field: field.to_owned(), problem: problem.to_owned() }
    }
}

impl fmt::Display for MalformedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl Terms {
    /// Reads the fields of an entry. Of several malformed ones the first in this order is the error.
    pub(super) fn parse(json: Json<'_>) -> Result<Self, MalformedField> {
        let entry = json.object().map_err(|problem| MalformedField::new("entry", &problem))?;
        let network = text(&entry, "network")?;
        let chain = ChainId::known(&network);
        let family = chain.as_ref().map_or(ChainFamily::Other, ChainId::family);
        let scheme = text(&entry, "scheme")?;
        let amount = price(&entry, family)?;
        let asset = text(&entry, "asset")?;
        let pay_to = recipient(&entry, family, &asset)?;
        let max_timeout_seconds = lifetime(&entry)?;
        let extra = extra(&entry)?;
        Ok(Self { scheme, network, chain, amount, asset, pay_to, max_timeout_seconds, extra })
    }
}

fn text(entry: &Members<'_>, field: &str) -> Result<Arc<str>, MalformedField> {
    let value = entry.get(field).ok_or_else(|| MalformedField::new(field, "is missing"))?;
    match value.string() {
        Ok(text) if text.is_empty() => Err(MalformedField::new(field, "is empty")),
        Ok(text) => Ok(text.into()),
        Err(problem) => Err(MalformedField::new(field, &problem)),
    }
}

/// `amount`, or `maxAmountRequired` as version 1 calls it. Where an entry has both, they must be equal: to pick
/// one would be to guess the price.
fn price(entry: &Members<'_>, family: ChainFamily) -> Result<Amount, MalformedField> {
    let mut stated: Option<(&str, Amount)> = None;
    for field in ["amount", "maxAmountRequired"] {
        let Some(value) = entry.get(field) else { continue };
        let amount = atomic_units(value).map_err(|problem| MalformedField::new(field, &problem))?;
        if stated.is_some_and(|(_, other)| other != amount) {
            return Err(MalformedField::new(field, "differs from amount"));
        }
        stated = Some((field, amount));
    }
    let (field, amount) = stated.ok_or_else(|| MalformedField::new("amount", "is missing"))?;
    if amount.is_zero() {
        return Err(MalformedField::new(field, "is zero; accepted is a positive whole number of atomic units"));
    }
    if family == ChainFamily::Svm && !amount.fits_u64() {
        return Err(MalformedField::new(field, "does not fit in 64 bits, as every Solana token amount must"));
    }
    Ok(amount)
}

fn recipient(entry: &Members<'_>, family: ChainFamily, asset: &str) -> Result<Arc<str>, MalformedField> {
    let pay_to = text(entry, "payTo")?;
    let malformed = |problem: &str| Err(MalformedField::new("payTo", problem));
    if let Err(accepted) = check_address(&pay_to, family) {
        return malformed(&format!("`{}` is not an address; accepted is {accepted}", shown(&pay_to)));
    }
    if family != ChainFamily::Other && pay_to.eq_ignore_ascii_case(asset) {
        return malformed("is the token itself, which gives nothing back");
    }
    if family == ChainFamily::Evm && is_zero_address(&pay_to) {
        return malformed("is the zero address, where tokens refuse to go");
    }
    Ok(pay_to)
}

fn lifetime(entry: &Members<'_>) -> Result<u64, MalformedField> {
    let field = "maxTimeoutSeconds";
    let text = entry.get(field).ok_or_else(|| MalformedField::new(field, "is missing"))?.raw();
    // Some servers write whole numbers as 60.0.
    let seconds = text.strip_suffix(".0").unwrap_or(text).parse().ok();
    let positive = seconds.filter(|seconds| (1..=EXACT_INTEGER).contains(seconds));
    positive.ok_or_else(|| MalformedField::new(field, "is not a positive whole number of seconds"))
}

fn extra(entry: &Members<'_>) -> Result<Extra, MalformedField> {
    let Some(value) = entry.get("extra") else {
        return Ok(Extra::default());
    };
    let Members(members) = value.object().map_err(|problem| MalformedField::new("extra", &problem))?;
    Ok(Extra(members.into_iter().map(|(name, value)| (name, value.to_owned())).collect()))
}

fn atomic_units(value: Json<'_>) -> Result<Amount, String> {
    let json = value.raw();
    let text = match value.text() {
        Some(text) => text,
        None if !json.bytes().all(|b| b.is_ascii_digit()) => {
            return Err(match value.kind() {
                Kind::Number => "is not a whole number of atomic units written in digits only".to_owned(),
                kind => format!("is {}; accepted is a string of digits", kind.words()),
            });
        }
        None if value.whole().is_none_or(|number| number > EXACT_INTEGER) => {
            return Err("is a JSON number past 2^53, which readers round; write it as a string".to_owned());
        }
        None => json.to_owned(),
    };
    Amount::from_str(&text).map_err(|error| error.to_string())
}
