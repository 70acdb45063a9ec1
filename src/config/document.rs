//! The configuration document as it is written: shape and kinds only, nothing resolved.

use super::Strategy;
use super::check::Result;
use super::field::Field;
use crate::health::HealthSettings;
use crate::payment::Limits;
use crate::registry::TokenProgram;

/// An object whose keys are data.
type Entries<T> = Vec<(String, T)>;

#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) owners: Entries<String>,
    pub(super) networks: Entries<NetworkDocument>,
    pub(super) routing: RoutingDocument,
    pub(super) policy: PolicyDocument,
    pub(super) fees: Entries<String>,
    pub(super) health: HealthSettings,
    pub(super) limits: Limits,
}

#[derive(Debug, Default)]
pub(super) struct NetworkDocument {
    pub(super) name: Option<String>,
    pub(super) genesis_hash: Option<String>,
    pub(super) rpc: Option<Vec<EndpointDocument>>,
    pub(super) reference_url: Option<String>,
    pub(super) assets: Vec<AssetDocument>,
    pub(super) strategy: Option<Strategy>,
}

#[derive(Debug, Default)]
pub(super) struct AssetDocument {
    pub(super) address: String,
    pub(super) symbol: Option<String>,
    pub(super) decimals: Option<u8>,
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) program: Option<TokenProgram>,
}

#[derive(Debug)]
pub(super) struct RoutingDocument {
    pub(super) prefer_networks: Vec<String>,
    /// 600: what a person does not yet notice, and more than a healthy endpoint needs.
    pub(super) probe_timeout_ms: u64,
    /// 2: one failover; a third would cost more time than it saves failures.
    pub(super) max_providers_per_network: usize,
    /// By chance; a number draws the same shares again.
    pub(super) seed: Option<u64>,
    /// `false`: a key or a balance in clear text is for anyone on the way to read.
    pub(super) allow_http: bool,
    /// `true`: a balance that one endpoint calls too low would change the route unseen.
    pub(super) second_opinion: bool,
}

