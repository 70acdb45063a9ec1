//! EIP-3009: the token moves on a signature under its own domain. No allowance, no gas.

use super::{StatedDomain, Transfer};
use crate::chain::registry::TransferMethod;
use crate::ranking::{Candidate, Note, RejectionReason};
use crate::scheme::facts::AccountState;
use crate::scheme::{Offer, Refusal, refusal};

/// What it means that a token does not know of authorizations.
pub(crate) const NO_TRANSFER: &str = "the token has no EIP-3009 transfer";

pub(in crate::scheme) fn transfer(offer: &Offer<'_>) -> Result<Transfer, Refusal> {
    let method = offer.asset.and_then(|asset| asset.method);
    if let Some(TransferMethod::Permit2 | TransferMethod::Permit2WithEip2612) = method {
        return Err(refusal(RejectionReason::TransferMethodUnsupported, NO_TRANSFER));
    }
    for field in &["name", "version"] {
        let reason = RejectionReason::DomainMissing;
        if offer.text(field, reason)?.is_none_or(|text| text.is_empty()) {
            return Err(refusal(reason, format!("extra.{field} is missing")));
        }
    }
    Ok(Transfer::Eip3009 { domain: offer.domain(), is_known: method.is_some() })
}

/// Judges the domain that the signature would be under.
pub(super) fn judge(candidate: &mut Candidate, stated: &StatedDomain, holding: &AccountState) {
    match holding.domain_separator {
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
    fn a_domain_is_compared_where_the_token_tells_it_and_noted_where_nobody_does() {
        let verdict = |told: Option<[u8; 32]>, confirmed| {
            let mut candidate = Candidate::new(0);
            let holding = AccountState { domain_separator: told, ..AccountState::default() };
            judge(&mut candidate, &StatedDomain { separator: [7; 32], confirmed }, &holding);
            (candidate.viable, candidate.notes)
        };
        assert_eq!(verdict(Some([7; 32]), false), (true, vec![]));
        assert_eq!(verdict(Some([8; 32]), true), (false, vec![]), "the chain knows better than the row");
        assert_eq!(verdict(None, true), (true, vec![]));
        assert_eq!(verdict(None, false), (true, vec![Note::DomainUnchecked]));
    }
}
