//! What one bad provider costs: the first in the list is dead or hangs, the second answers after
//! 50 ms. The first selection pays for finding out; the ones after it must not.
//!
//! Fails when a selection does not choose, or when one after the first still waits for the provider
//! that hangs.
#![allow(clippy::expect_used)] // A benchmark whose own servers fail should stop at once.

mod support;

use std::net::TcpListener;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use payroute::{Config, Limits, PaymentRequired, RouteSelector};

use self::support::node::{Conduct, serve};
use self::support::{FIRST_CHAIN, config, measured, median, millis, payment_required, row, runtime};

const DELAY: Duration = Duration::from_millis(50);
/// The budget of one provider.
const BUDGET_MS: f64 = 600.0;
/// Selections after the first. They end before the bad one's rest is over, which is 2 s.
const LATER: usize = 9;

fn main() -> ExitCode {
    let dead = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        format!("http://{}/", listener.local_addr().expect("a bound listener has an address"))
    };
    let hanging = serve(vec![FIRST_CHAIN], DELAY, Conduct::Hangs);
    let mut healed = true;
    for (name, bad) in [("dead", dead), ("hanging", hanging.first().expect("one node").url.clone())] {
        healed &= runtime().block_on(story(name, bad));
    }
    match healed {
        true => ExitCode::SUCCESS,
        false => {
            println!("a selection after the first still waited for the bad provider");
            ExitCode::FAILURE
        }
    }
}

async fn story(name: &str, bad: String) -> bool {
    let good = serve(vec![FIRST_CHAIN], DELAY, Conduct::Answers).pop().expect("one node");
    let document = config(&[(FIRST_CHAIN, vec![bad, good.url.clone()])]);
    let selector = RouteSelector::new(Config::from_json(&document).expect("the configuration is good"));
    let selector = selector.expect("there is an HTTP client");
    let payment = PaymentRequired::from_text(payment_required(&[FIRST_CHAIN], 1), &Limits::default())
        .expect("the offer is readable");
    let mut walls = Vec::new();
    for _ in 0..=if measured() { LATER } else { 1 } {
        let started = Instant::now();
        selector.select(&payment).await.expect("the second provider answers");
        walls.push(millis(started));
    }
    let (first, later) = walls.split_first().expect("there was a selection");
    let later = median(later);
    let what = |which: &str| format!("native selection: first provider {name}, second 50 ms; {which}");
    row(&what("the first"), &format!("{first:.1} ms"), "", None, "the budget of a provider is 600 ms");
    row(&what("those after"), &format!("{later:.1} ms"), "50 ms, the delay", Some(later / 50.0), "");
    later < BUDGET_MS
}
