//! The core's transport over two JavaScript functions.

use std::rc::Rc;

use js_sys::{Promise, Uint8Array};
use payroute::{BoxFuture, Endpoint, Reply, Transport, TransportError};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// What reaches endpoints on the JavaScript side, and hears of them. Its methods do not throw and
    /// its promises do not reject.
    pub type Host;

    /// Posts to a URL.
    #[wasm_bindgen(method, catch)]
    fn post(this: &Host, url: &str, body: &str, signal: &JsValue) -> Result<Promise, JsValue>;

    /// Hands a body to a provider or function of the application, by its name in the configuration.
    #[wasm_bindgen(method, catch)]
    fn ask(this: &Host, provider: &str, body: &str, signal: &JsValue) -> Result<Promise, JsValue>;

    /// Hears of an event, as JSON.
    #[wasm_bindgen(method)]
    pub fn event(this: &Host, event: &str);

    /// The platform's own; one a request, so that one can end without the others.
    type AbortController;

    #[wasm_bindgen(constructor)]
    fn new() -> AbortController;

    #[wasm_bindgen(method)]
    fn abort(this: &AbortController);

    #[wasm_bindgen(method, getter)]
    fn signal(this: &AbortController) -> JsValue;

    /// An answer, or the name of a failure.
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

/// The one transport of the npm package.
pub(crate) struct JsTransport(pub(crate) Rc<Host>);

impl JsTransport {
    fn start(&self, endpoint: &Endpoint, body: &str, signal: &JsValue) -> Option<Promise> {
        let promise = match (endpoint.url(), endpoint.provider()) {
            (Some(url), _) => self.0.post(url, body, signal),
            (None, Some(provider)) => self.0.ask(provider, body, signal),
            (None, None) => return None,
        };
        promise.ok()
    }
}

impl Transport for JsTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<Reply, TransportError>> {
        Box::pin(async move {
            let mut request = Request { controller: AbortController::new(), answered: false };
            let promise = self.start(endpoint, &body, &request.controller.signal());
            let answer = JsFuture::from(promise.ok_or(TransportError::Unreachable)?).await;
            request.answered = true;
            let answer: Answer = answer.map_err(|_| TransportError::Unreachable)?.unchecked_into();
            match answer.failure().as_deref() {
                None => Ok(Reply {
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
}

/// A request under way: dropped before its answer, it is aborted.
struct Request {
    controller: AbortController,
    answered: bool,
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.answered {
            self.controller.abort();
        }
    }
}
