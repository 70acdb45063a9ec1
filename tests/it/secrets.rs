//! A secret in any part of a URL or of a header is in nothing that anyone can see. The TypeScript twin
//! is `pkg/test/secrets.test.mjs`.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use payroute::{Config, Limits, PaymentRequired, RouteSelector};
use serde_json::{Value, json};

use crate::support::script::healthy;
use crate::support::{Answer, Script, config, offers, select, selector};

const SECRETS: [&str; 6] = ["s3cr3tuser", "s3cr3tpass", "s3cr3tpath", "s3cr3tquery", "s3cr3tfragment", "s3cr3theader"];

fn secret_url(host: &str) -> String {
    format!("https://s3cr3tuser:s3cr3tpass@{host}/s3cr3tpath?key=s3cr3tquery#s3cr3tfragment")
}

fn assert_clean(what: &str, text: &str) {
    let as_a_header = STANDARD.encode("s3cr3tuser:s3cr3tpass");
    for secret in SECRETS.into_iter().chain([as_a_header.as_str()]) {
        assert!(!text.contains(secret), "{what} shows {secret}: {text}");
    }
}

/// What a program says when it takes an error for impossible.
fn panic_message<T, E: std::fmt::Debug>(result: Result<T, E>) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        result.map(drop).expect("a good result");
    }));
    panic.unwrap_err().downcast_ref::<String>().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn nothing_shows_more_of_a_url_than_its_host() {
    let mut config = config();
    config["networks"]["base"]["rpc"] =
        json!([secret_url("base-1.test"), {"url": secret_url("base-2.test"), "label": "backup"}]);
    config["networks"]["base"]["referenceUrl"] = json!(secret_url("reference.test"));
    let parsed = Config::from_json(&config.to_string()).unwrap();
    assert_clean("Config", &format!("{parsed:?}"));
    let echo = r#"{"id":null,"error":{"code":-32600,"message":"bad key s3cr3tpath s3cr3tquery"}}"#;
    let answers = [
        Answer::broken(),
        Answer::http(401, echo),
        Answer::http(200, echo),
        Answer::http(500, "s3cr3tpath"),
        Answer::http(429, "s3cr3tpath").retry_after("s3cr3theader"),
        Answer::http(307, "https://x.test/s3cr3tpath?key=s3cr3tquery"),
        Answer::json(&json!({"id": 1, "result": "s3cr3tpath"})),
        Answer::json(&json!({"s3cr3tpath": 1, "id": "s3cr3tquery"})),
        Answer::hang(),
    ];
    for answer in answers {
        let script = Script::default();
        script.always("base-1.test", answer.clone()).always("base-2.test", answer.clone());
        script.always("reference.test", answer);
        let selector = selector(&config, &script);
        let error = select(&selector, &[offers::base("5")]).await.unwrap_err();
        assert!(error.to_string().contains("base-1.test: "), "the host is what helps: {error}");
        assert_clean("error", &format!("{error} {error:?}"));
        assert_clean("candidates", &serde_json::to_string(error.candidates()).unwrap());
        assert_clean("explain", &payroute::explain(error.candidates()));
        assert_clean("selector", &format!("{selector:?} {:?}", selector.health()));
        assert_clean("config", &format!("{:?}", selector.config()));
        assert_clean("health", &serde_json::to_string(&selector.health()).unwrap());
        assert_clean("metrics", &serde_json::to_string(&selector.metrics()).unwrap());
        assert_clean("snapshot", &selector.snapshot_health());
        assert_clean("endpoints", &format!("{:?}", selector.endpoints().collect::<Vec<_>>()));
        assert_clean("deficits", &format!("{:?}", error.deficits()));
        assert_clean("panic", &panic_message::<(), _>(Err(error)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_shows_no_more_than_an_error() {
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!([secret_url("base-1.test"), secret_url("base-2.test")]);
    let script = healthy(9, 9, 9);
    script.always("base-1.test", Answer::http(401, "s3cr3tpath"));
    let selector = selector(&config, &script);
    let selection = select(&selector, &[offers::base("5"), offers::base("7")]).await.unwrap();
    assert_clean("selection", &format!("{selection:?}"));
    assert_clean("candidates", &serde_json::to_string(selection.candidates()).unwrap());
    assert_clean("explain", &payroute::explain(selection.candidates()));
    assert_clean("health", &serde_json::to_string(&selector.health()).unwrap());
    assert_clean("metrics", &serde_json::to_string(&selector.metrics()).unwrap());
    let snapshot = selector.snapshot_health();
    assert_clean("snapshot", &snapshot);
    assert_clean("panic", &panic_message::<(), _>(Err(selection)));
}

/// A transport that panics takes the selection with it, and says no more than it means to; what was
/// held of the endpoint comes back.
#[tokio::test(start_paused = true)]
async fn a_panic_on_the_way_shows_no_more_either() {
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!([secret_url("base-1.test")]);
    // A script without a handler for a host panics.
    let selector = selector(&config, &Script::default());
    let running = selector.clone();
    let join = tokio::spawn(async move { select(&running, &[offers::base("5")]).await.map(drop).is_ok() }).await;
    let panic = join.unwrap_err();
    assert_clean("panic", &format!("{panic} {panic:?}"));
    let message = panic.into_panic();
    assert_clean("panic", message.downcast_ref::<String>().unwrap());
    assert!(selector.metrics().iter().all(|row| row.in_flight == 0));
}

/// A response's headers hold cookies and credentials; only the terms are read.
#[test]
fn nothing_of_a_response_but_its_terms_is_repeated() {
    let headers: [(&str, &[u8]); 4] = [
        ("authorization", b"Bearer s3cr3theader"),
        ("set-cookie", b"id=s3cr3theader"),
        ("payment-required", b"%s3cr3theader%"),
        ("x-payment-required", b"[\"s3cr3theader\"]"),
    ];
    let error = PaymentRequired::from_response(headers, b"<html>s3cr3tpath", &Limits::default()).unwrap_err();
    assert_clean("error", &format!("{error} {error:?}"));
}

#[tokio::test(start_paused = true)]
async fn events_show_no_more_either() {
    let events = Arc::new(Mutex::new(String::new()));
    let heard = events.clone();
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!([secret_url("base-1.test"), secret_url("base-2.test")]);
    let script = Script::default();
    script
        .always("base-1.test", Answer::http(401, "s3cr3tpath"))
        .always("base-2.test", Answer::http(429, "s3cr3tpath"));
    let selector = RouteSelector::builder(Config::from_json(&config.to_string()).unwrap())
        .transport(script)
        .on_event(move |event: &payroute::SelectorEvent| {
            let json = serde_json::to_string(event).unwrap();
            heard.lock().unwrap().push_str(&format!("{event:?}{json}"));
        })
        .build()
        .unwrap();
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    let events = events.lock().unwrap();
    assert!(events.contains("base-1.test") && events.contains("base-2.test"), "{events}");
    assert_clean("events", &events);
}

/// Everything that the feature `tracing` writes, spans and events.
#[cfg(feature = "tracing")]
#[tokio::test(start_paused = true)]
async fn traces_show_no_more_either() {
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // For the whole process: tests that run beside this one would otherwise switch its spans off.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!([secret_url("traced-1.test"), secret_url("traced-2.test")]);
    let script = Script::default();
    script.always("traced-1.test", Answer::broken()).always("traced-2.test", Answer::http(401, "s3cr3tpath"));
    select(&selector(&config, &script), &[offers::base("5")]).await.unwrap_err();
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for expected in
        ["select{offers=1}", "probe{network=eip155:8453 endpoint=\"traced-1.test\"}", "failover", "class=auth"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_clean("traces", &text);
}

/// The ready-made transport against a port that refuses: its own errors hold URLs.
#[tokio::test]
async fn the_http_client_says_no_more_either() {
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["http://s3cr3tuser:s3cr3tpass@127.0.0.1:9/s3cr3tpath?key=s3cr3tquery"]);
    let selector = RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap();
    let payment = PaymentRequired::from_text(offers::v2(&[offers::base("5")]).to_string(), &Limits::default()).unwrap();
    let error = selector.select(&payment).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:9: the connection failed"), "{error}");
    assert_clean("error", &format!("{error} {error:?}"));
}

#[test]
fn configuration_errors_quote_no_value() {
    let url = secret_url("x.test");
    let network = |network: Value| json!({"networks": {"base": network}});
    for config in [
        network(json!({"rpc": url})),
        network(json!({"rpc": {"url": url}})),
        network(json!({"rpc": [{"url": "http://s3cr3tuser:s3cr3tpass@x.test/s3cr3tpath"}]})),
        network(json!({"rpc": [url, url]})),
        network(json!({"rpc": [{"url": "https://x.test", "label": url}]})),
        network(json!({"rpc": [{"provider": "wallet", "label": url}]})),
        network(json!({"rpc": [{"provider": url}]})),
        network(json!({"referenceUrl": url.replace("https", "ftp")})),
        network(json!({"rpc": [{"url": "https://x.test", "priority": url}]})),
        network(json!({"rpc": [{(url.clone()): 1}]})),
        network(json!({"name": url})),
        network(json!({"strategy": url})),
        network(json!({"strategy": "s3cr3tpath"})),
        network(json!({"rpc": "x, expected https://x.test/s3cr3tpath"})),
        network(json!({"assets": [{"address": "x", "program": "s3cr3tpath"}]})),
        json!({"networks": {"https:x.test/s3cr3tpath": {}}}),
        json!({"networks": {"HTTPS://x.test/s3cr3tpath": {}}}),
        network(json!({"assets": url})),
        network(json!({"assets": [{"address": url}]})),
        network(json!({(url.clone()): 1})),
        json!({"networks": {(url.clone()): {}}}),
        json!({(url.clone()): {}}),
        json!({"owners": {(url.clone()): ""}}),
        json!({"owners": {"eip155": url}}),
        json!({"owners": url}),
        json!({"fees": {"base": url}}),
        json!({"fees": {(url.clone()): "1"}}),
        json!({"policy": {"maxAmount": {(url.clone()): "1"}}}),
        json!({"policy": {"maxAmount": {"USDC": url}}}),
        json!({"policy": {"allowedAssets": [url]}}),
        json!({"routing": {"preferNetworks": [url]}}),
        json!({"routing": {"probeTimeoutMs": url}}),
        json!({"health": {"openForMs": url}}),
    ] {
        let error = Config::from_json(&config.to_string()).unwrap_err();
        assert_clean("error", &format!("{error} {error:?}"));
        assert_clean("panic", &panic_message::<(), _>(Err(error)));
    }
}
