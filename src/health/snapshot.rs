//! Health as versioned JSON, to outlive a process or a page.
//!
//! Moments become ages, for the next process has another clock. Averages are written as whole
//! numbers, so that what is restored is written the same again. Endpoints are named by network,
//! host and hash; no URL is ever in a snapshot.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::circuit::{Breaker, Counts, Generation};
use super::entry::EndpointRecord;
use super::key::write_id;
use super::score::Averages;
use super::settings::{HealthSettings, PLAN_MEMORY, QUOTA_WAIT};
use super::view::{millis, until};
use super::{EndpointKey, OpenReason, ReadPlan};
use crate::chain::ChainId;
use crate::runtime::Instant;
use crate::util::json::{Json, SyntaxError};
use crate::util::text::{escaped, shown};

const VERSION: u64 = 1;
/// Bytes that are read whatever the capacity: one that shrank must not refuse its own past.
const MOST_UNASKED_BYTES: usize = 1 << 20;
/// The unit of the success average in a snapshot.
const BILLION: f64 = 1_000_000_000.0;

/// Why a text is not a snapshot that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not JSON.
    #[error("the snapshot is not JSON (line {line}, column {column})")]
    Unreadable {
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// JSON, and no snapshot.
    #[error("the snapshot is none; accepted is an object with a number `version` and a list `endpoints`")]
    Shape,
    /// Written by another version of payroute.
    #[error("the snapshot has version {0}; accepted is {VERSION}")]
    Version(u64),
    /// More than the index could hold.
    #[error("the snapshot is larger than the index")]
    TooLarge,
    /// An endpoint is not written as payroute writes one.
    #[error("endpoint {position} of the snapshot is not acceptable; the first fault is at `{field}`")]
    Endpoint {
        /// Which, from 0.
        position: usize,
        /// The first field that is missing, unknown, there twice or not acceptable, for example `opened.agoMs`;
        /// `id` also for an endpoint that is listed twice, `.` where there are no fields at all.
        field: String,
    },
}

/// Of any version, to tell which it is.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot<Endpoint> {
    version: u64,
    endpoints: Vec<Endpoint>,
}

/// What is remembered of one endpoint.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndpointSnapshot {
    network: ChainId,
    endpoint: String,
    #[serde(serialize_with = "write_id", deserialize_with = "read_id")]
    id: u128,
    /// The success average in billionths.
    success: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_us: Option<u64>,
    consecutive_failures: u32,
    samples: u32,
    /// The window as bits in hexadecimal, newest lowest.
    #[serde(serialize_with = "write_bits", deserialize_with = "read_bits")]
    failures: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<OpenedSnapshot>,
    idle_for_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    throttled_for_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusals: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backing_off_for_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanSnapshot>,
}

/// When and why the circuit opened.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenedSnapshot {
    ago_ms: u64,
    reason: OpenReason,
}

/// The read plan that works, and for how long that is remembered.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanSnapshot {
    name: ReadPlan,
    for_ms: u64,
}

/// A snapshot of `entries`, which come most recently used first.
pub(super) fn write<'a>(entries: impl Iterator<Item = (&'a EndpointKey, &'a EndpointRecord)>, now: Instant) -> String {
    let endpoints = entries.map(|(key, entry)| EndpointSnapshot::new(key, entry, now)).collect();
    // Names and numbers; nothing in it can fail to be written.
    serde_json::to_string(&Snapshot { version: VERSION, endpoints }).unwrap_or_default()
}

/// Reads a snapshot's entries, most recently used first, as many as the index holds. `keep` returns whether the
/// entry is the first of its key.
pub(super) fn read(
    text: &str,
    generation: Generation,
    now: Instant,
    settings: &HealthSettings,
    mut keep: impl FnMut(EndpointKey, EndpointRecord) -> bool,
) -> Result<(), SnapshotError> {
    // A record has about 300 bytes.
    if text.len() > settings.capacity.saturating_mul(1_024).max(MOST_UNASKED_BYTES) {
        return Err(SnapshotError::TooLarge);
    }
    let json = Json::parse(text).map_err(|SyntaxError { line, column }| SnapshotError::Unreadable { line, column })?;
    match serde_json::from_str(json.raw()) {
        Ok(Versioned { version: VERSION }) => {}
        Ok(Versioned { version }) => return Err(SnapshotError::Version(version)),
        Err(_) => return Err(SnapshotError::Shape),
    }
    let snapshot: Snapshot<&RawValue> = serde_json::from_str(json.raw()).map_err(|_| SnapshotError::Shape)?;
    for (position, json) in snapshot.endpoints.into_iter().take(settings.capacity).enumerate() {
        let endpoint = EndpointSnapshot::read(json.get());
        let kept = endpoint.and_then(|endpoint| {
            let (key, entry) = endpoint.restore(generation, now, settings);
            keep(key, entry).then_some(()).ok_or_else(|| "id".to_owned())
        });
        kept.map_err(|field| SnapshotError::Endpoint { position, field })?;
    }
    Ok(())
}

