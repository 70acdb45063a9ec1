//! The cascade in words, key by key.

use std::cmp::Ordering;

use payroute::{Candidate, ChainId, Circuit, DecidingKey};

/// Whether `a` comes before `b`, and the first key that says so; `None` when no key tells them apart.
pub fn first_key_that_prefers(a: &Candidate, b: &Candidate, prefer: &[ChainId]) -> Option<(bool, DecidingKey)> {
    let wish = |c: &Candidate| {
        let listed = prefer.iter().position(|preferred| Some(preferred) == c.network.as_ref());
        listed.unwrap_or(usize::MAX)
    };
    let slowness = |c: &Candidate| c.latency_us.map_or((1, 0), |us| (0, us));
    let keys: [(Ordering, DecidingKey); 7] = [
        (b.viable.cmp(&a.viable), DecidingKey::Viability),
        ((a.circuit == Circuit::Open).cmp(&(b.circuit == Circuit::Open)), DecidingKey::Circuit),
        (wish(a).cmp(&wish(b)), DecidingKey::Preference),
        (worth(a, b).cmp(&worth(b, a)), DecidingKey::Fee),
        (b.health_score.cmp(&a.health_score), DecidingKey::Score),
        (slowness(a).cmp(&slowness(b)), DecidingKey::Latency),
        (a.requirement_index.cmp(&b.requirement_index), DecidingKey::Index),
    ];
    keys.into_iter().find(|(order, _)| order.is_ne()).map(|(order, key)| (order.is_lt(), key))
}

/// Asserts that `ranked` stands in the cascade's order and says so itself.
pub fn check(ranked: &[Candidate], prefer: &[ChainId]) -> Result<(), String> {
    for (place, candidate) in ranked.iter().enumerate() {
        let decided = first_key_that_prefers(&ranked[0], candidate, prefer).map(|(_, key)| key);
        if (candidate.rank, candidate.decided_by) != (place + 1, decided) {
            let told = (candidate.rank, candidate.decided_by);
            return Err(format!("place {}: it says {told:?}, set apart by {decided:?}", place + 1));
        }
    }
    for (place, pair) in ranked.windows(2).enumerate() {
        if first_key_that_prefers(&pair[0], &pair[1], prefer).map(|(first, _)| first) != Some(true) {
            return Err(format!("place {} belongs before place {}", place + 2, place + 1));
        }
    }
    Ok(())
}

/// The fee in digits of the finer of the two assets' units, so that comparing lengths and then
/// digits compares values.
fn worth(candidate: &Candidate, other: &Candidate) -> (usize, String) {
    let decimals = |c: &Candidate| usize::from(c.decimals.unwrap_or(0));
    let zeros = decimals(other).saturating_sub(decimals(candidate));
    let digits = match candidate.fee.to_string() {
        zero if zero == "0" => String::new(),
        digits => digits + &"0".repeat(zeros),
    };
    (digits.len(), digits)
}
