//! The index of all endpoints' health: shared, bounded, locked for nanoseconds at a time.
//!
//! Every attempt is admitted before it starts and settled after; a [`Permit`] that is dropped
//! unsettled settles itself as neutral, so a half-open trial always comes back.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;

use super::circuit::{Breaker, Generation, Ticket};
use super::score::{Averages, Score};
use super::settings::{HealthSettings, PLAN_MEMORY, throttle_wait};
use super::{Circuit, EndpointKey, Moment, Outcome};

/// What every endpoint did lately. Cloning shares: selectors that hold clones learn from each
/// other's traffic.
#[derive(Clone)]
pub struct HealthIndex {
    settings: Arc<HealthSettings>,
    state: Arc<Mutex<State>>,
}

/// What the index says of one endpoint at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointHealth {
    /// The state of its circuit.
    pub circuit: Circuit,
    /// Its score; 0.8 for an endpoint that nothing is known of.
    pub score: Score,
    /// Average latency of its successful answers, in microseconds.
    pub latency_us: Option<u64>,
    /// It asked for fewer requests and the wait is not over.
    pub throttled: bool,
    /// It failed lately and is passed over while another endpoint is usable.
    pub backing_off: bool,
    /// At half-open: no trial is under way.
    pub trial_available: bool,
    /// The read plan that it last refused others for, as the prober numbered it.
    pub(crate) plan: Option<u8>,
}

/// An admitted attempt. Settle it with what happened; dropping it is neutral.
#[must_use = "an attempt that is not settled counts for nothing"]
pub struct Permit {
    index: HealthIndex,
    key: EndpointKey,
    ticket: Ticket,
    circuit: Circuit,
}

struct State {
    entries: LruCache<EndpointKey, Entry>,
    generations: Generation,
}

struct Entry {
    born: Generation,
    last_used: Moment,
    averages: Averages,
    breaker: Breaker,
    backs_off_until: Option<Moment>,
    not_before: Option<Moment>,
    refusals: u32,
    plan: Option<(u8, Moment)>,
}

impl HealthIndex {
    /// An empty index.
    #[must_use]
    pub fn new(settings: HealthSettings) -> Self {
        let capacity = NonZeroUsize::new(settings.capacity).unwrap_or(NonZeroUsize::MIN);
        Self {
            settings: Arc::new(settings),
            state: Arc::new(Mutex::new(State { entries: LruCache::new(capacity), generations: 0 })),
        }
    }

    /// Admits an attempt at `key`. At half-open the permit carries the one trial, if it is free;
    /// `lease` after `now` the trial counts as returned even if the permit lives on.
    pub fn admit(&self, key: &EndpointKey, lease: Duration, now: Moment) -> Permit {
        let mut state = self.lock();
        let entry = state.entry(key, now, &self.settings);
        let (circuit, ticket) = entry.breaker.admit(lease, now, &self.settings);
        Permit { index: self.clone(), key: key.clone(), ticket, circuit }
    }

    /// What is known of `key` at `now`. Reading changes nothing, not even what is forgotten first.
    #[must_use]
    pub fn inspect(&self, key: &EndpointKey, now: Moment) -> EndpointHealth {
        let state = self.lock();
        let entry = state.entries.peek(key).filter(|entry| entry.is_current(now, &self.settings));
        entry.map_or(EndpointHealth::UNKNOWN, |entry| entry.view(now, &self.settings))
    }

    /// Forgets every observation and closes every circuit. Attempts under way keep running; what
    /// they report of the time before is ignored.
    pub fn reset(&self) {
        self.lock().entries.clear();
    }

    /// The number of endpoints that something is known of.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether nothing is known of any endpoint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Remembers for an hour which read plan works at `key`.
    pub(crate) fn remember_plan(&self, key: &EndpointKey, plan: u8, now: Moment) {
        let mut state = self.lock();
        state.entry(key, now, &self.settings).plan = Some((plan, now.after(PLAN_MEMORY)));
    }

    fn settle(&self, key: &EndpointKey, ticket: Ticket, outcome: Outcome, now: Moment) {
        let mut state = self.lock();
        let fresh = state.generations + 1;
        let current = |entry: &&mut Entry| entry.born <= ticket.generation && entry.is_current(now, &self.settings);
        let Some(entry) = state.entries.get_mut(key).filter(current) else {
            return;
        };
        entry.last_used = now;
        entry.observe(ticket, outcome, now, fresh, &self.settings);
        entry.breaker.release(ticket);
        state.generations = fresh;
    }

