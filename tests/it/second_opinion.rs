//! The second opinion: a balance that is too low is read once more where that could change the route.
//! Virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use payroute::{Candidate, Config, Note, RouteSelector, SelectError, Selection, SelectorEvent};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::schemes::{chain, permit2};
use crate::support::script::healthy;
use crate::support::{
    Answer, Evm, Script, Svm, USDC_BASE, USDC_SEPOLIA, config, offers, payment, reasons, select, selector,
};

const PRICE: &str = "5";

fn base(balance: u128) -> Evm {
    Evm::new(8453, USDC_BASE, balance)
}

/// Base's endpoints with these balances.
fn two(first: u128, second: u128) -> Script {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", base(first)).evm("base-2.test", base(second));
    script
}

fn candidate(result: &Result<Selection, SelectError>) -> &Candidate {
    match result {
        Ok(selection) => selection.selected(),
        Err(error) => &error.candidates()[0],
    }
}

/// Scores by host, in ten-thousandths.
fn score(selector: &RouteSelector, host: &str) -> u16 {
    let view = selector.health();
    view.iter().find(|view| &*view.endpoint == host).map_or(8_000, |view| view.score.bps())
}

#[tokio::test(start_paused = true)]
async fn of_two_that_disagree_the_higher_stands_and_the_lower_is_marked() {
    let (good, marked) = (8_400, 7_560);
    for (first, second, balance, endpoint, scores) in [
        (4, 4, "4", "base-1.test", [good, good]),
        (4, 9, "9", "base-2.test", [marked, good]),
        (2, 4, "4", "base-2.test", [marked, good]),
        (4, 2, "4", "base-1.test", [good, marked]),
        (0, 5, "5", "base-2.test", [marked, good]),
    ] {
        let script = two(first, second);
        let selector = selector(&config(), &script);
        let result = select(&selector, &[offers::base(PRICE)]).await;
        let told = candidate(&result);
        let case = format!("{first} and {second}");
        assert_eq!(script.asked(), ["base-1.test", "base-2.test"], "{case}");
        assert_eq!(told.balance.unwrap().to_string(), balance, "{case}");
        assert_eq!(told.viable, balance.parse::<u128>().unwrap() >= 5, "{case}");
        assert_eq!(told.endpoint.as_deref(), Some(endpoint), "{case}");
        let note = if first == second { vec![] } else { vec![Note::BalancesDisagree] };
        assert_eq!(told.notes, note, "{case}");
        assert_eq!(["base-1.test", "base-2.test"].map(|host| score(&selector, host)), scores, "{case}");
    }
}

