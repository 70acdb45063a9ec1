//! Which endpoints of a network are asked, in which order, and which one is tried beside them.
//!
//! A pure function of what health says; refuses to know time and traffic.

use crate::health::{Circuit, EndpointHealth};

/// Positions of endpoints in the configured list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lineup {
    /// To be asked one after another until all is read.
    pub(super) attempts: Vec<usize>,
    /// To be asked beside the first, for its health alone: a selection does not wait for an
    /// endpoint that may still be down while another works.
    pub(super) trial: Option<usize>,
}

/// How willingly an endpoint is asked, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Usable,
    /// Failed lately; maybe it is back.
    BackingOff,
    /// Asked for patience; it would very likely refuse.
    Throttled,
    /// May be tried once.
    Recovering,
    Open,
}

impl Standing {
    fn of(health: &EndpointHealth) -> Self {
        match health.circuit {
            Circuit::Closed if health.throttled => Self::Throttled,
            Circuit::Closed if health.backing_off => Self::BackingOff,
            Circuit::Closed => Self::Usable,
            Circuit::HalfOpen if health.trial_available => Self::Recovering,
            Circuit::HalfOpen | Circuit::Open => Self::Open,
        }
    }
}

/// The `ordered` strategy: lower priority numbers first, then the configured order, healthy
/// endpoints before struggling ones. Open endpoints are asked only when none is closed.
pub(super) fn ordered(endpoints: &[(u8, EndpointHealth)], most: usize) -> Lineup {
    let mut order: Vec<(Standing, u8, usize)> = (endpoints.iter().enumerate())
        .map(|(position, (priority, health))| (Standing::of(health), *priority, position))
        .collect();
    order.sort_unstable();
    let any_closed = order.first().is_some_and(|(standing, ..)| *standing < Standing::Recovering);
    let trial = (order.iter())
        .find(|(standing, ..)| any_closed && *standing == Standing::Recovering)
        .map(|(.., position)| *position);
    // The trial is one of the endpoints that a selection may ask.
    let most = if trial.is_some() { most.saturating_sub(1).max(1) } else { most };
    let attempts = (order.iter())
        .filter(|(standing, _, position)| (*standing != Standing::Open || !any_closed) && Some(*position) != trial)
        .map(|(.., position)| *position)
        .take(most)
        .collect();
    Lineup { attempts, trial }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{EndpointKey, HealthIndex, Moment};
    use crate::network::ChainId;

    fn unknown() -> EndpointHealth {
        let key = EndpointKey::new(ChainId::resolve("base").unwrap(), 1, "rpc.example");
        HealthIndex::default().inspect(&key, Moment::default())
    }

    /// c closed, b backing off, t throttled, h half-open, H half-open with its trial out, o open.
    fn lineup(states: &str) -> (Vec<usize>, Option<usize>) {
        let endpoints: Vec<(u8, EndpointHealth)> = (states.chars())
            .map(|state| {
                let mut health = unknown();
                health.circuit = match state {
                    'h' | 'H' => Circuit::HalfOpen,
                    'o' => Circuit::Open,
                    _ => Circuit::Closed,
                };
                health.backing_off = state == 'b';
                health.throttled = state == 't';
                health.trial_available = state != 'H';
                (0, health)
            })
            .collect();
        let Lineup { attempts, trial } = ordered(&endpoints, 2);
        (attempts, trial)
    }

    #[test]
    fn struggling_endpoints_are_passed_over_while_another_is_usable() {
        for (states, attempts, trial) in [
            ("cc", vec![0, 1], None),
            ("ccc", vec![0, 1], None),
            ("bc", vec![1, 0], None),
            ("tc", vec![1, 0], None),
            ("tb", vec![1, 0], None),
            ("t", vec![0], None),
            ("oc", vec![1], None),
            ("hc", vec![1], Some(0)),
            ("ht", vec![1], Some(0)),
            ("Hc", vec![1], None),
            ("hh", vec![0, 1], None),
            ("oh", vec![1, 0], None),
            ("hcc", vec![1], Some(0)),
            ("oo", vec![0, 1], None),
            ("Ho", vec![0, 1], None),
            ("", vec![], None),
        ] {
            assert_eq!(lineup(states), (attempts, trial), "{states}");
        }
    }

    #[test]
    fn priority_comes_before_position_among_equals() {
        let health = unknown();
        assert_eq!(ordered(&[(1, health), (0, health), (0, health)], 2).attempts, [1, 2]);
    }
}
