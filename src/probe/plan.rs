//! Which balances are read where: offers of one network share one request, and equal reads are one.

use std::sync::Arc;

use crate::config::NetworkConfig;
use crate::scheme::screen::BalanceRead;
use crate::transport::Endpoint;
use crate::util::find_or_push;

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

/// Where in a plan an offer's read is: its network and its place there, both as positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) network: usize,
    pub(crate) read: usize,
}

impl NetworkPlan {
    #[allow(clippy::indexing_slicing, reason = "slots and readings hold positions of their own plan")]
    pub(super) fn read(&self, position: usize) -> &BalanceRead {
        &self.reads[position]
    }

    #[allow(clippy::indexing_slicing, reason = "`order_endpoints` returns positions of this list")]
    pub(super) fn endpoint(&self, position: usize) -> &Arc<Endpoint> {
        &self.network.endpoints[position]
    }
}

impl Plan {
    /// The plan for `wanted`, and the slot of each of them. An offer without a read has no slot.
    pub(crate) fn new<'a>(wanted: impl IntoIterator<Item = Option<&'a BalanceRead>>) -> (Self, Vec<Option<Slot>>) {
        let mut plan = Self { networks: Vec::new() };
        let slots = wanted.into_iter().map(|read| read.map(|read| plan.add(read))).collect();
        (plan, slots)
    }

    fn add(&mut self, read: &BalanceRead) -> Slot {
        let (network, plan) = find_or_push(
            &mut self.networks,
            |plan| plan.network.chain == read.network.chain,
            || NetworkPlan { network: read.network.clone(), reads: Vec::new() },
        );
        let (read, _) = find_or_push(&mut plan.reads, |other| is_same(other, read), || read.clone());
        Slot { network, read }
    }
}

fn is_same(one: &BalanceRead, other: &BalanceRead) -> bool {
    one.asset.id == other.asset.id
        && one.owner == other.owner
        && one.recipient == other.recipient
        && one.flags == other.flags
}
