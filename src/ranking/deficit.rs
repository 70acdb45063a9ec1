//! What is short where, as data and as a sentence.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::chain::{Amount, ChainId};

/// How much is missing to pay one offer. `Display` is a sentence in token units:
/// `0.03 USDC short on Base (needs 0.05, has 0.02)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deficit {
    /// Position of the offer in the merchant's list, from 0.
    pub requirement_index: usize,
    /// The network as CAIP-2 id.
    pub network: ChainId,
    /// The network's name for people.
    pub network_name: Arc<str>,
    /// The asset as CAIP-19 id.
    pub asset_id: Arc<str>,
    /// The asset's symbol.
    pub symbol: Arc<str>,
    /// The asset's decimals.
    pub decimals: u8,
    /// The price, or the deposit of schemes that pay out of one, in atomic units.
    pub required: Amount,
    /// The balance without what is held, in atomic units.
    pub available: Amount,
    /// How much of the balance other payments hold, in atomic units.
    #[serde(default)]
    pub held: Amount,
    /// `required - available`.
    pub shortfall: Amount,
}

impl Deficit {
    /// What `candidate` needs and what there is, short or not; `None` where no balance was read.
    pub(crate) fn from_candidate(candidate: &Candidate) -> Option<Self> {
        let Candidate { deposit, amount, balance, held, decimals, .. } = *candidate;
        let Candidate { network, network_name, asset_id, symbol, .. } = candidate;
        let (required, balance, decimals) = (deposit.or(amount)?, balance?, decimals?);
        let (network, network_name) = (network.as_ref()?, network_name.as_ref()?);
        let (asset_id, symbol) = (asset_id.as_ref()?, symbol.as_ref()?);
        let available = balance.saturating_sub(held);
        Some(Self {
            requirement_index: candidate.requirement_index,
            network: network.clone(),
            network_name: network_name.clone(),
            asset_id: asset_id.clone(),
            symbol: symbol.clone(),
            decimals,
            required,
            available,
            held,
            shortfall: required.saturating_sub(available),
        })
    }

    /// The same with `held` of `balance` held by other payments.
    pub(crate) fn with_held(self, balance: Amount, held: Amount) -> Self {
        let available = balance.saturating_sub(held);
        Self { available, held, shortfall: self.required.saturating_sub(available), ..self }
    }
}

impl fmt::Display for Deficit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = |amount: Amount| amount.to_units(self.decimals);
        let (shortfall, required, available) = (units(self.shortfall), units(self.required), units(self.available));
        let Self { symbol, network_name, .. } = self;
        write!(f, "{shortfall} {symbol} short on {network_name} (needs {required}, has {available}")?;
        match self.held.is_zero() {
            true => f.write_str(")"),
            false => write!(f, " beside {} held)", units(self.held)),
        }
    }
}
