//! Requests under way and counts for each endpoint; budgets and state of strategies for each network.
//!
//! Bounded by the configuration: one row an endpoint, one a network. Not health: `reset_health` leaves it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::chain::ChainId;
use crate::health::{EndpointKey, FailureClass};
use crate::runtime::Instant;
use crate::transport::Endpoint;
use crate::util::find_or_push;

/// What every selection saves towards a hedge, in tenths of a request: hedges add at most a tenth.
const SAVED_EACH: u32 = 1;
/// What a hedge costs, in tenths of a request: it is a whole one.
const HEDGE_COST: u32 = 10;
/// The most that a network saves, in tenths of a request: ten hedges, so that a long time without any earns no
/// burst of more.
const MOST_SAVED: u32 = 10 * HEDGE_COST;

/// How often a network's reference is asked at most: lag matters from fifteen seconds on.
const REFERENCE_INTERVAL: Duration = Duration::from_secs(10);

/// Counts of one endpoint since the selector was made, for a metrics system to scrape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EndpointMetrics {
    /// The network as CAIP-2 id.
    pub network: ChainId,
    /// Host, and port if it is not the scheme's own; a provider's label.
    pub endpoint: Arc<str>,
    /// Tells endpoints of one host apart: the id of their key.
    pub id: String,
    /// Attempts that were started; those that were cancelled neither succeed nor fail.
    pub attempts: u64,
    /// Attempts under way.
    pub in_flight: u32,
    /// Attempts that returned a balance.
    pub successes: u64,
    /// Failed attempts by class, in the classes' order; an attempt may fail in several ways.
    #[serde(serialize_with = "by_class")]
    pub failures: Vec<(FailureClass, u64)>,
}

impl EndpointMetrics {
    fn new(key: &EndpointKey) -> Self {
        Self {
            network: key.network().clone(),
            endpoint: key.shared_host().clone(),
            id: key.id(),
            attempts: 0,
            in_flight: 0,
            successes: 0,
            failures: Vec::new(),
        }
    }
}

