//! EIP-3009: the token moves on a signature under its own domain. No allowance, no gas.

use super::Transfer;
use crate::registry::TransferMethod;
use crate::scheme::{Offer, refusal};
use crate::verdict::{Reason, Rejection};

pub(in crate::scheme) fn transfer(offer: &Offer<'_>) -> Result<Transfer, Rejection> {
    if let Some(TransferMethod::Permit2 | TransferMethod::Permit2WithEip2612) = offer.asset.and_then(|a| a.method) {
        return Err(refusal(Reason::TransferMethodUnsupported, "the token has no EIP-3009 transfer"));
    }
    for field in ["name", "version"] {
        match offer.terms.extra.text(field) {
            Ok(Some(text)) if !text.is_empty() => {}
            Ok(_) => return Err(refusal(Reason::DomainMissing, format!("extra.{field} is missing"))),
            Err(malformed) => return Err(refusal(Reason::DomainMissing, malformed.to_string())),
        }
    }
    Ok(Transfer::Eip3009(offer.domain()))
}
