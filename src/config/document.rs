//! The configuration document as it is written: shape and kinds only, nothing resolved.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::ConfigError;
use super::Strategy;
use crate::health::HealthSettings;
use crate::json::Record;
use crate::payment::Limits;

/// Objects whose keys are data, in the order they are written, repeated keys and all: aliases make
/// duplicates that no JSON parser can see.
#[derive(Debug)]
pub(super) struct Entries<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Document {
    pub(super) owners: Entries<String>,
    pub(super) networks: Entries<Record<NetworkDocument>>,
    pub(super) routing: Record<RoutingDocument>,
    pub(super) policy: Record<PolicyDocument>,
    pub(super) fees: Entries<String>,
    pub(super) health: Record<HealthSettings>,
    pub(super) limits: Record<Limits>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct NetworkDocument {
    pub(super) name: Option<String>,
    pub(super) genesis_hash: Option<String>,
    pub(super) rpc: Option<Vec<EndpointDocument>>,
    pub(super) reference_url: Option<String>,
    pub(super) assets: Vec<Record<AssetDocument>>,
    pub(super) strategy: Option<Strategy>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AssetDocument {
    pub(super) address: String,
    pub(super) symbol: Option<String>,
    pub(super) decimals: Option<u8>,
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) program: Option<ProgramDocument>,
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(super) enum ProgramDocument {
    #[serde(rename = "token")]
    Token,
    #[serde(rename = "token-2022")]
    Token2022,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
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
}

impl Default for RoutingDocument {
    fn default() -> Self {
        Self {
            prefer_networks: Vec::new(),
            probe_timeout_ms: 600,
            max_providers_per_network: 2,
            seed: None,
            allow_http: false,
        }
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct PolicyDocument {
    pub(super) allowed_networks: Vec<String>,
    pub(super) allowed_assets: Vec<String>,
    pub(super) max_amount: Entries<String>,
}

/// `"https://…"`, `{"url": "https://…", …}` or `{"provider": "…", …}`.
#[derive(Debug)]
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

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndpointObject {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    priority: u8,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    max_in_flight: Option<u32>,
}

fn one() -> u32 {
    1
}

pub(super) fn parse(text: &str) -> Result<Document, ConfigError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let Record(document) = serde_path_to_error::deserialize(&mut deserializer).map_err(ConfigError::from_serde)?;
    match deserializer.end() {
        Ok(()) => Ok(document),
        Err(_) => Err(ConfigError::new(".", "something follows the document", "one JSON object")),
    }
}

impl<'de> Deserialize<'de> for EndpointDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EndpointVisitor;

        impl<'de> Visitor<'de> for EndpointVisitor {
            type Value = EndpointDocument;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URL or an object with a url or a provider")
            }

            fn visit_str<E>(self, url: &str) -> Result<EndpointDocument, E> {
                let options = EndpointOptions { label: None, priority: 0, weight: one(), max_in_flight: None };
                Ok(EndpointDocument { url: Some(url.to_owned()), provider: None, options, bare: true })
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<EndpointDocument, A::Error> {
                let EndpointObject { url, provider, label, priority, weight, max_in_flight } =
                    EndpointObject::deserialize(MapAccessDeserializer::new(access))?;
                let options = EndpointOptions { label, priority, weight, max_in_flight };
                Ok(EndpointDocument { url, provider, options, bare: false })
            }
        }

        deserializer.deserialize_any(EndpointVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}
