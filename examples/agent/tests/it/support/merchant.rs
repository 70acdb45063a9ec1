//! A merchant: asks for a payment, judges what comes as a facilitator would, settles it on the chain.

use std::sync::{Arc, Mutex};

use alloy_signer_local::PrivateKeySigner;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signer::Signer;

use super::settle::{self, Offer};
use super::{Chains, SOLANA};

/// Where the terms of the 402 stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Header,
    HeaderBase64Url,
    HeaderJson,
    Body,
}

/// What the merchant does with a payment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Conduct {
    Settle,
    /// Asks for another one.
    AskAgain,
}

pub struct Merchant {
    pub url: String,
    shop: Arc<Shop>,
    task: tokio::task::JoinHandle<()>,
}

struct Shop {
    document: String,
    carrier: Carrier,
    conduct: Conduct,
    seen: Mutex<Vec<(HeaderMap, Bytes)>>,
    settled: Mutex<Vec<Settled>>,
}

/// A payment that moved money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub network: String,
    pub payer: String,
    pub amount: u64,
}

impl Merchant {
    /// A merchant that sends `document` as its 402.
    pub async fn start(document: String, carrier: Carrier, conduct: Conduct) -> Self {
        let (seen, settled) = (Mutex::default(), Mutex::default());
        let shop = Arc::new(Shop { document, carrier, conduct, seen, settled });
        let app = axum::Router::new().fallback(serve).with_state(shop.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/item", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, shop, task }
    }

    /// One that offers these in a version 2 header and settles.
    pub async fn selling(offers: &[Value]) -> Self {
        Self::start(v2(offers).to_string(), Carrier::Header, Conduct::Settle).await
    }

    pub fn requests(&self) -> usize {
        self.shop.seen.lock().unwrap().len()
    }

    /// The bodies that were sent to it.
    pub fn bodies(&self) -> Vec<Bytes> {
        self.shop.seen.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }

    /// What it was paid, settled on the chains.
    pub fn settled(&self) -> Vec<Settled> {
        self.shop.settled.lock().unwrap().clone()
    }
}

impl Drop for Merchant {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    shop.seen.lock().unwrap().push((headers.clone(), body));
    let payment = ["payment-signature", "x-payment"].iter().find_map(|name| headers.get(*name));
    let Some(payment) = payment.filter(|_| shop.conduct == Conduct::Settle) else { return shop.challenge() };
    let version = if headers.contains_key("x-payment") { 1 } else { 2 };
    let payment = String::from_utf8(STANDARD.decode(payment).unwrap()).unwrap();
    match shop.settle(version, &payment).await {
        Ok(settled) => {
            shop.settled.lock().unwrap().push(settled);
            respond(200, Some(("payment-response", STANDARD.encode(r#"{"success":true}"#))), "the item".into())
        }
        Err(reason) => respond(400, None, reason),
    }
}

impl Shop {
    fn challenge(&self) -> Response<Body> {
        let header = match self.carrier {
            Carrier::Header => STANDARD.encode(&self.document),
            Carrier::HeaderBase64Url => URL_SAFE_NO_PAD.encode(&self.document),
            Carrier::HeaderJson => self.document.clone(),
            Carrier::Body => return respond(402, None, self.document.clone()),
        };
        respond(402, Some(("payment-required", header)), "{}".into())
    }

    /// Finds the offer that is paid, byte by byte where the payment repeats it, and settles it.
    async fn settle(&self, version: u64, payment: &str) -> Result<Settled, String> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Envelope<'a> {
            x402_version: u64,
            #[serde(borrow)]
            accepted: Option<&'a RawValue>,
            resource: Option<Value>,
            extensions: Option<Value>,
            scheme: Option<String>,
            network: Option<String>,
            payload: Value,
        }
        let paid: Envelope<'_> = serde_json::from_str(payment).map_err(|error| error.to_string())?;
        if paid.x402_version != version {
            return Err(format!("version {} in the header of version {version}", paid.x402_version));
        }
        let asked: Value = serde_json::from_str(&self.document).unwrap();
        let same = |offer: &&&RawValue| match paid.accepted {
            Some(accepted) => accepted.get() == offer.get(),
            None => {
                let offer: Value = serde_json::from_str(offer.get()).unwrap();
                version == 1 && offer["scheme"] == json!(paid.scheme) && offer["network"] == json!(paid.network)
            }
        };
        let offers = offers(&self.document);
        let offer = offers.iter().find(same).ok_or("the payment repeats none of the offers")?;
        if version == 2 && paid.resource.unwrap_or_default() != asked["resource"] {
            return Err("the payment repeats another resource".into());
        }
        if version == 2 && paid.extensions.unwrap_or_default() != asked["extensions"] {
            return Err("the payment repeats other extensions".into());
        }
        let offer = Offer::read(&serde_json::from_str(offer.get()).unwrap());
        settle::settle(&offer, &paid.payload).await
    }
}

fn offers(document: &str) -> Vec<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Document<'a> {
        #[serde(borrow)]
        accepts: Vec<&'a RawValue>,
    }
    match document.starts_with('[') {
        true => serde_json::from_str(document).unwrap(),
        false => serde_json::from_str::<Document<'_>>(document).unwrap().accepts,
    }
}

fn respond(status: u16, header: Option<(&str, String)>, body: String) -> Response<Body> {
    let mut response = Response::builder().status(status);
    if let Some((name, value)) = header {
        response = response.header(name, value);
    }
    response.body(body.into()).unwrap()
}

pub fn v2(offers: &[Value]) -> Value {
    json!({
        "x402Version": 2, "error": "payment required", "resource": {"url": "https://shop.test/item"}, "accepts": offers,
        "extensions": {"bazaar": {"info": {"kind": 1}}},
    })
}

pub fn v1(offers: &[Value]) -> Value {
    json!({"x402Version": 1, "error": "X-PAYMENT header is required", "accepts": offers})
}

/// An offer of USDC, to an account of the merchant that holds nothing yet.
pub async fn offer(network: &str, amount: u64) -> Value {
    let chains = Chains::get();
    let (pay_to, extra) = match network {
        SOLANA => {
            let account = Keypair::new().pubkey().to_string();
            // Nobody creates a recipient's token account when paying; with nothing in it, it is there.
            chains.fund(network, &account, 0).await;
            (account, json!({"feePayer": chains.party("feePayer", network)}))
        }
        _ => (PrivateKeySigner::random().address().to_string(), json!({"name": domain_name(network), "version": "2"})),
    };
    json!({
        "scheme": "exact", "network": network, "amount": amount.to_string(), "asset": chains.usdc(network),
        "payTo": pay_to, "maxTimeoutSeconds": 60, "extra": extra,
    })
}

/// The same offer as version 1 writes it.
pub fn as_v1(mut offer: Value, name: &str) -> Value {
    let amount = offer["amount"].take();
    offer.as_object_mut().unwrap().remove("amount");
    offer["maxAmountRequired"] = amount;
    offer["network"] = json!(name);
    offer["resource"] = json!("https://shop.test/item");
    offer["description"] = json!("an item");
    offer["mimeType"] = json!("text/plain");
    offer
}

fn domain_name(network: &str) -> &'static str {
    match network {
        super::BASE => "USD Coin",
        _ => "USDC",
    }
}
