//! For those who run it: cordons, reports, snapshots, the health view, counters and events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use payroute::__private::Instant;
use payroute::{
    ChainId, Circuit, Config, Endpoint, EndpointKey, FailureClass, HealthIndex, Outcome, ReadPlan, RouteSelector,
    SelectorEvent, SnapshotError,
};
use serde_json::{Value, json};

use crate::support::script::healthy;
use crate::support::{Answer, Evm, Script, Svm, USDC_BASE, USDC_SEPOLIA, config, offers, select, selector};

fn endpoint<'a>(selector: &'a RouteSelector, host: &str) -> &'a Endpoint {
    selector.endpoints().find(|endpoint| endpoint.host() == host).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_cordon_holds_until_it_is_lifted_by_hand() {
    let script = healthy(9, 9, 9);
    let selector = selector(&config(), &script);
    selector.cordon(endpoint(&selector, "base-1.test"));
    let used = async || {
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        selection.selected().endpoint.clone().unwrap().to_string()
    };
    assert_eq!(used().await, "base-2.test");
    selector.reset_health();
    selector.restore_health(&selector.snapshot_health()).unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(used().await, "base-2.test");
    selector.cordon(endpoint(&selector, "base-2.test"));
    let error = select(&selector, &[offers::base("5")]).await.unwrap_err();
    assert!(error.to_string().contains("all are cordoned or busy"), "{error}");
    script.asked();
    selector.uncordon(endpoint(&selector, "base-1.test"));
    assert_eq!(used().await, "base-1.test");
    assert_eq!(script.asked(), ["base-1.test"]);
}

