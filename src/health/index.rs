//! The index of all endpoints' health: shared, bounded, locked for nanoseconds at a time.
//!
//! Every attempt is admitted before it starts and settled after; an [`AttemptGuard`] that is dropped
//! unsettled settles itself as neutral, so a half-open trial always comes back.

use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;

use super::circuit::{Generation, Ticket};
use super::entry::{EndpointRecord, EndpointState};
use super::freshness::Tips;
use super::settings::HealthSettings;
use super::snapshot::{self, SnapshotError};
use super::view::EndpointHealth;
use super::{Circuit, EndpointKey, Outcome, ReadPlan, Transition};
use crate::config_error::ConfigurationError;
use crate::runtime::Instant;

/// What every endpoint did lately. Cloning shares: selectors that hold clones learn from each
/// other's traffic.
///
/// ```
/// # use payroute::{BoxFuture, Endpoint, HttpReply, Transport, TransportError};
/// # #[derive(Clone)]
/// # struct MyTransport;
/// # impl Transport for MyTransport {
/// #     fn post<'a>(&'a self, _: &'a Endpoint, _: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
/// #         Box::pin(async { Err(TransportError::Unreachable) })
/// #     }
/// # }
/// use payroute::{Config, HealthIndex, RouteSelector};
///
/// let health = HealthIndex::default();
/// let selector_for = |buyer: &str| -> Result<RouteSelector, payroute::SelectError> {
///     let config = Config::from_json(&format!(r#"{{"owners": {{"eip155": "{buyer}"}}}}"#))?;
///     Ok(RouteSelector::builder(config).transport(MyTransport).health(health.clone()).build()?)
/// };
/// let alice = selector_for("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")?;
/// let bob = selector_for("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")?;
/// // An endpoint that fails Alice is passed over for Bob too.
/// # let _ = (alice, bob);
/// # Ok::<(), payroute::SelectError>(())
/// ```
#[derive(Clone)]
pub struct HealthIndex {
    settings: Arc<HealthSettings>,
    state: Arc<Mutex<IndexState>>,
}

/// An admitted attempt. Settle it with what happened; dropping it is neutral.
#[must_use = "an attempt that is not settled counts for nothing"]
pub struct AttemptGuard {
    index: HealthIndex,
    key: EndpointKey,
    ticket: Ticket,
    circuit: Circuit,
}

struct IndexState {
    entries: LruCache<EndpointKey, EndpointRecord, BuildHasherDefault<OfDigest>>,
    tips: Tips,
    /// By hand; neither a reset nor forgetting lifts a cordon.
    cordoned: Vec<EndpointKey>,
    generations: Generation,
}

/// The hash of a key is its digest, which is a hash already.
#[derive(Default)]
struct OfDigest(u64);

impl Hasher for OfDigest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}

impl HealthIndex {
    /// An empty index.
    ///
    /// # Errors
    /// A setting is not within its range, or contradicts another; the path is its name as in the configuration.
    pub fn new(settings: HealthSettings) -> Result<Self, ConfigurationError> {
        settings.check().map(|()| Self::with_settings(settings))
    }

    /// An index with settings that are known to fit.
    pub(crate) fn with_settings(settings: HealthSettings) -> Self {
        let state = IndexState::new(&settings);
        Self { settings: Arc::new(settings), state: Arc::new(Mutex::new(state)) }
    }

    /// Admits an attempt at `key`. At half-open the guard carries the one trial, if it is free;
    /// `lease` after `now` the trial counts as returned even if the guard lives on.
    #[doc(hidden)] // Time is an argument here; for an application it is the selector that has the clock.
    pub fn admit(&self, key: &EndpointKey, lease: Duration, now: Instant) -> AttemptGuard {
        let mut state = self.lock();
        let entry = state.entry(key, now, &self.settings);
        let (circuit, ticket) = entry.breaker.admit(lease, now, &self.settings);
        AttemptGuard { index: self.clone(), key: key.clone(), ticket, circuit }
    }

    /// What is known of `key` at `now`. Reading changes nothing, not even what is forgotten first.
    #[doc(hidden)]
    #[must_use]
    pub fn inspect(&self, key: &EndpointKey, now: Instant) -> EndpointState {
        let state = self.lock();
        let entry = state.entries.peek(key).filter(|entry| entry.is_current(now, &self.settings));
        let health = entry.map_or(EndpointState::UNKNOWN, |entry| {
            let lag_ms = entry.clock.and_then(|clock| state.tips.lag_ms(key.network(), clock, now));
            entry.health(lag_ms, now, &self.settings)
        });
        let cordoned = state.cordoned.contains(key);
        EndpointState { cordoned, ..health }
    }

    /// Feeds the outcome of traffic that the application sent by itself. It counts like one of the
    /// selector's own, but is no half-open trial.
    #[doc(hidden)]
    pub fn report(&self, key: &EndpointKey, outcome: Outcome, now: Instant) -> Option<Transition> {
        let generation = self.lock().entry(key, now, &self.settings).breaker.generation();
        self.settle(key, Ticket { generation, trial: None }, outcome, now)
    }

    /// Takes an endpoint out of use until [`uncordon`](Self::uncordon). Nothing else lifts a
    /// cordon: no recovery, no reset, no restored snapshot.
    pub fn cordon(&self, key: &EndpointKey) {
        let mut state = self.lock();
        state.tips.remove(key.network(), key.digest());
        if !state.cordoned.contains(key) {
            state.cordoned.push(key.clone());
        }
    }

    /// Puts an endpoint back into use. Its circuit and score are what they were.
    pub fn uncordon(&self, key: &EndpointKey) {
        self.lock().cordoned.retain(|other| other != key);
    }

