//! `upto`: the price at most, taken through Permit2 by the facilitator that the offer names. All of it must be there,
//! for the server decides afterwards how much it takes.

use super::transfer::{Contract, Method, permit2};
use super::{Offer, Route, rejection};
use crate::ranking::{Rejection, RejectionReason};

/// As in `@x402/evm` 2.27.0, at the same address on every chain that has it.
const PROXY: Contract = Contract {
    address: "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
    missing: "x402's Permit2 proxy for upto is not deployed on the network",
};

pub(super) fn route(offer: &Offer<'_>) -> Result<Route, Rejection> {
    offer.require_evm()?;
    if offer.method(Method::Permit2)? != Method::Permit2 {
        return Err(rejection(RejectionReason::TransferMethodUnsupported, "upto moves tokens through permit2 alone"));
    }
    offer.require_address("facilitatorAddress")?;
    Ok(Route { contracts: &[permit2::PERMIT2, PROXY], ..Route::plain(permit2::transfer(offer)) })
}
