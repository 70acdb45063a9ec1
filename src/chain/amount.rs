//! Token amounts: whole atomic units, exact, up to 256 bits.
//!
//! Knows digits and powers of ten. Refuses to know what a token is worth, where an amount came
//! from, or how to round: nothing here ever rounds or rescales.

use std::fmt;
use std::str::FromStr;

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
pub struct Amount(
    // In pieces of 32 bits, the most significant first: in that order lists compare as numbers do.
    [u32; 8],
);

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
    /// More than the number's type holds.
    #[error("is larger than the number's type holds")]
    OutOfRange,
    /// More digits after the point than the asset has decimals.
    #[error("has more decimal places than the asset")]
    TooPrecise,
}

impl Amount {
    /// No units.
    pub const ZERO: Self = Self([0; 8]);

    /// The most that 256 bits hold.
    const MAX: Self = Self([u32::MAX; 8]);

    /// An amount given as an integer.
    #[must_use]
    pub(crate) fn from_u64(units: u64) -> Self {
        Self([0, 0, 0, 0, 0, 0, (units >> 32) as u32, (units & 0xFFFF_FFFF) as u32])
    }

    /// An amount from a 32-byte big-endian word, as a contract returns it.
    #[must_use]
    pub fn from_be_bytes(word: [u8; 32]) -> Self {
        let mut limbs = [0; 8];
        for (limb, bytes) in limbs.iter_mut().zip(word.as_chunks().0) {
            *limb = u32::from_be_bytes(*bytes);
        }
        Self(limbs)
    }

    /// The amount as a 32-byte big-endian word, as a contract takes it.
    #[must_use]
    pub fn to_be_bytes(self) -> [u8; 32] {
        let mut word = [0; 32];
        for (bytes, limb) in word.as_chunks_mut().0.iter_mut().zip(&self.0) {
            *bytes = limb.to_be_bytes();
        }
        word
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
        let mut amount = Self::ZERO;
        for place in 0..whole.len().saturating_add(decimals.into()) {
            let digit = whole.as_bytes().get(place).or(fraction.as_bytes().get(place.saturating_sub(whole.len())));
            amount.push(digit.copied().unwrap_or(b'0'))?;
        }
        Ok(amount)
    }

    /// Whether there are no units.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Whether the amount fits in 64 bits, as every SPL token amount does.
    #[must_use]
    pub fn fits_u64(self) -> bool {
        self <= Self::from_u64(u64::MAX)
    }

    /// As a number, if it fits one.
    pub(crate) fn to_u64(self) -> Option<u64> {
        let [.., a, b, c, d, e, f, g, h] = self.to_be_bytes();
        self.fits_u64().then_some(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    /// `self - other`, or zero when `other` is larger.
    #[must_use]
    pub fn saturating_sub(mut self, other: Self) -> Self {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0).rev() {
            (*limb, borrow) = limb.borrowing_sub(*other, borrow);
        }
        if borrow { Self::ZERO } else { self }
    }

    /// `self * times`, or the largest amount where that is larger.
    pub(crate) fn saturating_mul(mut self, times: u32) -> Self {
        match multiply(&mut self.0, times, 0) {
            0 => self,
            _ => Self::MAX,
        }
    }

    /// `self + other`, or the most that 256 bits hold.
    pub(crate) fn saturating_add(mut self, other: Self) -> Self {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0).rev() {
            (*limb, carry) = limb.carrying_add(*other, carry);
        }
        if carry { Self::MAX } else { self }
    }

    /// The amount in token units, without trailing zeros: 50000 of 6 decimals is `0.05`.
    #[must_use]
    pub fn to_units(self, decimals: u8) -> String {
        with_point(self.digits(), decimals.into())
    }

    #[allow(clippy::cast_possible_truncation, reason = "the rest is below ten, so what it makes of a limb fits one")]
    fn digits(mut self) -> String {
        let mut digits = String::new();
        while digits.is_empty() || !self.is_zero() {
            let mut rest = 0;
            for limb in &mut self.0 {
                let dividend = u64::from(rest) << 32 | u64::from(*limb);
                (*limb, rest) = ((dividend / 10) as u32, (dividend % 10) as u8);
            }
            digits.insert(0, char::from(rest.wrapping_add(b'0')));
        }
        digits
    }

    /// Writes an ASCII digit behind the amount.
    fn push(&mut self, digit: u8) -> Result<(), AmountError> {
        match multiply(&mut self.0, 10, digit.wrapping_sub(b'0').into()) {
            0 => Ok(()),
            _ => Err(AmountError::TooLarge),
        }
    }