/// What a busy thread took is not taken from the second opinion.
#[tokio::test(start_paused = true)]
async fn a_busy_thread_asks_again_all_the_same() {
    for busy_ms in [0, 700, 1_300, 9_000] {
        let script = two(0, 9);
        let late = base(0);
        script.on("base-1.test", move |body| Answer::json(&late.answer(body)).after(Duration::from_millis(50)));
        let busy = async {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(busy_ms)).await;
        };
        let (selector, offers) = (selector(&config(), &script), [offers::base(PRICE)]);
        let (result, ()) = futures::join!(select(&selector, &offers), busy);
        assert_eq!(candidate(&result).balance.unwrap().to_string(), "9", "{busy_ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn solana_is_asked_again_like_any_other() {
    let script = healthy(9, 9, 9);
    script.svm("solana.test", Svm::usdc(4)).svm("solana-2.test", Svm::usdc(9));
    let mut config = config();
    config["networks"]["solana"]["rpc"] = json!(["https://solana.test/", "https://solana-2.test/"]);
    let selection = select(&selector(&config, &script), &[offers::solana(PRICE)]).await.unwrap();
    assert_eq!(selection.selected().notes, [Note::BalancesDisagree]);
    assert_eq!(script.asked(), ["solana.test", "solana-2.test"]);
}

/// An endpoint that knows nothing of an account knows nothing of what it approved either.
#[tokio::test(start_paused = true)]
async fn what_was_not_approved_where_nothing_is_held_is_in_doubt_too() {
    let (held, approved) = ("dd62ed3e", "c350");
    for (second, asked, viable) in [(approved, 2, true), ("0", 2, false)] {
        let empty = Evm { balances: base(0).balances, ..chain(&[(held, "0")]) };
        let script = two(0, 0);
        script.evm("base-1.test", empty).evm("base-2.test", chain(&[(held, second)]));
        let result = select(&selector(&config(), &script), &[permit2("50000")]).await;
        assert_eq!((candidate(&result).viable, script.asked().len()), (viable, asked), "{second}");
        assert_eq!(candidate(&result).notes, [Note::BalancesDisagree], "{second}");
    }
}

/// What the second endpoint can do instead of answering; the first reading stands.
#[tokio::test(start_paused = true)]
async fn a_second_that_cannot_be_read_changes_nothing() {
    for (answer, ms, score_after) in [
        (Answer::hang(), 600, 6_400),
        (Answer::broken(), 0, 6_400),
        (Answer::http(500, ""), 0, 6_400),
        (Answer::http(429, ""), 0, 6_000),
        (Answer::json(&Evm::new(1, USDC_BASE, 9).answer(&json!({"id": 1, "method": "eth_chainId"}))), 0, 6_400),
    ] {
        let script = two(4, 9);
        script.always("base-2.test", answer.clone());
        let selector = selector(&config(), &script);
        let started = Instant::now();
        let error = select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
        assert_eq!(error.deficits()[0].available.to_string(), "4", "{answer:?}");
        assert!(error.candidates()[0].notes.is_empty(), "{answer:?}");
        assert_eq!(started.elapsed(), Duration::from_millis(ms), "{answer:?}");
        assert_eq!(score(&selector, "base-2.test"), score_after, "{answer:?}");
        assert_eq!(score(&selector, "base-1.test"), 8_400, "{answer:?}");
    }
    // It proves its chain again: another one's balance is no balance.
    let script = two(4, 9);
    script.evm("base-2.test", Evm::new(1, USDC_BASE, 9));
    let selector = selector(&config(), &script);
    let error = select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
    assert_eq!(error.code(), "insufficient-liquidity");
    select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
    assert_eq!(script.asked(), ["base-1.test", "base-2.test", "base-1.test"], "its circuit is open");
}

/// Where nothing could change, nothing is asked: the exact requests of each case.
#[tokio::test(start_paused = true)]
async fn it_costs_nothing_where_it_cannot_change_the_outcome() {
    let paused = Evm { views: [("5c975abb", "1".to_owned())].into(), ..base(4) };
    let off = json!({"secondOpinion": false});
    let prefer = |network: &str| json!({"preferNetworks": [network]});
    let (one, both) = (vec!["base-1.test"], vec!["base-1.test", "solana.test"]);
    let again = vec!["base-1.test", "base-2.test", "solana.test"];
    for (name, first, routing, accepts, requests) in [
        ("enough", base(5), json!({}), vec![offers::base(PRICE)], one.clone()),
        ("turned off", base(4), off, vec![offers::base(PRICE)], one.clone()),
        (
            "one provider a network",
            base(4),
            json!({"maxEndpointsPerNetwork": 1}),
            vec![offers::base(PRICE)],
            one.clone(),
        ),
        ("refused for more than that", paused, json!({}), vec![offers::base(PRICE)], one),
        (
            "behind by preference",
            base(4),
            prefer("solana"),
            vec![offers::base(PRICE), offers::solana(PRICE)],
            both.clone(),
        ),
        (
            "first by preference",
            base(4),
            prefer("base"),
            vec![offers::solana(PRICE), offers::base(PRICE)],
            again.clone(),
        ),
        ("behind by the merchant's order", base(4), json!({}), vec![offers::solana(PRICE), offers::base(PRICE)], both),
        ("first by the merchant's order", base(4), json!({}), vec![offers::base(PRICE), offers::solana(PRICE)], again),
        ("no other provider", base(9), json!({}), vec![offers::sepolia("99")], vec!["sepolia.test"]),
    ] {
        let script = two(9, 9);
        script.evm("base-1.test", first);
        let mut config = config();
        config["routing"] = routing;
        // Whoever wins does: what counts is who was asked.
        let _ = select(&selector(&config, &script), &accepts).await;
        let mut asked = script.asked();
        asked.sort_unstable();
        assert_eq!(asked, requests, "{name}");
    }
}

/// A provider that has failed in this selection, or that one would rather not ask, has no say.
#[tokio::test(start_paused = true)]
async fn only_a_usable_provider_within_the_selections_two_is_asked() {
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/", "https://base-2.test/", "https://base-3.test/"]);
    let script = two(4, 4);
    script.evm("base-3.test", base(9)).always("base-1.test", Answer::http(500, ""));
    let three = selector(&config, &script);
    select(&three, &[offers::base(PRICE)]).await.unwrap_err();
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"], "two providers a selection");
    select(&three, &[offers::base(PRICE)]).await.unwrap();
    assert_eq!(script.asked(), ["base-2.test", "base-3.test"], "the first is passed over by now");

    for (name, answer) in [("throttled", Answer::http(429, "")), ("backing off", Answer::http(500, ""))] {
        let script = two(4, 9);
        script.always("base-2.test", answer);
        let selector = selector(&crate::support::config(), &script);
        select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
        script.asked();
        script.evm("base-2.test", base(9));
        select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
        assert_eq!(script.asked(), ["base-1.test"], "{name}");
    }
    let script = two(4, 9);
    let cordoned = selector(&crate::support::config(), &script);
    cordoned.cordon(cordoned.endpoints().find(|endpoint| endpoint.host() == "base-2.test").unwrap());
    select(&cordoned, &[offers::base(PRICE)]).await.unwrap_err();
    assert_eq!(script.asked(), ["base-1.test"], "cordoned");
}

fn slow(chain: Evm, ms: u64) -> impl Fn(&Value) -> Answer {
    move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(ms))
}

