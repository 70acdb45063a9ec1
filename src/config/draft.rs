//! One network on its way from its built-in row to what the configuration makes of it.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::asset_policy::AssetPolicy;
use super::check::{self, list_once, listed};
use super::field::Field;
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
    network: NetworkConfig,
    pub(super) assets: Vec<Asset>,
    pub(super) configured: bool,
}

/// The built-in networks of families that can be read, in the order of their ids.
pub(super) fn builtin_networks() -> Vec<Draft> {
    let mut drafts = Vec::new();
    for row in registry::NETWORKS {
        let chain = ChainId::resolve(row.id).ok();
        if let Some(draft) = chain.and_then(|chain| draft_of(&mut drafts, chain)) {
            draft.build_in(row);
        }
    }
    drafts
}

/// The draft of a network, at its place among `drafts`; a new one where there is none.
pub(super) fn draft_of(drafts: &mut Vec<Draft>, chain: ChainId) -> Option<&mut Draft> {
    let place = drafts.partition_point(|draft| draft.network.chain < chain);
    if drafts.get(place).is_none_or(|draft| draft.network.chain != chain) {
        drafts.insert(place, Draft::unknown(chain));
    }
    drafts.get_mut(place)
}

impl Draft {
    fn build_in(&mut self, row: &registry::Network) {
        let network = &mut self.network;
        network.name = row.name.into();
        if let Some(hash) = row.genesis_hash {
            network.identity = Identity::GenesisHash(hash.into());
        }
        for url in row.rpc {
            let url = RpcUrl::parse(url).map(|url| Endpoint::at_url(network.chain.clone(), url));
            network.endpoints.extend(url.map(Arc::new));
        }
        for row in registry::assets(&network.chain) {
            self.assets.push(builtin_asset(&network.chain, row));
        }
    }

    fn unknown(chain: ChainId) -> Self {
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
        Self { network, assets: Vec::new(), configured: false }
    }

    pub(super) fn apply(&mut self, field: &Field<'_>, allow_http: bool) {
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
        let mut ids = Vec::new();
        for asset in fields.items("assets") {
            if !list_once(&mut ids, self.add_asset(&asset), ()) {
                asset.refuse("is listed twice", "each asset once");
            }
        }
        if let Some(strategy) = fields.get_set("strategy") {
            self.network.strategy = strategy.word(&STRATEGIES).unwrap_or_default();
        }
        fields.finish();
    }

    fn genesis(&self, field: &Field<'_>) -> Identity {
        let hash = field.text();
        let chain = &self.network.chain;
        let belongs = chain.family() == Family::Svm && hash.starts_with(chain.reference());
        if !belongs || Address::from_str(&hash).is_err() {
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
        fields.set_whole("priority", &mut priority);
        fields.set_whole("weight", &mut weight);
        let max_in_flight = fields.whole("maxInFlight", u32::MAX.into());
        fields.finish();
        if !(1..=1_000).contains(&weight) {
            field.refuse_number("weight", "a whole number from 1 to 1000");
        }
        if max_in_flight == Some(0) {
            field.refuse_number("maxInFlight", "a whole number from 1");
        }
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
        let decimals = fields.whole("decimals", u8::MAX.into());
        let [name, version] = ["name", "version"].map(|part| fields.get_set(part).map(|field| field.text().into()));
        let program = fields.get_set("program").and_then(|field| field.word(&PROGRAMS));
        fields.finish();
        if address.is_none() {
            field.refuse("missing field `address`", "the token's address");
        }
        let mut asset = Asset::unknown(chain, address.unwrap_or_default());
        let known = self.assets.iter().position(|other| other.id == asset.id);
        if let Some(position) = known {
            asset = Asset { address: asset.address, ..self.assets.remove(position) };
        }
        match (name, version) {
            (None, None) => {}
            (Some(name), Some(version)) => asset.domain = Some((name, version)),
            _ => missing("name and version", "both parts of the EIP-712 domain, or neither"),
        }
        match decimals.map(u8::try_from) {
            Some(Ok(decimals)) => asset.decimals = decimals,
            _ if known.is_none() => missing("decimals", "the token's decimals"),
            _ => {}
        }
        if asset.decimals > MAX_DECIMALS {
            field.refuse_number("decimals", &format!("a whole number from 0 to {MAX_DECIMALS}"));
        }
        match symbol {
            Some(symbol) => asset.symbol = symbol,
            None if known.is_none() => missing("symbol", "the token's symbol"),
            None => {}
        }
        if program.is_some() {
            asset.program = program;
        }
        let id = asset.id.clone();
        self.assets.push(asset);
        id
    }

    pub(super) fn finish(
        self,
        owners: &[(String, Arc<str>)],
        fees: &[(ChainId, Amount)],
        policy: &AssetPolicy<'_>,
    ) -> NetworkConfig {
        let mut network = self.network;
        let chain = &network.chain;
        network.owner = listed(owners, chain.as_str()).or_else(|| listed(owners, chain.namespace())).cloned();
        network.fee = listed(fees, chain).copied().unwrap_or_default();
        for mut asset in self.assets {
            policy.apply(&mut asset);
            network.assets.push(Arc::new(asset));
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

fn builtin_asset(chain: &ChainId, row: &registry::Asset) -> Asset {
    let mut asset = Asset::unknown(chain, row.address.into());
    asset.symbol = row.symbol.into();
    asset.decimals = row.decimals;
    match row.kind {
        AssetKind::Erc20 { name, version, method } => {
            asset.domain = Some((name.into(), version.into()));
            asset.method = Some(method);
        }
        AssetKind::Spl { program } => asset.program = Some(program),
    }
    asset
}

impl Asset {
    fn unknown(chain: &ChainId, address: Arc<str>) -> Self {
        Self {
            id: asset_id(chain, &address),
            address,
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

/// CAIP-19. EVM addresses in lower case, so that one asset has one id.
fn asset_id(chain: &ChainId, address: &str) -> Arc<str> {
    match chain.family() {
        Family::Svm => format!("{chain}/token:{address}").into(),
        _ => format!("{chain}/erc20:{}", address.to_ascii_lowercase()).into(),
    }
}
