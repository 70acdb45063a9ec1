//! The host's event loop, clock and URL parser. One thread: nothing here is `Send`.

use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

use super::{Duration, HEAD_START, Instant, RpcUrl};

/// A boxed future that stays on its thread.
pub type BoxFuture<'a, T> = futures::future::LocalBoxFuture<'a, T>;

/// `Send` natively; nothing on WASM, which has one thread.
pub trait MaybeSend {}
impl<T: ?Sized> MaybeSend for T {}

/// `Sync` natively; nothing on WASM.
pub trait MaybeSync {}
impl<T: ?Sized> MaybeSync for T {}

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the page or the process began; a host's clock that is set does not move it.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(then: &Function, millis: u32) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
pub(crate) fn now() -> Instant {
    Instant::from_micros((milliseconds() * 1_000.0) as u64).after(HEAD_START)
}

/// Bytes that no other question carries. Told apart, not kept secret: `Math.random` will do.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Math.random is from 0 to below 1")]
pub(crate) fn nonce() -> [u8; 16] {
    std::array::from_fn(|_| (js_sys::Math::random() * 256.0) as u8)
}

pub(crate) async fn sleep(span: Duration) {
    let millis = u32::try_from(span.as_millis()).unwrap_or(u32::MAX);
    let mut timer = None;
    let over = Promise::new(&mut |end, _| timer = Some(Timer { id: set_timeout(&end, millis), end }));
    // Rejected where the host's timer throws: then there is no time to wait for.
    let _ = JsFuture::from(over).await;
}

struct Timer {
    id: JsValue,
    end: Function,
}

impl Drop for Timer {
    /// One that is not over yet keeps no process alive, and who waits for it is let go.
    fn drop(&mut self) {
        clear_timeout(&self.id);
        let _ = self.end.call0(&JsValue::UNDEFINED);
    }
}

pub(crate) fn ready() -> Result<(), &'static str> {
    Ok(())
}

pub(crate) fn spawn(task: BoxFuture<'static, ()>) {
    wasm_bindgen_futures::spawn_local(task);
}

/// By the host's own parser, which its `fetch` uses.
pub(crate) fn parse_url(text: &str) -> Option<RpcUrl> {
    let url = web_sys::Url::new(text).ok()?;
    let mut scheme = url.protocol();
    scheme.pop();
    Some(RpcUrl { scheme, host: url.hostname(), host_and_port: url.host(), href: url.href() })
}

/// The host's `fetch` decides about redirects and connections here.
#[cfg(feature = "reqwest")]
pub(crate) fn http_client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder().build()
}

/// The body, or `None` as soon as it grows past `limit`.
#[cfg(feature = "reqwest")]
pub(crate) async fn read_body(response: reqwest::Response, limit: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    use futures::StreamExt;

    let mut chunks = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}
