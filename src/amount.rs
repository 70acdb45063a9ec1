//! Token amounts: whole atomic units, exact, up to 256 bits.
//!
//! Knows digits and powers of ten. Refuses to know what a token is worth, where an amount came
//! from, or how to round: nothing here ever rounds or rescales.

use std::fmt;
use std::str::FromStr;

use ruint::Uint;
use ruint::aliases::U256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most decimals an asset may declare. 10^77 is the largest power of ten that 256 bits hold,
/// so any amount can be written in token units and compared by value without loss.
pub const MAX_DECIMALS: u8 = 77;

/// The most digits that 256 bits can have; longer text is refused before it is parsed.
const MAX_DIGITS: usize = 78;

/// An amount of a token in atomic units (for USDC, millionths), as x402 writes it: decimal digits.
///
/// ```
/// use payroute::Amount;
///
/// let price: Amount = "50000".parse()?;
/// assert_eq!(price.to_units(6), "0.05");
/// assert!("0.05".parse::<Amount>().is_err());
/// # Ok::<(), payroute::AmountError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(U256);

/// Why a text is not an [`Amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// There is no text at all.
    #[error("is empty; accepted is a whole number of atomic units")]
    Empty,
    /// A sign, a point, an exponent, a space or anything else that is not an ASCII digit.
    #[error("is not a whole number of atomic units written in digits only")]
    NotDigits,
    /// Token units with a sign, a currency, a comma, an exponent or nothing before the point.
    #[error("is not an amount in digits with at most one point")]
    NotUnits,
    /// `007`: two texts of one amount would make an echoed offer differ from the merchant's.
    #[error("has leading zeros; accepted is a whole number without them")]
    LeadingZero,
    /// More than 256 bits.
    #[error("does not fit in 256 bits")]
    TooLarge,
    /// More digits after the point than the asset has decimals.
    #[error("has more decimal places than the asset")]
    TooPrecise,
}

impl Amount {
    /// No units.
    pub const ZERO: Self = Self(U256::ZERO);

    /// An amount given as an integer.
    #[must_use]
    pub fn from_u64(units: u64) -> Self {
        Self(U256::from(units))
    }

    /// An amount from a 32-byte big-endian word, as a contract returns it.
    #[must_use]
    pub fn from_be_bytes(word: [u8; 32]) -> Self {
        Self(U256::from_be_bytes(word))
    }

    /// The amount as a 32-byte big-endian word, as a contract takes it.
    pub(crate) fn to_be_bytes(self) -> [u8; 32] {
        self.0.to_be_bytes()
    }

    /// Reads an amount in token units (`"1.50"` USDC), for limits that people write.
    ///
    /// # Errors
    /// The text is not `digits` or `digits.digits`, has more than `decimals` places, or does not
    /// fit in 256 bits.
    pub fn from_units(text: &str, decimals: u8) -> Result<Self, AmountError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if text.ends_with('.') || whole.is_empty() {
            return Err(AmountError::NotUnits);
        }
        if fraction.len() > usize::from(decimals) {
            return Err(AmountError::TooPrecise);
        }
        if !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
            return Err(AmountError::NotUnits);
        }
        let padding = usize::from(decimals).saturating_sub(fraction.len());
        let digits = format!("{whole}{fraction}{}", "0".repeat(padding));
        match digits.trim_start_matches('0') {
            "" => Ok(Self::ZERO),
            significant => significant.parse(),
        }
    }

    /// Whether there are no units.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// Whether the amount fits in 64 bits, as every SPL token amount does.
    #[must_use]
    pub fn fits_u64(self) -> bool {
        self.0.bit_len() <= 64
    }

    /// `self - other`, or zero when `other` is larger.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * times`, or the largest amount where that is larger.
    pub(crate) fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(U256::from(times)))
    }

    /// `self + other`, or the most that 256 bits hold.
    pub(crate) fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The amount in token units, without trailing zeros: 50000 of 6 decimals is `0.05`.
    #[must_use]
    pub fn to_units(self, decimals: u8) -> String {
        let digits = self.digits();
        let places = usize::from(decimals);
        let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
        let (whole, fraction) = padded.split_at_checked(padded.len().saturating_sub(places)).unwrap_or((&padded, ""));
        match fraction.trim_end_matches('0') {
            "" => whole.to_owned(),
            fraction => format!("{whole}.{fraction}"),
        }
    }

    /// In decimal, nine digits at a time: a long division by a number that fits in 32 bits needs no wider
    /// integers than 64 bits.
    fn digits(self) -> String {
        const NINE_DIGITS: u64 = 1_000_000_000;
        let mut number: Vec<u64> = Vec::new();
        number.extend(self.0.as_limbs().iter().rev().flat_map(|limb| [limb >> 32, limb & 0xFFFF_FFFF]));
        let mut groups = Vec::new();
        while number.iter().any(|half| *half > 0) {
            let mut rest = 0;
            for half in &mut number {
                let dividend = rest << 32 | *half;
                (*half, rest) = (dividend / NINE_DIGITS, dividend % NINE_DIGITS);
            }
            groups.push(format!("{rest:09}"));
        }
        groups.reverse();
        match groups.concat().trim_start_matches('0') {
            "" => "0".to_owned(),
            digits => digits.to_owned(),
        }
    }

    /// The amount as a value that compares across assets of different decimals, exactly.
    pub(crate) fn to_value(self, decimals: u8) -> Value {
        let scale = MAX_DECIMALS.saturating_sub(decimals);
        if self.is_zero() {
            return Value::ZERO;
        }
        // The power alone fits 256 bits: multiplying it up in 512 would take four times as long.
        Value(self.0.widening_mul(U256::from(10).pow(U256::from(scale))))
    }
}

