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
        Value::Number(number) => span(number.as_f64()?),
        Value::String(text) => with_unit(text),
        _ => None,
    })
}

fn with_unit(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("µs", 0.000_001), ("m", 60.0), ("s", 1.0)];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let (number, size) = unit.unwrap_or((text, 1.0));
    span(number.trim_end().parse::<f64>().ok()? * size)
}

fn seconds(text: &str) -> Option<Duration> {
    span(text.trim().parse().ok()?)
}

/// Not negative, not infinite, and not so long that it overflows.
fn span(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
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
