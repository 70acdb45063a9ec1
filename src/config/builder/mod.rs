//! A configuration built in code. Fills the tree that a document is read to, so that both are checked by the same rules
//! and refused with the same words.

mod network;

use std::time::Duration;

pub use self::network::{AssetBuilder, EndpointBuilder, NetworkBuilder};
use super::node::Node;
use super::{Config, resolve, settings};
use crate::chain::{Amount, ChainFamily, ChainId};
use crate::config_error::ConfigurationError;
use crate::health::HealthSettings;
use crate::payment::Limits;

/// Builds a [`Config`] in code. Made by [`Config::builder`].
///
/// What is not set has the default of the document. [`build`](Self::build) checks everything; an error names the field by
/// its path in the document.
///
/// ```
/// use std::time::Duration;
///
/// use payroute::{AssetBuilder, ChainFamily, ChainId, Config, EndpointBuilder, NetworkBuilder, Strategy};
///
/// let base = ChainId::resolve("base")?;
/// let config = Config::builder()
///     .owner(ChainFamily::Evm, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
///     .network(
///         NetworkBuilder::new(&base)
///             .rpc("https://one.example/key")
///             .rpc(EndpointBuilder::url("https://two.example").priority(1))
///             .asset(AssetBuilder::new("0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42").symbol("EURC").decimals(6))
///             .strategy(Strategy::Hedged),
///     )
///     .prefer([base])
///     .probe_timeout(Duration::from_millis(400))
///     .max_amount("USDC", "1.00")
///     .build()?;
///
/// let error = Config::builder().owner(ChainFamily::Evm, "0x12").build().unwrap_err();
/// assert_eq!(error.path(), "owners.eip155");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct ConfigBuilder {
    owners: Vec<(String, Node)>,
    networks: Vec<(String, Node)>,
    routing: Object,
    allowed_networks: Vec<Node>,
    allowed_assets: Vec<Node>,
    max_amount: Vec<(String, Node)>,
    fees: Vec<(String, Node)>,
    health: Option<Node>,
    limits: Option<Node>,
}

impl Config {
    /// A configuration in code instead of a document.
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::default()
    }
}

impl ConfigBuilder {
    /// The buyer's address on every network of a family that payroute can read: `owners`.
    pub fn owner(mut self, family: ChainFamily, address: &str) -> Self {
        let namespace = match family {
            ChainFamily::Evm => "eip155",
            ChainFamily::Svm => "solana",
            // Refused when it is built: it is not a network's name either.
            ChainFamily::Other => "other",
        };
        self.owners.push((namespace.to_owned(), address.into()));
        self
    }

    /// The buyer's address on one network, where it differs from that of the family.
    pub fn owner_on(mut self, network: &ChainId, address: &str) -> Self {
        self.owners.push(entry(network, address));
        self
    }

    /// A network to add, or a built-in one to override field by field: `networks`.
    pub fn network(mut self, network: NetworkBuilder) -> Self {
        self.networks.push(network.into_entry());
        self
    }

    /// Networks, most preferred first: a tie-break among offers that can be paid, never a filter.
    /// `routing.preferNetworks`.
    pub fn prefer(mut self, networks: impl IntoIterator<Item = ChainId>) -> Self {
        let networks = networks.into_iter().map(|network| network.as_str().into()).collect();
        self.routing.set("preferNetworks", Node::List(networks));
        self
    }

