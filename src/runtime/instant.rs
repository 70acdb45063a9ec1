//! Points in time on one monotonic clock: the form in which time comes into the rest of the crate.

use std::time::Duration;

use super::Clock;

/// A point on a monotonic clock, in microseconds since that clock began. Instants of two clocks cannot be
/// compared; the crate uses one clock for the whole process, which [`Instant::now`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// Now, on the one clock of the process: what selectors give to the health index.
    #[must_use]
    pub fn now() -> Self {
        Clock.now()
    }

    /// The instant `micros` microseconds after the clock began.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the clock began.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the clock began.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This instant plus `span`; the clock's end where the sum would wrap.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// The instant `span` before this one; the clock's beginning where there was none.
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

pub(crate) fn micros(span: Duration) -> u64 {
    span.as_micros().try_into().unwrap_or(u64::MAX)
}