/// Base and Base Sepolia with two endpoints each, the first of which say too little.
fn two_networks() -> (Value, Script) {
    let mut config = config();
    config["networks"]["base-sepolia"]["rpc"] = json!(["https://sepolia.test/", "https://sepolia-2.test/"]);
    let script = two(4, 9);
    let sepolia = |balance| Evm::new(84532, USDC_SEPOLIA, balance);
    script.evm("sepolia.test", sepolia(4)).evm("sepolia-2.test", sepolia(9));
    (config, script)
}

#[tokio::test(start_paused = true)]
async fn several_networks_are_asked_again_at_once() {
    let (config, script) = two_networks();
    script.on("base-2.test", slow(base(9), 300));
    script.on("sepolia-2.test", slow(Evm::new(84532, USDC_SEPOLIA, 9), 500));
    let started = Instant::now();
    let offers = [offers::base(PRICE), offers::sepolia(PRICE)];
    let selection = select(&selector(&config, &script), &offers).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(500));
    assert!(selection.candidates().iter().all(|candidate| candidate.viable));
    assert_eq!(script.asked().len(), 4, "one more request a network");
}

/// The bound of two budgets holds: the second opinion has what is left, and that is nobody's fault.
#[tokio::test(start_paused = true)]
async fn the_worst_case_stays_two_budgets() {
    let (config, script) = two_networks();
    let offers = [offers::base(PRICE), offers::sepolia(PRICE)];
    script.always("base-2.test", Answer::hang());
    for (sepolia_ms, base_2_asked) in [(300, true), (599, true), (3_600_000, false)] {
        script.always("sepolia.test", Answer::hang());
        script.on("sepolia-2.test", slow(Evm::new(84532, USDC_SEPOLIA, 4), sepolia_ms));
        let selector = selector(&config, &script);
        let started = Instant::now();
        select(&selector, &offers).await.unwrap_err();
        assert_eq!(started.elapsed(), Duration::from_millis(1_200), "{sepolia_ms}");
        assert_eq!(script.asked().contains(&"base-2.test".to_owned()), base_2_asked, "{sepolia_ms}");
        assert_eq!(score(&selector, "base-2.test"), 8_000, "cut short is neutral");
        assert!(selector.metrics().iter().all(|row| row.in_flight == 0));
    }
}

