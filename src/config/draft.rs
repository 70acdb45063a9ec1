//! One network on its way from its built-in row to what the configuration makes of it.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::asset_policy::AssetPolicy;
use super::check::{self, list_once, listed};
use super::field::{Field, Result};
use super::{Asset, Identity, NetworkConfig, Strategy};
use crate::amount::{Amount, MAX_DECIMALS};
use crate::endpoint::Endpoint;
use crate::network::{ChainId, Family};
use crate::registry::{self, AssetKind, TokenProgram};
use crate::rpc_url::RpcUrl;

/// Endpoints per network. 64: half of what health remembers by default.
const MOST_ENDPOINTS: usize = 64;

const STRATEGIES: [(&str, Strategy); 5] = [
    ("ordered", Strategy::Ordered),
    ("best-score", Strategy::BestScore),
    ("weighted", Strategy::Weighted),
    ("race", Strategy::Race),
    ("hedged", Strategy::Hedged),
];

const PROGRAMS: [(&str, TokenProgram); 2] = [("token", TokenProgram::Token), ("token-2022", TokenProgram::Token2022)];

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

/// The built-in networks of families that can be read.
pub(super) fn builtin_networks() -> Vec<Draft> {
    let mut drafts = Vec::new();
    for row in registry::NETWORKS {
        let chain = ChainId::parse_caip2(row.id).ok();
        if let Some(chain) = chain.filter(|chain| chain.family() != Family::Other) {
            drafts.push(Draft::builtin(chain, row));
        }
    }
    drafts
}

impl Draft {
    fn builtin(chain: ChainId, row: &registry::Network) -> Self {
        let mut draft = Self::unknown(chain);
        draft.name = row.name.into();
        if let Some(hash) = row.genesis_hash {
            draft.identity = Identity::GenesisHash(hash.into());
        }
        for url in row.rpc.iter().filter_map(|url| RpcUrl::parse(url)) {
            draft.endpoints.push(Arc::new(Endpoint::at_url(draft.chain.clone(), url)));
        }
        draft.assets.extend(registry::assets(&draft.chain).map(|row| builtin_asset(&draft.chain, row)));
        draft
    }

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

    pub(super) fn apply(&mut self, field: &Field<'_>, allow_http: bool) -> Result<()> {
        let mut fields = field.fields()?;
        if let Some(name) = fields.take_set("name") {
            self.name = check::label(&name)?;
        }
        if let Some(hash) = fields.take_set("genesisHash") {
            self.identity = self.genesis(&hash)?;
        }
        if let Some(rpc) = fields.take_set("rpc") {
            self.endpoints = self.endpoints(&rpc, allow_http)?;
        }
        if let Some(url) = fields.take_set("referenceUrl") {
            let url = check::endpoint_url(&url, allow_http)?;
            self.reference = Some(Arc::new(Endpoint::at_url(self.chain.clone(), url)));
        }
        let mut ids = Vec::new();
        for asset in fields.items("assets")? {
            if !list_once(&mut ids, self.add_asset(&asset)?, ()) {
                return Err(asset.refused("is listed twice", "each asset once"));
            }
        }
        self.strategy = match fields.take_set("strategy") {
            Some(strategy) => strategy.word(&STRATEGIES)?,
            None => Strategy::Ordered,
        };
        fields.finish()
    }

    fn genesis(&self, field: &Field<'_>) -> Result<Identity> {
        let hash = field.text()?;
        let belongs = self.chain.family() == Family::Svm && hash.starts_with(self.chain.reference());
        match belongs && Address::from_str(&hash).is_ok() {
            true => Ok(Identity::GenesisHash(hash.into())),
            false => Err(field.refused(
                "does not belong to the network",
                "the base58 genesis hash that the network's CAIP-2 id begins",
            )),
        }
    }

    fn endpoints(&self, field: &Field<'_>, allow_http: bool) -> Result<Vec<Arc<Endpoint>>> {
        let fields = field.items()?;
        if fields.is_empty() || fields.len() > MOST_ENDPOINTS {
            let accepted = format!("1 to {MOST_ENDPOINTS} endpoints");
            return Err(field.refused(&format!("has {} endpoints", fields.len()), &accepted));
        }
        let mut endpoints: Vec<Arc<Endpoint>> = Vec::new();
        for field in fields {
            let endpoint = self.endpoint(&field, allow_http)?;
            if endpoints.iter().any(|other| other.key() == endpoint.key()) {
                return Err(field.refused("is listed twice", "each endpoint once"));
            }
            endpoints.push(Arc::new(endpoint));
        }
        Ok(endpoints)
    }

