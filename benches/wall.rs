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

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use payroute::{Config, PaymentRequired, RouteSelector};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// Networks and offers; every network has at least one offer.
const SHAPES: [(usize, usize); 10] =
    [(1, 1), (1, 4), (1, 16), (2, 2), (2, 4), (2, 16), (4, 4), (4, 16), (8, 8), (8, 16)];
/// Injected delay, and rounds a pass: as many as fit a minute in all.
const DELAYS: [(Duration, usize); 2] = [(Duration::ZERO, 80), (Duration::from_millis(50), 8)];
const PASSES: usize = 5;
/// Milliseconds over the floor that a selection may take at most.
const TARGET_MS: f64 = 5.0;
/// What it should take: `STRETCH_RATIO` times the floor and `STRETCH_MS`.
const STRETCH_RATIO: f64 = 1.01;
const STRETCH_MS: f64 = 0.5;

const OWNER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const MERCHANT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const ASSET: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const FIRST_CHAIN: u64 = 900_001;
const MOST_REQUEST_BYTES: usize = 64 * 1024;

fn main() -> ExitCode {
    // `cargo bench` says so; anything else only wants to know that it runs.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let passes = if measured { PASSES } else { 1 };
    let runtime = runtime();
    let mut rows: Vec<Row> = Vec::new();
    for (delay, rounds) in DELAYS {
        let rounds = if measured { rounds } else { 1 };
        rows.extend(SHAPES.map(|(networks, offers)| Row::new(networks, offers, delay, rounds)));
    }
    for _ in 0..passes {
        rows.iter_mut().for_each(|row| runtime.block_on(row.pass()));
    }
    report(&rows);
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
    delay: Duration,
    rounds: usize,
    nodes: Vec<Arc<Node>>,
    selector: RouteSelector,
    payment: PaymentRequired,
    client: reqwest::Client,
    selections: usize,
    requests: usize,
    /// Of each pass, in milliseconds: a selection, the floor.
    medians: (Vec<f64>, Vec<f64>),
}

impl Row {
    fn new(networks: usize, offers: usize, delay: Duration, rounds: usize) -> Self {
        let nodes = serve((FIRST_CHAIN..).take(networks).collect(), delay);
        let config = Config::from_json(&config(&nodes)).expect("the configuration is good");
        let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build();
        Self {
            offers,
            delay,
            rounds,
            selector: RouteSelector::new(config).expect("there is an HTTP client"),
            payment: PaymentRequired::from_text(payment_required(&nodes, offers)).expect("the offers are readable"),
            client: client.expect("there is an HTTP client"),
            nodes,
            selections: 0,
            requests: 0,
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
        self.requests += self.served() - before;
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

    fn served(&self) -> usize {
        self.nodes.iter().map(|node| node.requests.load(Ordering::Relaxed)).sum()
    }

    fn is_one_request_a_network(&self) -> bool {
        self.requests == self.selections * self.nodes.len()
    }

    /// Medians in milliseconds: a selection, the floor.
    fn figures(&self) -> (f64, f64) {
        (median(&self.medians.0), median(&self.medians.1))
    }
}

fn report(rows: &[Row]) {
    println!("networks  offers  delay ms  selection ms  floor ms  ratio  difference ms  requests");
    for row in rows {
        let (wall, floor) = row.figures();
        println!(
            "{:>8}  {:>6}  {:>8}  {wall:>12.3}  {floor:>8.3}  {:>5.3}  {:>13.3}  {:>8}",
            row.nodes.len(),
            row.offers,
            row.delay.as_millis(),
            wall / floor,
            wall - floor,
            row.requests as f64 / row.selections as f64,
        );
    }
    let slow: Vec<(f64, f64)> = rows.iter().filter(|row| !row.delay.is_zero()).map(Row::figures).collect();
    let met = |limit: fn(f64) -> f64| slow.iter().filter(|(wall, floor)| *wall <= limit(*floor)).count();
    let target = met(|floor| floor + TARGET_MS);
    let stretch = met(|floor| STRETCH_RATIO * floor + STRETCH_MS);
    println!("with a delay: at most {TARGET_MS} ms over the floor in {target} of {} rows,", slow.len());
    println!("at most {STRETCH_RATIO} x floor + {STRETCH_MS} ms in {stretch}");
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1_000.0
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("there is a runtime")
}

/// Networks that exist nowhere else, an endpoint and an asset each.
fn config(nodes: &[Arc<Node>]) -> String {
    let asset = json!({"address": ASSET, "symbol": "USDC", "decimals": 6, "name": "USD Coin", "version": "2"});
    let networks: serde_json::Map<String, Value> = (nodes.iter())
        .map(|node| (format!("eip155:{}", node.chain), json!({"rpc": [node.url], "assets": [asset]})))
        .collect();
    json!({"owners": {"eip155": OWNER}, "networks": networks}).to_string()
}

/// A version 2 document whose offers go round the networks.
fn payment_required(nodes: &[Arc<Node>], offers: usize) -> String {
    let accepts: Vec<Value> = (nodes.iter().cycle().take(offers).enumerate())
        .map(|(index, node)| {
            json!({
                "scheme": "exact",
                "network": format!("eip155:{}", node.chain),
                "amount": (50_000 + index).to_string(),
                "asset": ASSET,
                "payTo": MERCHANT,
                "maxTimeoutSeconds": 60,
                "extra": {"name": "USD Coin", "version": "2"},
            })
        })
        .collect();
    json!({"x402Version": 2, "accepts": accepts}).to_string()
}

/// A node of one chain that serves HTTP/1.1 with keep-alive on loopback.
struct Node {
    chain: u64,
    url: String,
    delay: Duration,
    requests: AtomicUsize,
    last_body: Mutex<Vec<u8>>,
}

/// Starts a node for each chain, all on one new thread that ends with the process.
fn serve(chains: Vec<u64>, delay: Duration) -> Vec<Arc<Node>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async move {
            let mut listening = Vec::new();
            let mut nodes = Vec::new();
            for chain in chains {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
                let address = listener.local_addr().expect("a bound listener has an address");
                let node = Node {
                    chain,
                    url: format!("http://{address}/"),
                    delay,
                    requests: AtomicUsize::new(0),
                    last_body: Mutex::new(Vec::new()),
                };
                let node = Arc::new(node);
                nodes.push(node.clone());
                listening.push(node.listen(listener));
            }
            sender.send(nodes).expect("the benchmark waits for its nodes");
            join_all(listening).await;
        });
    });
    receiver.recv().expect("the nodes start")
}