/// Dropped while the first or the second reading is under way: nothing is held, nothing is blamed.
#[tokio::test(start_paused = true)]
async fn dropping_the_selection_is_neutral_in_both_readings() {
    for (first_ms, second_ms, dropped_after) in [(100, 100, 50), (100, 100, 150), (0, 100, 50)] {
        let script = two(4, 9);
        script.on("base-1.test", slow(base(4), first_ms)).on("base-2.test", slow(base(9), second_ms));
        let selector = selector(&config(), &script);
        let wait = Duration::from_millis(dropped_after);
        let result = tokio::time::timeout(wait, select(&selector, &[offers::base(PRICE)])).await;
        assert!(result.is_err());
        assert!(selector.metrics().iter().all(|row| row.in_flight == 0 && row.failures.is_empty()));
        assert_eq!(score(&selector, "base-2.test"), 8_000);
        select(&selector, &[offers::base(PRICE)]).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn under_every_strategy_one_more_request_at_most() {
    for (strategy, requests) in [("ordered", 2), ("best-score", 2), ("weighted", 2), ("race", 3), ("hedged", 2)] {
        let mut config = config();
        config["networks"]["base"]["strategy"] = json!(strategy);
        config["routing"] = json!({"seed": 7});
        let script = two(9, 9);
        // Whichever is asked first says too little; in a race the quicker one does.
        script.on("base-1.test", slow(base(4), 10)).on("base-2.test", slow(base(4), 20));
        let selector = selector(&config, &script);
        select(&selector, &[offers::base(PRICE)]).await.unwrap_err();
        assert_eq!(script.asked().len(), requests, "{strategy}");
        script.on("base-2.test", slow(base(9), 20));
        let selection = select(&selector, &[offers::base(PRICE)]).await.unwrap();
        assert_eq!(selection.selected().endpoint.as_deref(), Some("base-2.test"), "{strategy}");
        assert!(script.asked().len() <= requests, "{strategy}");
    }
}

/// Only what is in doubt is read again, and every offer that it pays for is judged by it.
#[tokio::test(start_paused = true)]
async fn what_is_in_doubt_is_read_again_and_judged_anew() {
    let other = "0x1111111111111111111111111111111111111111";
    let mut config = config();
    config["networks"]["base"]["assets"] = json!([{"address": other, "symbol": "TEST", "decimals": 6}]);
    let with_other = |usdc| {
        let mut chain = base(usdc);
        chain.balances.insert(other.to_owned(), 7);
        chain
    };
    let script = Script::default();
    script.evm("base-1.test", with_other(4)).evm("base-2.test", with_other(9));
    let test = offers::evm("eip155:8453", other, "Test", "7");
    let accepts = [offers::base("9"), offers::base("5"), test, offers::base("10")];
    let selection = select(&selector(&config, &script), &accepts).await.unwrap();
    let viable: Vec<usize> = selection.candidates().iter().filter(|c| c.viable).map(|c| c.requirement_index).collect();
    assert_eq!(selection.selected().requirement_index, 0);
    assert_eq!(viable.len(), 3);
    let short = selection.candidates().iter().find(|c| c.requirement_index == 3).unwrap();
    assert_eq!((reasons(short), short.balance.unwrap().to_string()), (vec!["insufficient-balance"], "9".to_owned()));
    let requests = script.requests();
    let asked = |(_, body): &(String, Value)| body.to_string().matches("70a08231").count();
    assert_eq!(requests.iter().map(asked).collect::<Vec<_>>(), [2, 1]);
}

/// A mark lowers a score and does nothing else, however often: nobody knows who is right.
#[tokio::test(start_paused = true)]
async fn a_mark_opens_no_circuit_and_costs_no_place() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let script = two(4, 9);
    let record = heard.clone();
    let selector = RouteSelector::builder(Config::from_json(&config().to_string()).unwrap())
        .transport(script.clone())
        .on_event(move |event: &SelectorEvent| record.lock().unwrap().push(event.clone()))
        .build()
        .unwrap();
    for _ in 0..30 {
        select(&selector, &[offers::base(PRICE)]).await.unwrap();
    }
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"].repeat(30));
    let events = heard.lock().unwrap();
    assert_eq!(events.len(), 30);
    assert!(events.iter().all(|event| matches!(event,
        SelectorEvent::BalancesDisagree { lower, higher, .. } if &**lower == "base-1.test" && &**higher == "base-2.test")));
    let (lower, higher) = (score(&selector, "base-1.test"), score(&selector, "base-2.test"));
    assert!(lower < 6_500 && higher > 9_900, "{lower} {higher}");
}

/// The application pays from the account between the two readings: what is left is no more than the
/// first endpoint said, and too little stays too little.
#[tokio::test(start_paused = true)]
async fn spending_between_the_readings_makes_nothing_payable() {
    let script = two(4, 1);
    let selector = selector(&config(), &script);
    let payment = payment(&[offers::base(PRICE), offers::sepolia(PRICE)]);
    let selection = selector.select(&payment).await.unwrap();
    assert_eq!(selection.requirement().index(), 1);
    let short = &selection.candidates()[1];
    assert_eq!((short.balance.unwrap().to_string(), &*short.notes), ("4".to_owned(), &[Note::BalancesDisagree][..]));
}
