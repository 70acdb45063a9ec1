//! What stays in the module of a selection that was answered, and the hold, as handles.

use payroute::__private::{PreparedHold, RankInput};
use payroute::Selection;
use wasm_bindgen::prelude::*;

use crate::{convert, rank};

/// A hold for each offer that can be paid, by its index in the merchant's list, and what the order of the candidates
/// depends on.
#[wasm_bindgen]
pub struct Answered {
    holds: Vec<(usize, PreparedHold)>,
    inputs: Vec<RankInput<'static>>,
}

#[wasm_bindgen]
impl Answered {
    /// Holds what the offer at `index` in the merchant's list takes; nothing, unless it can be paid.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn hold(&self, index: usize) -> Result<Option<Hold>, String> {
        let Some((_, prepared)) = self.holds.iter().find(|(other, _)| *other == index) else { return Ok(None) };
        prepared.hold().map(|hold| Some(Hold(hold))).map_err(|error| convert::hold_failure(&error))
    }

    /// As the function `rank`, of the candidates as the selection ranked them.
    ///
    /// # Errors
    /// A text: which entry of `prefer` is not a network.
    pub fn rank(&self, prefer: &str) -> Result<Vec<u32>, String> {
        rank::order(&self.inputs, prefer)
    }
}

impl Answered {
    pub(crate) fn new(selection: &Selection) -> Self {
        let indexes = selection.candidates().iter().map(|candidate| candidate.requirement_index);
        let inputs = selection.candidates().iter().map(|candidate| RankInput::from_candidate(candidate).into_owned());
        Self {
            holds: indexes.filter_map(|index| Some((index, selection.prepare_hold(index)?))).collect(),
            inputs: inputs.collect(),
        }
    }
}

/// A payment under way. Freed, it holds nothing any more.
#[wasm_bindgen]
pub struct Hold(payroute::Hold);

#[wasm_bindgen]
impl Hold {
    /// The payment was made: it counts until a balance shows it.
    pub fn settle(self) {
        self.0.settle();
    }
}
