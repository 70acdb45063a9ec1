//! Remarks that do not change viability: a closed set with stable names.

use serde::{Deserialize, Serialize};

/// A remark that does not change viability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// The protocol version was missing or not written as a number; it was inferred.
    VersionCoerced,
    /// Version 2 terms were found in the body instead of the header; stock clients may not read
    /// them.
    CarrierBody,
    /// The network is not named as its protocol version names it; some servers and clients will not
    /// recognize it.
    NonCanonicalNetwork,
    /// The token's signing domain was not compared with the chain, and no built-in row confirms
    /// it.
    DomainUnchecked,
    /// The endpoint returned the balance, but refused something that may keep a payment from settling: whether
    /// the token is paused, blocks the buyer, knows of EIP-3009 authorizations or has another signing domain, or
    /// whether there is code at the buyer's address. What it did return counts.
    FactsUnread,
    /// The proof of the chain came in another answer of the same endpoint, not in the same answer as the balance.
    IdentitySeparate,
    /// No endpoint of any network could be reached: this device is probably offline.
    Offline,
    /// There is code at the buyer's address, a contract's or one that it delegates to (EIP-7702): the
    /// token will ask that code about the signature (ERC-1271), and some servers refuse such buyers.
    OwnerHasCode,
    /// Solana: the token keeps a fee of every transfer; the recipient gets less than is paid, by
    /// [`Candidate::transfer_fee`](crate::Candidate::transfer_fee).
    TransferFee,
    /// The allowance is too low, but the server takes an EIP-2612 permit along with the payment
    /// (`eip2612GasSponsoring`), and the token takes those.
    Eip2612Sponsored,
    /// The allowance is zero, but the server takes a signed approval along with the payment
    /// (`erc20ApprovalGasSponsoring`): the buyer's signer must be able to sign a raw transaction.
    Erc20ApprovalSponsored,
    /// Two endpoints of the network report different balances; the higher one is taken.
    BalancesDisagree,
    /// An earlier version 1 entry has the same scheme and network: the server may take the
    /// payment for that one.
    V1Ambiguous,
}

impl Note {
    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::VersionCoerced => "version-coerced",
            Self::CarrierBody => "carrier-body",
            Self::NonCanonicalNetwork => "non-canonical-network",
            Self::DomainUnchecked => "domain-unchecked",
            Self::FactsUnread => "facts-unread",
            Self::IdentitySeparate => "identity-separate",
            Self::Offline => "offline",
            Self::OwnerHasCode => "owner-has-code",
            Self::TransferFee => "transfer-fee",
            Self::Eip2612Sponsored => "eip2612-sponsored",
            Self::Erc20ApprovalSponsored => "erc20-approval-sponsored",
            Self::BalancesDisagree => "balances-disagree",
            Self::V1Ambiguous => "v1-ambiguous",
        }
    }
}
