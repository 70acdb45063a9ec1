//! The second opinion: a low balance, read once more at another endpoint.
//!
//! Which reads are in doubt comes in; offers are not known here. If two endpoints disagree, it is unknown which
//! one is right, so the higher balance stands. A payment of the account between the two reads does no harm: the
//! second balance is then lower still than the first, which was too low already.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::attempt::Attempt;
use super::endpoint_order::is_usable;
use super::plan::{NetworkPlan, Plan, Slot};
use super::reading::{NetworkReading, Readings};
use super::{Prober, SelectorEvent};
use crate::health::Outcome;
use crate::transport::Endpoint;

impl Prober {
    /// Reads `rereads` once more, all networks at once and one request each, at an endpoint that the selection may
    /// ask and has not asked yet. Returns whether any reading changed.
    pub(crate) async fn second_opinion(&self, plan: &Plan, readings: &mut Readings, rereads: &[Slot]) -> bool {
        let left = readings.deadline.since(self.clock.now());
        if left.is_zero() {
            return false;
        }
        let networks = plan.networks.iter().zip(&mut readings.networks).enumerate();
        let opinions = networks.filter_map(|(position, (plan, reading))| {
            let here = rereads.iter().filter(|slot| slot.network == position);
            let reads: Vec<usize> = here.map(|slot| slot.read).collect();
            (!reads.is_empty()).then(|| self.read_again(plan, reading, reads, left))
        });
        join_all(opinions).await.contains(&true)
    }

    async fn read_again(
        &self,
        plan: &NetworkPlan,
        reading: &mut NetworkReading,
        reads: Vec<usize>,
        left: Duration,
    ) -> bool {
        let now = self.clock.now();
        let usable = |endpoint: &&Arc<Endpoint>| is_usable(&self.health.inspect(endpoint.key(), now));
        let endpoint = reading.not_yet_asked.iter().find(usable);
        let Some(attempt) = endpoint.and_then(|endpoint| self.start_attempt(plan, endpoint, reads)) else {
            return false;
        };
        // At the end of the selection's time the attempt is cancelled, which is neutral to the endpoint's health.
        match self.clock.within(left, attempt).await {
            Some(attempt) => self.compare(reading, attempt),
            None => false,
        }
    }

    /// Compares second results with the first. Each endpoint that reported less is marked once.
    fn compare(&self, reading: &mut NetworkReading, attempt: Attempt) -> bool {
        let Attempt { asked, results, unreachable, .. } = attempt;
        // Another endpoint of the network replied a moment ago, so the device is not offline.
        if let Some(unreachable) = unreachable {
            self.settle_unreachable(unreachable);
        }
        let mut marked: Vec<Arc<Endpoint>> = Vec::new();
        for (position, result) in results {
            let Ok(state) = result else { continue };
            let Some((lower, higher)) = reading.progress_mut(position).keep_higher(&asked, state) else { continue };
            if !marked.iter().any(|endpoint| Arc::ptr_eq(endpoint, &lower)) {
                self.report(&lower, Outcome::Contradicted);
                self.emit(&SelectorEvent::BalancesDisagree {
                    network: lower.key().network().clone(),
                    lower: lower.shared_host().clone(),
                    higher: higher.shared_host().clone(),
                });
                marked.push(lower);
            }
        }
        !marked.is_empty()
    }
}
