//! How long an endpoint asks to be left alone, in the ways that endpoints say it.
//!
//! Reads only; what is too short or too long is for health to clamp. What makes no sense is no hint.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// `Retry-After`: seconds, whole or fractional, or an HTTP date. A date is measured against the
/// answer's own `Date`, so that neither clock needs to be right.
pub(super) fn from_headers(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    seconds(retry_after).or_else(|| {
        let until = http_date(retry_after)?;
        until.duration_since(http_date(date?)?).ok()
    })
}

/// The hints in a JSON-RPC error's `data`: `rate.backoff_seconds`, and a wait under one of several
/// names, as a number of seconds or with its unit.
pub(super) fn from_data(data: &Value) -> Option<Duration> {
    const NAMES: [&str; 4] = ["/rate/backoff_seconds", "/try_again_in", "/retry_after", "/retryAfter"];
    NAMES.iter().find_map(|name| match data.pointer(name)? {
        Value::Number(number) => Duration::try_from_secs_f64(number.as_f64()?).ok(),
        Value::String(text) => with_unit(text),
        _ => None,
    })
}

fn with_unit(text: &str) -> Option<Duration> {
    // Each unit as so many times the part of a second.
    const UNITS: [(&str, u32, u32); 4] = [("ms", 1, 1_000), ("µs", 1, 1_000_000), ("m", 60, 1), ("s", 1, 1)];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, times, part)| Some((text.strip_suffix(unit)?, *times, *part)));
    let (number, times, part) = unit.unwrap_or((text, 1, 1));
    seconds(number)?.checked_mul(times)?.checked_div(part)
}

/// Seconds in digits, with or without a fraction, to the nanosecond.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let nanos = format!("{fraction:0<9.9}").parse().ok()?;
    Some(Duration::new(format!("0{whole}").parse().ok()?, nanos))
}

fn http_date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            (Value::Null, None),
        ] {
            let millis = from_data(&data).map(|span| span.as_millis());
            assert_eq!(millis, ms, "{data}");
        }
    }
}
