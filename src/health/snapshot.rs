//! Health as versioned JSON, to outlive a process or a page.
//!
//! Moments become ages, for the next process has another clock. Averages are written as whole
//! numbers, so that what is restored is written the same again. Endpoints are named by network,
//! host and hash; no URL is ever in a snapshot.

use std::time::Duration;

use super::circuit::{Breaker, Counts, Generation};
use super::entry::Entry;
use super::score::Averages;
use super::settings::HealthSettings;
use super::view::millis;
use super::{EndpointKey, Moment, Opening};
use crate::json::{Json, Members, Record, SyntaxError, Value};
use crate::network::ChainId;
use crate::text::escaped;

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
    /// Not JSON, or not a snapshot's.
    #[error("the snapshot is not readable (line {line}, column {column})")]
    Unreadable {
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// Written by another version of payroute.
    #[error("the snapshot has version {0}; accepted is {VERSION}")]
    Version(u64),
    /// More than the index could hold.
    #[error("the snapshot is larger than the index")]
    TooLarge,
    /// An endpoint is listed twice, or is not written as one is.
    #[error("endpoint {0} of the snapshot is not acceptable")]
    Endpoint(usize),
}

/// A snapshot of `entries`, which come most recently used first.
pub(super) fn write<'a>(entries: impl Iterator<Item = (&'a EndpointKey, &'a Entry)>, now: Moment) -> String {
    let mut snapshot = Record::default();
    snapshot.whole("version", VERSION);
    let endpoints = entries.map(|(key, entry)| Value::Record(record(key, entry, now))).collect();
    snapshot.put("endpoints", Value::List(endpoints));
    snapshot.to_json()
}

/// What is remembered of one endpoint. [`restore`] reads it.
fn record(key: &EndpointKey, entry: &Entry, now: Moment) -> Record {
    let mut record = Record::default();
    let until = |moment: Option<Moment>| moment.map(|moment| millis(moment.since(now))).filter(|ms| *ms > 0);
    let Counts { consecutive, failures, samples } = entry.breaker.counts();
    record.text("network", key.network().as_str());
    record.text("endpoint", key.host());
    record.text("id", &key.id());
    record.whole("success", u64::from(billionths(entry.averages.success())));
    record.known_whole("latencyUs", entry.averages.latency_us());
    record.whole("consecutiveFailures", u64::from(consecutive));
    record.whole("samples", u64::from(samples));
    // The window as bits, newest lowest.
    record.text("failures", &format!("{failures:x}"));
    if let Some((since, reason)) = entry.breaker.opened() {
        let mut opened = Record::default();
        opened.whole("agoMs", millis(now.since(since)));
        opened.text("reason", reason.name());
        record.put("opened", Value::Record(opened));
    }
    record.whole("idleForMs", millis(now.since(entry.last_used)));
    record.known_whole("throttledForMs", until(entry.not_before));
    record.known_whole("refusals", Some(u64::from(entry.refusals)).filter(|refusals| *refusals > 0));
    record.known_whole("backingOffForMs", until(entry.backs_off_until));
    if let Some((number, expires)) = entry.plan.filter(|(_, expires)| now < *expires) {
        let mut plan = Record::default();
        plan.whole("number", u64::from(number));
        plan.whole("forMs", millis(expires.since(now)));
        record.put("plan", Value::Record(plan));
    }
    record
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
    // A record has about 300 bytes.
    if text.len() > settings.capacity.saturating_mul(1_024).max(MOST_UNASKED_BYTES) {
        return Err(SnapshotError::TooLarge);
    }
    let json = Json::parse(text).map_err(|SyntaxError { line, column }| SnapshotError::Unreadable { line, column })?;
    let shape = SnapshotError::Unreadable { line: 1, column: 1 };
    let snapshot = json.object().map_err(|_| shape.clone())?;
    match snapshot.get("version").and_then(Json::whole) {
        Some(VERSION) => {}
        Some(other) => return Err(SnapshotError::Version(other)),
        None => return Err(shape),
    }
    let endpoints = of_fields(json, &["version", "endpoints"]).and_then(|fields| fields.get("endpoints")?.items());
    let mut entries: Vec<(EndpointKey, Entry)> = Vec::new();
    for (position, json) in endpoints.ok_or(shape)?.into_iter().take(settings.capacity).enumerate() {
        entries.push(restore(json, generation, now, settings).ok_or(SnapshotError::Endpoint(position))?);
    }
    match listed_twice(&entries) {
        Some(position) => Err(SnapshotError::Endpoint(position)),
        None => Ok(entries),
    }
}

