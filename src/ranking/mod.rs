//! Candidates and their order: one for every offer, the reasons of those that cannot be paid, the cascade, and all of
//! it in words.
//!
//! Pure: no traffic, no clock.

mod approval;
mod candidate;
pub(crate) mod cascade;
mod deficit;
mod explain;
mod note;
mod reason;
mod rejections;

pub use approval::Approval;
pub use candidate::Candidate;
pub use cascade::{DecidingKey, RankInput, order, rank};
pub use deficit::Deficit;
pub use explain::explain;
pub use note::Note;
pub(crate) use reason::Obstacle;
pub use reason::{Rejection, RejectionReason};
