//! Payments under way: how much of which balance they hold, and until when.
//!
//! A pure ledger; time comes in as an argument. Refuses to know offers, endpoints and whether a
//! payment is really made.
//!
//! A live hold counts in full. A settled one counts until a balance shows the payment: an endpoint may lag behind the
//! merchant's word. `outstanding` works out what a balance shows.

mod debit;
mod ledger;
mod outstanding;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use debit::Debit;
pub(crate) use ledger::{HoldRefusal, Ledger};

use crate::chain::Amount;
use crate::ranking::Deficit;

/// Holds at once on one selector, settled ones that have not expired included: 68 payments a second
/// of offers that live a minute.
const MOST_HOLDS: usize = 4_096;

/// A payment under way: while it lives, other selections of the selector and its clones count its
/// amount as spent. Made by [`Selection::hold`](crate::Selection::hold).
///
/// Dropping it releases the amount. If a payment was sent and its outcome is unknown, call
/// [`settle`](Self::settle).
#[must_use = "a hold that is dropped holds nothing any more"]
pub struct Hold {
    ledger: Ledger,
    account: HoldAccount,
    id: u64,
}

/// Why an amount cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HoldError {
    /// `held-elsewhere`: since the balance was read, other payments hold so much of it that the rest
    /// does not pay this offer. Another selection may find another route.
    #[error("other payments hold what this one needs: {0}")]
    HeldElsewhere(Box<Deficit>),
    /// `too-many-holds`: 4,096 payments are held already, settled ones that have not expired included.
    #[error("{MOST_HOLDS} payments are held already")]
    TooMany,
    /// `not-payable`: the offer with this index cannot be paid, or there is none.
    #[error("offer {0} cannot be paid")]
    NotPayable(usize),
}

impl HoldError {
    /// The code: stable, kebab-case, the same in every language.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::HeldElsewhere(_) => "held-elsewhere",
            Self::TooMany => "too-many-holds",
            Self::NotPayable(_) => "not-payable",
        }
    }

    /// What is short because of other holds.
    #[must_use]
    pub fn deficit(&self) -> Option<&Deficit> {
        match self {
            Self::HeldElsewhere(deficit) => Some(deficit),
            Self::TooMany | Self::NotPayable(_) => None,
        }
    }
}

impl Hold {
    /// The payment was made, or was sent with an unknown outcome. It counts until a balance shows it, or until
    /// the hold expires.
    pub fn settle(self) {
        self.ledger.settle(self.id);
    }

    /// The payment was not made and will not be: the amount is free at once, as by dropping.
    pub fn release(self) {}
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.ledger.release(self.id);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold of {} by {}", self.account.asset, self.account.owner)
    }
}

/// An owner's balance of an asset.
#[derive(Clone, Debug)]
pub(crate) struct HoldAccount {
    /// CAIP-19, which names the network too.
    pub(crate) asset: Arc<str>,
    pub(crate) owner: Arc<str>,
}

/// What a payment takes.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) account: HoldAccount,
    pub(crate) amount: Amount,
    /// What of it is gone once it is made.
    pub(crate) debit: Debit,
    /// What the selection read of the account.
    pub(crate) balance: Amount,
    /// As the offer states it.
    pub(crate) lifetime: Duration,
}
