//! From the document to a checked configuration.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use super::check::{self, chains, payable_chain, refuse_second_network};
use super::field::{Entries, Field, document};
use super::node::Node;
use super::settings::{self, Routing};
use super::{Config, Policy, asset_policy, network};
use crate::chain::{Amount, ChainFamily, ChainId, family_named};
use crate::config_error::ConfigurationError;

pub(super) fn config(node: &Node) -> Result<Config, ConfigurationError> {
    document(node, read)
}

fn read(document: &Field<'_>) -> Config {
    let document = document.fields();
    let owners = owners(&document.entries("owners"));
    let networks = document.entries("networks");
    let Routing { prefer, probe, allow_http } = settings::routing(document.get("routing"));
    let policy = document.object("policy");
    let fees = fees(&document.entries("fees"));
    let health = settings::health(document.get("health"));
    let limits = settings::limits(document.get("limits"));
    document.finish();
    let mut networks = network::networks(&networks, allow_http);
    for (chain, network) in &mut networks {
        network.owner = owners.get(chain.as_str()).or_else(|| owners.get(chain.namespace())).cloned();
        network.fee = fees.get(chain).copied().unwrap_or(Amount::ZERO);
    }
    asset_policy::apply(&policy, &mut networks);
    let allowed_networks = chains(&policy.items("allowedNetworks"));
    policy.finish();
    let networks = networks.into_values().map(Arc::new).collect();
    Config { networks, policy: Policy { allowed_networks }, prefer, probe, health, limits }
}

/// Addresses by namespace or network.
fn owners(entries: &Entries<'_>) -> BTreeMap<String, Arc<str>> {
    let mut owners = BTreeMap::new();
    for (name, field) in entries {
        let (key, family) = match family_named(name) {
            ChainFamily::Other => {
                let Some(chain) = payable_chain(field, name) else { continue };
                (chain.as_str().to_owned(), chain.family())
            }
            family => ((*name).to_owned(), family),
        };
        if owners.insert(key, check::owner(field, family)).is_some() {
            refuse_second_network(field);
        }
    }
    owners
}

fn fees(entries: &Entries<'_>) -> BTreeMap<ChainId, Amount> {
    let mut fees = BTreeMap::new();
    for (name, field) in entries {
        let Some(chain) = payable_chain(field, name) else { continue };
        let fee = Amount::from_str(field.text()).unwrap_or_else(|error| {
            field.refuse(&error.to_string(), "atomic units in digits, for example \"1000\"");
            Amount::ZERO
        });
        if fees.insert(chain, fee).is_some() {
            refuse_second_network(field);
        }
    }
    fees
}
