//! Token amounts: whole atomic units, exact, up to 256 bits.
//!
//! Nothing here ever rounds. What a token is worth is not known here.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use ruint::Uint;
use ruint::aliases::U256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::util::text::with_point;

/// The most decimals an asset may declare. 10^77 is the largest power of ten that 256 bits hold,
/// so any amount can be written in token units and compared by value without loss.
pub const MAX_DECIMALS: u8 = 77;

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
    /// `007`: if an amount had two texts, an echoed offer could differ from the merchant's.
    #[error("has leading zeros; accepted is a whole number without them")]
    LeadingZero,
    /// More than 256 bits.
    #[error("does not fit in 256 bits")]
    TooLarge,
    /// More than the number's type holds.
    #[error("is larger than the number's type holds")]
    OutOfRange,
    /// More digits after the point than the asset has decimals.
    #[error("has more decimal places than the asset")]
    TooPrecise,
}

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(U256::ZERO);

    /// An amount given as an integer.
    #[must_use]
    pub(crate) fn from_u64(units: u64) -> Self {
        Self(U256::from(units))
    }

    /// An amount from a 32-byte big-endian word, as a contract returns it.
    #[must_use]
    pub fn from_be_bytes(word: [u8; 32]) -> Self {
        Self(U256::from_be_bytes(word))
    }

    /// The amount as a 32-byte big-endian word, as a contract takes it.
    #[must_use]
    pub fn to_be_bytes(self) -> [u8; 32] {
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
        let places = usize::from(decimals);
        Self::from_digits(&format!("{whole}{fraction:0<places$}"))
    }

    /// The number that ASCII digits write.
    fn from_digits(digits: &str) -> Result<Self, AmountError> {
        U256::from_str_radix(digits, 10).map(Self).map_err(|_| AmountError::TooLarge)
    }

    /// Whether the amount is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Whether the amount fits in 64 bits, as every SPL token amount does.
    #[must_use]
    pub fn fits_u64(self) -> bool {
        self.to_u64().is_some()
    }

    /// The amount as a number, if it fits in 64 bits.
    pub(crate) fn to_u64(self) -> Option<u64> {
        self.0.try_into().ok()
    }

    /// `self + other`; `None` where that needs more than 256 bits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// `self - other`; `None` where `other` is larger.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// `self - other`, or zero when `other` is larger.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * times`, or the most that 256 bits hold.
    pub(crate) fn saturating_mul(self, times: u32) -> Self {
        Self(self.0.saturating_mul(U256::from(times)))
    }

    /// `self + other`, or the most that 256 bits hold.
    pub(crate) fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The amount in token units, without trailing zeros: 50000 of 6 decimals is `0.05`.
    #[must_use]
    pub fn to_units(self, decimals: u8) -> String {
        with_point(&self.to_string(), decimals.into())
    }

    /// The amount as a value that compares across assets of different decimals, exactly.
    #[allow(clippy::indexing_slicing, reason = "the difference is at most MAX_DECIMALS")]
    pub(crate) fn to_value(self, decimals: u8) -> ScaledAmount {
        let power = POWERS_OF_TEN[usize::from(MAX_DECIMALS.saturating_sub(decimals))];
        ScaledAmount(self.0.widening_mul(power))
    }
}

/// 10^0 to 10^77. Ranking scales the fee of every candidate, and a power takes twenty times as long as a product.
static POWERS_OF_TEN: LazyLock<[U256; MAX_DECIMALS as usize + 1]> =
    LazyLock::new(|| std::array::from_fn(|power| U256::from(10).pow(U256::from(power))));

/// An amount scaled to [`MAX_DECIMALS`] decimals: ordered by worth in token units. 512 bits hold every product of
/// two numbers of 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScaledAmount(Uint<512, 8>);

impl ScaledAmount {
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
        Self::from_digits(text)
    }
}