    /// The amount as a value that compares across assets of different decimals, exactly.
    pub(crate) fn to_value(self, decimals: u8) -> ScaledAmount {
        // The largest power of ten in a digit.
        const STEP: u8 = 19;
        let mut digits = [0; 8];
        for (digit, [high, low]) in digits.iter_mut().rev().zip(self.0.as_chunks().0.iter().rev()) {
            *digit = u64::from(*high) << 32 | u64::from(*low);
        }
        let Some(mut highest) = digits.iter().position(|digit| *digit > 0) else { return ScaledAmount(digits) };
        let mut scale = MAX_DECIMALS.saturating_sub(decimals);
        while scale > 0 {
            let step = scale.min(STEP);
            let (power, mut carry) = (10_u64.saturating_pow(step.into()), 0);
            // A step makes the number longer by a digit at most; what lies before is zero.
            highest = highest.saturating_sub(1);
            for digit in digits.iter_mut().skip(highest).rev() {
                (*digit, carry) = digit.carrying_mul(power, carry);
            }
            scale = scale.saturating_sub(step);
        }
        ScaledAmount(digits)
    }
}

/// Makes `limbs` of themselves times `by`, plus `plus`. Returns what does not fit.
fn multiply(limbs: &mut [u32], by: u32, plus: u32) -> u32 {
    let mut carry = plus;
    for limb in limbs.iter_mut().rev() {
        (*limb, carry) = limb.carrying_mul(by, carry);
    }
    carry
}

/// An amount scaled to [`MAX_DECIMALS`] decimals: ordered by worth in token units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScaledAmount([u64; 8]);

impl ScaledAmount {
    pub(crate) const ZERO: Self = Self([0; 8]);
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
        let mut amount = Self::ZERO;
        text.bytes().try_for_each(|digit| amount.push(digit))?;
        Ok(amount)
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

impl Amount {
    /// `self + other`; `None` where that needs more than 256 bits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let sum = self.saturating_add(other);
        (sum.saturating_sub(other) == self).then_some(sum)
    }

    /// `self - other`; `None` where `other` is larger.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        (other <= self).then(|| self.saturating_sub(other))
    }
}

impl TryFrom<Amount> for u64 {
    type Error = AmountError;

    fn try_from(amount: Amount) -> Result<Self, AmountError> {
        amount.to_u64().ok_or(AmountError::OutOfRange)
    }
}

impl TryFrom<Amount> for u128 {
    type Error = AmountError;

    fn try_from(amount: Amount) -> Result<Self, AmountError> {
        match amount.to_be_bytes().as_chunks().0 {
            [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], low] => Ok(Self::from_be_bytes(*low)),
            _ => Err(AmountError::OutOfRange),
        }
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
    use ruint::aliases::U256;

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

    proptest::proptest! {
        #[test]
        fn amounts_are_the_integers_of_ruint(
            word: [u8; 32],
            other: [u8; 32],
            shift in 0_usize..256,
            times: u32,
            decimals in 0..=MAX_DECIMALS,
        ) {
            let (number, other) = (U256::from_be_bytes(word) >> shift, U256::from_be_bytes(other));
            let ours = |number: U256| Amount::from_be_bytes(number.to_be_bytes());
            let (amount, second) = (ours(number), ours(other));
            proptest::prop_assert_eq!(amount.to_be_bytes(), number.to_be_bytes::<32>());
            proptest::prop_assert_eq!(amount.to_string(), number.to_string());
            proptest::prop_assert_eq!(number.to_string().parse::<Amount>(), Ok(amount));
            proptest::prop_assert_eq!(format!("{amount:>80}"), format!("{number:>80}"));
            proptest::prop_assert_eq!(Amount::from_units(&amount.to_units(decimals), decimals), Ok(amount));
            proptest::prop_assert_eq!(amount.fits_u64(), number.bit_len() <= 64);
            proptest::prop_assert_eq!(amount.cmp(&second), number.cmp(&other));
            proptest::prop_assert_eq!(amount.saturating_add(second), ours(number.saturating_add(other)));
            proptest::prop_assert_eq!(amount.saturating_sub(second), ours(number.saturating_sub(other)));
            proptest::prop_assert_eq!(amount.saturating_mul(times), ours(number.saturating_mul(U256::from(times))));
        }

        #[test]
        fn values_are_the_products_of_ruint(word: [u8; 32], shift in 0_usize..256, decimals in 0..=MAX_DECIMALS) {
            let number = U256::from_be_bytes(word) >> shift;
            let power = U256::from(10).pow(U256::from(MAX_DECIMALS - decimals));
            let product: ruint::Uint<512, 8> = number.widening_mul(power);
            let ScaledAmount(limbs) = Amount::from_be_bytes(number.to_be_bytes()).to_value(decimals);
            proptest::prop_assert_eq!(limbs.map(u64::to_be_bytes).concat(), product.to_be_bytes::<64>());
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
