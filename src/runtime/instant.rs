//! Points in time on one monotonic clock. Time comes into the rest of the crate as one of these.

use std::time::Duration;

use super::Clock;

/// A point on a monotonic clock, in microseconds since that clock began. Moments of two clocks do
/// not compare; the crate uses one clock for the whole process, which [`Instant::now`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The moment `micros` microseconds after the clock began.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The moment `millis` milliseconds after the clock began.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(times(1_000, millis))
    }

    /// Microseconds since the clock began.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This moment and then `span`; stays at the end of the clock rather than wrap.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// The moment `span` before this one; the clock's beginning where there was none.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// The time since `earlier`; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.micros_since(earlier))
    }

    pub(crate) fn after_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(Self::from_millis(millis).0))
    }

    pub(crate) fn before_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_sub(Self::from_millis(millis).0))
    }

    pub(crate) fn micros_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub(crate) fn millis_since(self, earlier: Self) -> u64 {
        self.micros_since(earlier) / 1_000
    }
}

/// Without products of 128 bits, which `saturating_mul` takes where the machine has none of 64.
const fn times(factor: u64, number: u64) -> u64 {
    match u64::MAX.checked_div(factor) {
        Some(most) if number <= most => number.wrapping_mul(factor),
        _ => u64::MAX,
    }
}

pub(crate) fn micros(span: Duration) -> u64 {
    times(1_000_000, span.as_secs()).saturating_add(u64::from(span.subsec_micros()))
}

impl Instant {
    /// Now, on the one clock of the process: what selectors give to the health index.
    #[must_use]
    pub fn now() -> Self {
        Clock.now()
    }
}
