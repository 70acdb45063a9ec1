//! The circuit of one endpoint: closed, open, half-open.
//!
//! Refuses to know why something failed and what the endpoint is. State is computed from the clock
//! when it is read; no timer moves it.

use std::time::Duration;

use super::settings::HealthSettings;
use super::{Circuit, OpenReason, Transition};
use crate::runtime::Instant;

/// A number that grows whenever a circuit opens or an endpoint is seen for the first time. An attempt carries the
/// number under which it was admitted, so that an old attempt cannot close or open a newer circuit.
pub(super) type Generation = u64;

/// What an attempt needs to know to be settled later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) generation: Generation,
    /// The half-open trial that this attempt holds, if any.
    pub(super) trial: Option<u64>,
}

/// What a report did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// It was of an older generation, or not this attempt's to decide.
    Ignored,
    /// It counted, and may have moved the circuit.
    Counted(Option<Transition>),
}

#[derive(Debug)]
pub(super) struct Breaker {
    history: History,
    consecutive: u32,
    opened: Option<(Instant, OpenReason)>,
    /// Soft faults since the last one that counted; every second one counts.
    half_failures: u8,
    generation: Generation,
    trial: Option<TrialLease>,
    trials_issued: u64,
}

#[derive(Clone, Copy, Debug)]
struct TrialLease {
    id: u64,
    expires: Instant,
}

impl Breaker {
    pub(super) fn new(generation: Generation) -> Self {
        Self {
            history: History::default(),
            consecutive: 0,
            opened: None,
            half_failures: 0,
            generation,
            trial: None,
            trials_issued: 0,
        }
    }

    pub(super) fn state(&self, now: Instant, settings: &HealthSettings) -> Circuit {
        match self.opened {
            None => Circuit::Closed,
            Some((opened, _)) if now < opened.after_millis(settings.open_for_ms) => Circuit::Open,
            Some(_) => Circuit::HalfOpen,
        }
    }

    /// Whether a half-open trial could start now. A lease that ran out is as good as returned.
    pub(super) fn trial_available(&self, now: Instant) -> bool {
        self.trial.is_none_or(|trial| trial.expires <= now)
    }

    /// Admits an attempt. At half-open the first one gets the trial; for all others the circuit is still open.
    pub(super) fn admit(&mut self, lease: Duration, now: Instant, settings: &HealthSettings) -> (Circuit, Ticket) {
        let mut ticket = Ticket { generation: self.generation, trial: None };
        let state = match self.state(now, settings) {
            Circuit::HalfOpen if self.trial_available(now) => {
                self.trials_issued = self.trials_issued.wrapping_add(1);
                ticket.trial = Some(self.trials_issued);
                self.trial = Some(TrialLease { id: self.trials_issued, expires: now.after(lease) });
                Circuit::HalfOpen
            }
            Circuit::HalfOpen => Circuit::Open,
            state => state,
        };
        (state, ticket)
    }

    /// Gives the trial back, whatever became of the attempt. Another attempt's trial is untouched.
    pub(super) fn release(&mut self, ticket: Ticket) {
        if self.holds_trial(ticket) {
            self.trial = None;
        }
    }

    /// Records a success.
    pub(super) fn succeed(&mut self, ticket: Ticket, settings: &HealthSettings) -> Recorded {
        if ticket.generation != self.generation {
            return Recorded::Ignored;
        }
        if self.opened.is_none() {
            self.consecutive = 0;
            self.half_failures = 0;
            self.history.push(false, settings.failure_window);
            return Recorded::Counted(None);
        }
        if !self.holds_trial(ticket) {
            return Recorded::Ignored;
        }
        self.opened = None;
        self.consecutive = 0;
        self.half_failures = 0;
        self.history = History::default();
        Recorded::Counted(Some(Transition::Closed))
    }

