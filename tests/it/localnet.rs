//! Selecting across real chains: two EVM nodes and a real SVM, with tokens that move.

use std::io::{Read, Write};
use std::net::TcpStream;

use payroute::{Config, Note, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::http::Server;
use crate::support::localnet::{BASE, Localnet, SEPOLIA};
use crate::support::{PYUSD_SOLANA, SOLANA, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, offers, payment, reasons};

/// Base alone, read at these endpoints.
fn base_at(net: &Localnet, rpc: &[&str], second_opinion: bool) -> RouteSelector {
    let config = json!({
        "owners": net.ready["buyer"],
        "networks": {BASE: {"rpc": rpc}},
        "routing": {"probeTimeoutMs": 5_000, "secondOpinion": second_opinion},
    });
    RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap()
}

/// An endpoint in front of the Base node that tells `lie` wherever the node says `truth`.
async fn lying(net: &Localnet, truth: u64, lie: u64) -> Server {
    let node = node(net).trim_start_matches("http://").to_owned();
    let word = |number: u64| format!("{number:064x}");
    Server::start(move |body| {
        let answer = forward(&node, &body).replace(&word(truth), &word(lie));
        serde_json::from_str(&answer).unwrap()
    })
    .await
}

/// The URL of the Base node.
fn node(net: &Localnet) -> &str {
    net.ready["networks"][BASE]["rpc"].as_str().unwrap()
}

/// What the node at `address` answers. Waits for it: the node runs in a process of its own.
fn forward(address: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let head = format!(
        "POST / HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

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

/// A real node and an endpoint before it that tells less than the node does.
#[tokio::test]
async fn an_endpoint_that_tells_too_little_changes_no_route() {
    let net = Localnet::start();
    net.fund(BASE, USDC_BASE, "50000").await;
    let liar = lying(&net, 50_000, 7).await;
    let offer = net.offer(offers::base("50000"));
    let endpoints = [liar.url(), node(&net).to_owned()];
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();

    let selector = base_at(&net, &endpoints, true);
    let selection = pay(&selector, std::slice::from_ref(&offer)).await.unwrap();
    assert_eq!(selection.selected().balance.unwrap().to_string(), "50000");
    assert!(selection.selected().notes.contains(&Note::BalancesDisagree));
    assert_eq!(selection.selected().endpoint.as_deref().unwrap(), node(&net).trim_start_matches("http://"));
    let scores: Vec<_> = selector.health().into_iter().map(|view| (view.endpoint, view.score)).collect();
    assert_eq!(scores.len(), 2);
    let score = |host: &str| scores.iter().find(|(endpoint, _)| &**endpoint == host).unwrap().1;
    assert!(score(&liar.address.to_string()) < score(node(&net).trim_start_matches("http://")));

    let error = pay(&base_at(&net, &endpoints, false), &[offer]).await.unwrap_err();
    assert_eq!(error.deficits()[0].available.to_string(), "7");
}

/// A payment that really moves the tokens, and an endpoint that goes on telling what was before.
#[tokio::test]
async fn a_settled_payment_is_neither_forgotten_nor_counted_twice() {
    let net = Localnet::start();
    net.fund(BASE, USDC_BASE, "90000").await;
    let lagging = lying(&net, 40_000, 90_000).await;
    let selector = base_at(&net, &[node(&net)], true);
    let available = async |selector: &RouteSelector| {
        pay(selector, &[net.offer(offers::base("1000000"))]).await.unwrap_err().deficits()[0].available.to_string()
    };
    let hold = pay(&selector, &[net.offer(offers::base("50000"))]).await.unwrap().hold().unwrap();
    assert_eq!(available(&selector).await, "40000", "held");
    net.spend(BASE, USDC_BASE, "50000").await;
    hold.settle();
    assert_eq!(available(&selector).await, "40000", "paid");

    let behind = base_at(&net, &[&lagging.url()], true);
    assert_eq!(available(&behind).await, "90000", "what it tells");
    net.fund(BASE, USDC_BASE, "50000").await;
    let hold = pay(&behind, &[net.offer(offers::base("50000"))]).await.unwrap().hold().unwrap();
    net.spend(BASE, USDC_BASE, "50000").await;
    hold.settle();
    assert_eq!(available(&behind).await, "40000", "the debit does not show, and is counted");
}
