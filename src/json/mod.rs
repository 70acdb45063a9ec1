//! JSON written field by field.

mod write;

pub use write::{Record, Value};
