//! A paid request arrives, by the offer that the cascade chose, and the money has moved there.

use payroute::{DecidingKey, SelectError};
use payroute_agent::Payment;
use reqwest_middleware::Error;
use serde_json::{Value, json};

use crate::support::buyer::{agent, config};
use crate::support::merchant::{Settled, as_v1, offer, v1, v2};
use crate::support::{BASE, Buyer, Carrier, Chains, Conduct, Merchant, SEPOLIA, SOLANA};

const PRICE: u64 = 50_000;

/// A closed port of this machine.
const DEAD: &str = "http://127.0.0.1:9/v2/key";

async fn all_offers() -> [Value; 3] {
    [offer(SOLANA, PRICE).await, offer(SEPOLIA, PRICE).await, offer(BASE, PRICE).await]
}

/// What the recipient of an offer holds.
async fn received(offer: &Value) -> u64 {
    Chains::get().balance(offer["network"].as_str().unwrap(), offer["payTo"].as_str().unwrap()).await
}

fn settled(buyer: &Buyer, network: &str) -> Vec<Settled> {
    vec![Settled { network: network.to_owned(), payer: buyer.address(network), amount: PRICE }]
}

#[tokio::test]
async fn the_paid_request_arrives_on_the_network_that_the_cascade_chose() {
    let offers = all_offers().await;
    let merchant = Merchant::selling(&offers).await;
    let buyer = Buyer::with(&[(BASE, PRICE), (SEPOLIA, PRICE), (SOLANA, PRICE)]).await;

    let response = buyer.agent().get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers().contains_key("payment-response"));
    let payment = response.extensions().get::<Payment>().unwrap().clone();
    assert_eq!(response.text().await.unwrap(), "the item");

    assert_eq!(merchant.settled(), settled(&buyer, BASE));
    assert_eq!(payment.candidate().requirement_index, 2);
    assert_eq!(payment.selection().candidates()[1].decided_by, Some(DecidingKey::Preference));
    assert!(payment.passed_over().is_empty());
    let got = [received(&offers[0]).await, received(&offers[1]).await, received(&offers[2]).await];
    assert_eq!(got, [0, 0, PRICE]);
    assert_eq!(Chains::get().balance(BASE, &buyer.address(BASE)).await, 0);
    assert_eq!(merchant.requests(), 2);
}

/// A server and a facilitator of the x402 packages.
#[tokio::test]
async fn a_merchant_of_the_stock_packages_is_paid_on_every_network() {
    let chains = Chains::get();
    for network in [BASE, SEPOLIA, SOLANA] {
        let merchant = chains.party("merchant", network);
        let (buyer, before) = (Buyer::with(&[(network, PRICE)]).await, chains.balance(network, merchant).await);
        let response = buyer.agent().get(chains.article()).send().await.unwrap();
        assert_eq!(response.status(), 200, "{network}: {}", response.text().await.unwrap());
        assert!(response.headers().contains_key("payment-response"));
        assert_eq!(chains.balance(network, merchant).await - before, PRICE, "{network}");
        assert_eq!(chains.balance(network, &buyer.address(network)).await, 0, "{network}");
    }
}

#[tokio::test]
async fn with_the_endpoint_of_that_network_dead_it_arrives_on_the_next() {
    let merchant = Merchant::selling(&all_offers().await).await;
    let buyer = Buyer::with(&[(BASE, PRICE), (SEPOLIA, PRICE), (SOLANA, PRICE)]).await;
    let mut config = config();
    config["networks"][BASE]["rpc"] = json!([DEAD]);

    let response = agent(&buyer.wallet(), &config).get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(merchant.settled(), settled(&buyer, SEPOLIA));
    let payment = response.extensions().get::<Payment>().unwrap();
    assert!(!payment.selection().candidates().last().unwrap().viable);
}

#[tokio::test]
async fn with_money_on_solana_alone_it_arrives_there() {
    let offers = all_offers().await;
    let merchant = Merchant::selling(&offers).await;
    let buyer = Buyer::with(&[(SOLANA, PRICE)]).await;

    let response = buyer.agent().get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    assert_eq!(merchant.settled(), settled(&buyer, SOLANA));
    assert_eq!(received(&offers[0]).await, PRICE);
}

/// A Solana payment is prepared at the endpoint that is known to work, not at the first of the list.
#[tokio::test]
async fn a_dead_endpoint_does_not_keep_the_wallet_from_signing() {
    let merchant = Merchant::selling(&[offer(SOLANA, PRICE).await]).await;
    let buyer = Buyer::with(&[(SOLANA, PRICE)]).await;
    let mut config = config();
    config["networks"][SOLANA]["rpc"] = json!([DEAD, Chains::get().rpc(SOLANA)]);

    let response = agent(&buyer.wallet(), &config).get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    assert_eq!(merchant.settled(), settled(&buyer, SOLANA));
}

