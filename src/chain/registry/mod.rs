//! What is known about networks and tokens without asking anyone: three tables, each row with the public source it
//! was taken from. A configuration overrides them field by field.
//!
//! Refuses to know balances, prices and whether an endpoint is any good. It guesses nothing: decimals and signing
//! domain belong to a (network, address) pair and are never derived from a symbol. A token whose decimals no source
//! states is not listed.

mod assets;
mod names;
mod networks;

pub use assets::ASSETS;
pub use names::NAMES;
pub use networks::NETWORKS;

use crate::chain::{ChainFamily, ChainId};

/// A network this crate knows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// CAIP-2 id in canonical text, equal to [`ChainId::as_str`].
    pub id: &'static str,
    /// Display name for people, for example `Base`.
    pub name: &'static str,
    /// Whether it is for trials: its tokens are worth nothing.
    pub testnet: bool,
    /// Solana: the full base58 genesis hash, as `getGenesisHash` answers it.
    /// `None` elsewhere: an EVM chain proves itself by its chain id.
    pub genesis_hash: Option<&'static str>,
    /// Public endpoints in the order they are tried; any configured endpoint
    /// replaces them all. Empty when there is none to recommend.
    pub rpc: &'static [&'static str],
    /// Where the id comes from: a package and version, or a project.
    pub source: &'static str,
}

/// A token this crate knows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asset {
    /// CAIP-2 id of its network, in canonical text.
    pub network: &'static str,
    /// Ticker for people. Says nothing about decimals or issuer.
    pub symbol: &'static str,
    /// Contract address (EVM, `0x` and 40 hex digits) or mint (Solana, base58).
    pub address: &'static str,
    /// Atomic units of one token, as a power of ten.
    pub decimals: u8,
    /// How the token is held and paid with.
    pub kind: AssetKind,
    /// Where the row comes from: a package and version.
    pub source: &'static str,
}

/// What kind of token an [`Asset`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssetKind {
    /// An ERC-20 contract.
    Erc20 {
        /// `name` of the EIP-712 domain the contract verifies against, to the
        /// byte. Often not the token's symbol or ERC-20 name.
        name: &'static str,
        /// `version` of the same domain.
        version: &'static str,
        /// The transfer method x402 uses for it.
        method: TransferMethod,
    },
    /// A Solana token.
    Spl {
        /// The program that owns the mint.
        program: TokenProgram,
    },
}

/// How an x402 payment moves an ERC-20 token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferMethod {
    /// EIP-3009 `transferWithAuthorization`: a signature is enough.
    Eip3009,
    /// Permit2, and the token has no `permit` of its own: the payer must have
    /// approved the Permit2 contract.
    Permit2,
    /// Permit2, where an EIP-2612 `permit` can stand in for the approval.
    Permit2WithEip2612,
}

/// The two token programs of Solana.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenProgram {
    /// The original SPL Token program.
    Token,
    /// Token-2022, with extensions.
    Token2022,
}

impl TokenProgram {
    /// The program id in base58.
    #[must_use]
    pub const fn address(self) -> &'static str {
        match self {
            Self::Token => "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
            Self::Token2022 => "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
        }
    }
}

/// The built-in entry of a network, if there is one.
#[must_use]
pub fn network(id: &ChainId) -> Option<&'static Network> {
    NETWORKS.iter().find(|network| network.id == id.as_str())
}

/// The built-in assets of a network in table order; the first is the one the
/// x402 packages use by default.
pub fn assets(id: &ChainId) -> impl Iterator<Item = &'static Asset> {
    ASSETS.iter().filter(move |asset| asset.network == id.as_str())
}

/// The built-in asset at an address of a network.
///
/// EVM addresses are compared without regard to case, because there
/// case is a checksum and not part of the address; Solana addresses exactly.
#[must_use]
pub fn asset(id: &ChainId, address: &str) -> Option<&'static Asset> {
    let any_case = id.family() == ChainFamily::Evm;
    assets(id).find(|asset| asset.address == address || (any_case && asset.address.eq_ignore_ascii_case(address)))
}

const SOLANA_MAINNET: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const SOLANA_DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const SOLANA_TESTNET: &str = "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z";

const X402_EVM: &str = "@x402/evm 2.27.0";
const X402_SVM: &str = "@x402/svm 2.27.0";
const X402_RS: &str = "x402-rs 2.0.2";

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ChainId {
        ChainId::resolve(text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn every_network_is_named_or_has_an_asset() {
        for network in NETWORKS {
            let named = NAMES.iter().any(|(_, chain)| *chain == network.id);
            assert!(named || assets(&id(network.id)).next().is_some(), "{network:?}");
        }
    }

    #[test]
    fn evm_lookup_ignores_case_and_solana_lookup_does_not() {
        let base = id("base");
        let usdc = asset(&base, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").unwrap();
        assert_eq!((usdc.symbol, usdc.decimals), ("USDC", 6));
        assert_eq!(usdc.kind, AssetKind::Erc20 { name: "USD Coin", version: "2", method: TransferMethod::Eip3009 });
        assert_eq!(asset(&base, &usdc.address.to_ascii_lowercase()), Some(usdc));
        assert_eq!(asset(&id("base-sepolia"), usdc.address), None);

        let solana = id("solana");
        let mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
        assert_eq!(asset(&solana, mint).map(|a| a.symbol), Some("USDC"));
        assert_eq!(asset(&solana, &mint.to_ascii_lowercase()), None);
    }

    #[test]
    fn assets_of_a_network_in_order() {
        let symbols = |name| -> Vec<_> { assets(&id(name)).map(|a| a.symbol).collect() };
        assert_eq!(symbols("celo"), ["USDC", "USDT", "USAT"]);
        assert_eq!(symbols("solana"), ["USDC", "USDT", "USDG", "PYUSD", "CASH"]);
        assert_eq!(symbols("solana-devnet"), symbols("solana-testnet"));
        assert!(symbols("bsc").is_empty());
        assert!(network(&id("eip155:999999")).is_none());
    }
}
