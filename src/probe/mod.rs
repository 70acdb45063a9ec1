//! Reading balances: all networks at once, one request each, every balance in a reply that proves its chain.
//!
//! Decides which endpoints are asked, and in which order. Refuses to know offers and ranking: a plan comes in, and
//! readings come out.

mod attempt;
mod background;
mod endpoint_order;
mod event;
mod evm;
mod hedge;
pub(crate) mod plan;
mod query;
mod read_error;
mod reading;
mod report;
mod rpc;
mod second_opinion;
mod svm;
pub(crate) mod trace;
mod traffic;

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use self::attempt::{Attempt, Unreachable};
use self::endpoint_order::{EndpointOption, EndpointOrder, OrderBy, order_endpoints};
pub use self::event::{Observer, SelectorEvent};
use self::plan::{NetworkPlan, Plan, Slot};
use self::reading::NetworkReading;
pub(crate) use self::reading::Readings;
pub use self::traffic::EndpointMetrics;
use self::traffic::Traffic;
use crate::config::{ProbeSettings, Strategy};
use crate::health::{AttemptGuard, HealthIndex};
use crate::ranking::Note;
use crate::runtime::{self, BoxFuture, Clock, Instant};
use crate::scheme::facts::{ReadOutcome, Reading};
use crate::transport::{Endpoint, Transport};

/// How long past its deadline an attempt may still run: timers of a tab in the background fire once a second, the
/// deadline's and the one that gives time back. A half-open trial keeps its place so long; more means that the
/// device slept.
const GRACE: Duration = Duration::from_millis(2_000);

/// Reads balances from the endpoints of the configuration.
#[derive(Clone)]
pub(crate) struct Prober {
    transport: Arc<dyn Transport>,
    health: HealthIndex,
    traffic: Arc<Traffic>,
    observer: Option<Arc<dyn Observer>>,
    settings: ProbeSettings,
    clock: Clock,
}

