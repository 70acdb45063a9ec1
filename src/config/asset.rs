//! A token: its built-in row, overridden field by field by a row of `assets`.

use std::sync::Arc;

use super::asset_id::asset_id;
use super::field::Field;
use super::{AssetConfig, check};
use crate::chain::registry::{self, AssetKind, TokenProgram};
use crate::chain::{ChainId, MAX_DECIMALS};

/// What one row of `assets` says.
pub(super) struct Row {
    pub(super) id: Arc<str>,
    address: Arc<str>,
    symbol: Option<Arc<str>>,
    decimals: Option<u8>,
    domain: Option<(Arc<str>, Arc<str>)>,
    program: Option<TokenProgram>,
}

impl Row {
    pub(super) fn read(field: &Field<'_>, chain: &ChainId) -> Self {
        let fields = field.fields();
        let address = fields.get("address").map(|field| check::address(field, chain.family()));
        let symbol = fields.get_set("symbol").map(check::label);
        let decimals = fields.whole("decimals", 0..=MAX_DECIMALS.into());
        let name = fields.get_set("name").map(Field::text);
        let version = fields.get_set("version").map(Field::text);
        let program = fields.get_set("program").and_then(|field| {
            field.word(&[TokenProgram::Token, TokenProgram::Token2022].map(|program| (program.word(), program)))
        });
        fields.finish();
        if address.is_none() {
            field.refuse("missing field `address`", "the token's address");
        }
        let domain = match (name, version) {
            (Some(name), Some(version)) => Some((name.into(), version.into())),
            (None, None) => None,
            (name, _) => {
                let missing = if name.is_some() { "version" } else { "name" };
                let accepted = "both `name` and `version` of the EIP-712 domain, or neither";
                field.refuse_at(missing, "is missing", accepted);
                None
            }
        };
        let address = address.unwrap_or_default();
        let decimals = decimals.and_then(|decimals| u8::try_from(decimals).ok());
        Self { id: asset_id(chain, &address), address, symbol, decimals, domain, program }
    }

    /// The `known` asset, overridden by this row. A new asset needs decimals and a symbol.
    pub(super) fn over(self, known: Option<AssetConfig>, field: &Field<'_>) -> AssetConfig {
        if known.is_none() && self.decimals.is_none() {
            field.refuse_at("decimals", "is missing", "the token's decimals");
        }
        if known.is_none() && self.symbol.is_none() {
            field.refuse_at("symbol", "is missing", "the token's symbol");
        }
        let known = known.unwrap_or_else(|| AssetConfig::unknown(self.id));
        AssetConfig {
            address: self.address,
            symbol: self.symbol.unwrap_or(known.symbol),
            decimals: self.decimals.unwrap_or(known.decimals),
            domain: self.domain.or(known.domain),
            program: self.program.or(known.program),
            ..known
        }
    }
}

impl TokenProgram {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Token2022 => "token-2022",
        }
    }
}

impl AssetConfig {
    fn unknown(id: Arc<str>) -> Self {
        Self {
            id,
            address: Arc::default(),
            symbol: Arc::default(),
            decimals: 0,
            domain: None,
            method: None,
            program: None,
            limit: None,
            allowed: true,
        }
    }

    pub(super) fn built_in(chain: &ChainId, row: &registry::Asset) -> Self {
        let asset = Self {
            symbol: row.symbol.into(),
            address: row.address.into(),
            decimals: row.decimals,
            ..Self::unknown(asset_id(chain, row.address))
        };
        match row.kind {
            AssetKind::Erc20 { name, version, method } => {
                Self { domain: Some((name.into(), version.into())), method: Some(method), ..asset }
            }
            AssetKind::Spl { program } => Self { program: Some(program), ..asset },
        }
    }
}