/// An object with a count for each class.
fn by_class<S: Serializer>(failures: &[(FailureClass, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(failures.iter().map(|(class, count)| (class, count)))
}

#[derive(Debug)]
pub(crate) struct Traffic {
    /// Of every network's random numbers.
    seed: u64,
    state: Mutex<TrafficState>,
}

#[derive(Debug, Default)]
struct TrafficState {
    endpoints: Vec<(EndpointKey, EndpointMetrics)>,
    networks: Vec<(ChainId, NetworkTraffic)>,
    last_reply: Option<Instant>,
    offline: bool,
}

#[derive(Clone, Debug, Default)]
struct NetworkTraffic {
    saved_tenths: u32,
    random: Option<fastrand::Rng>,
    leader: Option<u128>,
    referenced: Option<Instant>,
}

/// An attempt under way; dropping it ends the attempt.
pub(super) struct InFlight {
    traffic: Arc<Traffic>,
    endpoint: EndpointKey,
}

impl Traffic {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, state: Mutex::default() }
    }

    /// Starts an attempt, unless the endpoint already has as many under way as it may.
    pub(super) fn start(self: &Arc<Self>, endpoint: &Endpoint) -> Option<InFlight> {
        let key = endpoint.key();
        let mut state = self.lock();
        let new = || (key.clone(), EndpointMetrics::new(key));
        let (_, (_, row)) = find_or_push(&mut state.endpoints, |(other, _)| other == key, new);
        if endpoint.max_in_flight().is_some_and(|most| row.in_flight >= most) {
            return None;
        }
        row.attempts = row.attempts.saturating_add(1);
        row.in_flight = row.in_flight.saturating_add(1);
        Some(InFlight { traffic: self.clone(), endpoint: key.clone() })
    }

    /// Whether the endpoint already has as many requests under way as it may.
    pub(super) fn is_busy(&self, endpoint: &Endpoint) -> bool {
        let Some(most) = endpoint.max_in_flight() else {
            return false;
        };
        self.lock().endpoint(endpoint.key()).is_some_and(|row| row.in_flight >= most)
    }

    /// The next number of a network's own sequence.
    pub(super) fn next_random(&self, network: &ChainId) -> u64 {
        let mut state = self.lock();
        let row = state.network(network);
        let mix = |mix: u64, byte| mix.rotate_left(8) ^ u64::from(byte);
        let first = || fastrand::Rng::with_seed(network.as_str().bytes().fold(self.seed, mix));
        row.random.get_or_insert_with(first).u64(..)
    }

    /// Notes that an endpoint replied.
    pub(super) fn note_reply(&self, now: Instant) {
        let mut state = self.lock();
        state.last_reply = state.last_reply.max(Some(now));
        state.offline = false;
    }

    /// Whether any endpoint replied after `since`, to any selection.
    pub(super) fn any_reply_since(&self, since: Instant) -> bool {
        self.lock().last_reply.is_some_and(|last| last > since)
    }

    /// Notes that the device is offline. Returns whether that is news.
    pub(super) fn go_offline(&self) -> bool {
        !std::mem::replace(&mut self.lock().offline, true)
    }

    pub(super) fn leader(&self, network: &ChainId) -> Option<u128> {
        self.lock().network(network).leader
    }

    pub(super) fn set_leader(&self, network: &ChainId, endpoint: u128) {
        self.lock().network(network).leader = Some(endpoint);
    }

    /// Whether a network's reference is to be asked again, and if so, that it is.
    pub(super) fn reference_due(&self, network: &ChainId, now: Instant) -> bool {
        let mut state = self.lock();
        let row = state.network(network);
        let due = row.referenced.is_none_or(|last| now.since(last) >= REFERENCE_INTERVAL);
        if due {
            row.referenced = Some(now);
        }
        due
    }

    pub(super) fn save_for_hedging(&self, network: &ChainId) {
        let mut state = self.lock();
        let row = state.network(network);
        row.saved_tenths = row.saved_tenths.saturating_add(SAVED_EACH).min(MOST_SAVED);
    }

    /// Pays for a hedge, if enough is saved.
    pub(super) fn pay_for_hedge(&self, network: &ChainId) -> bool {
        let mut state = self.lock();
        let row = state.network(network);
        let rest = row.saved_tenths.checked_sub(HEDGE_COST);
        row.saved_tenths = rest.unwrap_or(row.saved_tenths);
        rest.is_some()
    }

    pub(crate) fn metrics(&self) -> Vec<EndpointMetrics> {
        let state = self.lock();
        let mut by_network: Vec<_> = state.endpoints.iter().collect();
        by_network.sort_by_key(|(key, _)| (key.network(), key.digest()));
        by_network.into_iter().map(|(_, row)| row.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, TrafficState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrafficState {
    fn endpoint(&mut self, key: &EndpointKey) -> Option<&mut EndpointMetrics> {
        self.endpoints.iter_mut().find(|(other, _)| other == key).map(|(_, row)| row)
    }

    fn network(&mut self, network: &ChainId) -> &mut NetworkTraffic {
        let new = || (network.clone(), NetworkTraffic::default());
        let (_, (_, row)) = find_or_push(&mut self.networks, |(other, _)| other == network, new);
        row
    }
}

impl InFlight {
    /// Counts how the attempt ended.
    pub(super) fn count(&self, has_balance: bool, failures: &[FailureClass]) {
        if let Some(row) = self.traffic.lock().endpoint(&self.endpoint) {
            row.successes = row.successes.saturating_add(u64::from(has_balance));
            for class in failures {
                let place = row.failures.partition_point(|(other, _)| other < class);
                match row.failures.get_mut(place).filter(|(other, _)| other == class) {
                    Some((_, count)) => *count = count.saturating_add(1),
                    None => row.failures.insert(place, (*class, 1)),
                }
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(row) = self.traffic.lock().endpoint(&self.endpoint) {
            row.in_flight = row.in_flight.saturating_sub(1);
        }
    }
}
