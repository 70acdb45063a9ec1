//! Counts: what a run met, and how often each of its checks was made.

use std::collections::BTreeMap;
use std::fmt;

use payroute::SelectorEvent;

use super::fault::Fault;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub seeds: u64,
    pub selections: u64,
    pub requests: u64,
    counts: BTreeMap<&'static str, u64>,
    faults: BTreeMap<Fault, u64>,
    codes: BTreeMap<&'static str, u64>,
    events: BTreeMap<&'static str, u64>,
    checks: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub fn fault(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }

    pub fn code(&mut self, code: &'static str) {
        *self.codes.entry(code).or_default() += 1;
    }

    pub fn check(&mut self, name: &'static str) {
        *self.checks.entry(name).or_default() += 1;
    }

    pub fn event(&mut self, event: &SelectorEvent) {
        let name = match event {
            SelectorEvent::Failover { .. } => "failover",
            SelectorEvent::Failed { .. } => "failed",
            SelectorEvent::Throttled { .. } => "throttled",
            SelectorEvent::IdentityMismatch { .. } => "identity-mismatch",
            SelectorEvent::CircuitOpened { .. } => "circuit-opened",
            SelectorEvent::CircuitHalfOpen { .. } => "circuit-half-open",
            SelectorEvent::CircuitClosed { .. } => "circuit-closed",
            SelectorEvent::BalancesDisagree { .. } => "balances-disagree",
            SelectorEvent::Offline => "offline",
            _ => "other",
        };
        *self.events.entry(name).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.selections += other.selections;
        self.requests += other.requests;
        merge(&mut self.counts, &other.counts);
        merge(&mut self.faults, &other.faults);
        merge(&mut self.codes, &other.codes);
        merge(&mut self.events, &other.events);
        merge(&mut self.checks, &other.checks);
    }
}

fn merge<K: Copy + Ord>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    from.iter().for_each(|(key, count)| *into.entry(*key).or_default() += count);
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, selections, requests, .. } = self;
        writeln!(f, "{seeds} seeds, {selections} selections, {requests} requests")?;
        section(f, "what became of selections", self.counts.iter().map(|(name, n)| ((*name).to_owned(), *n)))?;
        section(f, "answers by code", self.codes.iter().map(|(name, n)| ((*name).to_owned(), *n)))?;
        section(f, "events", self.events.iter().map(|(name, n)| ((*name).to_owned(), *n)))?;
        section(f, "faults met", self.faults.iter().map(|(fault, n)| (fault.name(), *n)))?;
        section(f, "checks made", self.checks.iter().map(|(name, n)| ((*name).to_owned(), *n)))
    }
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, rows: impl Iterator<Item = (String, u64)>) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    rows.into_iter().try_for_each(|(name, count)| writeln!(f, "  {count:>12}  {name}"))
}
