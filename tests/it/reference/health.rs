//! Health: what every endpoint did, what follows for its circuit, and its score.

use std::collections::{BTreeMap, BTreeSet};

use payroute::{Circuit, OpenReason, ReadPlan};

use super::freshness::{ChainClock, Tips};
use super::{Ms, Place};

/// The health settings, as the reference reads them.
#[derive(Clone, Debug)]
pub struct Rules {
    pub alpha: f64,
    pub window: usize,
    pub in_a_row: u32,
    pub percent: usize,
    pub minimum: usize,
    pub open_ms: Ms,
    pub backoff_ms: Ms,
    pub backoff_limit_ms: Ms,
    pub slow_ms: Ms,
    pub idle_ms: Ms,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            alpha: 0.20,
            window: 20,
            in_a_row: 5,
            percent: 50,
            minimum: 10,
            open_ms: 30_000,
            backoff_ms: 2_000,
            backoff_limit_ms: 30_000,
            slow_ms: 600,
            idle_ms: 1_800_000,
        }
    }
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    Success {
        latency_ms: Ms,
        chain_ms: Option<u64>,
    },
    Fault,
    SoftFault,
    WrongChain,
    /// Another endpoint of the network said more.
    Contradicted,
    Throttled {
        hint_ms: Option<Ms>,
    },
    Quota,
    Nothing,
}

/// An admitted attempt. Later ones have higher serials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticket {
    serial: u64,
    pub trial: bool,
    pub circuit: Circuit,
}

/// One endpoint as it stands at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub circuit: Circuit,
    pub opened_for: Option<OpenReason>,
    pub half_open_in_ms: Ms,
    pub score: u16,
    pub latency_us: Option<u64>,
    pub lag_ms: Option<u64>,
    pub throttled_ms: Ms,
    pub backing_off_ms: Ms,
    pub trial_free: bool,
    pub cordoned: bool,
    pub idle_ms: Ms,
    pub plan: Option<ReadPlan>,
}

/// The whole index.
#[derive(Clone, Debug, Default)]
pub struct Health {
    rules: Rules,
    serial: u64,
    known: BTreeMap<Place, Record>,
    cordoned: BTreeSet<Place>,
    tips: Tips,
}

#[derive(Clone, Debug)]
struct Record {
    /// Serial of its first admission since it was forgotten.
    met: u64,
    /// Serial of its last opening, or of meeting it.
    since: u64,
    last_used: Ms,
    success: f64,
    latency_us: Option<f64>,
    /// Oldest first, true for a failure.
    window: Vec<bool>,
    in_a_row: u32,
    half_a_fault: bool,
    opened: Option<(Ms, OpenReason)>,
    trial: Option<(u64, Ms)>,
    not_before: Ms,
    refusals: u32,
    backs_off_until: Ms,
    clock: Option<ChainClock>,
    plan: Option<(ReadPlan, Ms)>,
}

/// What survives a restart, relative to the moment of writing.
#[derive(Clone, Debug)]
pub struct Snapshot {
    taken: Ms,
    known: BTreeMap<Place, Record>,
}

impl Health {
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Admits an attempt. At half-open the first one gets the trial and the others are told "open".
    pub fn admit(&mut self, place: Place, lease_ms: Ms, now: Ms) -> Ticket {
        let serial = self.meet(place, now);
        let open_ms = self.rules.open_ms;
        let record = self.known.get_mut(&place).unwrap();
        let mut circuit = record.circuit(open_ms, now);
        let trial = circuit == Circuit::HalfOpen && record.trial_free(now);
        if trial {
            record.trial = Some((serial, now + lease_ms));
        } else if circuit == Circuit::HalfOpen {
            circuit = Circuit::Open;
        }
        Ticket { serial, trial, circuit }
    }

    /// What became of an attempt. One of before the endpoint was forgotten does not count.
    pub fn settle(&mut self, place: Place, ticket: Ticket, effect: Effect, now: Ms) {
        self.serial += 1;
        let (serial, rules) = (self.serial, &self.rules);
        let current = |r: &&mut Record| r.met < ticket.serial && now.saturating_sub(r.last_used) <= rules.idle_ms;
        let Some(record) = self.known.get_mut(&place).filter(current) else { return };
        record.last_used = record.last_used.max(now);
        record.observe(ticket, effect, serial, now, rules);
        record.give_back(ticket);
        match effect {
            Effect::Success { chain_ms: Some(_), .. } => self.tips.set(place, record.clock.unwrap()),
            Effect::WrongChain => self.tips.forget(place),
            _ => {}
        }
    }

    /// An attempt that was given up: nothing is learnt, the trial is free again.
    pub fn give_back(&mut self, place: Place, ticket: Ticket) {
        if let Some(record) = self.known.get_mut(&place) {
            record.give_back(ticket);
        }
    }

