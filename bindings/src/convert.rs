//! Answers and failures as JSON text.

use payroute::{Candidate, ConfigError, DecodeError, Deficit, HoldError, Record, SelectError, Selection, Value};

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
    failure.put("deficits", Value::List(error.deficits().iter().map(shortfall).collect()));
    if let SelectError::Configuration(error) = error {
        failure.text("path", error.path());
        failure.known_text("accepted", error.accepted());
    }
    if let SelectError::Decode(DecodeError::Unreadable { failures, entries }) = error {
        let carriers = failures.iter().map(|failure| {
            let mut carrier = Record::default();
            carrier.text("carrier", carrier_name(failure.carrier));
            carrier.text("problem", &failure.problem);
            Value::Record(carrier)
        });
        failure.put("carriers", Value::List(carriers.collect()));
        failure.put("entries", Value::List(entries.iter().map(problem).collect()));
    }
    failure.to_json()
}

pub(crate) fn hold_failure(error: &HoldError) -> String {
    let mut failure = Record::default();
    failure.text("code", error.code());
    failure.text("message", &error.to_string());
    failure.put("deficits", Value::List(error.deficit().into_iter().map(shortfall).collect()));
    failure.to_json()
}

pub(crate) fn config_failure(error: ConfigError) -> String {
    failure(&error.into())
}

fn candidates(candidates: &[Candidate]) -> Value {
    Value::List(candidates.iter().map(|candidate| Value::Record(candidate.record())).collect())
}

fn shortfall(deficit: &Deficit) -> Value {
    let mut record = deficit.record();
    record.text("text", &deficit.to_string());
    Value::Record(record)
}