#[tokio::test(start_paused = true)]
async fn an_applications_own_traffic_counts() {
    let script = healthy(9, 9, 9);
    let selector = selector(&config(), &script);
    for _ in 0..5 {
        selector.report(endpoint(&selector, "base-1.test"), Outcome::Fault);
    }
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test"]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    // A report is no trial: it cannot close what only a trial may.
    selector.report(
        endpoint(&selector, "base-1.test"),
        Outcome::Success { latency: Duration::from_millis(1), chain_time_ms: None },
    );
    let view = selector.health();
    assert_eq!(view.iter().find(|view| &*view.endpoint == "base-1.test").unwrap().circuit, Circuit::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_outlives_the_process() {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::new(1, USDC_BASE, 9));
    script.always("sepolia.test", Answer::http(429, "").retry_after("20"));
    let before = selector(&config(), &script);
    let offers = [offers::base("5"), offers::sepolia("5"), offers::solana("5")];
    select(&before, &offers).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let snapshot = before.snapshot_health();

    let after = selector(&config(), &script);
    after.restore_health(&snapshot).unwrap();
    assert_eq!(after.snapshot_health(), snapshot, "what is restored is written the same again");
    // All but the lag: how much time passed in between is unknown, and so is who is fresh now.
    let view = |selector: &RouteSelector| {
        let mut view = serde_json::to_value(selector.health()).unwrap();
        view.as_array_mut().unwrap().iter_mut().for_each(|row| _ = row.as_object_mut().unwrap().remove("lagMs"));
        view
    };
    assert_eq!(view(&before), view(&after));
    script.asked();
    select(&after, &[offers[0].clone()]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test"], "the circuit is open there too");
    tokio::time::sleep(Duration::from_secs(20)).await;
    let view = after.health();
    let base = view.iter().find(|view| &*view.endpoint == "base-1.test").unwrap();
    assert_eq!(base.circuit, Circuit::HalfOpen, "ten seconds before and twenty after");
}

/// The longest host and port, and one that would hide what it is.
#[test]
fn a_snapshot_keeps_every_host_whole() {
    let (now, network) = (Instant::from_millis(1_000), ChainId::resolve("base").unwrap());
    let longest = format!("{}.test:65535", "a".repeat(248));
    for (host, shown) in [(longest.as_str(), longest.as_str()), ("a\u{202e}b\0", r"a\u{202e}b\u{0}")] {
        let indexes = [HealthIndex::default(), HealthIndex::default(), HealthIndex::default()];
        let mut snapshot = String::new();
        indexes[0].report(&EndpointKey::new(network.clone(), 1, host), Outcome::Fault, now);
        for pair in indexes.windows(2) {
            snapshot = pair[0].snapshot(now);
            pair[1].restore(&snapshot, now).unwrap();
            assert_eq!(&*pair[1].view(now)[0].endpoint, shown);
        }
        assert_eq!(indexes[2].snapshot(now), snapshot);
    }
}

#[test]
fn a_snapshot_that_is_none_changes_nothing() {
    let index = HealthIndex::default();
    let now = Instant::from_millis(1_000);
    let good = r#"{"network":"eip155:8453","endpoint":"x.test","id":"0123456789abcdef0123456789abcdef",
        "success":800000000,"consecutiveFailures":0,"samples":0,"failures":"0","idleForMs":0}"#;
    let of = |endpoints: &str| format!(r#"{{"version":1,"endpoints":[{endpoints}]}}"#);
    let none = "the snapshot is none; accepted is an object with a number `version` and a list `endpoints`";
    index.restore(&of(good), now).unwrap();
    for (text, problem) in [
        (String::new(), "the snapshot is not JSON (line 1, column 1)"),
        ("[]".to_owned(), none),
        (r#"{"version":2,"endpoints":[]}"#.to_owned(), "the snapshot has version 2; accepted is 1"),
        (r#"{"version":1,"endpoints":{}}"#.to_owned(), none),
        (r#"{"version":1}"#.to_owned(), none),
        (r#"{"endpoints":[]}"#.to_owned(), none),
        (r#"{"version":1,"endpoints":[],"more":1}"#.to_owned(), none),
        (of(&format!("{good},{good}")), "endpoint 1 of the snapshot is not acceptable; the first fault is at `id`"),
    ] {
        let error = index.restore(&text, now).unwrap_err();
        assert_eq!(error.to_string(), problem, "{text}");
        assert_eq!(index.len(), 1);
    }
    for (endpoint, fault) in [
        (good.replace("0123456789abcdef0123456789abcdef", "12"), "id"),
        (good.replace("01234567", "+1234567"), "id"),
        (good.replace(r#""failures":"0""#, r#""failures":"zz""#), "failures"),
        (good.replace(r#""failures":"0""#, r#""failures":"+1""#), "failures"),
        (good.replace(r#""samples":0"#, r#""samples":-1"#), "samples"),
        (good.replace(r#""samples":0"#, r#""samples":0,"simples":0"#), "simples"),
        (good.replace(r#""samples":0,"#, ""), "samples"),
        (good.replace("eip155:8453", "nowhere"), "network"),
        (good.replace(r#""samples":0"#, r#""samples":0,"samples":0"#), "samples"),
        (good.replace(r#""samples":0"#, r#""samples":0,"opened":{"reason":"wrong-chain"}"#), "opened.agoMs"),
        (good.replace(r#""samples":0"#, r#""samples":0,"opened":{"agoMs":1,"reason":"boredom"}"#), "opened.reason"),
        (good.replace(r#""samples":0"#, r#""samples":0,"opened":{"agoMs":1,"more":1}"#), "opened.more"),
        (good.replace(r#""samples":0"#, r#""samples":0,"plan":{"number":2,"forMs":1}"#), "plan.number"),
        (good.replace(r#""samples":0"#, r#""samples":0,"plan":{"name":2,"forMs":1}"#), "plan.name"),
        ("7".to_owned(), "."),
    ] {
        let error = index.restore(&of(&endpoint), now).unwrap_err();
        assert_eq!(error, SnapshotError::Endpoint { position: 0, field: fault.to_owned() }, "{endpoint}");
        assert_eq!(index.len(), 1);
    }
    // What is ahead is no further than the index itself would have put it.
    let far = of(&good.replace(
        r#""samples":0"#,
        r#""samples":0,"latencyUs":18446744073709551615,"throttledForMs":9007199254740991,"backingOffForMs":9007199254740991,"plan":{"name":"batch","forMs":9007199254740991}"#,
    ));
    index.restore(&far, now).unwrap();
    let view = index.view(now);
    let row = view.iter().find(|row| row.latency_us.is_some()).unwrap();
    assert_eq!((row.throttled_for_ms, row.backing_off_for_ms), (Some(300_000), Some(30_000)));
    assert_eq!((row.latency_us, row.plan), (Some(30_000_000), Some(ReadPlan::Batch)));
    assert_eq!(index.view(now.after(Duration::from_secs(3_600))).iter().find_map(|row| row.plan), None);
    // Numbers of any size are no reason to panic.
    let huge = of(&good
        .replace(r#""idleForMs":0"#, r#""idleForMs":18446744073709551615,"throttledForMs":18446744073709551615"#)
        .replace(r#""samples":0"#, r#""samples":4294967295"#)
        .replace(r#""failures":"0""#, r#""failures":"ffffffffffffffff""#)
        .replace("800000000", "4294967295"));
    index.restore(&huge, now).unwrap();
    assert!(index.view(now).iter().all(|view| view.score.bps() <= 10_000));
}

#[tokio::test(start_paused = true)]
async fn the_health_view_says_what_there_is_to_know() {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::new(1, USDC_BASE, 9));
    let cluster = Svm::usdc(9);
    script.on("solana.test", move |body| Answer::json(&cluster.answer(body)).after(Duration::from_millis(60)));
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5"), offers::solana("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut view = serde_json::to_value(selector.health()).unwrap();
    for row in view.as_array_mut().unwrap() {
        let id = row.as_object_mut().unwrap().remove("id").unwrap();
        assert_eq!(id.as_str().unwrap().len(), 32);
    }
    let of = |host: &str| view.as_array().unwrap().iter().find(|row| row["endpoint"] == host).unwrap().clone();
    assert_eq!(
        of("base-1.test"),
        json!({
            "network": "eip155:8453", "endpoint": "base-1.test", "circuit": "open", "openedFor": "wrong-chain",
            "halfOpenInMs": 28_940, "score": 0.064, "successRate": 0.64, "cordoned": false, "idleForMs": 1_060,
            "scoreParts": {"success": 0.64, "latency": 0.0, "throttle": 0.0, "staleness": 0.0, "multiplier": 0.1},
        })
    );
    assert_eq!(
        of("solana.test"),
        json!({
            "network": crate::support::SOLANA, "endpoint": "solana.test", "circuit": "closed", "score": 0.82,
            "latencyMs": 60.0, "successRate": 0.84, "cordoned": false, "idleForMs": 1_000,
            "scoreParts": {"success": 0.84, "latency": 0.02, "throttle": 0.0, "staleness": 0.0, "multiplier": 1.0},
        })
    );
}

/// A selector that keeps its events.
fn observed(config: &Value, script: &Script) -> (RouteSelector, Arc<Mutex<Vec<SelectorEvent>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = events.clone();
    let selector = RouteSelector::builder(Config::from_json(&config.to_string()).unwrap())
        .transport(script.clone())
        .on_event(move |event: &SelectorEvent| heard.lock().unwrap().push(event.clone()))
        .build()
        .unwrap();
    (selector, events)
}

fn take(events: &Mutex<Vec<SelectorEvent>>) -> Vec<Value> {
    std::mem::take(&mut *events.lock().unwrap()).iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn events_tell_of_edges_once() {
    let script = healthy(9, 9, 9);
    let (selector, events) = observed(&config(), &script);
    let base = |kind: &str, endpoint: &str| json!({"type": kind, "network": "eip155:8453", "endpoint": endpoint});
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(take(&events), Vec::<Value>::new(), "nothing happened");

    script.evm("base-1.test", Evm::new(1, USDC_BASE, 9));
    select(&selector, &[offers::base("5")]).await.unwrap();
    let mut opened = base("circuit-opened", "base-1.test");
    opened["reason"] = json!("wrong-chain");
    let failover = json!({"type": "failover", "network": "eip155:8453", "from": "base-1.test", "to": "base-2.test"});
    assert_eq!(take(&events), [base("identity-mismatch", "base-1.test"), opened, failover]);
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(take(&events), Vec::<Value>::new(), "open is no news");

    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9));
    tokio::time::sleep(Duration::from_secs(30)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(take(&events), [base("circuit-half-open", "base-1.test"), base("circuit-closed", "base-1.test")]);

    script.always("base-1.test", Answer::http(429, ""));
    select(&selector, &[offers::base("5")]).await.unwrap();
    let failover = json!({"type": "failover", "network": "eip155:8453", "from": "base-1.test", "to": "base-2.test"});
    assert_eq!(take(&events), [base("throttled", "base-1.test"), failover]);

    for host in ["base-1.test", "base-2.test"] {
        script.always(host, Answer::broken());
    }
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    let events = take(&events);
    assert_eq!(events.last().unwrap(), &json!({"type": "offline"}));
}

#[tokio::test(start_paused = true)]
async fn what_lasts_is_told_once() {
    let script = healthy(9, 9, 9);
    script.always("sepolia.test", Answer::http(429, "").retry_after("60"));
    let (selector, events) = observed(&config(), &script);
    for _ in 0..5 {
        select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
    }
    assert_eq!(take(&events).len(), 1, "throttled");
    script.always("sepolia.test", Answer::broken());
    for _ in 0..5 {
        select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let told = take(&events).iter().filter(|event| event["type"] == "offline").count();
    assert_eq!(told, 1, "offline");
    script.evm("sepolia.test", Evm::new(84532, USDC_SEPOLIA, 9));
    select(&selector, &[offers::sepolia("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    script.always("sepolia.test", Answer::broken());
    select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
    assert!(take(&events).iter().any(|event| event["type"] == "offline"), "and again when it begins again");
}

/// An observer may ask the selector about what it hears.
#[tokio::test(start_paused = true)]
async fn an_observer_may_call_back() {
    let cell: Arc<Mutex<Option<RouteSelector>>> = Arc::default();
    let seen = cell.clone();
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::new(1, USDC_BASE, 9));
    let selector = RouteSelector::builder(Config::from_json(&config().to_string()).unwrap())
        .transport(script)
        .on_event(move |_: &SelectorEvent| {
            let selector = seen.lock().unwrap().clone().unwrap();
            let _ = selector.health();
            let _ = selector.metrics();
            selector.restore_health(&selector.snapshot_health()).unwrap();
            selector.reset_health();
        })
        .build()
        .unwrap();
    *cell.lock().unwrap() = Some(selector.clone());
    select(&selector, &[offers::base("5")]).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cordon_can_be_seen_before_any_traffic() {
    let selector = selector(&config(), &Script::default());
    selector.cordon(endpoint(&selector, "base-1.test"));
    let view = selector.health();
    assert_eq!((view.len(), view[0].cordoned, &*view[0].endpoint), (1, true, "base-1.test"));
    assert_eq!(view[0].id, endpoint(&selector, "base-1.test").key().id());
}

#[tokio::test(start_paused = true)]
async fn counters_by_endpoint_and_class() {
    let script = healthy(9, 9, 9);
    script.always("sepolia.test", Answer::http(429, ""));
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    script.always("sepolia.test", Answer::http(500, ""));
    select(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    selector.reset_health();
    let metrics = selector.metrics();
    let of = |host: &str| metrics.iter().find(|row| &*row.endpoint == host).unwrap();
    assert_eq!((of("base-1.test").attempts, of("base-1.test").successes, of("base-1.test").in_flight), (2, 2, 0));
    assert!(of("base-1.test").failures.is_empty());
    let failures = &of("sepolia.test").failures;
    assert_eq!(*failures, [(FailureClass::RateLimited, 1), (FailureClass::Fault, 1)]);
    assert_eq!(metrics.len(), 2, "only what was asked");
}

#[tokio::test(start_paused = true)]
async fn a_quota_waits_five_minutes_and_a_soft_fault_weighs_half() {
    let script = healthy(9, 9, 9);
    let answer = |code: i64, message: &str| {
        Answer::http(200, &format!(r#"{{"id":null,"error":{{"code":{code},"message":"{message}"}}}}"#))
    };
    script.always("base-1.test", answer(-32005, "daily request count exceeded"));
    script.always("sepolia.test", answer(-32000, "something new"));
    let selector = selector(&config(), &script);
    for _ in 0..2 {
        select(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    }
    let view = selector.health();
    let of = |host: &str| view.iter().find(|view| &*view.endpoint == host).unwrap();
    assert_eq!(of("base-1.test").throttled_for_ms, Some(300_000));
    // 0.8 × 0.9 × 0.9.
    assert_eq!(of("sepolia.test").success_rate.bps(), 6_480);
    for _ in 0..7 {
        select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
    }
    let circuit = |selector: &RouteSelector| {
        selector.health().iter().find(|view| &*view.endpoint == "sepolia.test").unwrap().circuit
    };
    assert_eq!(circuit(&selector), Circuit::Closed, "nine halves");
    select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
    assert_eq!(circuit(&selector), Circuit::Open, "ten halves are five");
    script.evm("sepolia.test", Evm::new(84532, USDC_SEPOLIA, 9));
}