    /// `"https://…"`, `{"url": "https://…", …}` or `{"provider": "…", …}`.
    fn endpoint(&self, field: &Field<'_>, allow_http: bool) -> Result<Endpoint> {
        if field.is_text() {
            return Ok(Endpoint::at_url(self.chain.clone(), check::endpoint_url(field, allow_http)?));
        }
        if !field.is_object() {
            return Err(field.mismatch("a URL or an object with a url or a provider"));
        }
        let mut fields = field.fields()?;
        let url = fields.take_set("url");
        let provider = fields.take_set("provider").map(|field| check::label(&field)).transpose()?;
        let label = fields.take_set("label").map(|field| check::label(&field)).transpose()?;
        let (mut priority, mut weight) = (0, 1);
        fields.set_whole("priority", &mut priority)?;
        fields.set_whole("weight", &mut weight)?;
        let max_in_flight = fields.whole("maxInFlight")?;
        fields.finish()?;
        if !(1..=1_000).contains(&weight) {
            return Err(field.refused_at("weight", "is out of range", "a whole number from 1 to 1000"));
        }
        if max_in_flight == Some(0) {
            return Err(field.refused_at("maxInFlight", "is out of range", "a whole number from 1"));
        }
        let endpoint = match (url, provider) {
            (Some(url), None) => Endpoint::at_url(self.chain.clone(), check::endpoint_url(&url, allow_http)?),
            (None, Some(provider)) => {
                let shown = label.clone().unwrap_or_else(|| provider.clone());
                Endpoint::of_provider(self.chain.clone(), provider, shown)
            }
            (Some(_), Some(_)) => return Err(field.refused("has a url and a provider", "either a url or a provider")),
            (None, None) => return Err(field.refused("has no address", "either a url or a provider")),
        };
        Ok(endpoint.with_options(label, priority, weight, max_in_flight))
    }

    /// A row for an asset that is already known overrides it field by field. Returns the asset's id.
    fn add_asset(&mut self, field: &Field<'_>) -> Result<Arc<str>> {
        let missing = |name, accepted| Err(field.refused_at(name, "is missing", accepted));
        let mut fields = field.fields()?;
        let address = fields.take("address").map(|field| check::address(&field, self.chain.family())).transpose()?;
        let symbol = fields.take_set("symbol").map(|field| check::label(&field)).transpose()?;
        let decimals: Option<u8> = fields.whole("decimals")?;
        let domain = (fields.text("name")?, fields.text("version")?);
        let program = fields.take_set("program").map(|field| field.word(&PROGRAMS)).transpose()?;
        fields.finish()?;
        let Some(address) = address else {
            return Err(field.refused("missing field `address`", "the token's address"));
        };
        let id = asset_id(&self.chain, &address);
        let known = self.assets.iter().position(|asset| asset.id == id).map(|position| self.assets.remove(position));
        let domain = match domain {
            (Some(name), Some(version)) => Some((name.into(), version.into())),
            (None, None) => known.as_ref().and_then(|asset| asset.domain.clone()),
            _ => return missing("name and version", "both parts of the EIP-712 domain, or neither"),
        };
        let Some(decimals) = decimals.or(known.as_ref().map(|asset| asset.decimals)) else {
            return missing("decimals", "the token's decimals");
        };
        if decimals > MAX_DECIMALS {
            let accepted = format!("a whole number from 0 to {MAX_DECIMALS}");
            return Err(field.refused_at("decimals", "is out of range", &accepted));
        }
        let Some(symbol) = symbol.or_else(|| known.as_ref().map(|asset| asset.symbol.clone())) else {
            return missing("symbol", "the token's symbol");
        };
        self.assets.push(Asset {
            id: id.clone(),
            address,
            symbol,
            decimals,
            domain,
            method: known.as_ref().and_then(|asset| asset.method),
            program: program.or(known.and_then(|asset| asset.program)),
            limit: None,
            allowed: true,
        });
        Ok(id)
    }

    pub(super) fn finish(
        self,
        owners: &[(String, Arc<str>)],
        fees: &[(ChainId, Amount)],
        policy: &AssetPolicy<'_>,
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
