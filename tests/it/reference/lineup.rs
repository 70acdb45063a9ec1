//! Whom a selection asks: the standing of every endpoint, and what follows.

use std::collections::BTreeMap;

use payroute::Circuit;

use super::health::Seen;

/// What is known of an endpoint when a selection starts.
#[derive(Clone, Debug)]
pub struct Runner {
    pub seen: Seen,
    pub priority: u8,
    /// As many requests under way as it may have.
    pub busy: bool,
}

/// How willingly an endpoint is asked, lower first, and its priority.
pub type Standing = (u8, u8);

const SLOW: u8 = 1;
const RECOVERING: u8 = 5;
const OPEN: u8 = 6;

/// Those who are asked, in listed order among equals, and the one that is tried beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lineup {
    pub asked: Vec<(Standing, usize)>,
    pub trial: Option<usize>,
    /// All that may be asked at all.
    pub able: BTreeMap<usize, Standing>,
}

impl Lineup {
    /// Where the order is `listed`, slowness counts; scores and shares weigh it by themselves.
    pub fn of(runners: &[Runner], listed: bool, most: usize) -> Self {
        let able = |runner: &Runner| !runner.seen.cordoned && !runner.busy;
        let mut ranked: Vec<(Standing, usize)> = (runners.iter().enumerate())
            .filter(|(_, runner)| able(runner))
            .map(|(number, runner)| ((standing(&runner.seen, listed), runner.priority), number))
            .collect();
        ranked.sort_unstable();
        let able = ranked.iter().map(|(standing, number)| (*number, *standing)).collect();
        let any_closed = ranked.iter().any(|((standing, _), _)| *standing < RECOVERING);
        let recovering = ranked.iter().find(|((standing, _), _)| *standing == RECOVERING).map(|(_, number)| *number);
        let trial = recovering.filter(|_| any_closed);
        // A trial takes one of the turns, never the last.
        let turns = if trial.is_some() { most.saturating_sub(1).max(1) } else { most };
        ranked.retain(|((standing, _), number)| Some(*number) != trial && (*standing < OPEN || !any_closed));
        ranked.truncate(turns);
        Self { asked: ranked, trial, able }
    }
}

fn standing(seen: &Seen, listed: bool) -> u8 {
    let slow = seen.idle_ms <= 60_000 && seen.latency_us.is_some_and(|us| us >= 250_000);
    match seen.circuit {
        Circuit::Closed if seen.throttled_ms > 0 => 4,
        Circuit::Closed if seen.backing_off_ms > 0 => 3,
        Circuit::Closed if seen.lag_ms.is_some_and(|lag| lag > 15_000) => 2,
        Circuit::Closed if listed && slow => SLOW,
        Circuit::Closed => 0,
        Circuit::HalfOpen if seen.trial_free && seen.throttled_ms == 0 => RECOVERING,
        Circuit::HalfOpen | Circuit::Open => OPEN,
    }
}
