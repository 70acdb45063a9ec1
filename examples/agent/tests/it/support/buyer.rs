//! A buyer with fresh keys, and the agent that pays with them.

use alloy_signer_local::PrivateKeySigner;
use payroute::RouteSelector;
use payroute_agent::{PayrouteMiddleware, Wallet};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signer::Signer;

use super::{BASE, Chains, SEPOLIA, SOLANA};

pub struct Buyer {
    evm: PrivateKeySigner,
    solana: Keypair,
}

impl Buyer {
    pub fn new() -> Self {
        Self { evm: PrivateKeySigner::random(), solana: Keypair::new() }
    }

    /// A buyer who holds these amounts.
    pub async fn with(holdings: &[(&str, u64)]) -> Self {
        let buyer = Self::new();
        for (network, amount) in holdings {
            Chains::get().fund(network, &buyer.address(network), *amount).await;
        }
        buyer
    }

    pub fn address(&self, network: &str) -> String {
        match network == SOLANA {
            true => self.solana.pubkey().to_string(),
            false => self.evm.address().to_string(),
        }
    }

    /// The keys as the program takes them from its environment.
    pub fn keys(&self) -> [(&'static str, String); 2] {
        let evm = alloy_primitives::hex::encode(self.evm.to_bytes());
        [("EVM_PRIVATE_KEY", evm), ("SVM_PRIVATE_KEY", self.solana.to_base58_string())]
    }

    pub fn wallet(&self) -> Wallet {
        let [(_, evm), (_, solana)] = self.keys();
        Wallet::from_keys(Some(&evm), Some(&solana)).unwrap()
    }

    /// A wallet that cannot sign on Solana.
    pub fn evm_wallet(&self) -> Wallet {
        let [(_, evm), _] = self.keys();
        Wallet::from_keys(Some(&evm), None).unwrap()
    }

    /// An agent for every local chain.
    pub fn agent(&self) -> ClientWithMiddleware {
        agent(&self.wallet(), &config())
    }
}

/// Every local chain, most wanted first: Base, Base Sepolia, Solana.
pub fn config() -> Value {
    let rpc = |network| json!({"rpc": [Chains::get().rpc(network)]});
    json!({
        "networks": {BASE: rpc(BASE), SEPOLIA: rpc(SEPOLIA), SOLANA: rpc(SOLANA)},
        "routing": {"preferNetworks": [BASE, SEPOLIA, SOLANA], "probeTimeoutMs": 5_000},
    })
}

/// An agent that pays from `wallet` by `config`, in which owners may be named.
pub fn agent(wallet: &Wallet, config: &Value) -> ClientWithMiddleware {
    let selector = RouteSelector::new(wallet.config(&config.to_string()).unwrap()).unwrap();
    let payer = PayrouteMiddleware::new(wallet.client(&selector), selector);
    ClientBuilder::new(reqwest::Client::new()).with(payer).build()
}
