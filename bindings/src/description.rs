//! A decoded 402 as it crosses to JavaScript.

use payroute::{
    Amount, Carrier, ChainId, MalformedField, Note, PaymentRequired, PaymentRequirement, Terms, X402Version,
};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Description<'a> {
    x402_version: u8,
    carrier: &'static str,
    notes: &'a [Note],
    extensions: &'a [String],
    requirements: Vec<Entry<'a>>,
}

impl<'a> Description<'a> {
    pub(crate) fn new(payment: &'a PaymentRequired) -> Self {
        Self {
            x402_version: if payment.version() == X402Version::V1 { 1 } else { 2 },
            carrier: carrier_name(payment.carrier()),
            notes: payment.notes(),
            extensions: payment.extensions(),
            requirements: payment.requirements().iter().map(Entry::new).collect(),
        }
    }
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
