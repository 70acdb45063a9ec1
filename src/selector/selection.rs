//! The answer to a 402, and the holds that it can make.

use std::sync::Arc;
use std::time::Duration;

use crate::chain::Amount;
use crate::error::SelectError;
use crate::hold::{Debit, Demand, Hold, HoldAccount, HoldError, HoldRefusal, Ledger};
use crate::payment::{PaymentRequired, PaymentRequirement};
use crate::ranking::{Candidate, Deficit, explain};
use crate::runtime::Clock;
use crate::scheme;

/// The answer: which offer to pay, what comes next, and why.
#[derive(Clone, Debug)]
pub struct Selection {
    payment: PaymentRequired,
    candidates: Vec<Candidate>,
    chosen: usize,
    hold: PreparedHold,
}

impl Selection {
    /// The answer that ranked candidates amount to: the first, if it is viable.
    pub(super) fn from_candidates(
        payment: &PaymentRequired,
        candidates: Vec<Candidate>,
        holds: &Ledger,
    ) -> Result<Self, SelectError> {
        let first = candidates.first().filter(|first| first.viable);
        let chosen = first.and_then(|first| {
            let requirement = payment.requirements().get(first.requirement_index)?;
            Some((first.requirement_index, PreparedHold::new(first, requirement, holds)?))
        });
        match chosen {
            Some((chosen, hold)) => Ok(Self { payment: payment.clone(), candidates, chosen, hold }),
            None => Err(SelectError::from_candidates(candidates)),
        }
    }

    /// The offer to pay, exactly as the merchant wrote it. [`selected`](Self::selected) is the same offer with what was
    /// read of it, and is `candidates()[0]`.
    #[must_use]
    #[allow(clippy::indexing_slicing, reason = "`from_candidates` made sure that `chosen` is an index of this list")]
    pub fn requirement(&self) -> &PaymentRequirement {
        &self.payment.requirements()[self.chosen]
    }

    /// The candidate of [`requirement`](Self::requirement): the first of [`candidates`](Self::candidates).
    #[must_use]
    #[allow(clippy::indexing_slicing, reason = "`from_candidates` made sure that there is a first candidate")]
    pub fn selected(&self) -> &Candidate {
        &self.candidates[0]
    }

    /// Every candidate, best first: what comes next, and why the rest cannot be paid.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The 402 that was answered.
    #[must_use]
    pub fn payment_required(&self) -> &PaymentRequired {
        &self.payment
    }

    /// The ranking as text for people, one line per candidate.
    #[must_use]
    pub fn explain(&self) -> String {
        explain(&self.candidates)
    }

    /// Holds the price of the chosen offer, or the deposit of schemes that pay out of one, so that no
    /// other selection spends it as well. Call it once per payment, before anything is signed. It ends when
    /// it is dropped, released or settled, and after `maxTimeoutSeconds` or a day at the latest.
    ///
    /// ```no_run
    /// # use payroute::{HoldError, PaymentRequirement, Selection};
    /// # async fn sign_and_send(requirement: &PaymentRequirement) -> Option<bool> { None }
    /// # async fn pay(selection: Selection) -> Result<(), HoldError> {
    /// let hold = selection.hold()?;
    /// match sign_and_send(selection.requirement()).await {
    ///     // The merchant refused it: the money is free again.
    ///     Some(false) => hold.release(),
    ///     // Paid, or sent with an unknown outcome: it counts until a balance shows it.
    ///     Some(true) | None => hold.settle(),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Other payments took what this one needs since the balance was read, or too many are under way.
    pub fn hold(&self) -> Result<Hold, HoldError> {
        self.hold.hold()
    }

    /// As [`hold`](Self::hold), for another offer that is paid instead, by its index in the merchant's list: for
    /// example because the signer cannot sign the chosen one.
    ///
    /// # Errors
    /// As for [`hold`](Self::hold), or the offer cannot be paid.
    pub fn hold_requirement(&self, requirement_index: usize) -> Result<Hold, HoldError> {
        self.prepare_hold(requirement_index).ok_or(HoldError::NotPayable(requirement_index))?.hold()
    }

    /// The hold of an offer, to be made later without the rest of the selection; `None` unless it can be paid.
    #[doc(hidden)] // For the npm package, which keeps it and not the selection.
    #[must_use]
    pub fn prepare_hold(&self, requirement_index: usize) -> Option<PreparedHold> {
        let is_it = |candidate: &&Candidate| candidate.requirement_index == requirement_index && candidate.viable;
        let candidate = self.candidates.iter().find(is_it)?;
        PreparedHold::new(candidate, self.payment.requirements().get(requirement_index)?, &self.hold.holds)
    }
}

/// A hold that can be made: what paying an offer takes of which balance.
#[derive(Clone, Debug)]
pub struct PreparedHold {
    holds: Ledger,
    owner: Arc<str>,
    balance: Amount,
    lifetime: Duration,
    debit: Debit,
    /// What the offer needs and what was read; the error if other holds take the money first.
    need: Deficit,
}

impl PreparedHold {
    fn new(candidate: &Candidate, requirement: &PaymentRequirement, holds: &Ledger) -> Option<Self> {
        let (owner, balance) = (candidate.owner.as_ref()?, candidate.balance?);
        let terms = requirement.terms().ok()?;
        let (lifetime, debit) = (Duration::from_secs(terms.max_timeout_seconds), scheme::debit(&terms.scheme)?);
        let need = Deficit::from_candidate(candidate)?;
        Some(Self { holds: holds.clone(), owner: owner.clone(), balance, lifetime, debit, need })
    }

    /// As [`Selection::hold`].
    ///
    /// # Errors
    /// As for [`Selection::hold`].
    pub fn hold(&self) -> Result<Hold, HoldError> {
        let (asset, owner) = (self.need.asset_id.clone(), self.owner.clone());
        let demand = Demand {
            account: HoldAccount { asset, owner },
            amount: self.need.required,
            debit: self.debit,
            balance: self.balance,
            lifetime: self.lifetime,
        };
        self.holds.hold(demand, Clock.now()).map_err(|refusal| match refusal {
            HoldRefusal::Held(held) => {
                HoldError::HeldElsewhere(Box::new(self.need.clone().with_held(self.balance, held)))
            }
            HoldRefusal::TooMany => HoldError::TooMany,
        })
    }
}
