//! What is not paid, and what is never paid twice.

use payroute::SelectError;
use payroute_agent::{PayError, Payment};
use reqwest::Body;
use reqwest_middleware::Error;
use serde_json::json;

use crate::support::buyer::{agent, config};
use crate::support::merchant::{offer, v2};
use crate::support::wire::{Act, Wire};
use crate::support::{BASE, Buyer, Carrier, Conduct, Merchant, SEPOLIA, SOLANA};

const PRICE: u64 = 50_000;

fn select_error(error: &Error) -> &SelectError {
    let Error::Middleware(error) = error else { panic!("{error}") };
    error.downcast_ref().expect("payroute's own error")
}

fn pay_error(error: &Error) -> &PayError {
    let Error::Middleware(error) = error else { panic!("{error}") };
    error.downcast_ref().expect("the middleware's own error")
}

#[tokio::test]
async fn without_funds_the_deficits_arrive_and_nothing_is_sent() {
    let merchant = Merchant::selling(&[offer(SOLANA, PRICE).await, offer(BASE, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, 20_000)]).await;
    let error = buyer.agent().get(&merchant.url).send().await.unwrap_err();
    let error = select_error(&error);
    assert_eq!(error.code(), "insufficient-liquidity");
    let deficits: Vec<String> = error.deficits().iter().map(ToString::to_string).collect();
    assert_eq!(
        deficits,
        ["0.05 USDC short on Solana (needs 0.05, has 0)", "0.03 USDC short on Base (needs 0.05, has 0.02)"]
    );
    assert_eq!(merchant.requests(), 1);
}

#[tokio::test]
async fn a_402_after_the_payment_is_the_answer() {
    let offers = [offer(BASE, PRICE).await, offer(SEPOLIA, PRICE).await];
    let merchant = Merchant::start(v2(&offers).to_string(), Carrier::Header, Conduct::AskAgain).await;
    let buyer = Buyer::with(&[(BASE, PRICE), (SEPOLIA, PRICE)]).await;
    let response = buyer.agent().get(&merchant.url).send().await.unwrap();
    assert_eq!(response.status(), 402);
    assert!(response.headers().contains_key("payment-required"), "as it came");
    assert_eq!(response.extensions().get::<Payment>().unwrap().candidate().requirement_index, 0);
    assert_eq!(merchant.requests(), 2);
}

#[tokio::test]
async fn a_request_that_is_paid_already_passes_untouched() {
    let offers = [offer(BASE, PRICE).await];
    let merchant = Merchant::start(v2(&offers).to_string(), Carrier::Header, Conduct::AskAgain).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    for header in ["PAYMENT-SIGNATURE", "X-PAYMENT"] {
        let response = buyer.agent().get(&merchant.url).header(header, "e30=").send().await.unwrap();
        assert_eq!(response.status(), 402);
        assert!(response.extensions().get::<Payment>().is_none());
    }
    assert_eq!(merchant.requests(), 2);
}

#[tokio::test]
async fn a_payment_that_is_never_answered_says_so() {
    let challenge = v2(&[offer(BASE, PRICE).await, offer(SEPOLIA, PRICE).await]).to_string();
    let merchant = Wire::start(move |head| match head.contains("payment-signature") {
        true => Act::Close(String::new()),
        false => {
            let length = challenge.len();
            let head = "HTTP/1.1 402 Payment Required\r\nconnection: close\r\n";
            Act::Close(format!("{head}content-length: {length}\r\n\r\n{challenge}"))
        }
    })
    .await;
    let buyer = Buyer::with(&[(BASE, PRICE), (SEPOLIA, PRICE)]).await;
    let error = buyer.agent().get(&merchant.url).send().await.unwrap_err();
    let error = pay_error(&error);
    assert_eq!(error.code(), "unanswered");
    let PayError::Unanswered { payment, source } = error else { panic!("{error}") };
    assert_eq!(payment.candidate().requirement_index, 0);
    assert!(matches!(source, Error::Reqwest(_)));
    assert_eq!(merchant.requests(), 2);
}

#[tokio::test]
async fn a_body_that_cannot_be_sent_twice_is_a_clear_error_where_it_matters() {
    let merchant = Merchant::selling(&[offer(BASE, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let stream = || Body::wrap(http_body_util::Full::new(axum::body::Bytes::from("an order")));
    let error = buyer.agent().post(&merchant.url).body(stream()).send().await.unwrap_err();
    assert_eq!(pay_error(&error).code(), "body-not-repeatable");
    assert_eq!(merchant.requests(), 1);

    let free = Wire::start(|_| Act::Close("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into())).await;
    let response = buyer.agent().post(&free.url).body(stream()).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "ok");
}

#[tokio::test]
async fn every_other_answer_passes_untouched() {
    let buyer = Buyer::new();
    for (status, body) in [(200, "ok"), (404, "gone"), (500, r#"{"x402Version":2,"accepts":[]}"#)] {
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nx-own: 1\r\n\r\n{body}", body.len());
        let server = Wire::start(move |_| Act::Close(answer.clone())).await;
        let response = buyer.agent().get(&server.url).send().await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["x-own"], "1");
        assert!(response.extensions().get::<Payment>().is_none());
        assert_eq!(response.text().await.unwrap(), body);
        assert_eq!(server.requests(), 1);
    }
}

/// The balance of one account was read and another would have paid.
#[tokio::test]
async fn a_payment_by_another_account_is_not_sent() {
    for network in [BASE, SOLANA] {
        let merchant = Merchant::selling(&[offer(network, PRICE).await]).await;
        let (rich, signer) = (Buyer::with(&[(network, PRICE)]).await, Buyer::with(&[(network, PRICE)]).await);
        let mut config = config();
        config["owners"] = json!({network: rich.address(network)});
        let error = agent(&signer.wallet(), &config).get(&merchant.url).send().await.unwrap_err();
        assert_eq!(pay_error(&error).code(), "wrong-signer", "{network}");
        assert_eq!(merchant.requests(), 1);
    }
}

/// Payable, and not by this client: the offer's network is named as version 1 does, in version 2.
#[tokio::test]
async fn if_no_payable_offer_can_be_signed_the_error_says_why() {
    let mut named = offer(BASE, PRICE).await;
    named["network"] = json!("base");
    let merchant = Merchant::selling(&[named, offer(SEPOLIA, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let error = buyer.agent().get(&merchant.url).send().await.unwrap_err();
    let PayError::Unsignable { refusals, selection } = pay_error(&error) else { panic!("{error}") };
    assert_eq!(refusals.len(), 1, "the offer that cannot be paid is not tried");
    assert_eq!(refusals[0].to_string(), "offer 0 (eip155:8453): No matching payment option found");
    assert_eq!(selection.selected().requirement_index, 0);
    assert_eq!(merchant.requests(), 1);
}
