//! The core for JavaScript. Conversions only: what is decided is decided in `payroute`, and what is
//! nice for people is written in `pkg/`.
//!
//! Nothing here is borrowed over an await and every method takes `&self`, so that any number of
//! selections overlap. Values cross as JSON text, once each way; text is what both sides parse
//! fastest.

#![cfg(target_arch = "wasm32")]
// Untrusted input must neither panic nor silently change a number. Every `#[allow]` says why it is safe.
#![cfg_attr(
    not(test),
    deny(
        clippy::allow_attributes_without_reason,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::string_slice,
        clippy::unreachable
    )
)]

mod convert;
mod description;
mod health;
mod hold;
mod payment;
mod rank;
mod selector;
mod transport;
#[cfg(feature = "vectors")]
mod vectors;

pub use payment::{body_limit, decode};
pub use rank::{key_names, rank};

/// What a health vector comes to, as JSON.
///
/// # Errors
/// A text: what is wrong with the vector.
#[cfg(feature = "vectors")]
#[wasm_bindgen::prelude::wasm_bindgen(js_name = replayHealth)]
pub fn replay_health(input: &str) -> Result<String, String> {
    vectors::replay_health(input).and_then(|said| serde_json::to_string(&said).map_err(|error| error.to_string()))
}
