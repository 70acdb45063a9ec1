//! From the document to a checked configuration: names normalised, tables merged, ranges held.

use std::str::FromStr;
use std::sync::Arc;

use super::asset_policy::AssetPolicy;
use super::check::{self, chains, list_once, payable_chain};
use super::draft::{Draft, builtin_networks, draft_of};
use super::field::{Field, document};
use super::settings::{self, Routing};
use super::{Config, ConfigError, Policy};
use crate::amount::Amount;
use crate::network::{ChainId, Family};

type Entries<'a> = Vec<(String, Field<'a>)>;

pub(super) fn config(text: &str) -> Result<Config, ConfigError> {
    document(text, read)
}

fn read(document: &Field<'_>) -> Config {
    let document = document.fields();
    let owners = owners(document.entries("owners"));
    let entries = document.entries("networks");
    let Routing { prefer, probe, allow_http } = document.get("routing").map(settings::routing).unwrap_or_default();
    let policy = document.object("policy");
    let fees = fees(document.entries("fees"));
    let health = document.get("health").map(settings::health).unwrap_or_default();
    let limits = document.get("limits").map(settings::limits).unwrap_or_default();
    document.finish();
    let drafts = drafts(entries, allow_http);
    let assets = AssetPolicy::read(&policy, &drafts);
    let allowed_networks = chains(&policy.items("allowedNetworks"));
    policy.finish();
    let mut networks = Vec::new();
    for draft in drafts {
        networks.push(Arc::new(draft.finish(&owners, &fees, &assets)));
    }
    Config { networks, policy: Policy { allowed_networks }, prefer, probe, health, limits }
}

/// The built-in networks with what the document says of them, and its own, in the order of their ids.
fn drafts(entries: Entries<'_>, allow_http: bool) -> Vec<Draft> {
    let mut drafts = builtin_networks();
    for (name, field) in entries {
        let chain = payable_chain(&field, &name);
        let Some(draft) = chain.and_then(|chain| draft_of(&mut drafts, chain)) else { continue };
        if std::mem::replace(&mut draft.configured, true) {
            field.refuse("names a network that is already configured", "each network once");
        }
        draft.apply(&field, allow_http);
    }
    drafts
}

fn owners(entries: Entries<'_>) -> Vec<(String, Arc<str>)> {
    let mut owners = Vec::new();
    for (name, field) in entries {
        let (key, family) = match name.as_str() {
            "eip155" => (name, Family::Evm),
            "solana" => (name, Family::Svm),
            _ => {
                let Some(chain) = payable_chain(&field, &name) else { continue };
                (chain.as_str().to_owned(), chain.family())
            }
        };
        if !list_once(&mut owners, key, check::address(&field, family)) {
            check::refuse_listed(&field);
        }
    }
    owners
}

fn fees(entries: Entries<'_>) -> Vec<(ChainId, Amount)> {
    let mut fees = Vec::new();
    for (name, field) in entries {
        let Some(chain) = payable_chain(&field, &name) else { continue };
        match Amount::from_str(&field.text()) {
            Ok(fee) if list_once(&mut fees, chain, fee) => {}
            Ok(_) => check::refuse_listed(&field),
            Err(error) => field.refuse(&error.to_string(), "atomic units in digits, for example \"1000\""),
        }
    }
    fees
}