impl EndpointSnapshot {
    fn new(key: &EndpointKey, entry: &EndpointRecord, now: Instant) -> Self {
        let Counts { consecutive, failures, samples } = entry.breaker.counts();
        let opened = entry.breaker.opened();
        let plan = entry.plan.filter(|(_, expires)| now < *expires);
        Self {
            network: key.network().clone(),
            endpoint: key.host().to_string(),
            id: key.digest(),
            success: billionths(entry.averages.success()),
            latency_us: entry.averages.latency_us(),
            consecutive_failures: consecutive,
            samples,
            failures,
            opened: opened.map(|(since, reason)| OpenedSnapshot { ago_ms: now.millis_since(since), reason }),
            idle_for_ms: now.millis_since(entry.last_used),
            throttled_for_ms: until(entry.throttled_until, now),
            refusals: Some(entry.refusals).filter(|refusals| *refusals > 0),
            backing_off_for_ms: until(entry.backs_off_until, now),
            plan: plan.map(|(name, expires)| PlanSnapshot { name, for_ms: expires.millis_since(now) }),
        }
    }

    /// What [`new`](Self::new) made, or the first field that is not so.
    fn read(json: &str) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(json);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let (path, problem) = (error.path().to_string(), error.inner().to_string());
            // Of a field that is missing or there twice the path names only the object.
            let named = ["missing field `", "duplicate field `"].iter().find_map(|start| problem.strip_prefix(start));
            let named = named.and_then(|rest| rest.split_once('`'));
            match named {
                Some((name, _)) if path == "." => name.to_owned(),
                Some((name, _)) if !path.ends_with(name) => format!("{path}.{name}"),
                _ => shown(&path),
            }
        })
    }

    fn restore(self, generation: Generation, now: Instant, settings: &HealthSettings) -> (EndpointKey, EndpointRecord) {
        // Nothing that is ahead is further than this index itself would have put it.
        let ahead = |ms: Option<u64>, most_ms: u64| ms.filter(|ms| *ms > 0).map(|ms| now.after_millis(ms.min(most_ms)));
        let counts = Counts { consecutive: self.consecutive_failures, failures: self.failures, samples: self.samples };
        let opened = self.opened.map(|opened| (now.before_millis(opened.ago_ms), opened.reason));
        let plan = self.plan.and_then(|plan| Some((plan.name, ahead(Some(plan.for_ms), millis(PLAN_MEMORY))?)));
        let entry = EndpointRecord {
            last_used: now.before_millis(self.idle_for_ms),
            averages: Averages::restored(f64::from(self.success) / BILLION, self.latency_us),
            breaker: Breaker::restored(generation, counts, opened, settings),
            throttled_until: ahead(self.throttled_for_ms, millis(QUOTA_WAIT)),
            refusals: self.refusals.unwrap_or(0),
            backs_off_until: ahead(self.backing_off_for_ms, settings.backoff_limit_ms),
            plan,
            ..EndpointRecord::new(generation, now)
        };
        // As long as it is, or it would be written otherwise again; the snapshot itself has a bound.
        (EndpointKey::new(self.network, self.id, escaped(&self.endpoint, usize::MAX)), entry)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average is from 0 to 1")]
fn billionths(average: f64) -> u32 {
    (average * BILLION + 0.5) as u32
}

fn read_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let digits = hex_digits(deserializer)?;
    let id = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32);
    id.ok_or_else(|| D::Error::custom("accepted are 32 hexadecimal digits"))
}

fn write_bits<S: Serializer>(bits: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{bits:x}"))
}

fn read_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::from_str_radix(&hex_digits(deserializer)?, 16).map_err(D::Error::custom)
}

/// Digits only; `from_str_radix` alone would take a sign.
fn hex_digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let digits = String::deserialize(deserializer)?;
    match digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(digits),
        false => Err(D::Error::custom("accepted are hexadecimal digits")),
    }
}
