//! The payment schemes that can be judged: a closed set, one file each, one line in [`SCHEMES`].
//!
//! A scheme says whether an offer states what a payment takes, how its token would move, and what is to be read of the
//! chain for that. Refuses to know what the buyer allows and holds. An unknown scheme or transfer method is rejected,
//! never taken for another.

mod batch_settlement;
mod exact;
pub(crate) mod facts;
pub(crate) mod judge;
pub(crate) mod screen;
mod transfer;
mod upto;

use self::transfer::StatedDomain;
pub(crate) use self::transfer::{Contract, ReadFlags, Transfer, eip3009, permit2, spl};
use crate::chain::{Amount, ChainFamily, domain_separator, is_evm_address, is_zero_address};
use crate::config::{AssetConfig, NetworkConfig};
use crate::hold::Debit;
use crate::payment::{Terms, X402Version};
use crate::ranking::{Rejection, RejectionReason};
use crate::util::text::shown;

struct Scheme {
    /// As offers state it.
    name: &'static str,
    /// Finds the route of an offer, or why there is none that can be judged.
    route: fn(&Offer<'_>) -> Result<Route, Rejection>,
    debit: Debit,
}

const SCHEMES: &[Scheme] = &[
    Scheme { name: "exact", route: exact::route, debit: Debit::Exact },
    Scheme { name: "upto", route: upto::route, debit: Debit::UpTo },
    Scheme { name: "batch-settlement", route: batch_settlement::route, debit: Debit::UpTo },
];

/// Circle Gateway's deposits are announced as `exact`, with a signing domain of their own.
const GATEWAY_DOMAIN: &str = "GatewayWalletBatched";

/// When a payment is settled: after the answer, before it, or both. Official clients drop an offer of any other flow.
const FLOWS: [&str; 3] = ["authorization", "upfront", "escrow"];

/// An offer as a scheme sees it.
pub(crate) struct Offer<'a> {
    pub(crate) version: X402Version,
    pub(crate) terms: &'a Terms,
    pub(crate) network: &'a NetworkConfig,
    /// What is known of the asset; `None` where nothing is.
    pub(crate) asset: Option<&'a AssetConfig>,
    /// Who besides the buyer would pay for an approval.
    pub(crate) sponsors: Sponsors,
}

/// The extensions of a 402 with which a server takes an approval along with the payment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sponsors {
    /// `eip2612GasSponsoring`: a permit signed by the buyer.
    pub(crate) permit: bool,
    /// `erc20ApprovalGasSponsoring`: a transaction signed by the buyer.
    pub(crate) approval: bool,
}

/// What a payment takes.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) transfer: Transfer,
    /// What must be there instead of the price, for schemes that pay out of a deposit.
    pub(crate) deposit: Option<Amount>,
    /// What must be deployed for the payment to settle.
    pub(crate) contracts: &'static [Contract],
}

/// The way in which an offer can be paid, or why there is none, whatever the buyer holds.
pub(crate) fn route(offer: &Offer<'_>) -> Result<Route, Rejection> {
    let scheme = &*offer.terms.scheme;
    let Some(Scheme { route, .. }) = find(scheme) else {
        return Err(rejection(RejectionReason::SchemeUnsupported, format!("`{}`", shown(scheme))));
    };
    offer.check_payment_flow()?;
    offer.check_verifying_contract()?;
    route(offer)
}

/// How much a payment by `scheme` takes. `None` for a scheme that is not known.
pub(crate) fn debit(scheme: &str) -> Option<Debit> {
    find(scheme).map(|scheme| scheme.debit)
}

