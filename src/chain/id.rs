//! Names of networks, normalised once.
//!
//! A merchant, a configuration file and a wallet each spell a network in their
//! own way: `base`, `eip155:8453`, `solana:mainnet`. [`ChainId::resolve`] turns
//! every accepted spelling into one canonical CAIP-2 text, and everything after
//! it compares that text and nothing else.
//!
//! Spelling is exact on purpose. A network is a money term, so `Base`, ` base`
//! and `eip155:08453` are refused rather than guessed at.
//!
//! This file refuses to know endpoints, assets and whether a chain exists at
//! all: a well-formed id of a chain nobody has heard of is a valid [`ChainId`].
//! It does no I/O.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::chain::registry::id_of;
use crate::util::text::in_ascii;

/// A network as a CAIP-2 identifier in canonical text, for example
/// `eip155:8453`. Cloning is cheap.
///
/// Two ids are equal exactly when they name the same chain, and they order by
/// their text. Serde writes the text and reads every spelling that
/// [`ChainId::resolve`] accepts.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainId(Arc<str>);

impl ChainId {
    /// Reads any accepted spelling: a CAIP-2 id, an x402 v1 network name or one
    /// of the usual aliases (all of them in [`NAMES`](crate::NAMES)).
    ///
    /// # Errors
    ///
    /// [`NetworkError`] when the text is none of these, to the letter.
    pub fn resolve(text: &str) -> Result<Self, NetworkError> {
        Self::known(text).ok_or_else(|| NetworkError::new(text, NetworkProblem::Unknown))
    }

    /// Like [`resolve`](Self::resolve), but `None` instead of an error.
    #[doc(hidden)] // For the npm package; no part of the API.
    #[must_use]
    pub fn known(text: &str) -> Option<Self> {
        let id = if what_is_wrong(text).is_none() { Some(text) } else { id_of(text) };
        id.map(|id| Self(Arc::from(id)))
    }

    /// Reads a canonical CAIP-2 id and nothing else: no names, no aliases.
    ///
    /// On top of the CAIP-2 grammar, an `eip155` reference must be a chain id in
    /// decimal (1 to `u64::MAX`, no leading zero), and a `solana` reference must
    /// have the shape of a genesis hash cut to 32 characters, so
    /// `solana:mainnet` is refused here.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] when the text is not a canonical CAIP-2 id.
    pub fn parse_caip2(text: &str) -> Result<Self, NetworkError> {
        match what_is_wrong(text) {
            None => Ok(Self(Arc::from(text))),
            Some(_) => Err(NetworkError::new(text, NetworkProblem::NotCaip2)),
        }
    }

    /// The whole identifier, for example `eip155:8453`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the colon: `eip155`, `solana`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.parts().0
    }

    /// The part after the colon: `8453`, or the start of a genesis hash.
    #[must_use]
    pub fn reference(&self) -> &str {
        self.parts().1
    }

    /// Which kind of chain this is, judged by the namespace alone.
    #[must_use]
    pub fn family(&self) -> ChainFamily {
        family_named(self.namespace())
    }

    /// The EIP-155 chain id, as `eth_chainId` would answer it; `None` outside
    /// the `eip155` namespace.
    #[must_use]
    pub fn evm_chain_id(&self) -> Option<u64> {
        match self.family() {
            ChainFamily::Evm => self.reference().parse().ok(),
            ChainFamily::Svm | ChainFamily::Other => None,
        }
    }

    fn parts(&self) -> (&str, &str) {
        // Both constructors checked for the colon; the default is never taken.
        self.0.split_once(':').unwrap_or_default()
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ChainId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

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

/// The kind of chain, which decides how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainFamily {
    /// An EVM chain: namespace `eip155`.
    Evm,
    /// A Solana cluster: namespace `solana`.
    Svm,
    /// Any other namespace. Such an id can be named and echoed, not read.
    Other,
}

pub(crate) fn family_named(namespace: &str) -> ChainFamily {
    match namespace {
        "eip155" => ChainFamily::Evm,
        "solana" => ChainFamily::Svm,
        _ => ChainFamily::Other,
    }
}

