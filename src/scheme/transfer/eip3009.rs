//! EIP-3009: the token moves on a signature under its own domain. No allowance, no gas.

use super::{StatedDomain, Transfer};
use crate::chain::registry::TransferMethod;
use crate::ranking::{Candidate, Note, Rejection, RejectionReason};
use crate::scheme::facts::AccountState;
use crate::scheme::{Offer, rejection};

/// Why a token without authorizations cannot be paid with.
pub(crate) const NO_TRANSFER: &str = "the token has no EIP-3009 transfer";

pub(in crate::scheme) fn transfer(offer: &Offer<'_>) -> Result<Transfer, Rejection> {
    let method = offer.asset.and_then(|asset| asset.method);
    if let Some(TransferMethod::Permit2 | TransferMethod::Permit2WithEip2612) = method {
        return Err(rejection(RejectionReason::TransferMethodUnsupported, NO_TRANSFER));
    }
    for field in ["name", "version"] {
        let reason = RejectionReason::DomainMissing;
        if offer.text(field, reason)?.is_none_or(|text| text.is_empty()) {
            return Err(rejection(reason, format!("extra.{field} is missing")));
        }
    }
    Ok(Transfer::Eip3009 { domain: offer.domain(), is_known: method.is_some() })
}

/// Compares the domain that the offer states with the token's own.
pub(super) fn check_domain(candidate: &mut Candidate, stated: &StatedDomain, state: &AccountState) {
    match state.domain_separator {
        Some(real) if stated.separator != real => {
            candidate
                .reject(RejectionReason::DomainMismatch, "extra.name and extra.version do not make the token's domain");
        }
        None if !stated.confirmed => candidate.note(Note::DomainUnchecked),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_compared_if_the_token_has_one_to_read_and_else_noted() {
        let checked = |domain_separator: Option<[u8; 32]>, confirmed| {
            let mut candidate = Candidate::new(0);
            let state = AccountState { domain_separator, ..AccountState::default() };
            check_domain(&mut candidate, &StatedDomain { separator: [7; 32], confirmed }, &state);
            (candidate.viable, candidate.notes)
        };
        assert_eq!(checked(Some([7; 32]), false), (true, vec![]));
        assert_eq!(checked(Some([8; 32]), true), (false, vec![]), "the chain knows better than the row");
        assert_eq!(checked(None, true), (true, vec![]));
        assert_eq!(checked(None, false), (true, vec![Note::DomainUnchecked]));
    }
}
