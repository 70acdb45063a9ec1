//! A million selections on one selector over real sockets, with faults until shortly before the end:
//! nothing grows, nothing is left, and health forgets what is over. `make soak` runs it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use payroute::{Circuit, Config, RouteSelector};
use serde_json::{Value, json};

use crate::support::http::Server;
use crate::support::{BUYER, Evm, USDC_BASE, USDC_SEPOLIA, offers, payment};

/// Selections under way at once.
const AT_ONCE: usize = 16;
/// Selections after which memory counts as warm.
const WARM: usize = 50_000;
/// Where nobody listens.
const NOBODY: &str = "http://127.0.0.1:9/";
/// Without faults, at the end.
const CALM: usize = 2_000;

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    rss_kb: usize,
    files: usize,
    tasks: usize,
}

impl Held {
    fn now() -> Self {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            rss_kb: pages * 4,
            files: std::fs::read_dir("/proc/self/fd").unwrap().count(),
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
        }
    }
}

/// A server whose every ninth answer is wrong, in one way after another, while `faulty`.
async fn server(chain: Evm, faulty: &Arc<AtomicBool>) -> Server {
    let (faulty, count) = (faulty.clone(), AtomicUsize::new(0));
    Server::start(move |body: Value| {
        let turn = count.fetch_add(1, Ordering::Relaxed);
        if !faulty.load(Ordering::Relaxed) || !turn.is_multiple_of(9) {
            return chain.answer(&body);
        }
        match turn / 9 % 6 {
            0 => json!("<html>"),
            1 => json!({"id": 1, "error": {"code": 429, "message": "too many requests"}}),
            2 => json!({"id": 999, "result": "0x1"}),
            3 => Evm { chain_id: 1, ..chain.clone() }.answer(&body),
            4 => json!(" ".repeat(300_000)),
            _ => Value::Null,
        }
    })
    .await
}

/// Selects `count` times, so many at once, every seventh given up early. How many were answered.
async fn selections(selector: &RouteSelector, count: usize) -> usize {
    let (left, answered) = (Arc::new(AtomicUsize::new(count)), Arc::new(AtomicUsize::new(0)));
    let workers = (0..AT_ONCE).map(|_| {
        let (selector, left, answered) = (selector.clone(), left.clone(), answered.clone());
        tokio::spawn(async move {
            let payment = payment(&[offers::base("5"), offers::sepolia("500")]);
            let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            while let Ok(number) = take() {
                let patience = Duration::from_micros(if number.is_multiple_of(7) { 300 } else { 60_000_000 });
                if tokio::time::timeout(patience, selector.select(&payment)).await.is_ok() {
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    for worker in futures::future::join_all(workers).await {
        worker.unwrap();
    }
    answered.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `make soak`"]
async fn a_million_selections() {
    let count: usize = std::env::var("SOAK_SELECTIONS").map_or(1_000_000, |text| text.parse().unwrap());
    let faulty = Arc::new(AtomicBool::new(true));
    let base = Evm::new(8453, USDC_BASE, 9);
    let servers = [
        server(base.clone(), &faulty).await,
        server(base, &faulty).await,
        server(Evm::new(84532, USDC_SEPOLIA, 9), &faulty).await,
    ];
    let [one, two, three] = servers.each_ref().map(Server::url);
    let config = json!({
        "owners": {"eip155": BUYER},
        "networks": {"base": {"rpc": [one, two]}, "base-sepolia": {"rpc": [three, NOBODY]}},
        "routing": {"probeTimeoutMs": 200, "allowHttp": true},
        "health": {"openForMs": 250, "backoffMs": 20, "backoffLimitMs": 100},
    });
    let selector = RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap();
    let before = Held::now();
    let began = Instant::now();
    let mut answered = selections(&selector, WARM.min(count)).await;
    let warm = Held::now();
    answered += selections(&selector, count.saturating_sub(WARM)).await;
    let late = Held::now();
    faulty.store(false, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(1)).await;
    selections(&selector, CALM).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let end = Held::now();

    println!("{count} selections in {:.0} s, {answered} answered", began.elapsed().as_secs_f64());
    println!("{:<28} {:>10} {:>8} {:>8}", "", "RSS in KB", "files", "tasks");
    for (name, Held { rss_kb, files, tasks }) in
        [("before", before), ("warm", warm), ("with the last fault", late), ("after a calm second", end)]
    {
        println!("{name:<28} {rss_kb:>10} {files:>8} {tasks:>8}");
    }
    for view in selector.health() {
        let (rate, score) = (view.success_rate, view.score);
        println!("{}: {}, success {rate}, score {score}", view.endpoint, view.circuit);
        if NOBODY.contains(&*view.endpoint) {
            continue;
        }
        assert_eq!(view.circuit, Circuit::Closed);
        // The others are asked only when these fail.
        let first = [&one, &three].iter().any(|url| url.contains(&*view.endpoint));
        assert!(!first || rate.bps() >= 9_990, "{rate} after {CALM} good answers");
    }
    assert!(selector.metrics().iter().all(|row| row.in_flight == 0));
    assert!(end.rss_kb < warm.rss_kb + 8 * 1_024, "memory grows");
    // Connections that the client keeps for the next request come and go.
    let kept = 4 * AT_ONCE;
    assert!(end.files <= warm.files + kept && end.tasks <= warm.tasks + kept, "something is left");
}
