//! `batch-settlement`: prices taken from a channel that the buyer's deposit opened. The deposit, not the
//! price, must be there.
//!
//! Channels that are open already are not looked for: which one it would be depends on the signer's own salt and
//! keys. So a route counts as payable if a deposit could be made now.

use std::str::FromStr;

use super::transfer::{Contract, Method, eip3009, permit2};
use super::{Offer, Route, rejection};
use crate::chain::Amount;
use crate::ranking::{Rejection, RejectionReason};

/// What `@x402/evm` 2.27.0 deposits where the merchant names no sum, in prices; and of the buyer's limit
/// on a price the most that it deposits at all.
const PRICES_PER_DEPOSIT: u32 = 5;

/// Seconds for which the contract can hold a withdrawal back: 15 minutes to 30 days.
const WITHDRAW_DELAY: std::ops::RangeInclusive<u64> = 900..=2_592_000;

/// As in `@x402/evm` 2.27.0, like the two collectors.
const SETTLEMENT: Contract = Contract {
    address: "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003",
    missing: "x402's batch settlement contract is not deployed on the network",
};
const EIP3009_COLLECTOR: Contract = Contract {
    address: "0x4020806089470a89826cB9fB1f4059150b550004",
    missing: "x402's EIP-3009 deposit collector is not deployed on the network",
};
const PERMIT2_COLLECTOR: Contract = Contract {
    address: "0x4020425FAf3B746C082C2f942b4E5159887B0005",
    missing: "x402's Permit2 deposit collector is not deployed on the network",
};

pub(super) fn route(offer: &Offer<'_>) -> Result<Route, Rejection> {
    offer.require_evm()?;
    let method = offer.method(Method::Eip3009)?;
    offer.require_address("receiverAuthorizer")?;
    check_withdraw_delay(offer)?;
    let (transfer, contracts): (_, &[Contract]) = match method {
        Method::Eip3009 => (eip3009::transfer(offer)?, &[SETTLEMENT, EIP3009_COLLECTOR]),
        Method::Permit2 => (permit2::transfer(offer), &[permit2::PERMIT2, SETTLEMENT, PERMIT2_COLLECTOR]),
    };
    Ok(Route { transfer, deposit: Some(deposit(offer)), contracts })
}

fn check_withdraw_delay(offer: &Offer<'_>) -> Result<(), Rejection> {
    let problem = match offer.terms.extra.whole_number("withdrawDelay") {
        Ok(Some(seconds)) if WITHDRAW_DELAY.contains(&seconds) => return Ok(()),
        Ok(Some(_)) => "extra.withdrawDelay is out of range; accepted are 900 to 2592000 seconds".to_owned(),
        Ok(None) => "extra.withdrawDelay is missing".to_owned(),
        Err(malformed) => malformed.to_string(),
    };
    Err(rejection(RejectionReason::MalformedRequirement, problem))
}

/// `minDeposit` if it is at least the price, else a few prices; at most as many times what the buyer allows for one.
fn deposit(offer: &Offer<'_>) -> Amount {
    let price = offer.terms.amount;
    let announced = offer.stated("minDeposit").and_then(|text| Amount::from_str(text.trim_start_matches('0')).ok());
    let target = announced.filter(|sum| *sum >= price).unwrap_or(price.saturating_mul(PRICES_PER_DEPOSIT));
    let limit = offer.asset.and_then(|asset| asset.limit);
    limit.map_or(target, |limit| target.min(limit.saturating_mul(PRICES_PER_DEPOSIT)))
}
