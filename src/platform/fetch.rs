//! The host's `fetch` as a transport, without an HTTP library between: a tenth of what reqwest brings to
//! a module.
//!
//! Refuses to know JSON-RPC, deadlines and retries, like every transport.

use js_sys::{Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, Request, RequestInit, Response, Url};

use super::BoxFuture;
use crate::endpoint::Endpoint;
use crate::probe::{MAX_RESPONSE_BYTES, Reply, Transport, TransportError};

/// Redirects are not followed. `manual` rather than `error`, which workers do not have.
const RULES: [(&str, &str); 4] =
    [("method", "POST"), ("redirect", "manual"), ("credentials", "omit"), ("referrerPolicy", "no-referrer")];
/// Hosts without cookies and referrer refuse to be told to omit them.
const SERVER_RULES: usize = 2;

/// The ready-made transport on WASM with the feature `fetch`: the host's `fetch`, with one
/// `AbortController` a request.
///
/// Follows no redirect, sends neither cookies nor referrer, and sends a user and a password in a URL
/// as the header that they stand for.
#[derive(Clone, Debug)]
pub struct FetchTransport {
    rules: usize,
}

impl Default for FetchTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl FetchTransport {
    /// A transport over the `fetch` that the global object has when it is used.
    #[must_use]
    pub fn new() -> Self {
        let options = options(RULES.len());
        let accepted = options.is_ok_and(|options| {
            Request::new_with_str_and_init("https://localhost", options.unchecked_ref::<RequestInit>()).is_ok()
        });
        Self { rules: if accepted { RULES.len() } else { SERVER_RULES } }
    }

    fn start(&self, url: &str, body: &str, signal: &JsValue) -> Result<Promise, JsValue> {
        let options = options(self.rules)?;
        let headers = Object::new();
        set(&headers, "content-type", &"application/json".into())?;
        let url = match url.contains('@') {
            true => without_credentials(url, &headers)?,
            false => url.to_owned(),
        };
        set(&options, "headers", &headers)?;
        set(&options, "body", &body.into())?;
        set(&options, "signal", signal)?;
        global("fetch")?.call2(&JsValue::UNDEFINED, &url.into(), &options)?.dyn_into()
    }
}

impl Transport for FetchTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<Reply, TransportError>> {
        Box::pin(async move {
            let mut exchange = Exchange::new().map_err(unreachable)?;
            let url = endpoint.url().ok_or(TransportError::Unreachable)?;
            let promise = self.start(url, &body, &exchange.controller.signal()).map_err(unreachable)?;
            let response: Response = JsFuture::from(promise).await.map_err(unreachable)?.unchecked_into();
            let status = response.status();
            // Where the browser keeps a redirect to itself, there is no status.
            if status == 0 || (300..400).contains(&status) {
                return Err(TransportError::Redirected);
            }
            let header = |name| response.headers().get(name).ok().flatten();
            let (retry_after, date) = (header("retry-after"), header("date"));
            let reply = |body| Ok(Reply { status, retry_after, date, body });
            match read_body(&response, &mut exchange).await {
                Ok(Some(body)) => reply(body),
                // A refusal is a refusal however long it goes on about it, and if it breaks off.
                Ok(None) | Err(_) if !(200..300).contains(&status) => reply(Vec::new()),
                Ok(None) => Err(TransportError::TooLarge),
                Err(_) => Err(TransportError::Unreachable),
            }
        })
    }
}

/// The body, or `None` as soon as it grows past what is read.
async fn read_body(response: &Response, exchange: &mut Exchange) -> Result<Option<Vec<u8>>, JsValue> {
    let mut body = Vec::new();
    match response.body() {
        Some(stream) => {
            let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
            loop {
                let step = JsFuture::from(reader.read()).await?;
                if Reflect::get(&step, &"done".into())?.is_truthy() {
                    break;
                }
                let chunk: Uint8Array = Reflect::get(&step, &"value".into())?.unchecked_into();
                if !append(&mut body, &chunk) {
                    return Ok(None);
                }
            }
        }
        // No body, or a host without streams, such as React Native.
        None => {
            let buffer = JsFuture::from(response.array_buffer()?).await?;
            if !append(&mut body, &Uint8Array::new(&buffer)) {
                return Ok(None);
            }
        }
    }
    exchange.ended = true;
    Ok(Some(body))
}

fn append(body: &mut Vec<u8>, chunk: &Uint8Array) -> bool {
    let room = MAX_RESPONSE_BYTES.saturating_sub(body.len());
    let fits = usize::try_from(chunk.length()).is_ok_and(|length| length <= room);
    if fits {
        body.extend_from_slice(&chunk.to_vec());
    }
    fits
}

/// A request and its answer: dropped before their end, they are aborted.
struct Exchange {
    controller: AbortController,
    ended: bool,
}

impl Exchange {
    fn new() -> Result<Self, JsValue> {
        Ok(Self { controller: AbortController::new()?, ended: false })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.ended {
            self.controller.abort();
        }
    }
}

fn options(rules: usize) -> Result<Object, JsValue> {
    let options = Object::new();
    for (name, value) in RULES.iter().take(rules) {
        set(&options, name, &(*value).into())?;
    }
    Ok(options)
}

/// `fetch` refuses URLs with a user and a password in them; a header says the same.
fn without_credentials(url: &str, headers: &Object) -> Result<String, JsValue> {
    let url = Url::new(url)?;
    let (user, password) = (decoded(url.username()), decoded(url.password()));
    if !(user.is_empty() && password.is_empty()) {
        // `btoa` takes bytes as the characters of their numbers.
        let bytes: String = format!("{user}:{password}").bytes().map(char::from).collect();
        let encoded = global("btoa")?.call1(&JsValue::UNDEFINED, &bytes.into())?.as_string().unwrap_or_default();
        set(headers, "authorization", &format!("Basic {encoded}").into())?;
        url.set_username("");
        url.set_password("");
    }
    Ok(url.href())
}

/// A percent sign that stands for itself stays one.
fn decoded(part: String) -> String {
    js_sys::decode_uri_component(&part).map_or(part, String::from)
}

/// A function of the host. Called as anyone calls it, on nothing.
fn global(name: &str) -> Result<Function, JsValue> {
    Reflect::get(&js_sys::global(), &name.into())?.dyn_into()
}

fn set(object: &Object, name: &str, value: &JsValue) -> Result<(), JsValue> {
    Reflect::set(object, &name.into(), value).map(|_| ())
}

/// What a host says of a failed request may hold the URL.
fn unreachable(_: JsValue) -> TransportError {
    TransportError::Unreachable
}
