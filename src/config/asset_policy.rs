//! The buyer's policy on assets: which may pay, and how much at most.

use super::Asset;
use super::check::listed;
use super::field::{Field, Fields, Result};
use crate::amount::Amount;
use crate::network::{ChainId, Family};

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
pub(super) struct AssetPolicy<'a> {
    allowed: Vec<String>,
    limits: Vec<(String, Field<'a>)>,
}

impl<'a> AssetPolicy<'a> {
    /// A name that matches no asset is a typing mistake, and a limit with one would limit nothing.
    pub(super) fn read<'n>(policy: &mut Fields<'a>, assets: impl Iterator<Item = &'n Asset> + Clone) -> Result<Self> {
        let canonical = |field: &Field<'_>, name: &str| {
            let id = canonical_asset_id(name);
            match assets.clone().any(|asset| &*asset.symbol == name || *asset.id == id) {
                true => Ok(id),
                false => Err(field.refused("matches no built-in or configured asset", "a symbol or a CAIP-19 id")),
            }
        };
        let mut allowed = Vec::new();
        for field in policy.items("allowedAssets")? {
            allowed.push(canonical(&field, &field.text()?)?);
        }
        let mut limits = Vec::new();
        for (name, field) in policy.entries("maxAmount")? {
            field.text()?;
            let id = canonical(&field, &name)?;
            if listed(&limits, &id).is_some() {
                return Err(field.refused("is listed twice", "each asset once"));
            }
            limits.push((id, field));
        }
        Ok(Self { allowed, limits })
    }

    pub(super) fn apply(&self, asset: Asset) -> Result<Asset> {
        let names = [&*asset.id, &*asset.symbol];
        let limit = match names.iter().find_map(|name| listed(&self.limits, *name)) {
            Some(field) => {
                let refused = |problem: &str| field.refused(problem, "an amount in token units, for example \"1.50\"");
                let limit = Amount::from_units(&field.text()?, asset.decimals);
                Some(limit.map_err(|error| refused(&error.to_string()))?)
            }
            None => None,
        };
        let allowed = self.allowed.is_empty() || self.allowed.iter().any(|name| names.contains(&name.as_str()));
        Ok(Asset { limit, allowed, ..asset })
    }
}

/// A CAIP-19 id in canonical text, its network by any name; EVM tokens compare without case,
/// symbols and Solana mints exactly.
fn canonical_asset_id(name: &str) -> String {
    let Some((network, asset)) = name.split_once('/') else {
        return name.to_owned();
    };
    match ChainId::resolve(network) {
        Ok(chain) if chain.family() == Family::Evm => format!("{chain}/{}", asset.to_ascii_lowercase()),
        Ok(chain) => format!("{chain}/{asset}"),
        Err(_) => name.to_owned(),
    }
}
