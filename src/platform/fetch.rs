//! The host's `fetch` as a transport, without an HTTP library between: a tenth of what reqwest brings to
//! a module.
//!
//! Refuses to know JSON-RPC, deadlines and retries, like every transport.

use js_sys::{Array, ArrayBuffer, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, RequestInit, Url};

use super::{BoxFuture, spawn};
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
        const ANYWHERE: &str = "https://localhost";
        let with_rules =
            |options: Object| Request::new_with_str_and_init(ANYWHERE, options.unchecked_ref::<RequestInit>()).is_ok();
        let refused = Request::new_with_str(ANYWHERE).is_ok() && !options(RULES.len()).is_ok_and(with_rules);
        Self { rules: if refused { SERVER_RULES } else { RULES.len() } }
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
        Ok(Promise::resolve(&global("fetch")?.call2(&JsValue::UNDEFINED, &url.into(), &options)?))
    }
}

impl Transport for FetchTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<Reply, TransportError>> {
        Box::pin(async move {
            let mut exchange = Exchange::new().map_err(unreachable)?;
            let url = endpoint.url().ok_or(TransportError::Unreachable)?;
            let promise = self.start(url, &body, &exchange.controller.signal()).map_err(unreachable)?;
            let response = JsFuture::from(promise).await.map_err(unreachable)?;
            let status = status_of(&response).ok_or(TransportError::Unreachable)?;
            // Where the browser keeps a redirect to itself, there is no status.
            if status == 0 || (300..400).contains(&status) {
                cancel(Reflect::get(&response, &"body".into()));
                return Err(TransportError::Redirected);
            }
            let (retry_after, date) = (header(&response, "retry-after"), header(&response, "date"));
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
async fn read_body(response: &JsValue, exchange: &mut Exchange) -> Result<Option<Vec<u8>>, JsValue> {
    let mut body = Vec::new();
    let stream = Reflect::get(response, &"body".into())?;
    if stream.is_null() || stream.is_undefined() {
        // No body, or a host without streams, such as React Native.
        let buffer = JsFuture::from(promised(response, "arrayBuffer")?).await?;
        let bytes = Reflect::construct(&global("Uint8Array")?, &Array::of1(&buffer))?;
        if !append(&mut body, &bytes)? {
            return Ok(None);
        }
    } else {
        let reader = call(&stream, "getReader", &Array::new())?;
        loop {
            let step = JsFuture::from(promised(&reader, "read")?).await?;
            if Reflect::get(&step, &"done".into())?.is_truthy() {
                break;
            }
            if !append(&mut body, &Reflect::get(&step, &"value".into())?)? {
                cancel(Ok(reader));
                return Ok(None);
            }
        }
    }
    exchange.ended = true;
    Ok(Some(body))
}

/// Whether there was room for `chunk`.
fn append(body: &mut Vec<u8>, chunk: &JsValue) -> Result<bool, JsValue> {
    if !ArrayBuffer::is_view(chunk) {
        return Err(JsValue::UNDEFINED);
    }
    let chunk: &Uint8Array = chunk.unchecked_ref();
    let room = MAX_RESPONSE_BYTES.saturating_sub(body.len());
    let fits = usize::try_from(chunk.length()).is_ok_and(|length| length <= room);
    if fits {
        body.extend_from_slice(&chunk.to_vec());
    }
    Ok(fits)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "looked at before")]
fn status_of(response: &JsValue) -> Option<u16> {
    let status = Reflect::get(response, &"status".into()).ok()?.as_f64()?;
    (0.0..1_000.0).contains(&status).then_some(status as u16)
}

fn header(response: &JsValue, name: &str) -> Option<String> {
    let headers = Reflect::get(response, &"headers".into()).ok()?;
    call(&headers, "get", &Array::of1(&name.into())).ok()?.as_string()
}

/// Ends what would go on where nobody reads: an abort reaches only a host that heard of the signal.
fn cancel(stream: Result<JsValue, JsValue>) {
    if let Ok(promise) = stream.and_then(|stream| promised(&stream, "cancel")) {
        spawn(Box::pin(async {
            // That it had ended already is no news.
            let _ = JsFuture::from(promise).await;
        }));
    }
}

fn promised(object: &JsValue, method: &str) -> Result<Promise, JsValue> {
    call(object, method, &Array::new()).map(|value| Promise::resolve(&value))
}

/// A method by its name. What the host or an application gives for a response may be anything, and what
/// it throws is caught here alone.
fn call(object: &JsValue, method: &str, arguments: &Array) -> Result<JsValue, JsValue> {
    Reflect::get(object, &method.into())?.dyn_into::<Function>()?.apply(object, arguments)
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
