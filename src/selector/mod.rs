//! The selector: from a 402 to an answer. [`RouteSelector::select`] is the whole flow.

mod builder;
mod selection;

use std::fmt;
use std::sync::Arc;

pub use builder::RouteSelectorBuilder;
pub use selection::{PreparedHold, Selection};

use crate::chain::Amount;
use crate::config::Config;
use crate::error::{RuntimeError, SelectError};
use crate::health::{EndpointHealth, HealthIndex, Outcome, SnapshotError};
use crate::hold::{Hold, Ledger};
use crate::payment::PaymentRequired;
use crate::probe::plan::{Plan, Slot};
use crate::probe::{EndpointMetrics, Prober, Readings, trace};
use crate::ranking::{Candidate, cascade};
use crate::runtime::{self, MaybeSend, MaybeSync};
use crate::scheme::facts::ReadOutcome;
use crate::scheme::judge::apply_facts;
use crate::scheme::screen::{self, Screened};
use crate::transport::Endpoint;
use crate::util::find_or_push;

/// Chooses which offer of an HTTP 402 to pay. Cheap to clone; clones share health and holds.
///
/// It reads balances and answers. It never signs, pays, or sends anything to a host or about an
/// asset that is not in its configuration.
#[derive(Clone)]
pub struct RouteSelector {
    config: Arc<Config>,
    prober: Prober,
    holds: Ledger,
}

impl RouteSelector {
    /// A selector with its own health index and the ready-made HTTP transport.
    ///
    /// # Errors
    /// The HTTP client cannot be made, for example without any trusted root certificate, or does not reach every
    /// endpoint.
    #[cfg(any(feature = "reqwest", all(feature = "fetch", target_arch = "wasm32")))]
    pub fn new(config: Config) -> Result<Self, crate::error::BuildError> {
        Self::builder(config).build()
    }

    /// A selector that shares health with others, or brings its own transport.
    pub fn builder(config: Config) -> RouteSelectorBuilder {
        RouteSelectorBuilder { config, health: None, transport: None, observer: None }
    }

    /// Reads a 402 within the configuration's limits; see [`PaymentRequired::from_text`].
    ///
    /// # Errors
    /// No entry could be read, or the version is neither 1 nor 2.
    pub fn decode(&self, text: impl AsRef<[u8]>) -> Result<PaymentRequired, SelectError> {
        Ok(PaymentRequired::from_text(text, &self.config.limits)?)
    }

