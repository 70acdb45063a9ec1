//! Answers and failures as JSON text.

use std::slice;

use payroute::{Candidate, ConfigurationError, DecodeError, Deficit, HoldError, Record, SelectError, Selection, Value};

use crate::payment::{carrier_name, problem};

pub(crate) fn answer(selection: &Selection) -> String {
    let mut answer = Record::default();
    answer.whole("chosen", selection.requirement().index() as u64);
    answer.text("json", selection.requirement().json());
    answer.put("candidates", candidates(selection.candidates()));
    answer.text("explanation", &selection.explain());
    answer.to_json()
}

pub(crate) fn failure(error: &SelectError) -> String {
    let mut failure = Record::default();
    failure.text("code", error.code());
    failure.text("message", &error.to_string());
    failure.put("candidates", candidates(error.candidates()));
    failure.text("explanation", &payroute::explain(error.candidates()));
    failure.put("deficits", shortfalls(error.deficits()));
    if let SelectError::Configuration(error) = error {
        failure.text("path", error.path());
        failure.text("accepted", error.accepted());
    }
    if let SelectError::Decode(DecodeError::Unreadable { failures, entries }) = error {
        let mut carriers = failures.iter().map(|failure| {
            let mut carrier = Record::default();
            carrier.text("carrier", carrier_name(failure.carrier));
            carrier.text("problem", &failure.problem);
            carrier
        });
        failure.put("carriers", listed(&mut carriers));
        failure.put("entries", listed(&mut entries.iter().map(problem)));
    }
    failure.to_json()
}

pub(crate) fn hold_failure(error: &HoldError) -> String {
    let mut failure = Record::default();
    failure.text("code", error.code());
    failure.text("message", &error.to_string());
    failure.put("deficits", shortfalls(error.deficit().map(slice::from_ref).unwrap_or_default()));
    failure.to_json()
}

pub(crate) fn config_failure(error: ConfigurationError) -> String {
    failure(&error.into())
}

/// Records as JSON.
pub(crate) fn list(records: &mut dyn Iterator<Item = Record>) -> String {
    listed(records).to_json()
}

pub(crate) fn listed(records: &mut dyn Iterator<Item = Record>) -> Value {
    Value::List(records.map(Value::Record).collect())
}

fn candidates(candidates: &[Candidate]) -> Value {
    listed(&mut candidates.iter().map(Candidate::record))
}

fn shortfalls(deficits: &[Deficit]) -> Value {
    listed(&mut deficits.iter().map(|deficit| {
        let mut record = deficit.record();
        record.text("text", &deficit.to_string());
        record
    }))
}
