//! How much a payment takes.

/// How much of what had to be there for a payment is gone once it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Debit {
    /// All of it.
    Exact,
    /// As much as the server chose: a part of it, a deposit, or nothing if a deposit was there already.
    UpTo,
}
