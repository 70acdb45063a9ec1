//! Health as versioned JSON, to outlive a process or a page.
//!
//! Moments become ages, for the next process has another clock. Averages are written as whole
//! numbers, so that what is restored is written the same again. Endpoints are named by network,
//! host and hash; no URL is ever in a snapshot.

use std::cell::Cell;

use super::circuit::{Breaker, Counts, Generation};
use super::entry::EndpointRecord;
use super::score::Averages;
use super::settings::{HealthSettings, PLAN_MEMORY, QUOTA_WAIT};
use super::view::{millis, until};
use super::{EndpointKey, OpenReason};
use crate::chain::ChainId;
use crate::json::{Record, Value};
use crate::runtime::Instant;
use crate::util::json::{Json, Members, SyntaxError};
use crate::util::text::escaped;

const VERSION: u64 = 1;
/// Bytes that are read whatever the capacity: one that shrank must not refuse its own past.
const MOST_UNASKED_BYTES: usize = 1 << 20;
/// The unit of the success average in a snapshot.
const BILLION: f64 = 1_000_000_000.0;

/// All that an endpoint's record may have.
const FIELDS: [&str; 14] = [
    "network",
    "endpoint",
    "id",
    "success",
    "latencyUs",
    "consecutiveFailures",
    "samples",
    "failures",
    "opened",
    "idleForMs",
    "throttledForMs",
    "refusals",
    "backingOffForMs",
    "plan",
];

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
        /// The first field that is missing or not acceptable: `id` also for an endpoint that is listed twice,
        /// `another` for one that no endpoint has, that is there twice, or where there are no fields at all.
        field: &'static str,
    },
}

/// A snapshot of `entries`, which come most recently used first.
pub(super) fn write<'a>(entries: impl Iterator<Item = (&'a EndpointKey, &'a EndpointRecord)>, now: Instant) -> String {
    let mut snapshot = Record::default();
    snapshot.whole("version", VERSION);
    let endpoints = entries.map(|(key, entry)| Value::Record(record(key, entry, now))).collect();
    snapshot.put("endpoints", Value::List(endpoints));
    snapshot.to_json()
}

