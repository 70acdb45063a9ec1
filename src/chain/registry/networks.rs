//! The built-in networks.

use super::{Network, SOLANA_DEVNET, SOLANA_MAINNET, SOLANA_TESTNET, X402_EVM, X402_RS, X402_SVM};

const FAREMETER: &str = "faremeter";
const R402: &str = "r402, x402scan, Dexter";

const fn mainnet(id: &'static str, name: &'static str, source: &'static str) -> Network {
    Network { id, name, testnet: false, genesis_hash: None, rpc: &[], source }
}

const fn testnet(id: &'static str, name: &'static str, source: &'static str) -> Network {
    Network { testnet: true, ..mainnet(id, name, source) }
}

impl Network {
    const fn with_genesis(self, hash: &'static str) -> Self {
        Self { genesis_hash: Some(hash), ..self }
    }

    const fn with_rpc(self, rpc: &'static [&'static str]) -> Self {
        Self { rpc, ..self }
    }
}

/// Every built-in network: each one that has an accepted name or a built-in
/// asset.
///
/// Public endpoints are given only for the four networks most payments use, two
/// operators each. They serve a first try; their limits are their operators'.
/// Solana's testnet has none here.
#[rustfmt::skip] // one network, one line; endpoints below it
pub static NETWORKS: &[Network] = &[
    mainnet("eip155:8453", "Base", X402_EVM)
        .with_rpc(&["https://mainnet.base.org", "https://base-rpc.publicnode.com"]),
    testnet("eip155:84532", "Base Sepolia", X402_EVM)
        .with_rpc(&["https://sepolia.base.org", "https://base-sepolia-rpc.publicnode.com"]),
    mainnet(SOLANA_MAINNET, "Solana", X402_SVM)
        .with_genesis("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")
        .with_rpc(&["https://api.mainnet-beta.solana.com", "https://rpc.solanatracker.io/public"]),
    testnet(SOLANA_DEVNET, "Solana Devnet", X402_SVM)
        .with_genesis("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG")
        .with_rpc(&["https://api.devnet.solana.com", "https://solana-devnet.api.onfinality.io/public"]),
    testnet(SOLANA_TESTNET, "Solana Testnet", X402_SVM)
        .with_genesis("4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"),

    mainnet("eip155:1", "Ethereum", X402_EVM),
    testnet("eip155:11155111", "Ethereum Sepolia", X402_EVM),
    mainnet("eip155:10", "Optimism", R402),
    testnet("eip155:11155420", "Optimism Sepolia", R402),
    mainnet("eip155:14", "Flare", X402_EVM),
    mainnet("eip155:50", "XDC", X402_EVM),
    testnet("eip155:51", "XDC Apothem", X402_EVM),
    mainnet("eip155:56", "BNB Smart Chain", R402),
    mainnet("eip155:137", "Polygon", X402_EVM),
    testnet("eip155:80002", "Polygon Amoy", X402_EVM),
    mainnet("eip155:143", "Monad", X402_EVM),
    testnet("eip155:10143", "Monad Testnet", FAREMETER),
    mainnet("eip155:988", "Stable", X402_EVM),
    testnet("eip155:2201", "Stable Testnet", X402_EVM),
    mainnet("eip155:1329", "Sei", X402_EVM),
    testnet("eip155:1328", "Sei Testnet", X402_EVM),
    mainnet("eip155:1514", "Story", X402_EVM),
    mainnet("eip155:2741", "Abstract", X402_EVM),
    testnet("eip155:11124", "Abstract Testnet", X402_EVM),
    mainnet("eip155:3338", "peaq", X402_EVM),
    mainnet("eip155:4326", "MegaETH", X402_EVM),
    mainnet("eip155:4689", "IoTeX", X402_EVM),
    mainnet("eip155:31612", "Mezo", X402_EVM),
    testnet("eip155:31611", "Mezo Testnet", X402_EVM),
    mainnet("eip155:36900", "ADI", X402_EVM),
    mainnet("eip155:38833", "Igra", X402_EVM),
    mainnet("eip155:41923", "EDU Chain", X402_EVM),
    mainnet("eip155:42161", "Arbitrum One", X402_EVM),
    testnet("eip155:421614", "Arbitrum Sepolia", X402_EVM),
    mainnet("eip155:42220", "Celo", X402_EVM),
    testnet("eip155:11142220", "Celo Sepolia", X402_EVM),
    mainnet("eip155:43114", "Avalanche", X402_EVM),
    testnet("eip155:43113", "Avalanche Fuji", X402_EVM),
    mainnet("eip155:190415", "HPP", X402_EVM),
    testnet("eip155:181228", "HPP Sepolia", X402_EVM),
    mainnet("eip155:723487", "Radius", X402_EVM),
    testnet("eip155:72344", "Radius Testnet", X402_EVM),
    mainnet("eip155:1440000", "XRPL EVM", X402_RS),
    mainnet("eip155:1187947933", "SKALE Base", FAREMETER),
    testnet("eip155:324705682", "SKALE Base Sepolia", X402_EVM),
    testnet("eip155:1444673419", "SKALE Europa Testnet", FAREMETER),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use solana_address::Address;

    use super::*;
    use crate::chain::{ChainFamily, ChainId};

    #[test]
    fn network_ids_are_canonical_and_unique() {
        let mut seen = HashSet::new();
        for network in NETWORKS {
            ChainId::parse_caip2(network.id).unwrap_or_else(|e| panic!("{e}"));
            assert!(seen.insert(network.id), "{} is listed twice", network.id);
        }
    }

    #[test]
    fn display_names_are_unique() {
        let mut seen = HashSet::new();
        for network in NETWORKS {
            assert!(seen.insert(network.name), "{} is listed twice", network.name);
        }
    }

    #[test]
    fn a_solana_reference_is_the_start_of_its_genesis_hash() {
        for network in NETWORKS {
            let chain = ChainId::parse_caip2(network.id).unwrap();
            assert_eq!(network.genesis_hash.is_some(), chain.family() == ChainFamily::Svm, "{network:?}");
            if let Some(hash) = network.genesis_hash {
                assert_eq!(hash.get(..32), Some(chain.reference()));
                assert_eq!(hash.parse::<Address>().unwrap().to_bytes().len(), 32, "{hash}");
            }
        }
    }

    #[test]
    fn endpoints_are_https_hosts_and_unique() {
        let mut seen = HashSet::new();
        for url in NETWORKS.iter().flat_map(|network| network.rpc) {
            let rest = url.strip_prefix("https://").unwrap_or_else(|| panic!("{url}"));
            assert!(!rest.contains(['?', '@', '#', ' ']), "{url}");
            assert!(seen.insert(url), "{url} is listed twice");
        }
        let with_endpoints: Vec<_> = NETWORKS
            .iter()
            .filter(|network| !network.rpc.is_empty())
            .map(|network| (network.name, network.rpc.len()))
            .collect();
        let expected = [("Base", 2), ("Base Sepolia", 2), ("Solana", 2), ("Solana Devnet", 2)];
        assert_eq!(with_endpoints, expected);
    }
}
