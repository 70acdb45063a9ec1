//! Answers and failures as JSON text.

use payroute::{Candidate, ConfigError, DecodeError, Deficit, HoldError, SelectError, Selection};
use serde::Serialize;

use crate::payment::{Problem, carrier_name};

pub(crate) fn json(value: &impl Serialize) -> String {
    // Serialising into memory fails only for maps with keys that are no text; there are none.
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn answer(selection: &Selection) -> String {
    json(&Answer {
        chosen: selection.requirement().index(),
        json: selection.requirement().json(),
        candidates: selection.candidates(),
        explanation: selection.explain(),
    })
}

pub(crate) fn failure(error: &SelectError) -> String {
    let decode = match error {
        SelectError::Decode(error) => Some(error),
        _ => None,
    };
    let configuration = match error {
        SelectError::Configuration(error) => Some(error),
        _ => None,
    };
    let (failures, entries) = match decode {
        Some(DecodeError::Unreadable { failures, entries }) => (failures.as_slice(), entries.as_slice()),
        _ => (&[][..], &[][..]),
    };
    json(&Failure {
        code: error.code(),
        message: error.to_string(),
        candidates: error.candidates(),
        explanation: payroute::explain(error.candidates()),
        deficits: error.deficits().iter().map(|deficit| Shortfall { deficit, text: deficit.to_string() }).collect(),
        path: configuration.map(ConfigError::path),
        accepted: configuration.and_then(ConfigError::accepted),
        carriers: failures
            .iter()
            .map(|failure| CarrierProblem { carrier: carrier_name(failure.carrier), problem: &failure.problem })
            .collect(),
        entries: entries.iter().map(Problem::of).collect(),
    })
}

pub(crate) fn hold_failure(error: &HoldError) -> String {
    json(&HoldFailure {
        code: error.code(),
        message: error.to_string(),
        deficits: error.deficit().map(|deficit| Shortfall { deficit, text: deficit.to_string() }).into_iter().collect(),
    })
}

pub(crate) fn config_failure(error: ConfigError) -> String {
    failure(&error.into())
}

#[derive(Serialize)]
struct Answer<'a> {
    chosen: usize,
    json: &'a str,
    candidates: &'a [Candidate],
    explanation: String,
}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'static str,
    message: String,
    candidates: &'a [Candidate],
    explanation: String,
    deficits: Vec<Shortfall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<&'a str>,
    carriers: Vec<CarrierProblem<'a>>,
    entries: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct HoldFailure<'a> {
    code: &'static str,
    message: String,
    deficits: Vec<Shortfall<'a>>,
}

#[derive(Serialize)]
struct Shortfall<'a> {
    #[serde(flatten)]
    deficit: &'a Deficit,
    text: String,
}

#[derive(Serialize)]
struct CarrierProblem<'a> {
    carrier: &'static str,
    problem: &'a str,
}
