//! The chains of `tests/localnet` and the merchant of `tests/x402` on them, started once for all tests
//! and ended with the process.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::NodeProgram;

pub const BASE: &str = "eip155:8453";
pub const SEPOLIA: &str = "eip155:84532";
pub const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

pub struct Chains {
    ready: Value,
    /// Its standard input closes when the process ends, and the chains with it.
    _program: NodeProgram,
}

impl Chains {
    pub fn get() -> &'static Self {
        static CHAINS: OnceLock<Chains> = OnceLock::new();
        CHAINS.get_or_init(|| {
            let (program, ready) = NodeProgram::start("x402/merchant.mjs", &[]);
            Chains { ready, _program: program }
        })
    }

    /// What the real merchant sells, for 0.05 USDC on Base, on Base Sepolia or on Solana.
    pub fn article(&self) -> &str {
        self.ready["article"].as_str().unwrap()
    }

    pub fn rpc(&self, network: &str) -> &str {
        self.ready["networks"][network]["rpc"].as_str().unwrap()
    }

    pub fn usdc(&self, network: &str) -> &str {
        self.ready["networks"][network]["assets"]["USDC"].as_str().unwrap()
    }

    /// The address of a party on a network.
    pub fn party(&self, role: &str, network: &str) -> &str {
        self.ready[role][network.split(':').next().unwrap()].as_str().unwrap()
    }

    pub async fn fund(&self, network: &str, owner: &str, amount: u64) {
        let transfer = json!({
            "op": "transfer", "network": network, "asset": self.usdc(network), "from": self.party("treasury", network),
            "to": owner, "amount": amount.to_string(),
        });
        post(self.control(), &transfer).await;
    }

    pub async fn balance(&self, network: &str, owner: &str) -> u64 {
        let question = json!({"op": "balance", "network": network, "asset": self.usdc(network), "owner": owner});
        post(self.control(), &question).await["balance"].as_str().unwrap().parse().unwrap()
    }

    /// What the node of a network answers.
    pub async fn ask(&self, network: &str, method: &str, params: Value) -> Value {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut reply = post(self.rpc(network), &call).await;
        assert_eq!(reply.get("error"), None, "{method}");
        reply["result"].take()
    }

    fn control(&self) -> &str {
        self.ready["control"].as_str().unwrap()
    }
}

/// A client of its own each time: a pooled connection ends with the runtime of the test that made it.
async fn post(url: &str, body: &Value) -> Value {
    let request = reqwest::Client::new().post(url).header("content-type", "application/json").body(body.to_string());
    let response = request.send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{body}: {text}");
    serde_json::from_str(&text).unwrap()
}
