//! Which endpoints of a network are asked, in which order, and which one is tried in the background.
//!
//! A pure function of health and configuration. Refuses to know time and traffic.

use std::cmp::Reverse;

use crate::health::{Circuit, EndpointState};

/// How much better, in ten-thousandths, the score of another endpoint must be to replace the leader of `best-score`.
/// Without it two equal endpoints would take turns at every measurement.
const HYSTERESIS: u64 = 500;

/// The highest score, in ten-thousandths.
const BEST: u64 = 10_000;

/// One endpoint that may be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndpointOption {
    pub(super) health: EndpointState,
    /// A lower one is asked first, whatever the strategy.
    pub(super) priority: u8,
    /// Its share under [`OrderBy::Weight`].
    pub(super) weight: u32,
    /// It has as many requests under way as it may.
    pub(super) busy: bool,
}

/// How endpoints of one tier and priority are ordered.
#[derive(Clone, Copy, Debug)]
pub(super) enum OrderBy {
    /// As listed in the configuration.
    List,
    /// By score. `leader` is the endpoint that was asked first the last time.
    Score { leader: Option<usize> },
    /// At random, each in proportion to its weight times its score.
    Weight { seed: u64 },
}

/// Positions of endpoints in the configured list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EndpointOrder {
    /// To be asked until every balance is read.
    pub(super) attempts: Vec<usize>,
    /// A recovering endpoint to be tried in the background: a selection does not wait for it while another endpoint
    /// works.
    pub(super) trial: Option<usize>,
}

/// Endpoints of a better tier are asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Usable,
    /// Replies, but slowly.
    Slow,
    /// Its chain lags behind that of the others.
    Stale,
    /// Failed lately and may work again.
    BackingOff,
    /// Asked for fewer requests and would very likely refuse.
    Throttled,
    /// Half-open, and its one trial is free.
    Recovering,
    Open,
}

impl Tier {
    /// Slowness counts only for a list: scores and weights include latency already.
    fn new(health: &EndpointState, order_by: OrderBy) -> Self {
        match health.circuit {
            Circuit::Closed if health.throttled => Self::Throttled,
            Circuit::Closed if health.backing_off => Self::BackingOff,
            Circuit::Closed if health.stale => Self::Stale,
            Circuit::Closed if health.slow && matches!(order_by, OrderBy::List) => Self::Slow,
            Circuit::Closed => Self::Usable,
            Circuit::HalfOpen if health.trial_available && !health.throttled => Self::Recovering,
            Circuit::HalfOpen | Circuit::Open => Self::Open,
        }
    }
}

/// Whether an endpoint is expected to reply right now, if slowly.
pub(super) fn is_usable(health: &EndpointState) -> bool {
    !health.cordoned && Tier::new(health, OrderBy::List) <= Tier::Slow
}

/// By tier, then by priority, then by `order_by`; at most `most`. Open endpoints are asked only if none is closed,
/// cordoned and busy ones never.
pub(super) fn order_endpoints(options: &[EndpointOption], order_by: OrderBy, most: usize) -> EndpointOrder {
    let places = places(options, order_by);
    let candidates = options.iter().zip(places).enumerate();
    let candidates = candidates.filter(|(_, (option, _))| !option.health.cordoned && !option.busy);
    let key = |(position, (option, place)): (usize, (&EndpointOption, usize))| {
        (Tier::new(&option.health, order_by), option.priority, place, position)
    };
    let mut able: Vec<_> = candidates.map(key).collect();
    able.sort_unstable();
    let any_closed = able.first().is_some_and(|(tier, ..)| *tier < Tier::Recovering);
    let (mut attempts, mut trial) = (Vec::new(), None);
    for (tier, .., position) in able {
        if any_closed && tier == Tier::Recovering && trial.is_none() {
            trial = Some(position);
        } else if !any_closed || tier != Tier::Open {
            attempts.push(position);
        }
    }
    // The trial is one of the endpoints that a selection may ask.
    attempts.truncate(if trial.is_some() { most.saturating_sub(1).max(1) } else { most });
    EndpointOrder { attempts, trial }
}

/// The place of every endpoint within its tier and priority, lower first.
fn places(options: &[EndpointOption], order_by: OrderBy) -> Vec<usize> {
    match order_by {
        OrderBy::List => (0..options.len()).collect(),
        OrderBy::Score { leader } => {
            let score = |position: usize, option: &EndpointOption| {
                let lead = if Some(position) == leader { HYSTERESIS } else { 0 };
                // An endpoint without recent measurements is tried once, or the best would never be found.
                let curiosity = if option.health.unproven { 2 * BEST } else { 0 };
                u64::from(option.health.score.bps()).saturating_add(lead).saturating_add(curiosity)
            };
            let mut best: Vec<_> = options.iter().enumerate().collect();
            best.sort_by_key(|(position, option)| Reverse(score(*position, option)));
            inverse(best.into_iter().map(|(position, _)| position), options.len())
        }
        OrderBy::Weight { seed } => inverse(weighted_shuffle(options, seed).into_iter(), options.len()),
    }
}

/// All positions at random, each drawn in proportion to weight times score.
fn weighted_shuffle(options: &[EndpointOption], seed: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed);
    let share =
        |option: &EndpointOption| u64::from(option.weight).saturating_mul(u64::from(option.health.score.bps()).max(1));
    let mut left: Vec<(u64, usize)> =
        options.iter().enumerate().map(|(position, option)| (share(option), position)).collect();
    let mut drawn = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let total: u64 = left.iter().map(|(share, _)| share).sum();
        let mut ticket = random.u64(0..total.max(1));
        let winner = left.iter().position(|(share, _)| match ticket.checked_sub(*share) {
            Some(rest) => {
                ticket = rest;
                false
            }
            None => true,
        });
        // Without a winner all shares are zero; then the listed order holds.
        drawn.push(left.remove(winner.unwrap_or(0)).1);
    }
    drawn
}

