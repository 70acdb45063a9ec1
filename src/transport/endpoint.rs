//! Where a node is reached. It holds the URL and never shows more of it than the host.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::chain::ChainId;
use crate::health::EndpointKey;
use crate::runtime::RpcUrl;

/// One RPC endpoint of one network. `Debug` and every message show only the host: path, query and user info of a
/// URL carry API keys.
#[derive(Clone)]
pub struct Endpoint {
    key: EndpointKey,
    address: EndpointAddress,
    label: Option<Arc<str>>,
    priority: u8,
    weight: u32,
    max_in_flight: Option<u32>,
}

/// What a transport needs to reach an endpoint.
#[derive(Clone)]
enum EndpointAddress {
    Url(String),
    /// A name that the transport knows, for example of a wallet's own provider.
    Provider(Arc<str>),
}

impl Endpoint {
    /// The endpoint of `network` at `url`. The configuration has checked that the URL is acceptable.
    pub(crate) fn at_url(network: ChainId, url: RpcUrl) -> Self {
        let key = EndpointKey::new(network, digest("url", &url.href), url.host_and_port);
        Self { key, address: EndpointAddress::Url(url.href), label: None, priority: 0, weight: 1, max_in_flight: None }
    }

    /// The endpoint of `network` that the transport reaches under the name `provider`, shown as
    /// `shown`.
    pub(crate) fn at_provider(network: ChainId, provider: Arc<str>, shown: Arc<str>) -> Self {
        let key = EndpointKey::new(network, digest("provider", &provider), shown);
        Self {
            key,
            address: EndpointAddress::Provider(provider),
            label: None,
            priority: 0,
            weight: 1,
            max_in_flight: None,
        }
    }

    pub(crate) fn with_options(
        self,
        label: Option<Arc<str>>,
        priority: u8,
        weight: u32,
        max_in_flight: Option<u32>,
    ) -> Self {
        Self { label, priority, weight, max_in_flight, ..self }
    }

    /// The identity under which its health is kept.
    #[must_use]
    pub fn key(&self) -> &EndpointKey {
        &self.key
    }

    /// The only part that may be shown: its host, with the port if it is not the scheme's own; a provider's label.
    #[must_use]
    pub fn host(&self) -> &str {
        self.key.host()
    }

    /// The host, for those who keep it.
    pub(crate) fn shared_host(&self) -> &Arc<str> {
        self.key.shared_host()
    }

    /// The whole URL in canonical text, secrets included, unless it is a provider. A transport connects to it; it
    /// must never be printed.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        match &self.address {
            EndpointAddress::Url(url) => Some(url),
            EndpointAddress::Provider(_) => None,
        }
    }

    /// The name under which the configuration lists it, if it is a provider.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        match &self.address {
            EndpointAddress::Url(_) => None,
            EndpointAddress::Provider(name) => Some(name),
        }
    }

    /// The label that the configuration gives it.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Endpoints of a lower number are asked first.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.priority
    }

    /// Its share of the traffic under a weighted strategy.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Requests that it may have under way at once; absent for any number.
    pub(crate) fn max_in_flight(&self) -> Option<u32> {
        self.max_in_flight
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({:?})", self.key)
    }
}

/// A hash that identifies an address without telling it: the first half of a SHA-256.
fn digest(kind: &str, address: &str) -> u128 {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(address).finalize();
    digest.iter().take(16).fold(0, |half, byte| half << 8 | u128::from(*byte))
}
