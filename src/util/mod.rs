//! Text for people and small helpers that every room may use.

mod find_or_push;
pub(crate) mod json;
pub(crate) mod latency_ms;
pub(crate) mod text;

pub(crate) use find_or_push::find_or_push;
