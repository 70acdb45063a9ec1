//! Asking endpoints: all networks at once, one request each, every balance in the answer that proves the chain.
//! Where an endpoint takes neither a program nor a batch, the proof is another answer of the same endpoint, under
//! the same deadline.
//!
//! Decides whom to ask and in which order. Refuses to know offers and ranking: balances go in as a
//! plan and come out as evidence.

mod attempt;
mod endpoint_order;
mod event;
mod evm;
mod finding;
pub(crate) mod plan;
mod query;
mod reading;
mod rpc;
mod second_opinion;
mod svm;
pub(crate) mod trace;
mod traffic;

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, abortable, join_all, select};

use self::attempt::{Attempt, Unreachable};
use self::endpoint_order::{EndpointOption, EndpointOrder, Order, order_endpoints};
pub use self::event::{Observer, SelectorEvent};
use self::plan::{NetworkPlan, Plan};
pub(crate) use self::reading::Readings;
use self::reading::{AbortOnDrop, BackgroundAttempt, NetworkReading};
pub use self::traffic::EndpointMetrics;
use self::traffic::InFlight;
pub(crate) use self::traffic::Traffic;
use crate::config::{ProbeSettings, Strategy};
use crate::health::{AttemptGuard, HealthIndex, Outcome, SLOW_FROM, Transition};
use crate::ranking::{Note, RejectionReason};
use crate::runtime::{BoxFuture, Clock, Instant, spawn};
use crate::scheme::facts::{ReadOutcome, Reading};
use crate::transport::{Endpoint, Transport};

/// How long past its deadline an attempt is still believed to have run: timers of a tab in the background run once a
/// second, the deadline's and the one that gives time back. A half-open trial keeps its place so long; more means
/// that the device slept.
const GRACE: Duration = Duration::from_millis(2_000);
/// The least time that a first endpoint gets before a hedge, however fast it used to be.
const SHORTEST_HEAD_START: Duration = SLOW_FROM;

/// What every probe needs.
#[derive(Clone)]
pub(crate) struct Prober {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) health: HealthIndex,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) settings: ProbeSettings,
    pub(crate) clock: Clock,
}

impl Prober {
    /// Reads the whole plan, all networks concurrently. Every probe is awaited.
    pub(crate) async fn read(&self, plan: &Plan) -> Readings {
        let started = self.clock.now();
        let most = u32::try_from(self.settings.max_endpoints).unwrap_or(u32::MAX);
        let mut networks: Vec<NetworkReading> = plan.networks.iter().map(NetworkReading::new).collect();
        let reads = plan.networks.iter().zip(&mut networks);
        join_all(reads.map(|(network, reading)| self.read_network(network, reading))).await;
        let offline = self.settle_unreachable(&mut networks, started);
        // The thread's time is no provider's, and not that of a second opinion.
        let late = networks.iter().map(|network| network.late).max().unwrap_or_default();
        let deadline = started.after(self.settings.timeout.saturating_mul(most)).after(late);
        Readings { networks, offline, deadline }
    }

