//! Configuration: what is accepted asks only encrypted endpoints or this machine; what is refused is
//! named without a value.
//!
//! An input is the document.

use payroute::{Config, Endpoint, RouteSelector};
use serde_json::Value;

use super::stage::Silent;

/// Stands for a key. Documents carry it in values; it must never be shown.
const SECRET: &str = "s3cr3t%21";

/// Reads the document and looks at every endpoint that comes of it.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let document = serde_json::from_str(text).unwrap_or(Value::Null);
    let read = Config::from_json(text);
    let derived = serde_json::from_str::<Config>(text);
    assert_eq!(read.is_ok(), derived.is_ok(), "the same document, read through serde");
    match read {
        Ok(config) => accepted(config, text, &document),
        Err(error) => {
            let shown = format!("{error} {error:?}");
            assert!(!error.path().is_empty());
            // A name may be shown, and names and values that other readers lose cannot be told apart.
            let only_in_values = secrets_in_values(&document) == text.matches(SECRET).count();
            assert!(!only_in_values || !shown.contains(SECRET), "an error quotes a value: {shown}");
            assert!(!shown.chars().any(|c| c.is_control()), "an error has control characters: {shown:?}");
        }
    }
}

fn accepted(config: Config, text: &str, document: &Value) {
    assert!(document.is_object(), "no object was accepted");
    assert_eq!(format!("{:?}", Config::from_json(text).unwrap()), format!("{config:?}"), "one text, two meanings");
    let (limits, health) = (config.limits().clone(), config.health().clone());
    assert!((1..=1 << 24).contains(&limits.body_bytes) && (1..=1 << 20).contains(&limits.header_bytes));
    assert!((1..=120).contains(&limits.json_depth) && (1..=1_024).contains(&limits.requirements));
    assert!(health.ewma_alpha > 0.0 && health.ewma_alpha <= 1.0 && (1..=64).contains(&health.failure_window));
    let allow_http = document["routing"]["allowHttp"] == Value::Bool(true);
    let selector = RouteSelector::builder(config).transport(Silent).build().unwrap();
    for endpoint in selector.endpoints() {
        reachable(endpoint, allow_http);
    }
}

fn reachable(endpoint: &Endpoint, allow_http: bool) {
    let shown = format!("{endpoint:?} {}", endpoint.host());
    let Some(url) = endpoint.url() else {
        assert!(endpoint.provider().is_some(), "{shown} has no address");
        return;
    };
    let (scheme, rest) = url.split_once("://").expect("an absolute URL");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let host = host_and_port.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
    let host = host.map_or(host_and_port, |(host, _)| host);
    assert!(!host.is_empty(), "{shown} has no host");
    let encrypted = scheme == "https";
    assert!(encrypted || (scheme == "http" && (allow_http || is_this_machine(host))), "{shown} is in clear text");
    assert!(!shown.contains(SECRET), "a URL is shown: {shown}");
    assert!(shown.contains(host));
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]"
}

fn secrets_in_values(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(secrets_in_values).sum(),
        Value::Array(items) => items.iter().map(secrets_in_values).sum(),
        Value::String(text) => text.matches(SECRET).count(),
        _ => 0,
    }
}
