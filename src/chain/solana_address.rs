//! Addresses of Solana: 32 bytes, written in base58, and those that a program derives.
//!
//! Every byte here is public: nothing is secret, and nothing is signed or verified.

use std::fmt;
use std::str::FromStr;

use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest, Sha256};

/// An address of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SolanaAddress(pub(crate) [u8; 32]);

/// The text is not an address in base58.
#[derive(Debug)]
pub(crate) struct NoAddress;

impl FromStr for SolanaAddress {
    type Err = NoAddress;

    /// Base58 of exactly 32 bytes. Every address has one text only, in which its leading zeros are as many ones.
    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let mut bytes = [0; 32];
        match bs58::decode(text).onto(&mut bytes) {
            Ok(32) => Ok(Self(bytes)),
            Ok(_) | Err(_) => Err(NoAddress),
        }
    }
}

impl fmt::Display for SolanaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bs58::encode(self.0).into_string())
    }
}

impl SolanaAddress {
    /// The address that `program` derives from `seeds`: counting down from 255, the first hash that is not a point of
    /// the curve, so that nobody has a key to it. `None` where all are points, which nobody has met.
    pub(crate) fn derived(seeds: [Self; 3], program: Self) -> Option<Self> {
        let [Self(first), Self(second), Self(third)] = seeds;
        (1..=u8::MAX).rev().find_map(|bump| {
            let hashed = [&first[..], &second, &third, &[bump], &program.0, b"ProgramDerivedAddress"].concat();
            let hash = Self(Sha256::digest(hashed).into());
            (!hash.is_on_curve()).then_some(hash)
        })
    }

    fn is_on_curve(self) -> bool {
        CompressedEdwardsY(self.0).decompress().is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use solana_address::Address as Known;

    use super::*;

    proptest! {
        #[test]
        fn text_is_read_and_written_as_by_solana(bytes: [u8; 32], zeros in 0..=32_usize, text in "[1-9A-HJ-NP-Za-km-z]{31,45}") {
            let mut bytes = bytes;
            bytes.iter_mut().take(zeros).for_each(|byte| *byte = 0);
            let known = Known::from(bytes).to_string();
            prop_assert_eq!(SolanaAddress(bytes).to_string(), known.clone());
            for text in [known.clone(), format!("1{known}"), known[1..].to_owned(), text] {
                let expected = Known::from_str(&text).ok().map(|address| address.to_bytes());
                prop_assert_eq!(SolanaAddress::from_str(&text).ok().map(|address| address.0), expected, "{}", text);
            }
        }

        #[test]
        fn points_of_the_curve_are_told_as_by_solana(bytes: [u8; 32], small: u8) {
            let mut edge = [0xff; 32];
            edge[0] = small;
            let mut low = [0; 32];
            low[0] = small;
            for bytes in [bytes, edge, low] {
                prop_assert_eq!(SolanaAddress(bytes).is_on_curve(), Known::from(bytes).is_on_curve(), "{:?}", bytes);
            }
        }

        #[test]
        fn derived_addresses_are_those_of_solana(seeds: [[u8; 32]; 3], program: [u8; 32]) {
            let (known, _) = Known::find_program_address(&seeds.each_ref().map(|seed| &seed[..]), &program.into());
            prop_assert_eq!(SolanaAddress::derived(seeds.map(SolanaAddress), SolanaAddress(program)), Some(SolanaAddress(known.to_bytes())));
        }
    }

    #[test]
    fn text_that_is_no_address() {
        for text in ["", "1", "0", "l", "é", &"1".repeat(31), &"1".repeat(33), &"z".repeat(44), "Sysvar"] {
            assert!(SolanaAddress::from_str(text).is_err(), "{text}");
        }
        assert_eq!("1".repeat(32).parse::<SolanaAddress>().unwrap(), SolanaAddress([0; 32]));
    }
}
