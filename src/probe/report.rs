//! What attempts report: outcomes to health, events to the observer.

use super::attempt::Unreachable;
use super::{Prober, SelectorEvent, trace};
use crate::health::{AttemptGuard, Outcome, Transition};
use crate::runtime::Instant;
use crate::transport::Endpoint;

impl Prober {
    /// Ends an attempt that was admitted with `guard`.
    pub(super) fn settle(&self, endpoint: &Endpoint, guard: AttemptGuard, outcome: Outcome, at: Instant) {
        self.emit_transition(endpoint, guard.settle(outcome, at));
    }

    /// Ends an attempt without any reply, if that is the endpoint's own fault.
    pub(super) fn settle_unreachable(&self, unreachable: Unreachable) {
        let Unreachable { guard, endpoint, since } = unreachable;
        self.settle(&endpoint, guard, Outcome::Fault, since);
    }

    /// Health from the application's own traffic.
    pub(crate) fn report(&self, endpoint: &Endpoint, outcome: Outcome) {
        let transition = self.health.report(endpoint.key(), outcome, self.clock.now());
        self.emit_transition(endpoint, transition);
    }

    fn emit_transition(&self, endpoint: &Endpoint, transition: Option<Transition>) {
        if let Some(transition) = transition {
            let (network, endpoint) = (endpoint.key().network().clone(), endpoint.shared_host().clone());
            self.emit(&SelectorEvent::from_transition(transition, network, endpoint));
        }
    }

    pub(super) fn emit_failover(&self, from: &Endpoint, to: &Endpoint) {
        let network = from.key().network().clone();
        self.emit(&SelectorEvent::Failover { network, from: from.shared_host().clone(), to: to.shared_host().clone() });
    }

    pub(super) fn emit(&self, event: &SelectorEvent) {
        trace::event(event);
        if let Some(observer) = &self.observer {
            observer.on_event(event);
        }
    }
}
