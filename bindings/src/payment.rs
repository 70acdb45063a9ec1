//! A decoded 402 as a handle: it is decoded once and asked for its parts.

use payroute::{Carrier, DecodeError, Limits, Malformed, Note, PaymentRequired, Requirement, Version};
use serde::Serialize;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::*;

use crate::convert;

/// A decoded 402.
#[wasm_bindgen]
pub struct Payment(pub(crate) PaymentRequired);

#[wasm_bindgen]
impl Payment {
    /// Decodes a document: JSON, or the value of a header.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(js_name = fromText)]
    pub fn from_text(text: &str) -> Result<Payment, String> {
        decoded(PaymentRequired::from_text(text))
    }

    /// Decodes a response: names and values of headers by turns, and the body.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(js_name = fromResponse)]
    pub fn from_response(headers: Vec<String>, body: &[u8]) -> Result<Payment, String> {
        response(&headers, body, &Limits::default())
    }

    /// The exact original text of the entry at `index`.
    pub fn json(&self, index: usize) -> Option<String> {
        self.0.requirements().get(index).map(|requirement| requirement.json().to_owned())
    }

    /// Whether the version had to be inferred. Another carrier may then state it.
    #[wasm_bindgen(getter)]
    pub fn coerced(&self) -> bool {
        self.0.notes().contains(&Note::VersionCoerced)
    }

    /// Everything that was decoded, as JSON.
    pub fn describe(&self) -> String {
        let payment = &self.0;
        convert::json(&Description {
            x402_version: match payment.version() {
                Version::V1 => 1,
                Version::V2 => 2,
            },
            carrier: carrier_name(payment.carrier()),
            notes: payment.notes(),
            extensions: payment.extensions(),
            requirements: payment.requirements().iter().map(Entry::of).collect(),
        })
    }
}

pub(crate) fn response(headers: &[String], body: &[u8], limits: &Limits) -> Result<Payment, String> {
    let pairs = headers.chunks_exact(2).filter_map(|pair| match pair {
        [name, value] => Some((name.as_str(), value.as_bytes())),
        _ => None,
    });
    decoded(PaymentRequired::from_response_within(pairs, body, limits))
}

pub(crate) fn decoded(result: Result<PaymentRequired, DecodeError>) -> Result<Payment, String> {
    result.map(Payment).map_err(|error| convert::failure(&error.into()))
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
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    index: usize,
    json: &'a str,
    requirement: Option<&'a RawValue>,
    notes: &'a [Note],
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<TermsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<Problem<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TermsJson<'a> {
    scheme: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a str>,
    amount: String,
    asset: &'a str,
    pay_to: &'a str,
    max_timeout_seconds: u64,
}

#[derive(Serialize)]
pub(crate) struct Problem<'a> {
    field: &'a str,
    problem: &'a str,
}

impl<'a> Problem<'a> {
    pub(crate) fn of(malformed: &'a Malformed) -> Self {
        Self { field: &malformed.field, problem: &malformed.problem }
    }
}

impl<'a> Entry<'a> {
    fn of(requirement: &'a Requirement) -> Self {
        let terms = requirement.terms();
        Self {
            index: requirement.index(),
            json: requirement.json(),
            requirement: serde_json::from_str(requirement.json()).ok(),
            notes: requirement.notes(),
            malformed: terms.err().map(Problem::of),
            terms: terms.ok().map(|terms| TermsJson {
                scheme: &terms.scheme,
                network: terms.chain.as_ref().map(|chain| chain.as_str()),
                amount: terms.amount.to_string(),
                asset: &terms.asset,
                pay_to: &terms.pay_to,
                max_timeout_seconds: terms.max_timeout_seconds,
            }),
        }
    }
}
