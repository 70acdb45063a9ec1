//! The second opinion: a balance that is too low, read once more at another provider.
//!
//! Refuses to know offers: which readings are in doubt comes in. Nobody can tell which of two
//! endpoints that disagree is right, so the higher balance stands. What the account spends between the
//! two reads cannot turn too little into enough: the first was too little already, and the second is
//! lower still.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::Prober;
use super::attempt::Attempt;
use super::endpoint_order::is_usable;
use super::plan::{NetworkPlan, Plan, Slot};
use super::reading::{NetworkReading, Readings};
use crate::health::Outcome;
use crate::probe::SelectorEvent;
use crate::transport::Endpoint;

impl Prober {
    /// Reads `rereads` once more, all networks at once and one request each, at a provider that the
    /// selection may ask and has not heard yet. Returns whether any reading changed.
    pub(crate) async fn second_opinion(&self, plan: &Plan, readings: &mut Readings, rereads: &[Slot]) -> bool {
        let left = readings.deadline.since(self.clock.now());
        if rereads.is_empty() || left.is_zero() {
            return false;
        }
        let mut opinions = Vec::new();
        for (position, (plan, reading)) in plan.networks.iter().zip(&mut readings.networks).enumerate() {
            let here = rereads.iter().filter(|slot| slot.network == position);
            let reads: Vec<usize> = here.map(|slot| slot.read).collect();
            if !reads.is_empty() {
                opinions.push(self.read_again(plan, reading, reads, left));
            }
        }
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
        let Some(attempt) = endpoint.and_then(|endpoint| self.attempt(plan, endpoint, reads)) else {
            return false;
        };
        // Ended by what is left of the selection's time, it is cancelled: that is nobody's fault.
        match self.clock.within(left, attempt).await {
            Some(attempt) => self.compare(reading, *attempt),
            None => false,
        }
    }

    /// Holds a second answer against the first. Each endpoint that said less is marked once.
    fn compare(&self, reading: &mut NetworkReading, attempt: Attempt) -> bool {
        let Attempt { asked, reads, findings, unreachable, .. } = attempt;
        // Another endpoint of the network spoke a moment ago: silence is this one's own.
        if let Some(unreachable) = unreachable {
            self.settle(unreachable, Outcome::Fault);
        }
        let mut marked: Vec<Arc<Endpoint>> = Vec::new();
        for (position, finding) in reads.into_iter().zip(findings) {
            let (Some(progress), Ok(holding)) = (reading.progress.get_mut(position), finding) else {
                continue;
            };
            let Some((lower, higher)) = progress.weigh(&asked, holding) else {
                continue;
            };
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
