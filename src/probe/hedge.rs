//! Hedging: a second request at another endpoint while the first one takes unusually long.
//!
//! Without it, one slow reply costs a selection the whole timeout of its endpoint. With it, the first endpoint gets
//! a head start, and after that the next one is asked too. The first complete reply wins; the other request is
//! dropped, which is neutral to its endpoint's health. The head start is the 95th percentile of the endpoint's own
//! latencies, at least a quarter of a second, so that a reply in its usual time never causes a hedge. A budget keeps
//! hedges from doubling the load of endpoints that are all slow: each selection saves a tenth of a request per
//! network, and a hedge costs a whole one.
//!
//! An example: endpoint A usually replies in 60 ms, 95 of 100 times within 300 ms, and hangs once. At 0 ms A is
//! asked; at 300 ms B is asked too, if ten selections or more have saved for it; at 360 ms B replies and the
//! selection goes on. Without hedging, B would be asked at 600 ms, when A's timeout is over.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};

use super::Prober;
use super::attempt::Attempt;
use super::plan::NetworkPlan;
use super::reading::NetworkReading;
use crate::config::Strategy;
use crate::health::SLOW_FROM;
use crate::runtime::BoxFuture;
use crate::transport::Endpoint;

/// The least head start, however fast the endpoint used to be.
const SHORTEST_HEAD_START: Duration = SLOW_FROM;

impl Prober {
    /// Awaits `first`, under way at `endpoint`. If it outlasts its head start, starts the next endpoint of the queue
    /// too; the first complete reply wins.
    pub(super) async fn race_or_wait<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        endpoint: &Endpoint,
        first: BoxFuture<'a, Attempt>,
        queue: &mut &'a [Arc<Endpoint>],
        reading: &mut NetworkReading,
    ) {
        let Some(head_start) = queue.first().and_then(|next| self.head_start(plan, endpoint, next)) else {
            return reading.add(first.await);
        };
        let first = match select(first, self.clock.sleep(head_start)).await {
            Either::Left((attempt, _)) => return reading.add(attempt),
            Either::Right(((), first)) => first,
        };
        let Some(second) = self.start_hedge(plan, queue, reading) else {
            return reading.add(first.await);
        };
        let (Either::Left((attempt, other)) | Either::Right((attempt, other))) = select(first, second).await;
        reading.add(attempt);
        if reading.is_open() {
            reading.add(other.await);
        }
    }

    /// How long `first` is awaited before `second` is asked too; `None` for as long as it takes.
    fn head_start(&self, plan: &NetworkPlan, first: &Endpoint, second: &Endpoint) -> Option<Duration> {
        match plan.network.strategy {
            Strategy::Ordered | Strategy::BestScore | Strategy::Weighted => None,
            Strategy::Race => Some(Duration::ZERO),
            Strategy::Hedged if first.host() == second.host() => None,
            Strategy::Hedged => {
                let usual = self.health.p95_us(first.key()).map_or(Duration::ZERO, Duration::from_micros);
                Some(usual.max(SHORTEST_HEAD_START))
            }
        }
    }

    /// An attempt at the next of the queue. If the budget is used up, that endpoint keeps its place there.
    fn start_hedge<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        queue: &mut &'a [Arc<Endpoint>],
        reading: &NetworkReading,
    ) -> Option<BoxFuture<'a, Attempt>> {
        let [next, rest @ ..] = *queue else {
            return None;
        };
        if plan.network.strategy == Strategy::Hedged && !self.traffic.pay_for_hedge(&plan.network.chain) {
            return None;
        }
        *queue = rest;
        self.start_attempt(plan, next, reading.open())
    }
}
