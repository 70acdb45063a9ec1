//! Keys in memory, and the x402 client that signs with them on every network a selector is configured
//! for. Refuses to know where keys come from; no error and no `Debug` shows one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use alloy_signer_local::PrivateKeySigner;
use payroute::{ChainFamily, ChainId, Config, ConfigurationError, RouteSelector, Score};
use serde_json::{Value, json};
use solana_client::nonblocking::rpc_client::RpcClient;
use solana_commitment_config::CommitmentConfig;
use solana_keypair::Keypair;
use solana_signer::Signer;
use x402_chain_eip155::{V1Eip155ExactClient, V2Eip155ExactClient, V2Eip155UptoClient};
use x402_chain_solana::{V1SolanaExactClient, V2SolanaExactClient};
use x402_reqwest::X402Client;
use x402_types::proto;
use x402_types::scheme::X402SchemeId;
use x402_types::scheme::client::{FirstMatch, PaymentCandidate, X402SchemeClient};

/// A Solana payment takes four reads before it can be signed; each may take this long.
const SOLANA_TIMEOUT: Duration = Duration::from_secs(5);

/// The buyer's keys: one for every EVM network, one for Solana, either of which may be missing.
#[derive(Clone)]
pub struct Wallet {
    evm: Option<PrivateKeySigner>,
    solana: Option<Arc<Keypair>>,
}

/// Why a wallet could not be made. Shows nothing of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalletError {
    /// The EVM key is not one.
    #[error("the EVM key is not accepted; accepted is a secp256k1 key of 32 bytes in hexadecimal")]
    EvmKey,
    /// The Solana key is not one.
    #[error("the Solana key is not accepted; accepted is a key pair of 64 bytes in base58")]
    SolanaKey,
}

impl Wallet {
    /// A wallet of these keys: EVM as hexadecimal, Solana as base58.
    ///
    /// # Errors
    /// A key is malformed.
    pub fn from_keys(evm: Option<&str>, solana: Option<&str>) -> Result<Self, WalletError> {
        let evm = evm.map(|key| key.trim().parse().map_err(|_| WalletError::EvmKey)).transpose()?;
        let solana = solana.map(|key| Keypair::try_from_base58_string(key.trim()).map_err(|_| WalletError::SolanaKey));
        Ok(Self { evm, solana: solana.transpose()?.map(Arc::new) })
    }

    /// The configuration in `json`, with this wallet's addresses as owners where it names none itself.
    ///
    /// # Errors
    /// As for [`Config::from_json`].
    pub fn config(&self, json: &str) -> Result<Config, ConfigurationError> {
        let config = Config::from_json(json)?;
        match self.owned(json) {
            Some(owned) => Config::from_json(&owned),
            None => Ok(config),
        }
    }

    /// `json` with the owners filled in; `None` where it has no place for them.
    fn owned(&self, json: &str) -> Option<String> {
        let mut config: Value = serde_json::from_str(json).ok()?;
        let owners = config.as_object_mut()?.entry("owners").or_insert_with(|| json!({})).as_object_mut()?;
        let evm = self.evm.as_ref().map(|key| ("eip155", key.address().to_string()));
        let solana = self.solana.as_ref().map(|key| ("solana", key.pubkey().to_string()));
        for (family, address) in evm.into_iter().chain(solana) {
            owners.entry(family).or_insert(Value::String(address));
        }
        Some(config.to_string())
    }

    /// The x402 client that signs with these keys, for both protocol versions.
    ///
    /// Solana payments are prepared over the endpoints that `selector` is configured with.
    #[must_use]
    pub fn client(&self, selector: &RouteSelector) -> X402Client<FirstMatch> {
        let mut client = X402Client::new();
        if let Some(key) = &self.evm {
            client = client.register(V2Eip155ExactClient::new(key.clone()));
            client = client.register(V2Eip155UptoClient::new(key.clone()));
            client = client.register(V1Eip155ExactClient::new(key.clone()));
        }
        let Some(key) = &self.solana else { return client };
        for rpc in SolanaRpc::of_every_cluster(selector) {
            let network = rpc.network.clone();
            client = client.register(OnNetwork::new(&network, V2SolanaExactClient::new(key.clone(), rpc.clone())));
            client = client.register(OnNetwork::new(&network, V1SolanaExactClient::new(key.clone(), rpc)));
        }
        client
    }
}