impl From<u64> for Amount {
    fn from(units: u64) -> Self {
        Self::from_u64(units)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<Amount> for u64 {
    type Error = AmountError;

    fn try_from(amount: Amount) -> Result<Self, AmountError> {
        Self::try_from(amount.0).map_err(|_| AmountError::OutOfRange)
    }
}

impl TryFrom<Amount> for u128 {
    type Error = AmountError;

    fn try_from(amount: Amount) -> Result<Self, AmountError> {
        Self::try_from(amount.0).map_err(|_| AmountError::OutOfRange)
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
    use proptest::prelude::*;

    use super::*;

    const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[test]
    fn numbers_and_sums_are_exact_or_refused() {
        let (one, most) = (Amount::from(1), MAX.parse::<Amount>().unwrap());
        let wide: Amount = "18446744073709551616".parse().unwrap();
        assert_eq!(u64::try_from(Amount::from(u64::MAX)), Ok(u64::MAX));
        assert_eq!(u64::try_from(wide), Err(AmountError::OutOfRange));
        assert_eq!(u128::try_from(wide), Ok(1 << 64));
        let widest: Amount = u128::MAX.to_string().parse().unwrap();
        assert_eq!(u128::try_from(widest), Ok(u128::MAX));
        assert_eq!(u128::try_from(widest.checked_add(one).unwrap()), Err(AmountError::OutOfRange));
        assert_eq!((most.checked_add(one), most.checked_add(Amount::ZERO)), (None, Some(most)));
        assert_eq!(most.checked_sub(one).and_then(|less| less.checked_add(one)), Some(most));
        assert_eq!((Amount::ZERO.checked_sub(one), wide.checked_sub(wide)), (None, Some(Amount::ZERO)));
    }

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

    proptest! {
        #[test]
        fn texts_and_words_keep_every_bit(word: [u8; 32], shift in 0_usize..256, decimals in 0..=MAX_DECIMALS) {
            let number = U256::from_be_bytes(word) >> shift;
            let amount = Amount::from_be_bytes(number.to_be_bytes());
            let text = number.to_string();
            prop_assert_eq!(amount.to_be_bytes(), number.to_be_bytes::<32>());
            prop_assert_eq!(amount.to_string(), text.clone());
            prop_assert_eq!(text.parse::<Amount>(), Ok(amount));
            prop_assert_eq!(format!("{amount:>80}"), format!("{text:>80}"));
            prop_assert_eq!(Amount::from_units(&amount.to_units(decimals), decimals), Ok(amount));
            prop_assert_eq!(amount.fits_u64(), number.bit_len() <= 64);
            prop_assert_eq!(amount.to_u64(), u64::try_from(number).ok());
        }

        #[test]
        fn only_digits_without_a_leading_zero_are_read(text in "[0-9_xXbo a-f+.-]{0,6}") {
            let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
            prop_assert_eq!(text.parse::<Amount>().is_ok(), is_plain && !text.is_empty(), "{}", text);
            prop_assert_eq!(Amount::from_units(&text, 0).is_ok(), text.parse::<u64>().is_ok() && !text.starts_with('+'));
        }

        #[test]
        fn a_value_is_the_exact_product(word: [u8; 32], shift in 0_usize..256, decimals in 0..=MAX_DECIMALS) {
            let amount = Amount(U256::from_be_bytes(word) >> shift);
            let ScaledAmount(value) = amount.to_value(decimals);
            let zeros = usize::from(MAX_DECIMALS - decimals);
            let product = if amount.is_zero() { "0".to_owned() } else { format!("{amount}{:0<zeros$}", "") };
            prop_assert_eq!(value.to_string(), product);
        }

        #[test]
        fn sums_differences_and_products_stop_at_both_ends(one: [u8; 32], other: [u8; 32], shift in 0_usize..256, times: u32) {
            let (one, other) = (Amount(U256::from_be_bytes(one) >> shift), Amount(U256::from_be_bytes(other)));
            let wide = |amount: Amount| Uint::<512, 8>::from(amount.0);
            let most = |exact: Uint<512, 8>| exact.min(wide(Amount(U256::MAX)));
            prop_assert_eq!(wide(one.saturating_add(other)), most(wide(one) + wide(other)));
            prop_assert_eq!(wide(one.saturating_mul(times)), most(wide(one) * Uint::from(times)));
            prop_assert_eq!(wide(one.saturating_sub(other)), wide(one).saturating_sub(wide(other)));
            prop_assert_eq!(one.cmp(&other), one.to_be_bytes().cmp(&other.to_be_bytes()));
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
