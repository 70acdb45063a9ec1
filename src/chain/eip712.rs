//! The signing domain of a token, as EIP-712 derives it from what an offer states.
//!
//! Refuses to know offers and chains: four values in, one hash out.

use sha3::{Digest, Keccak256};

/// The hash of the domain type of EIP-3009 and EIP-2612 tokens.
const DOMAIN_TYPE: [u8; 32] = [
    0x8b, 0x73, 0xc3, 0xc6, 0x9b, 0xb8, 0xfe, 0x3d, 0x51, 0x2e, 0xcc, 0x4c, 0xf7, 0x59, 0xcc, 0x79, 0x23, 0x9f, 0x7b,
    0x17, 0x9b, 0x0f, 0xfa, 0xca, 0xa9, 0xa7, 0x5d, 0x52, 0x2b, 0x39, 0x40, 0x0f,
];

/// What `DOMAIN_SEPARATOR()` of `contract` returns if its domain is this one.
pub(crate) fn domain_separator(name: &str, version: &str, chain_id: u64, contract: [u8; 20]) -> [u8; 32] {
    let hash = |bytes: &[u8]| Keccak256::digest(bytes);
    Keccak256::new()
        .chain_update(DOMAIN_TYPE)
        .chain_update(hash(name.as_bytes()))
        .chain_update(hash(version.as_bytes()))
        .chain_update([0; 24])
        .chain_update(chain_id.to_be_bytes())
        .chain_update([0; 12])
        .chain_update(contract)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_the_one_that_tokens_sign_under() {
        let domain = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
        assert_eq!(DOMAIN_TYPE, *Keccak256::digest(domain));
    }

    /// USDC's separators as block explorers show them, on Ethereum and on Base.
    #[test]
    fn separators_of_real_tokens() {
        for (chain_id, contract, separator) in [
            (
                1,
                "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
                "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
            ),
            (
                8453,
                "833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
            ),
        ] {
            let contract: [u8; 20] = hex::decode(contract).unwrap().try_into().unwrap();
            assert_eq!(hex::encode(domain_separator("USD Coin", "2", chain_id, contract)), separator);
        }
    }
}
