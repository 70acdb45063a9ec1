//! Circuits in the life of a selector: recovery beside live traffic, cancellation, reset. Virtual
//! time.

use std::time::Duration;

use payroute::{Circuit, HealthIndex};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::script::healthy;
use crate::support::{Answer, Evm, Script, USDC_BASE, config, offers, payment, select, selector, selector_with};

/// Base's first endpoint is open, its second works.
async fn with_open_primary() -> (Script, payroute::RouteSelector) {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::new(1, USDC_BASE, 9));
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5")]).await.unwrap();
    script.asked();
    (script, selector)
}

#[tokio::test(start_paused = true)]
async fn recovery_runs_beside_and_nobody_waits_for_it() {
    let (script, selector) = with_open_primary().await;
    let slow = Evm::new(8453, USDC_BASE, 9);
    script.on("base-1.test", move |body| Answer::json(&slow.answer(body)).after(Duration::from_millis(200)));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let started = Instant::now();
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO, "the selection did not wait");
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"));
    // The trial goes on for itself, closes the circuit, and the primary is back in its place.
    tokio::time::sleep(Duration::from_millis(201)).await;
    let mut asked = script.asked();
    asked.sort_unstable();
    assert_eq!(asked, ["base-1.test", "base-2.test"]);
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"));
    assert_eq!(selection.selected().circuit, Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_failed_trial_opens_again_and_hurts_nobody() {
    let (script, selector) = with_open_primary().await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(script.asked().len(), 2);
    tokio::time::sleep(Duration::from_millis(29_998)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(script.asked(), ["base-2.test"], "open for thirty more seconds");
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_hangs_ends_with_its_deadline() {
    let (script, selector) = with_open_primary().await;
    script.always("base-1.test", Answer::hang());
    tokio::time::sleep(Duration::from_secs(30)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(599)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    let asked = script.asked();
    assert_eq!(asked.iter().filter(|host| *host == "base-1.test").count(), 1, "one trial at a time: {asked:?}");
    tokio::time::sleep(Duration::from_secs(31)).await;
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(script.asked().contains(&"base-1.test".to_owned()), "and the next one gets its turn");
}

/// The trial is also the second provider: what it tells is used where the first could not.
#[tokio::test(start_paused = true)]
async fn a_trial_that_succeeds_saves_a_selection_that_would_fail() {
    let (script, selector) = with_open_primary().await;
    let slow = Evm::new(8453, USDC_BASE, 9);
    script.on("base-1.test", move |body| Answer::json(&slow.answer(body)).after(Duration::from_millis(300)));
    script.always("base-2.test", Answer::http(500, ""));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"));
    assert_eq!(selection.selected().circuit, Circuit::HalfOpen);
    let mut asked = script.asked();
    asked.sort_unstable();
    assert_eq!(asked, ["base-1.test", "base-2.test"]);
}

#[tokio::test(start_paused = true)]
async fn with_a_trial_no_more_than_two_providers_are_asked() {
    let (script, _) = with_open_primary().await;
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/", "https://base-2.test/", "https://base-3.test/"]);
    let selector = selector(&config, &script);
    script.always("base-3.test", Answer::http(500, ""));
    select(&selector, &[offers::base("5")]).await.unwrap();
    script.always("base-2.test", Answer::http(500, ""));
    tokio::time::sleep(Duration::from_secs(30)).await;
    script.asked();
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn when_a_half_open_endpoint_fails_the_open_one_is_the_last_resort() {
    let script = healthy(9, 9, 9);
    let liar = Evm::new(1, USDC_BASE, 9);
    script.evm("base-1.test", liar.clone()).evm("base-2.test", liar);
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(30)).await;
    // The first opens again, the second stays half-open until it is asked.
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(15)).await;
    script.evm("base-2.test", Evm::new(8453, USDC_BASE, 9));
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().circuit, Circuit::Open);
}

#[tokio::test(start_paused = true)]
async fn when_all_are_half_open_the_live_selection_is_the_trial() {
    let script = healthy(9, 9, 9);
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    script.always("base-1.test", Answer::http(500, ""));
    let selector = selector(&config, &script);
    for _ in 0..5 {
        select(&selector, &[offers::base("5")]).await.unwrap_err();
    }
    let slow = Evm::new(8453, USDC_BASE, 9);
    script.on("base-1.test", move |body| Answer::json(&slow.answer(body)).after(Duration::from_millis(10)));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let payment = payment(&[offers::base("5")]);
    let (first, second) = tokio::join!(selector.select(&payment), selector.select(&payment));
    let circuits = [first, second].map(|selection| selection.unwrap().selected().circuit);
    assert_eq!(circuits, [Circuit::HalfOpen, Circuit::Open], "one trial, one last resort");
    let after = selector.select(&payment).await.unwrap();
    assert_eq!(after.selected().circuit, Circuit::Closed);
}

/// A selection dropped at any moment leaves no trace in health and gives its trial back.
#[tokio::test(start_paused = true)]
async fn a_dropped_selection_returns_its_trial() {
    let script = healthy(9, 9, 9);
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    script.always("base-1.test", Answer::http(500, ""));
    let selector = selector(&config, &script);
    for _ in 0..5 {
        select(&selector, &[offers::base("5")]).await.unwrap_err();
    }
    tokio::time::sleep(Duration::from_secs(30)).await;
    script.always("base-1.test", Answer::hang());
    for _ in 0..3 {
        let dropped = tokio::time::timeout(Duration::from_millis(100), select(&selector, &[offers::base("5")])).await;
        assert!(dropped.is_err());
    }
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9));
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().circuit, Circuit::HalfOpen, "the trial was free");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_selection_ends_the_trial_beside_it() {
    let (script, selector) = with_open_primary().await;
    script.always("base-1.test", Answer::hang()).always("base-2.test", Answer::hang());
    tokio::time::sleep(Duration::from_secs(30)).await;
    let dropped = tokio::time::timeout(Duration::from_millis(100), select(&selector, &[offers::base("5")])).await;
    assert!(dropped.is_err());
    tokio::time::sleep(Duration::from_millis(1)).await;
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9)).evm("base-2.test", Evm::new(8453, USDC_BASE, 9));
    select(&selector, &[offers::base("5")]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"), "the trial was free and succeeded");
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_thousand_times_changes_no_score() {
    let script = healthy(9, 9, 9);
    script.always("base-1.test", Answer::hang());
    let selector = selector(&config(), &script);
    for ms in 0..1_000 {
        let limit = Duration::from_millis(ms % 599);
        assert!(tokio::time::timeout(limit, select(&selector, &[offers::base("5")])).await.is_err());
    }
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9));
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"));
    assert_eq!(selection.selected().health_score.bps(), 8_400);
}

