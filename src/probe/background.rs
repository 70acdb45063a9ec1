//! Attempts in the background, which only health needs: the trial of a recovering endpoint, and the time of a
//! network's reference. A selection does not wait for them unless it has nothing better.

use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable};

use super::Prober;
use super::attempt::Attempt;
use super::plan::NetworkPlan;
use super::reading::NetworkReading;
use super::traffic::InFlight;
use crate::health::AttemptGuard;
use crate::runtime::spawn;
use crate::transport::Endpoint;

impl Prober {
    /// Tries the recovering endpoint at `position`. `None` if another selection already does.
    pub(super) fn start_trial(&self, plan: &NetworkPlan, position: usize) -> Option<BackgroundAttempt> {
        let endpoint = plan.endpoint(position).clone();
        let in_flight = self.traffic.start(&endpoint)?;
        let guard = self.admit(&endpoint);
        guard.is_trial().then(|| self.start_in_background(plan.clone(), endpoint, Some(guard), in_flight))
    }

    /// Asks the network's reference for the chain's time, if that is due.
    pub(super) fn ask_reference(&self, plan: &NetworkPlan) -> Option<AbortOnDrop> {
        let reference = plan.network.reference.clone()?;
        if !self.traffic.reference_due(&plan.network.chain, self.clock.now()) {
            return None;
        }
        let in_flight = self.traffic.start(&reference)?;
        let plan = NetworkPlan { network: plan.network.clone(), reads: Vec::new() };
        Some(self.start_in_background(plan, reference, None, in_flight).abort)
    }

    /// Reads the whole plan on a task of its own, which ends when the selection is dropped. Without a guard the
    /// endpoint is admitted when the task starts.
    fn start_in_background(
        &self,
        plan: NetworkPlan,
        endpoint: Arc<Endpoint>,
        guard: Option<AttemptGuard>,
        in_flight: InFlight,
    ) -> BackgroundAttempt {
        let prober = self.clone();
        let (sender, attempt) = oneshot::channel();
        let (task, handle) = abortable(async move {
            let guard = guard.unwrap_or_else(|| prober.admit(&endpoint));
            let reads = (0..plan.reads.len()).collect();
            let attempt = prober.run_attempt(&plan, &endpoint, reads, guard, in_flight).await;
            // The selection may be over. Then there is no other endpoint to compare with: an endpoint that could not
            // be reached is at fault.
            if let Err(Attempt { unreachable: Some(unreachable), .. }) = sender.send(attempt) {
                prober.settle_unreachable(unreachable);
            }
        });
        spawn(Box::pin(async move {
            // An error means that the selection was dropped; the guard went back with the task.
            let _ = task.await;
        }));
        BackgroundAttempt { attempt, abort: AbortOnDrop(Some(handle)) }
    }
}

/// An attempt that runs in the background of a selection.
pub(super) struct BackgroundAttempt {
    attempt: oneshot::Receiver<Attempt>,
    abort: AbortOnDrop,
}

impl BackgroundAttempt {
    /// Waits for the attempt only if the selection has nothing better; otherwise lets it run to the end of its own
    /// deadline.
    pub(super) async fn finish(self, reading: &mut NetworkReading) {
        let Self { mut attempt, abort } = self;
        if reading.is_open() {
            if let Ok(attempt) = attempt.await {
                reading.add(attempt);
            }
        } else if let Ok(Some(attempt)) = attempt.try_recv() {
            // Over already: whether the endpoint is at fault is decided with the others.
            reading.unreachable.extend(attempt.unreachable);
        }
        abort.disarm();
    }
}

/// Aborts a background task when the selection that started it is dropped.
pub(super) struct AbortOnDrop(Option<AbortHandle>);

impl AbortOnDrop {
    /// Lets the task run to its own end.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.abort();
        }
    }
}
