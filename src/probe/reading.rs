//! One network on its way to being read: what is told, by whom, and what is still open.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::AbortHandle;

use super::attempt::{Asked, Attempt, Unreachable};
use super::finding::{Unread, Why};
use super::plan::NetworkPlan;
use crate::ranking::{Note, RejectionReason};
use crate::runtime::Instant;
use crate::scheme::facts::{AccountState, ReadOutcome};
use crate::transport::Endpoint;

/// What came of a whole plan.
pub(crate) struct Readings {
    /// One a network, in the order of the plan.
    pub(super) networks: Vec<NetworkReading>,
    /// No endpoint of any network could be reached.
    pub(super) offline: bool,
    /// When the selection's time is over.
    pub(super) deadline: Instant,
}

/// What came of one network so far.
pub(super) struct NetworkReading {
    pub(super) progress: Vec<Progress>,
    /// Attempts that met no sign of life, not yet reported to health.
    pub(super) unreachable: Vec<Unreachable>,
    pub(super) any_reply: bool,
    /// There are endpoints that this selection had no turn for.
    pub(super) others_left: bool,
    /// How long past their deadlines the attempts went on, on a thread that was busy.
    pub(super) late: Duration,
    /// Endpoints that this selection may ask and that told nothing yet, in order.
    pub(super) not_yet_asked: Vec<Arc<Endpoint>>,
}

/// One balance on its way to being read.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) asked: Option<Asked>,
    pub(super) found: Option<Box<AccountState>>,
    /// The chain itself said that there is nothing to tell.
    final_answer: bool,
    /// Why each endpoint so far could not tell, by host.
    unread: Vec<(Arc<str>, Unread)>,
}

impl NetworkReading {
    pub(super) fn new(plan: &NetworkPlan) -> Self {
        let mut progress = Vec::new();
        progress.resize_with(plan.reads.len(), Progress::default);
        Self {
            progress,
            unreachable: Vec::new(),
            any_reply: false,
            others_left: false,
            late: Duration::ZERO,
            not_yet_asked: Vec::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.progress.iter().any(Progress::is_open)
    }

    /// The positions of what is still to be read.
    pub(super) fn open(&self) -> Vec<usize> {
        let mut open = Vec::new();
        for (position, progress) in self.progress.iter().enumerate() {
            if progress.is_open() {
                open.push(position);
            }
        }
        open
    }

    /// Adds what an attempt came to. What is already told stays.
    pub(super) fn take(&mut self, attempt: Attempt) {
        let Attempt { asked, reads, findings, unreachable, late } = attempt;
        self.late = self.late.saturating_add(late);
        self.not_yet_asked.retain(|endpoint| !Arc::ptr_eq(endpoint, &asked.endpoint));
        match unreachable {
            Some(unreachable) => self.unreachable.push(unreachable),
            None => self.any_reply = true,
        }
        for (position, finding) in reads.into_iter().zip(findings) {
            if let Some(progress) = self.progress.get_mut(position).filter(|progress| progress.is_open()) {
                progress.take(&asked, finding);
            }
        }
    }
}

impl Progress {
    fn is_open(&self) -> bool {
        self.found.is_none() && !self.final_answer
    }

    fn take(&mut self, asked: &Asked, finding: Result<Box<AccountState>, Unread>) {
        self.asked = Some(asked.clone());
        match finding {
            Ok(finding) => self.found = Some(finding),
            Err(unread) => {
                self.final_answer = unread.why == Why::Refused;
                self.unread.push((asked.endpoint.shared_host().clone(), unread));
            }
        }
    }

    /// Weighs a second answer against the first: of two that disagree the higher one stands. Returns
    /// who said less and who more.
    pub(super) fn weigh(&mut self, asked: &Asked, second: Box<AccountState>) -> Option<(Arc<Endpoint>, Arc<Endpoint>)> {
        let (first, found) = (self.asked.as_mut()?, self.found.as_mut()?);
        let disagreement = match second.balance.cmp(&found.balance) {
            Ordering::Equal => return None,
            Ordering::Less => (asked.endpoint.clone(), first.endpoint.clone()),
            Ordering::Greater => {
                *found = second;
                let lower = std::mem::replace(first, asked.clone());
                (lower.endpoint, asked.endpoint.clone())
            }
        };
        found.notes.push(Note::BalancesDisagree);
        Some(disagreement)
    }

    /// An endpoint that proved its chain and could not tell outweighs one of another chain.
    pub(super) fn reading(&self) -> ReadOutcome<'_> {
        if let Some(holding) = &self.found {
            return ReadOutcome::AccountState(holding);
        }
        let met = |why| self.unread.iter().any(|(_, unread)| unread.why == why);
        let reason = if met(Why::NoContract) {
            RejectionReason::AssetNotContract
        } else if met(Why::WrongChain) && !met(Why::Untold) && !met(Why::Refused) {
            RejectionReason::ChainIdentityMismatch
        } else {
            RejectionReason::BalanceUnavailable
        };
        let mut causes = Vec::new();
        for (host, unread) in &self.unread {
            causes.push(format!("{host}: {}", unread.detail));
        }
        ReadOutcome::Unreadable { reason, detail: causes.join("; ") }
    }
}

/// A trial that runs beside a selection.
pub(super) struct BackgroundAttempt {
    told: oneshot::Receiver<Box<Attempt>>,
    abort: AbortOnDrop,
}

impl BackgroundAttempt {
    pub(super) fn new(told: oneshot::Receiver<Box<Attempt>>, abort: AbortOnDrop) -> Self {
        Self { told, abort }
    }

    /// For health alone: nobody waits for it.
    pub(super) fn not_yet_asked(self) -> AbortOnDrop {
        self.abort
    }

    /// Waits for the trial only where the selection has nothing better; otherwise lets it go on for
    /// its own sake, to the end of its own deadline.
    pub(super) async fn finish(self, reading: &mut NetworkReading) {
        let Self { mut told, abort } = self;
        if reading.is_open() {
            if let Ok(attempt) = told.await {
                reading.take(*attempt);
            }
        } else if let Ok(Some(mut attempt)) = told.try_recv() {
            // Over already: what it met is reported with the rest.
            reading.unreachable.extend(attempt.unreachable.take());
        }
        abort.disarm();
    }
}

/// Ends a background task when the selection that started it is dropped.
pub(super) struct AbortOnDrop(Option<AbortHandle>);

impl AbortOnDrop {
    pub(super) fn new(task: AbortHandle) -> Self {
        Self(Some(task))
    }

    /// Lets the task go on to its own end.
    pub(super) fn disarm(mut self) {
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
