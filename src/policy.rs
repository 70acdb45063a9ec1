//! Screening: what can be said of an offer without asking anyone.
//!
//! One function a rule; the rules of schemes are theirs. Refuses to know balances and endpoints'
//! health, and sends nothing: an offer that is screened out causes no traffic at all.

use std::sync::Arc;

use crate::amount::Amount;
use crate::candidate::Candidate;
use crate::config::{Asset, Config, NetworkConfig};
use crate::network::Family;
use crate::payment::{PaymentRequired, Requirement, Terms, Version};
use crate::scheme::{self, Asks, Offer, Route, Sponsors};
use crate::text::shown;
use crate::verdict::{Reason, Rejection};

/// An offer after screening: its candidate so far, and what to read if it is still in the running.
pub(crate) struct Screened {
    pub(crate) candidate: Candidate,
    pub(crate) read: Option<BalanceRead>,
    /// What a payment takes, where the scheme has a way.
    pub(crate) route: Option<Route>,
}

/// One balance to read.
#[derive(Clone, Debug)]
pub(crate) struct BalanceRead {
    pub(crate) network: Arc<NetworkConfig>,
    pub(crate) asset: Arc<Asset>,
    pub(crate) owner: Arc<str>,
    /// Who is to receive, where the chain must be ready for that (Solana).
    pub(crate) recipient: Option<Arc<str>>,
    /// What else to read along with it.
    pub(crate) asks: Asks,
}

/// Screens every offer, in order.
pub(crate) fn screen(payment: &PaymentRequired, config: &Config) -> Vec<Screened> {
    let advertised = |name: &str| payment.extensions().iter().any(|extension| extension == name);
    let sponsors =
        Sponsors { permit: advertised("eip2612GasSponsoring"), approval: advertised("erc20ApprovalGasSponsoring") };
    (payment.requirements().iter())
        .map(|requirement| {
            let mut screened = screen_one(requirement, payment.version(), sponsors, config);
            let notes = payment.notes().iter().chain(requirement.notes());
            notes.for_each(|note| screened.candidate.note(*note));
            screened
        })
        .collect()
}

fn screen_one(requirement: &Requirement, version: Version, sponsors: Sponsors, config: &Config) -> Screened {
    let mut candidate = Candidate::new(requirement.index());
    let terms = match requirement.terms() {
        Ok(terms) => terms,
        Err(malformed) => {
            candidate.reject(Reason::MalformedRequirement, malformed.to_string());
            return Screened { candidate, read: None, route: None };
        }
    };
    candidate.scheme = Some(terms.scheme.clone());
    candidate.amount = Some(terms.amount);
    candidate.network = terms.chain.clone();
    let Some(network) = terms.chain.as_ref().and_then(|chain| config.network(chain)) else {
        let name = shown(&terms.network);
        candidate.reject(Reason::NetworkUnknown, format!("`{name}` is neither built in nor configured"));
        return Screened { candidate, read: None, route: None };
    };
    let asset = network.asset(&terms.asset);
    describe(&mut candidate, network, asset);
    let offer = Offer { version, terms, network, asset: asset.map(Arc::as_ref), sponsors };
    let (route, no_route) = match scheme::route(&offer) {
        Ok(route) => (Some(route), None),
        Err(rejection) => (None, Some(rejection)),
    };
    candidate.deposit = route.as_ref().and_then(|route| route.deposit);
    let rejections = [
        network_allowed(network, config),
        endpoint_configured(network),
        no_route,
        asset_known(terms, asset),
        asset.and_then(|asset| asset_allowed(asset)),
        asset.and_then(|asset| amount_within_limit(terms, asset)),
        owner_configured(network),
    ];
    for rejection in rejections.into_iter().flatten() {
        candidate.reject(rejection.reason, rejection.detail);
    }
    let (Some(asset), Some(owner), Some(route)) = (asset, &network.owner, route.filter(|_| candidate.viable)) else {
        return Screened { candidate, read: None, route: None };
    };
    let is_svm = network.chain.family() == Family::Svm;
    let read = BalanceRead {
        network: network.clone(),
        asset: asset.clone(),
        owner: owner.clone(),
        recipient: is_svm.then(|| terms.pay_to.clone()),
        asks: route.asks(),
    };
    Screened { candidate, read: Some(read), route: Some(route) }
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
