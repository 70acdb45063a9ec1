//! Native or WASM: the one folder that knows. Clock, sleep, boxed futures, background tasks, the
//! parser of URLs and the HTTP client's differences.
//!
//! Everything else is written once, against these names.

#[cfg_attr(target_arch = "wasm32", path = "wasm.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "native.rs")]
mod imp;

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
