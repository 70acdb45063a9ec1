//! EIP-3009: the token moves on a signature under its own domain. No allowance, no gas.

use super::Transfer;
use crate::registry::TransferMethod;
use crate::scheme::{Offer, Refusal, refusal};
use crate::verdict::Reason;

/// What it means that a token does not know of authorizations.
pub(crate) const NO_TRANSFER: &str = "the token has no EIP-3009 transfer";

pub(in crate::scheme) fn transfer(offer: &Offer<'_>) -> Result<Transfer, Refusal> {
    let method = offer.asset.and_then(|asset| asset.method);
    if let Some(TransferMethod::Permit2 | TransferMethod::Permit2WithEip2612) = method {
        return Err(refusal(Reason::TransferMethodUnsupported, NO_TRANSFER));
    }
    for field in &["name", "version"] {
        let reason = Reason::DomainMissing;
        if offer.text(field, reason)?.is_none_or(|text| text.is_empty()) {
            return Err(refusal(reason, format!("extra.{field} is missing")));
        }
    }
    Ok(Transfer::Eip3009 { domain: offer.domain(), is_known: method.is_some() })
}
