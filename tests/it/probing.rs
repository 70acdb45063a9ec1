//! Asking endpoints: one request a network, failover, identity, strict replies. Virtual time.

use std::time::Duration;

use payroute::{Circuit, Limits, Note};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::script::healthy;
use crate::support::{
    Answer, Evm, Script, Svm, USDC_BASE, USDC_SEPOLIA, config, offers, payment, reasons, select, selector,
};

#[tokio::test(start_paused = true)]
async fn one_request_a_network_whatever_is_asked() {
    let script = healthy(9_000_000, 9_000_000, 9_000_000);
    let offers = [
        offers::base("1"),
        offers::base("2"),
        offers::sepolia("3"),
        offers::solana("4"),
        offers::solana("5"),
        offers::base("6"),
    ];
    let selection = select(&selector(&config(), &script), &offers).await.unwrap();
    assert!(selection.candidates().iter().all(|candidate| candidate.viable));
    let requests = script.requests();
    let mut hosts: Vec<&str> = requests.iter().map(|(host, _)| host.as_str()).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["base-1.test", "sepolia.test", "solana.test"]);
    let body = |host: &str| &requests.iter().find(|(h, _)| h == host).unwrap().1;
    let program = body("base-1.test")["params"][0]["data"].as_str().unwrap();
    assert_eq!(program.matches("70a08231").count(), 1, "equal balances collapse");
    assert_eq!(body("solana.test").as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn networks_are_asked_at_once_and_all_are_awaited() {
    let script = healthy(9, 9, 9);
    let slow = |chain: Evm, ms| move |body: &Value| Answer::json(&chain.answer(body)).after(Duration::from_millis(ms));
    script.on("base-1.test", slow(Evm::new(8453, USDC_BASE, 9), 300));
    script.on("sepolia.test", slow(Evm::new(84532, USDC_SEPOLIA, 9), 500));
    let started = Instant::now();
    let offers = [offers::base("5"), offers::sepolia("5"), offers::solana("5")];
    let selection = select(&selector(&config(), &script), &offers).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(500));
    assert!(selection.candidates().iter().all(|candidate| candidate.balance.is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_hung_endpoint_costs_its_budget_once() {
    let script = healthy(9, 9, 9);
    script.always("base-1.test", Answer::hang());
    let selector = selector(&config(), &script);
    let timed = async |expected: u64, hosts: &[&str]| {
        let started = Instant::now();
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        assert_eq!(started.elapsed(), Duration::from_millis(expected));
        assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"));
        assert_eq!(script.asked(), hosts);
    };
    timed(600, &["base-1.test", "base-2.test"]).await;
    timed(0, &["base-2.test"]).await;
    tokio::time::sleep(Duration::from_millis(1_999)).await;
    timed(0, &["base-2.test"]).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    // It gets its place back after two seconds, and loses it for four.
    timed(600, &["base-1.test", "base-2.test"]).await;
    tokio::time::sleep(Duration::from_millis(3_999)).await;
    timed(0, &["base-2.test"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_worst_case_is_two_budgets() {
    let script = healthy(9, 9, 9);
    for host in ["base-1.test", "base-2.test", "sepolia.test", "solana.test"] {
        script.always(host, Answer::hang());
    }
    let started = Instant::now();
    let offers = [offers::base("5"), offers::sepolia("5"), offers::solana("5")];
    let error = select(&selector(&config(), &script), &offers).await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::from_millis(1_200));
    assert_eq!(error.code(), "balances-unavailable");
    assert!(error.to_string().contains(
        "offer 0 (Base): the balance could not be read: base-1.test: no answer within 600 ms; \
         base-2.test: no answer within 600 ms"
    ));
    assert!(error.candidates().iter().all(|candidate| candidate.balance.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_liar_opens_at_once_and_the_next_is_asked() {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::new(1, USDC_BASE, 1_000_000_000));
    let selector = selector(&config(), &script);
    let error = select(&selector, &[offers::base("10")]).await.unwrap_err();
    assert_eq!(error.deficits()[0].to_string(), "0.000001 USDC short on Base (needs 0.00001, has 0.000009)");
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"]);
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test"], "the circuit is open");
}

#[tokio::test(start_paused = true)]
async fn an_identity_mismatch_everywhere_is_its_own_reason() {
    let script = healthy(9, 9, 9);
    let mut other_cluster = Svm::usdc(9);
    other_cluster.genesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG".to_owned();
    script.svm("solana.test", other_cluster);
    let selector = selector(&config(), &script);
    let error = select(&selector, &[offers::solana("5")]).await.unwrap_err();
    assert_eq!(error.code(), "balances-unavailable");
    assert_eq!(reasons(&error.candidates()[0]), ["chain-identity-mismatch"]);
    // Last resort: the only endpoint is open, and it is asked all the same, identity and all.
    script.asked();
    script.svm("solana.test", Svm::usdc(9));
    let selection = select(&selector, &[offers::solana("5")]).await.unwrap();
    assert_eq!(selection.selected().circuit, Circuit::Open);
    assert_eq!(script.asked(), ["solana.test"]);
}

#[tokio::test(start_paused = true)]
async fn an_open_route_that_answers_still_ranks_behind_a_closed_one() {
    let script = healthy(9, 9, 9);
    script.always("solana.test", Answer::http(500, ""));
    let mut config = config();
    config["routing"] = json!({"preferNetworks": ["solana"]});
    let selector = selector(&config, &script);
    for _ in 0..5 {
        select(&selector, &[offers::solana("5")]).await.unwrap_err();
    }
    script.svm("solana.test", Svm::usdc(9));
    let selection = select(&selector, &[offers::solana("5"), offers::base("5")]).await.unwrap();
    let order: Vec<usize> = selection.candidates().iter().map(|candidate| candidate.requirement_index).collect();
    assert_eq!(order, [1, 0]);
    assert_eq!(selection.candidates()[1].decided_by, Some(payroute::DecidingKey::Circuit));
}

#[tokio::test(start_paused = true)]
async fn what_one_endpoint_could_not_tell_is_asked_of_the_next() {
    let script = healthy(9, 9, 9);
    let mut config = config();
    let other = "0x1111111111111111111111111111111111111111";
    config["networks"]["base"]["assets"] = json!([{"address": other, "symbol": "TEST", "decimals": 6}]);
    let mut both = Evm::new(8453, USDC_BASE, 9);
    both.balances.insert(other.to_owned(), 7);
    script.evm("base-2.test", both);
    let selector = selector(&config, &script);
    let second = offers::evm("eip155:8453", other, "Test", "7");
    let selection = select(&selector, &[offers::base("9"), second]).await.unwrap();
    assert!(selection.candidates().iter().all(|candidate| candidate.viable));
    let requests = script.requests();
    let asked = |(_, body): &(String, Value)| body.to_string().matches("70a08231").count();
    assert_eq!(requests.iter().map(asked).collect::<Vec<_>>(), [2, 1]);
    let endpoints: Vec<_> = selection.candidates().iter().map(|c| c.endpoint.clone().unwrap()).collect();
    assert!(endpoints.contains(&"base-1.test".into()) && endpoints.contains(&"base-2.test".into()));
}

#[tokio::test(start_paused = true)]
async fn an_address_without_a_contract_spoils_nothing() {
    let script = healthy(9, 9, 9);
    let mut config = config();
    let ghost = "0x2222222222222222222222222222222222222222";
    config["networks"]["base"]["assets"] = json!([{"address": ghost, "symbol": "GHOST", "decimals": 6}]);
    let offers = [offers::evm("eip155:8453", ghost, "Ghost", "1"), offers::base("5")];
    let selection = select(&selector(&config, &script), &offers).await.unwrap();
    assert_eq!(selection.selected().requirement_index, 1);
    let unread = &selection.candidates()[1];
    assert_eq!((reasons(unread), unread.balance), (vec!["asset-not-contract"], None));
    assert!(unread.rejections[0].detail.contains("no contract answers at the asset's address"));
}

/// What an endpoint can answer wrongly, whether the next one is asked, and what it does to health:
/// the score of the first endpoint after one such answer.
#[tokio::test(start_paused = true)]
async fn wrong_answers_and_what_they_do() {
    let chain_id = r#"{"jsonrpc":"2.0","id":1,"result":"0x2105"}"#;
    let word = format!("0x{:064x}", 9);
    let error = |code: i64, message: &str| format!(r#"{{"id":null,"error":{{"code":{code},"message":"{message}"}}}}"#);
    let (untouched, fault, throttled, opened) = (8_000, 6_400, 6_000, 640);
    for (answer, score) in [
        // Alone, an endpoint out of reach says nothing of itself: the device may be offline.
        (Answer::broken(), 8_000),
        (Answer::http(200, "<html>challenge</html>"), fault),
        (Answer::http(200, ""), fault),
        (Answer::http(200, "null"), fault),
        (Answer::http(500, "oops"), fault),
        (Answer::http(502, ""), fault),
        (Answer::http(301, ""), fault),
        (Answer::http(401, ""), fault),
        (Answer::http(403, "forbidden"), fault),
        (Answer::http(404, ""), fault),
        (Answer::http(200, &format!("[{chain_id}]")), fault),
        (Answer::http(200, &format!("[{chain_id},{chain_id}]")), fault),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":7,"result":"{word}"}}]"#)), fault),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":2}}]"#)), fault),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":2,"result":null}}]"#)), fault),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":2,"result":9}}]"#)), fault),
        (Answer::http(200, &format!(r#"[{{"id":1,"result":"0x1"}},{{"id":2,"result":"{word}"}}]"#)), opened),
        (Answer::http(429, ""), throttled),
        (Answer::http(200, &error(-32005, "limit exceeded")), throttled),
        (
            Answer::http(200, &format!(r#"[{chain_id},{{"id":2,"error":{{"code":429,"message":"slow down"}}}}]"#)),
            throttled,
        ),
        (Answer::http(503, "").retry_after("2"), throttled),
        (Answer::http(400, ""), untouched),
        (Answer::http(200, &error(-32000, "header not found")), untouched),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":2,"result":"0x"}}]"#)), untouched),
        (Answer::http(200, &format!(r#"[{chain_id},{{"id":2,"result":"0x00000000"}}]"#)), untouched),
    ] {
        let script = healthy(9, 9, 9);
        script.without_programs("base-1.test", answer.clone());
        let selector = selector(&config(), &script);
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"), "{answer:?}");
        // Alone, its score is on the candidate.
        let mut alone = config();
        alone["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
        let selector = crate::support::selector(&alone, &script);
        let error = select(&selector, &[offers::base("5")]).await.unwrap_err();
        assert_eq!(error.code(), "balances-unavailable", "{answer:?}");
        assert_eq!(error.candidates()[0].health_score.bps(), score, "{answer:?}");
    }
}

/// The chain itself said no: nobody else is asked, and it is nobody's fault.
#[tokio::test(start_paused = true)]
async fn a_token_that_reverts_has_spoken() {
    let revert = format!("0x08c379a0{}", "0".repeat(128));
    for item in [
        r#""error":{"code":3,"message":"execution reverted"}"#.to_owned(),
        r#""error":{"code":-32015,"message":"VM execution error"}"#.to_owned(),
        format!(r#""result":"{revert}""#),
    ] {
        let script = healthy(9, 9, 9);
        let body = format!(r#"[{{"id":1,"result":"0x2105"}},{{"id":2,{item}}}]"#);
        script.without_programs("base-1.test", Answer::http(200, &body));
        let error = select(&selector(&config(), &script), &[offers::base("5")]).await.unwrap_err();
        assert_eq!(reasons(&error.candidates()[0]), ["balance-unavailable"]);
        assert_eq!(error.candidates()[0].health_score.bps(), 8_000);
        assert!(script.asked().iter().all(|host| host == "base-1.test"));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_recorded_while_the_device_is_offline() {
    let script = healthy(9, 9, 9);
    let hosts = ["base-1.test", "base-2.test", "sepolia.test", "solana.test"];
    hosts.iter().for_each(|host| _ = script.always(host, Answer::broken()));
    let selector = selector(&config(), &script);
    let offers = [offers::base("5"), offers::sepolia("5"), offers::solana("5")];
    for _ in 0..20 {
        let error = select(&selector, &offers).await.unwrap_err();
        assert_eq!(error.code(), "balances-unavailable");
        assert!(
            error.to_string().contains("the balance could not be read: nothing answers, offline perhaps: "),
            "{error}"
        );
        for candidate in error.candidates() {
            assert!(candidate.notes.contains(&Note::Offline));
            assert_eq!((candidate.circuit, candidate.health_score.bps()), (Circuit::Closed, 8_000));
        }
    }
    // One sign of life, on any network, and silence is the endpoints' own.
    script.always("sepolia.test", Answer::http(500, ""));
    let error = select(&selector, &offers).await.unwrap_err();
    for candidate in error.candidates() {
        assert!(!candidate.notes.contains(&Note::Offline));
        assert_eq!(candidate.health_score.bps(), 6_400);
    }
}

/// The device is not offline while another selection hears from somewhere, nor while an endpoint was
/// left out for want of a turn.
#[tokio::test(start_paused = true)]
async fn silence_is_an_endpoints_own_while_others_speak() {
    let script = healthy(9, 9, 9);
    script.always("sepolia.test", Answer::broken().after(Duration::from_millis(20)));
    let chain = Evm::new(8453, USDC_BASE, 9);
    script.on("base-1.test", move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(10)));
    let two = selector(&config(), &script);
    let (base, sepolia) = (payment(&[offers::base("5")]), payment(&[offers::sepolia("5")]));
    let (_, silent) = tokio::join!(two.select(&base), two.select(&sepolia));
    let silent = silent.unwrap_err();
    assert!(!silent.candidates()[0].notes.contains(&Note::Offline));
    assert_eq!(silent.candidates()[0].health_score.bps(), 6_400);

    let mut config = config();
    config["networks"]["base"] = json!({"rpc": ["https://dead-1.test", "https://dead-2.test", "https://base-2.test"]});
    script.always("dead-1.test", Answer::broken()).always("dead-2.test", Answer::broken());
    let three = selector(&config, &script);
    select(&three, &[offers::base("5")]).await.unwrap_err();
    let selection = select(&three, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"));
}

/// The executor stands still for minutes, as when a lid closes.
#[tokio::test(start_paused = true)]
async fn sleep_is_not_the_endpoints_latency() {
    let script = healthy(9, 9, 9);
    let chain = Evm::new(8453, USDC_BASE, 9);
    script.on("base-1.test", move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(50)));
    let selector = selector(&config(), &script);
    let payment = payment(&[offers::base("5")]);
    let mut selection = Box::pin(selector.select(&payment));
    assert!(futures::poll!(&mut selection).is_pending());
    tokio::time::advance(Duration::from_secs(300)).await;
    let selection = selection.await.unwrap();
    assert_eq!(selection.selected().latency_us, None);
    assert_eq!(selection.selected().health_score.bps(), 8_000);
}

#[tokio::test(start_paused = true)]
async fn throttled_is_passed_over_but_used_when_it_is_the_only_one() {
    let script = healthy(9, 9, 9);
    script.always("base-1.test", Answer::http(429, "").retry_after("5"));
    let both = selector(&config(), &script);
    select(&both, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"]);
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, 9));
    tokio::time::sleep(Duration::from_millis(4_999)).await;
    select(&both, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test"]);
    tokio::time::sleep(Duration::from_millis(1)).await;
    select(&both, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-1.test"]);

    script.always("sepolia.test", Answer::http(429, "").retry_after("5"));
    select(&both, &[offers::sepolia("5")]).await.unwrap_err();
    script.evm("sepolia.test", Evm::new(84532, USDC_SEPOLIA, 9));
    select(&both, &[offers::sepolia("5")]).await.unwrap();
    assert_eq!(script.asked(), ["sepolia.test"; 2]);
}

#[tokio::test(start_paused = true)]
async fn the_requirement_is_the_merchants_own_text() {
    let script = healthy(9, 9, 9);
    let text = offers::v2(&[offers::base("5")]).to_string().replace("\"amount\":\"5\"", "\"amount\" :  \"5\"");
    let payment = payroute::PaymentRequired::from_text(&text, &Limits::default()).unwrap();
    let selection = selector(&config(), &script).select(&payment).await.unwrap();
    assert!(text.contains(selection.requirement().json()));
    assert!(selection.requirement().json().contains("\"amount\" :  \"5\""));
    assert_eq!(selection.requirement().json(), payment.requirements()[0].json());
}

#[tokio::test(start_paused = true)]
async fn a_thousand_selections_at_once_on_one_selector() {
    let script = healthy(9, 9, 9);
    let selector = selector(&config(), &script);
    let payment = payment(&[offers::base("5"), offers::solana("5")]);
    let all = futures::future::join_all((0..1_000).map(|_| selector.select(&payment))).await;
    assert!(all.iter().all(Result::is_ok));
}

/// A server moves its work between threads: a selection must be able to come along.
#[tokio::test(start_paused = true)]
async fn a_selection_may_be_a_task_of_its_own() {
    let selector = selector(&config(), &healthy(9, 9, 9));
    let task = tokio::spawn(async move { select(&selector, &[offers::base("5")]).await.is_ok() });
    assert!(task.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_an_endpoint_like_any_other() {
    let script = healthy(9, 9, 9);
    script.evm("My wallet", Evm::new(1, USDC_BASE, 9));
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!([{"provider": "wallet", "label": "My wallet"}, "https://base-2.test"]);
    let selection = select(&selector(&config, &script), &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["My wallet", "base-2.test"], "its chain is checked as well");
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"));
}

#[test]
fn a_runtime_without_a_timer_is_told_as_well() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let selector = selector(&config(), &Script::default());
    let error = runtime.block_on(select(&selector, &[offers::base("5")])).unwrap_err();
    assert_eq!(error.code(), "runtime");
}

#[test]
fn without_a_runtime_there_is_an_error_and_no_panic() {
    let selector = selector(&config(), &Script::default());
    let error = futures::executor::block_on(select(&selector, &[offers::base("5")])).unwrap_err();
    assert_eq!(error.code(), "runtime");
    let needed =
        "there is no Tokio runtime on this thread; needed is a call from within a Tokio runtime with time enabled";
    assert_eq!(error.to_string(), needed);
}
