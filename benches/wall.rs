//! Wall time of a whole selection, beside the floor: the same requests by a plain HTTP client.
//!
//! JSON-RPC servers on loopback answer after an injected delay and count requests; a row's servers
//! run on a thread of their own, the client on another. Each round is one selection and one floor,
//! in alternating order, so that both see the same machine; a figure is the median of the medians
//! of several passes over all rows. The floor sends the very bodies that the selection sent, all at
//! once, over warm connections of its own, and reads the answers without looking at them.
//!
//! Fails when a selection needs other than one request a network, or does not choose. Times never
//! fail it: a shared machine misses any target now and then.
#![allow(clippy::expect_used)] // A benchmark whose own servers fail should stop at once.

mod support;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use payroute::{Config, Limits, PaymentRequired, RouteSelector};

use self::support::node::{Conduct, Node, Traffic, serve};
use self::support::{FIRST_CHAIN, config, each_alone, measured, median, millis, payment_required, row, runtime};

/// Networks and offers; every network has at least one offer.
const SHAPES: [(usize, usize); 8] = [(1, 1), (1, 16), (2, 2), (2, 16), (4, 4), (4, 16), (8, 8), (8, 16)];
/// Injected delay in milliseconds, and rounds a pass: as many as fit two minutes in all.
const DELAYS: [(u64, usize); 4] = [(0, 80), (20, 16), (50, 8), (200, 2)];
const PASSES: usize = 5;
/// What a selection may take at most: this times the floor and `MOST_MS` with a delay; `NO_DELAY_MS`
/// over the floor without one.
const MOST_RATIO: f64 = 1.01;
const MOST_MS: f64 = 0.5;
const NO_DELAY_MS: f64 = 1.0;

fn main() -> ExitCode {
    let passes = if measured() { PASSES } else { 1 };
    let runtime = runtime();
    let mut rows: Vec<Row> = Vec::new();
    for (delay, rounds) in DELAYS {
        let rounds = if measured() { rounds } else { 1 };
        rows.extend(SHAPES.map(|(networks, offers)| Row::new(networks, offers, delay, rounds)));
    }
    for _ in 0..passes {
        rows.iter_mut().for_each(|row| runtime.block_on(row.pass()));
    }
    rows.iter().for_each(Row::print);
    let met = rows.iter().filter(|row| row.is_on_target()).count();
    println!("{met} of {} rows on target", rows.len());
    match rows.iter().all(Row::is_one_request_a_network) {
        true => ExitCode::SUCCESS,
        false => {
            println!("a selection sent other than one request a network");
            ExitCode::FAILURE
        }
    }
}

/// One line of the table.
struct Row {
    offers: usize,
    delay_ms: u64,
    rounds: usize,
    nodes: Vec<Arc<Node>>,
    selector: RouteSelector,
    payment: PaymentRequired,
    client: reqwest::Client,
    selections: usize,
    /// Of all counted selections.
    traffic: Traffic,
    /// Of each pass, in milliseconds: a selection, the floor.
    medians: (Vec<f64>, Vec<f64>),
}

impl Row {
    fn new(networks: usize, offers: usize, delay_ms: u64, rounds: usize) -> Self {
        let chains: Vec<u64> = (FIRST_CHAIN..).take(networks).collect();
        let document = payment_required(&chains, offers);
        let nodes = serve(chains, Duration::from_millis(delay_ms), Conduct::Answers);
        let config = Config::from_json(&config(&each_alone(&nodes))).expect("the configuration is good");
        let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build();
        Self {
            offers,
            delay_ms,
            rounds,
            selector: RouteSelector::new(config).expect("there is an HTTP client"),
            payment: PaymentRequired::from_text(document, &Limits::default()).expect("the offers are readable"),
            client: client.expect("there is an HTTP client"),
            nodes,
            selections: 0,
            traffic: Traffic::default(),
            medians: (Vec::new(), Vec::new()),
        }
    }

    async fn pass(&mut self) {
        // Connections are warm, and the nodes know what a selection sends.
        self.select().await;
        self.floor().await;
        let (mut selections, mut floors) = (Vec::new(), Vec::new());
        for round in 0..self.rounds {
            if round % 2 == 0 {
                selections.push(self.counted_select().await);
                floors.push(self.floor().await);
            } else {
                floors.push(self.floor().await);
                selections.push(self.counted_select().await);
            }
        }
        self.medians.0.push(median(&selections));
        self.medians.1.push(median(&floors));
    }

    async fn counted_select(&mut self) -> f64 {
        let before = self.served();
        let ms = self.select().await;
        let after = self.served();
        self.traffic.requests += after.requests - before.requests;
        self.traffic.sent += after.sent - before.sent;
        self.traffic.received += after.received - before.received;
        self.selections += 1;
        ms
    }

    async fn select(&self) -> f64 {
        let started = Instant::now();
        let selection = self.selector.select(&self.payment).await;
        let ms = millis(started);
        let selection = selection.expect("every offer can be paid");
        assert!(selection.candidates().iter().all(|candidate| candidate.viable), "{}", selection.explain());
        ms
    }

    async fn floor(&self) -> f64 {
        let prepared: Vec<(reqwest::Url, Vec<u8>)> =
            self.nodes.iter().map(|node| (node.url.parse().expect("a URL"), node.last_body())).collect();
        let started = Instant::now();
        let posts = prepared.into_iter().map(|(url, body)| {
            let request = self.client.post(url).header("content-type", "application/json").body(body);
            async move { request.send().await?.error_for_status()?.bytes().await }
        });
        let answers = join_all(posts).await;
        let ms = millis(started);
        assert!(answers.iter().all(Result::is_ok), "a node did not answer the floor");
        ms
    }

    fn served(&self) -> Traffic {
        self.nodes.iter().map(|node| node.traffic()).fold(Traffic::default(), |sum, one| Traffic {
            requests: sum.requests + one.requests,
            sent: sum.sent + one.sent,
            received: sum.received + one.received,
        })
    }

    fn is_one_request_a_network(&self) -> bool {
        self.traffic.requests == self.selections * self.nodes.len()
    }

    /// Medians in milliseconds: a selection, the floor.
    fn figures(&self) -> (f64, f64) {
        (median(&self.medians.0), median(&self.medians.1))
    }

    fn is_on_target(&self) -> bool {
        let (wall, floor) = self.figures();
        match self.delay_ms {
            0 => wall <= floor + NO_DELAY_MS,
            _ => wall <= MOST_RATIO * floor + MOST_MS,
        }
    }

    fn print(&self) {
        let (wall, floor) = self.figures();
        let each = |total: usize| total as f64 / self.selections as f64;
        let what =
            format!("native selection: {} networks, {} offers, {} ms", self.nodes.len(), self.offers, self.delay_ms);
        let remark = format!(
            "{} requests, {:.0} B out, {:.0} B in",
            each(self.traffic.requests),
            each(self.traffic.sent),
            each(self.traffic.received),
        );
        row(&what, &format!("{wall:.2} ms"), &format!("{floor:.2} ms, the same POSTs"), Some(wall / floor), &remark);
    }
}