/// An amount scaled to [`MAX_DECIMALS`] decimals: ordered by worth in token units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Value(Uint<512, 8>);

impl Value {
    pub(crate) const ZERO: Self = Self(Uint::ZERO);
}

impl FromStr for Amount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        if text.is_empty() {
            return Err(AmountError::Empty);
        }
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(AmountError::NotDigits);
        }
        if text.len() > 1 && text.starts_with('0') {
            return Err(AmountError::LeadingZero);
        }
        if text.len() > MAX_DIGITS {
            return Err(AmountError::TooLarge);
        }
        U256::from_str_radix(text, 10).map(Self).map_err(|_| AmountError::TooLarge)
    }
}

impl From<u64> for Amount {
    fn from(units: u64) -> Self {
        Self::from_u64(units)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "", &self.digits())
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[test]
    fn what_is_accepted_prints_as_it_was_written() {
        for text in ["0", "1", "50000", "18446744073709551616", MAX] {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn everything_else_says_why() {
        let over = format!("{}6", MAX.strip_suffix('5').unwrap());
        let long = "9".repeat(1_000_000);
        for (text, error) in [
            ("", AmountError::Empty),
            ("-1", AmountError::NotDigits),
            ("+1", AmountError::NotDigits),
            ("0.05", AmountError::NotDigits),
            ("1e3", AmountError::NotDigits),
            ("0x10", AmountError::NotDigits),
            (" 1", AmountError::NotDigits),
            ("1_000", AmountError::NotDigits),
            ("٣", AmountError::NotDigits),
            ("007", AmountError::LeadingZero),
            ("00", AmountError::LeadingZero),
            (over.as_str(), AmountError::TooLarge),
            (long.as_str(), AmountError::TooLarge),
        ] {
            assert_eq!(text.parse::<Amount>(), Err(error), "{:.20}", text);
        }
    }

    proptest::proptest! {
        #[test]
        fn digits_are_those_of_the_integer(word: [u8; 32], shift in 0_usize..256) {
            let number = U256::from_be_bytes(word) >> shift;
            proptest::prop_assert_eq!(Amount(number).to_string(), number.to_string());
            proptest::prop_assert_eq!(format!("{:>80}", Amount(number)), format!("{number:>80}"));
        }
    }

    #[test]
    fn token_units_are_exact_in_both_directions() {
        for (units, decimals, atomic) in [
            ("0.05", 6, "50000"),
            ("1", 6, "1000000"),
            ("0", 6, "0"),
            ("0.000001", 6, "1"),
            ("1", 0, "1"),
            ("1.5", 18, "1500000000000000000"),
        ] {
            let amount = Amount::from_units(units, decimals).unwrap();
            assert_eq!(amount.to_string(), atomic);
            assert_eq!(amount.to_units(decimals), units);
        }
        assert_eq!(Amount::from_units("1.00", 6).unwrap().to_string(), "1000000");
        assert_eq!(Amount::from_units("1.0000001", 6), Err(AmountError::TooPrecise));
        for text in ["", ".", ".5", "1.", "1.5.0", "-1", "1,5"] {
            assert!(Amount::from_units(text, 6).is_err(), "{text}");
        }
    }

    #[test]
    fn value_compares_across_decimals() {
        let cents_of_six = Amount::from_u64(10_000).to_value(6);
        let cents_of_eighteen = Amount::from_u64(10_000_000_000_000_000).to_value(18);
        assert_eq!(cents_of_six, cents_of_eighteen);
        assert!(Amount::from_u64(10_001).to_value(6) > cents_of_eighteen);
        let most = MAX.parse::<Amount>().unwrap();
        assert!(most.to_value(0) > most.to_value(1));
    }
}
