//! `exact`: the price, by one signature. On EVM chains by EIP-3009 or through Permit2, on Solana as a
//! transfer whose fee somebody else pays.

use std::str::FromStr;

use super::transfer::{Contract, Method, Transfer, eip3009, permit2};
use super::{Offer, Refusal, Route, refusal};
use crate::network::Family;
use crate::solana::Address;
use crate::verdict::Reason;

/// Of `@x402/evm` 2.27.0, at the same address on every chain that has it.
const PROXY: Contract = Contract {
    address: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
    missing: "x402's Permit2 proxy for exact is not deployed on the network",
};

pub(super) fn route(offer: &Offer<'_>) -> Result<Route, Refusal> {
    if offer.network.chain.family() == Family::Svm {
        return fee_payer_stated(offer).map(|()| Route::plain(Transfer::Spl));
    }
    match offer.method(Method::Eip3009)? {
        Method::Eip3009 => Ok(Route::plain(eip3009::transfer(offer)?)),
        Method::Permit2 => {
            Ok(Route { contracts: &[permit2::PERMIT2, PROXY], ..Route::plain(permit2::transfer(offer)) })
        }
    }
}

/// The fee payer signs for the transaction's fee and must not be the one whose tokens move.
fn fee_payer_stated(offer: &Offer<'_>) -> Result<(), Refusal> {
    let reason = Reason::FeePayerMissing;
    let problem = match offer.text("feePayer", reason)? {
        None => "extra.feePayer is missing",
        Some(text) if Address::from_str(&text).is_err() => "extra.feePayer is not an address",
        Some(text) if offer.network.owner.as_deref() == Some(&text) => "extra.feePayer is the buyer",
        Some(_) => return Ok(()),
    };
    Err(refusal(reason, problem))
}
