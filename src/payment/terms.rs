//! One entry of `accepts`: what it offers, or why it cannot be paid as written.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use crate::amount::Amount;
use crate::json::{Json, Members};
use crate::network::{ChainId, Family};
use crate::text::shown;

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

/// The `extra` object of an offer.
#[derive(Clone, Debug, Default)]
pub struct Extra(Vec<(String, Box<str>)>);

impl Extra {
    /// The text under `key`; absent and `null` are `None`.
    ///
    /// # Errors
    /// There is a value and it is not a string.
    pub fn text(&self, key: &'static str) -> Result<Option<String>, Malformed> {
        self.get(key).map(|value| readable_text(&format!("extra.{key}"), value)).transpose()
    }

    /// The whole number under `key`; absent and `null` are `None`.
    pub(crate) fn whole_number(&self, key: &'static str) -> Result<Option<u64>, Malformed> {
        let exact = |value: Json<'_>| value.whole().filter(|number| *number <= EXACT_INTEGER);
        let malformed = || Malformed::new(format!("extra.{key}"), "is not a whole number");
        self.get(key).map(|value| exact(value).ok_or_else(malformed)).transpose()
    }

    fn get(&self, key: &str) -> Option<Json<'_>> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Json::parse(value).ok().filter(|value| !value.is_null())
    }
}

/// Why an entry cannot be paid as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// The field, for example `amount`; `entry` for the entry as a whole.
    pub field: String,
    /// The problem, as the end of a sentence that starts with the field.
    pub problem: String,
}

impl Malformed {
    pub(super) fn new(field: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { field: field.into(), problem: problem.to_string() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl Terms {
    pub(super) fn parse(json: Json<'_>) -> Result<Self, Malformed> {
        let entry = json.object().map_err(|problem| Malformed::new("entry", problem))?;
        let network = text(&entry, "network")?;
        let chain = ChainId::resolve(&network).ok();
        let family = chain.as_ref().map_or(Family::Other, ChainId::family);
        Ok(Self {
            scheme: text(&entry, "scheme")?,
            amount: amount(&entry, family)?,
            asset: text(&entry, "asset")?,
            pay_to: recipient(&entry, family)?,
            max_timeout_seconds: lifetime(&entry)?,
            extra: extra(&entry)?,
            network,
            chain,
        })
    }
}

fn text(entry: &Members<'_>, field: &'static str) -> Result<Arc<str>, Malformed> {
    let value = entry.get(field).ok_or_else(|| Malformed::new(field, "is missing"))?;
    match readable_text(field, value)? {
        text if text.is_empty() => Err(Malformed::new(field, "is empty")),
        text => Ok(text.into()),
    }
}

fn readable_text(field: &str, value: Json<'_>) -> Result<String, Malformed> {
    value.text().ok_or_else(|| match value.kind() {
        "a string" => Malformed::new(field, "is not valid Unicode text"),
        kind => Malformed::new(field, format_args!("is {kind}; accepted is a string")),
    })
}

/// `amount`, or `maxAmountRequired` as version 1 calls it. An entry with both must agree with
/// itself: picking one would guess the price.
fn amount(entry: &Members<'_>, family: Family) -> Result<Amount, Malformed> {
    const NAMES: [&str; 2] = ["amount", "maxAmountRequired"];
    let mut found: Option<(&str, Amount)> = None;
    for field in NAMES {
        let Some(value) = entry.get(field) else { continue };
        let amount = whole_number(value).map_err(|problem| Malformed::new(field, problem))?;
        if found.is_some_and(|(_, other)| other != amount) {
            return Err(Malformed::new(field, "differs from amount"));
        }
        found = Some((field, amount));
    }
    let (field, amount) = found.ok_or_else(|| Malformed::new("amount", "is missing"))?;
    if amount.is_zero() {
        return Err(Malformed::new(field, "is zero; accepted is a positive whole number of atomic units"));
    }
    if family == Family::Svm && !amount.fits_u64() {
        return Err(Malformed::new(field, "does not fit in 64 bits, as every Solana token amount must"));
    }
    Ok(amount)
}

fn whole_number(value: Json<'_>) -> Result<Amount, String> {
    let json = value.raw();
    if let Some(text) = value.text() {
        return Amount::from_str(&text).map_err(|error| error.to_string());
    }
    match json.bytes().all(|b| b.is_ascii_digit()) {
        true if json.parse::<u64>().is_ok_and(|n| n <= EXACT_INTEGER) => {
            Amount::from_str(json).map_err(|error| error.to_string())
        }
        true => Err("is a JSON number past 2^53, which readers round; write it as a string".to_owned()),
        false => Err(match value.kind() {
            "a number" => "is not a whole number of atomic units written in digits only".to_owned(),
            kind => format!("is {kind}; accepted is a string of digits"),
        }),
    }
}

fn recipient(entry: &Members<'_>, family: Family) -> Result<Arc<str>, Malformed> {
    let pay_to = text(entry, "payTo")?;
    let accepted = match family {
        Family::Evm if !is_evm_address(&pay_to) => "0x and 40 hexadecimal digits",
        Family::Svm if Address::from_str(&pay_to).is_err() => "a base58 Solana address",
        _ => return Ok(pay_to),
    };
    Err(Malformed::new("payTo", format_args!("`{}` is not an address; accepted is {accepted}", shown(&pay_to))))
}

/// Whether `text` is an EVM address: 0x and 40 hexadecimal digits, in any case.
pub(crate) fn is_evm_address(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn lifetime(entry: &Members<'_>) -> Result<u64, Malformed> {
    const FIELD: &str = "maxTimeoutSeconds";
    let value = entry.get(FIELD).ok_or_else(|| Malformed::new(FIELD, "is missing"))?;
    // Some servers write whole numbers as 60.0.
    let whole = value.raw().strip_suffix(".0").unwrap_or(value.raw());
    (whole.parse::<u64>().ok())
        .filter(|seconds| (1..=EXACT_INTEGER).contains(seconds))
        .ok_or_else(|| Malformed::new(FIELD, "is not a positive whole number of seconds"))
}

fn extra(entry: &Members<'_>) -> Result<Extra, Malformed> {
    let Some(value) = entry.get("extra") else {
        return Ok(Extra::default());
    };
    let Members(fields) = value.object().map_err(|problem| Malformed::new("extra", problem))?;
    Ok(Extra(fields.into_iter().map(|(name, value)| (name, value.raw().into())).collect()))
}
