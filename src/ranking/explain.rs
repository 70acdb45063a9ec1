//! A ranking in words.

use std::fmt;

use super::Candidate;
use crate::chain::ChainId;
use crate::health::Circuit;
use crate::util::text::joined;

/// A ranking as text for people, one line a candidate, in the order given.
#[must_use]
pub fn explain(candidates: &[Candidate]) -> String {
    candidates.iter().map(|candidate| format!("{}\n", Line(candidate))).collect()
}

/// The line of one candidate.
struct Line<'c>(&'c Candidate);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candidate = self.0;
        write!(f, "{}. ", candidate.rank)?;
        write_offer(f, candidate)?;
        f.write_str(if candidate.viable { ": can pay" } else { ": cannot pay" })?;
        write_facts(f, candidate)?;
        match candidate.decided_by {
            _ if !candidate.viable => write!(f, ", {}", joined(&candidate.rejections)),
            Some(key) => write!(f, "; behind the first by {}", key.name()),
            None => f.write_str("; chosen"),
        }
    }
}

/// `0.05 USDC on Base`, as far as it is known.
fn write_offer(f: &mut fmt::Formatter<'_>, candidate: &Candidate) -> fmt::Result {
    let network = (candidate.network_name.as_deref()).or(candidate.network.as_ref().map(ChainId::as_str));
    match candidate.amount {
        Some(price) => write!(f, "{} on {}", candidate.in_units(price), network.unwrap_or("an unknown network")),
        None => write!(f, "offer {}", candidate.requirement_index),
    }
}

/// What was read where, as far as anything was.
fn write_facts(f: &mut fmt::Formatter<'_>, candidate: &Candidate) -> fmt::Result {
    if let Some(balance) = candidate.balance {
        write!(f, ", holds {}", candidate.in_units(balance))?;
    }
    if !candidate.held.is_zero() {
        write!(f, ", {} of it for other payments", candidate.in_units(candidate.held))?;
    }
    if let Some(deposit) = candidate.deposit {
        write!(f, ", deposits {}", candidate.in_units(deposit))?;
    }
    if let Some(fee) = candidate.transfer_fee {
        write!(f, ", the token keeps {} of the payment", candidate.in_units(fee))?;
    }
    if let Some(endpoint) = &candidate.endpoint {
        write!(f, ", read at {endpoint} (score {}", candidate.health_score)?;
        if let Some(us) = candidate.latency_us {
            write!(f, ", {}.{} ms", us / 1_000, us % 1_000 / 100)?;
        }
        f.write_str(")")?;
    }
    if candidate.circuit == Circuit::Open {
        f.write_str(", circuit open")?;
    }
    Ok(())
}
