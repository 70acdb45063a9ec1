//! One network on its way from its built-in row to what the configuration makes of it.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use super::asset_policy::AssetPolicy;
use super::check::{self, list_asset, listed};
use super::field::{Field, Listed};
use super::{AssetConfig, Identity, NetworkConfig, Strategy};
use crate::chain::registry::{self, AssetKind, TokenProgram};
use crate::chain::{Amount, ChainFamily, ChainId, MAX_DECIMALS, SolanaAddress};
use crate::runtime::RpcUrl;
use crate::transport::Endpoint;

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
    network: NetworkConfig,
    is_configured: bool,
}

/// Every network that is built in or configured, in the order of their ids.
pub(super) type Drafts = BTreeMap<ChainId, Draft>;

pub(super) fn builtin_networks() -> Drafts {
    let chain = |row: &'static registry::Network| Some((ChainId::known(row.id)?, row));
    let networks = registry::NETWORKS.iter().filter_map(chain);
    networks.map(|(chain, row)| (chain.clone(), Draft::built_in(chain, row))).collect()
}

impl Draft {
    fn built_in(chain: ChainId, row: &registry::Network) -> Self {
        let url = |url: &&str| RpcUrl::parse(url).map(|url| Arc::new(Endpoint::at_url(chain.clone(), url)));
        let endpoints = row.rpc.iter().filter_map(url).collect();
        let assets = registry::assets(&chain).map(|row| Arc::new(AssetConfig::built_in(&chain, row))).collect();
        let Self { mut network, .. } = Self::unknown(chain);
        network.name = row.name.into();
        if let Some(hash) = row.genesis_hash {
            network.identity = Identity::GenesisHash(hash.into());
        }
        Self { network: NetworkConfig { endpoints, assets, ..network }, is_configured: false }
    }

    pub(super) fn assets(&self) -> &[Arc<AssetConfig>] {
        &self.network.assets
    }

    pub(super) fn unknown(chain: ChainId) -> Self {
        let network = NetworkConfig {
            name: chain.as_str().into(),
            identity: identity_from_id(&chain),
            owner: None,
            endpoints: Vec::new(),
            strategy: Strategy::Ordered,
            reference: None,
            assets: Vec::new(),
            fee: Amount::ZERO,
            chain,
        };
        Self { network, is_configured: false }
    }

    pub(super) fn apply(&mut self, field: &Field<'_>, allow_http: bool) {
        if self.is_configured {
            field.refuse("names a network that is already configured", "each network once");
        }
        self.is_configured = true;
        let fields = field.fields();
        if let Some(name) = fields.get_set("name") {
            self.network.name = check::label(name);
        }
        if let Some(hash) = fields.get_set("genesisHash") {
            self.network.identity = self.genesis(hash);
        }
        if let Some(rpc) = fields.get_set("rpc") {
            self.network.endpoints = self.endpoints(rpc, allow_http);
        }
        if let Some(url) = fields.get_set("referenceUrl") {
            self.network.reference = self.endpoint_at(url, allow_http).map(Arc::new);
        }
        let assets = fields.items("assets");
        let mut listed = Listed::new();
        for asset in &assets {
            let id = self.add_asset(asset);
            list_asset(&mut listed, &id, asset);
        }
        if let Some(strategy) = fields.get_set("strategy") {
            self.network.strategy = strategy.word(&STRATEGIES).unwrap_or_default();
        }
        fields.finish();
    }

    fn genesis(&self, field: &Field<'_>) -> Identity {
        let hash = field.text();
        let chain = &self.network.chain;
        let belongs = chain.family() == ChainFamily::Svm && hash.starts_with(chain.reference());
        if !belongs || SolanaAddress::from_str(&hash).is_err() {
            let accepted = "the base58 genesis hash that the network's CAIP-2 id begins";
            field.refuse("does not belong to the network", accepted);
        }
        Identity::GenesisHash(hash.into())
    }