fn listed_twice(entries: &[(EndpointKey, Entry)]) -> Option<usize> {
    let mut keys: Vec<(u128, &str, usize)> = Vec::new();
    keys.extend(entries.iter().zip(0..).map(|((key, _), position)| (key.digest(), key.network().as_str(), position)));
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [(id, network, _), (other_id, other_network, position)] => {
            ((id, network) == (other_id, other_network)).then_some(*position)
        }
        _ => None,
    })
}

/// What [`record`] wrote.
fn restore(
    json: Json<'_>,
    generation: Generation,
    now: Moment,
    settings: &HealthSettings,
) -> Option<(EndpointKey, Entry)> {
    let record = of_fields(json, &FIELDS)?;
    let text = |name| record.get(name)?.text();
    let whole = |name| record.get(name)?.whole();
    let optional = |name| match record.get(name) {
        Some(value) => value.whole().map(Some),
        None => Some(None),
    };
    let short = |number: Option<u64>| u32::try_from(number?).ok();
    let ago = |ms: u64| now.before(Duration::from_millis(ms));
    let ahead = |ms: Option<u64>| ms.filter(|ms| *ms > 0).map(|ms| now.after(Duration::from_millis(ms)));
    let digest = text("id").filter(|id| id.len() == 32).and_then(|id| u128::from_str_radix(hex(&id)?, 16).ok())?;
    let counts = Counts {
        consecutive: short(whole("consecutiveFailures"))?,
        failures: u64::from_str_radix(hex(&text("failures")?)?, 16).ok()?,
        samples: short(whole("samples"))?,
    };
    let opened = match record.get("opened") {
        Some(opened) => {
            let opened = of_fields(opened, &["agoMs", "reason"])?;
            let reason = opened.get("reason")?.text()?;
            let reason = Opening::ALL.into_iter().find(|known| known.name() == reason)?;
            Some((ago(opened.get("agoMs")?.whole()?), reason))
        }
        None => None,
    };
    let plan = match record.get("plan") {
        Some(plan) => {
            let plan = of_fields(plan, &["number", "forMs"])?;
            let number = u8::try_from(plan.get("number")?.whole()?).ok()?;
            ahead(plan.get("forMs")?.whole()).map(|expires| (number, expires))
        }
        None => None,
    };
    let network = ChainId::known(&text("network")?)?;
    // As long as it is, or it would be written otherwise again; the snapshot itself has a bound.
    let key = EndpointKey::new(network, digest, escaped(&text("endpoint")?, usize::MAX));
    let entry = Entry {
        last_used: ago(whole("idleForMs")?),
        averages: Averages::restored(f64::from(short(whole("success"))?) / BILLION, optional("latencyUs")?),
        breaker: Breaker::restored(generation, counts, opened, settings),
        not_before: ahead(optional("throttledForMs")?),
        refusals: u32::try_from(optional("refusals")?.unwrap_or(0)).ok()?,
        backs_off_until: ahead(optional("backingOffForMs")?),
        plan,
        ..Entry::new(generation, now)
    };
    Some((key, entry))
}

/// Digits only; `from_str_radix` alone would take a sign.
fn hex(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(text)
}

/// An object of these fields alone, each once.
fn of_fields<'a>(json: Json<'a>, known: &[&str]) -> Option<Members<'a>> {
    let members = json.object().ok()?;
    members.0.iter().all(|(name, _)| known.contains(&name.as_str())).then_some(members)
}