impl Prober {
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        health: HealthIndex,
        observer: Option<Arc<dyn Observer>>,
        settings: ProbeSettings,
    ) -> Self {
        let traffic = Arc::new(Traffic::new(settings.seed.unwrap_or_else(runtime::random)));
        Self { transport, health, traffic, observer, settings, clock: Clock }
    }

    pub(crate) fn health(&self) -> &HealthIndex {
        &self.health
    }

    pub(crate) fn metrics(&self) -> Vec<EndpointMetrics> {
        self.traffic.metrics()
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Reads the whole plan, all networks concurrently.
    pub(crate) async fn read(&self, plan: &Plan) -> Readings {
        let started = self.clock.now();
        let mut networks: Vec<NetworkReading> = plan.networks.iter().map(NetworkReading::new).collect();
        let reads = plan.networks.iter().zip(&mut networks);
        join_all(reads.map(|(network, reading)| self.read_network(network, reading))).await;
        let offline = self.settle_all_unreachable(&mut networks, started);
        let turns = u32::try_from(self.settings.max_endpoints).unwrap_or(u32::MAX);
        // Adds the time that a blocked thread cost, so that the second opinion does not pay for it.
        let late = networks.iter().map(|network| network.late).max().unwrap_or_default();
        let deadline = started.after(self.settings.timeout.saturating_mul(turns)).after(late);
        Readings { networks, offline, deadline }
    }

    /// Asks one endpoint after another, or two at once, until every balance is read or no endpoint is left. A balance
    /// that was read is not asked for again.
    async fn read_network(&self, plan: &NetworkPlan, reading: &mut NetworkReading) {
        let EndpointOrder { attempts, trial } = self.order_endpoints(plan);
        let trial = trial.and_then(|position| self.start_trial(plan, position));
        let reference = self.ask_reference(plan);
        self.traffic.save_for_hedging(&plan.network.chain);
        let turns = attempts.len().saturating_add(usize::from(trial.is_some()));
        reading.others_left = turns < plan.network.endpoints.len();
        let endpoints: Vec<Arc<Endpoint>> =
            attempts.into_iter().map(|position| plan.endpoint(position).clone()).collect();
        reading.not_yet_asked.clone_from(&endpoints);
        let mut queue = endpoints.as_slice();
        let mut previous: Option<&Endpoint> = None;
        while reading.is_open()
            && let [endpoint, rest @ ..] = queue
        {
            queue = rest;
            let Some(attempt) = self.start_attempt(plan, endpoint, reading.open()) else {
                continue;
            };
            if let Some(previous) = previous.replace(endpoint) {
                self.emit_failover(previous, endpoint);
            }
            self.race_or_wait(plan, endpoint, attempt, &mut queue, reading).await;
        }
        if let Some(trial) = trial {
            trial.finish(reading).await;
        }
        if let Some(reference) = reference {
            reference.disarm();
        }
    }

    /// An attempt, unless the endpoint has as many under way as it may.
    fn start_attempt<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        endpoint: &'a Arc<Endpoint>,
        reads: Vec<usize>,
    ) -> Option<BoxFuture<'a, Attempt>> {
        let in_flight = self.traffic.start(endpoint)?;
        let guard = self.admit(endpoint);
        Some(Box::pin(self.run_attempt(plan, endpoint, reads, guard, in_flight)))
    }

    fn admit(&self, endpoint: &Endpoint) -> AttemptGuard {
        let guard = self.health.admit(endpoint.key(), self.settings.timeout.saturating_add(GRACE), self.clock.now());
        if guard.is_trial() {
            let (network, endpoint) = (endpoint.key().network().clone(), endpoint.shared_host().clone());
            self.emit(&SelectorEvent::CircuitHalfOpen { network, endpoint });
        }
        guard
    }

    fn order_endpoints(&self, plan: &NetworkPlan) -> EndpointOrder {
        let (now, network) = (self.clock.now(), &plan.network);
        let option = |endpoint: &Arc<Endpoint>| EndpointOption {
            health: self.health.inspect(endpoint.key(), now),
            priority: endpoint.priority(),
            weight: endpoint.weight(),
            busy: self.traffic.is_busy(endpoint),
        };
        let options: Vec<EndpointOption> = network.endpoints.iter().map(option).collect();
        let order_by = match network.strategy {
            Strategy::Ordered | Strategy::Race | Strategy::Hedged => OrderBy::List,
            Strategy::BestScore => {
                let leader = self.traffic.leader(&network.chain);
                let position = |digest| network.endpoints.iter().position(|e| e.key().digest() == digest);
                OrderBy::Score { leader: leader.and_then(position) }
            }
            Strategy::Weighted => OrderBy::Weight { seed: self.traffic.next_random(&network.chain) },
        };
        let order = order_endpoints(&options, order_by, self.settings.max_endpoints);
        if let (Strategy::BestScore, Some(first)) = (network.strategy, order.attempts.first()) {
            self.traffic.set_leader(&network.chain, plan.endpoint(*first).key().digest());
        }
        order
    }

    /// Reports endpoints that could not be reached. The exception: no endpoint could be, neither by this selection,
    /// which tried them all, nor by any other since it `started`. Then this device is offline and nothing is known of
    /// the endpoints. Returns whether that is so.
    fn settle_all_unreachable(&self, networks: &mut [NetworkReading], started: Instant) -> bool {
        let no_reply = !networks.iter().any(|network| network.any_reply || network.others_left);
        let unreachable: Vec<Unreachable> =
            networks.iter_mut().flat_map(|network| std::mem::take(&mut network.unreachable)).collect();
        let offline = !unreachable.is_empty() && no_reply && !self.traffic.any_reply_since(started);
        if !offline {
            unreachable.into_iter().for_each(|unreachable| self.settle_unreachable(unreachable));
        } else if self.traffic.go_offline() {
            self.emit(&SelectorEvent::Offline);
        }
        offline
    }

    /// The reading of one slot of the plan, as things stand.
    pub(crate) fn reading<'r>(&self, readings: &'r Readings, slot: Slot) -> Reading<'r> {
        let progress = readings.networks.get(slot.network).and_then(|network| network.progress.get(slot.read));
        let Some((progress, asked)) = progress.and_then(|progress| Some((progress, progress.asked.as_ref()?))) else {
            return Reading::not_asked("no endpoint may be asked now: all are cordoned or busy");
        };
        let mut outcome = progress.outcome();
        if let ReadOutcome::Unreadable { detail, .. } = &mut outcome
            && readings.offline
        {
            detail.insert_str(0, "nothing answers, offline perhaps: ");
        }
        let health = self.health.inspect(asked.endpoint.key(), self.clock.now());
        Reading {
            outcome,
            endpoint: Some(asked.endpoint.shared_host().clone()),
            circuit: asked.circuit,
            health_score: health.score,
            latency_us: health.latency_us,
            lag_ms: health.lag_ms,
            notes: if readings.offline { vec![Note::Offline] } else { Vec::new() },
        }
    }
}
