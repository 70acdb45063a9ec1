//! A ranking in words.

use std::fmt::Write as _;

use super::Candidate;
use crate::chain::ChainId;
use crate::health::Circuit;
use crate::util::text::{add_part, say};

/// A ranking as text for people, one line a candidate, in the order given.
#[must_use]
pub fn explain(candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for candidate in candidates {
        say(&mut text, &[&candidate.rank.to_string(), ". "]);
        say_offer(&mut text, candidate);
        say_verdict(&mut text, candidate);
        text.push('\n');
    }
    text
}

/// `0.05 USDC on Base`, as far as it is known.
fn say_offer(text: &mut String, candidate: &Candidate) {
    let network = (candidate.network_name.as_deref()).or(candidate.network.as_ref().map(ChainId::as_str));
    match candidate.amount {
        Some(price) => say(text, &[&candidate.in_units(price), " on ", network.unwrap_or("an unknown network")]),
        None => say(text, &["offer ", &candidate.requirement_index.to_string()]),
    }
}

fn say_verdict(text: &mut String, candidate: &Candidate) {
    text.push_str(if candidate.viable { ": can pay" } else { ": cannot pay" });
    say_facts(text, candidate);
    match candidate.decided_by {
        _ if !candidate.viable => {
            let mut reasons = String::new();
            candidate.rejections.iter().for_each(|rejection| add_part(&mut reasons, rejection));
            say(text, &[", ", &reasons]);
        }
        Some(key) => say(text, &["; behind the first by ", key.name()]),
        None => text.push_str("; chosen"),
    }
}

/// What was read where, as far as anything was.
fn say_facts(text: &mut String, candidate: &Candidate) {
    if let Some(balance) = candidate.balance {
        say(text, &[", holds ", &candidate.in_units(balance)]);
    }
    if !candidate.held.is_zero() {
        say(text, &[", ", &candidate.in_units(candidate.held), " of it for other payments"]);
    }
    if let Some(deposit) = candidate.deposit {
        say(text, &[", deposits ", &candidate.in_units(deposit)]);
    }
    if let Some(fee) = candidate.transfer_fee {
        say(text, &[", the token keeps ", &candidate.in_units(fee), " of the payment"]);
    }
    if let Some(endpoint) = &candidate.endpoint {
        say(text, &[", read at ", endpoint, " (score ", &candidate.health_score.to_string()]);
        if let Some(us) = candidate.latency_us {
            // Writing to a String cannot fail.
            let _ = write!(text, ", {}.{} ms", us / 1_000, us % 1_000 / 100);
        }
        text.push(')');
    }
    if candidate.circuit == Circuit::Open {
        text.push_str(", circuit open");
    }
}