    /// An outcome that the application reports of its own traffic: never a trial.
    pub fn report(&mut self, place: Place, effect: Effect, now: Ms) {
        let serial = self.meet(place, now);
        self.settle(place, Ticket { serial, trial: false, circuit: Circuit::Closed }, effect, now);
    }

    /// The endpoint is known to answer to this way of asking, until then.
    pub fn remember_plan(&mut self, place: Place, plan: ReadPlan, until: Ms, now: Ms) {
        self.meet(place, now);
        self.known.get_mut(&place).unwrap().plan = Some((plan, until));
    }

    pub fn cordon(&mut self, place: Place) {
        self.cordoned.insert(place);
        self.tips.forget(place);
    }

    pub fn uncordon(&mut self, place: Place) {
        self.cordoned.remove(&place);
    }

    pub fn reset(&mut self) {
        self.known.clear();
        self.tips = Tips::default();
    }

    pub fn snapshot(&self, now: Ms) -> Snapshot {
        let mut known = self.known.clone();
        known.retain(|_, record| now.saturating_sub(record.last_used) <= self.rules.idle_ms);
        Snapshot { taken: now, known }
    }

    /// As if no time had passed. Trials, chain clocks and half faults are over; averages are as exact as
    /// they were written: billionths and microseconds.
    pub fn restore(&mut self, snapshot: Snapshot, now: Ms) {
        let later = now - snapshot.taken;
        self.serial += 1;
        self.tips = Tips::default();
        self.known = snapshot.known;
        for record in self.known.values_mut() {
            let ahead = |until: Ms| if until > snapshot.taken { until + later } else { 0 };
            record.met = self.serial;
            record.since = self.serial;
            record.last_used += later;
            record.success = f64::from((record.success * 1e9 + 0.5) as u32) / 1e9;
            record.latency_us = record.latency_us.map(|us| (us + 0.5).floor());
            record.opened = record.opened.map(|(at, why)| (at + later, why));
            record.not_before = ahead(record.not_before);
            record.backs_off_until = ahead(record.backs_off_until);
            record.plan = record.plan.filter(|(_, until)| snapshot.taken < *until).map(|(p, until)| (p, until + later));
            (record.trial, record.clock, record.half_a_fault) = (None, None, false);
        }
    }

    /// Whether anything is known of the endpoint.
    pub fn knows(&self, place: Place, now: Ms) -> bool {
        self.known.get(&place).is_some_and(|record| now.saturating_sub(record.last_used) <= self.rules.idle_ms)
    }

    /// Unknown counts as healthy.
    pub fn look(&self, place: Place, now: Ms) -> Seen {
        let cordoned = self.cordoned.contains(&place);
        match self.known.get(&place).filter(|_| self.knows(place, now)) {
            Some(record) => {
                let lag_ms = record.clock.and_then(|clock| self.tips.lag_ms(place, clock, now));
                Seen { cordoned, ..record.seen(lag_ms, &self.rules, now) }
            }
            None => Seen { cordoned, ..Record::new(0, now).seen(None, &self.rules, now) },
        }
    }

    /// Makes sure of a record and hands out a serial under it.
    fn meet(&mut self, place: Place, now: Ms) -> u64 {
        if !self.knows(place, now) {
            self.serial += 1;
            self.known.insert(place, Record::new(self.serial, now));
        }
        self.serial += 1;
        self.known.get_mut(&place).unwrap().last_used = now;
        self.serial
    }
}

impl Record {
    fn new(serial: u64, now: Ms) -> Self {
        Self {
            met: serial,
            since: serial,
            last_used: now,
            success: 0.80,
            latency_us: None,
            window: Vec::new(),
            in_a_row: 0,
            half_a_fault: false,
            opened: None,
            trial: None,
            not_before: 0,
            refusals: 0,
            backs_off_until: 0,
            clock: None,
            plan: None,
        }
    }

    fn circuit(&self, open_ms: Ms, now: Ms) -> Circuit {
        match self.opened {
            None => Circuit::Closed,
            Some((at, _)) if now.saturating_sub(at) < open_ms => Circuit::Open,
            Some(_) => Circuit::HalfOpen,
        }
    }

    fn trial_free(&self, now: Ms) -> bool {
        self.trial.is_none_or(|(_, ends)| ends <= now)
    }

