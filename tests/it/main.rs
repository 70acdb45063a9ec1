//! The integration tests: one binary, through the public API; only `multicall` and `vectors` compile private sources in.
//!
//! Tests read as tables or as stories on virtual time. Helpers are in `support`.

// Tests say what they expect by unwrapping it, and nobody else reaches their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, unreachable_pub)]

mod cascade;
mod config;
mod corpus;
mod decode;
mod documents;
mod enumeration;
mod errors;
mod faults;
mod freshness;
mod health;
mod holds;
mod hostile;
mod json;
mod limits;
mod localnet;
mod multicall;
mod names;
mod operators;
mod payability;
mod probing;
#[path = "../fuzz/properties/mod.rs"]
mod properties;
mod read_plans;
mod recovery;
mod reference;
mod schemes;
mod screening;
mod second_opinion;
mod secrets;
mod sim;
mod soak;
mod sockets;
mod strategies;
mod support;
mod vectors;
