//! Addresses of Solana: 32 bytes, written in base58, and those that a program derives.
//!
//! Refuses to know which addresses mean what. Derived addresses are told apart from keys by arithmetic
//! on public bytes alone: nothing in here is secret, and nothing is signed or verified.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// Digits of the highest 32 bytes.
const MOST_DIGITS: usize = 44;

/// An address of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SolanaAddress(pub(crate) [u8; 32]);

/// Text that is no address in base58.
#[derive(Debug)]
pub(crate) struct NoAddress;

impl FromStr for SolanaAddress {
    type Err = NoAddress;

    /// Every address has one text only, in which its leading zeros are as many ones.
    #[allow(clippy::arithmetic_side_effects, reason = "58 times a byte, and a carry below 58")]
    fn from_str(text: &str) -> Result<Self, NoAddress> {
        if text.len() > MOST_DIGITS {
            return Err(NoAddress);
        }
        let mut bytes = [0; 32];
        for digit in text.bytes() {
            let mut carry = ALPHABET.iter().position(|known| *known == digit).ok_or(NoAddress)?;
            for byte in bytes.iter_mut().rev() {
                carry += usize::from(*byte) * 58;
                [*byte, ..] = carry.to_le_bytes();
                carry >>= 8;
            }
            if carry > 0 {
                return Err(NoAddress);
            }
        }
        let ones = text.bytes().take_while(|digit| *digit == b'1').count();
        if ones == leading_zeros(&bytes) { Ok(Self(bytes)) } else { Err(NoAddress) }
    }
}

impl fmt::Display for SolanaAddress {
    #[allow(clippy::arithmetic_side_effects, reason = "256 times a digit below 58, and a byte")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0;
        let mut text = Vec::new();
        while bytes != [0; 32] {
            let mut rest = 0;
            for byte in &mut bytes {
                let number = rest * 256 + usize::from(*byte);
                [*byte, ..] = (number / 58).to_le_bytes();
                rest = number % 58;
            }
            text.insert(0, ALPHABET.get(rest).map_or('1', |digit| char::from(*digit)));
        }
        let ones = leading_zeros(&self.0);
        write!(f, "{:1<ones$}{}", "", text.into_iter().collect::<String>())
    }
}

fn leading_zeros(bytes: &[u8; 32]) -> usize {
    bytes.iter().take_while(|byte| **byte == 0).count()
}

impl SolanaAddress {
    /// The address that `program` derives from `seeds`: the first hash of them, counted down, that is no
    /// point of the curve, so that nobody has a key to it.
    pub(crate) fn derived(seeds: [Self; 3], program: Self) -> Option<Self> {
        let [Self(first), Self(second), Self(third)] = seeds;
        (1..=u8::MAX).rev().find_map(|bump| {
            let hashed = [&first[..], &second, &third, &[bump], &program.0, b"ProgramDerivedAddress"].concat();
            let hash = Sha256::digest(hashed).into();
            (!is_on_curve(hash)).then_some(Self(hash))
        })
    }
}

/// A number modulo p = 2^255 - 19, seldom a little above p: its 64-bit digits, the lowest first.
type Number = [u64; 4];

const ZERO: Number = [0; 4];
const ONE: Number = [1, 0, 0, 0];
const MINUS_ONE: Number = [!0 - 19, !0, !0, !0 >> 1];
/// The d of the curve, -121665 / 121666.
const D: Number = [0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898, 0x5203_6cee_2b6f_fe73];

/// Whether bytes, their highest bit aside, are the y of a point of edwards25519, -x² + y² = 1 + d x² y²:
/// whether (y² - 1) / (d y² + 1) is a square. The divisor is never zero, and the quotient is a square if
/// the product is: if its power of (p - 1) / 2 is not -1.
fn is_on_curve(bytes: [u8; 32]) -> bool {
    let mut y = ZERO;
    for (digit, bytes) in y.iter_mut().zip(bytes.as_chunks().0) {
        *digit = u64::from_le_bytes(*bytes);
    }
    y[3] &= !0 >> 1;
    let divisor = multiply_add(&multiply_add(&y, &y, &ZERO), &D, &ONE);
    let product = multiply_add(&multiply_add(&y, &y, &MINUS_ONE), &divisor, &ZERO);
    // Powers of 2^n - 1, by doubling n: (p - 1) / 2 is 2^254 - 10, or (2^250 - 1) 2^4 + 6.
    let joined = |high, squarings, low| multiply_add(&squared(high, squarings), &low, &ZERO);
    let two = joined(product, 1, product);
    let five = joined(joined(two, 2, two), 1, product);
    let ten = joined(five, 5, five);
    let twenty = joined(ten, 10, ten);
    let fifty = joined(joined(twenty, 20, twenty), 10, ten);
    let hundred = joined(fifty, 50, fifty);
    let most = joined(joined(hundred, 100, hundred), 50, fifty);
    joined(most, 4, squared(two, 1)) != MINUS_ONE
}

fn squared(number: Number, times: u32) -> Number {
    (0..times).fold(number, |number, _| multiply_add(&number, &number, &ZERO))
}

/// `a * b + c`. What comes out is below 2^255 + 2^12, so that only -1 itself has the digits of -1.
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a product of digits and two more fit in 128 bits, whose low half is kept; four digits of eight"
)]
fn multiply_add(a: &Number, b: &Number, c: &Number) -> Number {
    let mut wide = [0; 8];
    wide[..4].copy_from_slice(c);
    for (place, a) in a.iter().enumerate() {
        let mut carry = 0;
        for (digit, b) in b.iter().enumerate() {
            carry += u128::from(wide[place + digit]) + u128::from(*a) * u128::from(*b);
            wide[place + digit] = carry as u64;
            carry >>= 64;
        }
        wide[place + 4] = carry as u64;
    }
    // Modulo p 2^256 is 38.
    let (mut number, mut carry) = (ZERO, 0);
    for (place, digit) in number.iter_mut().enumerate() {
        carry += u128::from(wide[place]) + 38 * u128::from(wide[place + 4]);
        *digit = carry as u64;
        carry >>= 64;
    }
    // And 2^255 is 19.
    carry = 19 * (2 * carry + u128::from(number[3] >> 63));
    number[3] &= !0 >> 1;
    for digit in &mut number {
        carry += u128::from(*digit);
        *digit = carry as u64;
        carry >>= 64;
    }
    number
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
                prop_assert_eq!(is_on_curve(bytes), Known::from(bytes).is_on_curve(), "{:?}", bytes);
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
