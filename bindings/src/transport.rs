//! The core's transport: `fetch` for URLs, a JavaScript function for the application's own providers.

use std::rc::Rc;

use js_sys::{Promise, Uint8Array};
use payroute::{BoxFuture, Endpoint, FetchTransport, Reply, Transport, TransportError};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// What reaches providers on the JavaScript side, and hears of events. Its methods do not throw and
    /// its promises do not reject.
    pub type Host;

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
    fn body(this: &Answer) -> Uint8Array;
}

/// The one transport of the npm package.
pub(crate) struct JsTransport {
    fetch: FetchTransport,
    host: Rc<Host>,
}

impl JsTransport {
    pub(crate) fn new(host: Rc<Host>) -> Self {
        Self { fetch: FetchTransport::new(), host }
    }

    async fn ask(&self, provider: &str, body: &str) -> Result<Reply, TransportError> {
        let mut request = Request { controller: AbortController::new(), answered: false };
        let promise = self.host.ask(provider, body, &request.controller.signal());
        let answer = JsFuture::from(promise.map_err(|_| TransportError::Unreachable)?).await;
        request.answered = true;
        let answer: Answer = answer.map_err(|_| TransportError::Unreachable)?.unchecked_into();
        match answer.failure().as_deref() {
            None => Ok(Reply { status: 200, body: answer.body().to_vec(), ..Reply::default() }),
            Some("too-large") => Err(TransportError::TooLarge),
            Some(_) => Err(TransportError::Unreachable),
        }
    }
}

impl Transport for JsTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<Reply, TransportError>> {
        match endpoint.provider() {
            Some(provider) => Box::pin(async move { self.ask(provider, &body).await }),
            None => self.fetch.post(endpoint, body),
        }
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
