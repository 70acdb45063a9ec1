//! All that is known of one endpoint, and how a report changes it.

use std::collections::VecDeque;
use std::time::Duration;

use super::circuit::{Breaker, Generation, Recorded, Ticket};
use super::freshness::{ChainClock, offset};
use super::score::{Averages, Score, ScoreState, ScoreTerms};
use super::settings::{
    HealthSettings, LATENCIES_KEPT, QUOTA_WAIT, SLOW_FROM, STALE_AFTER_MS, UNPROVEN_AFTER, throttle_wait,
};
use super::{Circuit, Outcome, ReadPlan, Transition};
use crate::runtime::{Instant, micros};

/// What the index says of one endpoint at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointState {
    /// The state of its circuit.
    pub circuit: Circuit,
    /// Its score; 0.8 for an endpoint that nothing is known of.
    pub score: Score,
    /// Average latency of its successful answers, in microseconds.
    pub latency_us: Option<u64>,
    /// How far its chain lies behind the others of its network, in milliseconds.
    pub lag_ms: Option<u64>,
    /// It answered lately, but so slowly that another is preferred.
    pub slow: bool,
    /// It lies so far behind that another is preferred.
    pub stale: bool,
    /// Nothing was measured, or not for a minute: its score says little.
    pub unproven: bool,
    /// It asked for fewer requests and the wait is not over.
    pub throttled: bool,
    /// It failed lately and is passed over while another endpoint is usable.
    pub backing_off: bool,
    /// At half-open: no trial is under way.
    pub trial_available: bool,
    /// Taken out of use by hand.
    pub cordoned: bool,
    /// The read plan that answered where others were refused or failed.
    pub(crate) plan: Option<ReadPlan>,
}

impl EndpointState {
    /// Unknown counts as healthy.
    pub(super) const UNKNOWN: Self = Self {
        circuit: Circuit::Closed,
        score: Score::NEW,
        latency_us: None,
        lag_ms: None,
        slow: false,
        stale: false,
        unproven: true,
        throttled: false,
        backing_off: false,
        trial_available: true,
        cordoned: false,
        plan: None,
    };
}

pub(super) struct EndpointRecord {
    /// The generation in which it was first seen: an attempt of an older one is not about it.
    pub(super) born: Generation,
    pub(super) last_used: Instant,
    pub(super) averages: Averages,
    pub(super) breaker: Breaker,
    pub(super) clock: Option<ChainClock>,
    /// Passed over until then after a fault, while another endpoint is usable.
    pub(super) backs_off_until: Option<Instant>,
    /// It asked for no requests until then.
    pub(super) throttled_until: Option<Instant>,
    /// Throttling answers in a row.
    pub(super) refusals: u32,
    /// The read plan that works, and until when that is remembered.
    pub(super) plan: Option<(ReadPlan, Instant)>,
    pub(super) latencies: Latencies,
}

impl EndpointRecord {
    pub(super) fn new(generation: Generation, now: Instant) -> Self {
        Self {
            born: generation,
            last_used: now,
            averages: Averages::new(),
            breaker: Breaker::new(generation),
            clock: None,
            backs_off_until: None,
            throttled_until: None,
            refusals: 0,
            plan: None,
            latencies: Latencies::default(),
        }
    }

    pub(super) fn is_current(&self, now: Instant, settings: &HealthSettings) -> bool {
        now <= self.last_used.after_millis(settings.idle_retention_ms)
    }

