//! The pure ranking, for what-if. Only the keys of the cascade cross, one candidate at a time: a
//! candidate as a whole would bring a parser for all of it.

use std::cell::RefCell;

use payroute::{Amount, Candidate, ChainId, Circuit, Score, Value};
use wasm_bindgen::prelude::*;

/// Candidates on their way into a ranking.
#[wasm_bindgen]
#[derive(Default)]
pub struct Ranking(RefCell<Vec<Candidate>>);

#[wasm_bindgen]
impl Ranking {
    /// No candidates yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the keys of one candidate.
    ///
    /// # Errors
    /// A text: the field that is not what it must be.
    #[allow(clippy::too_many_arguments, reason = "one a key; an object of them would have to be parsed")]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
    pub fn add(
        &self,
        index: usize,
        viable: bool,
        open: bool,
        network: Option<String>,
        fee: &str,
        decimals: u8,
        score: u16,
        latency_us: Option<f64>,
    ) -> Result<(), String> {
        let mut candidate = Candidate::new(index);
        candidate.viable = viable;
        candidate.circuit = if open { Circuit::Open } else { Circuit::Closed };
        candidate.network = network.map(|name| ChainId::known(&name).ok_or("network")).transpose()?;
        candidate.fee = fee.parse::<Amount>().map_err(|_| "fee")?;
        candidate.decimals = Some(decimals);
        candidate.health_score = Score::from_ten_thousandths(score);
        candidate.latency_us = latency_us.map(|us| us as u64);
        self.0.borrow_mut().push(candidate);
        Ok(())
    }

    /// The order, best first, as JSON: pairs of requirement index and deciding key.
    ///
    /// # Errors
    /// A text: which entry of `prefer` is no network.
    pub fn rank(&self, prefer: Vec<String>) -> Result<String, String> {
        let mut networks = Vec::new();
        for (position, name) in prefer.iter().enumerate() {
            networks.push(ChainId::known(name).ok_or_else(|| format!("preferNetworks[{position}]"))?);
        }
        let mut candidates = self.0.borrow_mut();
        payroute::rank(&mut candidates, &networks);
        let order = candidates.iter().map(|candidate| {
            let index = Value::Whole(candidate.requirement_index as u64);
            let decided_by = candidate.decided_by.map_or(Value::Null, |key| Value::Text(key.name().to_owned()));
            Value::List([index, decided_by].into_iter().collect())
        });
        Ok(Value::List(order.collect()).to_json())
    }
}
