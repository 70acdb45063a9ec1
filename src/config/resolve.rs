//! From the document to a checked configuration: names normalised, tables merged, ranges held.

use std::str::FromStr;
use std::sync::Arc;

use super::asset_policy::AssetPolicy;
use super::check::{self, chains, list_once, payable_chain};
use super::draft::{Draft, builtin_networks};
use super::field::{Field, Result};
use super::settings::{self, Routing};
use super::{Config, Policy};
use crate::amount::Amount;
use crate::network::{ChainId, Family};
use crate::order::sorted_by_key;

type Entries<'a> = Vec<(String, Field<'a>)>;

pub(super) fn config(text: &str) -> Result<Config> {
    let mut document = Field::document(text)?.fields()?;
    let owners = owners(document.entries("owners")?)?;
    let networks = document.entries("networks")?;
    let Routing { prefer, probe, allow_http } = settings::routing(document.object("routing")?)?;
    let mut policy = document.object("policy")?;
    let fees = fees(document.entries("fees")?)?;
    let health = settings::health(document.object("health")?)?;
    let limits = settings::limits(document.object("limits")?)?;
    document.finish()?;
    let drafts = drafts(networks, allow_http)?;
    let assets = AssetPolicy::read(&mut policy, drafts.iter().flat_map(|network| &network.assets))?;
    let allowed_networks = chains(policy.items("allowedNetworks")?)?;
    policy.finish()?;
    let mut networks = Vec::new();
    for draft in sorted_by_key(drafts, |draft| draft.chain.clone()) {
        networks.push(Arc::new(draft.finish(&owners, &fees, &assets)?));
    }
    Ok(Config { networks, policy: Policy { allowed_networks }, prefer, probe, health, limits })
}

/// The built-in networks with what the document says of them, and its own.
fn drafts(entries: Entries<'_>, allow_http: bool) -> Result<Vec<Draft>> {
    let mut drafts = builtin_networks();
    for (name, field) in entries {
        let chain = payable_chain(&field, &name)?;
        let mut draft = match drafts.iter().position(|draft| draft.chain == chain) {
            Some(position) => drafts.swap_remove(position),
            None => Draft::unknown(chain),
        };
        if std::mem::replace(&mut draft.configured, true) {
            return Err(field.refused("names a network that is already configured", "each network once"));
        }
        draft.apply(&field, allow_http)?;
        drafts.push(draft);
    }
    Ok(drafts)
}

fn owners(entries: Entries<'_>) -> Result<Vec<(String, Arc<str>)>> {
    let mut owners = Vec::new();
    for (name, field) in entries {
        let (key, family) = match name.as_str() {
            "eip155" => (name, Family::Evm),
            "solana" => (name, Family::Svm),
            _ => {
                let chain = payable_chain(&field, &name)?;
                (chain.as_str().to_owned(), chain.family())
            }
        };
        let address = check::address(&field, family)?;
        if !list_once(&mut owners, key, address) {
            return Err(check::listed_already(&field));
        }
    }
    Ok(owners)
}

fn fees(entries: Entries<'_>) -> Result<Vec<(ChainId, Amount)>> {
    let mut fees = Vec::new();
    for (name, field) in entries {
        let chain = payable_chain(&field, &name)?;
        let fee = Amount::from_str(&field.text()?)
            .map_err(|error| field.refused(&error.to_string(), "atomic units in digits, for example \"1000\""))?;
        if !list_once(&mut fees, chain, fee) {
            return Err(check::listed_already(&field));
        }
    }
    Ok(fees)
}
