//! Screening: what can be said of an offer without asking anyone.
//!
//! One function a rule; the rules of schemes are theirs. Refuses to know balances and endpoints'
//! health, and sends nothing: an offer that is screened out causes no traffic at all.

use std::sync::Arc;

use crate::amount::Amount;
use crate::candidate::{Candidate, StatedDomain};
use crate::config::{Asset, Config, NetworkConfig};
use crate::eip712::domain_separator;
use crate::network::Family;
use crate::payment::{PaymentRequired, Requirement, Terms};
use crate::scheme::{self, Offer};
use crate::text::shown;
use crate::verdict::{Reason, Rejection};

/// An offer after screening: its candidate so far, and what to read if it is still in the running.
pub(crate) struct Screened {
    pub(crate) candidate: Candidate,
    pub(crate) read: Option<BalanceRead>,
    /// The signing domain to compare with the chain's, where there is one.
    pub(crate) domain: Option<StatedDomain>,
}

/// One balance to read.
#[derive(Clone, Debug)]
pub(crate) struct BalanceRead {
    pub(crate) network: Arc<NetworkConfig>,
    pub(crate) asset: Arc<Asset>,
    pub(crate) owner: Arc<str>,
    /// Who is to receive, where the chain must be ready for that (Solana).
    pub(crate) recipient: Option<Arc<str>>,
}

/// Screens every offer, in order.
pub(crate) fn screen(payment: &PaymentRequired, config: &Config) -> Vec<Screened> {
    (payment.requirements().iter())
        .map(|requirement| {
            let mut screened = screen_one(requirement, config);
            let notes = payment.notes().iter().chain(requirement.notes());
            notes.for_each(|note| screened.candidate.note(*note));
            screened
        })
        .collect()
}

fn screen_one(requirement: &Requirement, config: &Config) -> Screened {
    let mut candidate = Candidate::new(requirement.index());
    let terms = match requirement.terms() {
        Ok(terms) => terms,
        Err(malformed) => {
            candidate.reject(Reason::MalformedRequirement, malformed.to_string());
            return Screened { candidate, read: None, domain: None };
        }
    };
    candidate.scheme = Some(terms.scheme.clone());
    candidate.amount = Some(terms.amount);
    candidate.network = terms.chain.clone();
    let Some(network) = terms.chain.as_ref().and_then(|chain| config.networks.get(chain)) else {
        let name = shown(&terms.network);
        candidate.reject(Reason::NetworkUnknown, format!("`{name}` is neither built in nor configured"));
        return Screened { candidate, read: None, domain: None };
    };
    let asset = network.asset(&terms.asset);
    describe(&mut candidate, network, asset);
    let rejections = [
        network_allowed(network, config),
        endpoint_configured(network),
        scheme::problem(&Offer { terms, network, asset: asset.map(Arc::as_ref) }),
        asset_known(terms, asset),
        asset.and_then(|asset| asset_allowed(asset)),
        asset.and_then(|asset| amount_within_limit(terms, asset)),
        owner_configured(network),
    ];
    for rejection in rejections.into_iter().flatten() {
        candidate.reject(rejection.reason, rejection.detail);
    }
    let (Some(asset), Some(owner)) = (asset, &network.owner) else {
        return Screened { candidate, read: None, domain: None };
    };
    let is_svm = network.chain.family() == Family::Svm;
    let read = candidate.viable.then(|| BalanceRead {
        network: network.clone(),
        asset: asset.clone(),
        owner: owner.clone(),
        recipient: is_svm.then(|| terms.pay_to.clone()),
    });
    let domain = stated_domain(terms, network, asset).filter(|_| candidate.viable);
    Screened { candidate, read, domain }
}

fn describe(candidate: &mut Candidate, network: &NetworkConfig, asset: Option<&Arc<Asset>>) {
    candidate.network_name = Some(network.name.clone());
    candidate.owner = network.owner.clone();
    candidate.fee = network.fee;
    if let Some(asset) = asset {
        candidate.asset_id = Some(asset.id.clone());
        candidate.symbol = Some(asset.symbol.clone());
        candidate.decimals = Some(asset.decimals);
    }
}

fn refuse(reason: Reason, detail: impl Into<String>) -> Option<Rejection> {
    Some(Rejection { reason, detail: detail.into() })
}

fn network_allowed(network: &NetworkConfig, config: &Config) -> Option<Rejection> {
    let allowed = &config.policy.allowed_networks;
    if allowed.is_empty() || allowed.contains(&network.chain) {
        return None;
    }
    refuse(Reason::NetworkNotAllowed, format!("{} is not in policy.allowedNetworks", network.name))
}

fn endpoint_configured(network: &NetworkConfig) -> Option<Rejection> {
    if network.endpoints.is_empty() {
        return refuse(Reason::NetworkUnknown, format!("no RPC endpoint is configured for {}", network.name));
    }
    None
}

fn asset_known(terms: &Terms, asset: Option<&Arc<Asset>>) -> Option<Rejection> {
    match asset {
        Some(_) => None,
        None => refuse(Reason::AssetUnsupported, format!("`{}`", shown(&terms.asset))),
    }
}

fn asset_allowed(asset: &Asset) -> Option<Rejection> {
    match asset.allowed {
        true => None,
        false => refuse(Reason::AssetNotAllowed, format!("{} is not in policy.allowedAssets", asset.symbol)),
    }
}

fn amount_within_limit(terms: &Terms, asset: &Asset) -> Option<Rejection> {
    let limit = asset.limit.filter(|limit| terms.amount > *limit)?;
    let units = |amount: Amount| amount.to_units(asset.decimals);
    refuse(
        Reason::AmountOverLimit,
        format!("costs {} {}, at most {} is allowed", units(terms.amount), asset.symbol, units(limit)),
    )
}

fn owner_configured(network: &NetworkConfig) -> Option<Rejection> {
    match network.owner {
        Some(_) => None,
        None => {
            refuse(Reason::NoOwner, format!("owners has neither {} nor {}", network.chain, network.chain.namespace()))
        }
    }
}

/// The signing domain that the offer states, if tokens of this network have one.
fn stated_domain(terms: &Terms, network: &NetworkConfig, asset: &Asset) -> Option<StatedDomain> {
    let chain_id = network.chain.evm_chain_id()?;
    let stated = |key| terms.extra.text(key).ok().flatten();
    let (name, version) = (stated("name")?, stated("version")?);
    let mut contract = [0; 20];
    hex::decode_to_slice(asset.address.strip_prefix("0x")?, &mut contract).ok()?;
    let row = asset.domain.as_ref().map(|(name, version)| (&**name, &**version));
    Some(StatedDomain {
        separator: domain_separator(&name, &version, chain_id, contract),
        confirmed: row == Some((&name, &version)),
    })
}