    fn endpoints(&self, field: &Field<'_>, allow_http: bool) -> Vec<Arc<Endpoint>> {
        let fields = field.items();
        if fields.is_empty() || fields.len() > MOST_ENDPOINTS {
            let accepted = format!("1 to {MOST_ENDPOINTS} endpoints");
            field.refuse(&format!("has {} endpoints", fields.len()), &accepted);
            return Vec::new();
        }
        let mut endpoints: Vec<Arc<Endpoint>> = Vec::new();
        for field in &fields {
            let Some(endpoint) = self.endpoint(field, allow_http) else { continue };
            if endpoints.iter().any(|other| other.key() == endpoint.key()) {
                field.refuse("is listed twice", "each endpoint once");
            }
            endpoints.push(Arc::new(endpoint));
        }
        endpoints
    }

    /// `"https://…"`, `{"url": "https://…", …}` or `{"provider": "…", …}`.
    fn endpoint(&self, field: &Field<'_>, allow_http: bool) -> Option<Endpoint> {
        if field.is_text() {
            return self.endpoint_at(field, allow_http);
        }
        if !field.is_object() {
            field.mismatch("a URL or an object with a url or a provider");
            return None;
        }
        let fields = field.fields();
        let url = fields.get_set("url");
        let provider = fields.get_set("provider").map(check::label);
        let label = fields.get_set("label").map(check::label);
        let (mut priority, mut weight) = (0, 1);
        fields.set_whole("priority", 0..=u8::MAX, &mut priority);
        fields.set_whole("weight", 1..=1_000, &mut weight);
        let max_in_flight = fields.whole("maxInFlight", 1..=u32::MAX.into());
        fields.finish();
        let endpoint = match (url, provider) {
            (Some(url), None) => self.endpoint_at(url, allow_http)?,
            (None, Some(provider)) => {
                let shown = label.clone().unwrap_or_else(|| provider.clone());
                Endpoint::of_provider(self.network.chain.clone(), provider, shown)
            }
            (url, _) => {
                let problem = if url.is_some() { "has a url and a provider" } else { "has no address" };
                field.refuse(problem, "either a url or a provider");
                return None;
            }
        };
        let max_in_flight = max_in_flight.and_then(|most| u32::try_from(most).ok());
        Some(endpoint.with_options(label, priority, weight, max_in_flight))
    }

    fn endpoint_at(&self, field: &Field<'_>, allow_http: bool) -> Option<Endpoint> {
        Some(Endpoint::at_url(self.network.chain.clone(), check::endpoint_url(field, allow_http)?))
    }

    /// A row for an asset that is already known overrides it field by field. Returns the asset's id.
    fn add_asset(&mut self, field: &Field<'_>) -> Arc<str> {
        let missing = |name, accepted| field.refuse_at(name, "is missing", accepted);
        let fields = field.fields();
        let chain = &self.network.chain;
        let address = fields.get("address").map(|field| check::address(field, chain.family()));
        let symbol = fields.get_set("symbol").map(check::label);
        let decimals = fields.whole("decimals", 0..=MAX_DECIMALS.into());
        let name = fields.get_set("name").map(Field::text);
        let version = fields.get_set("version").map(Field::text);
        let program = fields.get_set("program").and_then(|field| field.word(&PROGRAMS));
        fields.finish();
        if address.is_none() {
            field.refuse("missing field `address`", "the token's address");
        }
        let address = address.unwrap_or_default();
        let id = asset_id(chain, &address);
        let assets = &mut self.network.assets;
        let known = assets.iter().position(|other| other.id == id).map(|place| assets.remove(place));
        let known = known.map(Arc::unwrap_or_clone);
        let is_new = known.is_none();
        let mut asset = known.unwrap_or_else(|| AssetConfig::unknown(id.clone()));
        asset.address = address;
        match (name, version) {
            (None, None) => {}
            (Some(name), Some(version)) => asset.domain = Some((name.into(), version.into())),
            (name, _) => {
                let other = if name.is_some() { "version" } else { "name" };
                missing(other, "both `name` and `version` of the EIP-712 domain, or neither");
            }
        }
        match decimals.map(u8::try_from) {
            Some(Ok(decimals)) => asset.decimals = decimals,
            _ if is_new => missing("decimals", "the token's decimals"),
            _ => {}
        }
        match symbol {
            Some(symbol) => asset.symbol = symbol,
            None if is_new => missing("symbol", "the token's symbol"),
            None => {}
        }
        if program.is_some() {
            asset.program = program;
        }
        self.network.assets.push(Arc::new(asset));
        id
    }

