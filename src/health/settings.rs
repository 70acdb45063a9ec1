//! The numbers that health works with, each with its unit and its reason.

use std::time::Duration;

use serde::Deserialize;

/// How quickly endpoints win and lose trust. The `health` object of the configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HealthSettings {
    /// Weight of the newest observation in both averages, above 0 and at most 1. 0.20: five bad
    /// answers outweigh any past.
    pub ewma_alpha: f64,
    /// Observations that the failure share is taken over, 1 to 64. 20: a few minutes of a wallet's
    /// traffic.
    pub failure_window: u32,
    /// Failures in a row that open a circuit. 5: one outage, not one lost packet.
    pub consecutive_failures: u32,
    /// Share of failures in the window that opens a circuit, in percent. 50.
    pub failure_percent: u32,
    /// Observations before the share counts. 10: one failure of two is no pattern.
    pub minimum_samples: u32,
    /// Milliseconds that a circuit stays open. 30,000: most restarts and deploys are over.
    pub open_for_ms: u64,
    /// Milliseconds that an endpoint is passed over after a fault while another is usable, doubled
    /// by each further fault. 2,000: a hung primary costs its timeout once, not on every selection.
    pub backoff_ms: u64,
    /// The most that backing off grows to, in milliseconds. 30,000: as long as an open circuit.
    pub backoff_limit_ms: u64,
    /// The latency average at which the full latency penalty applies, in milliseconds. 600: the
    /// budget of one provider.
    pub slow_ms: u64,
    /// Endpoints remembered, least recently used forgotten first. 128: dozens of networks with
    /// two each.
    pub capacity: usize,
    /// Milliseconds after which an unused endpoint counts as new again. 1,800,000 (30 minutes).
    pub idle_retention_ms: u64,
}

/// Success average of an endpoint that nothing is known of: better than a flawed one, worse than
/// one that proved itself.
pub(super) const NEW_ENDPOINT: f64 = 0.80;
/// The most that latency takes off a score: a slow endpoint still beats a failing one.
pub(super) const LATENCY_WEIGHT: f64 = 0.20;
/// What a throttled endpoint loses while its not-before time lies ahead: as much as being slow.
pub(super) const THROTTLE_PENALTY: f64 = 0.20;
/// What a stale endpoint loses at most: as much as a slow one; its balances may be out of date.
pub(super) const STALENESS_WEIGHT: f64 = 0.20;
/// Lag up to this, in milliseconds, costs nothing: a missed block or two of a slow chain.
pub(super) const STALE_AFTER_MS: u64 = 15_000;
/// Lag from this on, in milliseconds, costs the whole weight.
pub(super) const FULLY_STALE_MS: u64 = 60_000;
/// Wait after an answer that speaks of a plan's allowance: retrying sooner cannot help.
pub(super) const QUOTA_WAIT: Duration = Duration::from_secs(300);
/// Wait after a throttling answer without a hint; doubles with each further one.
pub(super) const THROTTLE_FIRST: Duration = Duration::from_secs(1);
/// The most that unhinted waits grow to: the rolling windows of public endpoints are 10 s long.
pub(super) const THROTTLE_LIMIT: Duration = Duration::from_secs(30);
/// Bounds on a wait that an endpoint names: shorter is no wait, longer is a mistake or a trap.
pub(super) const RETRY_AFTER_BOUNDS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(60));
/// An average latency from here on is slow, however the endpoint answers: less than a person notices,
/// more than most hiccups.
pub(crate) const SLOW_FROM: Duration = Duration::from_millis(250);
/// More than this of a latency is not averaged: no deadline leaves time for more, and an average from a longer
/// one would keep an endpoint out of use for good.
pub(super) const MOST_LATENCY: Duration = Duration::from_secs(30);
/// How long a score says how an endpoint would do now.
pub(super) const UNPROVEN_AFTER: Duration = Duration::from_secs(60);
/// How long a read plan that an endpoint refused is remembered: gateways change rarely.
pub(crate) const PLAN_MEMORY: Duration = Duration::from_secs(3_600);

impl Default for HealthSettings {
    fn default() -> Self {
        Self {
            ewma_alpha: 0.20,
            failure_window: 20,
            consecutive_failures: 5,
            failure_percent: 50,
            minimum_samples: 10,
            open_for_ms: 30_000,
            backoff_ms: 2_000,
            backoff_limit_ms: 30_000,
            slow_ms: 600,
            capacity: 128,
            idle_retention_ms: 1_800_000,
        }
    }
}

impl HealthSettings {
    /// The first setting that is out of its range, as (JSON name, what is accepted).
    pub(crate) fn out_of_range(&self) -> Option<(&'static str, &'static str)> {
        let window = 1..=64;
        let percent = 1..=100;
        let rules: [(bool, &(&str, &str)); 9] = [
            (self.ewma_alpha > 0.0 && self.ewma_alpha <= 1.0, &("ewmaAlpha", "a number above 0, at most 1")),
            (window.contains(&self.failure_window), &("failureWindow", "a whole number from 1 to 64")),
            (self.consecutive_failures > 0, &("consecutiveFailures", "a whole number from 1")),
            (percent.contains(&self.failure_percent), &("failurePercent", "a whole number from 1 to 100")),
            (
                (1..=self.failure_window).contains(&self.minimum_samples),
                &("minimumSamples", "a whole number from 1 to failureWindow"),
            ),
            (self.open_for_ms > 0, &("openForMs", "milliseconds from 1")),
            (self.slow_ms > 0, &("slowMs", "milliseconds from 1")),
            (
                self.idle_retention_ms >= self.open_for_ms,
                &("idleRetentionMs", "milliseconds from openForMs: a shorter memory would forget open circuits"),
            ),
            ((1..=65_536).contains(&self.capacity), &("capacity", "a whole number from 1 to 65536")),
        ];
        rules.iter().find(|(holds, _)| !holds).map(|(_, rule)| **rule)
    }

    /// How long to pass over an endpoint after its `faults`-th fault in a row.
    pub(super) fn backoff_ms_after(&self, faults: u32) -> u64 {
        let doublings = faults.saturating_sub(1).min(32);
        self.backoff_ms.saturating_mul(1 << doublings).min(self.backoff_limit_ms)
    }
}

/// How long to leave an endpoint alone after its `refusals`-th throttling answer in a row.
pub(super) fn throttle_wait(hint: Option<Duration>, refusals: u32) -> Duration {
    let (shortest, longest) = RETRY_AFTER_BOUNDS;
    match hint {
        Some(hint) => hint.clamp(shortest, longest),
        None => {
            let doublings = refusals.saturating_sub(1).min(16);
            THROTTLE_FIRST.saturating_mul(1 << doublings).min(THROTTLE_LIMIT)
        }
    }
}
