//! From the document to a checked configuration: names normalised, tables merged, ranges held.

use std::str::FromStr;
use std::sync::Arc;

use super::asset_policy::AssetPolicy;
use super::check::{self, chains, list_network, payable_chain};
use super::draft::{Draft, Drafts, builtin_networks};
use super::field::{Entries, Field, Listed, document};
use super::settings::{self, Routing};
use super::{Config, Policy};
use crate::chain::{Amount, ChainFamily, family_named};
use crate::config_error::ConfigurationError;

pub(super) fn config(text: &str) -> Result<Config, ConfigurationError> {
    document(text, read)
}

fn read(document: &Field<'_>) -> Config {
    let document = document.fields();
    let owners = document.entries("owners");
    let owners = self::owners(&owners);
    let networks = document.entries("networks");
    let Routing { prefer, probe, allow_http } = settings::routing(document.get("routing"));
    let policy = document.object("policy");
    let fees = document.entries("fees");
    let fees = self::fees(&fees);
    let health = settings::health(document.get("health"));
    let limits = settings::limits(document.get("limits"));
    document.finish();
    let drafts = drafts(&networks, allow_http);
    let mut assets = AssetPolicy::default();
    assets.allow(&policy.items("allowedAssets"), &drafts);
    let most = policy.entries("maxAmount");
    assets.limit(&most, &drafts);
    let allowed_networks = chains(&policy.items("allowedNetworks"));
    policy.finish();
    let finished = drafts.into_values().map(|draft| Arc::new(draft.finish(&owners, &fees, &assets)));
    let networks = finished.collect();
    Config { networks, policy: Policy { allowed_networks }, prefer, probe, health, limits }
}

/// The built-in networks with what the document says of them, and its own, in the order of their ids.
fn drafts(entries: &Entries<'_>, allow_http: bool) -> Drafts {
    let mut drafts = builtin_networks();
    for (name, field) in entries {
        if let Some(chain) = payable_chain(field, name) {
            drafts.entry(chain).or_insert_with_key(|chain| Draft::unknown(chain.clone())).apply(field, allow_http);
        }
    }
    drafts
}

/// Addresses by families and networks.
fn owners<'f, 'a>(entries: &'f Entries<'a>) -> Listed<'f, 'a> {
    let mut owners = Listed::new();
    for (name, field) in entries {
        let (key, family) = match family_named(name) {
            ChainFamily::Other => {
                let Some(chain) = payable_chain(field, name) else { continue };
                (chain.as_str().to_owned(), chain.family())
            }
            family => (name.clone(), family),
        };
        check::address(field, family);
        list_network(&mut owners, &key, field);
    }
    owners
}

/// Amounts by networks.
fn fees<'f, 'a>(entries: &'f Entries<'a>) -> Listed<'f, 'a> {
    let mut fees = Listed::new();
    for (name, field) in entries {
        let Some(chain) = payable_chain(field, name) else { continue };
        if let Err(error) = Amount::from_str(&field.text()) {
            field.refuse(&error.to_string(), "atomic units in digits, for example \"1000\"");
        }
        list_network(&mut fees, chain.as_str(), field);
    }
    fees
}
