//! Native or WASM: the one folder that knows. Clock, sleep, boxed futures, background tasks, the
//! parser of URLs and the ready-made transports.
//!
//! Everything else is written once, against these names.

#[cfg(all(feature = "fetch", target_arch = "wasm32"))]
mod fetch;
#[cfg(feature = "reqwest")]
mod http;
#[cfg_attr(target_arch = "wasm32", path = "wasm.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "native.rs")]
mod imp;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};

use crate::health::Moment;
use crate::transport::Transport;

#[cfg(all(feature = "fetch", target_arch = "wasm32"))]
pub use fetch::{Exchange, FetchTransport, settle};
pub use imp::{BoxFuture, MaybeSend, MaybeSync};
pub(crate) use imp::{nonce, parse_url, ready, spawn};

/// The transport that the crate's features bring. Otherwise what is wrong, and what would be right.
pub(crate) fn ready_made_transport() -> Result<Arc<dyn Transport>, (&'static str, &'static str)> {
    #[cfg(feature = "reqwest")]
    return match http::HttpTransport::new() {
        Ok(transport) => Ok(Arc::new(transport)),
        Err(_) => Err(("the HTTP client cannot be made", "a system with trusted root certificates")),
    };
    #[cfg(all(feature = "fetch", target_arch = "wasm32", not(feature = "reqwest")))]
    return Ok(Arc::new(FetchTransport::new()));
    #[cfg(not(any(feature = "reqwest", all(feature = "fetch", target_arch = "wasm32"))))]
    Err(("is missing", "a Transport, or one of the crate's features `reqwest` and `fetch`"))
}

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
    pub(crate) fn now(self) -> Moment {
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

impl Moment {
    /// Now, on the one clock of the process: what selectors give to the health index.
    #[must_use]
    pub fn now() -> Self {
        Clock.now()
    }
}
