//! One entry of `accepts`: what it offers, or why it cannot be paid as written.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::chain::{Amount, ChainFamily, ChainId, SolanaAddress};
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
pub struct Extra(Vec<(String, Box<str>)>);

impl Extra {
    /// The text under `key`; absent and `null` are `None`.
    ///
    /// # Errors
    /// There is a value and it is not a string.
    pub fn text(&self, key: &str) -> Result<Option<String>, MalformedField> {
        let malformed = |problem: String| MalformedField::new(&format!("extra.{key}"), &problem);
        self.get(key).map(|value| readable_text(value).map_err(malformed)).transpose()
    }

    /// The whole number under `key`; absent and `null` are `None`.
    pub(crate) fn whole_number(&self, key: &'static str) -> Result<Option<u64>, MalformedField> {
        let exact = |value: Json<'_>| value.whole().filter(|number| *number <= EXACT_INTEGER);
        let malformed = || MalformedField::new(&format!("extra.{key}"), "is not a whole number");
        self.get(key).map(|value| exact(value).ok_or_else(malformed)).transpose()
    }

    fn get(&self, key: &str) -> Option<Json<'_>> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Json::start_of(value).filter(|value| !value.is_null())
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
    pub(super) fn parse(json: Json<'_>) -> Result<Self, MalformedField> {
        let members = json.object().map_err(|problem| MalformedField::new("entry", &problem))?;
        let mut entry = EntryReader { members, malformed: None };
        let network = entry.text("network");
        let chain = ChainId::known(&network);
        let family = chain.as_ref().map_or(ChainFamily::Other, ChainId::family);
        let (scheme, amount, asset) = (entry.text("scheme"), entry.amount(family), entry.text("asset"));
        let terms = Self {
            scheme,
            amount,
            pay_to: entry.recipient(family, &asset),
            asset,
            max_timeout_seconds: entry.lifetime(),
            extra: entry.extra(),
            network,
            chain,
        };
        match entry.malformed {
            None => Ok(terms),
            Some(malformed) => Err(malformed),
        }
    }
}

/// Reads field by field. Of what is malformed the first is told, and what was read then counts for nothing.
struct EntryReader<'a> {
    members: Members<'a>,
    malformed: Option<MalformedField>,
}

impl EntryReader<'_> {
    fn text(&mut self, field: &'static str) -> Arc<str> {
        let text = match self.members.get(field) {
            Some(value) => readable_text(value),
            None => Err("is missing".to_owned()),
        };
        match text {
            Ok(text) if text.is_empty() => self.refuse(field, "is empty"),
            Ok(text) => return text.into(),
            Err(problem) => self.refuse(field, &problem),
        }
        "".into()
    }

    /// `amount`, or `maxAmountRequired` as version 1 calls it. An entry with both must agree with
    /// itself: picking one would guess the price.
    fn amount(&mut self, family: ChainFamily) -> Amount {
        let (mut stated_as, mut amount) = ("", Amount::ZERO);
        for field in ["amount", "maxAmountRequired"] {
            let Some(value) = self.members.get(field) else { continue };
            match whole_number(value) {
                Ok(other) if !stated_as.is_empty() && other != amount => self.refuse(field, "differs from amount"),
                Ok(other) => (stated_as, amount) = (field, other),
                Err(problem) => self.refuse(field, &problem),
            }
        }
        if stated_as.is_empty() {
            self.refuse("amount", "is missing");
        } else if amount.is_zero() {
            self.refuse(stated_as, "is zero; accepted is a positive whole number of atomic units");
        } else if family == ChainFamily::Svm && !amount.fits_u64() {
            self.refuse(stated_as, "does not fit in 64 bits, as every Solana token amount must");
        }
        amount
    }

    fn recipient(&mut self, family: ChainFamily, asset: &str) -> Arc<str> {
        let pay_to = self.text("payTo");
        if let Some(accepted) = other_than_address(&pay_to, family) {
            let problem = format!("`{}` is not an address; accepted is {accepted}", shown(&pay_to));
            self.refuse("payTo", &problem);
        }
        if family != ChainFamily::Other && pay_to.eq_ignore_ascii_case(asset) {
            self.refuse("payTo", "is the token itself, which gives nothing back");
        }
        if family == ChainFamily::Evm && is_zero_address(&pay_to) {
            self.refuse("payTo", "is the zero address, where tokens refuse to go");
        }
        pay_to
    }

    fn lifetime(&mut self) -> u64 {
        let field = "maxTimeoutSeconds";
        let text = self.members.get(field).map(Json::raw);
        // Some servers write whole numbers as 60.0.
        let seconds = text.and_then(|text| text.strip_suffix(".0").unwrap_or(text).parse().ok()).unwrap_or(0);
        if text.is_none() {
            self.refuse(field, "is missing");
        } else if !(1..=EXACT_INTEGER).contains(&seconds) {
            self.refuse(field, "is not a positive whole number of seconds");
        }
        seconds
    }

    fn extra(&mut self) -> Extra {
        let Some(value) = self.members.get("extra") else {
            return Extra::default();
        };
        let mut extra = Extra::default();
        match value.object() {
            Ok(Members(members)) => {
                members.into_iter().for_each(|(name, value)| extra.0.push((name, value.raw().into())))
            }
            Err(problem) => self.refuse("extra", &problem),
        }
        extra
    }

    fn refuse(&mut self, field: &str, problem: &str) {
        self.malformed.get_or_insert_with(|| MalformedField::new(field, problem));
    }
}

fn readable_text(value: Json<'_>) -> Result<String, String> {
    value.text().ok_or_else(|| match value.kind() {
        Kind::Text => "is not valid Unicode text".to_owned(),
        kind => format!("is {}; accepted is a string", kind.words()),
    })
}

fn whole_number(value: Json<'_>) -> Result<Amount, String> {
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

/// What would be an address, where `text` is none as chains of `family` write it.
pub(crate) fn other_than_address(text: &str, family: ChainFamily) -> Option<&'static str> {
    match family {
        ChainFamily::Evm if !is_evm_address(text) => Some("0x and 40 hexadecimal digits"),
        ChainFamily::Svm if SolanaAddress::from_str(text).is_err() => Some("a base58 Solana address"),
        _ => None,
    }
}

/// Whether `text`, an EVM address, is that of nobody.
pub(crate) fn is_zero_address(text: &str) -> bool {
    text.bytes().skip(2).all(|digit| digit == b'0')
}

/// Whether `text` is an EVM address: 0x and 40 hexadecimal digits, in any case.
pub(crate) fn is_evm_address(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}
