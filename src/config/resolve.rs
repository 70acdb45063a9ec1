//! From the document to a checked configuration: names normalised, tables merged, URLs parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use solana_address::Address;
use url::Url;

use super::document::{
    AssetDocument, Document, EndpointDocument, Entries, NetworkDocument, ProgramDocument, RoutingDocument, Strategy,
};
use super::error::safe_path;
use super::{Asset, Config, ConfigError, Identity, NetworkConfig, Policy, ProbeSettings};
use crate::amount::{Amount, MAX_DECIMALS};
use crate::endpoint::{Endpoint, is_loopback};
use crate::json::Record;
use crate::network::{ChainId, Family};
use crate::payment::is_evm_address;
use crate::registry::{self, AssetKind, TokenProgram};

/// Endpoints per network. 16: nobody lists more, and each is remembered.
const MOST_ENDPOINTS: usize = 16;
/// Milliseconds that one provider may be given: past 30 s every merchant has given up.
const PROBE_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 1..=30_000;

type Result<T> = std::result::Result<T, ConfigError>;

pub(super) fn config(document: Document) -> Result<Config> {
    let owners = owners(&document.owners)?;
    let fees = fees(&document.fees)?;
    let mut networks = builtin_networks();
    for (name, Record(network)) in &document.networks.0 {
        let path = format!("networks.{name}");
        let chain = payable_chain(&path, name)?;
        let draft = networks.entry(chain.clone()).or_insert_with(|| Draft::unknown(chain));
        if std::mem::replace(&mut draft.configured, true) {
            return Err(ConfigError::new(
                safe_path(&path),
                "names a network that is already configured",
                "each network once",
            ));
        }
        draft.apply(&path, network, &document.routing.0)?;
    }
    let assets = AssetPolicy::read(&document, &networks)?;
    let networks = (networks.into_values())
        .map(|draft| {
            let chain = draft.chain.clone();
            Ok((chain, Arc::new(draft.finish(&owners, &fees, &assets)?)))
        })
        .collect::<Result<BTreeMap<_, _>>>()?;
    Ok(Config {
        networks,
        policy: Policy {
            allowed_networks: chains("policy.allowedNetworks", &document.policy.0.allowed_networks)?
                .into_iter()
                .collect(),
        },
        prefer: chains("routing.preferNetworks", &document.routing.0.prefer_networks)?,
        probe: probe_settings(&document.routing.0)?,
        health: in_range("health", document.health.0.out_of_range()).map(|()| document.health.0)?,
        limits: in_range("limits", document.limits.0.out_of_range()).map(|()| document.limits.0)?,
    })
}

/// A network on its way from the built-in row to the configured one.
struct Draft {
    chain: ChainId,
    name: Arc<str>,
    identity: Identity,
    endpoints: Vec<Arc<Endpoint>>,
    assets: Vec<Asset>,
    configured: bool,
}

