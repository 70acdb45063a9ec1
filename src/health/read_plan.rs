//! The ways of asking an endpoint, as far as health remembers which of them works.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way of asking an endpoint. On EVM networks they are tried in this order; Solana has the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadPlan {
    /// One `eth_call` that creates nothing: identity, time and balances of one execution.
    Create,
    /// The same program through a state override.
    Override,
    /// Identity and balances in one JSON-RPC batch.
    Batch,
    /// One request each, at once.
    Single,
}

impl ReadPlan {
    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Override => "override",
            Self::Batch => "batch",
            Self::Single => "single",
        }
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
