//! What a selection can hold, and the hold, as handles.

use wasm_bindgen::prelude::*;

use crate::convert;

/// What paying the chosen offer takes. All that stays in the module of a selection that was answered.
#[wasm_bindgen]
pub struct Claim(pub(crate) payroute::Claim);

#[wasm_bindgen]
impl Claim {
    /// Holds it.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn hold(&self) -> Result<Hold, String> {
        self.0.hold().map(Hold).map_err(|error| convert::hold_failure(&error))
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
