//! The 402 as the merchant sent it: offers with their index and their exact original JSON.
//!
//! Reading is generous where no money term is guessed and exact where one would be. It does not know what the buyer
//! holds or allows: a readable offer may still be unpayable.

mod carrier;
mod limits;
mod terms;

use std::fmt;
use std::sync::Arc;

pub use limits::Limits;
use serde::{Deserialize, Serialize};
pub use terms::{Extra, MalformedField, Terms};

use crate::ranking::Note;
use crate::util::text::joined;

/// The x402 protocol version that an offer list was written in. It decides how the payment goes
/// back (`X-PAYMENT` or `PAYMENT-SIGNATURE`), not how offers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum X402Version {
    /// Terms in the body, `maxAmountRequired`, networks by name.
    #[serde(rename = "1")]
    V1,
    /// Terms in the `PAYMENT-REQUIRED` header, `amount`, networks by CAIP-2 id.
    #[serde(rename = "2")]
    V2,
}

/// The part of a response that the terms were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Carrier {
    /// The `PAYMENT-REQUIRED` header: canonical for version 2.
    Header,
    /// The response body: canonical for version 1.
    Body,
    /// The `X-PAYMENT-REQUIRED` header of early servers.
    LegacyHeader,
    /// The `X-PAYMENT-REQUIREMENTS` header, seen in the wild.
    RequirementsHeader,
    /// A document given without a response around it.
    Document,
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "PAYMENT-REQUIRED header",
            Self::Body => "response body",
            Self::LegacyHeader => "X-PAYMENT-REQUIRED header",
            Self::RequirementsHeader => "X-PAYMENT-REQUIREMENTS header",
            Self::Document => "document",
        })
    }
}

/// A decoded HTTP 402: every entry of `accepts`, readable or not, in the merchant's order.
///
/// ```
/// use payroute::{Limits, PaymentRequired};
///
/// let text = r#"{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:8453",
///   "amount":"50000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
///   "payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,
///   "extra":{"name":"USD Coin","version":"2"}}]}"#;
/// let payment_required = PaymentRequired::from_text(text, &Limits::default())?;
/// assert!(text.contains(payment_required.requirements()[0].json()));
/// # Ok::<(), payroute::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PaymentRequired(Arc<Document>);

#[derive(Debug)]
struct Document {
    version: X402Version,
    carrier: Carrier,
    json: Box<str>,
    notes: Vec<Note>,
    extensions: Vec<String>,
    requirements: Vec<PaymentRequirement>,
}

impl PaymentRequired {
    /// Reads a document without a response around it: version 1 or 2 JSON, a bare `accepts` array, or a header
    /// value (base64 or base64url, padded or not). [`RouteSelector::decode`](crate::RouteSelector::decode) does it
    /// within the configuration's limits.
    ///
    /// # Errors
    /// No entry could be read, or the version is neither 1 nor 2.
    pub fn from_text(text: impl AsRef<[u8]>, limits: &Limits) -> Result<Self, DecodeError> {
        carrier::from_document(text.as_ref(), limits)
    }

    /// Reads a whole response, trying in this order: the `PAYMENT-REQUIRED` header, the body, the
    /// `X-PAYMENT-REQUIRED` header, the `X-PAYMENT-REQUIREMENTS` header. The first that has a
    /// readable entry wins; header names are matched without case.
    /// [`RouteSelector::decode_response`](crate::RouteSelector::decode_response) does it within the configuration's
    /// limits.
    ///
    /// # Errors
    /// No carrier had a readable entry; the error says what was wrong with each.
    pub fn from_response<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        carrier::from_response(headers, body, limits)
    }

    /// The protocol version, stated or inferred.
    #[must_use]
    pub fn version(&self) -> X402Version {
        self.0.version
    }

    /// Where the terms were found.
    #[must_use]
    pub fn carrier(&self) -> Carrier {
        self.0.carrier
    }

    /// The exact original text of the whole document, base64 undone: the envelope with `resource` and
    /// `extensions`, which a version 2 payment repeats, or a list that came without one.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.0.json
    }

    /// Remarks that hold for every entry.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.0.notes
    }

    /// The names of the extensions that the document advertises, sorted: the members of its `extensions`
    /// that are objects. Names from strangers: compare them, show them with care.
    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.0.extensions
    }

    /// The entries of `accepts`, in the merchant's order, unreadable ones included.
    #[must_use]
    pub fn requirements(&self) -> &[PaymentRequirement] {
        &self.0.requirements
    }
}

/// One entry of `accepts`.
#[derive(Clone, Debug)]
pub struct PaymentRequirement {
    index: usize,
    json: Box<str>,
    terms: Result<Terms, MalformedField>,
    notes: Vec<Note>,
}

impl PaymentRequirement {
    /// Position in the merchant's list, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The entry's exact original text. Echo this, byte for byte: servers compare field by field.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// What the entry offers.
    ///
    /// # Errors
    /// The entry cannot be paid as written; says which field and why.
    pub fn terms(&self) -> Result<&Terms, &MalformedField> {
        self.terms.as_ref()
    }

    /// Remarks on this entry only.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// Why no offer could be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Every carrier failed; in the order they were tried.
    #[error("no payment requirement could be read: {}", joined(failures))]
    Unreadable {
        /// What was wrong with each carrier.
        failures: Vec<CarrierFailure>,
        /// Where a carrier had entries, but none readable: what was wrong with each of them.
        entries: Vec<MalformedField>,
    },
    /// The document states a version that payroute does not speak.
    #[error("x402 version {version} is not supported; accepted are 1 and 2")]
    UnsupportedVersion {
        /// The version as written, safe to show.
        version: String,
    },
}

/// What was wrong with one carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CarrierFailure {
    /// The carrier.
    pub carrier: Carrier,
    /// The problem, as the end of a sentence that starts with the carrier's name.
    pub problem: String,
}

impl fmt::Display for CarrierFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.carrier, self.problem)
    }
}
