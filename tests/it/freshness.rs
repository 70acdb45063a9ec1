//! Endpoints whose chain lies behind, found out by the chain's own time. Virtual time.

use std::time::Duration;

use payroute::__private::Instant;
use payroute::{ChainId, EndpointKey, HealthIndex, Outcome};
use serde_json::{Value, json};

use crate::support::script::healthy;
use crate::support::{Answer, Evm, Script, Svm, USDC_BASE, USDC_SEPOLIA, offers, select, selector};

/// Two endpoints of Solana, the first preferred.
fn config() -> Value {
    json!({
        "owners": {"solana": crate::support::BUYER_SVM},
        "networks": {"solana": {"rpc": ["https://first.test/", "https://second.test/"]}},
    })
}

/// A cluster whose clock shows `behind` seconds less than the true one, which moves with the test.
fn cluster(script: &Script, host: &str, behind: impl Fn(u64) -> i64 + Send + Sync + 'static) {
    let began = tokio::time::Instant::now();
    script.on(host, move |body| {
        let mut svm = Svm::usdc(9);
        let elapsed = began.elapsed().as_secs();
        svm.set_clock(1_800_000_000 + elapsed as i64 - behind(elapsed));
        Answer::json(&svm.answer(body))
    });
}

async fn used(selector: &payroute::RouteSelector) -> (String, Option<u64>) {
    let selection = select(selector, &[offers::solana("5")]).await.unwrap();
    (selection.selected().endpoint.clone().unwrap().to_string(), selection.selected().lag_ms)
}

/// Makes both endpoints known: the second is asked while the first refuses.
async fn meet_both(selector: &payroute::RouteSelector, script: &Script, behind: i64) {
    script.always("first.test", Answer::http(429, "").retry_after("0.25"));
    assert_eq!(used(selector).await.0, "second.test");
    cluster(script, "first.test", move |_| behind);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(used(selector).await.0, "first.test");
}

#[tokio::test(start_paused = true)]
async fn a_stale_endpoint_is_demoted_never_excluded() {
    let script = Script::default();
    cluster(&script, "second.test", |_| 0);
    let selector = selector(&config(), &script);
    meet_both(&selector, &script, 40).await;
    let (host, lag) = used(&selector).await;
    assert_eq!((host.as_str(), lag), ("second.test", Some(0)));
    let view = selector.health();
    let first = view.iter().find(|view| &*view.endpoint == "first.test").unwrap();
    assert_eq!(first.lag_ms, Some(40_000));
    assert_eq!(first.score_parts.staleness.bps(), 1_111, "0.2 × 25 s of 45 s");
    script.always("second.test", Answer::http(500, ""));
    assert_eq!(used(&selector).await, ("first.test".to_owned(), Some(40_000)));
}

#[tokio::test(start_paused = true)]
async fn a_few_seconds_cost_nothing() {
    let script = Script::default();
    cluster(&script, "second.test", |_| 0);
    let selector = selector(&config(), &script);
    meet_both(&selector, &script, 15).await;
    assert_eq!(used(&selector).await, ("first.test".to_owned(), Some(15_000)));
}

#[tokio::test(start_paused = true)]
async fn a_frozen_node_is_demoted_within_two_selections() {
    let script = Script::default();
    cluster(&script, "second.test", |_| 0);
    let selector = selector(&config(), &script);
    meet_both(&selector, &script, 0).await;
    // Its time stands still from now on.
    let mut frozen = Svm::usdc(9);
    frozen.set_clock(1_800_000_001);
    script.svm("first.test", frozen);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(used(&selector).await.0, "first.test", "the first selection finds out");
    assert_eq!(used(&selector).await.0, "second.test", "the second passes it over");
}

