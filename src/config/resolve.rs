//! From the document to a checked configuration: names normalised, tables merged, ranges held.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::asset_policy::AssetPolicy;
use super::check::{self, Result, in_range, list_once, not_a_network, payable_chain};
use super::document::{Document, RoutingDocument};
use super::draft::{Draft, builtin_networks};
use super::error::safe_path;
use super::{Config, ConfigError, Policy, ProbeSettings};
use crate::amount::Amount;
use crate::network::{ChainId, Family};

/// Milliseconds that one provider may be given: past 30 s every merchant has given up.
const PROBE_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 1..=30_000;

pub(super) fn config(document: Document) -> Result<Config> {
    let owners = owners(&document.owners)?;
    let fees = fees(&document.fees)?;
    let mut networks = builtin_networks();
    for (name, network) in &document.networks {
        let path = format!("networks.{name}");
        let chain = payable_chain(&path, name)?;
        let mut draft = match networks.iter().position(|draft| draft.chain == chain) {
            Some(position) => networks.swap_remove(position),
            None => Draft::unknown(chain),
        };
        if std::mem::replace(&mut draft.configured, true) {
            return Err(ConfigError::new(
                safe_path(&path),
                "names a network that is already configured",
                "each network once",
            ));
        }
        draft.apply(&path, network, &document.routing)?;
        networks.push(draft);
    }
    let assets = AssetPolicy::read(&document, networks.iter().flat_map(|network| &network.assets))?;
    let mut finished = BTreeMap::new();
    for draft in networks {
        finished.insert(draft.chain.clone(), Arc::new(draft.finish(&owners, &fees, &assets)?));
    }
    Ok(Config {
        networks: finished,
        policy: Policy { allowed_networks: chains("policy.allowedNetworks", &document.policy.allowed_networks)? },
        prefer: chains("routing.preferNetworks", &document.routing.prefer_networks)?,
        probe: probe_settings(&document.routing)?,
        health: in_range("health", document.health.out_of_range()).map(|()| document.health)?,
        limits: in_range("limits", document.limits.out_of_range()).map(|()| document.limits)?,
    })
}

fn owners(entries: &[(String, String)]) -> Result<Vec<(String, Arc<str>)>> {
    let mut owners = Vec::new();
    for (name, address) in entries {
        let path = safe_path(&format!("owners.{name}"));
        let (key, family) = match name.as_str() {
            "eip155" => (name.clone(), Family::Evm),
            "solana" => (name.clone(), Family::Svm),
            _ => {
                let chain = payable_chain(&path, name)?;
                (chain.as_str().to_owned(), chain.family())
            }
        };
        let address = check::address(&path, family, address)?;
        if !list_once(&mut owners, key, address) {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
    }
    Ok(owners)
}

fn fees(entries: &[(String, String)]) -> Result<Vec<(ChainId, Amount)>> {
    let mut fees = Vec::new();
    for (name, text) in entries {
        let path = safe_path(&format!("fees.{name}"));
        let chain = payable_chain(&path, name)?;
        let fee = Amount::from_str(text).map_err(|error| {
            ConfigError::new(path.clone(), error.to_string(), "atomic units in digits, for example \"1000\"")
        })?;
        if !list_once(&mut fees, chain, fee) {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
    }
    Ok(fees)
}

fn chains(path: &str, names: &[String]) -> Result<Vec<ChainId>> {
    let mut chains = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let chain = ChainId::resolve(name).map_err(|_| not_a_network(&path))?;
        if chains.contains(&chain) {
            return Err(ConfigError::new(path, "names a network that is already listed", "each network once"));
        }
        chains.push(chain);
    }
    Ok(chains)
}

fn probe_settings(routing: &RoutingDocument) -> Result<ProbeSettings> {
    let (timeout, providers) = (routing.probe_timeout_ms, routing.max_providers_per_network);
    let problem = [
        (PROBE_TIMEOUT_MS.contains(&timeout), "probeTimeoutMs", "milliseconds from 1 to 30000"),
        ((1..=2).contains(&providers), "maxProvidersPerNetwork", "1 or 2"),
    ];
    let problem = problem.into_iter().find_map(|(holds, name, accepted)| (!holds).then_some((name, accepted)));
    in_range("routing", problem)?;
    Ok(ProbeSettings {
        timeout: Duration::from_millis(timeout),
        providers,
        seed: routing.seed,
        second_opinion: routing.second_opinion,
    })
}
