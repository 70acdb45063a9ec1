//! Which balances are read where: offers of one network share one request, equal reads are one. What two
//! different reads have in common is found out where they are put together.

use std::sync::Arc;

use crate::config::NetworkConfig;
use crate::scheme::screen::BalanceRead;

/// Everything to read, by network, in the order in which the merchant first names each.
pub(crate) struct Plan {
    pub(crate) networks: Vec<NetworkPlan>,
}

/// What to read of one network.
#[derive(Clone)]
pub(crate) struct NetworkPlan {
    pub(crate) network: Arc<NetworkConfig>,
    pub(crate) reads: Vec<BalanceRead>,
}

/// Where the reading of an offer is found: network and read, both as positions in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) network: usize,
    pub(crate) read: usize,
}

impl Plan {
    /// The plan for `wanted`, and for each of them its slot. Where nothing is to be read there is
    /// none.
    pub(crate) fn new<'a>(wanted: impl IntoIterator<Item = Option<&'a BalanceRead>>) -> (Self, Vec<Option<Slot>>) {
        let mut plan = Self { networks: Vec::new() };
        let mut slots = Vec::new();
        for read in wanted {
            slots.push(read.map(|read| plan.add(read)));
        }
        (plan, slots)
    }

    fn add(&mut self, read: &BalanceRead) -> Slot {
        let known = self.networks.iter().position(|plan| plan.network.chain == read.network.chain);
        let network = known.unwrap_or(self.networks.len());
        if known.is_none() {
            self.networks.push(NetworkPlan { network: read.network.clone(), reads: Vec::new() });
        }
        let Some(NetworkPlan { reads, .. }) = self.networks.get_mut(network) else {
            return Slot { network, read: 0 };
        };
        let known = reads.iter().position(|other| is_same(other, read));
        let position = known.unwrap_or(reads.len());
        if known.is_none() {
            reads.push(read.clone());
        }
        Slot { network, read: position }
    }
}

fn is_same(one: &BalanceRead, other: &BalanceRead) -> bool {
    one.asset.id == other.asset.id
        && one.owner == other.owner
        && one.recipient == other.recipient
        && one.asks == other.asks
}
