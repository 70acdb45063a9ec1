//! What stays in the module of a selection that was answered, and the hold, as handles.

use payroute::{Selection, Standing};
use wasm_bindgen::prelude::*;

use crate::{convert, rank};

/// What paying the chosen offer takes, and what the order of the candidates depends on.
#[wasm_bindgen]
pub struct Claim {
    claim: payroute::Claim,
    standings: Vec<Standing<'static>>,
}

#[wasm_bindgen]
impl Claim {
    /// Holds it.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn hold(&self) -> Result<Hold, String> {
        self.claim.hold().map(Hold).map_err(|error| convert::hold_failure(&error))
    }

    /// As the function `rank`, of the candidates as the selection ranked them.
    ///
    /// # Errors
    /// A text: which entry of `prefer` is no network.
    pub fn rank(&self, prefer: &str) -> Result<Vec<u32>, String> {
        rank::order(&self.standings, prefer)
    }
}

impl Claim {
    pub(crate) fn of(selection: &Selection) -> Self {
        let standings = selection.candidates().iter().map(|candidate| Standing::of(candidate).kept()).collect();
        Self { claim: selection.claim().clone(), standings }
    }
}

/// A payment under way. Freed, it holds nothing any more.
#[wasm_bindgen]
pub struct Hold(payroute::Hold);

#[wasm_bindgen]
impl Hold {
    /// The payment was made: it counts until a balance shows it.
    pub fn settled(self) {
        self.0.settled();
    }
}
