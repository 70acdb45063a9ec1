//! The buyer's policy on assets: which may pay, and how much at most.

use super::check::{Result, list_once, listed};
use super::document::Document;
use super::error::safe_path;
use super::{Asset, ConfigError};
use crate::amount::Amount;
use crate::network::{ChainId, Family};

/// `policy.allowedAssets` and `policy.maxAmount`, by symbol or CAIP-19 id.
pub(super) struct AssetPolicy {
    allowed: Vec<String>,
    limits: Vec<(String, String)>,
}

impl AssetPolicy {
    /// A name that matches no asset is a typing mistake, and a limit with one would limit nothing.
    pub(super) fn read<'a>(document: &Document, assets: impl Iterator<Item = &'a Asset> + Clone) -> Result<Self> {
        let known =
            |name: &str| assets.clone().any(|asset| &*asset.symbol == name || *asset.id == canonical_asset_id(name));
        let check = |path: String, name: &str| match known(name) {
            true => Ok(canonical_asset_id(name)),
            false => Err(ConfigError::new(
                safe_path(&path),
                "matches no built-in or configured asset",
                "a symbol or a CAIP-19 id",
            )),
        };
        let mut limits = Vec::new();
        for (name, text) in &document.policy.max_amount {
            let path = format!("policy.maxAmount.{name}");
            if !list_once(&mut limits, check(path.clone(), name)?, text.clone()) {
                return Err(ConfigError::new(safe_path(&path), "is listed twice", "each asset once"));
            }
        }
        let mut allowed = Vec::new();
        for (index, name) in document.policy.allowed_assets.iter().enumerate() {
            allowed.push(check(format!("policy.allowedAssets[{index}]"), name)?);
        }
        Ok(Self { allowed, limits })
    }

    pub(super) fn apply(&self, asset: Asset) -> Result<Asset> {
        let names = [&*asset.id, &*asset.symbol];
        let limit = (names.iter().find_map(|name| listed(&self.limits, *name).map(|text| (name, text))))
            .map(|(name, text)| {
                Amount::from_units(text, asset.decimals).map_err(|error| {
                    ConfigError::new(
                        safe_path(&format!("policy.maxAmount.{name}")),
                        error.to_string(),
                        "an amount in token units, for example \"1.50\"",
                    )
                })
            })
            .transpose()?;
        let allowed =
            self.allowed.is_empty() || names.iter().any(|name| self.allowed.iter().any(|other| other == name));
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
