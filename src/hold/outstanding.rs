//! What a balance shows of the payments that are settled.

use super::{Debit, Demand};
use crate::chain::Amount;

/// What the holds of one account take and no balance shows yet.
#[derive(Default)]
pub(super) struct Outstanding {
    /// The last balance that was read.
    balance: Amount,
    /// Of payments that are not settled, whether the balance shows them or not.
    live: Amount,
    /// Of settled payments that no balance shows.
    due: Amount,
    /// The most that one settled `upto` payment takes, as long as other payments explain every fall.
    part: Amount,
    /// Of settled payments that a balance showed.
    gone: Amount,
}

impl Outstanding {
    /// Counts a payment that is not settled.
    pub(super) fn holds(&mut self, amount: Amount) {
        self.live = self.live.saturating_add(amount);
    }

    /// Counts a settled payment. Its selection's own reading of the balance comes first.
    pub(super) fn owes(&mut self, demand: &Demand) {
        self.reads(demand.balance);
        if demand.debit == Debit::Exact {
            self.due = self.due.saturating_add(demand.amount);
        } else if self.part.is_zero() {
            self.part = demand.amount;
        } else {
            // Of two such payments it is unknown which drew what: each counts in full.
            self.due = self.due.saturating_add(std::mem::take(&mut self.part)).saturating_add(demand.amount);
        }
    }

    /// Learns from the next balance which payments it shows.
    ///
    /// A fall is taken for payments, exact ones first. If they and the live holds cannot explain all of it, the `upto`
    /// payment was made: it drew some of the fall, whatever the server chose, and nothing more of it is to come. Money
    /// that arrives is not counted as a payment undone, except as far as payments were seen: an endpoint that lags
    /// shows the old balance again. So no debit is forgotten, and none is counted twice; a payment may at worst count
    /// for longer, until its hold expires.
    ///
    /// Example. At a balance of 100, an exact payment of 30 and an `upto` payment of at most 60 are settled: 90 are
    /// held. A balance of 70 is what the exact one explains: 60 are held. A balance of 69 is more than it explains, so
    /// the `upto` payment drew something, perhaps all 31: the exact 30 may be still to come, and 30 are held.
    pub(super) fn reads(&mut self, balance: Amount) {
        let fallen = self.balance.saturating_sub(balance);
        let risen = balance.saturating_sub(self.balance).min(self.gone);
        if fallen > self.due.saturating_add(self.live) && !self.part.is_zero() {
            // Only what it cannot have drawn was the exact payments'.
            let part = std::mem::take(&mut self.part);
            let of_due = fallen.saturating_sub(part).min(self.due);
            self.due = self.due.saturating_sub(of_due);
            self.gone = self.gone.saturating_add(fallen.min(part.saturating_add(of_due)));
        } else {
            let of_due = fallen.min(self.due);
            let of_part = fallen.saturating_sub(of_due).min(self.part);
            self.due = self.due.saturating_sub(of_due);
            self.part = self.part.saturating_sub(of_part);
            self.gone = self.gone.saturating_add(of_due).saturating_add(of_part);
        }
        self.due = self.due.saturating_add(risen);
        self.gone = self.gone.saturating_sub(risen);
        self.balance = balance;
    }

    pub(super) fn held(&self) -> Amount {
        self.live.saturating_add(self.due).saturating_add(self.part)
    }
}
