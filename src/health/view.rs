//! Health for people and dashboards: one plain record an endpoint.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::entry::EndpointRecord;
use super::freshness::Tips;
use super::score::Score;
use super::settings::HealthSettings;
use super::{Circuit, EndpointKey, OpenReason, ReadPlan};
use crate::chain::ChainId;
use crate::runtime::Instant;
use crate::util::latency_ms;

/// One endpoint's health. Holds nothing of a URL but its host, and the [id](EndpointKey::id).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EndpointHealth {
    /// The network as CAIP-2 id.
    pub network: ChainId,
    /// Host, and port if it is not the scheme's own; a provider's label.
    pub endpoint: Arc<str>,
    /// Tells endpoints of one host apart: the id of their [`EndpointKey`].
    pub id: String,
    /// The state of its circuit.
    pub circuit: Circuit,
    /// Why the circuit last opened, while it is not closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_for: Option<OpenReason>,
    /// Milliseconds until a trial is allowed, while the circuit is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_open_in_ms: Option<u64>,
    /// The score.
    pub score: Score,
    /// What it is made of.
    pub score_parts: ScoreParts,
    /// Average latency in microseconds, `latencyMs` in JSON; absent until measured.
    #[serde(rename = "latencyMs", serialize_with = "latency_ms::serialize", skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u64>,
    /// Average share of successes, 0 to 1.
    pub success_rate: Score,
    /// Milliseconds behind the network's reference; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_ms: Option<u64>,
    /// Milliseconds until it may be asked again after it asked for patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_for_ms: Option<u64>,
    /// Milliseconds that it is still passed over after a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_off_for_ms: Option<u64>,
    /// Taken out of use by hand.
    pub cordoned: bool,
    /// Milliseconds since it was last used.
    pub idle_for_ms: u64,
    /// The way of asking that is tried first because it answered where others were refused or failed. Forgotten
    /// after an hour, or a minute where one of the others failed; absent, the first is [`ReadPlan::Create`] on EVM
    /// networks and [`ReadPlan::Batch`] on Solana.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<ReadPlan>,
}

/// The parts of a score: `(success − latency − throttle − staleness) × multiplier`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoreParts {
    /// Average share of successes.
    pub success: Score,
    /// Taken off for slowness.
    pub latency: Score,
    /// Taken off while throttled.
    pub throttle: Score,
    /// Taken off for lag.
    pub staleness: Score,
    /// What an open or half-open circuit leaves of it.
    pub multiplier: Score,
}

impl EndpointHealth {
    pub(super) fn new(
        key: &EndpointKey,
        entry: &EndpointRecord,
        tips: &Tips,
        cordoned: bool,
        now: Instant,
        settings: &HealthSettings,
    ) -> Self {
        let lag_ms = entry.clock.and_then(|clock| tips.lag_ms(key.network(), clock, now));
        let parts = entry.parts(lag_ms, now, settings);
        let circuit = entry.breaker.state(now, settings);
        let opened = entry.breaker.opened();
        Self {
            network: key.network().clone(),
            endpoint: key.shared_host().clone(),
            id: key.id(),
            circuit,
            opened_for: opened.map(|(_, reason)| reason),
            half_open_in_ms: until(opened.map(|(since, _)| since.after_millis(settings.open_for_ms)), now),
            score: parts.score(),
            score_parts: ScoreParts {
                success: Score::round(parts.success),
                latency: Score::round(parts.latency),
                throttle: Score::round(parts.throttle),
                staleness: Score::round(parts.staleness),
                multiplier: Score::round(parts.multiplier),
            },
            latency_us: entry.averages.latency_us(),
            success_rate: Score::round(entry.averages.success()),
            lag_ms,
            throttled_for_ms: until(entry.throttled_until, now),
            backing_off_for_ms: until(entry.backs_off_until, now),
            cordoned,
            idle_for_ms: now.millis_since(entry.last_used),
            plan: entry.plan(now),
        }
    }
}

/// Milliseconds until a moment that lies ahead.
pub(super) fn until(moment: Option<Instant>, now: Instant) -> Option<u64> {
    moment.map(|moment| moment.millis_since(now)).filter(|ms| *ms > 0)
}

pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
