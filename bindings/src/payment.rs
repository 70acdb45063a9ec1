//! A decoded 402 as a handle: it is decoded once and asked for its parts.

use payroute::{Carrier, MalformedField, Note, PaymentRequired, PaymentRequirement, Record, Terms, Value, X402Version};
use wasm_bindgen::prelude::*;

use crate::convert::listed;

/// A decoded 402.
#[wasm_bindgen]
pub struct Payment(pub(crate) PaymentRequired);

#[wasm_bindgen]
impl Payment {
    /// Whether the version had to be inferred. Another carrier may then state it.
    #[wasm_bindgen(getter)]
    pub fn coerced(&self) -> bool {
        self.0.notes().contains(&Note::VersionCoerced)
    }

    /// Everything that was decoded, as JSON.
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