impl fmt::Debug for Wallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evm = self.evm.as_ref().map(PrivateKeySigner::address);
        let solana = self.solana.as_ref().map(|key| key.pubkey());
        f.debug_struct("Wallet").field("evm", &evm).field("solana", &solana).finish()
    }
}

/// The endpoints of one Solana cluster. As an RPC client it is the one that payroute knows the best of,
/// which it has just asked for the balance.
#[derive(Clone)]
struct SolanaRpc {
    network: ChainId,
    selector: RouteSelector,
    /// By the endpoint's id in the health index, in configured order.
    clients: Arc<[(String, RpcClient)]>,
}

impl SolanaRpc {
    fn of_every_cluster(selector: &RouteSelector) -> Vec<Self> {
        let mut clusters: Vec<ChainId> = Vec::new();
        for network in selector.endpoints().map(|endpoint| endpoint.key().network()) {
            if network.family() == ChainFamily::Svm && !clusters.contains(network) {
                clusters.push(network.clone());
            }
        }
        clusters.into_iter().filter_map(|network| Self::of(selector, network)).collect()
    }

    fn of(selector: &RouteSelector, network: ChainId) -> Option<Self> {
        let commitment = CommitmentConfig::confirmed();
        let here = selector.endpoints().filter(|endpoint| *endpoint.key().network() == network);
        let clients = here.filter_map(|endpoint| {
            let url = endpoint.url()?.to_string();
            let client = RpcClient::new_with_timeout_and_commitment(url, SOLANA_TIMEOUT, commitment);
            Some((endpoint.key().id(), client))
        });
        let clients: Arc<[_]> = clients.collect();
        (!clients.is_empty()).then(|| Self { network, selector: selector.clone(), clients })
    }
}

impl AsRef<RpcClient> for SolanaRpc {
    #[allow(clippy::indexing_slicing, reason = "`of` makes none without a client")]
    fn as_ref(&self) -> &RpcClient {
        let health = self.selector.health();
        let usable = |id: &str| {
            let view = health.iter().find(|view| view.id == id);
            view.map_or((true, Score::NEW), |view| (!view.cordoned, view.score))
        };
        // The last of equals is taken, so in reverse the one that is configured first.
        let best = self.clients.iter().rev().max_by_key(|(id, _)| usable(id));
        best.map_or(&self.clients[0].1, |(_, client)| client)
    }
}

/// A scheme client that signs on one network alone: those of Solana take every cluster for the one
/// that their RPC client is connected to.
struct OnNetwork<C> {
    network: String,
    scheme: C,
}

impl<C> OnNetwork<C> {
    fn new(network: &ChainId, scheme: C) -> Self {
        Self { network: network.to_string(), scheme }
    }
}

impl<C: X402SchemeId> X402SchemeId for OnNetwork<C> {
    fn x402_version(&self) -> u8 {
        self.scheme.x402_version()
    }

    fn namespace(&self) -> &str {
        self.scheme.namespace()
    }

    fn scheme(&self) -> &str {
        self.scheme.scheme()
    }
}

impl<C: X402SchemeClient> X402SchemeClient for OnNetwork<C> {
    fn accept(&self, required: &proto::PaymentRequired) -> Vec<PaymentCandidate> {
        let mut candidates = self.scheme.accept(required);
        candidates.retain(|candidate| candidate.chain_id.to_string() == self.network);
        candidates
    }
}

#[cfg(test)]
mod tests {
    use payroute::{Endpoint, Outcome};

    use super::*;

    #[test]
    fn the_endpoint_that_is_known_to_work_prepares_payments() {
        let rpc = r#"{"networks": {"solana": {"rpc": ["https://one.test/", "https://two.test/"]}}}"#;
        let selector = RouteSelector::new(Config::from_json(rpc).unwrap()).unwrap();
        let solana = ChainId::resolve("solana").unwrap();
        let first: &Endpoint = selector.endpoints().find(|endpoint| endpoint.host() == "one.test").unwrap();
        let client = SolanaRpc::of(&selector, solana).unwrap();
        let chosen = || client.as_ref().url();

        assert_eq!(chosen(), "https://one.test/", "the first of equals");
        selector.report(first, Outcome::Fault);
        assert_eq!(chosen(), "https://two.test/");
        selector.reset_health();
        assert_eq!(chosen(), "https://one.test/");
        selector.cordon(first);
        assert_eq!(chosen(), "https://two.test/");
    }
}
