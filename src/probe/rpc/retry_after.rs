//! How long an endpoint wants no more requests, in the headers and fields that endpoints use for it.
//!
//! Health clamps what is too short or too long. What cannot be read is ignored.

use std::time::{Duration, SystemTime};

use crate::util::json::Json;

/// `Retry-After`: seconds, whole or fractional, or an HTTP date. A date is compared with the
/// reply's own `Date`, so that neither clock needs to be right.
pub(super) fn from_headers(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    seconds(retry_after).or_else(|| http_date(retry_after)?.duration_since(http_date(date?)?).ok())
}

/// The hints in a JSON-RPC error's `data`: `rate.backoff_seconds`, and a wait under one of several
/// names, as a number of seconds or with its unit.
pub(super) fn from_data(data: Json<'_>) -> Option<Duration> {
    let members = data.members()?;
    let rate = members.get("rate").and_then(Json::members);
    let backoff = rate.and_then(|rate| from_value(rate.get("backoff_seconds")?));
    let mut names = ["try_again_in", "retry_after", "retryAfter"].into_iter();
    backoff.or_else(|| names.find_map(|name| from_value(members.get(name)?)))
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

/// Seconds in digits, with or without a fraction.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim_ascii();
    // A float could also be negative, infinite or written with an exponent.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Duration::try_from_secs_f64(text.parse().ok().filter(|_| is_plain)?).ok()
}

/// A date as every server must write it (RFC 9110 §5.6.7): `Sun, 29 Nov 2026 23:59:30 GMT`. Only it has 29 characters;
/// the two older forms are as good as no date.
fn http_date(text: &str) -> Option<SystemTime> {
    let text = text.trim_ascii();
    httpdate::parse_http_date(text).ok().filter(|_| text.len() == 29)
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
            ("Sun Nov 29 23:59:30 2026", date, None),
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
