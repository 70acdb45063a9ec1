//! The closed sets of words: what JSON calls a value is what it displays, and what TypeScript's types list.

use payroute::{Circuit, DecidingKey, FailureClass, Note, OpenReason, ReadPlan, RejectionReason};
use serde::Serialize;
use serde::de::DeserializeOwned;

const TYPES: &str = include_str!("../../pkg/index.d.ts");

#[test]
fn a_word_is_the_same_in_json_in_rust_and_in_typescript() {
    agrees("RejectionReason", 22, RejectionReason::name);
    agrees("Note", 13, Note::name);
    agrees("DecidingKey", 7, DecidingKey::name);
    agrees("Circuit", 3, |circuit: Circuit| circuit.to_string());
    agrees("OpenReason", 4, OpenReason::name);
    agrees("ReadPlan", 4, ReadPlan::name);
    agrees("FailureClass", 10, FailureClass::name);
}

/// Each type under the name that the crate exports, which the compiler checks, and TypeScript's.
macro_rules! twins {
    ($($name:ident)*) => {
        [$((std::any::type_name::<payroute::$name>(), stringify!($name))),*]
    };
}

#[test]
fn a_type_has_one_name_in_rust_and_in_typescript() {
    let twins = twins![
        Approval Candidate Carrier CarrierFailure Circuit Config ConfigurationError DecidingKey Deficit EndpointHealth
        EndpointMetrics FailureClass HealthIndex HealthSettings Hold Limits MalformedField Note OpenReason
        PaymentRequirement ReadPlan RejectionReason ScoreParts Selection SelectorEvent Terms X402Version
    ];
    for (path, name) in twins {
        assert_eq!(path.rsplit("::").next(), Some(name), "an alias is a second name");
        let declared = ["interface", "type", "class"].iter().any(|kind| {
            let start = format!("export {kind} {name}");
            TYPES.split(&start).skip(1).any(|rest| rest.starts_with([' ', '<']))
        });
        assert!(declared, "{name} has another name in TypeScript, or none");
    }
}

/// `count` words, so that a set of which nothing is found does not agree with nothing.
fn agrees<T: DeserializeOwned + Serialize + Copy, N: AsRef<str>>(union: &str, count: usize, name: impl Fn(T) -> N) {
    let words = accepted_by_json::<T>();
    assert_eq!(words.len(), count, "{union}: {words:?}");
    for word in &words {
        let value: T = serde_json::from_value(word.as_str().into()).unwrap();
        assert_eq!(name(value).as_ref(), word, "{union}");
        assert_eq!(serde_json::to_value(value).unwrap(), word.as_str(), "{union}");
    }
    assert_eq!(sorted(words), sorted(listed_by_typescript(union)), "{union}");
}

/// Every word of a set, as the refusal of another one lists them.
fn accepted_by_json<T: DeserializeOwned>() -> Vec<String> {
    let refusal = serde_json::from_str::<T>("\"\"").err().unwrap().to_string();
    let (_, list) = refusal.split_once("expected one of ").unwrap();
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn listed_by_typescript(union: &str) -> Vec<String> {
    let (_, declaration) = TYPES.split_once(&format!("export type {union} =")).unwrap();
    let (declaration, _) = declaration.split_once("\";\n").unwrap();
    // Comments quote words too, but begin no line with a bar.
    let lines = declaration.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words
}
