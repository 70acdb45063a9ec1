//! The pure ranking, for what-if. Only what the order depends on crosses, as numbers and lines; the rest
//! of a candidate would be written and parsed for nothing.

use payroute::__private::RankInput;
use payroute::{Amount, ChainId, DecidingKey, Score};
use wasm_bindgen::prelude::*;

/// The names of the keys that decide, a line each.
#[wasm_bindgen(js_name = keyNames)]
pub fn key_names() -> String {
    DecidingKey::ALL.into_iter().map(|key| format!("{}\n", key.name())).collect()
}

/// The order of candidates, best first: pairs of position and deciding key, as its place in the names.
///
/// A candidate is six `numbers` (index, whether it is viable, whether its circuit is open, decimals, score in
/// ten-thousandths, latency in microseconds or less than 0) and two lines of `texts` (network and fee).
/// `prefer` has a network a line. Every line ends.
///
/// # Errors
/// A text: the path of the field that is not what it must be.
#[wasm_bindgen]
pub fn rank(numbers: &[f64], texts: &str, prefer: &str) -> Result<Vec<u32>, String> {
    let (mut inputs, mut lines) = (Vec::new(), texts.split_terminator('\n'));
    for (position, numbers) in numbers.chunks_exact(6).enumerate() {
        let texts = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let input = input(numbers, texts).map_err(|field| format!("candidates[{position}].{field}"))?;
        inputs.push(input);
    }
    order(&inputs, prefer)
}

/// As `rank`, of what is known already.
#[allow(clippy::cast_possible_truncation, reason = "a position fits 32 bits where memory does")]
pub(crate) fn order(inputs: &[RankInput<'_>], prefer: &str) -> Result<Vec<u32>, String> {
    let names = prefer.split_terminator('\n').enumerate();
    let networks: Vec<ChainId> = names
        .map(|(position, name)| ChainId::known(name).ok_or_else(|| format!("preferNetworks[{position}]")))
        .collect::<Result<_, _>>()?;
    let order = payroute::__private::order(inputs, &networks).into_iter();
    Ok(order.flat_map(|(position, key)| [position as u32, key.map_or(u32::MAX, |key| key as u32)]).collect())
}

/// Of a network that is an empty text nothing is known.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
fn input(numbers: &[f64], (network, fee): (&str, &str)) -> Result<RankInput<'static>, &'static str> {
    let [index, viable, open, decimals, score, latency_us] = *numbers else { return Err("") };
    let chain = ChainId::known(network);
    if chain.is_none() && !network.is_empty() {
        return Err("network");
    }
    let fee = fee.parse::<Amount>().map_err(|_| "fee")?;
    let mut input = RankInput::new(index as usize, chain, fee, decimals as u8);
    input.unviable = viable <= 0.0;
    input.open = open > 0.0;
    input.score = Score::from_bps(score as u16);
    input.latency_us = (latency_us >= 0.0).then_some(latency_us as u64);
    Ok(input)
}
