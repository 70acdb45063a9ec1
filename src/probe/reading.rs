//! One network while it is being read: what was read, by which endpoint, and what is still open.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Asked, Attempt, Unreachable};
use super::plan::NetworkPlan;
use super::read_error::{BalanceResult, Unread};
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
    /// One a read, in the order of the plan.
    pub(super) progress: Vec<Progress>,
    /// Attempts without any reply, not yet reported to health.
    pub(super) unreachable: Vec<Unreachable>,
    pub(super) any_reply: bool,
    /// There are endpoints that this selection had no turn for.
    pub(super) others_left: bool,
    /// How long attempts ran past their deadlines because the thread was blocked.
    pub(super) late: Duration,
    /// Endpoints that this selection may ask and has no reply from, in order.
    pub(super) not_yet_asked: Vec<Arc<Endpoint>>,
}

/// One balance while it is being read.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) asked: Option<Asked>,
    found: Option<AccountState>,
    /// Why each endpoint so far has no balance, by host.
    unread: Vec<(Arc<str>, Unread)>,
}

impl NetworkReading {
    pub(super) fn new(plan: &NetworkPlan) -> Self {
        Self {
            progress: plan.reads.iter().map(|_| Progress::default()).collect(),
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
        let positions = self.progress.iter().enumerate();
        positions.filter(|(_, progress)| progress.is_open()).map(|(position, _)| position).collect()
    }

    /// Adds a finished attempt. A balance that was read before stays.
    pub(super) fn add(&mut self, attempt: Attempt) {
        let Attempt { asked, results, unreachable, late } = attempt;
        self.late = self.late.saturating_add(late);
        self.not_yet_asked.retain(|endpoint| !Arc::ptr_eq(endpoint, &asked.endpoint));
        match unreachable {
            Some(unreachable) => self.unreachable.push(unreachable),
            None => self.any_reply = true,
        }
        for (position, result) in results {
            let progress = self.progress_mut(position);
            if progress.is_open() {
                progress.add(&asked, result);
            }
        }
    }

    #[allow(clippy::indexing_slicing, reason = "attempts read positions of the plan that `new` was given")]
    pub(super) fn progress_mut(&mut self, position: usize) -> &mut Progress {
        &mut self.progress[position]
    }
}

impl Progress {
    fn is_open(&self) -> bool {
        self.found.is_none() && !self.unread.iter().any(|(_, unread)| unread.is_final())
    }

    fn add(&mut self, asked: &Asked, result: BalanceResult) {
        self.asked = Some(asked.clone());
        match result {
            Ok(state) => self.found = Some(state),
            Err(unread) => self.unread.push((asked.endpoint.shared_host().clone(), unread)),
        }
    }

    /// Of two endpoints that disagree the higher balance stands. Returns the endpoint of the lower and that of the
    /// higher one.
    pub(super) fn keep_higher(
        &mut self,
        asked: &Asked,
        second: AccountState,
    ) -> Option<(Arc<Endpoint>, Arc<Endpoint>)> {
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

    /// An endpoint that proved its chain and has no balance outweighs one of another chain.
    pub(super) fn outcome(&self) -> ReadOutcome<'_> {
        if let Some(state) = &self.found {
            return ReadOutcome::AccountState(state);
        }
        let any = |is: fn(&Unread) -> bool| self.unread.iter().any(|(_, unread)| is(unread));
        let reason = if any(|unread| *unread == Unread::NoContract) {
            RejectionReason::AssetNotContract
        } else if any(Unread::is_wrong_chain) && !any(|unread| !matches!(unread, Unread::Unproven(_))) {
            RejectionReason::ChainIdentityMismatch
        } else {
            RejectionReason::BalanceUnavailable
        };
        let causes: Vec<String> =
            self.unread.iter().map(|(host, unread)| format!("{host}: {}", unread.detail())).collect();
        ReadOutcome::Unreadable { reason, detail: causes.join("; ") }
    }
}
