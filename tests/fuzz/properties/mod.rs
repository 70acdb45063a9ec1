//! What must hold whatever comes in: one property file a target, one `check(input)` each, which
//! panics where something does not hold.
//!
//! The fuzzer calls them with what it invents, `tests/it/corpus.rs` with what it found before. Every
//! check reads its input by rules of its own, so that it agrees with the product only where both are
//! right. Inputs are text as far as possible: a finding should be readable.

// A property says what must hold by panicking where it does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod amounts;
pub mod configuration;
pub mod decoding;
pub mod replies;
pub mod snapshots;
pub mod stage;
