//! The numbers that health works with, each with its unit and its reason.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;

use crate::config_error::{ConfigurationError, OUT_OF_RANGE, whole_numbers, widened};

/// How quickly endpoints win and lose trust. The `health` object of the configuration.
///
/// ```
/// use payroute::{Config, HealthSettings};
///
/// let mut health = HealthSettings::default();
/// health.open_for_ms = 60_000;
/// let config = Config::builder().health(&health).build()?;
/// # Ok::<(), payroute::ConfigurationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HealthSettings {
    /// Weight of the newest observation in both averages, above 0 and at most 1. 0.20: four bad
    /// answers outweigh any past, which then weighs 0.41.
    pub ewma_alpha: f64,
    /// Observations that the failure share is taken over, 1 to 64. 20: a few minutes of a wallet's
    /// traffic.
    pub failure_window: u32,
    /// Failures in a row that open a circuit, at least 1. 5: one outage, not one lost packet.
    pub consecutive_failures: u32,
    /// Share of failures in the window that opens a circuit, 1 to 100 percent. 50: what fails as often as
    /// it answers, even if never twice in a row.
    pub failure_percent: u32,
    /// Observations before the share counts, 1 to `failure_window`. 10: one failure of two is no pattern.
    pub minimum_samples: u32,
    /// Milliseconds that a circuit stays open, at least 1. 30,000: most restarts and deploys are over.
    pub open_for_ms: u64,
    /// Milliseconds that an endpoint is passed over after a fault while another is usable, doubled
    /// by each further fault. 2,000: a hung primary costs its timeout once, not on every selection.
    pub backoff_ms: u64,
    /// The most that backing off grows to, in milliseconds. 30,000: as long as an open circuit.
    pub backoff_limit_ms: u64,
    /// The latency average at which the full latency penalty applies, at least 1 millisecond. 600: the
    /// budget of one endpoint.
    pub slow_ms: u64,
    /// Endpoints remembered, 1 to 65,536, least recently used forgotten first. 128: dozens of networks with
    /// two each.
    pub capacity: usize,
    /// Milliseconds after which an unused endpoint counts as new again, at least `open_for_ms`. 1,800,000
    /// (30 minutes): sixty times as long as a circuit stays open; what it did before says nothing of it now.
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
/// Lag from this on, in milliseconds, costs the whole weight: four times what missed blocks explain. A node that
/// stands still is no worse for standing longer.
pub(super) const FULLY_STALE_MS: u64 = 60_000;
/// What a half-open circuit leaves of a score: at best less than an endpoint has that nothing is known of.
pub(super) const HALF_OPEN_MULTIPLIER: f64 = 0.5;
/// What an open one leaves: at best less than a half-open one leaves of a new endpoint. Not nothing: of two open ones
/// the better still shows.
pub(super) const OPEN_MULTIPLIER: f64 = 0.1;
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
/// Samples kept for the p95; 20 is the fewest that ignore one outlier.
pub(super) const LATENCIES_KEPT: usize = 20;
/// How long a score says how an endpoint would do now: a minute, as long as a reading of lag. One that stays slow
/// costs one selection a minute, one that got better waits no longer.
pub(super) const UNPROVEN_AFTER: Duration = Duration::from_secs(60);
/// How long a read plan that an endpoint refused is remembered: gateways change rarely.
pub(crate) const PLAN_MEMORY: Duration = Duration::from_secs(3_600);

/// What `ewma_alpha` may be.
pub(crate) const ALPHA: &str = "a number above 0, at most 1";
/// What `failure_window` may be, and with it `minimum_samples`: as many observations as one word has bits.
pub(crate) const WINDOW: RangeInclusive<u32> = 1..=64;
/// What `failure_percent` may be.
pub(crate) const PERCENT: RangeInclusive<u32> = 1..=100;
/// What `consecutive_failures` may be.
pub(crate) const COUNT: RangeInclusive<u32> = 1..=u32::MAX;
/// What `capacity` may be. 65,536: far more than anyone has endpoints, and a few MB.
pub(crate) const CAPACITY: RangeInclusive<usize> = 1..=65_536;
/// What times in milliseconds may be that must not be none.
pub(crate) const TIME: RangeInclusive<u64> = 1..=u64::MAX;

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
    /// Every setting for itself, then all together.
    pub(super) fn check(&self) -> Result<(), ConfigurationError> {
        let numbers = [
            ("failureWindow", widened(WINDOW), u64::from(self.failure_window)),
            ("consecutiveFailures", widened(COUNT), self.consecutive_failures.into()),
            ("failurePercent", widened(PERCENT), self.failure_percent.into()),
            ("minimumSamples", widened(WINDOW), self.minimum_samples.into()),
            ("openForMs", TIME, self.open_for_ms),
            ("slowMs", TIME, self.slow_ms),
            ("capacity", widened(CAPACITY), u64::try_from(self.capacity).unwrap_or(u64::MAX)),
            ("idleRetentionMs", TIME, self.idle_retention_ms),
        ];
        let misfit = numbers.into_iter().find(|(_, range, number)| !range.contains(number));
        let misfit = misfit.map(|(name, range, _)| (name, whole_numbers(range)));
        let misfit = misfit.or_else(|| self.contradiction().map(|(name, accepted)| (name, accepted.to_owned())));
        misfit.map_or(Ok(()), |(name, accepted)| Err(ConfigurationError::new(name, OUT_OF_RANGE, &accepted)))
    }

    /// The first setting that no range of whole numbers bounds and that does not fit, and what would.
    pub(crate) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let rules: [(bool, &(&str, &str)); 3] = [
            (self.ewma_alpha > 0.0 && self.ewma_alpha <= 1.0, &("ewmaAlpha", ALPHA)),
            (
                self.minimum_samples <= self.failure_window,
                &("minimumSamples", "a whole number from 1 to failureWindow"),
            ),
            (
                self.idle_retention_ms >= self.open_for_ms,
                &("idleRetentionMs", "milliseconds from openForMs: a shorter memory would forget open circuits"),
            ),
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
