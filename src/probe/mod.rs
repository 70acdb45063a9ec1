//! Asking endpoints: all networks at once, one request each, every answer with its identity proof.
//!
//! Decides whom to ask and in which order. Refuses to know offers and ranking: balances go in as a
//! plan and come out as evidence.

mod attempt;
mod classify;
mod evm;
mod finding;
mod lineup;
pub(crate) mod plan;
mod rpc;
mod svm;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{AbortHandle, abortable, join_all};

use self::finding::{Finding, Unread};
use self::lineup::Lineup;
use self::plan::{NetworkPlan, Plan};
use crate::candidate::{Evidence, Reading};
use crate::config::ProbeSettings;
use crate::endpoint::Endpoint;
use crate::health::{Circuit, HealthIndex, Permit};
use crate::platform::{Clock, spawn};
use crate::policy::BalanceRead;
use crate::verdict::Reason;

#[cfg(feature = "reqwest")]
pub(crate) use self::transport::HttpTransport;
pub use self::transport::{MAX_RESPONSE_BYTES, Reply, Transport, TransportError};

/// How long past its deadline a half-open trial may keep its place: time for its task to be polled.
const TRIAL_GRACE: Duration = Duration::from_millis(400);

/// What every probe needs.
#[derive(Clone)]
pub(crate) struct Prober {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) health: HealthIndex,
    pub(crate) settings: ProbeSettings,
    pub(crate) clock: Clock,
}

impl Prober {
    /// Reads the whole plan, all networks concurrently; one list of evidence a network, in the
    /// order of its reads. Every probe is awaited.
    pub(crate) async fn read(&self, plan: &Plan) -> Vec<Vec<Evidence>> {
        join_all(plan.networks.iter().map(|network| self.read_network(network))).await
    }

    /// Asks one endpoint after another until every balance is read or no provider is left. What
    /// one could not tell is asked of the next; what it could tell is not asked again.
    async fn read_network(&self, plan: &NetworkPlan) -> Vec<Evidence> {
        let lineup = self.lineup(plan);
        let beside = lineup.trial.and_then(|position| self.start_trial(plan, position));
        let mut progress: Vec<Progress> = plan.reads.iter().map(Progress::new).collect();
        for position in lineup.attempts {
            let mut open: Vec<&mut Progress> = progress.iter_mut().filter(|read| read.is_open()).collect();
            let Some(endpoint) = plan.network.endpoints.get(position).filter(|_| !open.is_empty()) else {
                break;
            };
            let permit = self.admit(endpoint);
            let asked = Asked { endpoint: endpoint.clone(), circuit: permit.circuit() };
            let reads: Vec<&BalanceRead> = open.iter().map(|progress| progress.read).collect();
            let findings = self.ask(plan, endpoint, &reads, permit).await;
            open.iter_mut().zip(findings).for_each(|(progress, finding)| progress.take(&asked, finding));
        }
        if let Some(beside) = beside {
            beside.let_go();
        }
        progress.into_iter().map(|progress| self.evidence(progress)).collect()
    }

    fn lineup(&self, plan: &NetworkPlan) -> Lineup {
        let now = self.clock.now();
        let endpoints: Vec<_> = (plan.network.endpoints.iter())
            .map(|endpoint| (endpoint.priority(), self.health.inspect(endpoint.key(), now)))
            .collect();
        lineup::ordered(&endpoints, self.settings.providers)
    }

    fn admit(&self, endpoint: &Endpoint) -> Permit {
        self.health.admit(endpoint.key(), self.settings.timeout + TRIAL_GRACE, self.clock.now())
    }

    /// Tries a recovering endpoint in the background. `None` when another selection already does.
    fn start_trial(&self, plan: &NetworkPlan, position: usize) -> Option<Beside> {
        let endpoint = plan.network.endpoints.get(position)?.clone();
        let permit = self.admit(&endpoint);
        if !permit.is_trial() {
            return None;
        }
        let (prober, plan) = (self.clone(), plan.clone());
        let (task, handle) = abortable(async move {
            let reads: Vec<&BalanceRead> = plan.reads.iter().collect();
            prober.ask(&plan, &endpoint, &reads, permit).await;
        });
        spawn(Box::pin(async move {
            // Aborted: the selection was dropped, and the permit went back with the task.
            let _ = task.await;
        }));
        Some(Beside(Some(handle)))
    }

    fn evidence(&self, progress: Progress<'_>) -> Evidence {
        let reading = progress.reading();
        let Some(Asked { endpoint, circuit }) = progress.asked else {
            return Evidence::unasked(reading);
        };
        let health = self.health.inspect(endpoint.key(), self.clock.now());
        Evidence {
            reading,
            endpoint: Some(endpoint.host().clone()),
            circuit,
            health_score: health.score,
            latency_us: health.latency_us,
            notes: progress.found.map(|finding| finding.notes).unwrap_or_default(),
        }
    }
}

/// An endpoint and its circuit when it was asked.
#[derive(Clone)]
struct Asked {
    endpoint: Arc<Endpoint>,
    circuit: Circuit,
}

/// One balance on its way to being read.
struct Progress<'a> {
    read: &'a BalanceRead,
    asked: Option<Asked>,
    found: Option<Finding>,
    /// Why each endpoint so far could not tell, by host.
    unread: Vec<(Arc<str>, Unread)>,
}

impl<'a> Progress<'a> {
    fn new(read: &'a BalanceRead) -> Self {
        Self { read, asked: None, found: None, unread: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.found.is_none()
    }

    fn take(&mut self, asked: &Asked, finding: Result<Finding, Unread>) {
        self.asked = Some(asked.clone());
        match finding {
            Ok(finding) => self.found = Some(finding),
            Err(unread) => self.unread.push((asked.endpoint.host().clone(), unread)),
        }
    }

    /// An endpoint that proved its chain and could not tell outweighs one of another chain.
    fn reading(&self) -> Reading {
        if let Some(Finding { balance, frozen, .. }) = self.found {
            return Reading::Holding { balance, frozen };
        }
        let proven = self.unread.iter().any(|(_, unread)| matches!(unread, Unread::Untold(_)));
        let foreign = self.unread.iter().any(|(_, unread)| matches!(unread, Unread::WrongChain(_)));
        let causes: Vec<String> =
            self.unread.iter().map(|(host, unread)| format!("{host}: {}", unread.detail())).collect();
        Reading::Unreadable {
            reason: if foreign && !proven { Reason::ChainIdentityMismatch } else { Reason::BalanceUnavailable },
            detail: causes.join("; "),
        }
    }
}

/// A trial that runs beside a selection. Cancelled with the selection; let go with its answer, it
/// lives on to the end of its own deadline.
struct Beside(Option<AbortHandle>);

impl Beside {
    fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.abort();
        }
    }
}
