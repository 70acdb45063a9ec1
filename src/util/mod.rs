//! Text for people and small helpers that every room may use.

pub(crate) mod base64;
pub(crate) mod json;
pub(crate) mod latency_ms;
pub(crate) mod lines;
pub(crate) mod order;
pub(crate) mod text;
pub(crate) mod together;