    fn release(&self, key: &EndpointKey, ticket: Ticket) {
        if ticket.trial.is_none() {
            return;
        }
        if let Some(entry) = self.lock().entries.peek_mut(key) {
            entry.breaker.release(ticket);
        }
    }

    /// A panic elsewhere while the lock was held leaves counters, not broken invariants.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for HealthIndex {
    fn default() -> Self {
        Self::new(HealthSettings::default())
    }
}

impl fmt::Debug for HealthIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthIndex").field("endpoints", &self.len()).finish_non_exhaustive()
    }
}

impl EndpointHealth {
    /// Unknown counts as healthy.
    const UNKNOWN: Self = Self {
        circuit: Circuit::Closed,
        score: Score::NEW,
        latency_us: None,
        throttled: false,
        backing_off: false,
        trial_available: true,
        plan: None,
    };
}

impl Permit {
    /// The circuit as the attempt found it.
    #[must_use]
    pub fn circuit(&self) -> Circuit {
        self.circuit
    }

    /// Whether this attempt is the half-open trial.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.ticket.trial.is_some()
    }

    /// Records what became of the attempt and gives back what it held.
    pub fn settle(mut self, outcome: Outcome, now: Moment) {
        self.index.settle(&self.key, self.ticket, outcome, now);
        self.ticket.trial = None;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.index.release(&self.key, self.ticket);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit for {:?} ({})", self.key, self.circuit)
    }
}

impl State {
    /// The entry of `key`, new if there is none or if it lay idle too long.
    fn entry(&mut self, key: &EndpointKey, now: Moment, settings: &HealthSettings) -> &mut Entry {
        let generations = &mut self.generations;
        let mut fresh = || {
            *generations += 1;
            Entry::new(*generations, now)
        };
        let entry = self.entries.get_or_insert_mut_ref(key, &mut fresh);
        if !entry.is_current(now, settings) {
            *entry = fresh();
        }
        entry.last_used = now;
        entry
    }
}

impl Entry {
    fn new(generation: Generation, now: Moment) -> Self {
        Self {
            born: generation,
            last_used: now,
            averages: Averages::new(),
            breaker: Breaker::new(generation),
            backs_off_until: None,
            not_before: None,
            refusals: 0,
            plan: None,
        }
    }

    fn is_current(&self, now: Moment, settings: &HealthSettings) -> bool {
        now.since(self.last_used) <= settings.idle_retention()
    }

    /// Averages learn from every answer; the circuit and backing off only from answers that are
    /// not older than the circuit.
    fn observe(&mut self, ticket: Ticket, outcome: Outcome, now: Moment, fresh: Generation, settings: &HealthSettings) {
        match outcome {
            Outcome::Success { latency } => {
                self.averages.succeed(latency, settings.ewma_alpha);
                if self.breaker.succeed(ticket, settings) {
                    self.backs_off_until = None;
                    self.refusals = 0;
                }
            }
            Outcome::Fault => {
                self.averages.fail(settings.ewma_alpha);
                if self.breaker.fail(ticket, now, fresh, settings) {
                    self.backs_off_until = Some(now.after(settings.backoff(self.breaker.consecutive())));
                }
            }
            Outcome::WrongChain => {
                self.averages.fail(settings.ewma_alpha);
                self.breaker.trip(now, fresh, settings);
            }
            Outcome::Throttled { retry_after } => {
                self.refusals = self.refusals.saturating_add(1);
                let until = now.after(throttle_wait(retry_after, self.refusals));
                self.not_before = self.not_before.max(Some(until));
            }
            Outcome::Neutral => {}
        }
    }

    fn view(&self, now: Moment, settings: &HealthSettings) -> EndpointHealth {
        let circuit = self.breaker.state(now, settings);
        let throttled = self.not_before.is_some_and(|until| now < until);
        EndpointHealth {
            circuit,
            score: self.averages.score(circuit, throttled, settings),
            latency_us: self.averages.latency_us(),
            throttled,
            backing_off: self.backs_off_until.is_some_and(|until| now < until),
            trial_available: self.breaker.trial_available(now),
            plan: self.plan.filter(|(_, expires)| now < *expires).map(|(plan, _)| plan),
        }
    }
}