#[tokio::test]
async fn both_protocol_versions_from_every_carrier() {
    let versions = [
        (2, Carrier::Header, BASE),
        (2, Carrier::HeaderBase64Url, BASE),
        (2, Carrier::HeaderJson, SEPOLIA),
        (2, Carrier::Body, BASE),
        (1, Carrier::Body, BASE),
        (1, Carrier::Header, SEPOLIA),
        (1, Carrier::Body, SOLANA),
    ];
    for (version, carrier, network) in versions {
        let offer = offer(network, PRICE).await;
        let name = match network {
            BASE => "base",
            SEPOLIA => "base-sepolia",
            _ => "solana",
        };
        let document = if version == 1 { v1(&[as_v1(offer, name)]) } else { v2(&[offer]) };
        let merchant = Merchant::start(document.to_string(), carrier, Conduct::Settle).await;
        let buyer = Buyer::with(&[(network, PRICE)]).await;
        let response = buyer.agent().get(&merchant.url).send().await.unwrap();
        let status = response.status();
        assert_eq!(status, 200, "{version} {carrier:?} {network}: {}", response.text().await.unwrap());
        assert_eq!(merchant.settled(), settled(&buyer, network), "{version} {carrier:?} {network}");
    }
}

/// A version 1 payment repeats neither of these, so their absence costs nothing.
#[tokio::test]
async fn a_version_1_offer_without_a_description_is_paid() {
    let mut offer = as_v1(offer(BASE, PRICE).await, "base");
    for field in ["resource", "description", "mimeType"] {
        offer.as_object_mut().unwrap().remove(field);
    }
    let merchant = Merchant::start(v1(&[offer]).to_string(), Carrier::Body, Conduct::Settle).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    assert_eq!(buyer.agent().get(&merchant.url).send().await.unwrap().status(), 200);
    assert_eq!(merchant.settled(), settled(&buyer, BASE));
}

/// The merchant compares bytes: spacing, the order of members, members that nobody knows.
#[tokio::test]
async fn the_offer_is_repeated_byte_by_byte() {
    let offer = offer(BASE, PRICE).await;
    let (asset, pay_to) = (&offer["asset"], &offer["payTo"]);
    let entry = format!(
        "{{ \"zone\":[1.50, 1e3,\"\\u00fc\"],\"maxTimeoutSeconds\":60,\n\t\"network\" : \"eip155:8453\",\"payTo\":{pay_to},\
         \"scheme\":\"exact\",\"amount\":\"{PRICE}\",\"asset\":{asset},\"extra\":{{\"version\":\"2\", \"name\":\"USD Coin\"}} }}"
    );
    let document =
        format!("{{\"x402Version\":2,\"accepts\":[ {entry} ],\"resource\":{{\"url\":\"https://shop.test/ü\"}}}}");
    let merchant = Merchant::start(document, Carrier::Header, Conduct::Settle).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let response = buyer.agent().get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    assert_eq!(merchant.settled(), settled(&buyer, BASE));
}

#[tokio::test]
async fn what_was_posted_is_posted_again_with_the_payment() {
    let merchant = Merchant::selling(&[offer(BASE, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let response = buyer.agent().post(&merchant.url).body("an order").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(merchant.bodies(), ["an order", "an order"]);
}

/// The best route is on Solana and the wallet has no key for it: the next one that can be paid.
#[tokio::test]
async fn what_the_client_cannot_sign_is_passed_over() {
    let merchant = Merchant::selling(&all_offers().await).await;
    let buyer = Buyer::with(&[(SOLANA, PRICE), (SEPOLIA, PRICE)]).await;
    let mut config = config();
    config["owners"] = json!({"solana": buyer.address(SOLANA)});
    config["routing"]["preferNetworks"] = json!([SOLANA]);

    let response = agent(&buyer.evm_wallet(), &config).get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(merchant.settled(), settled(&buyer, SEPOLIA));
    let payment = response.extensions().get::<Payment>().unwrap();
    assert_eq!(payment.candidate().network.as_ref().unwrap().as_str(), SEPOLIA);
    assert_eq!(payment.passed_over().len(), 1);
    assert_eq!(payment.passed_over()[0].requirement_index, 0);
    assert_eq!(merchant.requests(), 2);
}

/// Both requests see the whole balance when they select; each spends its own.
#[tokio::test]
async fn two_requests_at_once_do_not_spend_the_same_money() {
    let merchant = Merchant::selling(&[offer(BASE, PRICE).await, offer(SEPOLIA, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, PRICE), (SEPOLIA, PRICE)]).await;
    let agent = buyer.agent();
    let (one, other) = tokio::join!(agent.get(&merchant.url).send(), agent.get(&merchant.url).send());
    assert_eq!((one.unwrap().status().as_u16(), other.unwrap().status().as_u16()), (200, 200));
    let mut networks: Vec<String> = merchant.settled().into_iter().map(|settled| settled.network).collect();
    networks.sort();
    assert_eq!(networks, [BASE, SEPOLIA]);

    let error = agent.get(&merchant.url).send().await.unwrap_err();
    let Error::Middleware(error) = error else { panic!("{error}") };
    assert_eq!(error.downcast_ref::<SelectError>().unwrap().code(), "insufficient-liquidity");
}
