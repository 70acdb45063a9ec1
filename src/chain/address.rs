//! Whether a text is an address as chains of a family write it.

use std::str::FromStr;

use sha3::{Digest, Keccak256};

use super::{ChainFamily, SolanaAddress};

/// Checks that `text` is an address as chains of `family` write it; of other families every text is.
///
/// # Errors
/// What is accepted instead.
pub(crate) fn check_address(text: &str, family: ChainFamily) -> Result<(), &'static str> {
    match family {
        ChainFamily::Evm if !is_evm_address(text) => Err("0x and 40 hexadecimal digits"),
        ChainFamily::Svm if SolanaAddress::from_str(text).is_err() => Err("a base58 Solana address"),
        _ => Ok(()),
    }
}

/// Whether `text` is an EVM address: 0x and 40 hexadecimal digits, in any case.
pub(crate) fn is_evm_address(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether `text`, an EVM address, is the zero address.
pub(crate) fn is_zero_address(text: &str) -> bool {
    text.bytes().skip(2).all(|digit| digit == b'0')
}

/// Whether `text`, an EVM address, has letters in both cases and these are not the checksum of EIP-55: then a digit is
/// probably wrong. An address in one case states no checksum.
pub(crate) fn has_wrong_checksum(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let lower = digits.to_ascii_lowercase();
    if digits == lower || digits == digits.to_ascii_uppercase() {
        return false;
    }
    let hash = hex::encode(Keccak256::digest(&lower));
    let is_upper = |hash_digit: u8| matches!(hash_digit, b'8'..=b'9' | b'a'..=b'f');
    let expected =
        |(digit, hash_digit): (u8, u8)| if is_upper(hash_digit) { digit.to_ascii_uppercase() } else { digit };
    !lower.bytes().zip(hash.bytes()).map(expected).eq(digits.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four are the examples of EIP-55 itself.
    #[test]
    fn a_checksum_is_in_the_case_of_letters() {
        for text in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0xde709f2102306220921060314715629080e2fb77",
            "0x0000000000000000000000000000000000000000",
        ] {
            assert!(is_evm_address(text) && !has_wrong_checksum(text), "{text}");
        }
        for text in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee",
            "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeD",
        ] {
            assert!(has_wrong_checksum(text), "{text}");
        }
    }
}