#[tokio::test(start_paused = true)]
async fn one_liar_does_not_make_an_honest_node_stale() {
    let script = Script::default();
    cluster(&script, "second.test", |_| -86_400);
    let selector = selector(&config(), &script);
    meet_both(&selector, &script, 0).await;
    let (host, lag) = used(&selector).await;
    assert_eq!((host.as_str(), lag), ("first.test", None));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_cannot_be_read_is_unknown_and_costs_nothing() {
    let script = Script::default();
    script.svm("first.test", Svm::usdc(9));
    let selector = selector(&config(), &script);
    let (host, lag) = used(&selector).await;
    assert_eq!((host.as_str(), lag), ("first.test", None));
    let mut odd = Svm::usdc(9);
    odd.set_clock(-1);
    script.svm("first.test", odd);
    assert_eq!(used(&selector).await, ("first.test".to_owned(), None));
}

fn frozen_since_ever(chain: &Evm) -> Evm {
    Evm { behind: 40, ..chain.clone() }
}

/// An endpoint that has caught up gets its place back, though nobody asked it meanwhile.
#[tokio::test(start_paused = true)]
async fn a_demoted_endpoint_is_tried_again_after_a_minute() {
    let script = Script::default();
    cluster(&script, "second.test", |_| 0);
    let selector = selector(&config(), &script);
    meet_both(&selector, &script, 40).await;
    assert_eq!(used(&selector).await.0, "second.test");
    cluster(&script, "first.test", |_| 0);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(used(&selector).await.0, "first.test");
}

/// EVM nodes tell their time in the same call as the balances.
#[tokio::test(start_paused = true)]
async fn a_stale_evm_node_is_demoted_too() {
    let script = healthy(9, 9, 9);
    let honest = Evm::new(8453, USDC_BASE, 9);
    let selector = selector(&crate::support::config(), &script);
    let used = async || {
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        (selection.selected().endpoint.clone().unwrap().to_string(), selection.selected().lag_ms)
    };
    script.always("base-1.test", Answer::http(429, "").retry_after("0.25"));
    assert_eq!(used().await, ("base-2.test".to_owned(), Some(0)));
    script.evm("base-1.test", frozen_since_ever(&honest));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(used().await, ("base-1.test".to_owned(), Some(40_000)));
    assert_eq!(used().await, ("base-2.test".to_owned(), Some(0)));
    // A way of asking that brings no time leaves it unknown.
    script.evm("sepolia.test", Evm::plain(84532, USDC_SEPOLIA, 9));
    let selection = select(&selector, &[offers::sepolia("5")]).await.unwrap();
    assert_eq!(selection.selected().lag_ms, None);
}

/// Of two that lie ten minutes apart, nobody can say which is right: unknown is not current.
#[tokio::test(start_paused = true)]
async fn between_two_far_apart_no_lag_is_known() {
    for (behind, lag_s) in [(590, Some(590)), (610, None), (86_400, None)] {
        let script = Script::default();
        let chain = Evm::new(8453, USDC_BASE, 9);
        script.evm("own.test", Evm { behind, ..chain.clone() }).evm("reference.test", chain);
        let mut config = crate::support::config();
        let reference = "https://reference.test/";
        config["networks"]["base"] = json!({"rpc": ["https://own.test/"], "referenceUrl": reference});
        let selector = selector(&config, &script);
        for known in [false, true] {
            let selection = select(&selector, &[offers::base("5")]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            if known {
                assert_eq!(selection.selected().lag_ms.map(|ms| ms / 1_000), lag_s, "{behind}");
            }
        }
    }
}

/// One endpoint alone has nobody to lag behind, unless there is a reference.
#[tokio::test(start_paused = true)]
async fn a_reference_tells_the_time_and_nothing_else() {
    let script = Script::default();
    let chain = Evm::new(8453, USDC_BASE, 9);
    script.evm("own.test", frozen_since_ever(&chain)).evm("reference.test", chain);
    let mut config = crate::support::config();
    config["networks"]["base"] = json!({"rpc": ["https://own.test/"]});
    let lag = async |selector: &payroute::RouteSelector| {
        let selection = select(selector, &[offers::base("5")]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(selection.selected().endpoint.as_deref(), Some("own.test"));
        selection.selected().lag_ms
    };
    let alone = selector(&config, &script);
    for _ in 0..2 {
        assert!(lag(&alone).await.unwrap() < 1_000, "within the second that block times count in");
    }
    assert_eq!(script.asked(), ["own.test"; 2], "off by default");

    config["networks"]["base"]["referenceUrl"] = json!("https://reference.test/");
    let referenced = selector(&config, &script);
    lag(&referenced).await;
    assert_eq!(lag(&referenced).await.unwrap() / 1_000, 40);
    let requests = script.requests();
    let to_reference: Vec<String> =
        requests.iter().filter(|(host, _)| host == "reference.test").map(|(_, body)| body.to_string()).collect();
    assert_eq!(to_reference.len(), 1, "not on every selection");
    assert!(!to_reference[0].contains("70a08231"), "never for a balance");
    tokio::time::sleep(Duration::from_secs(10)).await;
    lag(&referenced).await;
    assert!(script.asked().contains(&"reference.test".to_owned()));
}

/// Its answers are counted like anybody's, though they carry no balance.
#[tokio::test(start_paused = true)]
async fn a_reference_that_cannot_tell_the_time_has_failed() {
    let script = Script::default();
    cluster(&script, "first.test", |_| 0);
    let genesis = json!({"id": 1, "result": crate::support::SOLANA_GENESIS});
    script.on("reference.test", move |body| match (body.is_array(), body["method"].as_str()) {
        (true, _) => Answer::http(405, ""),
        (false, Some("getGenesisHash")) => Answer::json(&genesis),
        (false, _) => Answer::http(503, ""),
    });
    let config = json!({
        "owners": {"solana": crate::support::BUYER_SVM},
        "networks": {"solana": {"rpc": ["https://first.test/"], "referenceUrl": "https://reference.test/"}},
    });
    let selector = selector(&config, &script);
    select(&selector, &[offers::solana("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let view = selector.health();
    let reference = view.iter().find(|view| &*view.endpoint == "reference.test").unwrap();
    assert_eq!(reference.score.bps(), 6_400, "one fault");
}

/// Whatever else it does at the same moment.
#[test]
fn an_endpoint_of_another_chain_is_no_measure() {
    let key = |number| EndpointKey::new(ChainId::resolve("base").unwrap(), number, "rpc.test");
    let (index, now) = (HealthIndex::default(), Instant::from_millis(1_000_000));
    let told = |seconds: u64| Outcome::Success {
        latency: Duration::from_millis(1),
        chain_time_ms: Some((1_800_000_000 + seconds) * 1_000),
    };
    let settle = |number, outcome| _ = index.report(&key(number), outcome, now);
    settle(1, told(0));
    settle(2, told(30));
    assert_eq!(index.inspect(&key(1), now).lag_ms, Some(30_000));
    for outcome in [Outcome::WrongChain, Outcome::Fault, Outcome::Neutral] {
        settle(2, outcome);
        assert_eq!(index.inspect(&key(1), now).lag_ms, Some(0), "{outcome:?}");
    }
}
