//! How endpoints are chosen among, as a user of the selector sees it. Virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Answer, Evm, Script, USDC_BASE, offers, payment, select, selector};

fn config(strategy: &str, rpc: Value) -> Value {
    json!({"owners": {"eip155": crate::support::BUYER}, "networks": {"base": {"strategy": strategy, "rpc": rpc}}})
}

fn urls(names: &[&str]) -> Value {
    names.iter().map(|name| json!(format!("https://{name}.test/"))).collect()
}

/// Endpoints of Base that answer after these milliseconds.
fn endpoints(delays: &[(&str, u64)]) -> Script {
    let script = Script::default();
    for (name, ms) in delays {
        set_delay(&script, name, *ms);
    }
    script
}

fn set_delay(script: &Script, name: &str, ms: u64) {
    let chain = Evm::new(8453, USDC_BASE, 9);
    script.on(&format!("{name}.test"), move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(ms)));
}

#[tokio::test(start_paused = true)]
async fn best_score_settles_on_the_fastest_and_does_not_flap() {
    let script = endpoints(&[("slow", 300), ("fast", 20), ("equal", 25)]);
    let selector = selector(&config("best-score", urls(&["slow", "fast", "equal"])), &script);
    let mut used = Vec::new();
    for _ in 0..40 {
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        used.push(selection.selected().endpoint.clone().unwrap().to_string());
    }
    let tail = &used[20..];
    assert!(tail.iter().all(|host| host == &tail[0]), "{used:?}");
    assert_ne!(tail[0], "slow.test");
}

/// It answers, so nothing is wrong with it; but the next selection need not wait for it.
#[tokio::test(start_paused = true)]
async fn a_slow_primary_costs_its_time_once_a_minute() {
    let script = endpoints(&[("slow", 300), ("fast", 50)]);
    let selector = selector(&config("ordered", urls(&["slow", "fast"])), &script);
    let used = async || {
        let started = Instant::now();
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        (selection.selected().endpoint.clone().unwrap().to_string(), started.elapsed().as_millis())
    };
    assert_eq!(used().await, ("slow.test".to_owned(), 300));
    for _ in 0..59 {
        assert_eq!(used().await, ("fast.test".to_owned(), 50));
        tokio::time::sleep(Duration::from_millis(950)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(used().await, ("slow.test".to_owned(), 300), "maybe it has recovered");
    assert_eq!(used().await.0, "fast.test");
    // Two slow ones keep the order of the list, and 249 ms are not slow.
    set_delay(&script, "fast", 400);
    for _ in 0..40 {
        used().await;
    }
    assert_eq!(used().await.0, "slow.test");
    tokio::time::sleep(Duration::from_secs(61)).await;
    set_delay(&script, "slow", 20);
    for _ in 0..20 {
        used().await;
    }
    assert_eq!(used().await.0, "slow.test");
}

/// A slow endpoint that happens to be listed first, and a fast one that failed once.
#[tokio::test(start_paused = true)]
async fn best_score_finds_the_best_and_finds_it_again() {
    let script = endpoints(&[("slow", 300), ("fast", 10)]);
    let selector = selector(&config("best-score", urls(&["slow", "fast"])), &script);
    let used = async || select(&selector, &[offers::base("5")]).await.unwrap().selected().endpoint.clone().unwrap();
    assert_eq!((&*used().await, &*used().await), ("slow.test", "fast.test"), "each is tried");
    assert_eq!(&*used().await, "fast.test");
    script.always("fast.test", Answer::http(502, ""));
    assert_eq!(&*used().await, "slow.test");
    set_delay(&script, "fast", 10);
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        used().await;
    }
    assert_eq!(&*used().await, "fast.test");
}

#[tokio::test(start_paused = true)]
async fn weighted_shares_are_reproducible_by_seed() {
    let mut config = config(
        "weighted",
        json!([
            {"url": "https://a.test/", "weight": 3}, {"url": "https://b.test/", "weight": 1},
        ]),
    );
    let mut sequences = Vec::new();
    for seed in [7, 7, 8] {
        config["routing"] = json!({"seed": seed});
        let script = endpoints(&[("a", 10), ("b", 10)]);
        let selector = selector(&config, &script);
        for _ in 0..400 {
            select(&selector, &[offers::base("5")]).await.unwrap();
        }
        sequences.push(script.asked());
    }
    assert_eq!(sequences[0], sequences[1]);
    assert_ne!(sequences[0], sequences[2]);
    let to_a = sequences[0].iter().filter(|host| *host == "a.test").count();
    assert!((260..340).contains(&to_a), "three of four, about: {to_a}");
}

#[tokio::test(start_paused = true)]
async fn a_race_takes_the_first_valid_answer_and_spares_the_loser() {
    let script = endpoints(&[("a", 200), ("b", 20)]);
    let racing = selector(&config("race", urls(&["a", "b", "c"])), &script);
    let started = Instant::now();
    let selection = select(&racing, &[offers::base("5")]).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(20));
    assert_eq!(selection.selected().endpoint.as_deref(), Some("b.test"));
    assert_eq!(script.asked(), ["a.test", "b.test"], "two at most");
    let seen: Vec<_> = racing.health().into_iter().map(|view| (view.endpoint.to_string(), view.score)).collect();
    let score = |host: &str| seen.iter().find(|(h, _)| h == host).unwrap().1.bps();
    assert_eq!((score("a.test"), score("b.test")), (8_000, 8_333), "the loser is neutral");

    // The first to answer is wrong: the other is still waited for.
    script.evm("b.test", Evm::new(1, USDC_BASE, 9));
    let selection = select(&racing, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("a.test"));
}

