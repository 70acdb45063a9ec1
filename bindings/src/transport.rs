//! The core's transport: `fetch` for URLs, a JavaScript function for the application's own providers.

use std::rc::Rc;

use payroute::__private::{Exchange, reply_of};
use payroute::{BoxFuture, Endpoint, FetchTransport, HttpReply, Transport, TransportError};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What reaches providers on the JavaScript side, and hears of events. Its methods do not throw and
    /// its promises do not reject.
    pub type Host;

    /// Hands a body to a provider or function of the application, by its name in the configuration.
    #[wasm_bindgen(method)]
    fn ask(this: &Host, provider: &str, body: &str) -> Exchange;

    /// Hears of an event, as JSON.
    #[wasm_bindgen(method)]
    pub fn event(this: &Host, event: &str);
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
}

impl Transport for JsTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        match endpoint.provider() {
            Some(provider) => reply_of(self.host.ask(provider, &body)),
            None => self.fetch.post(endpoint, body),
        }
    }
}
