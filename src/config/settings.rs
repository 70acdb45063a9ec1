//! The plain numbers of the document: how to ask, how to judge endpoints, how much to read.

use std::time::Duration;

use super::ProbeSettings;
use super::check::chains;
use super::field::Field;
use crate::health::HealthSettings;
use crate::network::ChainId;
use crate::payment::Limits;

/// The `routing` object.
pub(super) struct Routing {
    pub(super) prefer: Vec<ChainId>,
    pub(super) probe: ProbeSettings,
    /// `false`: a key or a balance in clear text is for anyone on the way to read.
    pub(super) allow_http: bool,
}

pub(super) fn routing(field: Option<&Field<'_>>) -> Routing {
    let probe = ProbeSettings {
        // 600: what a person does not yet notice, and more than a healthy endpoint needs.
        timeout: Duration::from_millis(600),
        // 2: one failover; a third would cost more time than it saves failures.
        providers: 2,
        seed: None,
        second_opinion: true,
    };
    let mut routing = Routing { prefer: Vec::new(), probe, allow_http: false };
    let Some(field) = field else { return routing };
    let probe = &mut routing.probe;
    let fields = field.fields();
    routing.prefer = chains(&fields.items("preferNetworks"));
    if let Some(timeout) = fields.get("probeTimeoutMs") {
        probe.timeout = Duration::from_millis(timeout.whole(u64::MAX));
    }
    fields.set_whole("maxProvidersPerNetwork", &mut probe.providers);
    fields.set_flag("secondOpinion", &mut probe.second_opinion);
    fields.set_flag("allowHttp", &mut routing.allow_http);
    probe.seed = fields.whole("seed", u64::MAX);
    fields.finish();
    // Past 30 s every merchant has given up.
    if !(Duration::from_millis(1)..=Duration::from_secs(30)).contains(&probe.timeout) {
        field.refuse_number("probeTimeoutMs", "milliseconds from 1 to 30000");
    }
    if !(1..=2).contains(&probe.providers) {
        field.refuse_number("maxProvidersPerNetwork", "1 or 2");
    }
    routing
}

pub(super) fn health(field: Option<&Field<'_>>) -> HealthSettings {
    let mut health = HealthSettings::default();
    let Some(field) = field else { return health };
    let fields = field.fields();
    if let Some(alpha) = fields.get("ewmaAlpha") {
        health.ewma_alpha = alpha.fraction();
    }
    fields.set_whole("failureWindow", &mut health.failure_window);
    fields.set_whole("consecutiveFailures", &mut health.consecutive_failures);
    fields.set_whole("failurePercent", &mut health.failure_percent);
    fields.set_whole("minimumSamples", &mut health.minimum_samples);
    fields.set_whole("openForMs", &mut health.open_for_ms);
    fields.set_whole("backoffMs", &mut health.backoff_ms);
    fields.set_whole("backoffLimitMs", &mut health.backoff_limit_ms);
    fields.set_whole("slowMs", &mut health.slow_ms);
    fields.set_whole("capacity", &mut health.capacity);
    fields.set_whole("idleRetentionMs", &mut health.idle_retention_ms);
    fields.finish();
    if let Some((name, accepted)) = health.out_of_range() {
        field.refuse_number(name, accepted);
    }
    health
}

pub(super) fn limits(field: Option<&Field<'_>>) -> Limits {
    let mut limits = Limits::default();
    let Some(field) = field else { return limits };
    let fields = field.fields();
    fields.set_whole("headerBytes", &mut limits.header_bytes);
    fields.set_whole("bodyBytes", &mut limits.body_bytes);
    fields.set_whole("jsonDepth", &mut limits.json_depth);
    fields.set_whole("requirements", &mut limits.requirements);
    fields.finish();
    if let Some((name, accepted)) = limits.out_of_range() {
        field.refuse_number(name, accepted);
    }
    limits
}
