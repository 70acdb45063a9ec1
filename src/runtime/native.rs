//! Tokio, std and the `url` crate.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use tokio::runtime::Handle;
/// Tokio's clock, so that a paused runtime is virtual time.
pub(crate) use tokio::time::Instant as HostInstant;

use super::{Duration, RpcUrl};

/// A boxed future: `Send`, for a multi-threaded runtime may move it.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// `Send` natively; nothing on WASM, which has one thread.
pub trait MaybeSend: Send {}
impl<T: Send + ?Sized> MaybeSend for T {}

/// `Sync` natively; nothing on WASM.
pub trait MaybeSync: Sync {}
impl<T: Sync + ?Sized> MaybeSync for T {}

/// Bytes that tell one request from another. They are no secret, so the random keys of std's hash maps will do.
pub(crate) fn nonce() -> [u8; 16] {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    (half() << 64 | half()).to_be_bytes()
}

pub(crate) async fn sleep(span: Duration) {
    tokio::time::sleep(span).await;
}

/// Checks that timers and sockets will work on this thread.
pub(crate) fn ready() -> Result<(), &'static str> {
    if Handle::try_current().is_err() {
        return Err("there is no Tokio runtime on this thread");
    }
    // Tokio has no way to ask whether a runtime has a timer; it panics where there is none.
    match std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))) {
        Ok(()) => Ok(()),
        Err(_) => Err("the Tokio runtime has no timer"),
    }
}

/// Runs `task` in the background; drops it where nothing could run it.
pub(crate) fn spawn(task: BoxFuture<'static, ()>) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(task);
    }
}

/// Parses as reqwest does, which uses the `url` crate.
pub(crate) fn parse_url(text: &str) -> Option<RpcUrl> {
    let url = url::Url::parse(text).ok()?;
    let host = url.host_str().unwrap_or_default();
    let host_and_port = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    Some(RpcUrl { scheme: url.scheme().to_owned(), host: host.to_owned(), host_and_port, href: url.into() })
}

#[cfg(feature = "reqwest")]
pub(crate) fn http_client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().tcp_nodelay(true).build()
}

/// The body, or `None` as soon as it grows past `limit`.
#[cfg(feature = "reqwest")]
pub(crate) async fn read_body(
    mut response: reqwest::Response,
    limit: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}
