//! The buyer's policy on assets: which may pay, and how much at most.

use super::Asset;
use super::check::{list_asset, listed};
use super::draft::{Draft, caip19};
use super::field::{Entries, Field, Fields};
use crate::amount::Amount;
use crate::network::ChainId;

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
pub(super) struct AssetPolicy<'a> {
    allowed: Vec<String>,
    limits: Entries<'a>,
}

impl<'a> AssetPolicy<'a> {
    /// A name that matches no asset is a typing mistake, and a limit with one would limit nothing.
    pub(super) fn read(policy: &Fields<'a>, networks: &[Draft]) -> Self {
        let canonical = |field: &Field<'_>, name: &str| {
            let id = canonical_asset_id(name);
            let is_meant = |asset: &Asset| &*asset.symbol == name || *asset.id == id;
            if !networks.iter().any(|network| network.assets.iter().any(is_meant)) {
                field.refuse("matches no built-in or configured asset", "a symbol or a CAIP-19 id");
            }
            id
        };
        let mut allowed = Vec::new();
        for field in policy.items("allowedAssets") {
            allowed.push(canonical(&field, &field.text()));
        }
        let mut limits = Entries::new();
        for (name, field) in policy.entries("maxAmount") {
            field.text();
            let id = canonical(&field, &name);
            list_asset(&mut limits, &id, field);
        }
        Self { allowed, limits }
    }

    pub(super) fn apply(&self, asset: &mut Asset) {
        let names = [&*asset.id, &*asset.symbol];
        asset.allowed = self.allowed.is_empty() || self.allowed.iter().any(|name| names.contains(&name.as_str()));
        if let Some(field) = names.iter().find_map(|name| listed(&self.limits, name)) {
            match Amount::from_units(&field.text(), asset.decimals) {
                Ok(limit) => asset.limit = Some(limit),
                Err(error) => field.refuse(&error.to_string(), "an amount in token units, for example \"1.50\""),
            }
        }
    }
}

/// A CAIP-19 id in canonical text, its network by any name; EVM tokens compare without case,
/// symbols and Solana mints exactly.
fn canonical_asset_id(name: &str) -> String {
    let Some((network, asset)) = name.split_once('/') else {
        return name.to_owned();
    };
    match ChainId::resolve(network) {
        Ok(chain) => caip19(&chain, asset),
        Err(_) => name.to_owned(),
    }
}
