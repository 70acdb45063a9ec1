//! What is known of each endpoint: averages, circuit, score.
//!
//! Pure bookkeeping. Refuses to know the network, async, clocks and URLs: time comes in as a
//! [`Moment`], an endpoint as an opaque [`EndpointKey`], what happened as an [`Outcome`]. The only
//! place in the crate where circuit state lives.

mod circuit;
mod entry;
mod freshness;
mod index;
mod score;
mod settings;
mod snapshot;
mod view;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::network::ChainId;

pub use entry::EndpointHealth;
pub use index::{HealthIndex, Permit};
pub use score::Score;
pub use settings::HealthSettings;
pub(crate) use settings::{ALPHA, CAPACITY, COUNT, PERCENT, TIME, WINDOW};
pub(crate) use settings::{PLAN_MEMORY, SLOW_FROM};
pub use snapshot::SnapshotError;
pub(crate) use view::millis;
pub use view::{EndpointView, ScoreParts};

/// A point on a monotonic clock, in microseconds since that clock began. Moments of two clocks do
/// not compare; the crate uses one clock for the whole process, which [`Moment::now`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The moment `micros` microseconds after the clock began.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The moment `millis` milliseconds after the clock began.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(times(1_000, millis))
    }

    /// Microseconds since the clock began.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This moment and then `span`; stays at the end of the clock rather than wrap.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// The moment `span` before this one; the clock's beginning where there was none.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// The time since `earlier`; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.micros_since(earlier))
    }

    fn after_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(Self::from_millis(millis).0))
    }

    fn before_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_sub(Self::from_millis(millis).0))
    }

    fn micros_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    fn millis_since(self, earlier: Self) -> u64 {
        self.micros_since(earlier) / 1_000
    }
}

/// Without products of 128 bits, which `saturating_mul` takes where the machine has none of 64.
const fn times(factor: u64, number: u64) -> u64 {
    match u64::MAX.checked_div(factor) {
        Some(most) if number <= most => number.wrapping_mul(factor),
        _ => u64::MAX,
    }
}

fn micros(span: Duration) -> u64 {
    times(1_000_000, span.as_secs()).saturating_add(u64::from(span.subsec_micros()))
}

/// Where an endpoint stands: whether payroute asks it, tries it once, or leaves it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circuit {
    /// In normal use.
    Closed,
    /// The open time has passed; one trial decides.
    HalfOpen,
    /// Not asked, unless every endpoint of its network is open.
    Open,
}

impl Circuit {
    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::HalfOpen => "half-open",
            Self::Open => "open",
        }
    }
}

impl fmt::Display for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of one attempt at an endpoint, as far as health is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A usable answer from the right chain.
    Success {
        /// From the request's first byte to the answer's last.
        latency: Duration,
        /// The chain's own time in the answer, in milliseconds since 1970, if it brought one.
        chain_time_ms: Option<u64>,
    },
    /// The endpoint failed: transport, own deadline, 5xx, malformed answer, refused credentials.
    Fault,
    /// The endpoint probably failed. Weighs half as much.
    SoftFault,
    /// The endpoint asks for fewer requests. A load signal, never a fault.
    Throttled {
        /// How long it asked us to wait, if it said.
        retry_after: Option<Duration>,
    },
    /// The plan that the endpoint is used under has nothing left for now.
    QuotaUsedUp,
    /// The endpoint answered for another chain: a fact, not a reliability sample.
    WrongChain,
    /// The endpoint reported a lower balance than another of its network. Lowers the success average
    /// by half as much as a fault and moves nothing else: nobody knows which of the two is right.
    Contradicted,
    /// Nothing that says anything about the endpoint: cancelled, our own error, a reverted call.
    Neutral,
}

/// Why a circuit opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// Too many failures in a row.
    ConsecutiveFailures,
    /// Too large a share of failures in the window.
    FailureRate,
    /// The half-open trial failed.
    TrialFailed,
    /// The endpoint answered for another chain.
    WrongChain,
}

impl Opening {
    pub(crate) const ALL: [Self; 4] =
        [Self::ConsecutiveFailures, Self::FailureRate, Self::TrialFailed, Self::WrongChain];

    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ConsecutiveFailures => "consecutive-failures",
            Self::FailureRate => "failure-rate",
            Self::TrialFailed => "trial-failed",
            Self::WrongChain => "wrong-chain",
        }
    }
}

/// A circuit that changed state: what it is now, and why where it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transition {
    /// It opened.
    Opened(Opening),
    /// Its trial succeeded and it closed.
    Closed,
}

/// The identity of one endpoint of one network: two URLs on one host are two endpoints.
///
/// Compares by `digest` and network. Shows the network and the host, never a URL.
#[derive(Clone)]
pub struct EndpointKey {
    digest: u128,
    network: ChainId,
    host: Arc<str>,
}

impl EndpointKey {
    /// A key for the endpoint that `digest` identifies within `network`, shown as `host`.
    ///
    /// `digest` must differ for two endpoints of one network; networks are told apart here.
    #[must_use]
    pub fn new(network: ChainId, digest: u128, host: impl Into<Arc<str>>) -> Self {
        Self { digest, network, host: host.into() }
    }

    /// The network that the endpoint serves.
    #[must_use]
    pub fn network(&self) -> &ChainId {
        &self.network
    }

    /// 32 hexadecimal digits that tell endpoints of one host apart: a hash of the whole URL. A key of many random
    /// characters cannot be found from it; a secret that can be guessed, such as a PIN as the password, can be, by
    /// trying.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{:032x}", self.digest)
    }

    pub(crate) fn digest(&self) -> u128 {
        self.digest
    }

    /// What the record of an endpoint begins with.
    #[doc(hidden)] // For the npm package; no part of the API.
    #[must_use]
    pub fn record(&self) -> Record {
        Self::record_of(&self.network, &self.host, &self.id())
    }

    /// The same of a key that is there in its parts alone.
    pub(crate) fn record_of(network: &ChainId, host: &str, id: &str) -> Record {
        let mut record = Record::default();
        record.text("network", network.as_str());
        record.text("endpoint", host);
        record.text("id", id);
        record
    }

    /// Host, and port if it is not the scheme's own; a provider's label.
    #[must_use]
    pub fn host(&self) -> &Arc<str> {
        &self.host
    }
}

impl PartialEq for EndpointKey {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.network == other.network
    }
}

impl Eq for EndpointKey {}

impl Hash for EndpointKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl fmt::Debug for EndpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.network, self.host)
    }
}