    /// What `readings` come to as things stand: one list a network, in the order of its reads.
    pub(crate) fn evidence<'r>(&self, readings: &'r Readings) -> Vec<Vec<Reading<'r>>> {
        let mut evidence = Vec::new();
        for network in &readings.networks {
            evidence.push(self.evidence_of(network, readings.offline));
        }
        evidence
    }

    /// Asks one endpoint after another, or two side by side, until every balance is read or no
    /// provider is left. What one told is not asked again.
    fn read_network<'a>(&'a self, plan: &'a NetworkPlan, reading: &'a mut NetworkReading) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let EndpointOrder { attempts, trial } = self.order_endpoints(plan);
            let trial = trial.and_then(|position| self.start_trial(plan, position));
            let reference = self.ask_reference(plan);
            self.traffic.save_for_hedging(&plan.network.chain);
            let turns = attempts.len().saturating_add(usize::from(trial.is_some()));
            reading.others_left = turns < plan.network.endpoints.len();
            for position in attempts {
                reading.not_yet_asked.extend(plan.network.endpoints.get(position).cloned());
            }
            let endpoints = reading.not_yet_asked.clone();
            let mut queue = endpoints.as_slice();
            let mut previous: Option<&Endpoint> = None;
            while reading.is_open()
                && let [endpoint, rest @ ..] = queue
            {
                queue = rest;
                let Some(attempt) = self.attempt(plan, endpoint, reading.open()) else {
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
        })
    }

    /// Waits for what `first`, under way at `endpoint`, tells; where it takes longer than its head start, beside
    /// the next of the queue: the first that tells all wins and the other is dropped, which is neutral to its
    /// health.
    async fn race_or_wait<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        endpoint: &Endpoint,
        first: BoxFuture<'a, Box<Attempt>>,
        queue: &mut &'a [Arc<Endpoint>],
        reading: &mut NetworkReading,
    ) {
        let mut last = first;
        if let Some(head_start) = queue.first().and_then(|next| self.head_start(plan, endpoint, next)) {
            last = match select(last, self.clock.sleep(head_start)).await {
                Either::Left((attempt, _)) => return reading.take(*attempt),
                Either::Right(((), first)) => first,
            };
            if let Some(second) = self.start_hedge(plan, queue, reading) {
                let (Either::Left((attempt, other)) | Either::Right((attempt, other))) = select(last, second).await;
                reading.take(*attempt);
                if !reading.is_open() {
                    return;
                }
                last = other;
            }
        }
        reading.take(*last.await);
    }

    /// A second attempt, at the next of the queue. Without the means for it the endpoint keeps its place there.
    fn start_hedge<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        queue: &mut &'a [Arc<Endpoint>],
        reading: &NetworkReading,
    ) -> Option<BoxFuture<'a, Box<Attempt>>> {
        let [next, rest @ ..] = *queue else {
            return None;
        };
        if !self.may_hedge(plan) {
            return None;
        }
        *queue = rest;
        self.attempt(plan, next, reading.open())
    }

    /// How long `first` is left alone before `second` is asked beside it; `None` for as long as it
    /// takes.
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

    fn may_hedge(&self, plan: &NetworkPlan) -> bool {
        plan.network.strategy != Strategy::Hedged || self.traffic.pay_for_hedge(&plan.network.chain)
    }

    fn order_endpoints(&self, plan: &NetworkPlan) -> EndpointOrder {
        let (now, network) = (self.clock.now(), &plan.network);
        let mut options = Vec::new();
        for endpoint in &network.endpoints {
            options.push(EndpointOption {
                health: self.health.inspect(endpoint.key(), now),
                priority: endpoint.priority(),
                weight: endpoint.weight(),
                busy: self.traffic.is_busy(endpoint),
            });
        }
        let order = match network.strategy {
            Strategy::Ordered | Strategy::Race | Strategy::Hedged => Order::Listed,
            Strategy::BestScore => {
                let leader = self.traffic.leader(&network.chain);
                let position = |digest| network.endpoints.iter().position(|e| e.key().digest() == digest);
                Order::BestScore { leader: leader.and_then(position) }
            }
            Strategy::Weighted => Order::Weighted { seed: self.traffic.next_random(&network.chain) },
        };
        let order_endpoints = order_endpoints(&options, order, self.settings.max_endpoints);
        let first = order_endpoints.attempts.first().and_then(|position| network.endpoints.get(*position));
        if let (Strategy::BestScore, Some(first)) = (network.strategy, first) {
            self.traffic.set_leader(&network.chain, first.key().digest());
        }
        order_endpoints
    }

    /// Tries a recovering endpoint in the background. `None` when another selection already does.
    fn start_trial(&self, plan: &NetworkPlan, position: usize) -> Option<BackgroundAttempt> {
        let endpoint = plan.network.endpoints.get(position)?.clone();
        let in_flight = self.traffic.start(&endpoint)?;
        let guard = self.admit(&endpoint);
        if !guard.is_trial() {
            return None;
        }
        Some(self.in_background(plan.clone(), endpoint, Some(guard), in_flight))
    }

    /// Asks the network's reference for the time, now and then and for health alone.
    fn ask_reference(&self, plan: &NetworkPlan) -> Option<AbortOnDrop> {
        let reference = plan.network.reference.clone()?;
        if !self.traffic.reference_due(&plan.network.chain, self.clock.now()) {
            return None;
        }
        let in_flight = self.traffic.start(&reference)?;
        let plan = NetworkPlan { network: plan.network.clone(), reads: Vec::new() };
        Some(self.in_background(plan, reference, None, in_flight).not_yet_asked())
    }

    /// Asks for the whole plan beside the selection, which ends that when it is dropped.
    fn in_background(
        &self,
        plan: NetworkPlan,
        endpoint: Arc<Endpoint>,
        guard: Option<AttemptGuard>,
        in_flight: InFlight,
    ) -> BackgroundAttempt {
        let prober = self.clone();
        let (tell, told) = oneshot::channel();
        let (task, handle) = abortable(async move {
            let guard = guard.unwrap_or_else(|| prober.admit(&endpoint));
            let everything = (0..plan.reads.len()).collect();
            let attempt = prober.ask(&plan, &endpoint, everything, guard, in_flight).await;
            // Nobody may be listening any more; then it was for health alone.
            if let Err(attempt) = tell.send(attempt) {
                prober.settle_alone(*attempt);
            }
        });
        spawn(Box::pin(async move {
            // Aborted: the selection was dropped, and the permit went back with the task.
            let _ = task.await;
        }));
        BackgroundAttempt::new(told, AbortOnDrop::new(handle))
    }

    /// Reports an attempt that no other is compared with: silence is the endpoint's own.
    fn settle_alone(&self, mut attempt: Attempt) {
        if let Some(unreachable) = attempt.unreachable.take() {
            self.settle(unreachable, Outcome::Fault);
        }
    }

    /// An attempt, unless the endpoint has as many under way as it may.
    fn attempt<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        endpoint: &'a Arc<Endpoint>,
        reads: Vec<usize>,
    ) -> Option<BoxFuture<'a, Box<Attempt>>> {
        let in_flight = self.traffic.start(endpoint)?;
        let guard = self.admit(endpoint);
        Some(self.ask(plan, endpoint, reads, guard, in_flight))
    }

    fn admit(&self, endpoint: &Endpoint) -> AttemptGuard {
        let guard = self.health.admit(endpoint.key(), self.settings.timeout.saturating_add(GRACE), self.clock.now());
        if guard.is_trial() {
            let (network, endpoint) = (endpoint.key().network().clone(), endpoint.shared_host().clone());
            self.emit(&SelectorEvent::CircuitHalfOpen { network, endpoint });
        }
        guard
    }

    /// Reports endpoints that could not be reached, unless nothing could, neither by this selection,
    /// which left no endpoint out, nor by any other since it `started`: then it is this device that
    /// is offline, and nothing is known of any of them. Returns whether it is so.
    fn settle_unreachable(&self, networks: &mut [NetworkReading], started: Instant) -> bool {
        let mut unreachable: Vec<Unreachable> = Vec::new();
        networks.iter_mut().for_each(|network| unreachable.append(&mut network.unreachable));
        let all_silent = !networks.iter().any(|network| network.any_reply || network.others_left);
        let offline = !unreachable.is_empty() && all_silent && !self.traffic.heard_since(started);
        if !offline {
            unreachable.into_iter().for_each(|unreachable| self.settle(unreachable, Outcome::Fault));
        } else if self.traffic.go_offline() {
            self.emit(&SelectorEvent::Offline);
        }
        offline
    }

    fn settle(&self, unreachable: Unreachable, outcome: Outcome) {
        let Unreachable { guard, endpoint, since } = unreachable;
        self.emit_transition(&endpoint, guard.settle(outcome, since));
    }

    /// Health from the application's own traffic.
    pub(crate) fn report(&self, endpoint: &Endpoint, outcome: Outcome) {
        let transition = self.health.report(endpoint.key(), outcome, self.clock.now());
        self.emit_transition(endpoint, transition);
    }

    fn emit_transition(&self, endpoint: &Endpoint, transition: Option<Transition>) {
        if let Some(transition) = transition {
            let (network, endpoint) = (endpoint.key().network().clone(), endpoint.shared_host().clone());
            self.emit(&SelectorEvent::of_transition(transition, network, endpoint));
        }
    }

    fn emit_failover(&self, from: &Endpoint, to: &Endpoint) {
        let network = from.key().network().clone();
        self.emit(&SelectorEvent::Failover { network, from: from.shared_host().clone(), to: to.shared_host().clone() });
    }

    fn emit(&self, event: &SelectorEvent) {
        trace::event(event);
        if let Some(observer) = &self.observer {
            observer.on_event(event);
        }
    }

    fn evidence_of<'r>(&self, network: &'r NetworkReading, offline: bool) -> Vec<Reading<'r>> {
        let now = self.clock.now();
        let mut all = Vec::new();
        for progress in &network.progress {
            let mut reading = progress.reading();
            if let ReadOutcome::Unreadable { detail, .. } = &mut reading
                && offline
            {
                detail.insert_str(0, "nothing answers, offline perhaps: ");
            }
            let Some(asked) = &progress.asked else {
                let detail = "no endpoint may be asked now: all are cordoned or busy".to_owned();
                all.push(Reading::unasked(ReadOutcome::Unreadable {
                    reason: RejectionReason::BalanceUnavailable,
                    detail,
                }));
                continue;
            };
            let health = self.health.inspect(asked.endpoint.key(), now);
            all.push(Reading {
                reading,
                endpoint: Some(asked.endpoint.shared_host().clone()),
                circuit: asked.circuit,
                health_score: health.score,
                latency_us: health.latency_us,
                lag_ms: health.lag_ms,
                notes: if offline { vec![Note::Offline] } else { Vec::new() },
            });
        }
        all
    }
}
