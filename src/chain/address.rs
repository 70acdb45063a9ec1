//! Whether a text is an address as chains of a family write it.

use std::str::FromStr;

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
