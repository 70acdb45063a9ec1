//! Amounts: what is accepted is what was written, to the digit, and orders as the digits do.
//!
//! An input is `decimals amount amount`, for example `6 50000 0.05`.

use std::cmp::Ordering;

use payroute::{Amount, Candidate, MAX_DECIMALS, rank};

/// 2^256 - 1.
const MOST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// Checks both amounts alone and against each other.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut parts = text.splitn(3, ' ');
    let decimals = parts.next().and_then(|decimals| decimals.parse().ok()).unwrap_or(6);
    let texts = [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()];
    for text in texts {
        atomic(text, decimals);
        units(text, decimals);
    }
    if let [Ok(left), Ok(right)] = texts.map(str::parse) {
        compared(texts, left, right);
        ranked(texts, left, right, decimals);
    }
}

fn atomic(text: &str, decimals: u8) {
    let Ok(amount) = text.parse::<Amount>() else {
        assert!(!is_atomic(text), "a whole number was refused");
        return;
    };
    assert!(is_atomic(text), "no whole number was accepted");
    assert_eq!(amount.to_string(), text);
    assert_eq!(format!("{amount:?}"), text);
    let json = serde_json::to_string(&amount).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Amount>(&json).unwrap(), amount);
    assert!(serde_json::from_str::<Amount>(text).is_err(), "a JSON number is rounded by other readers");
    assert_eq!(amount.is_zero(), text == "0");
    assert_eq!(amount.fits_u64(), text.parse::<u64>().is_ok());
    let in_units = amount.to_units(decimals);
    assert_eq!(in_units, moved_point(text, decimals));
    assert_eq!(Amount::from_units(&in_units, decimals), Ok(amount));
}

fn units(text: &str, decimals: u8) {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !whole.is_empty() && !text.ends_with('.') && digits(whole) && digits(fraction);
    let zeros = usize::from(decimals).checked_sub(fraction.len());
    let expected = zeros.filter(|_| is_number).map(|zeros| format!("{whole}{fraction}{}", "0".repeat(zeros)));
    let expected = expected.as_deref().map(without_leading_zeros).filter(|digits| is_atomic(digits));
    match (Amount::from_units(text, decimals), expected) {
        (Ok(amount), Some(expected)) => {
            assert_eq!(amount.to_string(), expected);
            let tail = fraction.trim_end_matches('0');
            let point = if tail.is_empty() { "" } else { "." };
            assert_eq!(amount.to_units(decimals), format!("{}{point}{tail}", without_leading_zeros(whole)));
        }
        (read, expected) => assert!(read.is_err() && expected.is_none(), "{read:?} where {expected:?} was written"),
    }
}

fn compared([left_text, right_text]: [&str; 2], left: Amount, right: Amount) {
    assert_eq!(left.cmp(&right), numeric_order(left_text, right_text));
    let rest = left.saturating_sub(right);
    match left > right {
        true => assert_eq!(left.saturating_sub(rest), right),
        false => assert!(rest.is_zero()),
    }
    if let (Ok(a), Ok(b)) = (left_text.parse::<u128>(), right_text.parse::<u128>()) {
        assert_eq!(rest.to_string(), a.saturating_sub(b).to_string());
    }
}

/// Of two offers that differ in nothing but the fee, the lower fee in token units comes first.
fn ranked(texts: [&str; 2], left: Amount, right: Amount, decimals: u8) {
    let decimals = [decimals.min(MAX_DECIMALS), 6];
    let offer = |index, fee, decimals| {
        let mut candidate = Candidate::new(index);
        (candidate.fee, candidate.decimals) = (fee, Some(decimals));
        candidate
    };
    let mut offers = [offer(0, left, decimals[0]), offer(1, right, decimals[1])];
    rank(&mut offers, &[]);
    let scaled = |text: &str, decimals: u8| format!("{text}{}", "0".repeat(usize::from(MAX_DECIMALS - decimals)));
    let (left, right) = (scaled(texts[0], decimals[0]), scaled(texts[1], decimals[1]));
    let first = numeric_order(without_leading_zeros(&left), without_leading_zeros(&right));
    assert_eq!(offers[0].requirement_index, usize::from(first == Ordering::Greater));
}

fn is_atomic(text: &str) -> bool {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain && without_leading_zeros(text) == text && numeric_order(text, MOST) != Ordering::Greater
}

fn without_leading_zeros(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" if !digits.is_empty() => "0",
        significant => significant,
    }
}

/// Of whole numbers without leading zeros.
fn numeric_order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// `digits` with the point moved `places` to the left and no zeros at the end.
fn moved_point(digits: &str, places: u8) -> String {
    let mut padded = vec![b'0'; (usize::from(places) + 1).saturating_sub(digits.len())];
    padded.extend(digits.bytes());
    let fraction = padded.split_off(padded.len() - usize::from(places));
    let text = String::from_utf8([padded, vec![b'.'], fraction].concat()).unwrap();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
