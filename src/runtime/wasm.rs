//! JavaScript hosts: `web-time`'s clock, `gloo-timers`, the host's own URL parser. One thread: nothing here is `Send`.

use std::sync::atomic::{AtomicBool, Ordering};

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
pub(crate) use web_time::Instant as HostInstant;

use super::{Duration, RpcUrl};

/// A boxed future that stays on its thread.
pub type BoxFuture<'a, T> = futures::future::LocalBoxFuture<'a, T>;

/// `Send` natively; nothing on WASM, which has one thread.
pub trait MaybeSend {}
impl<T: ?Sized> MaybeSend for T {}

/// `Sync` natively; nothing on WASM.
pub trait MaybeSync {}
impl<T: ?Sized> MaybeSync for T {}

/// Bytes that tell one request from another. They are no secret, so `Math.random` will do.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Math.random is from 0 to below 1")]
pub(crate) fn nonce() -> [u8; 16] {
    std::array::from_fn(|_| (js_sys::Math::random() * 256.0) as u8)
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = setTimeout)]
    fn set_timeout(then: &JsValue, millis: u32) -> Result<JsValue, JsValue>;
}

/// Whether the host has timers yet. workerd has none before its first event: its `setTimeout` throws. gloo-timers
/// would let that exception through, and the selection would never end.
fn has_timers() -> bool {
    static SEEN: AtomicBool = AtomicBool::new(false);
    if !SEEN.load(Ordering::Relaxed) {
        SEEN.store(set_timeout(&Closure::once_into_js(|| {}), 0).is_ok(), Ordering::Relaxed);
    }
    SEEN.load(Ordering::Relaxed)
}

/// At most 24 days: hosts keep a timer's milliseconds in 31 bits, and a longer timer would end at once.
/// Dropped before its end, the host's timer is cleared and keeps no process alive. Without timers it ends at once.
pub(crate) async fn sleep(span: Duration) {
    if !has_timers() {
        return;
    }
    const LONGEST_MS: u32 = i32::MAX.unsigned_abs();
    let millis = u32::try_from(span.as_millis()).unwrap_or(LONGEST_MS);
    TimeoutFuture::new(millis.min(LONGEST_MS)).await;
}

pub(crate) fn ready() -> Result<(), &'static str> {
    Ok(())
}

pub(crate) fn spawn(task: BoxFuture<'static, ()>) {
    wasm_bindgen_futures::spawn_local(task);
}

/// Parses as the host's `fetch` does, which uses the host's `URL`.
pub(crate) fn parse_url(text: &str) -> Option<RpcUrl> {
    let url = web_sys::Url::new(text).ok()?;
    let mut scheme = url.protocol();
    scheme.pop();
    Some(RpcUrl { scheme, host: url.hostname(), host_and_port: url.host(), href: url.href() })
}

/// Redirects and connections are up to the host's `fetch`.
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
