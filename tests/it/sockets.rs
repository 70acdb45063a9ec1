//! The ready-made transport over real sockets: requests counted at the server. What a network can do
//! wrong is in the fault matrix.

use payroute::{Config, RouteSelector};
use serde_json::{Value, json};

use crate::support::http::Server;
use crate::support::{BUYER, BUYER_SVM, Evm, Svm, USDC_BASE, USDC_SEPOLIA, offers, payment};

fn selector(networks: Value) -> RouteSelector {
    let config = json!({"owners": {"eip155": BUYER, "solana": BUYER_SVM}, "networks": networks});
    RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap()
}

async fn base(balance: u128) -> Server {
    let chain = Evm::new(8453, USDC_BASE, balance);
    Server::start(move |body| chain.answer(&body)).await
}

#[tokio::test]
async fn healthy_endpoints_see_one_request_each() {
    let base = base(9).await;
    let chain = Evm::new(84532, USDC_SEPOLIA, 9);
    let sepolia = Server::start(move |body| chain.answer(&body)).await;
    let cluster = Svm::usdc(9);
    let solana = Server::start(move |body| cluster.answer(&body)).await;
    let selector = selector(json!({
        "base": {"rpc": [base.url()]}, "base-sepolia": {"rpc": [sepolia.url()]}, "solana": {"rpc": [solana.url()]},
    }));
    let accepts =
        [offers::base("1"), offers::base("2"), offers::sepolia("3"), offers::solana("4"), offers::solana("5")];
    let payment = payment(&accepts);
    for selections in 1..=3 {
        selector.select(&payment).await.unwrap();
        assert_eq!([base.count(), sepolia.count(), solana.count()], [selections; 3]);
    }
}