    /// Forgets every observation and closes every circuit. Attempts under way keep running; what
    /// they report of the time before is ignored.
    pub fn reset(&self) {
        let mut state = self.lock();
        state.entries.clear();
        state.tips.clear();
    }

    /// Every endpoint that something is known of, most recently used first, then cordoned ones of which
    /// nothing else is known.
    #[doc(hidden)]
    #[must_use]
    pub fn view(&self, now: Instant) -> Vec<EndpointHealth> {
        let state = self.lock();
        let current = state.entries.iter().filter(|(_, entry)| entry.is_current(now, &self.settings));
        let view = |key, entry: &EndpointRecord| {
            EndpointHealth::new(key, entry, &state.tips, state.cordoned.contains(key), now, &self.settings)
        };
        let mut views: Vec<EndpointHealth> = current.map(|(key, entry)| view(key, entry)).collect();
        let unused =
            |key: &&EndpointKey| !state.entries.peek(key).is_some_and(|entry| entry.is_current(now, &self.settings));
        views.extend(state.cordoned.iter().filter(unused).map(|key| view(key, &EndpointRecord::new(0, now))));
        views
    }

    /// Everything that [`restore`](Self::restore) needs, as versioned JSON without secrets: an
    /// endpoint is named by its host and a hash. Cordons are not part of it.
    #[doc(hidden)]
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> String {
        let state = self.lock();
        let current = state.entries.iter().filter(|(_, entry)| entry.is_current(now, &self.settings));
        snapshot::write(current, now)
    }

    /// Replaces what is known by a snapshot, as if no time had passed since it was taken. Trials
    /// of that time are over.
    ///
    /// # Errors
    /// The text is not a snapshot, or of a version that is not read. Nothing is changed then.
    #[doc(hidden)]
    pub fn restore(&self, snapshot: &str, now: Instant) -> Result<(), SnapshotError> {
        let generation = {
            let mut state = self.lock();
            state.generations = state.generations.saturating_add(1);
            state.generations
        };
        // Read without the lock: a large snapshot must not hold up selections.
        let mut restored = IndexState::new(&self.settings);
        snapshot::read(snapshot, generation, now, &self.settings, |key, entry| {
            let is_first = !restored.entries.contains(&key);
            *restored.entry(&key, now, &self.settings) = entry;
            // Each was used before the last, and is to be forgotten before it.
            restored.entries.demote(&key);
            is_first
        })?;
        let mut state = self.lock();
        std::mem::swap(&mut state.entries, &mut restored.entries);
        state.tips.clear();
        Ok(())
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

    /// 95 of 100 late answers of `key` came within this, in microseconds.
    pub(crate) fn p95_us(&self, key: &EndpointKey) -> Option<u64> {
        self.lock().entries.peek(key).and_then(EndpointRecord::p95_us)
    }

    /// Remembers for `memory` which read plan works at `key`.
    pub(crate) fn remember_plan(&self, key: &EndpointKey, plan: ReadPlan, memory: Duration, now: Instant) {
        let mut state = self.lock();
        state.entry(key, now, &self.settings).plan = Some((plan, now.after(memory)));
    }

    fn settle(&self, key: &EndpointKey, ticket: Ticket, outcome: Outcome, now: Instant) -> Option<Transition> {
        let mut state = self.lock();
        let fresh = state.generations.saturating_add(1);
        let current =
            |entry: &&mut EndpointRecord| entry.born <= ticket.generation && entry.is_current(now, &self.settings);
        let entry = state.entries.get_mut(key).filter(current)?;
        entry.last_used = entry.last_used.max(now);
        let transition = entry.observe(ticket, outcome, now, fresh, &self.settings);
        entry.breaker.release(ticket);
        let has_time = matches!(outcome, Outcome::Success { chain_time_ms: Some(_), .. });
        let clock = entry.clock.filter(|_| has_time);
        state.generations = fresh;
        match clock {
            _ if outcome == Outcome::WrongChain => state.tips.remove(key.network(), key.digest()),
            Some(clock) => state.tips.set(key.network(), key.digest(), clock),
            None => {}
        }
        transition
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
    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for HealthIndex {
    fn default() -> Self {
        Self::with_settings(HealthSettings::default())
    }
}

impl fmt::Debug for HealthIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthIndex").field("endpoints", &self.len()).finish_non_exhaustive()
    }
}

impl AttemptGuard {
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

    /// Records what became of the attempt and gives back what it held. Tells whether that moved
    /// the circuit.
    pub fn settle(mut self, outcome: Outcome, now: Instant) -> Option<Transition> {
        let transition = self.index.settle(&self.key, self.ticket, outcome, now);
        self.ticket.trial = None;
        transition
    }
}

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        self.index.release(&self.key, self.ticket);
    }
}

impl fmt::Debug for AttemptGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attempt at {:?} ({})", self.key, self.circuit)
    }
}

impl IndexState {
    fn new(settings: &HealthSettings) -> Self {
        let capacity = NonZeroUsize::new(settings.capacity).unwrap_or(NonZeroUsize::MIN);
        Self {
            entries: LruCache::with_hasher(capacity, BuildHasherDefault::default()),
            tips: Tips::default(),
            cordoned: Vec::new(),
            generations: 0,
        }
    }

    /// The entry of `key`, new if there is none or if it lay idle too long.
    fn entry(&mut self, key: &EndpointKey, now: Instant, settings: &HealthSettings) -> &mut EndpointRecord {
        let generations = &mut self.generations;
        let mut fresh = || {
            *generations = generations.saturating_add(1);
            EndpointRecord::new(*generations, now)
        };
        let entry = self.entries.get_or_insert_mut_ref(key, &mut fresh);
        if !entry.is_current(now, settings) {
            *entry = fresh();
        }
        entry.last_used = now;
        entry
    }
}