/// What is remembered of one endpoint. [`restore`] reads it.
fn record(key: &EndpointKey, entry: &EndpointRecord, now: Instant) -> Record {
    let mut record = key.record();
    let Counts { consecutive, failures, samples } = entry.breaker.counts();
    record.whole("success", u64::from(billionths(entry.averages.success())));
    record.known_whole("latencyUs", entry.averages.latency_us());
    record.whole("consecutiveFailures", u64::from(consecutive));
    record.whole("samples", u64::from(samples));
    // The window as bits, newest lowest.
    record.text("failures", &format!("{failures:x}"));
    if let Some((since, reason)) = entry.breaker.opened() {
        let mut opened = Record::default();
        opened.whole("agoMs", now.millis_since(since));
        opened.text("reason", reason.name());
        record.put("opened", Value::Record(opened));
    }
    record.whole("idleForMs", now.millis_since(entry.last_used));
    record.known_whole("throttledForMs", until(entry.not_before, now));
    record.known_whole("refusals", Some(u64::from(entry.refusals)).filter(|refusals| *refusals > 0));
    record.known_whole("backingOffForMs", until(entry.backs_off_until, now));
    if let Some((number, expires)) = entry.plan.filter(|(_, expires)| now < *expires) {
        let mut plan = Record::default();
        plan.whole("number", u64::from(number));
        plan.whole("forMs", expires.millis_since(now));
        record.put("plan", Value::Record(plan));
    }
    record
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average is from 0 to 1")]
fn billionths(average: f64) -> u32 {
    (average * BILLION + 0.5) as u32
}

/// Reads a snapshot's entries, most recently used first, as many as the index holds. `keep` tells whether the
/// entry is the first of its key.
pub(super) fn read(
    text: &str,
    generation: Generation,
    now: Instant,
    settings: &HealthSettings,
    keep: &mut dyn FnMut(EndpointKey, EndpointRecord) -> bool,
) -> Result<(), SnapshotError> {
    // A record has about 300 bytes.
    if text.len() > settings.capacity.saturating_mul(1_024).max(MOST_UNASKED_BYTES) {
        return Err(SnapshotError::TooLarge);
    }
    let json = Json::parse(text).map_err(|SyntaxError { line, column }| SnapshotError::Unreadable { line, column })?;
    let misfit = Cell::new("");
    let snapshot = Fields::new(json, &["version", "endpoints"], &misfit);
    match snapshot.known("version").and_then(Json::whole) {
        Some(VERSION) => {}
        Some(other) => return Err(SnapshotError::Version(other)),
        None => return Err(SnapshotError::Shape),
    }
    let endpoints = snapshot.known("endpoints").and_then(Json::items).filter(|_| misfit.get().is_empty());
    let endpoints = endpoints.ok_or(SnapshotError::Shape)?;
    for (position, json) in endpoints.into_iter().take(settings.capacity).enumerate() {
        let kept = restore(json, generation, now, settings)
            .and_then(|(key, entry)| keep(key, entry).then_some(()).ok_or("id"));
        kept.map_err(|field| SnapshotError::Endpoint { position, field })?;
    }
    Ok(())
}

/// What [`record`] wrote, or the first field that is not so.
fn restore(
    json: Json<'_>,
    generation: Generation,
    now: Instant,
    settings: &HealthSettings,
) -> Result<(EndpointKey, EndpointRecord), &'static str> {
    let misfit = Cell::new("");
    let record = Fields::new(json, &FIELDS, &misfit);
    // Nothing that is ahead is further than this index itself would have put it.
    let ahead = |ms: Option<u64>, most_ms: u64| ms.filter(|ms| *ms > 0).map(|ms| now.after_millis(ms.min(most_ms)));
    let counts = Counts {
        consecutive: record.short("consecutiveFailures"),
        failures: u64::try_from(record.hex("failures")).unwrap_or_else(|_| record.refuse("failures")),
        samples: record.short("samples"),
    };
    let opened = record.part("opened", &["agoMs", "reason"]).and_then(|opened| {
        let (since, reason) = (now.before_millis(opened.whole("agoMs")), opened.text("reason"));
        let reason = OpenReason::ALL.into_iter().find(|known| known.name() == reason);
        reason.map(|reason| (since, reason)).or_else(|| opened.refuse("reason"))
    });
    let plan = record.part("plan", &["number", "forMs"]).and_then(|plan| {
        let number = u8::try_from(plan.whole("number")).unwrap_or_else(|_| plan.refuse("number"));
        Some((number, ahead(Some(plan.whole("forMs")), millis(PLAN_MEMORY))?))
    });
    let entry = EndpointRecord {
        last_used: now.before_millis(record.whole("idleForMs")),
        averages: Averages::restored(f64::from(record.short("success")) / BILLION, record.known_whole("latencyUs")),
        breaker: Breaker::restored(generation, counts, opened, settings),
        not_before: ahead(record.known_whole("throttledForMs"), millis(QUOTA_WAIT)),
        refusals: record.known("refusals").map_or(0, |_| record.short("refusals")),
        backs_off_until: ahead(record.known_whole("backingOffForMs"), settings.backoff_limit_ms),
        plan,
        ..EndpointRecord::new(generation, now)
    };
    if record.text("id").len() != 32 {
        record.refuse::<()>("id");
    }
    let network = ChainId::known(&record.text("network"));
    if network.is_none() {
        record.refuse::<()>("network");
    }
    // As long as it is, or it would be written otherwise again; the snapshot itself has a bound.
    let key = |network| EndpointKey::new(network, record.hex("id"), escaped(&record.text("endpoint"), usize::MAX));
    match (network.map(key), misfit.get()) {
        (Some(key), "") => Ok((key, entry)),
        (_, field) => Err(field),
    }
}

/// An object of known fields alone, each once. What is not as it was written makes a misfit of the whole,
/// which is looked at once, when all is read.
struct Fields<'a> {
    members: Members<'a>,
    misfit: &'a Cell<&'static str>,
}

impl<'a> Fields<'a> {
    fn new(json: Json<'a>, names: &[&str], misfit: &'a Cell<&'static str>) -> Self {
        let members = json.object();
        let is_known = members.as_ref().is_ok_and(|Members(all)| all.iter().all(|(name, _)| names.contains(&&**name)));
        let fields = Self { members: members.unwrap_or(Members(Vec::new())), misfit };
        if !is_known {
            fields.refuse::<()>("another");
        }
        fields
    }

    /// Names the first misfit; the value in its place is never used.
    fn refuse<T: Default>(&self, field: &'static str) -> T {
        if self.misfit.get().is_empty() {
            self.misfit.set(field);
        }
        T::default()
    }

    fn known(&self, name: &str) -> Option<Json<'a>> {
        self.members.get(name)
    }

    fn text(&self, name: &'static str) -> String {
        self.known(name).and_then(Json::text).unwrap_or_else(|| self.refuse(name))
    }

    fn whole(&self, name: &'static str) -> u64 {
        self.known(name).and_then(Json::whole).unwrap_or_else(|| self.refuse(name))
    }

    fn known_whole(&self, name: &'static str) -> Option<u64> {
        self.known(name).map(|_| self.whole(name))
    }

    fn short(&self, name: &'static str) -> u32 {
        u32::try_from(self.whole(name)).unwrap_or_else(|_| self.refuse(name))
    }

    /// Digits only; `from_str_radix` alone would take a sign.
    fn hex(&self, name: &'static str) -> u128 {
        let digits = self.text(name);
        let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u128::from_str_radix(&digits, 16).ok()).unwrap_or_else(|| self.refuse(name))
    }

    fn part(&self, name: &str, names: &[&str]) -> Option<Self> {
        self.known(name).map(|json| Self::new(json, names, self.misfit))
    }
}
