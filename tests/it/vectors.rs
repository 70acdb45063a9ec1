//! The vectors in `tests/vectors`, which the TypeScript package runs too. Data in, data out; what a
//! health step means is one file for both.

use payroute::{
    BoxFuture, Candidate, ChainId, Config, Endpoint, HttpReply, Limits, PaymentRequired, RouteSelector, SelectError,
    Transport, TransportError, X402Version,
};
use serde_json::{Value, json};

#[path = "../../bindings/src/vectors.rs"]
mod health;

/// The files, and how many vectors are in all of them: both runners state it, so that one which only
/// one side runs cannot go unnoticed.
const FILES: [&str; 4] = ["decoding", "cascade", "screening", "health"];
const VECTORS: usize = 82;

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check(file: &str, run: impl Fn(&Value) -> Value) {
    for vector in vectors(file) {
        assert_eq!(run(&vector["input"]), vector["expected"], "{}", vector["id"]);
    }
}

#[test]
fn every_vector_is_run() {
    let names: Vec<String> = (std::fs::read_dir(format!("{}/tests/vectors", env!("CARGO_MANIFEST_DIR"))).unwrap())
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), FILES.len());
    let ids: Vec<Value> = FILES.iter().flat_map(|file| vectors(file)).map(|vector| vector["id"].clone()).collect();
    assert_eq!(ids.len(), VECTORS);
}

#[test]
fn decoding() {
    check("decoding", |input| {
        let decoded = match input["text"].as_str() {
            Some(text) => PaymentRequired::from_text(text, &Limits::default()),
            None => {
                let headers = input["headers"].as_object().unwrap().iter();
                let headers = headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap().as_bytes()));
                PaymentRequired::from_response(headers, input["body"].as_str().unwrap().as_bytes(), &Limits::default())
            }
        };
        match decoded {
            Ok(payment) => {
                let mut decoded = json!({
                    "x402Version": if payment.version() == X402Version::V1 { 1 } else { 2 },
                    "carrier": carrier(&payment),
                    "notes": payment.notes(),
                    "entries": payment.requirements().iter().map(entry).collect::<Vec<_>>(),
                });
                if !payment.extensions().is_empty() {
                    decoded["extensions"] = json!(payment.extensions());
                }
                decoded
            }
            Err(error) => json!({ "error": SelectError::from(error).code() }),
        }
    });
}

fn carrier(payment: &PaymentRequired) -> &'static str {
    match payment.carrier() {
        payroute::Carrier::Header => "header",
        payroute::Carrier::Body => "body",
        payroute::Carrier::LegacyHeader => "legacy-header",
        payroute::Carrier::RequirementsHeader => "requirements-header",
        _ => "document",
    }
}

fn entry(requirement: &payroute::PaymentRequirement) -> Value {
    match requirement.terms() {
        Err(malformed) => json!({ "malformed": malformed.field }),
        Ok(terms) => match &terms.chain {
            Some(chain) => json!({ "amount": terms.amount, "network": chain }),
            None => json!({ "amount": terms.amount }),
        },
    }
}

#[test]
fn cascade() {
    check("cascade", |input| {
        let mut candidates: Vec<Candidate> = serde_json::from_value(input["candidates"].clone()).unwrap();
        let names: Vec<String> = serde_json::from_value(input["preferNetworks"].clone()).unwrap();
        let prefer: Vec<ChainId> = names.iter().map(|name| ChainId::resolve(name).unwrap()).collect();
        payroute::rank(&mut candidates, &prefer);
        candidates.iter().map(|candidate| json!([candidate.requirement_index, candidate.decided_by])).collect()
    });
}

#[tokio::test]
async fn screening() {
    for vector in vectors("screening") {
        let (input, expected) = (&vector["input"], &vector["expected"]);
        assert_eq!(&screen(input).await, expected, "{}", vector["id"]);
    }
}

async fn screen(input: &Value) -> Value {
    let config = match Config::from_json(&input["config"].to_string()) {
        Ok(config) => config,
        Err(error) => return json!({ "code": SelectError::from(error).code(), "reasons": null }),
    };
    let selector = RouteSelector::builder(config).transport(Nowhere).build().unwrap();
    let document = json!({ "x402Version": 2, "accepts": input["accepts"] }).to_string();
    let payment = match PaymentRequired::from_text(&document, &Limits::default()) {
        Ok(payment) => payment,
        Err(error) => return json!({ "code": SelectError::from(error).code(), "reasons": null }),
    };
    let error = selector.select(&payment).await.unwrap_err();
    let mut candidates: Vec<&Candidate> = error.candidates().iter().collect();
    candidates.sort_by_key(|candidate| candidate.requirement_index);
    let reasons: Vec<Vec<&str>> = (candidates.iter())
        .map(|candidate| candidate.rejections.iter().map(|rejection| rejection.reason.name()).collect())
        .collect();
    json!({ "code": error.code(), "reasons": reasons })
}

/// Answers nobody: screening is what happens before.
struct Nowhere;

impl Transport for Nowhere {
    fn post<'a>(&'a self, _: &'a Endpoint, _: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        Box::pin(async { Err(TransportError::Unreachable) })
    }
}

#[test]
fn health() {
    check("health", |input| json!(health::replay_health(&input.to_string()).unwrap()));
}
