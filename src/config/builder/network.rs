//! A network of a configuration that is built in code, its endpoints and its assets.

use super::super::Strategy;
use super::super::node::Node;
use super::{Object, entry};
use crate::chain::ChainId;
use crate::chain::registry::TokenProgram;

/// A network for [`ConfigBuilder::network`](super::ConfigBuilder::network). Of a built-in one, what is set is
/// overridden.
#[derive(Clone)]
#[must_use = "a network does nothing until it is given to a ConfigBuilder"]
pub struct NetworkBuilder {
    chain: ChainId,
    fields: Object,
    rpc: Vec<Node>,
    assets: Vec<Node>,
}

/// An endpoint for [`NetworkBuilder::rpc`]. A text is an endpoint at that URL.
#[derive(Clone)]
#[must_use = "an endpoint does nothing until it is given to a NetworkBuilder"]
pub struct EndpointBuilder(Object);

/// A token for [`NetworkBuilder::asset`]. Of a built-in one, what is set is overridden.
#[derive(Clone)]
#[must_use = "an asset does nothing until it is given to a NetworkBuilder"]
pub struct AssetBuilder(Object);

impl NetworkBuilder {
    /// An EVM or a Solana network.
    pub fn new(chain: &ChainId) -> Self {
        Self { chain: chain.clone(), fields: Object::default(), rpc: Vec::new(), assets: Vec::new() }
    }

    /// A name for people; the CAIP-2 id if it is not set.
    pub fn name(mut self, name: &str) -> Self {
        self.fields.set("name", name);
        self
    }

    /// Solana: the cluster's whole genesis hash. Without it only the 32 characters in the CAIP-2 id are compared.
    pub fn genesis_hash(mut self, hash: &str) -> Self {
        self.fields.set("genesisHash", hash);
        self
    }

    /// Adds an endpoint, in the order in which [`Strategy::Ordered`] asks them. Any replaces the built-in ones.
    pub fn rpc(mut self, endpoint: impl Into<EndpointBuilder>) -> Self {
        let EndpointBuilder(endpoint) = endpoint.into();
        self.rpc.push(endpoint.into());
        self
    }

    /// An endpoint that is asked only for the chain's time, to measure lag.
    pub fn reference_url(mut self, url: &str) -> Self {
        self.fields.set("referenceUrl", url);
        self
    }

    /// Adds a token to the built-in ones.
    pub fn asset(mut self, asset: AssetBuilder) -> Self {
        self.assets.push(asset.0.into());
        self
    }

    /// How endpoints are chosen; [`Strategy::Ordered`] if it is not set.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.fields.set("strategy", strategy.word());
        self
    }

    pub(super) fn into_entry(self) -> (String, Node) {
        let Self { chain, mut fields, rpc, assets } = self;
        if !rpc.is_empty() {
            fields.set("rpc", Node::List(rpc));
        }
        fields.set("assets", Node::List(assets));
        entry(&chain, fields)
    }
}

impl EndpointBuilder {
    /// An endpoint at an `https` URL; `http` on loopback, or where
    /// [`allow_http`](super::ConfigBuilder::allow_http) says so.
    pub fn url(url: &str) -> Self {
        Self::at("url", url)
    }

    /// An endpoint that the application's [`Transport`](crate::Transport) knows by this name.
    pub fn provider(name: &str) -> Self {
        Self::at("provider", name)
    }

    fn at(kind: &str, address: &str) -> Self {
        let mut fields = Object::default();
        fields.set(kind, address);
        Self(fields)
    }

    /// A name of your own. A provider is shown as it; a URL is always shown as its host.
    pub fn label(mut self, label: &str) -> Self {
        self.0.set("label", label);
        self
    }

    /// Endpoints with a lower number are asked first; 0 if it is not set.
    pub fn priority(mut self, priority: u8) -> Self {
        self.0.set("priority", u64::from(priority));
        self
    }

    /// The share of the traffic under [`Strategy::Weighted`], 1 to 1,000; 1 if it is not set.
    pub fn weight(mut self, weight: u32) -> Self {
        self.0.set("weight", u64::from(weight));
        self
    }

    /// Attempts that it may have under way at once, at least 1; no limit if it is not set.
    pub fn max_in_flight(mut self, most: u32) -> Self {
        self.0.set("maxInFlight", u64::from(most));
        self
    }
}

impl From<&str> for EndpointBuilder {
    fn from(url: &str) -> Self {
        Self::url(url)
    }
}

impl From<String> for EndpointBuilder {
    fn from(url: String) -> Self {
        Self::url(&url)
    }
}

impl AssetBuilder {
    /// The token at a contract or a mint. One that is not built in needs a symbol and decimals.
    pub fn new(address: &str) -> Self {
        let mut fields = Object::default();
        fields.set("address", address);
        Self(fields)
    }

    /// The symbol.
    pub fn symbol(mut self, symbol: &str) -> Self {
        self.0.set("symbol", symbol);
        self
    }

    /// The decimals, at most [`MAX_DECIMALS`](crate::MAX_DECIMALS).
    pub fn decimals(mut self, decimals: u8) -> Self {
        self.0.set("decimals", u64::from(decimals));
        self
    }

    /// Name and version of the token's EIP-712 domain.
    pub fn domain(mut self, name: &str, version: &str) -> Self {
        self.0.set("name", name);
        self.0.set("version", version);
        self
    }

    /// Solana: the program that owns the mint.
    pub fn program(mut self, program: TokenProgram) -> Self {
        self.0.set("program", program.word());
        self
    }
}
