//! The names that networks go by, and the reading of them: [`ChainId::resolve`] turns every accepted spelling into one
//! canonical CAIP-2 text, and everything after it compares that text only.
//!
//! Spelling is exact on purpose. A network is a money term, so `Base`, ` base` and `eip155:08453` are refused rather
//! than guessed at.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::{SOLANA_DEVNET, SOLANA_MAINNET, SOLANA_TESTNET};
use crate::chain::{ChainId, NetworkError};

/// Every accepted name beside CAIP-2 itself, as (name, CAIP-2 id).
///
/// Where sources disagree, the TypeScript and Go implementations of x402 win,
/// because they are what most merchants run:
///
/// | name | taken | refused |
/// |---|---|---|
/// | `sei-testnet` | 1328 | 713715 (Python map and the x402 documentation page) |
/// | `story` | 1514 | 1513 (Python map) |
/// | `educhain` | 41923 | 656476 (Python map) |
/// | `skale-base-sepolia` | 324705682 | 1444673419 (Python map; for faremeter that id is `skale-europa-testnet`) |
///
/// Left out: bare chain ids (`8453`), which faremeter accepts, and the numbers
/// 101 and 103 by which the legacy TypeScript v1 table meant Solana, because a
/// number alone does not say which namespace it belongs to.
pub const NAMES: &[(&str, &str)] = &[
    // The v1 names of @x402/evm 2.27.0.
    ("ethereum", "eip155:1"),
    ("sepolia", "eip155:11155111"),
    ("abstract", "eip155:2741"),
    ("abstract-testnet", "eip155:11124"),
    ("base", "eip155:8453"),
    ("base-sepolia", "eip155:84532"),
    ("avalanche", "eip155:43114"),
    ("avalanche-fuji", "eip155:43113"),
    ("iotex", "eip155:4689"),
    ("sei", "eip155:1329"),
    ("sei-testnet", "eip155:1328"), // conflict, see above
    ("polygon", "eip155:137"),
    ("polygon-amoy", "eip155:80002"),
    ("peaq", "eip155:3338"),
    ("story", "eip155:1514"),                   // conflict, see above
    ("educhain", "eip155:41923"),               // conflict, see above
    ("skale-base-sepolia", "eip155:324705682"), // conflict, see above
    ("megaeth", "eip155:4326"),
    ("monad", "eip155:143"),
    ("stable", "eip155:988"),
    ("stable-testnet", "eip155:2201"),
    ("celo", "eip155:42220"), // TypeScript and x402-rs, not Go
    ("flare", "eip155:14"),   // TypeScript only
    // The v1 names of @x402/svm 2.27.0.
    ("solana", SOLANA_MAINNET),
    ("solana-devnet", SOLANA_DEVNET),
    ("solana-testnet", SOLANA_TESTNET),
    // Added by x402-rs 2.0.2.
    ("xdc", "eip155:50"),
    ("xrpl-evm", "eip155:1440000"),
    ("celo-sepolia", "eip155:11142220"),
    ("radius", "eip155:723487"),
    ("radius-testnet", "eip155:72344"),
    // Added by faremeter.
    ("skale-europa-testnet", "eip155:1444673419"),
    ("skale-base", "eip155:1187947933"),
    ("monad-testnet", "eip155:10143"),
    ("solana-mainnet-beta", SOLANA_MAINNET),
    // Added by r402, x402scan and Dexter.
    ("ethereum-sepolia", "eip155:11155111"),
    ("arbitrum", "eip155:42161"),
    ("arbitrum-sepolia", "eip155:421614"),
    ("optimism", "eip155:10"),
    ("optimism-sepolia", "eip155:11155420"),
    ("bsc", "eip155:56"),
    ("xdc-apothem", "eip155:51"),
    // Aliases seen in migration guides, client libraries and live answers. The
    // first four look like CAIP-2 but are not: a cluster name is no reference.
    ("solana:mainnet", SOLANA_MAINNET),
    ("solana:mainnet-beta", SOLANA_MAINNET),
    ("solana:devnet", SOLANA_DEVNET),
    ("solana:testnet", SOLANA_TESTNET),
    ("base-mainnet", "eip155:8453"),
    ("ethereum-mainnet", "eip155:1"),
];

impl ChainId {
    /// Reads any accepted spelling: a CAIP-2 id, an x402 v1 network name or one
    /// of the usual aliases (all of them in [`NAMES`]).
    ///
    /// # Errors
    ///
    /// [`NetworkError`] when the text is none of these, to the letter.
    pub fn resolve(text: &str) -> Result<Self, NetworkError> {
        Self::known(text).ok_or_else(|| NetworkError::unknown(text))
    }

    /// Like [`resolve`](Self::resolve), but `None` instead of an error.
    #[doc(hidden)] // For the npm package; no part of the API.
    #[must_use]
    pub fn known(text: &str) -> Option<Self> {
        let named = || NAMES.iter().find(|(name, _)| *name == text).and_then(|(_, id)| Self::from_caip2(id));
        Self::from_caip2(text).or_else(named)
    }
}

