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

use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable, join_all};

use self::attempt::{Attempt, Silence};
use self::finding::{Finding, Unread};
use self::lineup::Lineup;
use self::plan::{NetworkPlan, Plan};
use crate::candidate::{Evidence, Reading};
use crate::config::ProbeSettings;
use crate::endpoint::Endpoint;
use crate::health::{Circuit, HealthIndex, Outcome, Permit};
use crate::platform::{Clock, spawn};
use crate::policy::BalanceRead;
use crate::verdict::{Note, Reason};

#[cfg(feature = "reqwest")]
pub(crate) use self::transport::HttpTransport;
pub use self::transport::{MAX_RESPONSE_BYTES, Reply, Transport, TransportError};

/// How long past its deadline an attempt is still believed to have run: time for its task to be
/// polled. A half-open trial keeps its place so long; more means that the device slept.
const GRACE: Duration = Duration::from_millis(400);

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
        let mut networks = join_all(plan.networks.iter().map(|network| self.read_network(network))).await;
        let offline = settle_silence(&mut networks);
        (networks.into_iter())
            .map(|network| network.progress.into_iter().map(|read| self.evidence(read, offline)).collect())
            .collect()
    }

    /// Asks one endpoint after another until every balance is read or no provider is left. What
    /// one could not tell is asked of the next; what it could tell is not asked again.
    async fn read_network<'a>(&self, plan: &'a NetworkPlan) -> NetworkReading<'a> {
        let lineup = self.lineup(plan);
        let trial = lineup.trial.and_then(|position| self.start_trial(plan, position));
        let mut reading = NetworkReading::new(plan);
        for endpoint in lineup.attempts.into_iter().filter_map(|position| plan.network.endpoints.get(position)) {
            let mut open = reading.open();
            if open.is_empty() {
                break;
            }
            let permit = self.admit(endpoint);
            let asked = Asked { endpoint: endpoint.clone(), circuit: permit.circuit() };
            let reads: Vec<&BalanceRead> = open.iter().map(|progress| progress.read).collect();
            let Attempt { findings, silence } = self.ask(plan, endpoint, &reads, permit).await;
            open.iter_mut().zip(findings).for_each(|(progress, finding)| progress.take(&asked, finding));
            match silence {
                Some(silence) => reading.silences.push(silence),
                None => reading.anyone_spoke = true,
            }
        }
        if let Some(trial) = trial {
            trial.finish(&mut reading).await;
        }
        reading
    }

    fn lineup(&self, plan: &NetworkPlan) -> Lineup {
        let now = self.clock.now();
        let endpoints: Vec<_> = (plan.network.endpoints.iter())
            .map(|endpoint| (endpoint.priority(), self.health.inspect(endpoint.key(), now)))
            .collect();
        lineup::ordered(&endpoints, self.settings.providers)
    }

    fn admit(&self, endpoint: &Endpoint) -> Permit {
        self.health.admit(endpoint.key(), self.settings.timeout + GRACE, self.clock.now())
    }

    /// Tries a recovering endpoint in the background. `None` when another selection already does.
    fn start_trial(&self, plan: &NetworkPlan, position: usize) -> Option<Trial> {
        let endpoint = plan.network.endpoints.get(position)?.clone();
        let permit = self.admit(&endpoint);
        if !permit.is_trial() {
            return None;
        }
        let asked = Asked { endpoint: endpoint.clone(), circuit: permit.circuit() };
        let (prober, plan) = (self.clone(), plan.clone());
        let (tell, findings) = oneshot::channel();
        let (task, handle) = abortable(async move {
            let reads: Vec<&BalanceRead> = plan.reads.iter().collect();
            let Attempt { findings, silence } = prober.ask(&plan, &endpoint, &reads, permit).await;
            if let Some(Silence { permit, since }) = silence {
                permit.settle(Outcome::Fault, since);
            }
            // Nobody may be listening any more; then the trial was for health alone.
            let _ = tell.send(findings);
        });
        spawn(Box::pin(async move {
            // Aborted: the selection was dropped, and the permit went back with the task.
            let _ = task.await;
        }));
        Some(Trial { asked, findings, abort: AbortOnDrop(Some(handle)) })
    }

    fn evidence(&self, progress: Progress<'_>, offline: bool) -> Evidence {
        let reading = progress.reading();
        let Some(Asked { endpoint, circuit }) = progress.asked else {
            return Evidence::unasked(reading);
        };
        let health = self.health.inspect(endpoint.key(), self.clock.now());
        let mut notes = progress.found.map(|finding| finding.notes).unwrap_or_default();
        if offline {
            notes.push(Note::Offline);
        }
        Evidence {
            reading,
            endpoint: Some(endpoint.host().clone()),
            circuit,
            health_score: health.score,
            latency_us: health.latency_us,
            notes,
        }
    }
}

/// What came of one network.
struct NetworkReading<'a> {
    progress: Vec<Progress<'a>>,
    /// Attempts that met no sign of life, not yet reported to health.
    silences: Vec<Silence>,
    anyone_spoke: bool,
}

impl<'a> NetworkReading<'a> {
    fn new(plan: &'a NetworkPlan) -> Self {
        let progress = plan.reads.iter().map(Progress::new).collect();
        Self { progress, silences: Vec::new(), anyone_spoke: false }
    }

    /// What is still to be read.
    fn open(&mut self) -> Vec<&mut Progress<'a>> {
        self.progress.iter_mut().filter(|progress| progress.found.is_none()).collect()
    }
}

/// Reports endpoints that could not be reached, unless none could, on any network: then it is this
/// device that is offline, and nothing is known of any of them. Returns whether that is so.
fn settle_silence(networks: &mut [NetworkReading<'_>]) -> bool {
    let silences: Vec<Silence> = networks.iter_mut().flat_map(|network| network.silences.drain(..)).collect();
    let offline = !silences.is_empty() && !networks.iter().any(|network| network.anyone_spoke);
    if !offline {
        silences.into_iter().for_each(|Silence { permit, since }| permit.settle(Outcome::Fault, since));
    }
    offline
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

/// A trial that runs beside a selection.
struct Trial {
    asked: Asked,
    findings: oneshot::Receiver<Vec<Result<Finding, Unread>>>,
    abort: AbortOnDrop,
}

impl Trial {
    /// Waits for the trial only where the selection has nothing better; otherwise lets it go on for
    /// its own sake, to the end of its own deadline.
    async fn finish(self, reading: &mut NetworkReading<'_>) {
        let Self { asked, findings, abort } = self;
        if !reading.open().is_empty()
            && let Ok(findings) = findings.await
        {
            reading.anyone_spoke |= findings.iter().any(Result::is_ok);
            let untold = reading.progress.iter_mut().zip(findings).filter(|(progress, _)| progress.found.is_none());
            untold.for_each(|(progress, finding)| progress.take(&asked, finding));
        }
        abort.disarm();
    }
}

/// Ends a background task when the selection that started it is dropped.
struct AbortOnDrop(Option<AbortHandle>);

impl AbortOnDrop {
    fn disarm(mut self) {
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