    /// The time that one endpoint is given, 1 ms to 30 s, in whole milliseconds: `routing.probeTimeoutMs`.
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.routing.set("probeTimeoutMs", u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Endpoints asked per network and selection, 1 or 2: `routing.maxEndpointsPerNetwork`.
    pub fn max_endpoints_per_network(mut self, most: usize) -> Self {
        self.routing.set("maxEndpointsPerNetwork", most);
        self
    }

    /// Whether a balance that is too low is read once more where that could change the route:
    /// `routing.secondOpinion`.
    pub fn second_opinion(mut self, is_wanted: bool) -> Self {
        self.routing.set("secondOpinion", is_wanted);
        self
    }

    /// Whether `http` is accepted outside loopback: `routing.allowHttp`.
    pub fn allow_http(mut self, is_allowed: bool) -> Self {
        self.routing.set("allowHttp", is_allowed);
        self
    }

    /// The seed of [`Strategy::Weighted`](super::Strategy::Weighted): the same seed makes the same draws.
    /// `routing.seed`.
    pub fn seed(mut self, seed: u64) -> Self {
        self.routing.set("seed", seed);
        self
    }

    /// A network that may be paid on; without any, all may: `policy.allowedNetworks`.
    pub fn allow_network(mut self, network: &ChainId) -> Self {
        self.allowed_networks.push(network.as_str().into());
        self
    }

    /// An asset that may be paid with, by symbol or CAIP-19 id; without any, all may: `policy.allowedAssets`.
    pub fn allow_asset(mut self, name: &str) -> Self {
        self.allowed_assets.push(name.into());
        self
    }

    /// The highest price in an asset, by symbol or CAIP-19 id, in token units: `policy.maxAmount`.
    pub fn max_amount(mut self, asset: &str, amount: &str) -> Self {
        self.max_amount.push((asset.to_owned(), amount.into()));
        self
    }

    /// What paying on a network costs besides the price, in atomic units of the asset: `fees`. For ranking only.
    pub fn fee(mut self, network: &ChainId, fee: Amount) -> Self {
        self.fees.push(entry(network, fee.to_string().as_str()));
        self
    }

    /// How endpoints win and lose trust: `health`.
    pub fn health(mut self, health: &HealthSettings) -> Self {
        self.health = Some(settings::health_node(health));
        self
    }

    /// How much of a merchant's answer is read: `limits`.
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = Some(settings::limits_node(limits));
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// A value is not accepted, or a network or an asset is given twice. The error names the field by its path in the
    /// document, which [`Config::from_json`] explains.
    pub fn build(self) -> Result<Config, ConfigurationError> {
        let mut policy = Object::default();
        policy.set("allowedNetworks", Node::List(self.allowed_networks));
        policy.set("allowedAssets", Node::List(self.allowed_assets));
        policy.set("maxAmount", Node::Object(self.max_amount));
        let mut document = Object::default();
        document.set("owners", Node::Object(self.owners));
        document.set("networks", Node::Object(self.networks));
        document.set("routing", self.routing);
        document.set("policy", policy);
        document.set("fees", Node::Object(self.fees));
        document.set_some("health", self.health);
        document.set_some("limits", self.limits);
        resolve::config(&document.into())
    }
}

/// The fields of an object under way; each is there once, as it was set last.
#[derive(Clone, Default)]
struct Object(Vec<(String, Node)>);

impl Object {
    fn set(&mut self, name: &str, value: impl Into<Node>) {
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.to_owned(), value.into()));
    }

    fn set_some(&mut self, name: &str, value: Option<Node>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }
}

