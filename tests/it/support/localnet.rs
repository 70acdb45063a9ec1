//! The chains of `tests/localnet`, driven as a test needs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use payroute::{BoxFuture, Config, Endpoint, HttpReply, RouteSelector, Transport, TransportError};
use serde_json::{Value, json};

use super::{NodeProgram, SOLANA, offers};

pub const BASE: &str = "eip155:8453";
pub const SEPOLIA: &str = "eip155:84532";

/// The chains, for as long as this value lives: they end when their standard input closes.
pub struct Localnet {
    pub ready: Value,
    http: reqwest::Client,
    _program: NodeProgram,
}

impl Localnet {
    pub fn start() -> Self {
        let (program, ready) = NodeProgram::start("localnet/start.mjs", &[]);
        Self { ready, http: reqwest::Client::new(), _program: program }
    }

    pub fn config(&self, routing: Value) -> Value {
        let network = |id: &str| json!({"rpc": [self.ready["networks"][id]["rpc"]]});
        json!({
            "owners": self.ready["buyer"],
            "networks": {BASE: network(BASE), SEPOLIA: network(SEPOLIA), SOLANA: network(SOLANA)},
            "routing": routing,
        })
    }

    pub fn selector(&self, routing: Value) -> RouteSelector {
        RouteSelector::new(Config::from_json(&self.config(routing).to_string()).unwrap()).unwrap()
    }

    pub fn party(&self, role: &str, network: &str) -> &Value {
        let family = network.split(':').next().unwrap();
        &self.ready[role][family]
    }

    /// `offer` made by the merchant of these chains.
    pub fn offer(&self, offer: Value) -> Value {
        let network = offer["network"].as_str().unwrap().to_owned();
        offers::with(offer, "payTo", self.party("merchant", &network).clone())
    }

    pub async fn control(&self, request: Value) -> Value {
        let control = self.ready["control"].as_str().unwrap();
        let response = self.http.post(control).json(&request).send().await.unwrap();
        assert!(response.status().is_success(), "{request}: {}", response.text().await.unwrap());
        response.json().await.unwrap()
    }

    pub async fn fund(&self, network: &str, asset: &str, amount: &str) {
        let (from, to) = (self.party("treasury", network), self.party("buyer", network));
        self.control(
            json!({"op": "transfer", "network": network, "asset": asset, "from": from, "to": to, "amount": amount}),
        )
        .await;
    }

    pub async fn spend(&self, network: &str, asset: &str, amount: &str) {
        let (from, to) = (self.party("buyer", network), self.party("merchant", network));
        self.control(
            json!({"op": "transfer", "network": network, "asset": asset, "from": from, "to": to, "amount": amount}),
        )
        .await;
    }

    /// What an EVM node itself answers.
    pub async fn ask(&self, network: &str, method: &str, params: Value) -> Value {
        let url = self.ready["networks"][network]["rpc"].as_str().unwrap();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut reply: Value = self.http.post(url).json(&request).send().await.unwrap().json().await.unwrap();
        assert_eq!(reply.get("error"), None, "{method}");
        reply["result"].take()
    }
}

/// Real requests, counted.
#[derive(Clone, Default)]
pub struct Counted {
    http: reqwest::Client,
    requests: Arc<AtomicUsize>,
}

impl Counted {
    /// How many there were since this was last asked.
    pub fn take(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }

    pub fn selector(&self, config: &Value) -> RouteSelector {
        let config = Config::from_json(&config.to_string()).unwrap();
        RouteSelector::builder(config).transport(self.clone()).build().unwrap()
    }
}

impl Transport for Counted {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let url = endpoint.url().unwrap();
            let request = self.http.post(url).header("content-type", "application/json").body(body);
            let response = request.send().await.map_err(|_| TransportError::Unreachable)?;
            let status = response.status().as_u16();
            let body = response.bytes().await.map_err(|_| TransportError::Unreachable)?.to_vec();
            Ok(HttpReply { status, body, ..HttpReply::default() })
        })
    }
}
