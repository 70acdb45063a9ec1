//! One network on its way from its built-in row to what the configuration makes of it.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::asset_policy::AssetPolicy;
use super::check::{self, Result, list_once, listed};
use super::document::{AssetDocument, EndpointDocument, NetworkDocument, RoutingDocument};
use super::error::safe_path;
use super::{Asset, ConfigError, Identity, NetworkConfig, Strategy};
use crate::amount::{Amount, MAX_DECIMALS};
use crate::endpoint::Endpoint;
use crate::network::{ChainId, Family};
use crate::registry::{self, AssetKind};
use crate::rpc_url::RpcUrl;

/// Endpoints per network. 64: half of what health remembers by default.
const MOST_ENDPOINTS: usize = 64;

/// A network on its way from the built-in row to the configured one.
pub(super) struct Draft {
    pub(super) chain: ChainId,
    name: Arc<str>,
    identity: Identity,
    endpoints: Vec<Arc<Endpoint>>,
    strategy: Strategy,
    reference: Option<Arc<Endpoint>>,
    pub(super) assets: Vec<Asset>,
    pub(super) configured: bool,
}

pub(super) fn builtin_networks() -> Vec<Draft> {
    (registry::NETWORKS.iter())
        .filter_map(|row| Some((ChainId::parse_caip2(row.id).ok()?, row)))
        .filter(|(chain, _)| chain.family() != Family::Other)
        .map(|(chain, row)| {
            let urls = row.rpc.iter().filter_map(|url| RpcUrl::parse(url));
            Draft {
                name: row.name.into(),
                identity: match row.genesis_hash {
                    Some(hash) => Identity::GenesisHash(hash.into()),
                    None => identity_from_id(&chain),
                },
                endpoints: urls.map(|url| Arc::new(Endpoint::at_url(chain.clone(), url))).collect(),
                strategy: Strategy::Ordered,
                reference: None,
                assets: registry::assets(&chain).map(|row| builtin_asset(&chain, row)).collect(),
                configured: false,
                chain,
            }
        })
        .collect()
}

impl Draft {
    pub(super) fn unknown(chain: ChainId) -> Self {
        Self {
            name: chain.as_str().into(),
            identity: identity_from_id(&chain),
            endpoints: Vec::new(),
            strategy: Strategy::Ordered,
            reference: None,
            assets: Vec::new(),
            configured: false,
            chain,
        }
    }

    pub(super) fn apply(&mut self, path: &str, document: &NetworkDocument, routing: &RoutingDocument) -> Result<()> {
        self.strategy = document.strategy.unwrap_or_default();
        if let Some(name) = &document.name {
            self.name = check::label(&format!("{path}.name"), name)?;
        }
        if let Some(hash) = &document.genesis_hash {
            self.identity = self.genesis(&format!("{path}.genesisHash"), hash)?;
        }
        if let Some(rpc) = &document.rpc {
            self.endpoints = self.endpoints(&format!("{path}.rpc"), rpc, routing.allow_http)?;
        }
        if let Some(url) = &document.reference_url {
            let url = check::endpoint_url(&format!("{path}.referenceUrl"), url, routing.allow_http)?;
            self.reference = Some(Arc::new(Endpoint::at_url(self.chain.clone(), url)));
        }
        let mut ids = Vec::new();
        for (index, asset) in document.assets.iter().enumerate() {
            let path = format!("{path}.assets[{index}]");
            if !list_once(&mut ids, self.add_asset(&path, asset)?, ()) {
                return Err(ConfigError::new(safe_path(&path), "is listed twice", "each asset once"));
            }
        }
        Ok(())
    }

    fn genesis(&self, path: &str, hash: &str) -> Result<Identity> {
        let belongs = self.chain.family() == Family::Svm && hash.starts_with(self.chain.reference());
        match belongs && Address::from_str(hash).is_ok() {
            true => Ok(Identity::GenesisHash(hash.into())),
            false => Err(ConfigError::new(
                safe_path(path),
                "does not belong to the network",
                "the base58 genesis hash that the network's CAIP-2 id begins",
            )),
        }
    }

