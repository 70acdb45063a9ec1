//! The pure ranking, for what-if. Only the keys of the cascade cross: candidates as a whole would bring
//! a parser for all of them.

use payroute::{Amount, Candidate, ChainId, Circuit, Score, Value};
use wasm_bindgen::prelude::*;

/// The order of candidates, best first, as JSON: pairs of requirement index and deciding key.
///
/// A candidate is six `numbers` (index, whether it is viable, whether its circuit is open, decimals, score in
/// ten-thousandths, latency in microseconds or less than 0) and two lines of `texts` (network and fee).
/// `prefer` has a network a line. Every line ends.
///
/// # Errors
/// A text: the path of the field that is not what it must be.
#[wasm_bindgen]
pub fn rank(numbers: &[f64], texts: &str, prefer: &str) -> Result<String, String> {
    let (mut candidates, mut lines) = (Vec::new(), texts.split_terminator('\n'));
    for (position, numbers) in numbers.chunks_exact(6).enumerate() {
        let texts = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let candidate = candidate(numbers, texts).map_err(|field| format!("candidates[{position}].{field}"))?;
        candidates.push(candidate);
    }
    let mut networks = Vec::new();
    for (position, name) in prefer.split_terminator('\n').enumerate() {
        networks.push(ChainId::known(name).ok_or_else(|| format!("preferNetworks[{position}]"))?);
    }
    payroute::rank(&mut candidates, &networks);
    let order = candidates.iter().map(|candidate| {
        let decided_by = candidate.decided_by.map_or(Value::Null, |key| Value::Text(key.name().to_owned()));
        Value::List([Value::Whole(candidate.requirement_index as u64), decided_by].into_iter().collect())
    });
    Ok(Value::List(order.collect()).to_json())
}

/// The keys of one candidate; a network that is an empty text is unknown.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
fn candidate(numbers: &[f64], (network, fee): (&str, &str)) -> Result<Candidate, &'static str> {
    let [index, viable, open, decimals, score, latency_us] = *numbers else { return Err("") };
    let mut candidate = Candidate::new(index as usize);
    candidate.viable = viable > 0.0;
    candidate.circuit = if open > 0.0 { Circuit::Open } else { Circuit::Closed };
    candidate.decimals = Some(decimals as u8);
    candidate.health_score = Score::from_ten_thousandths(score as u16);
    candidate.latency_us = (latency_us >= 0.0).then_some(latency_us as u64);
    if !network.is_empty() {
        candidate.network = Some(ChainId::known(network).ok_or("network")?);
    }
    candidate.fee = fee.parse::<Amount>().map_err(|_| "fee")?;
    Ok(candidate)
}
