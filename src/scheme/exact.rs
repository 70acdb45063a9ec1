//! `exact`: the price, by one signature. On EVM chains by EIP-3009 or through Permit2, on Solana as a
//! transfer whose fee another account pays.

use std::str::FromStr;

use super::transfer::{Contract, Method, Transfer, eip3009, permit2};
use super::{Offer, Route, rejection};
use crate::chain::{ChainFamily, SolanaAddress};
use crate::ranking::{Rejection, RejectionReason};

/// As in `@x402/evm` 2.27.0, at the same address on every chain that has it.
const PROXY: Contract = Contract {
    address: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
    missing: "x402's Permit2 proxy for exact is not deployed on the network",
};

/// As in `@x402/svm` 2.27.0: clients refuse to sign more.
const MOST_MEMO_BYTES: usize = 256;

pub(super) fn route(offer: &Offer<'_>) -> Result<Route, Rejection> {
    if offer.network.chain.family() == ChainFamily::Svm {
        check_fee_payer(offer)?;
        return check_memo(offer).map(|()| Route::plain(Transfer::Spl));
    }
    match offer.method(Method::Eip3009)? {
        Method::Eip3009 => Ok(Route::plain(eip3009::transfer(offer)?)),
        Method::Permit2 => {
            Ok(Route { contracts: &[permit2::PERMIT2, PROXY], ..Route::plain(permit2::transfer(offer)) })
        }
    }
}

/// What the offer wants written into the transaction.
fn check_memo(offer: &Offer<'_>) -> Result<(), Rejection> {
    let reason = RejectionReason::MalformedRequirement;
    match offer.text("memo", reason)? {
        Some(memo) if memo.len() > MOST_MEMO_BYTES => {
            Err(rejection(reason, format!("extra.memo is longer than {MOST_MEMO_BYTES} bytes")))
        }
        _ => Ok(()),
    }
}

/// The fee payer signs for the transaction's fee and must not be the one whose tokens move.
fn check_fee_payer(offer: &Offer<'_>) -> Result<(), Rejection> {
    let reason = RejectionReason::FeePayerMissing;
    let problem = match offer.text("feePayer", reason)? {
        None => "extra.feePayer is missing",
        Some(text) if SolanaAddress::from_str(&text).is_err() => "extra.feePayer is not an address",
        Some(text) if offer.network.owner.as_deref() == Some(&text) => "extra.feePayer is the buyer",
        Some(_) => return Ok(()),
    };
    Err(rejection(reason, problem))
}
