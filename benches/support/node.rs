//! JSON-RPC nodes on loopback: HTTP/1.1 with keep-alive, an injected delay, and a count of what went
//! over the wire. They hold a balance for everyone and know nothing of payroute but its program's
//! answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::runtime;

const MOST_REQUEST_BYTES: usize = 64 * 1024;

/// How a node treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// Answers, after the delay.
    Answers,
    /// Takes the request and never answers.
    Hangs,
}

/// A node of one chain.
pub(crate) struct Node {
    pub(crate) chain: u64,
    pub(crate) url: String,
    delay: Duration,
    conduct: Conduct,
    traffic: Counters,
    last_body: Mutex<Vec<u8>>,
}

#[derive(Default)]
struct Counters {
    requests: AtomicUsize,
    received: AtomicUsize,
    sent: AtomicUsize,
}

/// Requests, and bytes of heads and bodies as the client counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) requests: usize,
    pub(crate) sent: usize,
    pub(crate) received: usize,
}

/// Starts a node for each chain, all on one new thread that ends with the process.
pub(crate) fn serve(chains: Vec<u64>, delay: Duration, conduct: Conduct) -> Vec<Arc<Node>> {
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
                    conduct,
                    traffic: Counters::default(),
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
        let mut buffer = Vec::new();
        while let Some(request) = read_request(&mut stream, &mut buffer).await? {
            self.traffic.requests.fetch_add(1, Ordering::Relaxed);
            self.traffic.received.fetch_add(request.bytes, Ordering::Relaxed);
            if self.conduct == Conduct::Hangs {
                std::future::pending::<()>().await;
            }
            let request = request.body;
            let answer = self.answer(&request);
            *self.last_body.lock().unwrap_or_else(PoisonError::into_inner) = request;
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
            let response = format!("{head}{}\r\n\r\n{answer}", answer.len());
            stream.write_all(response.as_bytes()).await?;
            self.traffic.sent.fetch_add(response.len(), Ordering::Relaxed);
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

    /// What the program answers that a selection sends along: `multicall.evm` in `src/probe/evm`
    /// lays out both sides.
    fn run(&self, data: &str) -> Option<String> {
        const PROGRAM_DIGITS: usize = 2 * 171;
        let (nonce, mut facts) = data.strip_prefix("0x")?.get(PROGRAM_DIGITS..)?.split_at_checked(32)?;
        let mut answer = format!("0x01{nonce}{:064x}{:016x}{:016x}", self.chain, 1, 1_800_000_000);
        while !facts.is_empty() {
            let (_, rest) = facts.split_at_checked(40)?;
            let (length, rest) = rest.split_at_checked(2)?;
            let (calldata, rest) = rest.split_at_checked(2 * usize::from_str_radix(length, 16).ok()?)?;
            answer += &match calldata.get(..8) {
                Some("70a08231") => format!("05{:064x}", 100_000_000),
                // No authorization was used yet (EIP-3009).
                Some("e94a0102") => format!("05{:064x}", 0),
                _ => format!("03{:064x}", 0),
            };
            facts = rest;
        }
        Some(answer)
    }

    /// The body that came last.
    pub(crate) fn last_body(&self) -> Vec<u8> {
        self.last_body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What went over the wire so far.
    pub(crate) fn traffic(&self) -> Traffic {
        let Counters { requests, received, sent } = &self.traffic;
        let read = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        Traffic { requests: read(requests), sent: read(received), received: read(sent) }
    }
}

/// A whole request: its body, and its length with the head.
struct Request {
    body: Vec<u8>,
    bytes: usize,
}

/// The next request; `None` at the end of the connection and for what is no request.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Request>> {
    loop {
        if let Some((start, end)) = body_bounds(buffer)
            && buffer.len() >= end
        {
            let body = buffer.get(start..end).map(<[u8]>::to_vec).unwrap_or_default();
            buffer.drain(..end);
            return Ok(Some(Request { body, bytes: end }));
        }
        if buffer.len() > MOST_REQUEST_BYTES || stream.read_buf(buffer).await? == 0 {
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
