//! How far a node's chain lies behind: chain time minus our own, against the best of its network.

use std::collections::BTreeMap;

use super::{Ms, Place};

/// A reading older than this says nothing about now.
const MEMORY: Ms = 60_000;

/// What one endpoint's chain time did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainClock {
    pub offset: i64,
    /// Where it stood when it last moved at least half as fast as our own time.
    in_pace: i64,
    pub seen: Ms,
}

impl ChainClock {
    pub fn hear(before: Option<Self>, chain_ms: u64, now: Ms) -> Self {
        let offset = chain_ms as i64 - now as i64;
        let Some(before) = before else {
            return Self { offset, in_pace: offset, seen: now };
        };
        let passed = now.saturating_sub(before.seen) as i64;
        let kept_pace = passed > 0 && 2 * (before.offset - offset) <= passed;
        Self { offset, in_pace: if kept_pace { offset } else { before.in_pace }, seen: now }
    }
}

/// The latest offset of every endpoint that is a measure for others.
#[derive(Clone, Debug, Default)]
pub struct Tips(BTreeMap<Place, (i64, Ms)>);

impl Tips {
    pub fn set(&mut self, place: Place, clock: ChainClock) {
        self.0.insert(place, (clock.offset, clock.seen));
    }

    pub fn forget(&mut self, place: Place) {
        self.0.remove(&place);
    }

    /// `None` where the clock was last read too long ago, or nobody knows who of two is right.
    pub fn lag_ms(&self, (network, _): Place, clock: ChainClock, now: Ms) -> Option<u64> {
        if now.saturating_sub(clock.seen) > MEMORY {
            return None;
        }
        let late = self.0.iter().filter(|((of, _), (_, seen))| *of == network && now.saturating_sub(*seen) <= MEMORY);
        let mut offsets: Vec<i64> = late.map(|(_, (offset, _))| *offset).collect();
        offsets.sort_unstable();
        let reference = match offsets.as_slice() {
            [] => Some(clock.offset),
            [only] => Some(*only),
            // Of two nobody can say who lies; three bear each other out.
            [second, best] if best - second > 600_000 => None,
            [_, _, ..] if offsets.len() == 2 => offsets.last().copied(),
            [.., second, best] if best - second > 60_000 => Some(*second),
            [.., best] => Some(*best),
        };
        let behind_itself = clock.in_pace - clock.offset;
        match reference {
            Some(reference) => Some((reference - clock.offset).max(behind_itself).max(0) as u64),
            None if behind_itself > 15_000 => Some(behind_itself as u64),
            None => None,
        }
    }
}
