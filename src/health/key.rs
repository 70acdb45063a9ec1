//! Which endpoint a record of health is of.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::chain::ChainId;

/// The identity of one endpoint of one network: two URLs on one host are two endpoints.
///
/// Compares by `digest` and network. Shows the network and the host, never a URL.
#[derive(Clone, Serialize)]
pub struct EndpointKey {
    network: ChainId,
    #[serde(rename = "endpoint")]
    host: Arc<str>,
    #[serde(rename = "id", serialize_with = "write_id")]
    digest: u128,
}

impl EndpointKey {
    /// A key for the endpoint that `digest` identifies within `network`, shown as `host`.
    ///
    /// `digest` must differ for two endpoints of one network; networks are told apart here.
    #[doc(hidden)] // Keys come with endpoints; tests make their own.
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
        id(self.digest)
    }

    pub(crate) fn digest(&self) -> u128 {
        self.digest
    }

    /// Host, and port if it is not the scheme's own; a provider's label.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host, for those who keep it.
    pub(crate) fn shared_host(&self) -> &Arc<str> {
        &self.host
    }
}

/// 32 hexadecimal digits.
pub(super) fn id(digest: u128) -> String {
    format!("{digest:032x}")
}

/// For serde, which asks by reference.
pub(super) fn write_id<S: Serializer>(digest: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&id(*digest))
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