impl Node {
    async fn listen(self: Arc<Self>, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let node = self.clone();
            // A connection that breaks is the client's to notice.
            tokio::spawn(async move { node.converse(stream).await });
        }
    }

    async fn converse(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        while let Some(request) = read_request(&mut stream).await? {
            self.requests.fetch_add(1, Ordering::Relaxed);
            let answer = self.answer(&request);
            *self.last_body.lock().unwrap_or_else(PoisonError::into_inner) = request;
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
            let response = format!("{head}{}\r\n\r\n{answer}", answer.len());
            stream.write_all(response.as_bytes()).await?;
        }
        Ok(())
    }

    fn answer(&self, request: &[u8]) -> String {
        match serde_json::from_slice(request) {
            Ok(Value::Array(calls)) => calls.iter().map(|call| self.result(call)).collect::<Value>().to_string(),
            Ok(call) => self.result(&call).to_string(),
            Err(_) => {
                json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "parse error"}}).to_string()
            }
        }
    }

    /// Who it is, and a balance of 100 tokens for everyone.
    fn result(&self, call: &Value) -> Value {
        let id = call.get("id");
        let result = match call.get("method").and_then(Value::as_str) {
            Some("eth_chainId") => format!("{:#x}", self.chain),
            Some("eth_call") => match call.pointer("/params/0/data").and_then(Value::as_str) {
                Some(data) if call.pointer("/params/0/to").is_none() => self.run(data).unwrap_or_default(),
                _ => format!("{:#066x}", 100_000_000),
            },
            _ => return json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}}),
        };
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    }

    /// What the program answers that a selection sends along: `facts.evm` in `src/probe/deployless`
    /// lays out both sides.
    fn run(&self, data: &str) -> Option<String> {
        const PROGRAM_DIGITS: usize = 2 * 171;
        let (nonce, mut facts) = data.strip_prefix("0x")?.get(PROGRAM_DIGITS..)?.split_at_checked(32)?;
        let mut answer = format!("0x01{nonce}{:064x}{:016x}{:016x}", self.chain, 1, 1_800_000_000);
        while !facts.is_empty() {
            let (_, rest) = facts.split_at_checked(40)?;
            let (length, rest) = rest.split_at_checked(2)?;
            let (calldata, rest) = rest.split_at_checked(2 * usize::from_str_radix(length, 16).ok()?)?;
            answer += &match calldata.starts_with("70a08231") {
                true => format!("05{:064x}", 100_000_000),
                false => format!("03{:064x}", 0),
            };
            facts = rest;
        }
        Some(answer)
    }

    fn last_body(&self) -> Vec<u8> {
        self.last_body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The body of the next request; `None` at the end of the connection and for what is no request.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    loop {
        if let Some((start, end)) = body_bounds(&bytes)
            && bytes.len() >= end
        {
            return Ok(bytes.get(start..end).map(<[u8]>::to_vec));
        }
        if bytes.len() > MOST_REQUEST_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

/// Where the body starts and ends, once the head is complete.
fn body_bounds(bytes: &[u8]) -> Option<(usize, usize)> {
    let start = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(bytes.get(..start)?).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    Some((start, start.checked_add(length.unwrap_or(0))?))
}
