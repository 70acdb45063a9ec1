//! The buyer's policy on assets: which may pay, and how much at most.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::AssetConfig;
use super::asset_id::canonical;
use super::check::{refuse_checksum, refuse_second_asset};
use super::field::{Entries, Field, Fields};
use super::network::Networks;
use crate::chain::{Amount, has_wrong_checksum, is_evm_address};

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
struct AssetPolicy<'f, 'a> {
    /// Empty: every asset.
    allowed: Vec<String>,
    limits: BTreeMap<String, &'f Field<'a>>,
}

/// Reads the policy on assets and writes it to the assets of `networks`.
pub(super) fn apply(policy: &Fields<'_>, networks: &mut Networks) {
    let allowed = policy.items("allowedAssets").iter().map(|field| named(field, field.text(), networks)).collect();
    let limits = policy.entries("maxAmount");
    let policy = AssetPolicy { allowed, limits: self::limits(&limits, networks) };
    for asset in networks.values_mut().flat_map(|network| &mut network.assets) {
        policy.apply(Arc::make_mut(asset));
    }
}

fn limits<'f, 'a>(entries: &'f Entries<'a>, networks: &Networks) -> BTreeMap<String, &'f Field<'a>> {
    let mut limits = BTreeMap::new();
    for (name, field) in entries {
        // Refused here if it is not a text, whether or not an asset comes to use it.
        field.text();
        if limits.insert(named(field, name, networks), field).is_some() {
            refuse_second_asset(field);
        }
    }
    limits
}

/// The canonical text of `name`. One that matches no asset is a typing mistake: as a limit it would limit nothing.
fn named(field: &Field<'_>, name: &str, networks: &Networks) -> String {
    let id = canonical(name);
    let is_meant = |asset: &AssetConfig| &*asset.symbol == name || *asset.id == id;
    if !networks.values().any(|network| network.assets.iter().any(|asset| is_meant(asset))) {
        field.refuse("matches no built-in or configured asset", "a symbol or a CAIP-19 id");
    }
    let address = name.rsplit_once(':').map_or(name, |(_, address)| address);
    if is_evm_address(address) && has_wrong_checksum(address) {
        refuse_checksum(field);
    }
    id
}

impl AssetPolicy<'_, '_> {
    fn apply(&self, asset: &mut AssetConfig) {
        let is_named = |name: &String| **name == *asset.id || **name == *asset.symbol;
        asset.allowed = self.allowed.is_empty() || self.allowed.iter().any(is_named);
        // An id is more exact than a symbol.
        let limit = self.limits.get(&*asset.id).or_else(|| self.limits.get(&*asset.symbol));
        if let Some(field) = limit {
            match Amount::from_units(field.text(), asset.decimals) {
                Ok(limit) => asset.limit = Some(limit),
                Err(error) => field.refuse(&error.to_string(), "an amount in token units, for example \"1.50\""),
            }
        }
    }
}