/// A text that names no network. The message says what was given, made safe to
/// print, and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("network \"{given}\" {reason}")]
pub struct NetworkError {
    given: String,
    reason: NetworkProblem,
}

impl NetworkError {
    /// `otherwise` is the reason where the text is no CAIP-2 id at all.
    fn new(text: &str, otherwise: NetworkProblem) -> Self {
        let reason = what_is_wrong(text).filter(|reason| *reason != NetworkProblem::NotCaip2).unwrap_or(otherwise);
        Self { given: in_ascii(text), reason }
    }

    /// What was given, safe to print: at most 64 characters, and everything
    /// outside printable ASCII escaped.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NetworkProblem {
    Unknown,
    NotCaip2,
    Eip155Reference,
    SolanaReference,
}

impl fmt::Display for NetworkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => {
                "is not known: accepted are, spelled exactly, a CAIP-2 id such as eip155:8453, \
                 an x402 v1 name such as base, or an alias such as solana:mainnet"
            }
            Self::NotCaip2 => {
                "is not a CAIP-2 id: accepted is namespace:reference such as eip155:8453, \
                 with 3 to 8 of a-z 0-9 - before the colon and 1 to 32 of a-z A-Z 0-9 - _ after it"
            }
            Self::Eip155Reference => {
                "has no valid chain id: accepted after eip155: is a decimal number \
                 from 1 to 18446744073709551615 without leading zeros"
            }
            Self::SolanaReference => {
                "names no Solana cluster: accepted after solana: are the first 32 characters \
                 of the base58 genesis hash, or one of the names mainnet, mainnet-beta, \
                 devnet, testnet where names are read"
            }
        })
    }
}

/// Checks the CAIP-2 grammar and the rules of the two namespaces this crate can read.
fn what_is_wrong(text: &str) -> Option<NetworkProblem> {
    let Some((namespace, reference)) = text.split_once(':') else {
        return Some(NetworkProblem::NotCaip2);
    };
    let grammar = (3..=8).contains(&namespace.len())
        && (1..=32).contains(&reference.len())
        && namespace.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && reference.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    match namespace {
        _ if !grammar => Some(NetworkProblem::NotCaip2),
        "eip155" if !is_chain_id(reference) => Some(NetworkProblem::Eip155Reference),
        "solana" if !is_genesis_prefix(reference) => Some(NetworkProblem::SolanaReference),
        _ => None,
    }
}

/// Zero is no chain id, so a leading `0` is wrong in every case. The grammar
/// has already excluded the `+` that `u64` would take.
fn is_chain_id(reference: &str) -> bool {
    !reference.starts_with('0') && reference.parse::<u64>().is_ok()
}

fn is_genesis_prefix(reference: &str) -> bool {
    let base58 = |b: u8| b.is_ascii_alphanumeric() && !matches!(b, b'0' | b'O' | b'I' | b'l');
    reference.len() == 32 && reference.bytes().all(base58)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        ChainId::resolve(text).unwrap_err().to_string()
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
    fn refused_spellings() {
        let table: [(NetworkProblem, &[&str]); 3] = [
            (
                NetworkProblem::Unknown,
                &[
                    "",
                    "Base",
                    " base",
                    "base ",
                    "8453",
                    "EIP155:8453",
                    "eip155:",
                    ":8453",
                    "ab:1",
                    "namespace:1",
                    "eip155:8453:1",
                    "eip155:84 53",
                    "eip155:+1",
                    "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k=",
                    "eip155:111111111111111111111111111111111", // 33 digits
                ],
            ),
            (
                NetworkProblem::Eip155Reference,
                &[
                    "eip155:0",
                    "eip155:08453",
                    "eip155:-1",
                    "eip155:0x2105",
                    "eip155:base",
                    "eip155:18446744073709551616", // u64::MAX + 1
                ],
            ),
            (
                NetworkProblem::SolanaReference,
                &[
                    "solana:Mainnet",
                    "solana:101",
                    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd",  // 31 characters
                    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd0", // 0 is not base58
                ],
            ),
        ];
        for (reason, spellings) in table {
            for given in spellings {
                let error = ChainId::resolve(given).expect_err(given);
                assert_eq!(error.reason, reason, "{given}");
            }
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