/// From positions in order, which are each there once, to the place of each position.
#[allow(clippy::indexing_slicing, reason = "`order` holds positions below `count`")]
fn inverse(order: impl Iterator<Item = usize>, count: usize) -> Vec<usize> {
    let mut places = vec![0; count];
    for (place, position) in order.enumerate() {
        places[position] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::ChainId;
    use crate::health::{EndpointKey, HealthIndex, Score};
    use crate::runtime::Instant;

    fn option() -> EndpointOption {
        let key = EndpointKey::new(ChainId::resolve("base").unwrap(), 1, "rpc.example");
        let health = HealthIndex::default().inspect(&key, Instant::default());
        EndpointOption { health, priority: 0, weight: 1, busy: false }
    }

    fn scored(score: u16, weight: u32) -> EndpointOption {
        let mut option = EndpointOption { weight, ..option() };
        option.health.score = Score::from_bps(score);
        option.health.unproven = false;
        option
    }

    /// c closed, l slow, s stale, b backing off, t throttled, h half-open, H half-open with its trial out,
    /// o open, x cordoned, f busy.
    fn listed(states: &str) -> (Vec<usize>, Option<usize>) {
        let options: Vec<EndpointOption> = (states.chars())
            .map(|state| {
                let mut option = option();
                let health = &mut option.health;
                health.circuit = match state {
                    'h' | 'H' => Circuit::HalfOpen,
                    'o' => Circuit::Open,
                    _ => Circuit::Closed,
                };
                health.slow = state == 'l';
                health.stale = state == 's';
                health.backing_off = state == 'b';
                health.throttled = state == 't';
                health.trial_available = state != 'H';
                health.cordoned = state == 'x';
                option.busy = state == 'f';
                option
            })
            .collect();
        let EndpointOrder { attempts, trial } = order_endpoints(&options, OrderBy::List, 2);
        (attempts, trial)
    }

    #[test]
    fn struggling_endpoints_are_passed_over_while_another_is_usable() {
        for (states, attempts, trial) in [
            ("cc", vec![0, 1], None),
            ("ccc", vec![0, 1], None),
            ("lc", vec![1, 0], None),
            ("ll", vec![0, 1], None),
            ("sl", vec![1, 0], None),
            ("lb", vec![0, 1], None),
            ("sc", vec![1, 0], None),
            ("bc", vec![1, 0], None),
            ("tc", vec![1, 0], None),
            ("tb", vec![1, 0], None),
            ("bs", vec![1, 0], None),
            ("t", vec![0], None),
            ("oc", vec![1], None),
            ("hc", vec![1], Some(0)),
            ("ht", vec![1], Some(0)),
            ("hcc", vec![1], Some(0)),
            ("Hc", vec![1], None),
            ("hh", vec![0, 1], None),
            ("oh", vec![1, 0], None),
            ("oo", vec![0, 1], None),
            ("Ho", vec![0, 1], None),
            ("xc", vec![1], None),
            ("fc", vec![1], None),
            ("xf", vec![], None),
            ("xo", vec![1], None),
            ("", vec![], None),
        ] {
            assert_eq!(listed(states), (attempts, trial), "{states}");
        }
    }

    #[test]
    fn priority_comes_before_every_order_among_equals() {
        let options = [EndpointOption { priority: 1, ..scored(9_000, 900) }, scored(100, 1), scored(100, 1)];
        for order in [OrderBy::List, OrderBy::Score { leader: Some(0) }, OrderBy::Weight { seed: 7 }] {
            let mut first_two = order_endpoints(&options, order, 2).attempts;
            first_two.sort_unstable();
            assert_eq!(first_two, [1, 2], "{order:?}");
        }
    }

    #[test]
    fn best_score_does_not_flap() {
        let first = |scores: [u16; 3], leader| {
            let options = scores.map(|score| scored(score, 1));
            order_endpoints(&options, OrderBy::Score { leader }, 1).attempts
        };
        assert_eq!(first([8_000, 9_000, 9_000], None), [1], "ties by order");
        assert_eq!(first([8_000, 8_500, 8_400], Some(0)), [0], "a lead of just the hysteresis keeps the leader");
        assert_eq!(first([8_000, 8_501, 8_400], Some(0)), [1]);
        let mut options = [scored(9_900, 1), scored(100, 1)];
        options[1].health.unproven = true;
        assert_eq!(order_endpoints(&options, OrderBy::Score { leader: Some(0) }, 1).attempts, [1], "tried once");
    }

    #[test]
    fn weighted_shares_follow_weight_times_score_and_the_seed() {
        let options = [scored(8_000, 1), scored(8_000, 2), scored(4_000, 2)];
        let firsts: Vec<usize> =
            (0..4_000).map(|seed| order_endpoints(&options, OrderBy::Weight { seed }, 1).attempts[0]).collect();
        let share = |position| firsts.iter().filter(|first| **first == position).count();
        // 8000 : 16000 : 8000, that is 1000, 2000 and 1000 of 4000.
        for (position, expected) in [(0, 1_000), (1, 2_000), (2, 1_000)] {
            assert!(share(position).abs_diff(expected) < 120, "{position}: {}", share(position));
        }
        let again = order_endpoints(&options, OrderBy::Weight { seed: 42 }, 3);
        assert_eq!(order_endpoints(&options, OrderBy::Weight { seed: 42 }, 3), again);
    }
}
