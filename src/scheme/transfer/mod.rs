//! How tokens move: what each way needs to know from the chain, and what that makes of a candidate.

pub(crate) mod eip3009;
pub(crate) mod permit2;
pub(crate) mod spl;

use super::{Offer, rejection};
use crate::chain::Amount;
use crate::ranking::{Candidate, Rejection, RejectionReason};
use crate::scheme::facts::AccountState;
use crate::util::text::shown;

/// How a token moves.
#[derive(Clone, Debug)]
pub(crate) enum Transfer {
    /// By the token itself, on a signature under its own domain.
    Eip3009 {
        /// As the offer states it; `None` for a token that is not known.
        domain: Option<StatedDomain>,
        /// The token's row says that it moves so.
        is_known: bool,
    },
    /// By Permit2, out of an allowance.
    Permit2(permit2::Sponsorship),
    /// By one of Solana's token programs.
    Spl,
}

/// The signing domain that an offer states.
#[derive(Clone, Debug)]
pub(crate) struct StatedDomain {
    pub(crate) separator: [u8; 32],
    /// Whether the asset's row states the same.
    pub(crate) confirmed: bool,
}

/// What is read of an EVM chain about a token and its owner, besides the balance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadFlags {
    /// The token's signing domain.
    pub(crate) domain: bool,
    /// Whether the token has authorizations (EIP-3009).
    pub(crate) authorizations: bool,
    /// What Permit2 may spend.
    pub(crate) allowance: bool,
    /// Whether the token takes permits (EIP-2612).
    pub(crate) permit: bool,
    /// What must be deployed.
    pub(crate) contracts: &'static [Contract],
}

/// A contract without which a payment does not settle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contract {
    pub(crate) address: &'static str,
    /// What it means that there is no code at the address.
    pub(crate) missing: &'static str,
}

/// The transfer methods of `extra.assetTransferMethod`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Eip3009,
    Permit2,
}

impl Transfer {
    pub(super) fn read_flags(&self, contracts: &'static [Contract]) -> ReadFlags {
        let balance_alone = ReadFlags { contracts, ..ReadFlags::default() };
        match self {
            Self::Eip3009 { is_known, .. } => ReadFlags { domain: true, authorizations: !is_known, ..balance_alone },
            Self::Permit2(sponsorship) => {
                let (domain, permit) = (sponsorship.permit.is_some(), sponsorship.asks_for_permits());
                ReadFlags { domain, allowance: true, permit, ..balance_alone }
            }
            Self::Spl => balance_alone,
        }
    }

    /// Whether `due` could move in this way, whatever the balance.
    pub(super) fn check(&self, candidate: &mut Candidate, due: Amount, state: &AccountState) {
        match self {
            Self::Eip3009 { domain: Some(stated), .. } => eip3009::check_domain(candidate, stated, state),
            Self::Eip3009 { domain: None, .. } => {}
            Self::Permit2(sponsorship) => permit2::check_allowance(candidate, sponsorship, due, state),
            Self::Spl => spl::apply_transfer_fee(candidate, due, state),
        }
    }
}

impl Offer<'_> {
    /// The method that the offer names, or the scheme's own. A method that is not known is never guessed: stock
    /// clients take it for EIP-3009 and sign something that cannot settle.
    pub(super) fn method(&self, default: Method) -> Result<Method, Rejection> {
        let reason = RejectionReason::TransferMethodUnsupported;
        match self.text("assetTransferMethod", reason)?.as_deref() {
            None => Ok(default),
            Some("eip3009") => Ok(Method::Eip3009),
            Some("permit2") => self.require_version_2("permit2", reason).map(|()| Method::Permit2),
            Some(other) => Err(rejection(reason, format!("`{}`", shown(other)))),
        }
    }
}
