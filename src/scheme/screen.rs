//! Screening: what can be said of an offer without asking an endpoint.
//!
//! One function a rule; the rules of schemes are in their own files. Refuses to know balances and endpoints' health,
//! and sends nothing: an offer that is screened out causes no traffic at all.

use std::sync::Arc;

use crate::chain::ChainFamily;
use crate::config::{AssetConfig, Config, NetworkConfig};
use crate::payment::{PaymentRequired, PaymentRequirement, Terms, X402Version};
use crate::ranking::{Candidate, RejectionReason};
use crate::scheme::{self, Offer, ReadFlags, Route, Sponsors};
use crate::util::text::shown;

/// An offer after screening: its candidate so far, and what to read if it may still be payable.
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
    pub(crate) asset: Arc<AssetConfig>,
    pub(crate) owner: Arc<str>,
    /// Who is to receive, where the chain must be ready for that (Solana).
    pub(crate) recipient: Option<Arc<str>>,
    /// What else to read along with it.
    pub(crate) flags: ReadFlags,
}

/// Screens every offer, in order.
pub(crate) fn screen(payment: &PaymentRequired, config: &Config) -> Vec<Screened> {
    let advertised = |name: &str| payment.extensions().iter().any(|extension| extension == name);
    let sponsors =
        Sponsors { permit: advertised("eip2612GasSponsoring"), approval: advertised("erc20ApprovalGasSponsoring") };
    let screen_one = |requirement: &PaymentRequirement| {
        let mut screened = Screened { candidate: Candidate::new(requirement.index()), read: None, route: None };
        match requirement.terms() {
            Ok(terms) => screened.check_terms(terms, payment.version(), sponsors, config),
            Err(malformed) => screened.candidate.reject(RejectionReason::MalformedRequirement, malformed.to_string()),
        }
        for note in payment.notes().iter().chain(requirement.notes()) {
            screened.candidate.note(*note);
        }
        screened
    };
    payment.requirements().iter().map(screen_one).collect()
}

impl Screened {
    fn check_terms(&mut self, terms: &Terms, version: X402Version, sponsors: Sponsors, config: &Config) {
        let candidate = &mut self.candidate;
        candidate.scheme = Some(terms.scheme.clone());
        candidate.amount = Some(terms.amount);
        candidate.network = terms.chain.clone();
        let Some(network) = terms.chain.as_ref().and_then(|chain| config.network(chain)) else {
            let name = shown(&terms.network);
            return candidate
                .reject(RejectionReason::NetworkUnknown, format!("`{name}` is neither built in nor configured"));
        };
        let asset = network.asset(&terms.asset);
        describe(candidate, network, asset);
        check_network_allowed(candidate, network, config);
        check_endpoint(candidate, network);
        match scheme::route(&Offer { version, terms, network, asset: asset.map(Arc::as_ref), sponsors }) {
            Ok(route) => self.route = Some(route),
            Err(rejection) => candidate.reject(rejection.reason, rejection.detail),
        }
        candidate.deposit = self.route.as_ref().and_then(|route| route.deposit);
        match asset {
            Some(asset) => {
                check_asset_allowed(candidate, asset);
                check_amount(candidate, terms, asset);
            }
            None => candidate.reject(RejectionReason::AssetUnsupported, format!("`{}`", shown(&terms.asset))),
        }
        check_owner(candidate, network);
        if let (true, Some(asset), Some(owner), Some(route)) = (candidate.viable, asset, &network.owner, &self.route) {
            let is_svm = network.chain.family() == ChainFamily::Svm;
            self.read = Some(BalanceRead {
                network: network.clone(),
                asset: asset.clone(),
                owner: owner.clone(),
                recipient: is_svm.then(|| terms.pay_to.clone()),
                flags: route.read_flags(),
            });
        }
    }
}

fn describe(candidate: &mut Candidate, network: &NetworkConfig, asset: Option<&Arc<AssetConfig>>) {
    candidate.network_name = Some(network.name.clone());
    candidate.owner = network.owner.clone();
    candidate.fee = network.fee;
    if let Some(asset) = asset {
        candidate.asset_id = Some(asset.id.clone());
        candidate.symbol = Some(asset.symbol.clone());
        candidate.decimals = Some(asset.decimals);
    }
}

fn check_network_allowed(candidate: &mut Candidate, network: &NetworkConfig, config: &Config) {
    let allowed = &config.policy.allowed_networks;
    if !allowed.is_empty() && !allowed.contains(&network.chain) {
        let detail = format!("{} is not in policy.allowedNetworks", network.name);
        candidate.reject(RejectionReason::NetworkNotAllowed, detail);
    }
}

fn check_endpoint(candidate: &mut Candidate, network: &NetworkConfig) {
    if network.endpoints.is_empty() {
        candidate
            .reject(RejectionReason::NetworkUnknown, format!("no RPC endpoint is configured for {}", network.name));
    }
}

fn check_asset_allowed(candidate: &mut Candidate, asset: &AssetConfig) {
    if !asset.allowed {
        candidate.reject(RejectionReason::AssetNotAllowed, format!("{} is not in policy.allowedAssets", asset.symbol));
    }
}

fn check_amount(candidate: &mut Candidate, terms: &Terms, asset: &AssetConfig) {
    if let Some(limit) = asset.limit.filter(|limit| terms.amount > *limit) {
        let (price, limit) = (terms.amount.to_units(asset.decimals), limit.to_units(asset.decimals));
        let detail = format!("costs {price} {}, at most {limit} is allowed", asset.symbol);
        candidate.reject(RejectionReason::AmountOverLimit, detail);
    }
}

fn check_owner(candidate: &mut Candidate, network: &NetworkConfig) {
    if network.owner.is_none() {
        let chain = &network.chain;
        candidate.reject(RejectionReason::NoOwner, format!("owners has neither {chain} nor {}", chain.namespace()));
    }
}
