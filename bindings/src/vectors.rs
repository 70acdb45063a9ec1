//! Replays a health vector: reports at given moments, and what the index says after each. Shared by
//! the Rust and the TypeScript runners, so that both mean the same by a step.

use std::time::Duration;

use payroute::__private::Instant;
use payroute::{ChainId, EndpointKey, HealthIndex, HealthSettings, Outcome};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    settings: HealthSettings,
    steps: Vec<Step>,
}

/// One moment of the vector's clock, in milliseconds, and what happens then.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Step {
    at: u64,
    does: Deed,
    #[serde(default)]
    latency_ms: u64,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    Look,
    Reset,
    Succeed,
    Fault,
    SoftFault,
    Throttle,
    WrongChain,
    Neutral,
}

/// `circuit score` after every step of the vector's `input`.
pub(crate) fn replay_health(input: &str) -> Result<Vec<String>, String> {
    let input: Input = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let network = ChainId::resolve("eip155:8453").map_err(|error| error.to_string())?;
    let index = HealthIndex::new(input.settings).map_err(|error| error.to_string())?;
    let key = EndpointKey::new(network, 1, "rpc.example");
    Ok(input.steps.iter().map(|step| take(step, &index, &key)).collect())
}

fn take(step: &Step, index: &HealthIndex, key: &EndpointKey) -> String {
    let now = Instant::from_millis(step.at);
    let outcome = match step.does {
        Deed::Look => None,
        Deed::Reset => {
            index.reset();
            None
        }
        Deed::Succeed => {
            Some(Outcome::Success { latency: Duration::from_millis(step.latency_ms), chain_time_ms: None })
        }
        Deed::Fault => Some(Outcome::Fault),
        Deed::SoftFault => Some(Outcome::SoftFault),
        Deed::Throttle => Some(Outcome::Throttled { retry_after: step.retry_after_ms.map(Duration::from_millis) }),
        Deed::WrongChain => Some(Outcome::WrongChain),
        Deed::Neutral => Some(Outcome::Neutral),
    };
    if let Some(outcome) = outcome {
        index.admit(key, Duration::from_secs(1), now).settle(outcome, now);
    }
    let health = index.inspect(key, now);
    let marks = [(health.throttled, " throttled"), (health.backing_off, " backing-off")];
    let marks: String = marks.into_iter().filter_map(|(holds, mark)| holds.then_some(mark)).collect();
    format!("{} {}{marks}", health.circuit, health.score)
}
