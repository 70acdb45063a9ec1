//! Which endpoint a record of health is of.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::chain::ChainId;
use crate::json::Record;

/// The identity of one endpoint of one network: two URLs on one host are two endpoints.
///
/// Compares by `digest` and network. Shows the network and the host, never a URL.
#[derive(Clone)]
pub struct EndpointKey {
    digest: u128,
    network: ChainId,
    host: Arc<str>,
}

impl EndpointKey {
    /// A key for the endpoint that `digest` identifies within `network`, shown as `host`.
    ///
    /// `digest` must differ for two endpoints of one network; networks are told apart here.
    #[must_use]
    pub fn new(network: ChainId, digest: u128, host: impl Into<Arc<str>>) -> Self {
        Self { digest, network, host: host.into() }
    }

    /// The network that the endpoint serves.
    #[must_use]
    pub fn network(&self) -> &ChainId {
        &self.network
    }

    /// 32 hexadecimal digits that tell endpoints of one host apart: a hash of the whole URL. A key of many random
    /// characters cannot be found from it; a secret that can be guessed, such as a PIN as the password, can be, by
    /// trying.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{:032x}", self.digest)
    }

    pub(crate) fn digest(&self) -> u128 {
        self.digest
    }

    /// What the record of an endpoint begins with.
    #[doc(hidden)] // For the npm package; no part of the API.
    #[must_use]
    pub fn record(&self) -> Record {
        Self::record_of(&self.network, &self.host, &self.id())
    }

    /// The same of a key that is there in its parts alone.
    pub(crate) fn record_of(network: &ChainId, host: &str, id: &str) -> Record {
        let mut record = Record::default();
        record.text("network", network.as_str());
        record.text("endpoint", host);
        record.text("id", id);
        record
    }

    /// Host, and port if it is not the scheme's own; a provider's label.
    #[must_use]
    pub fn host(&self) -> &Arc<str> {
        &self.host
    }
}

impl PartialEq for EndpointKey {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.network == other.network
    }
}

impl Eq for EndpointKey {}

impl Hash for EndpointKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl fmt::Debug for EndpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.network, self.host)
    }
}
