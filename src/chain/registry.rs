//! Built-in networks and assets: data in one table.
//!
//! What is known about a network or a token without asking anyone, each row
//! with the public source it was taken from. A configuration overrides it field
//! by field.
//!
//! This file refuses to know balances, prices and whether an endpoint is any
//! good, and it guesses nothing: decimals and signing domain belong to a
//! (network, address) pair and are never derived from a symbol. A token whose
//! decimals no source states is not listed. It does no I/O.

use crate::chain::{ChainFamily, ChainId};
use crate::util::lines::{Lines, is_same, lines};

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

impl TransferMethod {
    pub(crate) const ALL: [Self; 3] = [Self::Eip3009, Self::Permit2, Self::Permit2WithEip2612];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Eip3009 => "eip3009",
            Self::Permit2 => "permit2",
            Self::Permit2WithEip2612 => "permit2-eip2612",
        }
    }
}

impl TokenProgram {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Token2022 => "token-2022",
        }
    }

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

/// The id of the network that goes by `name`.
pub(crate) fn id_of(name: &str) -> Option<&'static str> {
    groups().find_map(|(id, group)| {
        let (names, _) = group.split_once('\t')?;
        names.split_terminator(' ').any(|other| other == name).then_some(id)
    })
}

/// The ids of the built-in networks, and what is behind each in [`LINES`].
pub(crate) fn groups() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.split('\u{C}').filter_map(|group| group.split_once('\t'))
}

const SOLANA_MAINNET: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const SOLANA_DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const SOLANA_TESTNET: &str = "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z";

const X402_EVM: &str = "@x402/evm 2.27.0";
const X402_SVM: &str = "@x402/svm 2.27.0";
const X402_RS: &str = "x402-rs 2.0.2";
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

/// An ERC-20 row of `@x402/evm`; `domain` is the EIP-712 (name, version).
const fn erc20(
    network: &'static str,
    symbol: &'static str,
    address: &'static str,
    decimals: u8,
    domain: (&'static str, &'static str),
    method: TransferMethod,
) -> Asset {
    let (name, version) = domain;
    Asset { network, symbol, address, decimals, kind: AssetKind::Erc20 { name, version, method }, source: X402_EVM }
}

/// A row of `@x402/svm`; all its tokens have 6 decimals.
const fn spl(network: &'static str, symbol: &'static str, address: &'static str, program: TokenProgram) -> Asset {
    Asset { network, symbol, address, decimals: 6, kind: AssetKind::Spl { program }, source: X402_SVM }
}

impl Asset {
    const fn with_source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }
}

use TokenProgram::{Token, Token2022};
use TransferMethod::{Eip3009, Permit2, Permit2WithEip2612};

