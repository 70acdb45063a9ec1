//! The core for JavaScript. Conversions only: what is decided is decided in `payroute`, and what is
//! nice for people is written in `pkg/`.
//!
//! Nothing here is borrowed over an await and every method takes `&self`, so that any number of
//! selections overlap. Values cross as JSON text, once each way; text is what both sides parse
//! fastest.

#![cfg(target_arch = "wasm32")]

mod convert;
mod hold;
mod payment;
mod ranking;
mod selector;
mod transport;
#[cfg(feature = "vectors")]
mod vectors;

pub use ranking::Ranking;

/// What a health vector comes to, as JSON.
///
/// # Errors
/// A text: the vector is none.
#[cfg(feature = "vectors")]
#[wasm_bindgen::prelude::wasm_bindgen(js_name = replayHealth)]
pub fn replay_health(input: &str) -> Result<String, String> {
    vectors::replay_health(input).map(|said| convert::json(&said))
}
