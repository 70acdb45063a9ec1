//! Four RPC nodes over one ledger, and a shop. A story changes the ledger, or what a node serves.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use payroute::{ChainFamily, ChainId, registry};
use serde_json::{Value, json};

use super::http::{self, Response};
use super::ledger::Ledger;
use super::{evm, shop, solana};

pub(crate) const BASE: &str = "eip155:8453";
pub(crate) const BASE_SEPOLIA: &str = "eip155:84532";
pub(crate) const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
pub(crate) const ETHEREUM: &str = "eip155:1";
pub(crate) const ETHEREUM_SEPOLIA: &str = "eip155:11155111";

pub(crate) const BUYER_EVM: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
pub(crate) const BUYER_SOLANA: &str = "BXatMgU1vy2nTfZ3pfjE5AGg6rFmvP5rRCXDhmDq66Jn";

const NODES: [(&str, &str); 4] = [("base-1", BASE), ("base-2", BASE), ("sepolia", BASE_SEPOLIA), ("solana", SOLANA)];

pub(crate) struct World {
    state: Arc<Mutex<State>>,
    nodes: Vec<(&'static str, SocketAddr)>,
    shop: SocketAddr,
}

#[derive(Default)]
struct State {
    ledger: Ledger,
    /// The chain that each node serves.
    serves: BTreeMap<&'static str, &'static str>,
    /// How often each node was asked.
    requests: BTreeMap<&'static str, usize>,
}

impl World {
    pub(crate) async fn start() -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State { serves: NODES.into(), ..State::default() }));
        let mut nodes = Vec::new();
        for (name, _) in NODES {
            let state = state.clone();
            nodes.push((name, http::serve(move |body| lock(&state).answer(name, body)).await?));
        }
        let shop = http::serve(|_| shop::answer()).await?;
        Ok(Self { state, nodes, shop })
    }

    /// Where the shop sells.
    pub(crate) fn shop_url(&self) -> String {
        format!("http://{}/report", self.shop)
    }

    /// Where the node called `name` is reached.
    pub(crate) fn url(&self, name: &str) -> Option<String> {
        self.nodes.iter().find(|(known, _)| *known == name).map(|(_, address)| format!("http://{address}"))
    }

    /// `text` with names in the place of hosts and ports, which differ from run to run.
    pub(crate) fn with_names(&self, text: &str) -> String {
        self.nodes.iter().fold(text.to_owned(), |text, (name, address)| text.replace(&address.to_string(), name))
    }

    /// Sets what the buyer holds of USDC, in atomic units.
    pub(crate) fn set_balances(&self, balances: &[(&str, u64)]) {
        lock(&self.state).ledger.set(SOLANA, &usdc(SOLANA), shop::SHOP_SOLANA, 0);
        for (chain, units) in balances {
            // A fake USDC stands on Ethereum at Base's address, so that the lie is as good as it gets.
            let (token, buyer) = match *chain {
                SOLANA => (usdc(SOLANA), BUYER_SOLANA.to_owned()),
                ETHEREUM => (usdc(BASE).to_ascii_lowercase(), BUYER_EVM.to_ascii_lowercase()),
                chain => (usdc(chain).to_ascii_lowercase(), BUYER_EVM.to_ascii_lowercase()),
            };
            lock(&self.state).ledger.set(chain, &token, &buyer, *units);
        }
    }

    /// From now on, the node called `name` serves `chain`, whatever its operator says.
    pub(crate) fn reroute(&self, name: &'static str, chain: &'static str) {
        lock(&self.state).serves.insert(name, chain);
    }

    /// How often the node called `name` was asked so far.
    pub(crate) fn requests(&self, name: &str) -> usize {
        lock(&self.state).requests.get(name).copied().unwrap_or(0)
    }
}

impl State {
    fn answer(&mut self, node: &'static str, body: &str) -> Response {
        *self.requests.entry(node).or_default() += 1;
        let body = match serde_json::from_str(body) {
            Ok(Value::Array(calls)) => calls.iter().map(|call| self.answer_call(node, call)).collect(),
            Ok(call) => self.answer_call(node, &call),
            Err(_) => json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "parse error" } }),
        };
        Response { status: "200 OK", headers: Vec::new(), body: body.to_string() }
    }

    fn answer_call(&self, node: &str, call: &Value) -> Value {
        let (id, params) = (call.get("id"), call.get("params").unwrap_or(&Value::Null));
        match self.result(node, call, params) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "method not found" } })
            }
        }
    }

    fn result(&self, node: &str, call: &Value, params: &Value) -> Option<Value> {
        let chain = ChainId::parse_caip2(self.serves.get(node)?).ok()?;
        let method = call.get("method")?.as_str()?;
        match chain.family() {
            ChainFamily::Svm => solana::answer(&self.ledger, &chain, method, params),
            _ => evm::answer(&self.ledger, &chain, method, params),
        }
    }
}

/// The address of USDC on a chain, from payroute's own table.
fn usdc(chain: &str) -> String {
    let row = registry::ASSETS.iter().find(|asset| asset.network == chain && asset.symbol == "USDC");
    row.map(|asset| asset.address.to_owned()).unwrap_or_default()
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