    pub(super) fn finish(
        self,
        owners: &Listed<'_, '_>,
        fees: &Listed<'_, '_>,
        policy: &AssetPolicy<'_, '_>,
    ) -> NetworkConfig {
        let mut network = self.network;
        let chain = &network.chain;
        let owner = listed(owners, chain.as_str()).or_else(|| listed(owners, chain.namespace()));
        network.owner = owner.map(|field| field.text().into());
        network.fee = listed(fees, chain.as_str()).and_then(|field| field.text().parse().ok()).unwrap_or_default();
        for asset in &mut network.assets {
            policy.apply(Arc::make_mut(asset));
        }
        network
    }
}

fn identity_from_id(chain: &ChainId) -> Identity {
    match chain.evm_chain_id() {
        Some(id) => Identity::ChainId(id),
        None => Identity::GenesisPrefix(chain.reference().into()),
    }
}

impl AssetConfig {
    fn built_in(chain: &ChainId, row: &registry::Asset) -> Self {
        let asset = Self {
            symbol: row.symbol.into(),
            address: row.address.into(),
            decimals: row.decimals,
            ..Self::unknown(asset_id(chain, row.address))
        };
        match row.kind {
            AssetKind::Erc20 { name, version, method } => {
                Self { domain: Some((name.into(), version.into())), method: Some(method), ..asset }
            }
            AssetKind::Spl { program } => Self { program: Some(program), ..asset },
        }
    }

    fn unknown(id: Arc<str>) -> Self {
        Self {
            id,
            address: Arc::default(),
            symbol: Arc::default(),
            decimals: 0,
            domain: None,
            method: None,
            program: None,
            limit: None,
            allowed: true,
        }
    }
}

fn asset_id(chain: &ChainId, address: &str) -> Arc<str> {
    let kind = if chain.family() == ChainFamily::Svm { "token" } else { "erc20" };
    caip19(chain, &format!("{kind}:{address}")).into()
}

/// CAIP-19. EVM tokens in lower case, so that one asset has one id.
pub(super) fn caip19(chain: &ChainId, asset: &str) -> String {
    let mut id = format!("{chain}/{asset}");
    if chain.family() == ChainFamily::Evm {
        id.make_ascii_lowercase();
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::registry::{ASSETS, NETWORKS};

    #[test]
    fn every_row_of_the_registry_is_built_in() {
        let drafts = builtin_networks();
        assert_eq!(drafts.len(), NETWORKS.len());
        assert_eq!(drafts.values().map(|draft| draft.assets().len()).sum::<usize>(), ASSETS.len());
        for row in NETWORKS {
            let chain = ChainId::resolve(row.id).unwrap();
            let draft = &drafts[&chain];
            let identity = row.genesis_hash.map(|hash| Identity::GenesisHash(hash.into()));
            assert_eq!((&*draft.network.name, draft.network.chain.as_str()), (row.name, row.id));
            assert_eq!(draft.network.identity, identity.unwrap_or_else(|| identity_from_id(&chain)));
            let urls = draft.network.endpoints.iter().map(|endpoint| endpoint.url().unwrap().trim_end_matches('/'));
            assert_eq!(urls.collect::<Vec<_>>(), row.rpc);
            for (asset, row) in draft.assets().iter().zip(registry::assets(&chain)) {
                let (domain, method, program) = match row.kind {
                    AssetKind::Erc20 { name, version, method } => (Some((name, version)), Some(method), None),
                    AssetKind::Spl { program } => (None, None, Some(program)),
                };
                let is_domain = asset.domain.as_ref().map(|(name, version)| (&**name, &**version));
                assert_eq!((&*asset.address, &*asset.symbol, asset.decimals), (row.address, row.symbol, row.decimals));
                assert_eq!((is_domain, asset.method, asset.program), (domain, method, program));
            }
        }
    }
}
