//! The rules of health, of choosing among endpoints, of second opinions and of the cascade, written a second time from
//! their description: plainly, slowly, and sharing nothing with the code under test.
//!
//! Time is whole milliseconds. An endpoint is its place: the network's number and its own.

pub mod balance;
pub mod cascade;
pub mod freshness;
pub mod health;
pub mod lineup;

/// Milliseconds on the test's clock.
pub type Ms = u64;

/// A network's number and, within it, an endpoint's.
pub type Place = (usize, usize);
