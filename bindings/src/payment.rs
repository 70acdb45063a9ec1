//! A decoded 402 as a handle: it is decoded once and asked for its parts.

use payroute::{Limits, Note, PaymentRequired};
use wasm_bindgen::prelude::*;

use crate::convert::{self, to_json};
use crate::description::Description;

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
        to_json(&Description::new(&self.0))
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
