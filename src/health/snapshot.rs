//! Health as versioned JSON, to outlive a process or a page.
//!
//! Moments become ages, for the next process has another clock. Averages are written as whole
//! numbers, so that what is restored is written the same again. Endpoints are named by network,
//! host and hash; no URL is ever in a snapshot.

use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::circuit::{Breaker, Counts, Generation};
use super::entry::Entry;
use super::score::Averages;
use super::settings::HealthSettings;
use super::view::millis;
use super::{EndpointKey, Moment, Opening};
use crate::json::Record;
use crate::network::ChainId;
use crate::text::escaped;

const VERSION: u32 = 1;
/// Bytes that are read whatever the capacity: one that shrank must not refuse its own past.
const MOST_UNASKED_BYTES: usize = 1 << 20;
/// The unit of the success average in a snapshot.
const BILLION: f64 = 1_000_000_000.0;

/// Why a text is not a snapshot that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not JSON of the expected form.
    #[error("the snapshot is not readable (line {line}, column {column})")]
    Unreadable {
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// Written by another version of payroute.
    #[error("the snapshot has version {0}; accepted is {VERSION}")]
    Version(u32),
    /// More than the index could hold.
    #[error("the snapshot is larger than the index")]
    TooLarge,
    /// An endpoint is listed twice, or has a number out of its range.
    #[error("endpoint {0} of the snapshot is not acceptable")]
    Endpoint(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Snapshot {
    version: u32,
    /// Most recently used first.
    endpoints: Vec<Record<EndpointRecord>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndpointRecord {
    network: ChainId,
    endpoint: String,
    /// 32 hexadecimal digits.
    id: String,
    /// Billionths.
    success: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency_us: Option<u64>,
    consecutive_failures: u32,
    samples: u32,
    /// The window as bits, newest lowest, in hexadecimal.
    failures: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opened: Option<Record<OpenedRecord>>,
    idle_for_ms: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    throttled_for_ms: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    refusals: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    backing_off_for_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Record<PlanRecord>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenedRecord {
    ago_ms: u64,
    reason: Opening,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanRecord {
    number: u8,
    for_ms: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A snapshot of `entries`, which come most recently used first.
pub(super) fn write<'a>(entries: impl Iterator<Item = (&'a EndpointKey, &'a Entry)>, now: Moment) -> String {
    let endpoints = entries.map(|(key, entry)| Record(record(key, entry, now))).collect();
    // Strings, numbers and a list of them: there is nothing that could fail to be JSON.
    serde_json::to_string(&Snapshot { version: VERSION, endpoints }).unwrap_or_default()
}

fn record(key: &EndpointKey, entry: &Entry, now: Moment) -> EndpointRecord {
    let until = |moment: Option<Moment>| moment.map_or(0, |moment| millis(moment.since(now)));
    let Counts { consecutive, failures, samples } = entry.breaker.counts();
    EndpointRecord {
        network: key.network().clone(),
        endpoint: key.host().to_string(),
        id: key.id(),
        success: billionths(entry.averages.success()),
        latency_us: entry.averages.latency_us(),
        consecutive_failures: consecutive,
        samples,
        failures: format!("{failures:x}"),
        opened: entry
            .breaker
            .opened()
            .map(|(since, reason)| Record(OpenedRecord { ago_ms: millis(now.since(since)), reason })),
        idle_for_ms: millis(now.since(entry.last_used)),
        throttled_for_ms: until(entry.not_before),
        refusals: u64::from(entry.refusals),
        backing_off_for_ms: until(entry.backs_off_until),
        plan: entry
            .plan
            .filter(|(_, expires)| now < *expires)
            .map(|(number, expires)| Record(PlanRecord { number, for_ms: millis(expires.since(now)) })),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average is from 0 to 1")]
fn billionths(average: f64) -> u32 {
    (average * BILLION + 0.5) as u32
}

/// The entries of a snapshot, most recently used first, as many as the index holds.
pub(super) fn read(
    text: &str,
    generation: Generation,
    now: Moment,
    settings: &HealthSettings,
) -> Result<Vec<(EndpointKey, Entry)>, SnapshotError> {
    #[derive(Deserialize)]
    struct AnyVersion {
        version: u32,
    }
    let unreadable =
        |error: serde_json::Error| SnapshotError::Unreadable { line: error.line(), column: error.column() };
    // A record has about 300 bytes.
    if text.len() > settings.capacity.saturating_mul(1_024).max(MOST_UNASKED_BYTES) {
        return Err(SnapshotError::TooLarge);
    }
    let Record(AnyVersion { version }) = serde_json::from_str(text).map_err(unreadable)?;
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let Record(snapshot): Record<Snapshot> = serde_json::from_str(text).map_err(unreadable)?;
    let mut listed = HashSet::new();
    let mut entries: Vec<(EndpointKey, Entry)> = Vec::new();
    for (position, Record(record)) in snapshot.endpoints.into_iter().take(settings.capacity).enumerate() {
        let (key, entry) = restore(record, generation, now, settings).ok_or(SnapshotError::Endpoint(position))?;
        if !listed.insert(key.clone()) {
            return Err(SnapshotError::Endpoint(position));
        }
        entries.push((key, entry));
    }
    Ok(entries)
}

fn restore(
    record: EndpointRecord,
    generation: Generation,
    now: Moment,
    settings: &HealthSettings,
) -> Option<(EndpointKey, Entry)> {
    let ago = |ms: u64| now.before(Duration::from_millis(ms));
    let ahead = |ms: u64| (ms > 0).then(|| now.after(Duration::from_millis(ms)));
    let digest = u128::from_str_radix(hex(&record.id).filter(|id| id.len() == 32)?, 16).ok()?;
    let counts = Counts {
        consecutive: record.consecutive_failures,
        failures: u64::from_str_radix(hex(&record.failures)?, 16).ok()?,
        samples: record.samples,
    };
    let opened = record.opened.map(|Record(opened)| (ago(opened.ago_ms), opened.reason));
    // As long as it is, or it would be written otherwise again; the snapshot itself has a bound.
    let host = escaped(&record.endpoint, usize::MAX);
    let key = EndpointKey::new(record.network, digest, host);
    let entry = Entry {
        last_used: ago(record.idle_for_ms),
        averages: Averages::restored(f64::from(record.success) / BILLION, record.latency_us),
        breaker: Breaker::restored(generation, counts, opened, settings),
        not_before: ahead(record.throttled_for_ms),
        refusals: u32::try_from(record.refusals).ok()?,
        backs_off_until: ahead(record.backing_off_for_ms),
        plan: record.plan.and_then(|Record(plan)| Some((plan.number, ahead(plan.for_ms)?))),
        ..Entry::new(generation, now)
    };
    Some((key, entry))
}

/// Digits only; `from_str_radix` alone would take a sign.
fn hex(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(text)
}