fn builtin_networks() -> BTreeMap<ChainId, Draft> {
    (registry::NETWORKS.iter())
        .filter_map(|row| Some((ChainId::parse_caip2(row.id).ok()?, row)))
        .filter(|(chain, _)| chain.family() != Family::Other)
        .map(|(chain, row)| {
            let urls = row.rpc.iter().filter_map(|url| Url::parse(url).ok());
            let draft = Draft {
                name: row.name.into(),
                identity: match row.genesis_hash {
                    Some(hash) => Identity::GenesisHash(hash.into()),
                    None => identity_from_id(&chain),
                },
                endpoints: urls.map(|url| Arc::new(Endpoint::at_url(chain.clone(), url))).collect(),
                assets: registry::assets(&chain).map(|row| builtin_asset(&chain, row)).collect(),
                configured: false,
                chain: chain.clone(),
            };
            (chain, draft)
        })
        .collect()
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

impl Draft {
    fn unknown(chain: ChainId) -> Self {
        Self {
            name: chain.as_str().into(),
            identity: identity_from_id(&chain),
            endpoints: Vec::new(),
            assets: Vec::new(),
            configured: false,
            chain,
        }
    }

    fn apply(&mut self, path: &str, document: &NetworkDocument, routing: &RoutingDocument) -> Result<()> {
        let Strategy::Ordered = document.strategy;
        if let Some(name) = &document.name {
            self.name = label(&format!("{path}.name"), name)?;
        }
        if let Some(hash) = &document.genesis_hash {
            self.identity = self.genesis(&format!("{path}.genesisHash"), hash)?;
        }
        if let Some(rpc) = &document.rpc {
            self.endpoints = self.endpoints(&format!("{path}.rpc"), rpc, routing.allow_http)?;
        }
        for (index, Record(asset)) in document.assets.iter().enumerate() {
            self.add_asset(&format!("{path}.assets[{index}]"), asset)?;
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
        let named = |field: &str, text: &Option<String>| {
            text.as_ref().map(|text| label(&format!("{path}.{field}"), text)).transpose()
        };
        let (provider, label) = (named("provider", &document.provider)?, named("label", &document.label)?);
        let endpoint = match (&document.url, provider) {
            (Some(url), None) => {
                let url_path = if document.bare { path.to_owned() } else { format!("{path}.url") };
                Endpoint::at_url(self.chain.clone(), endpoint_url(&url_path, url, allow_http)?)
            }
            (None, Some(provider)) => {
                let shown = label.clone().unwrap_or_else(|| provider.clone());
                Endpoint::of_provider(self.chain.clone(), provider, shown)
            }
            _ => return Err(ConfigError::new(safe_path(path), "has no address", "either a url or a provider")),
        };
        match (1..=1_000).contains(&document.weight) {
            true => Ok(endpoint.with_options(label, document.priority, document.weight)),
            false => {
                let path = safe_path(&format!("{path}.weight"));
                Err(ConfigError::new(path, "is out of range", "a whole number from 1 to 1000"))
            }
        }
    }

    /// A row for an asset that is already known overrides it field by field.
    fn add_asset(&mut self, path: &str, document: &AssetDocument) -> Result<()> {
        let address = asset_address(&format!("{path}.address"), &self.chain, &document.address)?;
        let id = asset_id(&self.chain, &address);
        let known = self.assets.iter().position(|asset| asset.id == id).map(|position| self.assets.remove(position));
        let missing = |field: &str, accepted: &str| {
            ConfigError::new(safe_path(&format!("{path}.{field}")), "is missing", accepted)
        };
        let symbol = match &document.symbol {
            Some(symbol) => Some(label(&format!("{path}.symbol"), symbol)?),
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
        let program = document.program.map(|program| match program {
            ProgramDocument::Token => TokenProgram::Token,
            ProgramDocument::Token2022 => TokenProgram::Token2022,
        });
        self.assets.push(Asset {
            id,
            address,
            symbol: symbol.ok_or_else(|| missing("symbol", "the token's symbol"))?,
            decimals,
            domain,
            method: known.as_ref().and_then(|asset| asset.method),
            program: program.or(known.and_then(|asset| asset.program)),
            limit: None,
            allowed: true,
        });
        Ok(())
    }

    fn finish(
        self,
        owners: &BTreeMap<String, Arc<str>>,
        fees: &BTreeMap<ChainId, Amount>,
        policy: &AssetPolicy,
    ) -> Result<NetworkConfig> {
        let owner = owners.get(self.chain.as_str()).or_else(|| owners.get(self.chain.namespace()));
        let assets = (self.assets.into_iter()).map(|asset| policy.apply(asset).map(Arc::new));
        Ok(NetworkConfig {
            owner: owner.cloned(),
            assets: assets.collect::<Result<_>>()?,
            fee: fees.get(&self.chain).copied().unwrap_or_default(),
            chain: self.chain,
            name: self.name,
            identity: self.identity,
            endpoints: self.endpoints,
        })
    }
}

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
struct AssetPolicy {
    allowed: BTreeSet<String>,
    limits: BTreeMap<String, String>,
}

impl AssetPolicy {
    /// A name that matches no asset is a typing mistake, and a limit with one would limit nothing.
    fn read(document: &Document, networks: &BTreeMap<ChainId, Draft>) -> Result<Self> {
        let assets = || networks.values().flat_map(|network| &network.assets);
        let known = |name: &str| assets().any(|asset| &*asset.symbol == name || *asset.id == canonical_asset_id(name));
        let check = |path: String, name: &str| match known(name) {
            true => Ok(canonical_asset_id(name)),
            false => Err(ConfigError::new(
                safe_path(&path),
                "matches no built-in or configured asset",
                "a symbol or a CAIP-19 id",
            )),
        };
        let mut limits = BTreeMap::new();
        for (name, text) in &document.policy.0.max_amount.0 {
            let path = format!("policy.maxAmount.{name}");
            if limits.insert(check(path.clone(), name)?, text.clone()).is_some() {
                return Err(ConfigError::new(safe_path(&path), "is listed twice", "each asset once"));
            }
        }
        let allowed = (document.policy.0.allowed_assets.iter().enumerate())
            .map(|(index, name)| check(format!("policy.allowedAssets[{index}]"), name))
            .collect::<Result<_>>()?;
        Ok(Self { allowed, limits })
    }

    fn apply(&self, asset: Asset) -> Result<Asset> {
        let names = [&*asset.id, &*asset.symbol];
        let limit = (names.iter().find_map(|name| self.limits.get(*name).map(|text| (name, text))))
            .map(|(name, text)| {
                Amount::from_units(text, asset.decimals).map_err(|error| {
                    ConfigError::new(
                        safe_path(&format!("policy.maxAmount.{name}")),
                        error.to_string(),
                        "an amount in token units, for example \"1.50\"",
                    )
                })
            })
            .transpose()?;
        let allowed = self.allowed.is_empty() || names.iter().any(|name| self.allowed.contains(*name));
        Ok(Asset { limit, allowed, ..asset })
    }
}

/// CAIP-19 ids of EVM tokens compare without case; symbols and Solana mints exactly.
fn canonical_asset_id(name: &str) -> String {
    match name.starts_with("eip155:") {
        true => name.to_ascii_lowercase(),
        false => name.to_owned(),
    }
}

fn owners(entries: &Entries<String>) -> Result<BTreeMap<String, Arc<str>>> {
    let mut owners = BTreeMap::new();
    for (name, address) in &entries.0 {
        let path = safe_path(&format!("owners.{name}"));
        let (key, family) = match name.as_str() {
            "eip155" => (name.clone(), Family::Evm),
            "solana" => (name.clone(), Family::Svm),
            _ => {
                let chain = payable_chain(&path, name)?;
                (chain.as_str().to_owned(), chain.family())
            }
        };
        let accepted = match family {
            Family::Svm => Address::from_str(address).is_err().then_some("a base58 Solana address"),
            _ => (!is_evm_address(address)).then_some("0x and 40 hexadecimal digits"),
        };
        if let Some(accepted) = accepted {
            return Err(ConfigError::new(path, "is not an address", accepted));
        }
        if owners.insert(key, address.as_str().into()).is_some() {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
    }
    Ok(owners)
}

fn fees(entries: &Entries<String>) -> Result<BTreeMap<ChainId, Amount>> {
    let mut fees = BTreeMap::new();
    for (name, text) in &entries.0 {
        let path = safe_path(&format!("fees.{name}"));
        let chain = payable_chain(&path, name)?;
        let fee = Amount::from_str(text).map_err(|error| {
            ConfigError::new(path.clone(), error.to_string(), "atomic units in digits, for example \"1000\"")
        })?;
        if fees.insert(chain, fee).is_some() {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
    }
    Ok(fees)
}

fn chains(path: &str, names: &[String]) -> Result<Vec<ChainId>> {
    let mut chains = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let chain = ChainId::resolve(name).map_err(|_| not_a_network(&path))?;
        if chains.contains(&chain) {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
        chains.push(chain);
    }
    Ok(chains)
}

/// A network of a family that payroute can read.
fn payable_chain(path: &str, name: &str) -> Result<ChainId> {
    let chain = ChainId::resolve(name).map_err(|_| not_a_network(path))?;
    match chain.family() {
        Family::Other => Err(ConfigError::new(
            safe_path(path),
            "is of a chain family that cannot be read",
            "an eip155 or solana network",
        )),
        _ => Ok(chain),
    }
}

fn not_a_network(path: &str) -> ConfigError {
    ConfigError::new(
        safe_path(path),
        "is not a network",
        "a CAIP-2 id such as eip155:8453, or a known name such as base",
    )
}

fn asset_address(path: &str, chain: &ChainId, address: &str) -> Result<Arc<str>> {
    let accepted = match chain.family() {
        Family::Svm => Address::from_str(address).is_err().then_some("a base58 mint address"),
        _ => (!is_evm_address(address)).then_some("0x and 40 hexadecimal digits"),
    };
    match accepted {
        Some(accepted) => Err(ConfigError::new(safe_path(path), "is not an address", accepted)),
        None => Ok(address.into()),
    }
}

fn endpoint_url(path: &str, text: &str, allow_http: bool) -> Result<Url> {
    let bad = |problem: &str| {
        ConfigError::new(safe_path(path), problem, "an https URL; http on loopback or with routing.allowHttp")
    };
    let url = Url::parse(text).map_err(|_| bad("is not a URL"))?;
    match url.scheme() {
        "https" => {}
        "http" if allow_http || is_loopback(&url) => {}
        "http" => return Err(bad("is not encrypted")),
        _ => return Err(bad("has another scheme")),
    }
    match url.has_host() {
        true => Ok(url),
        false => Err(bad("has no host")),
    }
}

/// A name for people: short, printable, nothing that could carry a URL.
fn label(path: &str, text: &str) -> Result<Arc<str>> {
    let printable = |c: char| c.is_alphanumeric() || " ._-+()₮$".contains(c);
    match (1..=32).contains(&text.chars().count()) && text.chars().all(printable) {
        true => Ok(text.into()),
        false => {
            Err(ConfigError::new(safe_path(path), "is not a name", "1 to 32 letters, digits, spaces and . _ - + ( ) $"))
        }
    }
}

fn probe_settings(routing: &RoutingDocument) -> Result<ProbeSettings> {
    let (timeout, providers) = (routing.probe_timeout_ms, routing.max_providers_per_network);
    let problem = [
        (PROBE_TIMEOUT_MS.contains(&timeout), "probeTimeoutMs", "milliseconds from 1 to 30000"),
        ((1..=2).contains(&providers), "maxProvidersPerNetwork", "1 or 2"),
    ];
    let problem = problem.into_iter().find_map(|(holds, name, accepted)| (!holds).then_some((name, accepted)));
    in_range("routing", problem)?;
    Ok(ProbeSettings { timeout: Duration::from_millis(timeout), providers })
}

fn in_range(section: &str, problem: Option<(&'static str, &'static str)>) -> Result<()> {
    match problem {
        Some((name, accepted)) => Err(ConfigError::new(format!("{section}.{name}"), "is out of range", accepted)),
        None => Ok(()),
    }
}
