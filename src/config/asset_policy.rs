//! The buyer's policy on assets: which may pay, and how much at most.

use super::AssetConfig;
use super::check::{list_asset, listed};
use super::draft::{Drafts, caip19};
use super::field::{Entries, Field, Listed};
use crate::chain::{Amount, ChainId};

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
#[derive(Default)]
pub(super) struct AssetPolicy<'f, 'a> {
    allowed: Vec<String>,
    limits: Listed<'f, 'a>,
}

impl<'f, 'a> AssetPolicy<'f, 'a> {
    pub(super) fn allow(&mut self, fields: &[Field<'a>], networks: &Drafts) {
        for field in fields {
            self.allowed.push(canonical(field, &field.text(), networks));
        }
    }

    pub(super) fn limit(&mut self, entries: &'f Entries<'a>, networks: &Drafts) {
        for (name, field) in entries {
            field.text();
            list_asset(&mut self.limits, &canonical(field, name, networks), field);
        }
    }

    pub(super) fn apply(&self, asset: &mut AssetConfig) {
        let is_named = |name: &String| **name == *asset.id || **name == *asset.symbol;
        asset.allowed = self.allowed.is_empty() || self.allowed.iter().any(is_named);
        let limit = listed(&self.limits, &asset.id).or_else(|| listed(&self.limits, &asset.symbol));
        if let Some(field) = limit {
            match Amount::from_units(&field.text(), asset.decimals) {
                Ok(limit) => asset.limit = Some(limit),
                Err(error) => field.refuse(&error.to_string(), "an amount in token units, for example \"1.50\""),
            }
        }
    }
}

/// A name that matches no asset is a typing mistake, and a limit with one would limit nothing.
fn canonical(field: &Field<'_>, name: &str, networks: &Drafts) -> String {
    let id = canonical_asset_id(name);
    let is_meant = |asset: &AssetConfig| &*asset.symbol == name || *asset.id == id;
    if !networks.values().any(|network| network.assets().iter().any(|asset| is_meant(asset))) {
        field.refuse("matches no built-in or configured asset", "a symbol or a CAIP-19 id");
    }
    id
}

/// A CAIP-19 id in canonical text, its network by any name; EVM tokens compare without case,
/// symbols and Solana mints exactly.
fn canonical_asset_id(name: &str) -> String {
    let Some((network, asset)) = name.split_once('/') else {
        return name.to_owned();
    };
    match ChainId::known(network) {
        Some(chain) => caip19(&chain, asset),
        None => name.to_owned(),
    }
}
