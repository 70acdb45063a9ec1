//! The circuit of one endpoint: closed, open, half-open.
//!
//! Refuses to know why something failed and what the endpoint is. State is computed from the clock
//! when it is read; no timer moves it.

use std::time::Duration;

use super::settings::HealthSettings;
use super::{Circuit, Moment};

/// A number that grows whenever a circuit opens or an endpoint is met anew. An attempt carries the
/// one it was admitted under, so that an older attempt cannot speak for a newer circuit.
pub(super) type Generation = u64;

/// What an attempt needs to know to be settled later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) generation: Generation,
    /// The half-open trial that this attempt holds, if any.
    pub(super) trial: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Breaker {
    history: History,
    consecutive: u32,
    opened_at: Option<Moment>,
    generation: Generation,
    trial: Option<Trial>,
    trials_issued: u64,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    id: u64,
    expires: Moment,
}

impl Breaker {
    pub(super) fn new(generation: Generation) -> Self {
        Self { history: History::default(), consecutive: 0, opened_at: None, generation, trial: None, trials_issued: 0 }
    }

    pub(super) fn state(&self, now: Moment, settings: &HealthSettings) -> Circuit {
        match self.opened_at {
            None => Circuit::Closed,
            Some(opened) if now.since(opened) < settings.open_for() => Circuit::Open,
            Some(_) => Circuit::HalfOpen,
        }
    }

    /// Whether a half-open trial could start now. A lease that ran out is as good as returned.
    pub(super) fn trial_available(&self, now: Moment) -> bool {
        self.trial.is_none_or(|trial| trial.expires <= now)
    }

    /// Admits an attempt. At half-open the first one gets the trial; the state it is told is what
    /// it may rely on: without the trial a half-open circuit is still open.
    pub(super) fn admit(&mut self, lease: Duration, now: Moment, settings: &HealthSettings) -> (Circuit, Ticket) {
        let mut ticket = Ticket { generation: self.generation, trial: None };
        let state = match self.state(now, settings) {
            Circuit::HalfOpen if self.trial_available(now) => {
                self.trials_issued += 1;
                ticket.trial = Some(self.trials_issued);
                self.trial = Some(Trial { id: self.trials_issued, expires: now.after(lease) });
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

    /// Records a success. Returns whether it counted, that is, was not of an older generation.
    pub(super) fn succeed(&mut self, ticket: Ticket, settings: &HealthSettings) -> bool {
        if ticket.generation != self.generation {
            return false;
        }
        if self.opened_at.is_none() {
            self.consecutive = 0;
            self.history.push(false, settings.failure_window);
        } else if self.holds_trial(ticket) {
            self.opened_at = None;
            self.consecutive = 0;
            self.history = History::default();
        } else {
            return false;
        }
        true
    }

    /// Records a failure and opens the circuit if that was one too many. `fresh` is the generation
    /// that an opening starts. Returns whether the failure counted.
    pub(super) fn fail(&mut self, ticket: Ticket, now: Moment, fresh: Generation, settings: &HealthSettings) -> bool {
        if ticket.generation != self.generation {
            return false;
        }
        if self.opened_at.is_some() {
            if !self.holds_trial(ticket) {
                return false;
            }
            self.consecutive = self.consecutive.saturating_add(1);
            self.open(now, fresh);
            return true;
        }
        self.consecutive = self.consecutive.saturating_add(1);
        self.history.push(true, settings.failure_window);
        if self.consecutive >= settings.consecutive_failures || self.history.too_many(settings) {
            self.open(now, fresh);
        }
        true
    }

    /// Opens at once: the endpoint served another chain. An open window is not extended.
    pub(super) fn trip(&mut self, now: Moment, fresh: Generation, settings: &HealthSettings) {
        if self.state(now, settings) != Circuit::Open {
            self.open(now, fresh);
        }
    }

    /// Failures in a row, for backing off.
    pub(super) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    fn open(&mut self, now: Moment, fresh: Generation) {
        self.opened_at = Some(now);
        self.generation = fresh;
        self.trial = None;
    }

    /// A lease that ran out no longer decides: another trial may be under way.
    fn holds_trial(&self, ticket: Ticket) -> bool {
        ticket.generation == self.generation
            && ticket.trial.is_some()
            && self.trial.map(|trial| trial.id) == ticket.trial
    }
}

/// The last observations, newest in the lowest bit, 1 for a failure.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    bits: u64,
    samples: u32,
}

impl History {
    fn push(&mut self, failed: bool, window: u32) {
        let mask = u64::MAX >> (64 - window.clamp(1, 64));
        self.bits = ((self.bits << 1) | u64::from(failed)) & mask;
        self.samples = (self.samples + 1).min(window);
    }

    fn too_many(self, settings: &HealthSettings) -> bool {
        self.samples >= settings.minimum_samples
            && u64::from(self.bits.count_ones()) * 100 >= u64::from(self.samples) * u64::from(settings.failure_percent)
    }
}
