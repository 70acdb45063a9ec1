//! The host's `fetch` as a transport, without an HTTP library between: it adds a tenth of what reqwest adds to a
//! module. The JavaScript half is `fetch.mjs`, which wasm-bindgen puts next to the module.

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
/// It follows no redirect and sends neither cookies nor referrer. A user and a password in a URL are sent as the
/// `Authorization` header that they stand for.
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
            Some(url) => reply_of(post(url, &body, MAX_RESPONSE_BYTES)),
            None => Box::pin(async { Err(TransportError::Unreachable) }),
        }
    }
}

/// The reply of an exchange. Dropping the future aborts the request.
#[doc(hidden)] // As for `Exchange`.
#[must_use]
pub fn reply_of(exchange: Exchange) -> BoxFuture<'static, Result<HttpReply, TransportError>> {
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
            Some("name-not-found") => Err(TransportError::NameNotFound),
            Some("refused") => Err(TransportError::Refused),
            Some("tls") => Err(TransportError::Tls),
            Some("broke-off") => Err(TransportError::BrokeOff),
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
