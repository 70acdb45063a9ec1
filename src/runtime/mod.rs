//! Native or WASM: the one folder that knows. Clock, sleep, boxed futures, background tasks, and the host's parts
//! of URLs and HTTP.
//!
//! Everything else is written once, against these names.

#[cfg_attr(target_arch = "wasm32", path = "wasm.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "native.rs")]
mod imp;
mod instant;
mod url;

use std::time::Duration;

use futures::future::{Either, select};
pub use imp::{BoxFuture, MaybeSend, MaybeSync};
#[cfg(feature = "reqwest")]
pub(crate) use imp::{http_client, read_body};
pub(crate) use imp::{nonce, ready, spawn};
pub use instant::Instant;
pub(crate) use instant::micros;
pub(crate) use url::RpcUrl;

/// A number by chance. Nobody's secret.
pub(crate) fn random() -> u64 {
    nonce().first_chunk().map_or(0, |half| u64::from_be_bytes(*half))
}

/// How far a clock is set ahead, so that there is a past to speak of: what a snapshot remembers, and
/// a paused runtime's clock, may lie before the process's first look at one.
const HEAD_START: Duration = Duration::from_secs(3_600);

/// How late a timer may be for no other reason than its grain.
const LATE: Duration = Duration::from_millis(50);

/// The process's monotonic clock. The selector and the prober hold it; nothing else reads time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn now(self) -> Instant {
        imp::now()
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

    /// Ends after `limit`. A timer that comes late tells of a thread that was busy with something else:
    /// what arrived meanwhile was not looked at, so that time is given back, once and no more than `limit`.
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
