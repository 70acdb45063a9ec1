//! JSON, read strictly and written plainly: values keep their exact text, numbers are never rounded, and
//! nothing recurses over what a stranger wrote.
//!
//! Written by hand because it is small that way: a general library has as much code again for every type
//! that it reads. Tests hold it to serde_json's idea of what is JSON and what it says. Refuses to know
//! what any of it means.

mod read;
mod write;

pub(crate) use read::{Json, Kind, Members, SyntaxError, nests_deeper_than};
pub use write::{Record, Value};
