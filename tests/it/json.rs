//! The JSON of every public type, byte for byte: other programs read it.

use std::time::Duration;

use payroute::__private::Instant;
use payroute::{
    Candidate, ChainId, Deficit, EndpointKey, FailureClass, HealthIndex, OpenReason, Outcome, Score, SelectorEvent,
};
use serde_json::json;

use crate::support::script::healthy;
use crate::support::{Answer, config, offers, select, selector};

#[test]
fn candidates_are_written_as_they_are_read() {
    for text in [
        concat!(
            r#"{"requirementIndex":3,"rank":2,"network":"eip155:8453","networkName":"Base","scheme":"exact","#,
            r#""assetId":"eip155:8453/erc20:0x1","symbol":"USD₮\"","decimals":6,"amount":"1","owner":"0x2","#,
            r#""balance":"0","held":"3","deposit":"4","allowance":"5","approval":{"token":"0x3","spender":"0x4","#,
            r#""amount":"6","calldata":"0x095ea7b3"},"transferFee":"8","fee":"7","healthScore":0.8067,"#,
            r#""latencyMs":1.005,"lagMs":9,"circuit":"half-open","endpoint":"rpc.example","viable":false,"#,
            r#""rejectionReasons":["account-frozen","insufficient-balance"],"#,
            r#""rejectionDetails":{"insufficient-balance":"0.05 \\ short"},"decidedBy":"latency","#,
            r#""notes":["offline","transfer-fee"]}"#,
        ),
        concat!(
            r#"{"requirementIndex":0,"rank":0,"fee":"0","healthScore":0.8,"circuit":"closed","viable":true,"#,
            r#""rejectionReasons":[],"notes":[]}"#,
        ),
    ] {
        let candidate: Candidate = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&candidate).unwrap(), text);
    }
    assert_eq!(
        serde_json::from_value::<Candidate>(json!({"requirementIndex": 1, "healthScore": 1, "circuit": "open",
        "viable": true, "rejectionReasons": []}))
        .unwrap()
        .circuit,
        payroute::Circuit::Open
    );
}

#[test]
fn deficits_are_written_as_they_are_read() {
    let text = concat!(
        r#"{"requirementIndex":1,"network":"eip155:8453","networkName":"Base","assetId":"eip155:8453/erc20:0x8","#,
        r#""symbol":"USDC","decimals":6,"required":"50000","available":"20000","held":"0","shortfall":"30000"}"#,
    );
    assert_eq!(serde_json::to_string(&serde_json::from_str::<Deficit>(text).unwrap()).unwrap(), text);
}

#[test]
fn every_score_is_a_decimal_of_four_places() {
    for bps in 0..=10_000_u16 {
        let digits = format!("{}.{:04}", bps / 10_000, bps % 10_000);
        let trimmed = digits.trim_end_matches('0');
        let expected = if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() };
        let json = serde_json::to_string(&Score::from_bps(bps)).unwrap();
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Score>(&json).unwrap().bps(), bps);
    }
}