    /// Records a failure and opens the circuit if that was one too many. `fresh` is the generation
    /// that an opening starts.
    pub(super) fn fail(
        &mut self,
        ticket: Ticket,
        now: Instant,
        fresh: Generation,
        settings: &HealthSettings,
    ) -> Recorded {
        if ticket.generation != self.generation || (self.opened.is_some() && !self.holds_trial(ticket)) {
            return Recorded::Ignored;
        }
        self.consecutive = self.consecutive.saturating_add(1);
        if self.opened.is_some() {
            return Recorded::Counted(Some(self.open(now, fresh, OpenReason::TrialFailed)));
        }
        self.history.push(true, settings.failure_window);
        Recorded::Counted(if self.consecutive >= settings.consecutive_failures {
            Some(self.open(now, fresh, OpenReason::ConsecutiveFailures))
        } else if self.history.too_many(settings) {
            Some(self.open(now, fresh, OpenReason::FailureRate))
        } else {
            None
        })
    }

    /// Records half a failure: every second one counts whole. A trial that half failed has failed.
    pub(super) fn half_fail(
        &mut self,
        ticket: Ticket,
        now: Instant,
        fresh: Generation,
        settings: &HealthSettings,
    ) -> Recorded {
        if ticket.generation != self.generation {
            return Recorded::Ignored;
        }
        self.half_failures = self.half_failures.saturating_add(1);
        if self.half_failures >= 2 || self.holds_trial(ticket) {
            self.half_failures = 0;
            return self.fail(ticket, now, fresh, settings);
        }
        Recorded::Ignored
    }

    /// Opens at once: the endpoint served another chain. An open window is not extended.
    pub(super) fn trip(&mut self, now: Instant, fresh: Generation, settings: &HealthSettings) -> Option<Transition> {
        match self.state(now, settings) {
            Circuit::Open => None,
            _ => Some(self.open(now, fresh, OpenReason::WrongChain)),
        }
    }

    /// When it opened, and why, while it is open or half-open.
    pub(super) fn opened(&self) -> Option<(Instant, OpenReason)> {
        self.opened
    }

    /// The counts, for a snapshot.
    pub(super) fn counts(&self) -> Counts {
        let History { bits, samples } = self.history;
        Counts { consecutive: self.consecutive, failures: bits, samples }
    }

    /// A breaker from a snapshot. A trial of that time is over.
    pub(super) fn restored(
        generation: Generation,
        counts: Counts,
        opened: Option<(Instant, OpenReason)>,
        settings: &HealthSettings,
    ) -> Self {
        let samples = counts.samples.min(settings.failure_window);
        let bits = counts.failures & newest(samples);
        let history = History { bits, samples };
        Self { history, consecutive: counts.consecutive, opened, ..Self::new(generation) }
    }

    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    /// Failures in a row, for backing off.
    pub(super) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    fn open(&mut self, now: Instant, fresh: Generation, reason: OpenReason) -> Transition {
        self.opened = Some((now, reason));
        self.generation = fresh;
        self.trial = None;
        self.half_failures = 0;
        Transition::Opened(reason)
    }

    /// A lease that ran out no longer decides: another trial may be under way.
    fn holds_trial(&self, ticket: Ticket) -> bool {
        ticket.generation == self.generation
            && ticket.trial.is_some()
            && self.trial.map(|trial| trial.id) == ticket.trial
    }
}

/// What a circuit has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) consecutive: u32,
    /// The window, newest in the lowest bit, 1 for a failure.
    pub(super) failures: u64,
    pub(super) samples: u32,
}

/// The last observations, newest in the lowest bit, 1 for a failure.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    bits: u64,
    samples: u32,
}

impl History {
    fn push(&mut self, failed: bool, window: u32) {
        self.bits = ((self.bits << 1) | u64::from(failed)) & newest(window.max(1));
        self.samples = self.samples.saturating_add(1).min(window);
    }

    fn too_many(self, settings: &HealthSettings) -> bool {
        self.samples >= settings.minimum_samples
            && u64::from(self.bits.count_ones()).saturating_mul(100)
                >= u64::from(self.samples).saturating_mul(u64::from(settings.failure_percent))
    }
}

/// The lowest `count` bits; all of them from 64 on.
fn newest(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS.saturating_sub(count)).unwrap_or(0)
}