    fn endpoints(&self, path: &str, documents: &[EndpointDocument], allow_http: bool) -> Result<Vec<Arc<Endpoint>>> {
        if documents.is_empty() || documents.len() > MOST_ENDPOINTS {
            let accepted = format!("1 to {MOST_ENDPOINTS} endpoints");
            return Err(ConfigError::new(safe_path(path), format!("has {} endpoints", documents.len()), accepted));
        }
        let mut endpoints: Vec<Arc<Endpoint>> = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let endpoint = self.endpoint(&path, document, allow_http)?;
            if endpoints.iter().any(|other| other.key() == endpoint.key()) {
                return Err(ConfigError::new(safe_path(&path), "is listed twice", "each endpoint once"));
            }
            endpoints.push(Arc::new(endpoint));
        }
        Ok(endpoints)
    }

    fn endpoint(&self, path: &str, document: &EndpointDocument, allow_http: bool) -> Result<Endpoint> {
        let options = &document.options;
        let named = |field: &str, text: &Option<String>| {
            text.as_ref().map(|text| check::label(&format!("{path}.{field}"), text)).transpose()
        };
        let in_range = |holds: bool, field: &str, accepted: &str| match holds {
            true => Ok(()),
            false => Err(ConfigError::new(safe_path(&format!("{path}.{field}")), "is out of range", accepted)),
        };
        in_range((1..=1_000).contains(&options.weight), "weight", "a whole number from 1 to 1000")?;
        in_range(options.max_in_flight != Some(0), "maxInFlight", "a whole number from 1")?;
        let (provider, label) = (named("provider", &document.provider)?, named("label", &options.label)?);
        let endpoint = match (&document.url, provider) {
            (Some(url), None) => {
                let url_path = if document.bare { path.to_owned() } else { format!("{path}.url") };
                Endpoint::at_url(self.chain.clone(), check::endpoint_url(&url_path, url, allow_http)?)
            }
            (None, Some(provider)) => {
                let shown = label.clone().unwrap_or_else(|| provider.clone());
                Endpoint::of_provider(self.chain.clone(), provider, shown)
            }
            _ => return Err(ConfigError::new(safe_path(path), "has no address", "either a url or a provider")),
        };
        Ok(endpoint.with_options(label, options.priority, options.weight, options.max_in_flight))
    }

    /// A row for an asset that is already known overrides it field by field. Returns the asset's id.
    fn add_asset(&mut self, path: &str, document: &AssetDocument) -> Result<Arc<str>> {
        let address = check::address(&format!("{path}.address"), self.chain.family(), &document.address)?;
        let id = asset_id(&self.chain, &address);
        let known = self.assets.iter().position(|asset| asset.id == id).map(|position| self.assets.remove(position));
        let missing = |field: &str, accepted: &str| {
            ConfigError::new(safe_path(&format!("{path}.{field}")), "is missing", accepted)
        };
        let symbol = match &document.symbol {
            Some(symbol) => Some(check::label(&format!("{path}.symbol"), symbol)?),
            None => known.as_ref().map(|asset| asset.symbol.clone()),
        };
        let decimals = document.decimals.or(known.as_ref().map(|asset| asset.decimals));
        let decimals = decimals.ok_or_else(|| missing("decimals", "the token's decimals"))?;
        if decimals > MAX_DECIMALS {
            let accepted = format!("a whole number from 0 to {MAX_DECIMALS}");
            return Err(ConfigError::new(safe_path(&format!("{path}.decimals")), "is out of range", accepted));
        }
        let domain = match (&document.name, &document.version) {
            (Some(name), Some(version)) => Some((name.as_str().into(), version.as_str().into())),
            (None, None) => known.as_ref().and_then(|asset| asset.domain.clone()),
            _ => return Err(missing("name and version", "both parts of the EIP-712 domain, or neither")),
        };
        self.assets.push(Asset {
            id: id.clone(),
            address,
            symbol: symbol.ok_or_else(|| missing("symbol", "the token's symbol"))?,
            decimals,
            domain,
            method: known.as_ref().and_then(|asset| asset.method),
            program: document.program.or(known.and_then(|asset| asset.program)),
            limit: None,
            allowed: true,
        });
        Ok(id)
    }

    pub(super) fn finish(
        self,
        owners: &[(String, Arc<str>)],
        fees: &[(ChainId, Amount)],
        policy: &AssetPolicy,
    ) -> Result<NetworkConfig> {
        let owner = listed(owners, self.chain.as_str()).or_else(|| listed(owners, self.chain.namespace()));
        let assets = (self.assets.into_iter()).map(|asset| policy.apply(asset).map(Arc::new));
        Ok(NetworkConfig {
            owner: owner.cloned(),
            assets: assets.collect::<Result<_>>()?,
            fee: listed(fees, &self.chain).copied().unwrap_or_default(),
            chain: self.chain,
            name: self.name,
            identity: self.identity,
            endpoints: self.endpoints,
            strategy: self.strategy,
            reference: self.reference,
        })
    }
}

fn identity_from_id(chain: &ChainId) -> Identity {
    match chain.evm_chain_id() {
        Some(id) => Identity::ChainId(id),
        None => Identity::GenesisPrefix(chain.reference().into()),
    }
}

fn builtin_asset(chain: &ChainId, row: &registry::Asset) -> Asset {
    let (domain, method, program) = match row.kind {
        AssetKind::Erc20 { name, version, method } => (Some((name.into(), version.into())), Some(method), None),
        AssetKind::Spl { program } => (None, None, Some(program)),
    };
    Asset {
        id: asset_id(chain, row.address),
        address: row.address.into(),
        symbol: row.symbol.into(),
        decimals: row.decimals,
        domain,
        method,
        program,
        limit: None,
        allowed: true,
    }
}

/// CAIP-19. EVM addresses in lower case, so that one asset has one id.
fn asset_id(chain: &ChainId, address: &str) -> Arc<str> {
    match chain.family() {
        Family::Svm => format!("{chain}/token:{address}").into(),
        _ => format!("{chain}/erc20:{}", address.to_ascii_lowercase()).into(),
    }
}
