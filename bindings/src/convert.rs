//! Answers and failures as JSON text.

use payroute::{Candidate, CarrierFailure, DecodeError, Deficit, HoldError, MalformedField, SelectError, Selection};
use serde::Serialize;

use crate::description::{Malformed, carrier_name};

#[derive(Serialize)]
struct Answer<'a> {
    chosen: usize,
    json: &'a str,
    candidates: &'a [Candidate],
    explanation: String,
}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'a str,
    message: String,
    candidates: &'a [Candidate],
    explanation: String,
    deficits: Vec<DeficitInWords<'a>>,
    #[serde(flatten)]
    configuration: Option<Misconfigured<'a>>,
    #[serde(flatten)]
    decoding: Option<Unreadable<'a>>,
}

#[derive(Serialize)]
struct Misconfigured<'a> {
    path: &'a str,
    accepted: &'a str,
}

#[derive(Serialize)]
struct Unreadable<'a> {
    carriers: Vec<UnreadableCarrier<'a>>,
    entries: Vec<Malformed<'a>>,
}

#[derive(Serialize)]
struct UnreadableCarrier<'a> {
    carrier: &'static str,
    problem: &'a str,
}

#[derive(Serialize)]
struct HoldFailure<'a> {
    code: &'a str,
    message: String,
    deficits: Vec<DeficitInWords<'a>>,
}

#[derive(Serialize)]
struct DeficitInWords<'a> {
    #[serde(flatten)]
    deficit: &'a Deficit,
    text: String,
}

pub(crate) fn answer(selection: &Selection) -> String {
    to_json(&Answer {
        chosen: selection.requirement().index(),
        json: selection.requirement().json(),
        candidates: selection.candidates(),
        explanation: selection.explain(),
    })
}

pub(crate) fn failure(error: &SelectError) -> String {
    to_json(&Failure {
        code: error.code(),
        message: error.to_string(),
        candidates: error.candidates(),
        explanation: payroute::explain(error.candidates()),
        deficits: in_words(error.deficits()),
        configuration: match error {
            SelectError::Configuration(error) => Some(Misconfigured { path: error.path(), accepted: error.accepted() }),
            _ => None,
        },
        decoding: match error {
            SelectError::Decode(DecodeError::Unreadable { failures, entries }) => Some(unreadable(failures, entries)),
            _ => None,
        },
    })
}

pub(crate) fn hold_failure(error: &HoldError) -> String {
    to_json(&HoldFailure { code: error.code(), message: error.to_string(), deficits: in_words(error.deficit()) })
}

/// What crosses is made of texts, numbers and lists, which can always be written.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn unreadable<'a>(failures: &'a [CarrierFailure], entries: &'a [MalformedField]) -> Unreadable<'a> {
    let carrier = |failure: &'a CarrierFailure| UnreadableCarrier {
        carrier: carrier_name(failure.carrier),
        problem: &failure.problem,
    };
    Unreadable {
        carriers: failures.iter().map(carrier).collect(),
        entries: entries.iter().map(Malformed::new).collect(),
    }
}

fn in_words<'a>(deficits: impl IntoIterator<Item = &'a Deficit>) -> Vec<DeficitInWords<'a>> {
    deficits.into_iter().map(|deficit| DeficitInWords { deficit, text: deficit.to_string() }).collect()
}
