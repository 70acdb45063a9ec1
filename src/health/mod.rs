//! What is known of each endpoint: averages, circuit, score.
//!
//! Pure bookkeeping. Refuses to know the network, async, clocks and URLs: time comes in as an
//! [`Instant`](crate::runtime::Instant), an endpoint as an opaque [`EndpointKey`], what happened as an [`Outcome`].
//! The only place in the crate where circuit state lives.

mod circuit;
mod entry;
mod failure_class;
mod freshness;
mod index;
mod key;
mod read_plan;
mod score;
mod settings;
mod snapshot;
mod view;

use std::fmt;
use std::time::Duration;

pub use entry::EndpointState;
pub use failure_class::FailureClass;
pub(crate) use failure_class::{Effect, Next, PlanEffect};
pub use index::{AttemptGuard, HealthIndex};
pub use key::EndpointKey;
pub use read_plan::ReadPlan;
pub use score::Score;
use serde::{Deserialize, Serialize};
pub use settings::HealthSettings;
pub(crate) use settings::{ALPHA, CAPACITY, COUNT, PERCENT, PLAN_MEMORY, SLOW_FROM, TIME, WINDOW};
pub use snapshot::SnapshotError;
pub(crate) use view::millis;
pub use view::{EndpointHealth, ScoreParts};

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
    /// by half as much as a fault and moves nothing else: it is unknown which of the two is right.
    Contradicted,
    /// Nothing that says anything about the endpoint: cancelled, our own error, a reverted call.
    Neutral,
}

/// Why a circuit opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenReason {
    /// Too many failures in a row.
    ConsecutiveFailures,
    /// Too large a share of failures in the window.
    FailureRate,
    /// The half-open trial failed.
    TrialFailed,
    /// The endpoint answered for another chain.
    WrongChain,
}

impl OpenReason {
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
    Opened(OpenReason),
    /// Its trial succeeded and it closed.
    Closed,
}
