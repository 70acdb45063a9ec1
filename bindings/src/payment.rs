//! A decoded 402 as a handle: it is decoded once and asked for its parts.

use payroute::{
    Carrier, Limits, MalformedField, Note, PaymentRequired, PaymentRequirement, Record, Terms, Value, X402Version,
};
use wasm_bindgen::prelude::*;

use crate::convert::{self, listed};

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
        let mut description = Record::default();
        description.whole("x402Version", if payment.version() == X402Version::V1 { 1 } else { 2 });
        description.text("carrier", carrier_name(payment.carrier()));
        description.texts("notes", payment.notes().iter().map(|note| note.name()));
        description.texts("extensions", payment.extensions().iter().map(String::as_str));
        description.put("requirements", listed(&mut payment.requirements().iter().map(entry)));
        description.to_json()
    }
}

impl Payment {
    pub(crate) fn decode(headers: Option<&str>, body: &[u8], limits: &Limits) -> Result<Self, String> {
        let decoded = match headers {
            None => PaymentRequired::from_text_within(body, limits),
            Some(headers) => {
                let pairs = headers.split('\n').filter_map(|line| line.split_once(':'));
                let pairs = pairs.map(|(name, value)| (name, value.as_bytes()));
                PaymentRequired::from_response_within(pairs, body, limits)
            }
        };
        decoded.map(Self).map_err(|error| convert::failure(&error.into()))
    }
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

/// One entry: its terms, or what is wrong with it.
fn entry(requirement: &PaymentRequirement) -> Record {
    let mut entry = Record::default();
    entry.whole("index", requirement.index() as u64);
    entry.text("json", requirement.json());
    entry.texts("notes", requirement.notes().iter().map(|note| note.name()));
    match requirement.terms() {
        Ok(terms) => entry.put("terms", Value::Record(terms_of(terms))),
        Err(malformed) => entry.put("malformed", Value::Record(problem(malformed))),
    }
    entry
}

fn terms_of(terms: &Terms) -> Record {
    let mut record = Record::default();
    record.text("scheme", &terms.scheme);
    record.known_text("network", terms.chain.as_ref().map(|chain| chain.as_str()));
    record.text("amount", &terms.amount.to_string());
    record.text("asset", &terms.asset);
    record.text("payTo", &terms.pay_to);
    record.whole("maxTimeoutSeconds", terms.max_timeout_seconds);
    record
}

pub(crate) fn problem(malformed: &MalformedField) -> Record {
    let mut record = Record::default();
    record.text("field", &malformed.field);
    record.text("problem", &malformed.problem);
    record
}
