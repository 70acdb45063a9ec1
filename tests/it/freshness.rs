//! Endpoints whose chain lies behind, found out by the chain's own time. Virtual time.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Answer, Script, Svm, offers, select, selector};

/// Two endpoints of Solana, the first preferred.
fn config() -> Value {
    json!({
        "owners": {"solana": crate::support::BUYER_SVM},
        "networks": {"solana": {"rpc": ["https://first.test/", "https://second.test/"]}},
    })
}

/// A cluster whose clock shows `behind` seconds less than the true one, which moves with the test.
fn cluster(script: &Script, host: &str, behind: impl Fn(u64) -> i64 + Send + Sync + 'static) {
    let began = Instant::now();
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
    assert_eq!(first.score_parts.staleness.ten_thousandths(), 1_111, "0.2 × 25 s of 45 s");
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
    assert_eq!((host.as_str(), lag), ("first.test", Some(0)));
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
