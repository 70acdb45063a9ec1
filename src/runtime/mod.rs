//! The one folder that knows whether the crate runs natively or as WASM: clock, sleep, boxed futures, background
//! tasks, and the host's parts of URLs and HTTP.
//!
//! Everything else is written once, against these names.

#[cfg_attr(target_arch = "wasm32", path = "wasm.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "native.rs")]
mod imp;
mod instant;
mod url;

use std::sync::OnceLock;
use std::time::Duration;

use futures::future::{Either, select};
use imp::HostInstant;
pub use imp::{BoxFuture, MaybeSend, MaybeSync};
#[cfg(feature = "reqwest")]
pub(crate) use imp::{http_client, read_body};
pub(crate) use imp::{nonce, ready, spawn};
pub use instant::Instant;
pub(crate) use instant::micros;
pub(crate) use url::RpcUrl;

/// A random number that is no secret.
pub(crate) fn random() -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = nonce();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// How far the clock is ahead when the process first reads it. What a snapshot remembers lies before that first
/// look, and so may the clock of a paused runtime.
const CLOCK_START: Duration = Duration::from_secs(3_600);

/// A timer that is less late than this is late for no other reason than its grain.
const LATE: Duration = Duration::from_millis(50);

/// The process's monotonic clock. The selector and the prober hold it; nothing else reads time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn now(self) -> Instant {
        static FIRST_LOOK: OnceLock<HostInstant> = OnceLock::new();
        let now = HostInstant::now();
        let first = *FIRST_LOOK.get_or_init(|| now);
        // Each paused runtime has a clock of its own, which may be behind the first look.
        let ahead = CLOCK_START.saturating_add(now.saturating_duration_since(first));
        Instant::default().after(ahead.saturating_sub(first.saturating_duration_since(now)))
    }

    pub(crate) fn sleep(self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(imp::sleep(span))
    }

    /// Runs `work` for at most `limit`; `None` when the limit came first and `work` was dropped.
    pub(crate) async fn within<T>(self, limit: Duration, work: BoxFuture<'_, T>) -> Option<T> {
        match select(work, self.patience(limit)).await {
            Either::Left((value, _)) => Some(value),
            Either::Right(_) => None,
        }
    }

    /// Ends after `limit`. If the timer is late, the thread was busy with something else and looked at nothing
    /// that arrived meanwhile. So the time lost is added once, but no more than `limit`.
    fn patience(self, limit: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let due = self.now().after(limit);
            imp::sleep(limit).await;
            let late = self.now().since(due);
            if late >= LATE {
                imp::sleep(late.min(limit)).await;
            }
        })
    }
}
