//! How long an endpoint wants no more requests, in the headers and fields that endpoints use for it.
//!
//! Health clamps what is too short or too long. What cannot be read is ignored.

use std::time::Duration;

use crate::util::json::Json;

/// `Retry-After`: seconds, whole or fractional, or an HTTP date. A date is compared with the
/// reply's own `Date`, so that neither clock needs to be right.
pub(super) fn from_headers(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    seconds(retry_after).or_else(|| {
        let wait = http_date(retry_after)?.checked_sub(http_date(date?)?)?;
        Some(Duration::from_secs(wait))
    })
}

/// The hints in a JSON-RPC error's `data`: `rate.backoff_seconds`, and a wait under one of several
/// names, as a number of seconds or with its unit.
pub(super) fn from_data(data: Json<'_>) -> Option<Duration> {
    let members = data.members()?;
    let rate = members.get("rate").and_then(Json::members);
    let mut wait = rate.and_then(|rate| from_value(rate.get("backoff_seconds")?));
    for name in ["try_again_in", "retry_after", "retryAfter"] {
        wait = wait.or_else(|| from_value(members.get(name)?));
    }
    wait
}

fn from_value(wait: Json<'_>) -> Option<Duration> {
    match wait.text() {
        Some(text) => with_unit(&text),
        None => seconds(wait.raw()),
    }
}

fn with_unit(text: &str) -> Option<Duration> {
    // Each unit as so many times the part of a second.
    const UNITS: [(&str, u32, u32); 4] = [("ms", 1, 1_000), ("µs", 1, 1_000_000), ("m", 60, 1), ("s", 1, 1)];
    let text = text.trim_ascii();
    let unit = UNITS.iter().find_map(|(unit, times, part)| Some((text.strip_suffix(unit)?, *times, *part)));
    let (number, times, part) = unit.unwrap_or((text, 1, 1));
    seconds(number)?.checked_mul(times)?.checked_div(part)
}

/// Seconds in digits, with or without a fraction, to the nanosecond.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim_ascii();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut seconds, mut nanos, mut unit) = (0_u64, 0_u32, 100_000_000);
    for digit in whole.chars() {
        seconds = seconds.checked_mul(10)?.checked_add(digit.to_digit(10)?.into())?;
    }
    for digit in fraction.chars() {
        nanos = nanos.saturating_add(digit.to_digit(10)?.saturating_mul(unit));
        unit /= 10;
    }
    Some(Duration::new(seconds, nanos))
}

/// Seconds since the year 0 of a date as every server must write it (RFC 9110 §5.6.7):
/// `Sun, 29 Nov 2026 23:59:30 GMT`. The two older forms are as good as no date.
#[allow(clippy::arithmetic_side_effects, reason = "every number has at most four digits")]
fn http_date(text: &str) -> Option<u64> {
    const LAYOUT: &[u8] = b"00 --- 0000 00:00:00 GMT";
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let text = text.trim_ascii().as_bytes();
    let weekday = text.windows(2).position(|pair| pair == b", ")?;
    let date = text.get(weekday + 2..).filter(|date| date.len() == LAYOUT.len())?;
    let (mut numbers, mut number) = (Vec::new(), 0);
    for (byte, layout) in date.iter().zip(LAYOUT) {
        match layout {
            b'0' => number = number * 10 + u64::from(char::from(*byte).to_digit(10)?),
            b'-' => {}
            other if other == byte => numbers.push(std::mem::take(&mut number)),
            _ => return None,
        }
    }
    let &[day @ ..=31, _, year, hour @ ..=23, minute @ ..=59, second @ ..=60, ..] = numbers.as_slice() else {
        return None;
    };
    let month = MONTHS.chunks(3).position(|name| date.get(3..6) == Some(name))? as u64;
    // Counted from March, the leap day comes last and months before it repeat in a pattern of five.
    let (month, year) = if month < 2 { (month + 10, year.checked_sub(1)?) } else { (month - 2, year) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers() {
        let date = Some("Sun, 29 Nov 2026 23:59:00 GMT");
        for (text, date, ms) in [
            ("2", None, Some(2_000)),
            (" 1.5 ", None, Some(1_500)),
            ("0", None, Some(0)),
            (".25", None, Some(250)),
            ("7.", None, Some(7_000)),
            (".", None, None),
            ("1.2.3", None, None),
            ("Sun, 29 Nov 2026 23:59:30 GMT", date, Some(30_000)),
            ("Sun, 29 Nov 2026 23:58:30 GMT", date, None),
            ("Sun, 29 Nov 2026 23:59:30 GMT", None, None),
            ("Mon, 30 Nov 2026 00:00:01 GMT", date, Some(61_000)),
            ("Mon, 01 Mar 2027 00:00:00 GMT", date, Some((91 * 86_400 + 60) * 1_000)),
            ("Tue, 29 Feb 2028 00:00:00 GMT", date, Some((456 * 86_400 + 60) * 1_000)),
            ("Sun, 29 Nov 2026 24:00:00 GMT", date, None),
            ("Sun, 29 ovD 2026 23:59:30 GMT", date, None),
            ("Sun, 29 Nov 2026 23:59:30 CET", date, None),
            ("Sunday, 29-Nov-26 23:59:30 GMT", date, None),
            ("Sun, 29 Nov 2026 23:59:30 GMT", Some("today"), None),
            ("", None, None),
            ("soon", date, None),
            ("-1", None, None),
            ("NaN", None, None),
            ("inf", None, None),
            ("1e400", None, None),
        ] {
            assert_eq!(from_headers(text, date), ms.map(Duration::from_millis), "{text} {date:?}");
        }
    }

    #[test]
    fn data() {
        for (data, ms) in [
            (json!({"rate": {"backoff_seconds": 30, "allowed_rps": 1}}), Some(30_000)),
            (json!({"try_again_in": "566.5ms"}), Some(566)),
            (json!({"try_again_in": "1.5s"}), Some(1_500)),
            (json!({"try_again_in": "2m"}), Some(120_000)),
            (json!({"try_again_in": "2500 µs"}), Some(2)),
            (json!({"try_again_in": "99999999999999999999 m"}), None),
            (json!({"retryAfter": 3}), Some(3_000)),
            (json!({"retry_after": "4"}), Some(4_000)),
            (json!({"try_again_in": "later"}), None),
            (json!({"try_again_in": -1}), None),
            (json!({}), None),
            (json!("30"), None),
            (json!(null), None),
        ] {
            let millis = from_data(Json::parse(&data.to_string()).unwrap()).map(|span| span.as_millis());
            assert_eq!(millis, ms, "{data}");
        }
    }
}
