//! Native or WASM: the one file that knows. Clock, sleep, boxed futures, background tasks, the
//! parser of URLs and the HTTP client's differences.
//!
//! Everything else is written once, against these names.

use std::time::Duration;

use futures::future::{Either, select};

use crate::health::Moment;

pub use imp::{BoxFuture, MaybeSend, MaybeSync};
#[cfg(feature = "reqwest")]
pub(crate) use imp::{http_client, read_body};
pub(crate) use imp::{nonce, parse_url, ready, spawn};

/// A number by chance. Nobody's secret.
pub(crate) fn random() -> u64 {
    nonce().first_chunk().map_or(0, |half| u64::from_be_bytes(*half))
}

/// How far a clock is set ahead, so that there is a past to speak of: what a snapshot remembers, and
/// a paused runtime's clock, may lie before the process's first look at one.
const HEAD_START: Duration = Duration::from_secs(3_600);

/// The process's monotonic clock. The selector hands it down; nothing else reads time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn now(self) -> Moment {
        imp::now()
    }

    pub(crate) fn sleep(self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(imp::sleep(span))
    }

    /// Runs `work` for at most `limit`; `None` when the limit came first and `work` was dropped.
    pub(crate) async fn within<T>(self, limit: Duration, work: BoxFuture<'_, T>) -> Option<T> {
        match select(work, self.sleep(limit)).await {
            Either::Left((value, _)) => Some(value),
            Either::Right(_) => None,
        }
    }
}

impl Moment {
    /// Now, on the one clock of the process: what selectors give to the health index.
    #[must_use]
    pub fn now() -> Self {
        Clock.now()
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod imp {
    use std::collections::hash_map::RandomState;
    use std::hash::{BuildHasher, Hasher};
    use std::sync::OnceLock;

    use tokio::runtime::Handle;
    use tokio::time::Instant;

    use super::{Duration, HEAD_START, Moment};
    use crate::rpc_url::RpcUrl;

    /// A boxed future: `Send`, for a multi-threaded runtime may move it.
    pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

    /// `Send` natively; nothing on WASM, which has one thread.
    pub trait MaybeSend: Send {}
    impl<T: Send + ?Sized> MaybeSend for T {}

    /// `Sync` natively; nothing on WASM.
    pub trait MaybeSync: Sync {}
    impl<T: Sync + ?Sized> MaybeSync for T {}

    /// Tokio's clock, so that a paused runtime is virtual time. Each paused runtime has its own.
    pub(crate) fn now() -> Moment {
        static FIRST_LOOK: OnceLock<Instant> = OnceLock::new();
        let now = Instant::now();
        let first = *FIRST_LOOK.get_or_init(|| now);
        let ahead = HEAD_START.saturating_add(now.saturating_duration_since(first));
        Moment::default().after(ahead.saturating_sub(first.saturating_duration_since(now)))
    }

    /// Bytes that no other question carries. Told apart, not kept secret: std's own random keys do.
    pub(crate) fn nonce() -> [u8; 16] {
        let half = || RandomState::new().build_hasher().finish().to_be_bytes();
        let mut nonce = [0; 16];
        let halves = half().into_iter().chain(half());
        nonce.iter_mut().zip(halves).for_each(|(place, byte)| *place = byte);
        nonce
    }

    pub(crate) async fn sleep(span: Duration) {
        tokio::time::sleep(span).await;
    }

    /// Whether timers and sockets will work on this thread.
    pub(crate) fn ready() -> Result<(), &'static str> {
        if Handle::try_current().is_err() {
            return Err("there is no Tokio runtime on this thread");
        }
        // Tokio tells whether a runtime has a timer by panicking when one is wanted.
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

    /// By the parser of the `url` crate, which reqwest uses.
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
}

#[cfg(target_arch = "wasm32")]
mod imp {
    use std::sync::OnceLock;

    use web_time::Instant;

    use super::{Duration, HEAD_START, Moment};
    use crate::rpc_url::RpcUrl;

    /// A boxed future that stays on its thread.
    pub type BoxFuture<'a, T> = futures::future::LocalBoxFuture<'a, T>;

    /// `Send` natively; nothing on WASM, which has one thread.
    pub trait MaybeSend {}
    impl<T: ?Sized> MaybeSend for T {}

    /// `Sync` natively; nothing on WASM.
    pub trait MaybeSync {}
    impl<T: ?Sized> MaybeSync for T {}

    pub(crate) fn now() -> Moment {
        static FIRST_LOOK: OnceLock<Instant> = OnceLock::new();
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(*FIRST_LOOK.get_or_init(|| now));
        Moment::default().after(HEAD_START.saturating_add(elapsed))
    }

    /// Bytes that no other question carries. Told apart, not kept secret: `Math.random` will do.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Math.random is from 0 to below 1")]
    pub(crate) fn nonce() -> [u8; 16] {
        std::array::from_fn(|_| (js_sys::Math::random() * 256.0) as u8)
    }

    pub(crate) async fn sleep(span: Duration) {
        let millis = u32::try_from(span.as_millis()).unwrap_or(u32::MAX);
        gloo_timers::future::TimeoutFuture::new(millis).await;
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
    pub(crate) async fn read_body(
        response: reqwest::Response,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, reqwest::Error> {
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
}