#[tokio::test(start_paused = true)]
async fn a_hedge_starts_late_on_another_host_and_is_paid_for() {
    let script = endpoints(&[("a", 100), ("b", 30)]);
    let selector = selector(&config("hedged", urls(&["a", "b"])), &script);
    for _ in 0..10 {
        select(&selector, &[offers::base("5")]).await.unwrap();
    }
    assert_eq!(script.asked(), ["a.test"; 10], "quick enough: no hedge");
    set_delay(&script, "a", 500);
    let started = Instant::now();
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("b.test"));
    assert_eq!(started.elapsed(), Duration::from_millis(280), "after 250 ms, then 30");
    // The next ones are not paid for: ten selections save for one hedge.
    let started = Instant::now();
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("a.test"));
    assert_eq!(started.elapsed(), Duration::from_millis(500));
    script.asked();
    for _ in 0..200 {
        select(&selector, &[offers::base("5")]).await.unwrap();
    }
    let asked = script.asked();
    let extra = asked.len() - 200;
    assert!(extra <= 20, "{extra} extra requests");
}

/// A hedge that is not paid for does not cost the failover.
#[tokio::test(start_paused = true)]
async fn a_slow_failure_still_fails_over() {
    let script = endpoints(&[("a", 100), ("b", 30)]);
    script.always("a.test", Answer::http(500, "").after(Duration::from_millis(400)));
    let selector = selector(&config("hedged", urls(&["a", "b"])), &script);
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("b.test"));
    assert_eq!(script.asked(), ["a.test", "b.test"]);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_never_goes_to_the_same_host() {
    let script = endpoints(&[("a", 500)]);
    let rpc = json!(["https://a.test/one", "https://a.test/two"]);
    let selector = selector(&config("hedged", rpc), &script);
    for _ in 0..30 {
        select(&selector, &[offers::base("5")]).await.unwrap();
    }
    assert_eq!(script.asked().len(), 30);
}

#[tokio::test(start_paused = true)]
async fn under_every_strategy_a_failure_goes_on_to_the_second() {
    for strategy in ["ordered", "best-score", "weighted", "race", "hedged"] {
        let script = endpoints(&[("a", 10), ("b", 10)]);
        script.always("a.test", Answer::http(500, ""));
        let selector = selector(&config(strategy, urls(&["a", "b"])), &script);
        for _ in 0..8 {
            let selection = select(&selector, &[offers::base("5")]).await.unwrap();
            assert_eq!(selection.selected().endpoint.as_deref(), Some("b.test"), "{strategy}");
        }
        // And after it recovers it is back within one open duration plus one selection.
        set_delay(&script, "a", 10);
        tokio::time::sleep(Duration::from_secs(31)).await;
        select(&selector, &[offers::base("5")]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let view = selector.health();
        let a = view.iter().find(|view| &*view.endpoint == "a.test").unwrap();
        assert_eq!(a.circuit, payroute::Circuit::Closed, "{strategy}");
    }
}

#[tokio::test(start_paused = true)]
async fn priorities_stand_above_strategies() {
    for strategy in ["ordered", "best-score", "weighted", "race", "hedged"] {
        let script = endpoints(&[("own", 200), ("paid", 10)]);
        let rpc = json!([{"url": "https://paid.test/", "priority": 1}, {"url": "https://own.test/", "priority": 0}]);
        let selector = selector(&config(strategy, rpc), &script);
        select(&selector, &[offers::base("5")]).await.unwrap();
        assert_eq!(script.asked()[0], "own.test", "{strategy}");
    }
}

/// A failover must not overrun the second endpoint either.
#[tokio::test(start_paused = true)]
async fn a_failover_keeps_to_what_an_endpoint_may_have() {
    let script = endpoints(&[("a", 10), ("b", 50)]);
    script.always("a.test", Answer::http(500, "").after(Duration::from_millis(10)));
    let rpc = json!(["https://a.test/", {"url": "https://b.test/", "maxInFlight": 1}]);
    let selector = selector(&config("ordered", rpc), &script);
    let payment = payment(&[offers::base("5")]);
    let all = futures::future::join_all((0..6).map(|_| selector.select(&payment))).await;
    assert_eq!(script.asked().iter().filter(|host| *host == "b.test").count(), 1);
    assert_eq!(all.iter().filter(|selection| selection.is_ok()).count(), 1);
    assert!(selector.metrics().iter().all(|row| row.in_flight == 0));
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_at_once_than_an_endpoint_may_have() {
    let script = endpoints(&[("a", 50), ("b", 50)]);
    let rpc = json!([{"url": "https://a.test/", "maxInFlight": 2}, {"url": "https://b.test/", "maxInFlight": 3}]);
    let selector = selector(&config("ordered", rpc), &script);
    let payment = payment(&[offers::base("5")]);
    let all = futures::future::join_all((0..6).map(|_| selector.select(&payment))).await;
    let counts = script.asked().into_iter().fold(BTreeMap::new(), |mut counts, host| {
        *counts.entry(host).or_insert(0) += 1;
        counts
    });
    assert_eq!(counts, BTreeMap::from([("a.test".to_owned(), 2), ("b.test".to_owned(), 3)]));
    assert_eq!(all.iter().filter(|selection| selection.is_ok()).count(), 5);
    let refused = all.into_iter().find_map(Result::err).unwrap();
    assert!(refused.to_string().contains("all are cordoned or busy"), "{refused}");
    assert!(selector.select(&payment).await.is_ok(), "and they are free again");
}
