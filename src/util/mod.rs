//! Text for people and small helpers that every room may use.

pub(crate) mod json;
pub(crate) mod latency_ms;
pub(crate) mod text;
