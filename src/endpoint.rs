//! Where a node is reached. Holds the URL and never shows more of it than the host.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use url::{Host, Url};

use crate::health::EndpointKey;
use crate::network::ChainId;

/// One RPC endpoint of one network. `Debug` and every message show the host alone: path, query and
/// user info of a URL carry API keys.
#[derive(Clone)]
pub struct Endpoint {
    key: EndpointKey,
    url: Url,
    label: Option<Arc<str>>,
    priority: u8,
    weight: u32,
}

impl Endpoint {
    /// The endpoint of `network` at `url`. Which URLs are acceptable is the configuration's
    /// business, not checked here.
    pub(crate) fn new(network: ChainId, url: Url) -> Self {
        let digest = Sha256::digest(url.as_str().as_bytes());
        let identity = digest.iter().take(16).fold(0_u128, |acc, byte| acc << 8 | u128::from(*byte));
        let key = EndpointKey::new(network, identity, host_and_port(&url));
        Self { key, url, label: None, priority: 0, weight: 1 }
    }

    pub(crate) fn with_options(self, label: Option<Arc<str>>, priority: u8, weight: u32) -> Self {
        Self { label, priority, weight, ..self }
    }

    /// The identity under which its health is kept.
    #[must_use]
    pub fn key(&self) -> &EndpointKey {
        &self.key
    }

    /// Host, and port if it is not the scheme's own: all that may be shown.
    #[must_use]
    pub fn host(&self) -> &Arc<str> {
        self.key.host()
    }

    /// The whole URL, secrets included. For a transport to connect to; never to be printed.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The name that the configuration gives it.
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
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({:?})", self.key)
    }
}

/// Whether a URL names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
