//! A transport whose endpoints do what the test says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use payroute::{BoxFuture, Endpoint, HttpReply, Transport, TransportError};
use serde_json::{Value, json};

use super::{Evm, Svm, USDC_BASE, USDC_SEPOLIA};

/// What an endpoint does with a request.
#[derive(Clone, Debug)]
pub struct Answer {
    pub after: Duration,
    pub reply: Result<HttpReply, TransportError>,
}

impl Answer {
    pub fn json(value: &Value) -> Self {
        Self::http(200, &value.to_string())
    }

    pub fn http(status: u16, body: &str) -> Self {
        let reply = HttpReply { status, body: body.as_bytes().to_vec(), ..HttpReply::default() };
        Self { after: Duration::ZERO, reply: Ok(reply) }
    }

    pub fn broken() -> Self {
        Self { after: Duration::ZERO, reply: Err(TransportError::Unreachable) }
    }

    pub fn hang() -> Self {
        Self::broken().after(Duration::from_secs(3_600))
    }

    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// With a revert for every call of `batch` that it is too short for.
    fn completed(mut self, batch: &Value) -> Self {
        let calls = batch.as_array().map_or(0, Vec::len);
        let Ok(reply) = &mut self.reply else { return self };
        if let Ok(Value::Array(mut items)) = serde_json::from_slice(&reply.body)
            && items.len() > 1
        {
            let error = json!({"code": 3, "message": "execution reverted"});
            items.extend((items.len() + 1..=calls).map(|id| json!({"id": id, "error": error})));
            reply.body = Value::Array(items).to_string().into_bytes();
        }
        self
    }

    pub fn retry_after(mut self, seconds: &str) -> Self {
        if let Ok(reply) = &mut self.reply {
            reply.retry_after = Some(seconds.to_owned());
        }
        self
    }
}

type Handler = Arc<dyn Fn(&Value) -> Answer + Send + Sync>;

/// Endpoints by host. A host without a handler fails the test: nothing unasked goes on the wire.
#[derive(Clone, Default)]
pub struct Script {
    handlers: Arc<Mutex<BTreeMap<String, Handler>>>,
    log: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Script {
    pub fn on(&self, host: &str, handler: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> &Self {
        self.handlers.lock().unwrap().insert(host.to_owned(), Arc::new(handler));
        self
    }

    pub fn always(&self, host: &str, answer: Answer) -> &Self {
        self.on(host, move |_| answer.clone())
    }

    /// An EVM endpoint that knows batches and single calls but runs no program that is sent along. An
    /// `answer` of several items says what the chain id and the first balance meet; the rest reverts.
    pub fn without_programs(&self, host: &str, answer: Answer) -> &Self {
        self.on(host, move |body| match body["params"][0]["gas"].is_string() {
            true => Answer::http(200, r#"{"id":1,"error":{"code":-32602,"message":"missing field `to`"}}"#),
            false => answer.clone().completed(body),
        })
    }

    pub fn evm(&self, host: &str, chain: Evm) -> &Self {
        self.on(host, move |body| Answer::json(&chain.answer(body)))
    }

    pub fn svm(&self, host: &str, cluster: Svm) -> &Self {
        self.on(host, move |body| Answer::json(&cluster.answer(body)))
    }

    /// The hosts asked so far, in order; forgets them.
    pub fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|(host, _)| host).collect()
    }

    /// Hosts and bodies so far, in order; forgets them.
    pub fn requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

impl Transport for Script {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        let host = endpoint.host().to_string();
        let body: Value = serde_json::from_str(&body).unwrap();
        let handler = self.handlers.lock().unwrap().get(&host).cloned();
        let handler = handler.unwrap_or_else(|| panic!("{host} was asked, and no test said so"));
        let answer = handler(&body);
        self.log.lock().unwrap().push((host, body));
        Box::pin(async move {
            if !answer.after.is_zero() {
                tokio::time::sleep(answer.after).await;
            }
            answer.reply
        })
    }
}

/// All four endpoints of [`config`](super::config) in order, with these USDC balances.
pub fn healthy(base: u128, sepolia: u128, solana: u64) -> Script {
    let script = Script::default();
    script
        .evm("base-1.test", Evm::new(8453, USDC_BASE, base))
        .evm("base-2.test", Evm::new(8453, USDC_BASE, base))
        .evm("sepolia.test", Evm::new(84532, USDC_SEPOLIA, sepolia))
        .svm("solana.test", Svm::usdc(solana));
    script
}