#[test]
fn every_latency_is_a_decimal_of_three_places() {
    let mut candidate = Candidate::new(0);
    let sample = (0..20_000).chain((20_000..=30_000_000).step_by(9_973)).chain([30_000_000, 9_007_199_254_740]);
    for us in sample {
        candidate.latency_us = Some(us);
        let digits = format!("{}.{:03}", us / 1_000, us % 1_000);
        let trimmed = digits.trim_end_matches('0');
        let expected = if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() };
        let json = serde_json::to_string(&candidate).unwrap();
        assert!(json.contains(&format!(r#""latencyMs":{expected},"circuit""#)), "{us}: {json}");
        assert_eq!(serde_json::from_str::<Candidate>(&json).unwrap().latency_us, Some(us));
    }
}

#[test]
fn every_event_has_its_type_and_its_parts() {
    let network = ChainId::resolve("base").unwrap();
    let (one, two) = (|| "one.test".into(), || "two.test".into());
    let place = |kind: &str| format!(r#"{{"type":"{kind}","network":"eip155:8453","endpoint":"one.test"}}"#);
    let more = |kind: &str, more: &str| place(kind).replace('}', &format!(",{more}}}"));
    for (event, json) in [
        (
            SelectorEvent::Failover { network: network.clone(), from: one(), to: two() },
            r#"{"type":"failover","network":"eip155:8453","from":"one.test","to":"two.test"}"#.to_owned(),
        ),
        (
            SelectorEvent::Failed { network: network.clone(), endpoint: one(), class: FailureClass::SoftFault },
            more("failed", r#""class":"soft-fault""#),
        ),
        (SelectorEvent::Throttled { network: network.clone(), endpoint: one() }, place("throttled")),
        (SelectorEvent::IdentityMismatch { network: network.clone(), endpoint: one() }, place("identity-mismatch")),
        (
            SelectorEvent::BalancesDisagree { network: network.clone(), lower: one(), higher: two() },
            r#"{"type":"balances-disagree","network":"eip155:8453","lower":"one.test","higher":"two.test"}"#.to_owned(),
        ),
        (
            SelectorEvent::CircuitOpened { network: network.clone(), endpoint: one(), reason: OpenReason::WrongChain },
            more("circuit-opened", r#""reason":"wrong-chain""#),
        ),
        (SelectorEvent::CircuitHalfOpen { network: network.clone(), endpoint: one() }, place("circuit-half-open")),
        (SelectorEvent::CircuitClosed { network, endpoint: one() }, place("circuit-closed")),
        (SelectorEvent::Offline, r#"{"type":"offline"}"#.to_owned()),
    ] {
        assert_eq!(serde_json::to_string(&event).unwrap(), json);
    }
}

#[test]
fn health_and_its_snapshot() {
    let (index, now) = (HealthIndex::default(), Instant::from_millis(1_000_000));
    let key = |number| EndpointKey::new(ChainId::resolve("base").unwrap(), number, "one.test");
    index.report(&key(0xabc), Outcome::Success { latency: Duration::from_micros(1_250), chain_time_ms: None }, now);
    index.report(&key(2), Outcome::WrongChain, now);
    index.report(&key(2), Outcome::Throttled { retry_after: Some(Duration::from_secs(20)) }, now);
    (0..4).for_each(|_| _ = index.report(&key(3), Outcome::Fault, now));
    index.cordon(&key(3));
    let rows = serde_json::to_string(&index.view(now.after(Duration::from_millis(5)))).unwrap();
    assert_eq!(
        rows,
        concat!(
            r#"[{"network":"eip155:8453","endpoint":"one.test","id":"00000000000000000000000000000003","#,
            r#""circuit":"closed","score":0.3277,"scoreParts":{"success":0.3277,"latency":0.0,"throttle":0.0,"#,
            r#""staleness":0.0,"multiplier":1.0},"successRate":0.3277,"backingOffForMs":15995,"cordoned":true,"#,
            r#""idleForMs":5},"#,
            r#"{"network":"eip155:8453","endpoint":"one.test","id":"00000000000000000000000000000002","#,
            r#""circuit":"open","openedFor":"wrong-chain","halfOpenInMs":29995,"score":0.044,"scoreParts":"#,
            r#"{"success":0.64,"latency":0.0,"throttle":0.2,"staleness":0.0,"multiplier":0.1},"#,
            r#""successRate":0.64,"throttledForMs":19995,"cordoned":false,"idleForMs":5},"#,
            r#"{"network":"eip155:8453","endpoint":"one.test","id":"00000000000000000000000000000abc","#,
            r#""circuit":"closed","score":0.8396,"scoreParts":{"success":0.84,"latency":0.0004,"throttle":0.0,"#,
            r#""staleness":0.0,"multiplier":1.0},"latencyMs":1.25,"successRate":0.84,"cordoned":false,"#,
            r#""idleForMs":5}]"#,
        )
    );
    assert_eq!(
        index.snapshot(now.after(Duration::from_millis(5))),
        concat!(
            r#"{"version":1,"endpoints":[{"network":"eip155:8453","endpoint":"one.test","#,
            r#""id":"00000000000000000000000000000003","success":327680000,"consecutiveFailures":4,"samples":4,"#,
            r#""failures":"f","idleForMs":5,"backingOffForMs":15995},"#,
            r#"{"network":"eip155:8453","endpoint":"one.test","id":"00000000000000000000000000000002","#,
            r#""success":640000000,"consecutiveFailures":0,"samples":0,"failures":"0","#,
            r#""opened":{"agoMs":5,"reason":"wrong-chain"},"idleForMs":5,"throttledForMs":19995,"refusals":1},"#,
            r#"{"network":"eip155:8453","endpoint":"one.test","id":"00000000000000000000000000000abc","#,
            r#""success":840000000,"latencyUs":1250,"consecutiveFailures":0,"samples":1,"failures":"0","#,
            r#""idleForMs":5}]}"#,
        )
    );
}

#[tokio::test(start_paused = true)]
async fn counts() {
    let script = healthy(9, 9, 9);
    script.always("sepolia.test", Answer::http(429, ""));
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    script.always("sepolia.test", Answer::http(500, ""));
    select(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    let rows: Vec<String> = selector.metrics().iter().map(|row| serde_json::to_string(row).unwrap()).collect();
    let ids: Vec<String> = selector.metrics().iter().map(|row| row.id.clone()).collect();
    assert_eq!(
        rows,
        [
            format!(
                r#"{{"network":"eip155:8453","endpoint":"base-1.test","id":"{}","attempts":2,"inFlight":0,"successes":2,"failures":{{}}}}"#,
                ids[0]
            ),
            format!(
                r#"{{"network":"eip155:84532","endpoint":"sepolia.test","id":"{}","attempts":2,"inFlight":0,"successes":0,"failures":{{"rate-limited":1,"fault":1}}}}"#,
                ids[1]
            ),
        ]
    );
}
