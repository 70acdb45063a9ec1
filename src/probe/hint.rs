//! How long an endpoint asks to be left alone, in the ways that endpoints say it.
//!
//! Reads only; what is too short or too long is for health to clamp. What makes no sense is no hint.

use std::time::Duration;

use crate::json::Json;

/// `Retry-After`: seconds, whole or fractional, or an HTTP date. A date is measured against the
/// answer's own `Date`, so that neither clock needs to be right.
pub(super) fn from_headers(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    seconds(retry_after).or_else(|| {
        let wait = http_date(retry_after)?.checked_sub(http_date(date?)?)?;
        Some(Duration::from_secs(wait))
    })
}

/// The hints in a JSON-RPC error's `data`: `rate.backoff_seconds`, and a wait under one of several
/// names, as a number of seconds or with its unit.
pub(super) fn from_data(data: Json<'_>) -> Option<Duration> {
    const NAMES: [&[&str]; 4] = [&["rate", "backoff_seconds"], &["try_again_in"], &["retry_after"], &["retryAfter"]];
    let at = |path: &&[&str]| path.iter().try_fold(data, |value, name| value.members()?.get(name));
    NAMES.iter().filter_map(at).find_map(|wait| match wait.text() {
        Some(text) => with_unit(&text),
        None => seconds(wait.raw()),
    })
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
    let (whole, fraction) = text.trim_ascii().split_once('.').unwrap_or((text.trim_ascii(), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let nanos = format!("{fraction:0<9.9}").parse().ok()?;
    Some(Duration::new(format!("0{whole}").parse().ok()?, nanos))
}

/// Seconds since the year 0 of a date as every server must write it (RFC 9110 §5.6.7):
/// `Sun, 29 Nov 2026 23:59:30 GMT`. The two older forms are as good as no date.
#[allow(clippy::arithmetic_side_effects, reason = "every number has at most four digits")]
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_weekday, rest) = text.trim_ascii().split_once(", ")?;
    let [day, month, year, time, "GMT"] = rest.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let [hour, minute, second] = time.split(':').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.find(month).filter(|at| at % 3 == 0 && month.len() == 3)? as u64 / 3;
    let number = |text: &str, digits: usize, most: u64| {
        let number = text.parse::<u64>().ok().filter(|number| *number <= most)?;
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    };
    let (day, year) = (number(day, 2, 31)?, number(year, 4, 9_999)?);
    let (hour, minute, second) = (number(hour, 2, 23)?, number(minute, 2, 59)?, number(second, 2, 60)?);
    // Counted from March, the leap day comes last and months before it repeat in a pattern of five.
    let (month, year) = if month < 2 { (month + 10, year.checked_sub(1)?) } else { (month - 2, year) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
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
