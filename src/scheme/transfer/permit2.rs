//! Permit2: a shared contract moves the token out of an allowance that the owner gave it once.
//!
//! If the allowance is too low, an extension of the 402 may replace it: the server takes the missing approval along
//! with the payment. Whether the token supports that is read, never guessed.

use super::{Contract, StatedDomain, Transfer};
use crate::chain::Amount;
use crate::chain::registry::TransferMethod;
use crate::ranking::{Approval, Candidate, Note, RejectionReason};
use crate::scheme::Offer;
use crate::scheme::facts::AccountState;

/// At the same address on every chain that has it.
pub(crate) const PERMIT2: Contract = Contract {
    address: "0x000000000022D473030F116dDEE9F6B43aC78BA3",
    missing: "Permit2 is not deployed on the network",
};

/// What the 402 offers in place of an allowance.
#[derive(Clone, Debug)]
pub(crate) struct Sponsorship {
    /// A permit that the buyer signs (`eip2612GasSponsoring`).
    pub(super) permit: Option<Permit>,
    /// An approval that the buyer signs (`erc20ApprovalGasSponsoring`), where no client would sign a permit
    /// instead.
    approval: bool,
}

/// What a permit would be signed under.
#[derive(Clone, Debug)]
pub(super) struct Permit {
    domain: StatedDomain,
    /// The token's row says that it takes permits.
    known: bool,
}

impl Sponsorship {
    pub(super) fn asks_for_permits(&self) -> bool {
        self.permit.as_ref().is_some_and(|permit| !permit.known)
    }
}

pub(in crate::scheme) fn transfer(offer: &Offer<'_>) -> Transfer {
    let method = offer.asset.and_then(|asset| asset.method);
    let takes_none = method == Some(TransferMethod::Permit2);
    let known = method == Some(TransferMethod::Permit2WithEip2612);
    let domain = offer.domain().filter(|_| offer.sponsors.permit && !takes_none);
    // If both are advertised, official clients sign the permit, even if the token has none.
    let signs_permit = offer.sponsors.permit && offer.stated("name").is_some() && offer.stated("version").is_some();
    Transfer::Permit2(Sponsorship {
        permit: domain.map(|domain| Permit { domain, known }),
        approval: offer.sponsors.approval && !signs_permit,
    })
}

/// Whether Permit2 may move `due`, or could with the server's help.
pub(super) fn check_allowance(candidate: &mut Candidate, sponsorship: &Sponsorship, due: Amount, state: &AccountState) {
    // Always there: it is read with the balance, or neither is.
    let Some(allowance) = state.allowance else { return };
    candidate.allowance = Some(allowance);
    if allowance >= due {
        return;
    }
    if sponsorship.permit.as_ref().is_some_and(|permit| permit.fits(state)) {
        return candidate.note(Note::Eip2612Sponsored);
    }
    // Some tokens refuse to change an allowance that is not zero, and there is no way to know which.
    if sponsorship.approval && allowance.is_zero() && state.is_eoa {
        return candidate.note(Note::Erc20ApprovalSponsored);
    }
    candidate.approval = candidate.token().map(|token| Approval::new(token, PERMIT2.address, due));
    let (has, needs) = (candidate.in_units(allowance), candidate.in_units(due));
    let reset = if allowance.is_zero() { "" } else { ", for some tokens after a reset to 0" };
    candidate.reject(
        RejectionReason::AllowanceRequired,
        format!("Permit2 may spend {has}, the buyer must approve {needs} for {}{reset}", PERMIT2.address),
    );
}

impl Permit {
    /// A permit is signed by an EOA, under the token's own domain.
    fn fits(&self, state: &AccountState) -> bool {
        let same_domain = match state.domain_separator {
            Some(real) => real == self.domain.separator,
            None => self.known && self.domain.confirmed,
        };
        same_domain && (self.known || state.takes_permits) && state.is_eoa
    }
}
