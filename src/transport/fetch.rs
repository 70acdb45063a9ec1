//! The host's `fetch` as a transport, without an HTTP library between: a tenth of what reqwest brings to
//! a module. What belongs to the host is in `fetch.mjs`, which wasm-bindgen puts beside the module.
//!
//! Refuses to know JSON-RPC, deadlines and retries, like every transport.

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::{Endpoint, HttpReply, MAX_RESPONSE_BYTES, Transport, TransportError};
use crate::runtime::BoxFuture;

#[wasm_bindgen(module = "/src/transport/fetch.mjs")]
extern "C" {
    /// Posts JSON. Never throws.
    fn post(url: &str, body: &str, most_bytes: usize) -> Exchange;
}

#[wasm_bindgen]
extern "C" {
    /// A request under way on the JavaScript side.
    #[doc(hidden)] // The npm package's own providers answer through it; no part of the API.
    pub type Exchange;

    /// Never rejects.
    #[wasm_bindgen(method, getter)]
    fn answer(this: &Exchange) -> Promise;

    /// Ends the request, if it has not ended.
    #[wasm_bindgen(method)]
    fn abort(this: &Exchange);

    /// A reply, or the name of a failure.
    type Answer;

    #[wasm_bindgen(method, getter)]
    fn failure(this: &Answer) -> Option<String>;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Answer) -> u16;

    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Answer) -> Option<String>;

    #[wasm_bindgen(method, getter)]
    fn date(this: &Answer) -> Option<String>;

    #[wasm_bindgen(method, getter)]
    fn body(this: &Answer) -> Uint8Array;
}

/// The ready-made transport on WASM with the feature `fetch`: the host's `fetch`, with one
/// `AbortController` a request.
///
/// Follows no redirect, sends neither cookies nor referrer, and sends a user and a password in a URL
/// as the header that they stand for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FetchTransport {}

impl FetchTransport {
    /// A transport over the `fetch` that the global object has when it is used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Transport for FetchTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        match endpoint.url() {
            Some(url) => settle(post(url, &body, MAX_RESPONSE_BYTES)),
            None => Box::pin(async { Err(TransportError::Unreachable) }),
        }
    }
}

/// What an exchange comes to. Dropped before its end, it is aborted.
#[doc(hidden)] // As for `Exchange`.
#[must_use]
pub fn settle(exchange: Exchange) -> BoxFuture<'static, Result<HttpReply, TransportError>> {
    let exchange = UnderWay(exchange);
    Box::pin(async move {
        let answer: Answer = JsFuture::from(exchange.0.answer()).await.map_err(unreachable)?.unchecked_into();
        match answer.failure().as_deref() {
            None => Ok(HttpReply {
                status: answer.status(),
                retry_after: answer.retry_after(),
                date: answer.date(),
                body: answer.body().to_vec(),
            }),
            Some("too-large") => Err(TransportError::TooLarge),
            Some("redirected") => Err(TransportError::Redirected),
            Some(_) => Err(TransportError::Unreachable),
        }
    })
}

struct UnderWay(Exchange);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn unreachable(_: JsValue) -> TransportError {
    TransportError::Unreachable
}
