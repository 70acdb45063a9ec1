//! Many selections at once on one selector: 10,000 of them, 500 in flight, over two networks whose
//! nodes answer after 20 ms on loopback.
//!
//! Fails when a selection does not choose.
#![allow(clippy::expect_used)] // A benchmark whose own servers fail should stop at once.

mod support;

use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt};
use payroute::{Config, Limits, PaymentRequired, RouteSelector};

use self::support::node::{Conduct, serve};
use self::support::{
    FIRST_CHAIN, config, each_alone, measured, median, millis, payment_required, percentile, row, runtime,
};

const DELAY: Duration = Duration::from_millis(20);
const SELECTIONS: usize = 10_000;
const IN_FLIGHT: usize = 500;
const CHAINS: [u64; 2] = [FIRST_CHAIN, FIRST_CHAIN + 1];

fn main() {
    let selections = if measured() { SELECTIONS } else { 10 };
    let nodes = serve(CHAINS.to_vec(), DELAY, Conduct::Answers);
    let config = Config::from_json(&config(&each_alone(&nodes))).expect("the configuration is good");
    let selector = RouteSelector::new(config).expect("there is an HTTP client");
    let payment =
        PaymentRequired::from_text(payment_required(&CHAINS, 4), &Limits::default()).expect("the offers are readable");
    runtime().block_on(async {
        // Connections and buffers are there before anything is measured.
        run(&selector, &payment, IN_FLIGHT.min(selections)).await;
        let before = resident_kib();
        let started = Instant::now();
        let walls = run(&selector, &payment, selections).await;
        let wall = millis(started);
        report(&walls, wall, before.zip(resident_kib()));
    });
}

async fn run(selector: &RouteSelector, payment: &PaymentRequired, selections: usize) -> Vec<f64> {
    let one = |_| async move {
        let started = Instant::now();
        selector.select(payment).await.expect("every offer can be paid");
        millis(started)
    };
    stream::iter(0..selections).map(one).buffer_unordered(IN_FLIGHT).collect().await
}

fn report(walls: &[f64], wall_ms: f64, memory: Option<(u64, u64)>) {
    let what = format!("native load: {} selections, {IN_FLIGHT} in flight, 2 networks, 20 ms", walls.len());
    let rate = walls.len() as f64 / wall_ms * 1_000.0;
    let spread = format!("p50 {:.1} ms, p99 {:.1} ms", median(walls), percentile(walls, 0.99));
    let memory = memory.map_or("memory not told by this system".to_owned(), |(before, after)| {
        format!("resident memory {:.1} MB before, {:.1} MB after", before as f64 / 1_024.0, after as f64 / 1_024.0)
    });
    row(&what, &format!("{rate:.0} selections/s"), &spread, None, &memory);
}

/// What the process holds, nodes included, where Linux tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}
