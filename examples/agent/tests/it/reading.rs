//! What is read of a 402 and what of it is shown: bounds, and keys that stay where they are.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use payroute::SelectError;
use payroute_agent::PayError;
use reqwest_middleware::Error;
use serde_json::{Value, json};

use crate::support::buyer::{agent, config};
use crate::support::merchant::{offer, v2};
use crate::support::wire::{Act, Wire};
use crate::support::{BASE, Buyer, Chains, Merchant, SOLANA};

const PRICE: u64 = 50_000;

fn code(error: &Error) -> &'static str {
    let Error::Middleware(error) = error else { panic!("{error}") };
    let select = error.downcast_ref::<SelectError>().map(SelectError::code);
    select.or_else(|| error.downcast_ref::<PayError>().map(PayError::code)).unwrap()
}

#[tokio::test]
async fn a_402_without_terms_is_an_error_that_says_where_they_were_sought() {
    let page = "HTTP/1.1 402 Payment Required\r\ncontent-length: 15\r\n\r\n<html>pay</html>";
    let server = Wire::start(|_| Act::Close(page.into())).await;
    let error = Buyer::new().agent().get(&server.url).send().await.unwrap_err();
    assert_eq!(code(&error), "invalid-payment-required");
    assert!(error.to_string().contains("PAYMENT-REQUIRED header is absent; response body"), "{error}");
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_its_end() {
    let head = "HTTP/1.1 402 Payment Required\r\ntransfer-encoding: chunked\r\n\r\n";
    let server = Wire::start(|_| Act::Flood(head.into())).await;
    let error = Buyer::new().agent().get(&server.url).send().await.unwrap_err();
    assert_eq!(code(&error), "invalid-payment-required");
}

/// Terms in the header are the terms; whatever becomes of the body.
#[tokio::test]
async fn a_body_that_never_comes_holds_up_no_payment_by_the_header() {
    let terms = STANDARD.encode(v2(&[offer(BASE, PRICE).await]).to_string());
    let server = Wire::start(move |head| match head.contains("payment-signature") {
        true => Act::Close("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into()),
        false => Act::Stall(format!(
            "HTTP/1.1 402 Payment Required\r\npayment-required: {terms}\r\ncontent-length: 9\r\n\r\n"
        )),
    })
    .await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let paid = buyer.agent().get(&server.url).send();
    let response = tokio::time::timeout(Duration::from_secs(60), paid).await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(server.requests(), 2);
}

/// The client's own errors quote the URL they failed at. The endpoint proves a balance and then has
/// nothing left for the wallet.
#[tokio::test]
async fn an_endpoint_s_key_is_in_no_error() {
    const KEY: &str = "k3yOfTheBuyer";
    let node = Chains::get().rpc(SOLANA).to_owned();
    let app = axum::Router::new().fallback(move |body: axum::body::Bytes| {
        let node = node.clone();
        async move {
            let batch = matches!(serde_json::from_slice(&body), Ok(Value::Array(_)));
            if !batch {
                return Err(axum::http::StatusCode::FORBIDDEN);
            }
            let request = reqwest::Client::new().post(node).header("content-type", "application/json").body(body);
            Ok(request.send().await.unwrap().text().await.unwrap())
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });

    let merchant = Merchant::selling(&[offer(SOLANA, PRICE).await]).await;
    let buyer = Buyer::with(&[(SOLANA, PRICE)]).await;
    let mut config = config();
    config["networks"][SOLANA]["rpc"] = json!([format!("http://{host}/v2/{KEY}?key={KEY}")]);
    let error = agent(&buyer.wallet(), &config).get(&merchant.url).send().await.unwrap_err();
    assert_eq!(code(&error), "unsignable");
    let texts = [format!("{error}"), format!("{error:?}"), format!("{error:#?}")];
    assert!(texts[0].contains(&host.to_string()), "{error}");
    assert!(texts.iter().all(|text| !text.contains(KEY)), "{error:?}");
    assert_eq!(merchant.requests(), 1);
    server.abort();
}