    /// Reads a whole response within the configuration's limits; see [`PaymentRequired::from_response`].
    /// Version 2 has its terms in a header, version 1 in the body.
    ///
    /// # Errors
    /// No entry could be read, or the version is neither 1 nor 2.
    pub fn decode_response<'a>(
        &self,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
    ) -> Result<PaymentRequired, SelectError> {
        Ok(PaymentRequired::from_response(headers, body, &self.config.limits)?)
    }

    /// Asks the configured endpoints what the buyer holds, and ranks the offers.
    ///
    /// Takes at most `maxEndpointsPerNetwork` times `probeTimeoutMs` (1.2 s by default), however
    /// many networks are offered. If the thread is blocked past an endpoint's deadline, that deadline is
    /// extended once by the delay, at most doubling it. A low balance that alone keeps a route from being chosen is read
    /// once more at another endpoint within that time (`routing.secondOpinion`). Dropping the future cancels
    /// the requests under way, which is neutral to health. Any number of selections may run at once on
    /// one selector.
    ///
    /// # Errors
    /// No offer can be paid. The error carries every candidate, and says what is short where. Or there is no Tokio
    /// runtime.
    pub async fn select(&self, payment: &PaymentRequired) -> Result<Selection, SelectError> {
        runtime::ready()
            .map_err(|problem| RuntimeError::new(problem, "a call from within a Tokio runtime with time enabled"))?;
        let candidates = trace::select(payment.requirements().len(), self.candidates(payment)).await;
        Selection::from_candidates(payment, candidates, &self.holds)
    }

    /// One candidate for every offer, ranked.
    async fn candidates(&self, payment: &PaymentRequired) -> Vec<Candidate> {
        let screened = screen::screen(payment, &self.config);
        let (plan, slots) = Plan::new(screened.iter().map(|offer| offer.read.as_ref()));
        let mut readings = self.prober.read(&plan).await;
        let candidates = self.judge(&screened, &slots, &readings);
        let rereads = self.rereads(&candidates, &slots);
        if !self.prober.second_opinion(&plan, &mut readings, &rereads).await {
            return candidates;
        }
        self.judge(&screened, &slots, &readings)
    }

    /// Candidates with what was read and what other payments hold, ranked.
    fn judge(&self, screened: &[Screened], slots: &[Option<Slot>], readings: &Readings) -> Vec<Candidate> {
        let judge_one = |(screened, slot): (&Screened, &Option<Slot>)| {
            let mut candidate = screened.candidate.clone();
            if let Some(slot) = slot {
                let reading = self.prober.reading(readings, *slot);
                candidate.held = self.held(&candidate, &reading.outcome);
                apply_facts(&mut candidate, screened.route.as_ref(), &reading);
            }
            candidate
        };
        let mut candidates: Vec<Candidate> = screened.iter().zip(slots).map(judge_one).collect();
        cascade::rank(&mut candidates, &self.config.prefer);
        candidates
    }

    /// How much of what was read other payments hold.
    fn held(&self, candidate: &Candidate, outcome: &ReadOutcome<'_>) -> Amount {
        match (&candidate.asset_id, &candidate.owner, outcome) {
            (Some(asset), Some(owner), ReadOutcome::AccountState(state)) => {
                self.holds.held(asset, owner, state.balance, self.prober.now())
            }
            _ => Amount::ZERO,
        }
    }

    /// The reads whose low balance alone keeps a route from winning.
    fn rereads(&self, candidates: &[Candidate], slots: &[Option<Slot>]) -> Vec<Slot> {
        let mut rereads = Vec::new();
        let Some(first) = candidates.first().filter(|_| self.config.probe.second_opinion) else {
            return rereads;
        };
        for candidate in candidates {
            let slot = slots.get(candidate.requirement_index).copied().flatten();
            if let Some(slot) = slot.filter(|_| cascade::would_win_funded(candidate, first, &self.config.prefer)) {
                find_or_push(&mut rereads, |known| *known == slot, || slot);
            }
        }
        rereads
    }

    /// Forgets what was observed of endpoints and closes their circuits. Nothing else is cleared.
    pub fn reset_health(&self) {
        self.prober.health().reset();
    }

    /// The health index, for sharing with another selector.
    #[must_use]
    pub fn health_index(&self) -> &HealthIndex {
        self.prober.health()
    }

    /// Current health: one record per endpoint about which something is known.
    #[must_use]
    pub fn health(&self) -> Vec<EndpointHealth> {
        self.prober.health().view(self.prober.now())
    }

    /// Counts by endpoint and class since this selector was made; a health reset leaves them.
    #[must_use]
    pub fn metrics(&self) -> Vec<EndpointMetrics> {
        self.prober.metrics()
    }

    /// Every configured endpoint, network by network, in configured order.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.config.networks.iter().flat_map(|network| network.endpoints.iter().map(Arc::as_ref))
    }

    /// Takes an endpoint out of use until [`uncordon`](Self::uncordon); no recovery and no reset
    /// lifts that.
    pub fn cordon(&self, endpoint: &Endpoint) {
        self.prober.health().cordon(endpoint.key());
    }

    /// Puts an endpoint back into use.
    pub fn uncordon(&self, endpoint: &Endpoint) {
        self.prober.health().uncordon(endpoint.key());
    }

    /// Records the outcome of traffic that the application itself sent to an endpoint.
    pub fn report(&self, endpoint: &Endpoint, outcome: Outcome) {
        self.prober.report(endpoint, outcome);
    }

    /// Health as versioned JSON, to keep over a restart. Of a URL it holds only the host and the
    /// [id](crate::EndpointKey::id).
    #[must_use]
    pub fn snapshot_health(&self) -> String {
        self.prober.health().snapshot(self.prober.now())
    }

    /// Replaces what is known about endpoints by a snapshot.
    ///
    /// # Errors
    /// The text is not a snapshot of a version that this crate reads; nothing is changed then.
    pub fn restore_health(&self, snapshot: &str) -> Result<(), SnapshotError> {
        self.prober.health().restore(snapshot, self.prober.now())
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl fmt::Debug for RouteSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteSelector").field("health", self.prober.health()).finish_non_exhaustive()
    }
}

const _: () = {
    const fn shareable<T: MaybeSend + MaybeSync + 'static>() {}
    shareable::<RouteSelector>();
    shareable::<Selection>();
    shareable::<Hold>();
    shareable::<SelectError>();
};
