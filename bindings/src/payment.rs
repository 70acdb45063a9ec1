//! A decoded 402 as a handle: it is decoded once and asked for its parts.

use payroute::{
    Amount, Carrier, ChainId, Limits, MalformedField, Note, PaymentRequired, PaymentRequirement, Terms, X402Version,
};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::convert::{self, to_json};

/// A decoded 402.
#[wasm_bindgen]
pub struct Payment(pub(crate) PaymentRequired);

/// Decodes what came within the default limits: a response by its `headers`, of which each is a line, and its body;
/// without them a document, which is JSON or the value of a header.
///
/// # Errors
/// A text, as JSON of a failure.
#[wasm_bindgen]
pub fn decode(headers: Option<String>, body: &[u8]) -> Result<Payment, String> {
    Payment::decode(headers.as_deref(), body, &Limits::default())
}

/// The most bytes of a body that are worth handing to `decode`.
#[wasm_bindgen(js_name = bodyLimit)]
pub fn body_limit() -> usize {
    Limits::default().body_bytes
}

#[wasm_bindgen]
impl Payment {
    /// Whether the version had to be inferred. Another carrier may then state it.
    #[wasm_bindgen(getter)]
    pub fn coerced(&self) -> bool {
        self.0.notes().contains(&Note::VersionCoerced)
    }

    /// The whole document's exact text.
    pub fn json(&self) -> String {
        self.0.json().to_owned()
    }

    /// Everything that was decoded, as JSON, but for the document's text.
    pub fn describe(&self) -> String {
        let payment = &self.0;
        to_json(&Description {
            x402_version: if payment.version() == X402Version::V1 { 1 } else { 2 },
            carrier: carrier_name(payment.carrier()),
            notes: payment.notes(),
            extensions: payment.extensions(),
            requirements: payment.requirements().iter().map(Entry::new).collect(),
        })
    }
}

impl Payment {
    pub(crate) fn decode(headers: Option<&str>, body: &[u8], limits: &Limits) -> Result<Self, String> {
        let decoded = match headers {
            None => PaymentRequired::from_text(body, limits),
            Some(headers) => {
                let pairs = headers.split('\n').filter_map(|line| line.split_once(':'));
                let pairs = pairs.map(|(name, value)| (name, value.as_bytes()));
                PaymentRequired::from_response(pairs, body, limits)
            }
        };
        decoded.map(Self).map_err(|error| convert::failure(&error.into()))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Description<'a> {
    x402_version: u8,
    carrier: &'static str,
    notes: &'a [Note],
    extensions: &'a [String],
    requirements: Vec<Entry<'a>>,
}

/// One entry: its terms, or what is wrong with it.
#[derive(Serialize)]
struct Entry<'a> {
    index: usize,
    json: &'a str,
    notes: &'a [Note],
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<EntryTerms<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<Malformed<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryTerms<'a> {
    scheme: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a ChainId>,
    amount: Amount,
    asset: &'a str,
    pay_to: &'a str,
    max_timeout_seconds: u64,
}

#[derive(Serialize)]
pub(crate) struct Malformed<'a> {
    field: &'a str,
    problem: &'a str,
}

pub(crate) fn carrier_name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Header => "header",
        Carrier::Body => "body",
        Carrier::LegacyHeader => "legacy-header",
        Carrier::RequirementsHeader => "requirements-header",
        _ => "document",
    }
}

impl<'a> Entry<'a> {
    fn new(requirement: &'a PaymentRequirement) -> Self {
        let terms = requirement.terms();
        Self {
            index: requirement.index(),
            json: requirement.json(),
            notes: requirement.notes(),
            terms: terms.ok().map(EntryTerms::new),
            malformed: terms.err().map(Malformed::new),
        }
    }
}

impl<'a> EntryTerms<'a> {
    fn new(terms: &'a Terms) -> Self {
        Self {
            scheme: &terms.scheme,
            network: terms.chain.as_ref(),
            amount: terms.amount,
            asset: &terms.asset,
            pay_to: &terms.pay_to,
            max_timeout_seconds: terms.max_timeout_seconds,
        }
    }
}

impl<'a> Malformed<'a> {
    pub(crate) fn new(malformed: &'a MalformedField) -> Self {
        Self { field: &malformed.field, problem: &malformed.problem }
    }
}
