//! `exact`: the price, by one signature. On EVM chains under the token's own signing domain (EIP-3009),
//! on Solana as a transfer whose fee somebody else pays.

use std::str::FromStr;

use solana_address::Address;

use super::{Offer, refuse};
use crate::network::Family;
use crate::registry::TransferMethod;
use crate::text::shown;
use crate::verdict::{Reason, Rejection};

/// Circle Gateway's deposits are announced as `exact`, with a signing domain of their own.
const GATEWAY_DOMAIN: &str = "GatewayWalletBatched";

pub(super) fn problem(offer: &Offer<'_>) -> Option<Rejection> {
    match offer.network.chain.family() {
        Family::Svm => fee_payer_missing(offer),
        _ => method_unsupported(offer).or_else(|| domain_missing(offer)),
    }
}

/// Stock clients take any method that they do not know for EIP-3009 and sign something that cannot
/// settle. A method is never guessed here.
fn method_unsupported(offer: &Offer<'_>) -> Option<Rejection> {
    let unsupported = |detail: String| refuse(Reason::TransferMethodUnsupported, detail);
    let extra = &offer.terms.extra;
    match extra.text("assetTransferMethod") {
        Ok(None) => {}
        Ok(Some(method)) if method == "eip3009" => {}
        Ok(Some(other)) => return unsupported(format!("`{}`", shown(&other))),
        Err(malformed) => return unsupported(malformed.to_string()),
    }
    if extra.text("name").is_ok_and(|name| name.as_deref() == Some(GATEWAY_DOMAIN)) {
        return unsupported(format!("`{GATEWAY_DOMAIN}`"));
    }
    match offer.asset.and_then(|asset| asset.method) {
        Some(TransferMethod::Permit2 | TransferMethod::Permit2WithEip2612) => {
            unsupported("the token has no EIP-3009 transfer".to_owned())
        }
        Some(TransferMethod::Eip3009) | None => None,
    }
}

/// The signature cannot be made without the token's domain.
fn domain_missing(offer: &Offer<'_>) -> Option<Rejection> {
    for field in ["name", "version"] {
        match offer.terms.extra.text(field) {
            Ok(Some(text)) if !text.is_empty() => {}
            Ok(_) => return refuse(Reason::DomainMissing, format!("extra.{field} is missing")),
            Err(malformed) => return refuse(Reason::DomainMissing, malformed.to_string()),
        }
    }
    None
}

/// The fee payer signs for the transaction's fee and must not be the one whose tokens move.
fn fee_payer_missing(offer: &Offer<'_>) -> Option<Rejection> {
    let problem = match offer.terms.extra.text("feePayer") {
        Ok(None) => "extra.feePayer is missing".to_owned(),
        Ok(Some(text)) if Address::from_str(&text).is_err() => "extra.feePayer is not an address".to_owned(),
        Ok(Some(text)) if offer.network.owner.as_deref() == Some(&text) => "extra.feePayer is the buyer".to_owned(),
        Ok(Some(_)) => return None,
        Err(malformed) => malformed.to_string(),
    };
    refuse(Reason::FeePayerMissing, problem)
}
