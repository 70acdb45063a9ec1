//! Payments that overlap on one selector: what one holds, no other selection spends. Virtual time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use payroute::{Hold, HoldError, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::schemes;
use crate::support::script::healthy;
use crate::support::{
    Answer, Evm, Script, USDC_BASE, config, offers, payment, reasons, select, selector, selector_with,
};

/// Base alone, with one endpoint that tells `balance`.
fn base(balance: u128) -> (Script, RouteSelector) {
    let script = healthy(balance, 9, 9);
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    let selector = selector(&config, &script);
    (script, selector)
}

fn set_balance(script: &Script, balance: u128) {
    script.evm("base-1.test", Evm::new(8453, USDC_BASE, balance));
}

async fn pay(selector: &RouteSelector, price: &str) -> Result<Selection, SelectError> {
    select(selector, &[offers::base(price)]).await
}

async fn hold(selector: &RouteSelector, price: &str) -> Hold {
    pay(selector, price).await.unwrap().hold().unwrap()
}

/// What is available to an offer that costs more than there could be.
async fn available(selector: &RouteSelector) -> String {
    pay(selector, "1000000").await.unwrap_err().deficits()[0].available.to_string()
}

#[tokio::test(start_paused = true)]
async fn what_is_held_pays_nothing_else_and_the_answer_says_so() {
    let (_, selector) = base(90_000);
    let held = hold(&selector, "50000").await;
    let error = pay(&selector, "50000").await.unwrap_err();
    let short = &error.candidates()[0];
    assert_eq!(reasons(short), ["insufficient-balance"]);
    assert_eq!(short.rejections[0].detail, "0.01 USDC short while other payments hold 0.05 USDC");
    assert_eq!((short.balance, short.held), (Some(90_000.into()), 50_000.into()));
    let deficit = &error.deficits()[0];
    assert_eq!((deficit.available, deficit.held, deficit.shortfall), (40_000.into(), 50_000.into(), 10_000.into()));
    assert_eq!(deficit.to_string(), "0.01 USDC short on Base (needs 0.05, has 0.04 beside 0.05 held)");
    let explained = payroute::explain(error.candidates());
    assert!(explained.contains("holds 0.09 USDC, 0.05 USDC of it for other payments"), "{explained}");

    // What is left pays what it can.
    let rest = pay(&selector, "40000").await.unwrap();
    assert_eq!(rest.selected().held, 50_000.into());
    drop(held);
    let all = pay(&selector, "50000").await.unwrap();
    assert!(all.selected().held.is_zero());
    assert!(serde_json::to_value(all.selected()).unwrap().get("held").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_held_route_makes_way_for_the_next() {
    let script = healthy(9, 9, 9);
    let selector = selector(&config(), &script);
    let accepts = [offers::base("5"), offers::sepolia("5")];
    let first = select(&selector, &accepts).await.unwrap();
    let _held = first.hold().unwrap();
    let second = select(&selector, &accepts).await.unwrap();
    assert_eq!((first.requirement().index(), second.requirement().index()), (0, 1));
}

/// A host that cannot sign the chosen offer pays the next one, and holds that.
#[tokio::test(start_paused = true)]
async fn every_payable_candidate_can_be_held() {
    let script = healthy(5, 5, 9);
    let selector = selector(&config(), &script);
    let accepts = [offers::base("5"), offers::sepolia("5"), offers::base("6")];
    let selection = select(&selector, &accepts).await.unwrap();
    let _held = selection.hold_requirement(1).unwrap();
    for (index, why) in [(2, "it cannot be paid"), (3, "there is none")] {
        let error = selection.hold_requirement(index).unwrap_err();
        assert_eq!((&error, error.code()), (&HoldError::NotPayable(index), "not-payable"), "{why}");
    }
    let next = select(&selector, &accepts).await.unwrap();
    assert!(next.candidates()[0].viable && !next.candidates()[1].viable);
    assert_eq!(next.requirement().index(), 0);
}

/// Both were selected before either was held: the second learns it when it holds.
#[tokio::test(start_paused = true)]
async fn of_two_selections_that_overlap_one_holds() {
    let (_, selector) = base(90_000);
    let payment = payment(&[offers::base("50000")]);
    let (first, second) = tokio::join!(selector.select(&payment), selector.select(&payment));
    let (first, second) = (first.unwrap(), second.unwrap());
    let held = first.hold().unwrap();
    let error = second.hold().unwrap_err();
    assert_eq!(error.code(), "held-elsewhere");
    assert_eq!(error.deficit().unwrap().shortfall, 10_000.into());
    assert_eq!(
        error.to_string(),
        "other payments hold what this one needs: 0.01 USDC short on Base (needs 0.05, has 0.04 beside 0.05 held)"
    );
    held.release();
    second.hold().unwrap().release();
}

/// Some see what the others hold when they select, some only when they hold.
#[tokio::test(start_paused = true)]
async fn a_hundred_overlapping_payments_never_hold_more_than_there_is() {
    let (script, selector) = base(7);
    let payment = payment(&[offers::base("1")]);
    let together = futures::future::join_all((0..100).map(|_| selector.select(&payment))).await;
    let holds: Vec<_> = together.iter().map(|selection| selection.as_ref().unwrap().hold()).collect();
    assert_eq!(holds.iter().filter(|hold| hold.is_ok()).count(), 7);
    assert!(holds.iter().flat_map(|hold| hold.as_ref().err()).all(|e| matches!(e, HoldError::HeldElsewhere(_))));
    drop(holds);
    let chain = Evm::new(8453, USDC_BASE, 7);
    let counter = AtomicU64::new(0);
    script.on("base-1.test", move |body| {
        let ms = counter.fetch_add(7, Ordering::Relaxed) % 30;
        Answer::json(&chain.answer(body)).after(Duration::from_millis(ms))
    });
    let one = async |_| selector.select(&payment).await.ok()?.hold().ok();
    let holds: Vec<Hold> = futures::future::join_all((0..100).map(one)).await.into_iter().flatten().collect();
    assert_eq!(holds.len(), 7);
    drop(holds);
    pay(&selector, "7").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn failed_frees_at_once_and_settled_when_the_balance_shows_it() {
    let (script, selector) = base(100);
    hold(&selector, "30").await.release();
    assert_eq!(available(&selector).await, "100");

    // While the payment lives it counts in full, whatever the balance does.
    let live = hold(&selector, "30").await;
    set_balance(&script, 70);
    assert_eq!(available(&selector).await, "40");
    live.settle();
    assert_eq!(available(&selector).await, "70", "shown, and not counted twice");
    set_balance(&script, 100);
    assert_eq!(available(&selector).await, "70", "an endpoint that lags");
    // The next payment before the first shows, and then both.
    hold(&selector, "20").await.settle();
    assert_eq!(available(&selector).await, "50");
    set_balance(&script, 50);
    assert_eq!(available(&selector).await, "50");
    assert!(pay(&selector, "51").await.is_err());
    pay(&selector, "50").await.unwrap();
}

/// A guard that is lost, in a leak or in a task that never ends, holds for the offer's lifetime: what was
/// signed can be cashed for so long. So does a settled payment that no balance ever shows. A day is the most.
#[tokio::test(start_paused = true)]
async fn a_hold_expires_with_the_offer() {
    for (seconds, lifetime_ms) in [(60_u64, 60_000), (1, 1_000), (86_400, 86_400_000), (86_401, 86_400_000)] {
        for settled in [false, true] {
            let (_, selector) = base(9);
            let offer = offers::with(offers::base("5"), "maxTimeoutSeconds", json!(seconds));
            let selection = select(&selector, &[offer]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
            let hold = selection.hold().unwrap();
            if settled {
                hold.settle()
            } else {
                std::mem::forget(hold)
            }
            tokio::time::sleep(Duration::from_millis(lifetime_ms - 1)).await;
            assert_eq!(available(&selector).await, "4", "{seconds} {settled}");
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(available(&selector).await, "9", "{seconds} {settled}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_outlives_its_hold_frees_nobody_elses() {
    let (_, selector) = base(9);
    let old = hold(&selector, "5").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let new = hold(&selector, "6").await;
    old.settle();
    assert_eq!(available(&selector).await, "3");
    drop(new);
    assert_eq!(available(&selector).await, "9");
}

#[tokio::test(start_paused = true)]
async fn clones_share_holds_and_nothing_of_health_touches_them() {
    let script = healthy(9, 9, 9);
    let first = selector(&config(), &script);
    let held = hold(&first, "5").await;
    let clone = first.clone();
    first.reset_health();
    first.restore_health(&first.snapshot_health()).unwrap();
    assert_eq!((available(&first).await, available(&clone).await), ("4".to_owned(), "4".to_owned()));
    // Another selector's payments are its own, even if it shares health.
    let other = selector_with(&config(), &script, Some(first.health_index().clone()));
    assert_eq!(available(&other).await, "9");
    // The guard does not need its selector.
    drop((first, clone));
    held.settle();
}

/// A hold is of one owner, one asset, one network.
#[tokio::test(start_paused = true)]
async fn other_balances_are_free() {
    let token = "0x1111111111111111111111111111111111111111";
    let mut config = config();
    config["networks"]["base"]["assets"] = json!([{"address": token, "symbol": "TEST", "decimals": 6}]);
    let script = healthy(9, 9, 9);
    let mut chain = Evm::new(8453, USDC_BASE, 9);
    chain.balances.insert(token.to_owned(), 9);
    script.evm("base-1.test", chain);
    let selector = selector(&config, &script);
    let _held = hold(&selector, "9").await;
    let others: [Value; 3] =
        [offers::sepolia("9"), offers::evm("eip155:8453", token, "Test", "9"), offers::solana("9")];
    for offer in others {
        select(&selector, std::slice::from_ref(&offer)).await.unwrap().hold().unwrap().release();
    }
    // The same asset by another spelling of its address is the same balance.
    let spelled = offers::evm("base", &USDC_BASE.to_ascii_lowercase(), "USD Coin", "1");
    assert_eq!(select(&selector, &[spelled]).await.unwrap_err().deficits()[0].held, 9.into());
}

/// Of two endpoints that disagree the higher balance stands, and what is held is held of that.
#[tokio::test(start_paused = true)]
async fn a_second_opinion_counts_what_is_held_too() {
    let script = healthy(100, 9, 9);
    let selector = selector(&config(), &script);
    hold(&selector, "30").await.settle();
    script.asked();
    // The first endpoint shows the debit, the second lags: neither makes 71 of 70.
    set_balance(&script, 70);
    let error = pay(&selector, "71").await.unwrap_err();
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"]);
    assert_eq!(
        error.deficits()[0].to_string(),
        "0.000001 USDC short on Base (needs 0.000071, has 0.00007 beside 0.00003 held)"
    );
    pay(&selector, "70").await.unwrap();
}

#[test]
fn a_hold_needs_no_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_, selector) = base(9);
    let selection = runtime.block_on(pay(&selector, "5")).unwrap();
    drop(runtime);
    let held = selection.hold().unwrap();
    assert!(selection.hold().is_err(), "the same balance");
    held.settle();
}

/// What `upto` draws shows by any fall of the balance, and so does a deposit.
#[tokio::test(start_paused = true)]
async fn what_the_server_chose_to_draw_is_not_waited_for_in_full() {
    for (offer, left) in [(schemes::upto("60000"), 99_000), (schemes::batch("12000"), 40_000)] {
        let chain = schemes::chain(&[("dd62ed3e", "ffffffffff")]);
        let (script, selector) = base(0);
        script.evm("base-1.test", chain.clone());
        let offers = [offer];
        select(&selector, &offers).await.unwrap().hold().unwrap().settle();
        assert_eq!(available(&selector).await, "40000");
        script.evm("base-1.test", Evm { balances: Evm::new(8453, USDC_BASE, left).balances, ..chain });
        assert_eq!(available(&selector).await, left.to_string());
    }
}

/// A scheme that pays out of a deposit takes the deposit from the balance, not the price.
#[tokio::test(start_paused = true)]
async fn a_deposit_is_held_whole() {
    let (script, selector) = base(0);
    script.evm("base-1.test", schemes::chain(&[]));
    let batch = [schemes::batch("12000")];
    let _held = select(&selector, &batch).await.unwrap().hold().unwrap();
    assert_eq!(available(&selector).await, "40000");
    let error = select(&selector, &batch).await.unwrap_err();
    assert_eq!(reasons(&error.candidates()[0]), ["deposit-required"]);
    let detail = "0.02 USDC short of 0.06 USDC to deposit while other payments hold 0.06 USDC";
    assert_eq!(error.candidates()[0].rejections[0].detail, detail);
}
