//! What the benchmarks over loopback share: nodes, a configuration and offers for them, figures.
#![allow(clippy::expect_used)] // A benchmark whose own servers fail should stop at once.
#![allow(dead_code, unreachable_pub)] // Every benchmark uses its own part of it.

pub(crate) mod node;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use self::node::Node;

/// Chain ids that no network has.
pub(crate) const FIRST_CHAIN: u64 = 900_001;

const OWNER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const MERCHANT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const ASSET: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/// Whether this run measures: `cargo bench` says so; anything else only wants to know that it runs.
pub(crate) fn measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("there is a runtime")
}

/// A configuration of networks that exist nowhere else: an asset each, and endpoints in the order
/// given.
pub(crate) fn config(networks: &[(u64, Vec<String>)]) -> String {
    let asset = json!({"address": ASSET, "symbol": "USDC", "decimals": 6, "name": "USD Coin", "version": "2"});
    let networks: serde_json::Map<String, Value> = (networks.iter())
        .map(|(chain, urls)| (format!("eip155:{chain}"), json!({"rpc": urls, "assets": [asset]})))
        .collect();
    json!({"owners": {"eip155": OWNER}, "networks": networks}).to_string()
}

/// One endpoint a network.
pub(crate) fn each_alone(nodes: &[Arc<Node>]) -> Vec<(u64, Vec<String>)> {
    nodes.iter().map(|node| (node.chain, vec![node.url.clone()])).collect()
}

/// A version 2 document whose offers go round the networks.
pub(crate) fn payment_required(chains: &[u64], offers: usize) -> String {
    let accepts: Vec<Value> = (chains.iter().cycle().take(offers).enumerate())
        .map(|(index, chain)| {
            json!({
                "scheme": "exact",
                "network": format!("eip155:{chain}"),
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

pub(crate) fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1_000.0
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// The value that a share of all values lies below.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() as f64 * share) as usize).or(sorted.last()).copied().unwrap_or(f64::NAN)
}

/// One row of the table that `make bench` prints: what was done, what it took, what stood beside it.
pub(crate) fn row(what: &str, figure: &str, beside: &str, ratio: Option<f64>, remark: &str) {
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.3}"));
    println!("| {what} | {figure} | {beside} | {ratio} | {remark} |");
}