/// Every built-in asset. EVM rows come from `@x402/evm` 2.27.0 and Solana rows
/// from `@x402/svm` 2.27.0 unless they end in another source.
///
/// Left out, because no source states both symbol and decimals: the tokens that
/// the legacy TypeScript v1 table and r402 list for Abstract, Story, EDU Chain,
/// SKALE Base Sepolia, Ethereum Sepolia, Optimism and Optimism Sepolia. BNB
/// Smart Chain is without assets too; the USDC and USDT there have 18 decimals,
/// which is one more reason not to assume.
#[rustfmt::skip] // one asset, one line, in columns
pub static ASSETS: &[Asset] = &[
    erc20("eip155:1",        "USDC",    "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",  6, ("USD Coin", "2"),           Eip3009),
    erc20("eip155:8453",     "USDC",    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",  6, ("USD Coin", "2"),           Eip3009),
    erc20("eip155:84532",    "USDC",    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",  6, ("USDC", "2"),               Eip3009),
    // x402-rs 2.0.2 and r402 say "USDC"; a check on chain by raxol read "USD Coin", as TypeScript and Go have it.
    erc20("eip155:137",      "USDC",    "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",  6, ("USD Coin", "2"),           Eip3009),
    erc20("eip155:42161",    "USDC",    "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",  6, ("USD Coin", "2"),           Eip3009),
    // r402 says "USDC"; raxol agrees with TypeScript.
    erc20("eip155:421614",   "USDC",    "0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d",  6, ("USD Coin", "2"),           Eip3009),
    erc20("eip155:43114",    "USDC",    "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",  6, ("USD Coin", "2"),           Eip3009),
    erc20("eip155:4326",     "MegaUSD", "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7", 18, ("MegaUSD", "1"),            Permit2WithEip2612),
    // Merchants have offered this one as "USD Coin"; the contract's domain says "USDC".
    erc20("eip155:143",      "USDC",    "0x754704Bc059F8C67012fEd69BC8A327a5aafb603",  6, ("USDC", "2"),               Eip3009),
    erc20("eip155:988",      "USDT0",   "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",  6, ("USDT0", "1"),              Eip3009),
    erc20("eip155:2201",     "USDT0",   "0x78Cf24370174180738C5B8E352B6D14c83a6c9A9",  6, ("USDT0", "1"),              Eip3009),
    erc20("eip155:31612",    "mUSD",    "0xdD468A1DDc392dcdbEf6db6e34E89AA338F9F186", 18, ("Mezo USD", "1"),           Permit2WithEip2612),
    erc20("eip155:31611",    "mUSD",    "0x118917a40FAF1CD7a13dB0Ef56C86De7973Ac503", 18, ("Mezo USD", "1"),           Permit2WithEip2612),
    erc20("eip155:723487",   "SBC",     "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb",  6, ("Stable Coin", "1"),        Permit2WithEip2612),
    erc20("eip155:72344",    "SBC",     "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb",  6, ("Stable Coin", "1"),        Permit2WithEip2612),
    erc20("eip155:36900",    "USDC.e",  "0x9cb8142aEBBcdc60AF7c97Af897A67A8f3CA71C2",  6, ("USDC.e", "2"),             Eip3009),
    erc20("eip155:190415",   "USDC.e",  "0x401eCb1D350407f13ba348573E5630B83638E30D",  6, ("Bridged USDC", "2"),       Eip3009),
    erc20("eip155:181228",   "USDC.e",  "0x401eCb1D350407f13ba348573E5630B83638E30D",  6, ("Bridged USDC", "2"),       Eip3009),
    erc20("eip155:50",       "USDC",    "0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1",  6, ("USDC", "2"),               Eip3009),
    erc20("eip155:51",       "USDC",    "0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4",  6, ("USDC", "2"),               Eip3009),
    // A server built on the package sends no name and version for this one.
    erc20("eip155:38833",    "USDC",    "0xA5b8BF902b2844dA17d4506cc827F7F1681735E7",  6, ("USDC", "1"),               Permit2),
    // The domain name is not ASCII: U+20AE, the tugrik sign, stands for the T.
    erc20("eip155:14",       "USDT0",   "0xe7cd86e13AC4309349F30B3435a9d337750fC82D",  6, ("USD\u{20ae}0", "1"),       Eip3009),
    erc20("eip155:42220",    "USDC",    "0xcebA9300f2b948710d2653dD7B07f33A8B32118C",  6, ("USDC", "2"),               Eip3009),
    erc20("eip155:42220",    "USDT",    "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",  6, ("Tether USD", "1"),         Eip3009),
    erc20("eip155:42220",    "USAT",    "0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771",  6, ("Tether America USD", "1"), Eip3009),
    erc20("eip155:11142220", "USDC",    "0x01C5C0122039549AD1493B8220cABEdD739BC44E",  6, ("USDC", "2"),               Eip3009),
    erc20("eip155:1329",     "USDC",    "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392",  6, ("USDC", "2"),               Eip3009),
    erc20("eip155:1328",     "USDC",    "0x4fCF1784B31630811181f670Aea7A7bEF803eaED",  6, ("USDC", "2"),               Eip3009),

    erc20("eip155:80002",    "USDC",    "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582",  6, ("USDC", "2"),               Eip3009).with_source(X402_RS),
    erc20("eip155:43113",    "USDC",    "0x5425890298aed601595a70AB815c96711a31Bc65",  6, ("USD Coin", "2"),           Eip3009).with_source(X402_RS),
    // 15 decimals is what the source says. It names Permit2 and no EIP-2612, so none is assumed.
    erc20("eip155:1440000",  "USDC",    "0xDaF4556169c4F3f2231d8ab7BC8772Ddb7D4c84C", 15, ("USDC", "1"),               Permit2).with_source(X402_RS),
    erc20("eip155:3338",     "USDC",    "0xbbA60da06c2c5424f03f7434542280FCAd453d10",  6, ("USDC", "2"),               Eip3009).with_source(X402_RS),
    erc20("eip155:4689",     "USDC",    "0xcdf79194c6c285077a58da47641d4dbe51f63542",  6, ("Bridged USDC", "2"),       Eip3009).with_source(X402_RS),

    spl(SOLANA_MAINNET, "USDC",  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", Token),
    spl(SOLANA_MAINNET, "USDT",  "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", Token),
    spl(SOLANA_MAINNET, "USDG",  "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH", Token2022),
    spl(SOLANA_MAINNET, "PYUSD", "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo", Token2022),
    spl(SOLANA_MAINNET, "CASH",  "CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH", Token2022),
    spl(SOLANA_DEVNET,  "USDC",  "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", Token),
    spl(SOLANA_DEVNET,  "USDG",  "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7", Token2022),
    spl(SOLANA_DEVNET,  "PYUSD", "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM", Token2022),
    spl(SOLANA_TESTNET, "USDC",  "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", Token),
    spl(SOLANA_TESTNET, "USDG",  "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7", Token2022),
    spl(SOLANA_TESTNET, "PYUSD", "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM", Token2022),
];

/// [`NAMES`], [`NETWORKS`] and [`ASSETS`] as one text for the configuration: a network's line is its id, the names
/// it goes by with a space behind each, its own name, genesis hash and endpoints; below it stands a line for each of
/// its assets, which is symbol, address, decimals, the method or program by its word, the domain's name and version;
/// behind them a form feed.
static LINES: &str = lines!(network_lines);

const fn network_lines<const N: usize>() -> Lines<N> {
    let mut lines = Lines::EMPTY;
    let mut rows = NETWORKS;
    while let [row, others @ ..] = rows {
        let hash = match row.genesis_hash {
            Some(hash) => hash,
            None => "",
        };
        lines.cell(row.id);
        name_cell(row.id, &mut lines);
        lines.cell(row.name).cell(hash);
        let mut rpc = row.rpc;
        while let [url, others @ ..] = rpc {
            lines.cell(url);
            rpc = others;
        }
        asset_lines(row.id, &mut lines);
        lines.end(b'\x0C');
        rows = others;
    }
    lines
}

const fn name_cell<const N: usize>(network: &str, lines: &mut Lines<N>) {
    let mut names = NAMES;
    while let [(name, id), others @ ..] = names {
        if is_same(id, network) {
            lines.word(name, b' ');
        }
        names = others;
    }
    lines.cell("");
}

const fn asset_lines<const N: usize>(network: &str, lines: &mut Lines<N>) {
    let mut rows = ASSETS;
    while let [row, others @ ..] = rows {
        rows = others;
        if !is_same(row.network, network) {
            continue;
        }
        lines.end(b'\n');
        lines.cell(row.symbol).cell(row.address).number(row.decimals);
        match row.kind {
            AssetKind::Erc20 { name, version, method } => lines.cell(method.word()).cell(name).cell(version),
            AssetKind::Spl { program } => lines.cell(program.word()),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use solana_address::Address;

    use super::*;

    fn id(text: &str) -> ChainId {
        ChainId::resolve(text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn decoded_len(base58: &str) -> usize {
        base58.parse::<Address>().unwrap_or_else(|e| panic!("{base58}: {e}")).to_bytes().len()
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
    fn every_name_and_every_asset_has_its_network() {
        for (name, chain) in NAMES {
            assert!(network(&id(chain)).is_some(), "{name}");
        }
        for asset in ASSETS {
            assert!(network(&id(asset.network)).is_some(), "{asset:?}");
        }
    }

    #[test]
    fn every_network_is_named_or_has_an_asset() {
        for network in NETWORKS {
            let named = NAMES.iter().any(|(_, chain)| *chain == network.id);
            assert!(named || assets(&id(network.id)).next().is_some(), "{network:?}");
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
    fn a_solana_reference_is_the_start_of_its_genesis_hash() {
        for network in NETWORKS {
            let chain = id(network.id);
            assert_eq!(network.genesis_hash.is_some(), chain.family() == ChainFamily::Svm, "{network:?}");
            if let Some(hash) = network.genesis_hash {
                assert_eq!(hash.get(..32), Some(chain.reference()));
                assert_eq!(decoded_len(hash), 32, "{hash}");
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

    #[test]
    fn addresses_have_the_shape_of_their_network() {
        for asset in ASSETS {
            match (id(asset.network).family(), asset.kind) {
                (ChainFamily::Evm, AssetKind::Erc20 { .. }) => {
                    let hex = asset.address.strip_prefix("0x").unwrap();
                    assert_eq!(hex.len(), 40, "{asset:?}");
                    assert!(hex.bytes().all(|b| b.is_ascii_hexdigit()), "{asset:?}");
                }
                (ChainFamily::Svm, AssetKind::Spl { .. }) => {
                    assert_eq!(decoded_len(asset.address), 32, "{asset:?}");
                }
                _ => panic!("{asset:?} is not of its network's kind"),
            }
        }
        for program in [Token, Token2022] {
            assert_eq!(decoded_len(program.address()), 32, "{program:?}");
        }
    }

    #[test]
    fn addresses_are_unique_within_a_network() {
        let mut seen = HashSet::new();
        for asset in ASSETS {
            let key = (asset.network, asset.address.to_ascii_lowercase());
            assert!(seen.insert(key), "{asset:?} is listed twice");
        }
    }

    #[test]
    fn assets_that_break_the_habit_of_six_decimals() {
        let odd: Vec<_> = ASSETS
            .iter()
            .filter(|asset| asset.decimals != 6)
            .map(|asset| (asset.network, asset.symbol, asset.decimals))
            .collect();
        assert_eq!(
            odd,
            [
                ("eip155:4326", "MegaUSD", 18),
                ("eip155:31612", "mUSD", 18),
                ("eip155:31611", "mUSD", 18),
                ("eip155:1440000", "USDC", 15),
            ]
        );
    }

    #[test]
    fn evm_lookup_ignores_case_and_solana_lookup_does_not() {
        let base = id("base");
        let usdc = asset(&base, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").unwrap();
        assert_eq!((usdc.symbol, usdc.decimals), ("USDC", 6));
        assert_eq!(usdc.kind, AssetKind::Erc20 { name: "USD Coin", version: "2", method: Eip3009 });
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