    /// The averages learn from all; the circuit from attempts younger than its last opening, and while it
    /// is not closed from its trial alone.
    fn observe(&mut self, ticket: Ticket, effect: Effect, serial: u64, now: Ms, rules: &Rules) {
        let holds_trial = self.holds(ticket);
        let decides = ticket.serial > self.since && (self.opened.is_none() || holds_trial);
        match effect {
            Effect::Success { latency_ms, chain_ms } => {
                self.success += rules.alpha * (1.0 - self.success);
                let sample = (latency_ms * 1_000) as f64;
                self.latency_us = Some(self.latency_us.map_or(sample, |us| us + rules.alpha * (sample - us)));
                self.refusals = 0;
                if let Some(chain_ms) = chain_ms {
                    self.clock = Some(ChainClock::hear(self.clock, chain_ms, now));
                }
                if decides {
                    (self.in_a_row, self.half_a_fault, self.backs_off_until) = (0, false, 0);
                    match self.opened.take() {
                        Some(_) => self.window.clear(),
                        None => self.count(false, rules),
                    }
                }
            }
            Effect::Fault => {
                self.success -= rules.alpha * self.success;
                if decides {
                    self.fail(serial, now, rules);
                }
            }
            Effect::SoftFault => {
                self.success -= rules.alpha / 2.0 * self.success;
                if decides && (self.half_a_fault || holds_trial) {
                    self.half_a_fault = false;
                    self.fail(serial, now, rules);
                } else if decides {
                    self.half_a_fault = true;
                }
            }
            Effect::WrongChain => {
                self.success -= rules.alpha * self.success;
                if self.circuit(rules.open_ms, now) != Circuit::Open {
                    self.open(OpenReason::WrongChain, serial, now);
                }
            }
            Effect::Throttled { hint_ms } => {
                self.refusals += 1;
                let doubled = 1_000_u64 << (self.refusals - 1).min(10);
                let wait = hint_ms.map_or(doubled.min(30_000), |hint| hint.clamp(250, 60_000));
                self.not_before = self.not_before.max(now + wait);
            }
            Effect::Contradicted => self.success -= rules.alpha / 2.0 * self.success,
            Effect::Quota => self.not_before = self.not_before.max(now + 300_000),
            Effect::Nothing => {}
        }
    }

    fn fail(&mut self, serial: u64, now: Ms, rules: &Rules) {
        self.in_a_row += 1;
        if self.opened.is_some() {
            self.open(OpenReason::TrialFailed, serial, now);
        } else {
            self.count(true, rules);
            let (failed, all) = (self.window.iter().filter(|failed| **failed).count(), self.window.len());
            if self.in_a_row >= rules.in_a_row {
                self.open(OpenReason::ConsecutiveFailures, serial, now);
            } else if all >= rules.minimum && failed * 100 >= all * rules.percent {
                self.open(OpenReason::FailureRate, serial, now);
            }
        }
        let doubled = rules.backoff_ms << (self.in_a_row - 1).min(20);
        self.backs_off_until = now + doubled.min(rules.backoff_limit_ms);
    }

    fn count(&mut self, failed: bool, rules: &Rules) {
        self.window.push(failed);
        let over = self.window.len().saturating_sub(rules.window);
        self.window.drain(..over);
    }

    fn open(&mut self, why: OpenReason, serial: u64, now: Ms) {
        self.opened = Some((now, why));
        self.since = serial;
        self.trial = None;
        self.half_a_fault = false;
    }

    fn holds(&self, ticket: Ticket) -> bool {
        ticket.trial && self.trial.is_some_and(|(serial, _)| serial == ticket.serial)
    }

    fn give_back(&mut self, ticket: Ticket) {
        if self.holds(ticket) {
            self.trial = None;
        }
    }

    fn seen(&self, lag_ms: Option<u64>, rules: &Rules, now: Ms) -> Seen {
        let circuit = self.circuit(rules.open_ms, now);
        let multiplier = match circuit {
            Circuit::Closed => 1.0,
            Circuit::HalfOpen => 0.5,
            Circuit::Open => 0.1,
        };
        let slowness = self.latency_us.map_or(0.0, |us| (us / (rules.slow_ms * 1_000) as f64).min(1.0));
        let throttled_ms = self.not_before.saturating_sub(now);
        let throttle = if throttled_ms > 0 { 0.20 } else { 0.0 };
        let stale = (lag_ms.unwrap_or(0).saturating_sub(15_000) as f64 / 45_000.0).min(1.0);
        let quality = (self.success - 0.20 * slowness - throttle - 0.20 * stale).clamp(0.0, 1.0);
        Seen {
            circuit,
            opened_for: self.opened.map(|(_, why)| why),
            half_open_in_ms: self.opened.map_or(0, |(at, _)| (at + rules.open_ms).saturating_sub(now)),
            score: (quality * multiplier * 10_000.0 + 0.5) as u16,
            latency_us: self.latency_us.map(|us| (us + 0.5) as u64),
            lag_ms,
            throttled_ms,
            backing_off_ms: self.backs_off_until.saturating_sub(now),
            trial_free: self.trial_free(now),
            cordoned: false,
            idle_ms: now.saturating_sub(self.last_used),
            plan: self.plan.filter(|(_, until)| now < *until).map(|(plan, _)| plan),
        }
    }
}