fn find(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

impl Route {
    /// A payment of the price, with nothing deployed for it but the token.
    fn plain(transfer: Transfer) -> Self {
        Self { transfer, deposit: None, contracts: &[] }
    }

    /// What is to be read of the chain, besides the balance.
    pub(crate) fn read_flags(&self) -> ReadFlags {
        self.transfer.read_flags(self.contracts)
    }
}

impl Offer<'_> {
    /// Version 1 has only `exact` and EIP-3009: its clients sign nothing else, whatever an entry says.
    fn require_version_2(&self, what: &str, reason: RejectionReason) -> Result<(), Rejection> {
        match self.version {
            X402Version::V1 => Err(rejection(reason, format!("`{what}` in x402 version 1"))),
            X402Version::V2 => Ok(()),
        }
    }

    /// For schemes other than `exact`, whose forms on other chains are not known well enough to judge.
    fn require_evm(&self) -> Result<(), Rejection> {
        let (scheme, reason) = (&*self.terms.scheme, RejectionReason::SchemeUnsupported);
        self.require_version_2(scheme, reason)?;
        match self.network.chain.family() {
            ChainFamily::Evm => Ok(()),
            _ => Err(rejection(reason, format!("`{scheme}` on {}", self.network.name))),
        }
    }

    fn check_payment_flow(&self) -> Result<(), Rejection> {
        let reason = RejectionReason::TransferMethodUnsupported;
        match self.text("paymentFlow", reason)? {
            Some(flow) if !FLOWS.iter().any(|known| *known == flow) => {
                Err(rejection(reason, format!("extra.paymentFlow `{}`", shown(&flow))))
            }
            _ => Ok(()),
        }
    }

    /// A signature under another contract's domain than the token's moves no token.
    fn check_verifying_contract(&self) -> Result<(), Rejection> {
        if self.network.chain.family() != ChainFamily::Evm {
            return Ok(());
        }
        let reason = RejectionReason::TransferMethodUnsupported;
        if self.stated("name").as_deref() == Some(GATEWAY_DOMAIN) {
            return Err(rejection(reason, format!("`{GATEWAY_DOMAIN}`")));
        }
        match self.text("verifyingContract", reason)? {
            Some(contract) if !contract.eq_ignore_ascii_case(&self.terms.asset) => {
                Err(rejection(reason, "extra.verifyingContract is not the token"))
            }
            _ => Ok(()),
        }
    }

    /// A text of `extra`, if there is one. Anything else is rejected for `reason`.
    fn text(&self, key: &'static str, reason: RejectionReason) -> Result<Option<String>, Rejection> {
        self.terms.extra.text(key).map_err(|malformed| rejection(reason, malformed.to_string()))
    }

    /// A text of `extra` that is not empty, if there is one.
    fn stated(&self, key: &'static str) -> Option<String> {
        self.terms.extra.text(key).ok().flatten().filter(|text| !text.is_empty())
    }

    /// Requires an address of `extra` that is not zero: the zero address can play no role.
    fn require_address(&self, key: &'static str) -> Result<(), Rejection> {
        let reason = RejectionReason::MalformedRequirement;
        let problem = match self.text(key, reason)? {
            None => "is missing",
            Some(text) if !is_evm_address(&text) => "is not an address",
            Some(text) if is_zero_address(&text) => "is the zero address",
            Some(_) => return Ok(()),
        };
        Err(rejection(reason, format!("extra.{key} {problem}")))
    }

    /// The signing domain that the offer states, of a token that is known.
    fn domain(&self) -> Option<StatedDomain> {
        let (asset, chain_id) = (self.asset?, self.network.chain.evm_chain_id()?);
        let (name, version) = (self.stated("name")?, self.stated("version")?);
        let mut contract = [0; 20];
        hex::decode_to_slice(asset.address.strip_prefix("0x")?, &mut contract).ok()?;
        let row = asset.domain.as_ref().map(|(name, version)| (&**name, &**version));
        Some(StatedDomain {
            separator: domain_separator(&name, &version, chain_id, contract),
            confirmed: row == Some((&name, &version)),
        })
    }
}

fn rejection(reason: RejectionReason, detail: impl Into<String>) -> Rejection {
    Rejection { reason, detail: detail.into() }
}
