//! The built-in tokens.

use super::TokenProgram::{self, Token, Token2022};
use super::TransferMethod::{self, Eip3009, Permit2, Permit2WithEip2612};
use super::{Asset, AssetKind, SOLANA_DEVNET, SOLANA_MAINNET, SOLANA_TESTNET, X402_EVM, X402_RS, X402_SVM};

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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use solana_address::Address;

    use super::*;
    use crate::chain::registry::network;
    use crate::chain::{ChainFamily, ChainId};

    fn id(text: &str) -> ChainId {
        ChainId::resolve(text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn decoded_len(base58: &str) -> usize {
        base58.parse::<Address>().unwrap_or_else(|e| panic!("{base58}: {e}")).to_bytes().len()
    }

    #[test]
    fn every_asset_has_its_network() {
        for asset in ASSETS {
            assert!(network(&id(asset.network)).is_some(), "{asset:?}");
        }
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
}
