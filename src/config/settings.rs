//! The plain numbers of the document: how to ask, how to judge endpoints, how much to read.

use std::time::Duration;

use super::check::chains;
use super::field::{Fields, Result};
use super::{ConfigError, ProbeSettings};
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

pub(super) fn routing(mut fields: Fields<'_>) -> Result<Routing> {
    // 600: what a person does not yet notice, and more than a healthy endpoint needs.
    let mut timeout_ms = 600_u64;
    // 2: one failover; a third would cost more time than it saves failures.
    let mut providers = 2;
    let (mut second_opinion, mut allow_http) = (true, false);
    let prefer = chains(fields.items("preferNetworks")?)?;
    fields.set_whole("probeTimeoutMs", &mut timeout_ms)?;
    fields.set_whole("maxProvidersPerNetwork", &mut providers)?;
    fields.set_flag("secondOpinion", &mut second_opinion)?;
    fields.set_flag("allowHttp", &mut allow_http)?;
    let seed = fields.whole("seed")?;
    fields.finish()?;
    let problem = if !(1..=30_000).contains(&timeout_ms) {
        // Past 30 s every merchant has given up.
        Some(("probeTimeoutMs", "milliseconds from 1 to 30000"))
    } else if !(1..=2).contains(&providers) {
        Some(("maxProvidersPerNetwork", "1 or 2"))
    } else {
        None
    };
    in_range("routing", problem)?;
    let probe = ProbeSettings { timeout: Duration::from_millis(timeout_ms), providers, seed, second_opinion };
    Ok(Routing { prefer, probe, allow_http })
}

pub(super) fn health(mut fields: Fields<'_>) -> Result<HealthSettings> {
    let mut health = HealthSettings::default();
    if let Some(alpha) = fields.take("ewmaAlpha") {
        health.ewma_alpha = alpha.fraction()?;
    }
    fields.set_whole("failureWindow", &mut health.failure_window)?;
    fields.set_whole("consecutiveFailures", &mut health.consecutive_failures)?;
    fields.set_whole("failurePercent", &mut health.failure_percent)?;
    fields.set_whole("minimumSamples", &mut health.minimum_samples)?;
    fields.set_whole("openForMs", &mut health.open_for_ms)?;
    fields.set_whole("backoffMs", &mut health.backoff_ms)?;
    fields.set_whole("backoffLimitMs", &mut health.backoff_limit_ms)?;
    fields.set_whole("slowMs", &mut health.slow_ms)?;
    fields.set_whole("capacity", &mut health.capacity)?;
    fields.set_whole("idleRetentionMs", &mut health.idle_retention_ms)?;
    fields.finish()?;
    in_range("health", health.out_of_range())?;
    Ok(health)
}

pub(super) fn limits(mut fields: Fields<'_>) -> Result<Limits> {
    let mut limits = Limits::default();
    fields.set_whole("headerBytes", &mut limits.header_bytes)?;
    fields.set_whole("bodyBytes", &mut limits.body_bytes)?;
    fields.set_whole("jsonDepth", &mut limits.json_depth)?;
    fields.set_whole("requirements", &mut limits.requirements)?;
    fields.finish()?;
    in_range("limits", limits.out_of_range())?;
    Ok(limits)
}

fn in_range(section: &str, problem: Option<(&'static str, &'static str)>) -> Result<()> {
    match problem {
        Some((name, accepted)) => Err(ConfigError::new(&format!("{section}.{name}"), "is out of range", accepted)),
        None => Ok(()),
    }
}
