//! How far an endpoint's chain lies behind the others of its network.
//!
//! Works on offsets, chain time minus the device's own monotonic time, so that the skew of any
//! clock cancels out. Refuses to know blocks and slots: chains count those in too many ways. What
//! is unknown is fresh.

use std::time::Duration;

use super::settings::STALE_AFTER_MS;
use crate::chain::ChainId;
use crate::runtime::{Instant, micros};

/// A lead over the runner-up of more than this, in milliseconds, is not believed: one liar must not
/// make every honest node look stale. Of two it is unknown which one lies, and so neither lag is known: 10
/// minutes, for no chain's nodes lie so far apart. Among three or more the rest bear each other out: one
/// minute.
const IMPLAUSIBLE_LEAD_OF_TWO_MS: i64 = 600_000;
const IMPLAUSIBLE_LEAD_MS: i64 = 60_000;
/// How long a reading says anything about now: an endpoint that has caught up gets its place back,
/// and one that is not asked any more is no measure for others.
const MEMORY: Duration = Duration::from_secs(60);
/// Endpoints remembered of one network. More are not compared; each costs a look on every read.
const MOST_COMPARED: usize = 32;

/// Chain time minus device time, in milliseconds. Only differences mean anything.
pub(super) type Offset = i64;

pub(super) fn offset(chain_time_ms: u64, now: Instant) -> Offset {
    let now_ms = i64::try_from(now.as_micros() / 1_000).unwrap_or(i64::MAX);
    i64::try_from(chain_time_ms).unwrap_or(i64::MAX).saturating_sub(now_ms)
}

/// What one endpoint's chain time did from one reading to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainClock {
    pub(super) offset: Offset,
    /// The offset from which it last kept pace. A frozen node falls behind this one, whatever the
    /// others say.
    pub(super) in_pace: Offset,
    pub(super) seen: Instant,
}

impl ChainClock {
    pub(super) fn first(offset: Offset, now: Instant) -> Self {
        Self { offset, in_pace: offset, seen: now }
    }

    /// A node keeps pace when its time moves at least half as fast as ours.
    pub(super) fn next(self, offset: Offset, now: Instant) -> Self {
        let elapsed = i64::try_from(now.millis_since(self.seen)).unwrap_or(i64::MAX);
        let fell_behind = self.offset.saturating_sub(offset);
        // Two readings of one moment say nothing about pace.
        let keeps_pace = elapsed > 0 && fell_behind.saturating_mul(2) <= elapsed;
        let in_pace = if keeps_pace { offset } else { self.in_pace };
        Self { offset, in_pace, seen: now }
    }
}

/// The offsets of all endpoints, by network.
#[derive(Debug, Default)]
pub(super) struct Tips(Vec<(ChainId, Vec<Tip>)>);

#[derive(Clone, Copy, Debug)]
struct Tip {
    endpoint: u128,
    offset: Offset,
    seen: Instant,
}

impl Tips {
    pub(super) fn set(&mut self, network: &ChainId, endpoint: u128, clock: ChainClock) {
        let tip = Tip { endpoint, offset: clock.offset, seen: clock.seen };
        let Some(tips) = self.network_mut(network) else {
            return self.0.push((network.clone(), vec![tip]));
        };
        match tips.iter_mut().find(|known| known.endpoint == endpoint) {
            Some(known) => *known = tip,
            None => {
                if tips.len() == MOST_COMPARED {
                    tips.remove(0);
                }
                tips.push(tip);
            }
        }
    }

    /// Forgets an endpoint that is no measure any more.
    pub(super) fn remove(&mut self, network: &ChainId, endpoint: u128) {
        if let Some(tips) = self.network_mut(network) {
            tips.retain(|tip| tip.endpoint != endpoint);
        }
    }

