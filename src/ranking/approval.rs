//! The approval that a buyer would have to send before a route can pay.
//!
//! It says what to send; nothing here signs or sends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chain::Amount;

/// `approve(address,uint256)`.
const APPROVE: [u8; 4] = [0x09, 0x5e, 0xa7, 0xb3];

/// A transaction from the candidate's `owner` on its `network` that gives a spender an allowance of a
/// token. What the spender may take is exactly what the payment needs.
///
/// Some tokens refuse to change an allowance that is not zero: where the candidate's `allowance` is
/// above zero, one of those must be set to zero first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Approval {
    /// The token's contract: where the transaction goes.
    pub token: Arc<str>,
    /// Who may spend then: Permit2.
    pub spender: Arc<str>,
    /// What it may spend, in atomic units.
    pub amount: Amount,
    /// The transaction's data in hexadecimal: `approve(spender, amount)`.
    pub calldata: String,
}

impl Approval {
    pub(crate) fn new(token: &str, spender: &str, amount: Amount) -> Self {
        let digits = spender.strip_prefix("0x").unwrap_or(spender).to_ascii_lowercase();
        let amount_word = hex::encode(amount.to_be_bytes());
        let calldata = format!("0x{}{digits:0>64}{amount_word}", hex::encode(APPROVE));
        Self { token: token.into(), spender: spender.into(), amount, calldata }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calldata_is_the_call_as_abi_encodes_it() {
        use sha3::{Digest, Keccak256};
        assert_eq!(Keccak256::digest("approve(address,uint256)")[..4], APPROVE);
        let approval = Approval::new("0xToken", "0x000000000022D473030F116dDEE9F6B43aC78BA3", Amount::from_u64(50_000));
        assert_eq!(
            approval.calldata,
            "0x095ea7b3\
             000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3\
             000000000000000000000000000000000000000000000000000000000000c350"
        );
    }
}
