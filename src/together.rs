//! Waiting for several futures at once.

use std::future::poll_fn;
use std::task::Poll;

use crate::platform::BoxFuture;

enum Slot<'a, T> {
    Running(BoxFuture<'a, T>),
    Over(T),
}

/// Runs `futures` side by side; their results in their order, once all are over. For the few that a
/// selection has: every wake asks each that still runs, where `join_all` keeps lists for thousands.
pub(crate) async fn all<'a, T>(futures: impl Iterator<Item = BoxFuture<'a, T>>) -> Vec<T> {
    let mut slots: Vec<Slot<'_, T>> = futures.map(Slot::Running).collect();
    poll_fn(|context| {
        let mut outcome = Poll::Ready(());
        for slot in &mut slots {
            if let Slot::Running(future) = slot {
                match future.as_mut().poll(context) {
                    Poll::Ready(result) => *slot = Slot::Over(result),
                    Poll::Pending => outcome = Poll::Pending,
                }
            }
        }
        outcome
    })
    .await;
    let results = slots.into_iter().filter_map(|slot| match slot {
        Slot::Over(result) => Some(result),
        Slot::Running(_) => None,
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::all;
    use crate::platform::BoxFuture;

    #[tokio::test(start_paused = true)]
    async fn results_come_in_the_order_of_the_futures() {
        let after = |ms: u64| -> BoxFuture<'static, u64> {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                ms
            })
        };
        let started = tokio::time::Instant::now();
        assert_eq!(all([30, 10, 0, 20].into_iter().map(after)).await, [30, 10, 0, 20]);
        assert_eq!(started.elapsed(), Duration::from_millis(30), "side by side");
        assert!(all(std::iter::empty::<BoxFuture<'_, ()>>()).await.is_empty());
    }
}
