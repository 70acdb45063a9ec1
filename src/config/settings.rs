//! The sections of numbers and flags: `routing`, `health` and `limits`.

use std::time::Duration;

use super::ProbeSettings;
use super::check::chains;
use super::field::Field;
use super::node::Node;
use crate::chain::ChainId;
use crate::config_error::OUT_OF_RANGE;
use crate::health::{ALPHA, CAPACITY, COUNT, HealthSettings, PERCENT, TIME, WINDOW};
use crate::payment::Limits;

/// The `routing` object.
pub(super) struct Routing {
    pub(super) prefer: Vec<ChainId>,
    pub(super) probe: ProbeSettings,
    /// Default `false`: everyone on the way can read a key or a balance in clear text.
    pub(super) allow_http: bool,
}

pub(super) fn routing(field: Option<&Field<'_>>) -> Routing {
    let probe = ProbeSettings {
        // 600 ms: people do not notice it yet, and a healthy endpoint needs less.
        timeout: Duration::from_millis(600),
        // 2: one failover. A third endpoint would cost more time than the failures that it prevents.
        max_endpoints: 2,
        seed: None,
        second_opinion: true,
    };
    let mut routing = Routing { prefer: Vec::new(), probe, allow_http: false };
    let Some(field) = field else { return routing };
    let probe = &mut routing.probe;
    let fields = field.fields();
    routing.prefer = chains(&fields.items("preferNetworks"));
    if let Some(timeout) = fields.get("probeTimeoutMs") {
        // No merchant waits longer than 30 s.
        probe.timeout = Duration::from_millis(timeout.whole(1..=30_000));
    }
    fields.set_whole("maxEndpointsPerNetwork", 1..=2, &mut probe.max_endpoints);
    fields.set_flag("secondOpinion", &mut probe.second_opinion);
    fields.set_flag("allowHttp", &mut routing.allow_http);
    probe.seed = fields.whole("seed", 0..=u64::MAX);
    fields.finish();
    routing
}

pub(super) fn health(field: Option<&Field<'_>>) -> HealthSettings {
    let mut health = HealthSettings::default();
    let Some(field) = field else { return health };
    let fields = field.fields();
    if let Some(alpha) = fields.get("ewmaAlpha") {
        health.ewma_alpha = alpha.fraction(ALPHA);
    }
    fields.set_whole("failureWindow", WINDOW, &mut health.failure_window);
    fields.set_whole("consecutiveFailures", COUNT, &mut health.consecutive_failures);
    fields.set_whole("failurePercent", PERCENT, &mut health.failure_percent);
    fields.set_whole("minimumSamples", WINDOW, &mut health.minimum_samples);
    fields.set_whole("openForMs", TIME, &mut health.open_for_ms);
    fields.set_whole("backoffMs", 0..=u64::MAX, &mut health.backoff_ms);
    fields.set_whole("backoffLimitMs", 0..=u64::MAX, &mut health.backoff_limit_ms);
    fields.set_whole("slowMs", TIME, &mut health.slow_ms);
    fields.set_whole("capacity", CAPACITY, &mut health.capacity);
    fields.set_whole("idleRetentionMs", TIME, &mut health.idle_retention_ms);
    fields.finish();
    if let Some((name, accepted)) = health.contradiction() {
        field.refuse_at(name, OUT_OF_RANGE, accepted);
    }
    health
}

/// The `health` object that is read to `health`.
pub(super) fn health_node(health: &HealthSettings) -> Node {
    let HealthSettings {
        ewma_alpha,
        failure_window,
        consecutive_failures,
        failure_percent,
        minimum_samples,
        open_for_ms,
        backoff_ms,
        backoff_limit_ms,
        slow_ms,
        capacity,
        idle_retention_ms,
    } = *health;
    object([
        ("ewmaAlpha", ewma_alpha.into()),
        ("failureWindow", u64::from(failure_window).into()),
        ("consecutiveFailures", u64::from(consecutive_failures).into()),
        ("failurePercent", u64::from(failure_percent).into()),
        ("minimumSamples", u64::from(minimum_samples).into()),
        ("openForMs", open_for_ms.into()),
        ("backoffMs", backoff_ms.into()),
        ("backoffLimitMs", backoff_limit_ms.into()),
        ("slowMs", slow_ms.into()),
        ("capacity", capacity.into()),
        ("idleRetentionMs", idle_retention_ms.into()),
    ])
}

pub(super) fn limits(field: Option<&Field<'_>>) -> Limits {
    let mut limits = Limits::default();
    let Some(field) = field else { return limits };
    let fields = field.fields();
    let [header_bytes, body_bytes, json_depth, requirements] = Limits::RANGES;
    fields.set_whole("headerBytes", header_bytes, &mut limits.header_bytes);
    fields.set_whole("bodyBytes", body_bytes, &mut limits.body_bytes);
    fields.set_whole("jsonDepth", json_depth, &mut limits.json_depth);
    fields.set_whole("requirements", requirements, &mut limits.requirements);
    fields.finish();
    limits
}

/// The `limits` object that is read to `limits`.
pub(super) fn limits_node(limits: &Limits) -> Node {
    let Limits { header_bytes, body_bytes, json_depth, requirements } = *limits;
    object([
        ("headerBytes", header_bytes.into()),
        ("bodyBytes", body_bytes.into()),
        ("jsonDepth", json_depth.into()),
        ("requirements", requirements.into()),
    ])
}

fn object<const N: usize>(fields: [(&str, Node); N]) -> Node {
    Node::Object(fields.map(|(name, node)| (name.to_owned(), node)).into())
}