    fn network_mut(&mut self, network: &ChainId) -> Option<&mut Vec<Tip>> {
        self.0.iter_mut().find(|(chain, _)| chain == network).map(|(_, tips)| tips)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Milliseconds by which a clock lies behind its network's reference, or behind itself; `None`
    /// when it was last read too long ago, or when it is unknown which endpoint is right.
    pub(super) fn lag_ms(&self, network: &ChainId, clock: ChainClock, now: Instant) -> Option<u64> {
        if now.micros_since(clock.seen) > micros(MEMORY) {
            return None;
        }
        let tips = self.0.iter().find(|(chain, _)| chain == network);
        let reference = tips.map_or(Some(clock.offset), |(_, tips)| reference(tips, clock.offset, now));
        let behind_itself = clock.in_pace.saturating_sub(clock.offset);
        let lag = |offset: Offset| u64::try_from(offset).unwrap_or(0);
        match reference {
            Some(reference) => Some(lag(reference.saturating_sub(clock.offset).max(behind_itself))),
            // A lone clock shows that a node froze, but not that it is current: blocks count time in seconds.
            None => Some(lag(behind_itself)).filter(|lag| *lag > STALE_AFTER_MS),
        }
    }
}

/// The best offset, or the second best where the best is implausibly far ahead of it; `alone` where there is
/// none, and `None` where there is no third to say which of two is right.
fn reference(tips: &[Tip], alone: Offset, now: Instant) -> Option<Offset> {
    let (mut leader, mut runner_up, mut count) = (Offset::MIN, Offset::MIN, 0_usize);
    for tip in tips.iter().filter(|tip| now.micros_since(tip.seen) <= micros(MEMORY)) {
        count = count.saturating_add(1);
        if tip.offset > leader {
            (leader, runner_up) = (tip.offset, leader);
        } else {
            runner_up = runner_up.max(tip.offset);
        }
    }
    let lead = leader.saturating_sub(runner_up);
    match count {
        0 => Some(alone),
        2 if lead > IMPLAUSIBLE_LEAD_OF_TWO_MS => None,
        3.. if lead > IMPLAUSIBLE_LEAD_MS => Some(runner_up),
        _ => Some(leader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> ChainId {
        ChainId::resolve("base").unwrap()
    }

    fn lags(offsets: &[Offset]) -> Vec<Option<u64>> {
        let mut tips = Tips::default();
        let clock = |offset: &Offset| ChainClock::first(*offset, Instant::default());
        (0..).zip(offsets).for_each(|(endpoint, offset)| tips.set(&base(), endpoint, clock(offset)));
        let lag = |offset| tips.lag_ms(&base(), clock(offset), Instant::default());
        offsets.iter().map(lag).collect()
    }

    #[test]
    fn lag_is_against_the_best_unless_the_best_is_implausible() {
        let known = |lags: &[u64]| lags.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(lags(&[0]), known(&[0]));
        assert_eq!(lags(&[0, -20_000]), known(&[0, 20_000]));
        assert_eq!(lags(&[0, -600_000]), known(&[0, 600_000]));
        assert_eq!(lags(&[-5, 0, -600_000]), known(&[5, 0, 600_000]));
        assert_eq!(lags(&[300_000, -3_000, 0]), known(&[0, 3_000, 0]), "three see through a smaller lie");
        // One liar a day ahead: the honest compare among themselves.
        assert_eq!(lags(&[86_400_000, -3_000, 0]), known(&[0, 3_000, 0]));
        // Without a third both are unknown.
        assert_eq!(lags(&[0, -600_001]), [None, None]);
        assert_eq!(lags(&[Offset::MAX, Offset::MIN]), [None, None]);
    }

    #[test]
    fn the_skew_of_the_device_cancels_out() {
        for skew in [0, 3_600_000, -86_400_000] {
            assert_eq!(lags(&[skew, skew - 7_000]), [Some(0), Some(7_000)]);
        }
    }

    #[test]
    fn a_frozen_clock_falls_behind_itself() {
        let at = |ms: u64| Instant::from_millis(ms);
        let frozen = |ms: u64| offset(1_000_000, at(ms));
        let clock = ChainClock::first(frozen(0), at(0)).next(frozen(20_000), at(20_000));
        let lag = |clock: ChainClock| Tips::default().lag_ms(&base(), clock, clock.seen);
        assert_eq!(lag(clock), Some(20_000));
        assert_eq!(lag(clock.next(frozen(20_000), at(20_000))), Some(20_000), "nor does it thaw by being asked twice");
        let clock = clock.next(frozen(60_000), at(60_000));
        assert_eq!(lag(clock), Some(60_000));
        // It moves again, from where it stood: that is its pace now, and only the others can tell.
        let clock = clock.next(offset(1_010_000, at(70_000)), at(70_000));
        assert_eq!(lag(clock), Some(0));
        assert_eq!(Tips::default().lag_ms(&base(), clock, at(130_001)), None, "a minute later it is unknown");
    }

    #[test]
    fn what_is_remembered_of_a_network_is_bounded() {
        let mut tips = Tips::default();
        let clock = ChainClock::first(0, Instant::default());
        (0..10_000).for_each(|endpoint| tips.set(&base(), endpoint, clock));
        assert_eq!(tips.network_mut(&base()).map(|tips| tips.len()), Some(MOST_COMPARED));
    }
}
