//! Which balances are read where: offers of one network share one request, equal reads are one. What two
//! different reads have in common is found out where they are put together.

use std::sync::Arc;

use crate::config::NetworkConfig;
use crate::policy::BalanceRead;

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
    pub(crate) fn of<'a>(wanted: impl IntoIterator<Item = Option<&'a BalanceRead>>) -> (Self, Vec<Option<Slot>>) {
        let mut plan = Self { networks: Vec::new() };
        let slots = wanted.into_iter().map(|read| read.map(|read| plan.add(read))).collect();
        (plan, slots)
    }

    fn add(&mut self, read: &BalanceRead) -> Slot {
        let same_network = |plan: &NetworkPlan| plan.network.chain == read.network.chain;
        let network = position_or_push(&mut self.networks, same_network, || NetworkPlan {
            network: read.network.clone(),
            reads: Vec::new(),
        });
        let reads = self.networks.get_mut(network).map(|plan| &mut plan.reads);
        let key = |read: &BalanceRead| (read.asset.id.clone(), read.owner.clone(), read.recipient.clone(), read.asks);
        let same_balance = |other: &BalanceRead| key(other) == key(read);
        let read = reads.map_or(0, |reads| position_or_push(reads, same_balance, || read.clone()));
        Slot { network, read }
    }
}

fn position_or_push<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    list.iter().position(is).unwrap_or_else(|| {
        let position = list.len();
        list.push(make());
        position
    })
}