impl Default for RoutingDocument {
    fn default() -> Self {
        Self {
            prefer_networks: Vec::new(),
            probe_timeout_ms: 600,
            max_providers_per_network: 2,
            seed: None,
            allow_http: false,
            second_opinion: true,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct PolicyDocument {
    pub(super) allowed_networks: Vec<String>,
    pub(super) allowed_assets: Vec<String>,
    pub(super) max_amount: Entries<String>,
}

/// `"https://…"`, `{"url": "https://…", …}` or `{"provider": "…", …}`.
#[derive(Debug, Default)]
pub(super) struct EndpointDocument {
    pub(super) url: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) options: EndpointOptions,
    /// Whether the URL stood alone, so that errors name the path the reader sees.
    pub(super) bare: bool,
}

/// What an endpoint has besides its address.
#[derive(Clone, Debug)]
pub(super) struct EndpointOptions {
    pub(super) label: Option<String>,
    pub(super) priority: u8,
    pub(super) weight: u32,
    pub(super) max_in_flight: Option<u32>,
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self { label: None, priority: 0, weight: 1, max_in_flight: None }
    }
}

const STRATEGIES: [(&str, Strategy); 5] = [
    ("ordered", Strategy::Ordered),
    ("best-score", Strategy::BestScore),
    ("weighted", Strategy::Weighted),
    ("race", Strategy::Race),
    ("hedged", Strategy::Hedged),
];

const PROGRAMS: [(&str, TokenProgram); 2] = [("token", TokenProgram::Token), ("token-2022", TokenProgram::Token2022)];

pub(super) fn parse(text: &str) -> Result<Document> {
    let mut document = Document::default();
    Field::document(text)?.fields(&mut |name, field| {
        match name {
            "owners" => document.owners = field.entries_of(Field::text)?,
            "networks" => document.networks = field.entries_of(network)?,
            "routing" => document.routing = routing(field)?,
            "policy" => document.policy = policy(field)?,
            "fees" => document.fees = field.entries_of(Field::text)?,
            "health" => document.health = health(field)?,
            "limits" => document.limits = limits(field)?,
            _ => {
                let known = ["owners", "networks", "routing", "policy", "fees", "health", "limits"];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    Ok(document)
}

fn network(field: &Field<'_>) -> Result<NetworkDocument> {
    let mut network = NetworkDocument::default();
    field.fields(&mut |name, field| {
        match name {
            "name" => network.name = field.optional(Field::text)?,
            "genesisHash" => network.genesis_hash = field.optional(Field::text)?,
            "rpc" => network.rpc = field.optional(|field| field.list_of(endpoint))?,
            "referenceUrl" => network.reference_url = field.optional(Field::text)?,
            "assets" => network.assets = field.list_of(asset)?,
            "strategy" => network.strategy = field.optional(|field| field.word(&STRATEGIES))?,
            _ => {
                let known = ["name", "genesisHash", "rpc", "referenceUrl", "assets", "strategy"];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    Ok(network)
}

fn asset(field: &Field<'_>) -> Result<AssetDocument> {
    let mut asset = AssetDocument::default();
    let mut address = None;
    field.fields(&mut |name, field| {
        match name {
            "address" => address = Some(field.text()?),
            "symbol" => asset.symbol = field.optional(Field::text)?,
            "decimals" => asset.decimals = field.optional(Field::whole)?,
            "name" => asset.name = field.optional(Field::text)?,
            "version" => asset.version = field.optional(Field::text)?,
            "program" => asset.program = field.optional(|field| field.word(&PROGRAMS))?,
            _ => {
                let known = ["address", "symbol", "decimals", "name", "version", "program"];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    let address = address.ok_or_else(|| field.missing("address", "the token's address"))?;
    Ok(AssetDocument { address, ..asset })
}

fn endpoint(field: &Field<'_>) -> Result<EndpointDocument> {
    let mut endpoint = EndpointDocument::default();
    if field.is_text() {
        return Ok(EndpointDocument { url: Some(field.text()?), bare: true, ..endpoint });
    }
    if !field.is_object() {
        return Err(field.mismatch("a URL or an object with a url or a provider"));
    }
    let options = &mut endpoint.options;
    field.fields(&mut |name, field| {
        match name {
            "url" => endpoint.url = field.optional(Field::text)?,
            "provider" => endpoint.provider = field.optional(Field::text)?,
            "label" => options.label = field.optional(Field::text)?,
            "priority" => options.priority = field.whole()?,
            "weight" => options.weight = field.whole()?,
            "maxInFlight" => options.max_in_flight = field.optional(Field::whole)?,
            _ => {
                let known = ["url", "provider", "label", "priority", "weight", "maxInFlight"];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    Ok(endpoint)
}

fn routing(field: &Field<'_>) -> Result<RoutingDocument> {
    let mut routing = RoutingDocument::default();
    field.fields(&mut |name, field| {
        match name {
            "preferNetworks" => routing.prefer_networks = field.list_of(Field::text)?,
            "probeTimeoutMs" => routing.probe_timeout_ms = field.whole()?,
            "maxProvidersPerNetwork" => routing.max_providers_per_network = field.whole()?,
            "seed" => routing.seed = field.optional(Field::whole)?,
            "allowHttp" => routing.allow_http = field.flag()?,
            "secondOpinion" => routing.second_opinion = field.flag()?,
            _ => {
                let known = [
                    "preferNetworks",
                    "probeTimeoutMs",
                    "maxProvidersPerNetwork",
                    "seed",
                    "allowHttp",
                    "secondOpinion",
                ];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    Ok(routing)
}

fn policy(field: &Field<'_>) -> Result<PolicyDocument> {
    let mut policy = PolicyDocument::default();
    field.fields(&mut |name, field| {
        match name {
            "allowedNetworks" => policy.allowed_networks = field.list_of(Field::text)?,
            "allowedAssets" => policy.allowed_assets = field.list_of(Field::text)?,
            "maxAmount" => policy.max_amount = field.entries_of(Field::text)?,
            _ => return Err(field.unknown(name, &["allowedNetworks", "allowedAssets", "maxAmount"])),
        }
        Ok(())
    })?;
    Ok(policy)
}

#[rustfmt::skip] // One field a line.
fn health(field: &Field<'_>) -> Result<HealthSettings> {
    let mut health = HealthSettings::default();
    field.fields(&mut |name, field| {
        match name {
            "ewmaAlpha" => health.ewma_alpha = field.fraction()?,
            "failureWindow" => health.failure_window = field.whole()?,
            "consecutiveFailures" => health.consecutive_failures = field.whole()?,
            "failurePercent" => health.failure_percent = field.whole()?,
            "minimumSamples" => health.minimum_samples = field.whole()?,
            "openForMs" => health.open_for_ms = field.whole()?,
            "backoffMs" => health.backoff_ms = field.whole()?,
            "backoffLimitMs" => health.backoff_limit_ms = field.whole()?,
            "slowMs" => health.slow_ms = field.whole()?,
            "capacity" => health.capacity = field.whole()?,
            "idleRetentionMs" => health.idle_retention_ms = field.whole()?,
            _ => {
                let known = [
                    "ewmaAlpha", "failureWindow", "consecutiveFailures", "failurePercent", "minimumSamples",
                    "openForMs", "backoffMs", "backoffLimitMs", "slowMs", "capacity", "idleRetentionMs",
                ];
                return Err(field.unknown(name, &known));
            }
        }
        Ok(())
    })?;
    Ok(health)
}

fn limits(field: &Field<'_>) -> Result<Limits> {
    let mut limits = Limits::default();
    field.fields(&mut |name, field| {
        match name {
            "headerBytes" => limits.header_bytes = field.whole()?,
            "bodyBytes" => limits.body_bytes = field.whole()?,
            "jsonDepth" => limits.json_depth = field.whole()?,
            "requirements" => limits.requirements = field.whole()?,
            _ => return Err(field.unknown(name, &["headerBytes", "bodyBytes", "jsonDepth", "requirements"])),
        }
        Ok(())
    })?;
    Ok(limits)
}
