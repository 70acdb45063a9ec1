//! CAIP-2: what names a network everywhere behind the reading of it. Names and aliases are the registry's.
//!
//! Refuses to know endpoints, assets and whether a chain exists at all: a well-formed id of a chain nobody has heard of
//! is a valid [`ChainId`].

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

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
        Self::from_caip2(text).ok_or_else(|| NetworkError::new(text, NetworkProblem::NotCaip2))
    }

    /// The same, without a reason.
    pub(super) fn from_caip2(text: &str) -> Option<Self> {
        what_is_wrong(text).is_none().then(|| Self(Arc::from(text)))
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
        // The only constructor checks for the colon; the default is never taken.
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
    /// For a text that is neither an id nor a name.
    pub(super) fn unknown(text: &str) -> Self {
        Self::new(text, NetworkProblem::Unknown)
    }

    /// `otherwise` is the reason where the text is not a CAIP-2 id at all.
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

/// Zero is not a chain id, so a leading `0` is always wrong. The grammar has already excluded the `+` that `u64` takes.
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
}
