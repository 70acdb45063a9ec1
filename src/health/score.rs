//! One number per endpoint: how much to prefer it, from 0 to 1.
//!
//! Only addition, subtraction, multiplication and division, so that native and WASM agree to the
//! bit. The cascade never sees a float: a score leaves here as ten-thousandths.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Circuit;
use super::settings::{
    FULLY_STALE_MS, HALF_OPEN_MULTIPLIER, HealthSettings, LATENCY_WEIGHT, MOST_LATENCY, NEW_ENDPOINT, OPEN_MULTIPLIER,
    STALE_AFTER_MS, STALENESS_WEIGHT, THROTTLE_PENALTY,
};
use crate::runtime::micros;

/// A health score in ten-thousandths: 8067 is 0.8067.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// The score of an endpoint that nothing is known of: 0.8.
    pub const NEW: Self = Self(8_000);

    /// A score of `parts` ten-thousandths; more than 10,000 is 10,000.
    #[must_use]
    pub fn from_bps(parts: u16) -> Self {
        Self(parts.min(10_000))
    }

    /// The score in ten-thousandths, 0 to 10,000.
    #[must_use]
    pub fn bps(self) -> u16 {
        self.0
    }

    /// Rounds half up to four decimals; anything that is not a number from 0 to 1 is clamped.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a clamped value is from 0 to 1")]
    pub(super) fn round(value: f64) -> Self {
        Self((clamp01(value) * 10_000.0 + 0.5) as u16)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}", self.0 / 10_000, self.0 % 10_000)
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 10_000.0)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::round)
    }
}

/// Exponentially weighted averages of one endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averages {
    success: f64,
    latency_us: Option<f64>,
}

impl Averages {
    pub(super) fn new() -> Self {
        Self { success: NEW_ENDPOINT, latency_us: None }
    }

    pub(super) fn succeed(&mut self, latency: Duration, alpha: f64) {
        self.success += alpha * (1.0 - self.success);
        let sample = micros(latency.min(MOST_LATENCY)) as f64;
        self.latency_us = Some(match self.latency_us {
            Some(average) => average + alpha * (sample - average),
            None => sample,
        });
    }

    pub(super) fn fail(&mut self, alpha: f64) {
        self.success -= alpha * self.success;
    }

    /// Microseconds, rounded half up; absent until something was measured.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
    pub(super) fn latency_us(&self) -> Option<u64> {
        self.latency_us.map(|average| (average + 0.5) as u64)
    }

    /// The share of successes, 0 to 1.
    pub(super) fn success(&self) -> f64 {
        self.success
    }

    /// Averages from a snapshot.
    pub(super) fn restored(success: f64, latency_us: Option<u64>) -> Self {
        Self { success: clamp01(success), latency_us: latency_us.map(|us| us.min(micros(MOST_LATENCY)) as f64) }
    }

    pub(super) fn parts(&self, state: ScoreState, settings: &HealthSettings) -> ScoreTerms {
        let slow_us = settings.slow_ms as f64 * 1_000.0;
        let slowness = self.latency_us.map_or(0.0, |us| clamp01(us / slow_us));
        let over = state.lag_ms.map_or(0, |lag| lag.saturating_sub(STALE_AFTER_MS)) as f64;
        ScoreTerms {
            success: self.success,
            latency: LATENCY_WEIGHT * slowness,
            throttle: if state.throttled { THROTTLE_PENALTY } else { 0.0 },
            staleness: STALENESS_WEIGHT * clamp01(over / (FULLY_STALE_MS - STALE_AFTER_MS) as f64),
            multiplier: multiplier(state.circuit),
        }
    }
}

/// What a score depends on besides the averages.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreState {
    pub(super) circuit: Circuit,
    pub(super) throttled: bool,
    /// Absent where nothing is known, which counts as fresh.
    pub(super) lag_ms: Option<u64>,
}

/// A score before it is added up.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreTerms {
    pub(super) success: f64,
    pub(super) latency: f64,
    pub(super) throttle: f64,
    pub(super) staleness: f64,
    pub(super) multiplier: f64,
}

impl ScoreTerms {
    pub(super) fn score(&self) -> Score {
        let quality = clamp01(self.success - self.latency - self.throttle - self.staleness);
        Score::round(quality * self.multiplier)
    }
}

fn multiplier(circuit: Circuit) -> f64 {
    match circuit {
        Circuit::Closed => 1.0,
        Circuit::HalfOpen => HALF_OPEN_MULTIPLIER,
        Circuit::Open => OPEN_MULTIPLIER,
    }
}

/// `f64::clamp` keeps NaN; a score must not.
fn clamp01(value: f64) -> f64 {
    if value >= 1.0 {
        1.0
    } else if value > 0.0 {
        value
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(averages: &Averages) -> u16 {
        let state = ScoreState { circuit: Circuit::Closed, throttled: false, lag_ms: None };
        averages.parts(state, &HealthSettings::default()).score().bps()
    }

    #[test]
    fn lag_costs_from_fifteen_seconds_to_a_minute() {
        let score = |lag_ms| {
            let state = ScoreState { circuit: Circuit::Closed, throttled: false, lag_ms };
            Averages::new().parts(state, &HealthSettings::default()).score().bps()
        };
        let lags = [None, Some(0), Some(15_000), Some(37_500), Some(60_000), Some(u64::MAX)];
        assert_eq!(lags.map(score), [8_000, 8_000, 8_000, 7_000, 6_000, 6_000]);
    }

    #[test]
    fn each_failure_takes_a_fifth() {
        let mut averages = Averages::new();
        let mut seen = vec![score(&averages)];
        for _ in 0..4 {
            averages.fail(0.20);
            seen.push(score(&averages));
        }
        assert_eq!(seen, [8_000, 6_400, 5_120, 4_096, 3_277]);
    }

    #[test]
    fn first_success_of_100_ms() {
        let mut averages = Averages::new();
        averages.succeed(Duration::from_millis(100), 0.20);
        assert_eq!(score(&averages), 8_067);
        assert_eq!(averages.latency_us(), Some(100_000));
    }

    #[test]
    fn a_score_stays_in_range_whatever_comes_in() {
        let settings = HealthSettings::default();
        for success in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, -1.0, 2.0] {
            for latency in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
                let averages = Averages { success, latency_us: Some(latency) };
                for circuit in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
                    let state = ScoreState { circuit, throttled: true, lag_ms: Some(u64::MAX) };
                    assert!(averages.parts(state, &settings).score().bps() <= 10_000);
                }
            }
        }
    }

    #[test]
    fn a_score_prints_and_serialises_with_its_decimals() {
        let score = Score::from_bps(8_067);
        assert_eq!(score.to_string(), "0.8067");
        assert_eq!(serde_json::to_string(&score).unwrap(), "0.8067");
        assert_eq!(serde_json::from_str::<Score>("0.8067").unwrap(), score);
        assert_eq!(Score::from_bps(10_000).to_string(), "1.0000");
    }
}