#[tokio::test(start_paused = true)]
async fn reset_health_closes_and_forgets() {
    let (script, selector) = with_open_primary().await;
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9));
    selector.reset_health();
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"));
}

#[tokio::test(start_paused = true)]
async fn selectors_that_share_health_learn_from_each_other() {
    let (script, first) = with_open_primary().await;
    let second = selector_with(&config(), &script, Some(first.health_index().clone()));
    select(&second, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test"]);
    let alone = selector_with(&config(), &script, Some(HealthIndex::default()));
    select(&alone, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"]);
}

#[tokio::test(start_paused = true)]
async fn two_urls_on_one_host_are_two_endpoints() {
    let script = Script::default();
    let good = Evm::new(8453, USDC_BASE, 9);
    script.on("node.test", move |body: &Value| Answer::json(&good.answer(body)));
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://node.test/one", "https://node.test/two"]);
    let selector = selector(&config, &script);
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selector.health().len(), 1);
    script.always("node.test", Answer::broken());
    select(&selector, &[offers::base("5")]).await.unwrap_err();
    assert_eq!(selector.health().len(), 2);
}

/// Its future may move between threads, as tasks do.
#[tokio::test]
async fn a_selection_runs_on_a_task_of_its_own() {
    let selector = selector(&config(), &healthy(9, 9, 9));
    let payment = payment(&[offers::base("5"), offers::solana("5")]);
    let selecting = tokio::spawn(async move { selector.select(&payment).await });
    assert!(selecting.await.unwrap().is_ok());
}