impl From<Object> for Node {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

fn entry(network: &ChainId, value: impl Into<Node>) -> (String, Node) {
    (network.as_str().to_owned(), value.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::registry::TokenProgram;
    use crate::config::Strategy;

    const BUYER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const MINT: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const EURC: &str = "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42";

    fn chain(name: &str) -> ChainId {
        ChainId::resolve(name).unwrap()
    }

    fn base() -> NetworkBuilder {
        NetworkBuilder::new(&chain("base"))
    }

    #[test]
    fn every_setter_is_the_field_of_the_document() {
        let document = format!(
            r#"{{
            "owners": {{"eip155": "{BUYER}", "solana": "{MINT}", "eip155:137": "{EURC}"}},
            "networks": {{
                "base": {{
                    "name": "B", "strategy": "race", "referenceUrl": "https://three.test",
                    "rpc": ["http://one.test", {{"url": "https://two.test", "label": "L", "priority": 3, "weight": 4}},
                            {{"provider": "wallet", "maxInFlight": 5}}],
                    "assets": [{{"address": "{EURC}", "symbol": "EURC", "decimals": 6, "name": "E", "version": "2"}}]
                }},
                "solana": {{
                    "genesisHash": "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
                    "assets": [{{"address": "{MINT}", "program": "token-2022"}}]
                }}
            }},
            "routing": {{"preferNetworks": ["solana", "base"], "probeTimeoutMs": 7, "maxEndpointsPerNetwork": 1,
                        "secondOpinion": false, "allowHttp": true, "seed": 18446744073709551615}},
            "policy": {{"allowedNetworks": ["base", "solana"], "allowedAssets": ["EURC"], "maxAmount": {{"EURC": "1.5"}}}},
            "fees": {{"base": "1000"}},
            "health": {{"ewmaAlpha": 0.3, "failureWindow": 21, "consecutiveFailures": 6, "failurePercent": 51,
                       "minimumSamples": 11, "openForMs": 30001, "backoffMs": 2001, "backoffLimitMs": 30001,
                       "slowMs": 601, "capacity": 129, "idleRetentionMs": 1800001}},
            "limits": {{"headerBytes": 1, "bodyBytes": 2, "jsonDepth": 3, "requirements": 4}}
        }}"#
        );
        let read = Config::from_json(&document).unwrap();
        let backup = EndpointBuilder::url("https://two.test").label("L").priority(3).weight(4);
        let eurc = AssetBuilder::new(EURC).symbol("EURC").decimals(6).domain("E", "2");
        let networks = [
            base()
                .name("B")
                .strategy(Strategy::Race)
                .reference_url("https://three.test")
                .rpc("http://one.test")
                .rpc(backup)
                .rpc(EndpointBuilder::provider("wallet").max_in_flight(5))
                .asset(eurc),
            NetworkBuilder::new(&chain("solana"))
                .genesis_hash("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")
                .asset(AssetBuilder::new(MINT).program(TokenProgram::Token2022)),
        ];
        let built = networks.into_iter().fold(Config::builder(), ConfigBuilder::network);
        let built = built
            .owner(ChainFamily::Evm, BUYER)
            .owner(ChainFamily::Svm, MINT)
            .owner_on(&chain("polygon"), EURC)
            .prefer([chain("base")])
            .prefer([chain("solana"), chain("base")])
            .probe_timeout(Duration::from_millis(7))
            .max_endpoints_per_network(1)
            .second_opinion(false)
            .allow_http(true)
            .seed(u64::MAX)
            .allow_network(&chain("base"))
            .allow_network(&chain("solana"))
            .allow_asset("EURC")
            .max_amount("EURC", "1.5")
            .fee(&chain("base"), Amount::from(1_000_u64))
            .health(read.health())
            .limits(read.limits())
            .build()
            .unwrap();
        let whole = |config: Config| {
            let Config { networks, policy, prefer, probe, health, limits } = config;
            let options = networks.iter().flat_map(|network| &network.endpoints);
            let options: Vec<_> = options.map(|e| (e.label(), e.priority(), e.weight(), e.max_in_flight())).collect();
            format!("{networks:#?} {options:?} {policy:?} {prefer:?} {probe:?} {health:?} {limits:?}")
        };
        assert_eq!(whole(built), whole(read));
        assert_eq!(whole(Config::builder().build().unwrap()), whole(Config::from_json("{}").unwrap()));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        let config = Config::builder;
        let (mut health, mut limits) = (HealthSettings::default(), Limits::default());
        health.ewma_alpha = f64::NAN;
        limits.json_depth = 1_000;
        for (builder, said) in [
            (config().owner(ChainFamily::Other, BUYER), "owners.other: is not a network; accepted is a CAIP-2 id"),
            (
                config().owner(ChainFamily::Evm, BUYER).owner(ChainFamily::Evm, BUYER),
                "owners.eip155: names a network that is already listed",
            ),
            (config().owner_on(&chain("aptos:1"), BUYER), "owners.aptos:1: is of a chain family that cannot be read"),
            (config().network(base()).network(base()), "networks.eip155:8453: names a network that is already"),
            (
                config().network(base().rpc("https://one.test").rpc(String::from("http://two.test"))),
                "networks.eip155:8453.rpc[1].url: is not encrypted; accepted is an https URL",
            ),
            (
                config().network(base().rpc(EndpointBuilder::url("https://x.test").weight(0))),
                "networks.eip155:8453.rpc[0].weight: is out of range; accepted is a whole number from 1 to 1000",
            ),
            (
                config().network(base().asset(AssetBuilder::new(EURC).decimals(6))),
                "networks.eip155:8453.assets[0].symbol: is missing",
            ),
            (config().probe_timeout(Duration::from_micros(999)), "routing.probeTimeoutMs: is out of range"),
            (config().probe_timeout(Duration::MAX), "routing.probeTimeoutMs: is out of range"),
            (config().prefer([chain("base"), chain("base")]), "routing.preferNetworks[1]: names a network that"),
            (config().max_amount("USDC", "1,5"), "policy.maxAmount.USDC: is not an amount in digits"),
            (config().max_amount("USDC", "1").max_amount("USDC", "2"), "policy.maxAmount.USDC: is listed twice"),
            (config().allow_asset("USDD"), "policy.allowedAssets[0]: matches no built-in or configured asset"),
            (config().health(&health), "health.ewmaAlpha: is not a number; accepted is a number above 0, at most 1"),
            (config().limits(&limits), "limits.jsonDepth: is out of range; accepted is a whole number from 1 to 120"),
        ] {
            let error = builder.build().unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
