//! The buyer's configuration, read from a document or built in code, and checked once.
//!
//! Everything after this works on resolved values: canonical networks, merged assets, parsed URLs. Refuses to know 402s.
//! No error quotes a value: a URL carries keys.

mod asset;
mod asset_id;
mod asset_policy;
mod builder;
mod check;
mod endpoint;
mod field;
mod network;
mod node;
mod resolve;
mod settings;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};

pub use self::builder::{AssetBuilder, ConfigBuilder, EndpointBuilder, NetworkBuilder};
use self::node::Node;
use crate::chain::registry::{TokenProgram, TransferMethod};
use crate::chain::{Amount, ChainId, is_evm_address};
use crate::config_error::ConfigurationError;
use crate::health::HealthSettings;
use crate::payment::Limits;
use crate::transport::Endpoint;

/// A checked configuration. It comes from one document, the same in Rust and TypeScript, or from
/// [`builder`](Self::builder). Every field is optional.
///
/// ```
/// let config = payroute::Config::from_json(r#"{
///     "owners":   { "eip155": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
///     "networks": { "base": {
///         "rpc": ["https://one.example/key", { "url": "https://two.example", "priority": 1, "weight": 2 }],
///         "assets": [{ "address": "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", "symbol": "EURC", "decimals": 6 }],
///         "strategy": "ordered"
///     } },
///     "routing":  { "preferNetworks": ["solana:mainnet", "base"], "probeTimeoutMs": 600 },
///     "policy":   { "allowedNetworks": ["base"], "maxAmount": { "USDC": "1.00" } },
///     "fees":     { "eip155:137": "1000" },
///     "health":   { "openForMs": 30000 },
///     "limits":   { "requirements": 16 }
/// }"#)?;
/// # Ok::<(), payroute::ConfigurationError>(())
/// ```
///
/// Networks go by CAIP-2 id, x402 version 1 name or usual alias everywhere. Strategies are `ordered`,
/// `best-score`, `weighted`, `race` and `hedged`. `docs/configuration.md` explains every field; [`HealthSettings`]
/// and [`Limits`] theirs.
///
/// ```
/// use payroute::Config;
///
/// let error = Config::from_json(r#"{"owners":{"eip155":"0x12"}}"#).unwrap_err();
/// assert_eq!(error.path(), "owners.eip155");
/// ```
#[derive(Clone)]
pub struct Config {
    /// In the order of their ids.
    pub(crate) networks: Vec<Arc<NetworkConfig>>,
    pub(crate) policy: Policy,
    pub(crate) prefer: Vec<ChainId>,
    pub(crate) probe: ProbeSettings,
    pub(crate) health: HealthSettings,
    pub(crate) limits: Limits,
}

/// A network as this buyer uses it: the built-in row, overridden field by field.
#[derive(Debug)]
pub(crate) struct NetworkConfig {
    pub(crate) chain: ChainId,
    pub(crate) name: Arc<str>,
    /// What the chain answers when it is asked for its identity.
    pub(crate) identity: Identity,
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    pub(crate) strategy: Strategy,
    /// Asked only for the chain's time, never for a balance.
    pub(crate) reference: Option<Arc<Endpoint>>,
    pub(crate) assets: Vec<Arc<AssetConfig>>,
    /// Atomic units of the asset that a payment here costs besides the price.
    pub(crate) fee: Amount,
}

/// How the endpoints of a network are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// In the order they are listed.
    #[default]
    Ordered,
    /// The highest score first.
    BestScore,
    /// At random, by weight times score.
    Weighted,
    /// Two at once; the first complete answer wins.
    Race,
    /// A second one when the first takes unusually long.
    Hedged,
}

/// How a chain proves which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// `eth_chainId`.
    ChainId(u64),
    /// `getGenesisHash`, the whole base58 text.
    GenesisHash(Arc<str>),
    /// A Solana cluster of which only the CAIP-2 reference is known: the hash must start with it.
    GenesisPrefix(Arc<str>),
}

