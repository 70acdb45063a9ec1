//! What the checks share: virtual time to run selections in, and endpoints that tell nothing.

use std::cell::OnceCell;

use payroute::{BoxFuture, Endpoint, HttpReply, Transport, TransportError};
use tokio::runtime::{Builder, Runtime};

/// Runs `work` to its end on a clock that waits for nobody.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    thread_local! {
        // Making one costs more than most selections.
        static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    }
    RUNTIME.with(|runtime| {
        let runtime =
            runtime.get_or_init(|| Builder::new_current_thread().enable_time().start_paused(true).build().unwrap());
        runtime.block_on(work)
    })
}

/// Reaches nobody.
pub struct Silent;

impl Transport for Silent {
    fn post<'a>(&'a self, _: &'a Endpoint, _: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        Box::pin(async { Err(TransportError::Unreachable) })
    }
}
