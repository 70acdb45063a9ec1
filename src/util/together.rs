//! Waiting for several futures at once.

use std::future::poll_fn;
use std::task::Poll;

use crate::runtime::BoxFuture;

/// Runs `futures` side by side until all are over. For the few that a selection has: every wake asks each
/// that still runs, where `join_all` keeps lists for thousands.
pub(crate) async fn all(mut futures: Vec<BoxFuture<'_, ()>>) {
    poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::all;
    use crate::runtime::BoxFuture;

    #[tokio::test(start_paused = true)]
    async fn futures_run_side_by_side() {
        let mut spans = [30, 10, 0, 20].map(|ms| (ms, Duration::ZERO));
        let started = tokio::time::Instant::now();
        let mut futures: Vec<BoxFuture<'_, ()>> = Vec::new();
        for (ms, took) in &mut spans {
            futures.push(Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(*ms)).await;
                *took = started.elapsed();
            }));
        }
        all(futures).await;
        assert_eq!(started.elapsed(), Duration::from_millis(30));
        assert!(spans.iter().all(|(ms, took)| *took == Duration::from_millis(*ms)));
        all(Vec::new()).await;
    }
}
