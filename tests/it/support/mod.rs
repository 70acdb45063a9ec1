//! What tests are made of: offers, chains that answer from memory, endpoints that follow a script.

pub mod chain;
pub mod http;
pub mod localnet;
pub mod node;
pub mod offers;
pub mod sample;
pub mod script;

pub use chain::{Evm, Svm};
pub use node::NodeProgram;
use payroute::{Config, HealthIndex, Limits, PaymentRequired, RouteSelector, SelectError, Selection};
pub use sample::Sample;
pub use script::{Answer, Script};
use serde_json::{Value, json};

pub const BUYER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
pub const MERCHANT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
pub const BUYER_SVM: &str = "BXatMgU1vy2nTfZ3pfjE5AGg6rFmvP5rRCXDhmDq66Jn";
pub const MERCHANT_SVM: &str = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
pub const FEE_PAYER: &str = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
pub const USDC_BASE: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
pub const USDC_SEPOLIA: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
pub const USDC_SOLANA: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
pub const PYUSD_SOLANA: &str = "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo";
pub const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
pub const SOLANA_GENESIS: &str = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/// A configuration with both owners, two endpoints for Base, one each for Base Sepolia and Solana.
pub fn config() -> Value {
    json!({
        "owners": {"eip155": BUYER, "solana": BUYER_SVM},
        "networks": {
            "base": {"rpc": ["https://base-1.test/", "https://base-2.test/"]},
            "base-sepolia": {"rpc": ["https://sepolia.test/"]},
            "solana": {"rpc": ["https://solana.test/"]},
        }
    })
}

/// A selector over `script`.
pub fn selector(config: &Value, script: &Script) -> RouteSelector {
    selector_with(config, script, None)
}

/// A selector over `script` that shares `health`.
pub fn selector_with(config: &Value, script: &Script, health: Option<HealthIndex>) -> RouteSelector {
    let config = Config::from_json(&config.to_string()).unwrap();
    let builder = RouteSelector::builder(config).transport(script.clone());
    match health {
        Some(health) => builder.health(health).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

/// One selection over the offers given.
pub async fn select(selector: &RouteSelector, offers: &[Value]) -> Result<Selection, SelectError> {
    selector.select(&payment(offers)).await
}

/// A version 2 document with these offers.
pub fn payment(offers: &[Value]) -> PaymentRequired {
    PaymentRequired::from_text(offers::v2(offers).to_string(), &Limits::default()).unwrap()
}

/// The names of all rejections of a candidate.
pub fn reasons(candidate: &payroute::Candidate) -> Vec<&'static str> {
    candidate.rejections.iter().map(|rejection| rejection.reason.name()).collect()
}
