//! Base64, read strictly: the standard alphabet, padded, and no bit that says nothing.
//!
//! Refuses to know what the bytes are.

/// The bytes that `text` says; `None` where it is not base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last.saturating_add(1));
    let (digits, padding) = text.split_at_checked(end)?;
    if !text.len().is_multiple_of(4) || padding.len() > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let mut bits = 0;
        for place in 0..4 {
            bits = bits << 6 | group.get(place).map_or(Some(0), |digit| value(*digit))?;
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        let (said, unsaid) = decoded.split_at_checked(group.len().saturating_sub(1))?;
        if unsaid.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(said);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    let (first, value) = match digit {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(digit.wrapping_sub(first)).wrapping_add(value))
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(bytes: Vec<u8>) {
            prop_assert_eq!(super::decode(STANDARD.encode(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn what_is_base64_is_as_the_base64_crate_has_it(text in "[AQgwZz059+/=-]{0,9}") {
            prop_assert_eq!(super::decode(text.as_bytes()), STANDARD.decode(&text).ok());
        }
    }
}
