//! Selecting across real chains: two EVM nodes and a real SVM, with tokens that move.

use payroute::{Config, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::localnet::{BASE, Localnet, SEPOLIA};
use crate::support::{PYUSD_SOLANA, SOLANA, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, offers, payment, reasons};

async fn pay(selector: &RouteSelector, offers: &[Value]) -> Result<Selection, SelectError> {
    selector.select(&payment(offers)).await
}

#[tokio::test]
async fn the_answer_follows_the_money() {
    let net = Localnet::start();
    let selector = net.selector(json!({"preferNetworks": ["base", "solana", "base-sepolia"], "probeTimeoutMs": 5_000}));
    let offers = [offers::solana("50000"), offers::base("50000"), offers::sepolia("50000")].map(|o| net.offer(o));

    // Nothing anywhere: three deficits, in the merchant's order.
    let error = pay(&selector, &offers).await.unwrap_err();
    let deficits: Vec<String> = error.deficits().iter().map(ToString::to_string).collect();
    assert_eq!(
        deficits,
        [
            "0.05 USDC short on Solana (needs 0.05, has 0)",
            "0.05 USDC short on Base (needs 0.05, has 0)",
            "0.05 USDC short on Base Sepolia (needs 0.05, has 0)",
        ]
    );

    // Money on the least wanted network: that one, and the others say what is short.
    net.fund(SEPOLIA, USDC_SEPOLIA, "50000").await;
    net.fund(BASE, USDC_BASE, "49999").await;
    let selection = pay(&selector, &offers).await.unwrap();
    assert_eq!(selection.requirement().index(), 2);
    assert_eq!(selection.candidates()[1].rejections[0].detail, "0.000001 USDC short");

    // One more atom on the preferred one.
    net.fund(BASE, USDC_BASE, "1").await;
    let selection = pay(&selector, &offers).await.unwrap();
    assert_eq!(selection.requirement().index(), 1);
    assert_eq!(selection.selected().balance.unwrap().to_string(), "50000");

    // Spent there, funded on Solana.
    net.spend(BASE, USDC_BASE, "50000").await;
    net.fund(SOLANA, USDC_SOLANA, "1000000").await;
    let selection = pay(&selector, &offers).await.unwrap();
    assert_eq!(selection.requirement().index(), 0);
    assert_eq!(selection.selected().balance.unwrap().to_string(), "1000000");
    assert!(selection.candidates().iter().all(|candidate| candidate.endpoint.is_some()));
}

#[tokio::test]
async fn both_token_programs_and_a_frozen_account() {
    let net = Localnet::start();
    let selector = net.selector(json!({"probeTimeoutMs": 5_000}));
    net.fund(SOLANA, PYUSD_SOLANA, "70000").await;
    net.fund(SOLANA, USDC_SOLANA, "60000").await;
    let offers = [offers::spl(PYUSD_SOLANA, "70000"), offers::solana("60000")].map(|offer| net.offer(offer));
    let selection = pay(&selector, &offers).await.unwrap();
    assert!(selection.candidates().iter().all(|candidate| candidate.viable));

    let buyer = net.party("buyer", SOLANA);
    net.control(json!({"op": "freeze", "network": SOLANA, "asset": PYUSD_SOLANA, "owner": buyer})).await;
    let selection = pay(&selector, &offers).await.unwrap();
    assert_eq!(selection.requirement().index(), 1);
    assert_eq!(reasons(&selection.candidates()[1]), ["account-frozen"]);
    net.control(json!({"op": "thaw", "network": SOLANA, "asset": PYUSD_SOLANA, "owner": buyer})).await;
    assert_eq!(pay(&selector, &offers).await.unwrap().requirement().index(), 0);

    // A recipient without a token account cannot be paid: no client creates it.
    let error = pay(&selector, &[offers::solana("60000")]).await.unwrap_err();
    assert_eq!(reasons(&error.candidates()[0]), ["recipient-account-missing"]);
}

/// Endpoints of real nodes, configured for each other's chain.
#[tokio::test]
async fn a_real_node_of_another_chain_is_found_out() {
    let net = Localnet::start();
    let rpc = |id: &str| net.ready["networks"][id]["rpc"].clone();
    let config = json!({
        "owners": net.ready["buyer"],
        "networks": {BASE: {"rpc": [rpc(SEPOLIA), rpc(BASE)]}, SEPOLIA: {"rpc": [rpc(BASE)]}},
        "routing": {"probeTimeoutMs": 5_000},
    });
    let selector = RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap();
    net.fund(BASE, USDC_BASE, "5").await;
    let selection = pay(&selector, &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    assert_eq!(selection.requirement().index(), 0);
    assert_eq!(reasons(&selection.candidates()[1]), ["chain-identity-mismatch"]);
}
