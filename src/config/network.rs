//! A network: its built-in row, overridden field by field by its entry under `networks`.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use super::asset;
use super::check::{self, payable_chain, refuse_second_asset};
use super::endpoint::{endpoint_at, endpoints};
use super::field::{Entries, Field};
use super::{AssetConfig, Identity, NetworkConfig, Strategy};
use crate::chain::{Amount, ChainFamily, ChainId, SolanaAddress, registry};
use crate::runtime::RpcUrl;
use crate::transport::Endpoint;

/// Every network that is built in or configured.
pub(super) type Networks = BTreeMap<ChainId, NetworkConfig>;

pub(super) fn networks(entries: &Entries<'_>, allow_http: bool) -> Networks {
    let mut networks = builtin_networks();
    let mut configured = BTreeSet::new();
    for (name, field) in entries {
        let Some(chain) = payable_chain(field, name) else { continue };
        if !configured.insert(chain.clone()) {
            field.refuse("names a network that is already configured", "each network once");
        }
        networks
            .entry(chain)
            .or_insert_with_key(|chain| NetworkConfig::unknown(chain.clone()))
            .configure(field, allow_http);
    }
    networks
}

fn builtin_networks() -> Networks {
    let chain = |row: &'static registry::Network| Some((ChainId::known(row.id)?, row));
    let rows = registry::NETWORKS.iter().filter_map(chain);
    rows.map(|(chain, row)| (chain.clone(), NetworkConfig::built_in(chain, row))).collect()
}

impl Strategy {
    const ALL: [Self; 5] = [Self::Ordered, Self::BestScore, Self::Weighted, Self::Race, Self::Hedged];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::BestScore => "best-score",
            Self::Weighted => "weighted",
            Self::Race => "race",
            Self::Hedged => "hedged",
        }
    }
}

impl NetworkConfig {
    fn unknown(chain: ChainId) -> Self {
        Self {
            name: chain.as_str().into(),
            identity: identity_from_id(&chain),
            owner: None,
            endpoints: Vec::new(),
            strategy: Strategy::Ordered,
            reference: None,
            assets: Vec::new(),
            fee: Amount::ZERO,
            chain,
        }
    }

    fn built_in(chain: ChainId, row: &registry::Network) -> Self {
        let url = |url: &&str| RpcUrl::parse(url).map(|url| Arc::new(Endpoint::at_url(chain.clone(), url)));
        let endpoints = row.rpc.iter().filter_map(url).collect();
        let assets = registry::assets(&chain).map(|row| Arc::new(AssetConfig::built_in(&chain, row))).collect();
        let genesis = row.genesis_hash.map(|hash| Identity::GenesisHash(hash.into()));
        let unknown = Self::unknown(chain);
        let identity = genesis.unwrap_or_else(|| unknown.identity.clone());
        Self { name: row.name.into(), identity, endpoints, assets, ..unknown }
    }

    fn configure(&mut self, field: &Field<'_>, allow_http: bool) {
        let fields = field.fields();
        if let Some(name) = fields.get_set("name") {
            self.name = check::label(name);
        }
        if let Some(hash) = fields.get_set("genesisHash") {
            self.identity = genesis(hash, &self.chain);
        }
        if let Some(rpc) = fields.get_set("rpc") {
            self.endpoints = endpoints(rpc, &self.chain, allow_http);
        }
        if let Some(url) = fields.get_set("referenceUrl") {
            self.reference = endpoint_at(url, &self.chain, allow_http).map(Arc::new);
        }
        let mut listed = BTreeSet::new();
        for row in &fields.items("assets") {
            if !listed.insert(self.configure_asset(row)) {
                refuse_second_asset(row);
            }
        }
        if let Some(strategy) = fields.get_set("strategy") {
            self.strategy =
                strategy.word(&Strategy::ALL.map(|strategy| (strategy.word(), strategy))).unwrap_or_default();
        }
        fields.finish();
    }

    /// Reads one row of `assets`, and returns the asset's id.
    fn configure_asset(&mut self, field: &Field<'_>) -> Arc<str> {
        let row = asset::Row::read(field, &self.chain);
        let known = self.assets.iter().position(|asset| asset.id == row.id).map(|place| self.assets.remove(place));
        let asset = row.over(known.map(Arc::unwrap_or_clone), field);
        let id = asset.id.clone();
        self.assets.push(Arc::new(asset));
        id
    }
}

fn identity_from_id(chain: &ChainId) -> Identity {
    match chain.evm_chain_id() {
        Some(id) => Identity::ChainId(id),
        None => Identity::GenesisPrefix(chain.reference().into()),
    }
}

fn genesis(field: &Field<'_>, chain: &ChainId) -> Identity {
    let hash = field.text();
    let belongs = chain.family() == ChainFamily::Svm && hash.starts_with(chain.reference());
    if !belongs || SolanaAddress::from_str(hash).is_err() {
        let accepted = "the base58 genesis hash that the network's CAIP-2 id begins";
        field.refuse("does not belong to the network", accepted);
    }
    Identity::GenesisHash(hash.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::registry::{ASSETS, AssetKind, NETWORKS};

    #[test]
    fn every_row_of_the_registry_is_built_in() {
        let networks = builtin_networks();
        assert_eq!(networks.len(), NETWORKS.len());
        assert_eq!(networks.values().map(|network| network.assets.len()).sum::<usize>(), ASSETS.len());
        for row in NETWORKS {
            let chain = ChainId::resolve(row.id).unwrap();
            let network = &networks[&chain];
            let identity = row.genesis_hash.map(|hash| Identity::GenesisHash(hash.into()));
            assert_eq!((&*network.name, network.chain.as_str()), (row.name, row.id));
            assert_eq!(network.identity, identity.unwrap_or_else(|| identity_from_id(&chain)));
            let urls = network.endpoints.iter().map(|endpoint| endpoint.url().unwrap().trim_end_matches('/'));
            assert_eq!(urls.collect::<Vec<_>>(), row.rpc);
            for (asset, row) in network.assets.iter().zip(registry::assets(&chain)) {
                let (domain, method, program) = match row.kind {
                    AssetKind::Erc20 { name, version, method } => (Some((name, version)), Some(method), None),
                    AssetKind::Spl { program } => (None, None, Some(program)),
                };
                let is_domain = asset.domain.as_ref().map(|(name, version)| (&**name, &**version));
                assert_eq!((&*asset.address, &*asset.symbol, asset.decimals), (row.address, row.symbol, row.decimals));
                assert_eq!((is_domain, asset.method, asset.program), (domain, method, program));
            }
        }
    }
}
