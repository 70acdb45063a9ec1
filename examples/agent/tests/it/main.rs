//! The agent end to end: real keys, real chains, merchants that settle what they are paid.

// Tests say what they expect by unwrapping it, and nobody else reaches their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, unreachable_pub)]

mod paying;
mod program;
mod reading;
mod refusing;
mod support;