/// A token that may be queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssetConfig {
    /// CAIP-19.
    pub(crate) id: Arc<str>,
    /// As it is sent to an endpoint.
    pub(crate) address: Arc<str>,
    pub(crate) symbol: Arc<str>,
    pub(crate) decimals: u8,
    /// The EIP-712 domain's name and version, where they are known.
    pub(crate) domain: Option<(Arc<str>, Arc<str>)>,
    /// How x402 moves it, where that is known (EVM).
    pub(crate) method: Option<TransferMethod>,
    /// The Solana program that owns the mint, where it is known.
    pub(crate) program: Option<TokenProgram>,
    /// `policy.maxAmount` for this asset.
    pub(crate) limit: Option<Amount>,
    /// Whether `policy.allowedAssets` lets it pay.
    pub(crate) allowed: bool,
}

/// What the buyer refuses whatever it holds.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// Empty: every configured network.
    pub(crate) allowed_networks: Vec<ChainId>,
}

/// How endpoints are asked. The `routing` object of the configuration, without preferences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeSettings {
    pub(crate) timeout: Duration,
    pub(crate) max_endpoints: usize,
    /// The seed of the weighted strategy; random if none is configured.
    pub(crate) seed: Option<u64>,
    /// Whether a balance that is too low is read once more where that could change the route.
    pub(crate) second_opinion: bool,
}

/// Shows only the networks that have an owner: all built-in ones would fill pages.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owned = self.networks.iter().filter(|network| network.owner.is_some());
        let names: Vec<&str> = owned.map(|network| network.chain.as_str()).collect();
        f.debug_struct("Config").field("networks", &names).finish_non_exhaustive()
    }
}

impl Config {
    /// Reads the configuration document. Every field is optional; built-in networks, assets and
    /// public endpoints apply where the document is silent.
    ///
    /// # Errors
    /// The text is no JSON object, has an unknown field, or a value that is not accepted. The
    /// error names the field by its path and says what is accepted; it never quotes the value.
    pub fn from_json(text: &str) -> Result<Self, ConfigurationError> {
        resolve::config(&Node::from_json(text)?)
    }

    /// Refuses what the ready-made transport cannot reach: a provider.
    pub(crate) fn require_urls(&self) -> Result<(), ConfigurationError> {
        let has_provider = |network: &&Arc<NetworkConfig>| network.endpoints.iter().any(|e| e.provider().is_some());
        match self.networks.iter().find(has_provider) {
            Some(network) => {
                let path = format!("networks.{}.rpc", network.chain);
                Err(ConfigurationError::new(
                    &path,
                    "names a provider",
                    "URLs, unless a Transport is given that knows it",
                ))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn network(&self, chain: &ChainId) -> Option<&Arc<NetworkConfig>> {
        self.networks.iter().find(|network| network.chain == *chain)
    }

    /// How much of a merchant's answer is read.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How endpoints win and lose trust.
    #[must_use]
    pub fn health(&self) -> &HealthSettings {
        &self.health
    }
}

/// The JSON document, as [`Config::from_json`].
impl FromStr for Config {
    type Err = ConfigurationError;

    fn from_str(text: &str) -> Result<Self, ConfigurationError> {
        Self::from_json(text)
    }
}

/// The same document in any format of serde's: TOML, a `serde_json::Value`, a field of an application's own
/// configuration. The error's text is that of the [`ConfigurationError`].
///
/// ```
/// let error = serde_json::from_value::<payroute::Config>(serde_json::json!({"fees": {"base": 1}})).unwrap_err();
/// assert_eq!(error.to_string(), "fees.base: is a number; accepted is a string");
/// ```
///
/// A format may add the text around the problem, which can hold a key: of an error of `toml`, show its `message()`.
impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        resolve::config(&Node::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl NetworkConfig {
    /// The asset at `address`: EVM addresses compare without case, Solana ones exactly.
    pub(crate) fn asset(&self, address: &str) -> Option<&Arc<AssetConfig>> {
        let same = |asset: &&Arc<AssetConfig>| match self.identity {
            Identity::ChainId(_) => is_evm_address(address) && asset.address.eq_ignore_ascii_case(address),
            _ => &*asset.address == address,
        };
        self.assets.iter().find(same)
    }
}

impl Identity {
    /// Whether the hash that a Solana endpoint answered is this cluster's.
    pub(crate) fn matches_genesis(&self, hash: &str) -> bool {
        match self {
            Self::ChainId(_) => false,
            Self::GenesisHash(expected) => hash == &**expected,
            Self::GenesisPrefix(prefix) => hash.starts_with(&**prefix),
        }
    }
}