    /// Averages learn from every answer; the circuit and backing off only from answers that are
    /// not older than the circuit.
    pub(super) fn observe(
        &mut self,
        ticket: Ticket,
        outcome: Outcome,
        now: Instant,
        fresh: Generation,
        settings: &HealthSettings,
    ) -> Option<Transition> {
        match outcome {
            Outcome::Success { latency, chain_time_ms } => {
                self.averages.succeed(latency, settings.ewma_alpha);
                self.latencies.push(latency);
                self.refusals = 0;
                if let Some(time) = chain_time_ms {
                    self.note_chain_time(time, now);
                }
                let Recorded::Counted(transition) = self.breaker.succeed(ticket, settings) else {
                    return None;
                };
                self.backs_off_until = None;
                transition
            }
            Outcome::Fault => {
                self.averages.fail(settings.ewma_alpha);
                let recorded = self.breaker.fail(ticket, now, fresh, settings);
                self.back_off(recorded, now, settings)
            }
            Outcome::SoftFault => {
                self.averages.fail(settings.ewma_alpha / 2.0);
                let recorded = self.breaker.half_fail(ticket, now, fresh, settings);
                self.back_off(recorded, now, settings)
            }
            Outcome::WrongChain => {
                self.averages.fail(settings.ewma_alpha);
                self.breaker.trip(now, fresh, settings)
            }
            Outcome::Contradicted => {
                self.averages.fail(settings.ewma_alpha / 2.0);
                None
            }
            Outcome::Throttled { retry_after } => {
                self.refusals = self.refusals.saturating_add(1);
                self.wait(throttle_wait(retry_after, self.refusals), now);
                None
            }
            Outcome::QuotaUsedUp => {
                self.wait(QUOTA_WAIT, now);
                None
            }
            Outcome::Neutral => None,
        }
    }

    pub(super) fn note_chain_time(&mut self, chain_time_ms: u64, now: Instant) {
        let offset = offset(chain_time_ms, now);
        self.clock = Some(self.clock.map_or(ChainClock::first(offset, now), |clock| clock.next(offset, now)));
    }

    fn back_off(&mut self, recorded: Recorded, now: Instant, settings: &HealthSettings) -> Option<Transition> {
        let Recorded::Counted(transition) = recorded else {
            return None;
        };
        self.backs_off_until = Some(now.after_millis(settings.backoff_ms_after(self.breaker.consecutive())));
        transition
    }

    fn wait(&mut self, span: Duration, now: Instant) {
        self.throttled_until = self.throttled_until.max(Some(now.after(span)));
    }

    pub(super) fn parts(&self, lag_ms: Option<u64>, now: Instant, settings: &HealthSettings) -> ScoreTerms {
        let state = ScoreState { circuit: self.breaker.state(now, settings), throttled: self.throttled(now), lag_ms };
        self.averages.parts(state, settings)
    }

    pub(super) fn health(&self, lag_ms: Option<u64>, now: Instant, settings: &HealthSettings) -> EndpointState {
        let parts = self.parts(lag_ms, now, settings);
        let latency_us = self.averages.latency_us();
        let unproven = latency_us.is_none() || now.micros_since(self.last_used) > micros(UNPROVEN_AFTER);
        EndpointState {
            circuit: self.breaker.state(now, settings),
            score: parts.score(),
            latency_us,
            lag_ms,
            slow: !unproven && latency_us.is_some_and(|us| us >= micros(SLOW_FROM)),
            stale: lag_ms.is_some_and(|lag| lag > STALE_AFTER_MS),
            unproven,
            throttled: self.throttled(now),
            backing_off: self.backs_off_until.is_some_and(|until| now < until),
            trial_available: self.breaker.trial_available(now),
            cordoned: false,
            plan: self.plan(now),
        }
    }

    pub(super) fn plan(&self, now: Instant) -> Option<ReadPlan> {
        self.plan.filter(|(_, expires)| now < *expires).map(|(plan, _)| plan)
    }

    /// 95 of 100 of its late answers came within this, in microseconds.
    pub(super) fn p95_us(&self) -> Option<u64> {
        self.latencies.p95_us()
    }

    fn throttled(&self, now: Instant) -> bool {
        self.throttled_until.is_some_and(|until| now < until)
    }
}

/// The last latencies, in microseconds, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies(VecDeque<u64>);

impl Latencies {
    fn push(&mut self, latency: Duration) {
        if self.0.len() == LATENCIES_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(micros(latency));
    }

    /// The least latency that 95 of 100 do not exceed.
    fn p95_us(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let within = sorted.len().saturating_mul(95).div_ceil(100);
        sorted.get(within.checked_sub(1)?).copied()
    }
}