/// Reads every spelling that [`ChainId::resolve`] accepts.
impl<'de> Deserialize<'de> for ChainId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spelling;

        impl Visitor<'_> for Spelling {
            type Value = ChainId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a network as CAIP-2 id or name")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ChainId, E> {
                ChainId::resolve(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Spelling)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::chain::ChainFamily;
    use crate::chain::registry::network;

    fn message(text: &str) -> String {
        ChainId::resolve(text).unwrap_err().to_string()
    }

    fn id(text: &str) -> ChainId {
        ChainId::resolve(text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn every_name_resolves_to_a_canonical_id() {
        for (name, id) in NAMES {
            let strict = ChainId::parse_caip2(id).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(ChainId::resolve(name).unwrap(), strict, "{name}");
            assert_eq!(strict.as_str(), *id, "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_hide_no_canonical_id() {
        let mut seen = HashSet::new();
        for (name, _) in NAMES {
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(ChainId::parse_caip2(name).is_err(), "{name} is a CAIP-2 id of its own");
        }
    }

    #[test]
    fn every_name_has_its_network() {
        for (name, chain) in NAMES {
            assert!(network(&id(chain)).is_some(), "{name}");
        }
    }

    #[test]
    fn a_name_with_testnet_in_it_is_a_testnet() {
        for (name, chain) in NAMES {
            let network = network(&id(chain)).unwrap();
            let says =
                ["testnet", "devnet", "sepolia", "amoy", "fuji", "apothem"].iter().any(|word| name.contains(word));
            assert_eq!(network.testnet, says, "{name}");
        }
    }

    #[test]
    fn accepted_spellings() {
        let table = [
            ("base", "eip155:8453"),
            ("base-mainnet", "eip155:8453"),
            ("ethereum-mainnet", "eip155:1"),
            ("sei-testnet", "eip155:1328"),
            ("story", "eip155:1514"),
            ("educhain", "eip155:41923"),
            ("skale-base-sepolia", "eip155:324705682"),
            ("solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
            ("solana:mainnet-beta", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
            ("solana:devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
            ("solana:testnet", "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z"),
            ("eip155:8453", "eip155:8453"),
            ("eip155:18446744073709551615", "eip155:18446744073709551615"),
            ("stellar:pubnet", "stellar:pubnet"),
            ("tvm:-239", "tvm:-239"),
            ("a-b:X_y-9", "a-b:X_y-9"),
        ];
        for (given, id) in table {
            let resolved = ChainId::resolve(given).unwrap_or_else(|e| panic!("{given}: {e}"));
            assert_eq!(resolved.as_str(), id, "{given}");
        }
    }

    #[test]
    fn strict_reading_takes_no_names() {
        for given in ["base", "solana", "solana:mainnet"] {
            assert!(ChainId::resolve(given).is_ok(), "{given}");
            assert!(ChainId::parse_caip2(given).is_err(), "{given}");
        }
        assert_eq!(
            ChainId::parse_caip2("base").unwrap_err().to_string(),
            "network \"base\" is not a CAIP-2 id: accepted is namespace:reference such as \
             eip155:8453, with 3 to 8 of a-z 0-9 - before the colon and 1 to 32 of \
             a-z A-Z 0-9 - _ after it"
        );
    }

    #[test]
    fn error_texts() {
        assert_eq!(
            message("Base"),
            "network \"Base\" is not known: accepted are, spelled exactly, a CAIP-2 id such as \
             eip155:8453, an x402 v1 name such as base, or an alias such as solana:mainnet"
        );
        assert_eq!(
            message("eip155:08453"),
            "network \"eip155:08453\" has no valid chain id: accepted after eip155: is a decimal \
             number from 1 to 18446744073709551615 without leading zeros"
        );
        assert_eq!(
            message("solana:main"),
            "network \"solana:main\" names no Solana cluster: accepted after solana: are the \
             first 32 characters of the base58 genesis hash, or one of the names mainnet, \
             mainnet-beta, devnet, testnet where names are read"
        );
    }

    #[test]
    fn errors_repeat_the_text_safely() {
        let table = [
            ("ba\u{202e}se\n".to_owned(), r"ba\u{202e}se\n".to_owned()),
            ("b\u{430}se".to_owned(), r"b\u{430}se".to_owned()),
            ("a\"b".to_owned(), "a\\\"b".to_owned()),
            ("x".repeat(64), "x".repeat(64)),
            ("x".repeat(65), "x".repeat(63) + "…"),
            // An escape that does not fit is left out whole.
            ("x".repeat(60) + "\u{202e}", "x".repeat(60) + "…"),
            ("\u{7}".repeat(9), "\\u{7}".repeat(9)),
            ("\u{202e}".repeat(1000), "\\u{202e}".repeat(7) + "…"),
        ];
        for (given, shown) in table {
            let error = ChainId::resolve(&given).unwrap_err();
            assert_eq!(error.given(), shown);
            assert!(error.given().chars().count() <= 64);
        }
    }

    #[test]
    fn parts_of_an_id() {
        let base = ChainId::resolve("base").unwrap();
        assert_eq!((base.namespace(), base.reference()), ("eip155", "8453"));
        assert_eq!((base.family(), base.evm_chain_id()), (ChainFamily::Evm, Some(8453)));

        let solana = ChainId::resolve("solana").unwrap();
        assert_eq!(solana.namespace(), "solana");
        assert_eq!(solana.reference(), "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp");
        assert_eq!((solana.family(), solana.evm_chain_id()), (ChainFamily::Svm, None));

        let aptos = ChainId::resolve("aptos:1").unwrap();
        assert_eq!((aptos.family(), aptos.evm_chain_id()), (ChainFamily::Other, None));
    }

    #[test]
    fn text_forms_and_serde() {
        let id: ChainId = serde_json::from_str("\"base\"").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"eip155:8453\"");
        assert_eq!(format!("{id} {id:?}"), "eip155:8453 eip155:8453");

        let error = serde_json::from_str::<ChainId>("\"Base\"").unwrap_err();
        assert!(error.to_string().starts_with("network \"Base\" is not known"));
        let error = serde_json::from_str::<ChainId>("8453").unwrap_err();
        assert!(error.to_string().contains("expected a network as CAIP-2 id or name"));
    }
}
