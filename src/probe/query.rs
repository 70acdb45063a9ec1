//! One way of reading balances of one network: the calls that go out, and what their replies report together.

use super::evm::{self, CallSet, Multicall};
use super::plan::NetworkPlan;
use super::read_error::BalanceReport;
use super::rpc::{self, Call, Failure, Item};
use super::svm::AccountSet;
use crate::chain::ChainFamily;
use crate::health::{FailureClass as Class, ReadPlan};
use crate::ranking::Note;
use crate::runtime;
use crate::scheme::screen::BalanceRead;
use crate::transport::{HttpReply, TransportError};

impl ReadPlan {
    /// The plans of a family, best first.
    pub(super) fn all(family: ChainFamily) -> &'static [Self] {
        match family {
            ChainFamily::Svm => &[Self::Batch, Self::Single],
            _ => &[Self::Create, Self::Override, Self::Batch, Self::Single],
        }
    }

    pub(super) fn note(self) -> Option<Note> {
        match self {
            Self::Create | Self::Override | Self::Batch => None,
            Self::Single => Some(Note::IdentitySeparate),
        }
    }
}

/// Reads of one network by one read plan.
pub(super) struct Query<'a> {
    plan: &'a NetworkPlan,
    read_plan: ReadPlan,
    content: Content,
    calls: Vec<Call>,
}

/// What the calls carry.
enum Content {
    /// One call each.
    Multicalls(Vec<(CallSet, Multicall)>),
    Views(CallSet),
    Accounts(AccountSet),
}

impl<'a> Query<'a> {
    /// Fails only on addresses that the configuration and decoding would not have let through.
    pub(super) fn new(plan: &'a NetworkPlan, read_plan: ReadPlan, reads: &[&BalanceRead]) -> Result<Self, Failure> {
        let not_hex = || Failure::new(Class::ClientError, "an address is not hexadecimal");
        let not_base58 = || Failure::new(Class::ClientError, "an address is not base58");
        let (content, calls) = match (read_plan, plan.network.chain.family()) {
            (ReadPlan::Create | ReadPlan::Override, _) => {
                let multicalls = evm::multicalls(reads, runtime::nonce).ok_or_else(not_hex)?;
                let calls = multicalls.iter().map(|(_, multicall)| evm::multicall_call(multicall, read_plan)).collect();
                (Content::Multicalls(multicalls), calls)
            }
            (_, ChainFamily::Svm) => {
                let set = AccountSet::new(reads).ok_or_else(not_base58)?;
                let calls = set.calls();
                (Content::Accounts(set), calls)
            }
            _ => {
                let set = CallSet::new(reads).ok_or_else(not_hex)?;
                let calls = evm::calls(&set);
                (Content::Views(set), calls)
            }
        };
        Ok(Self { plan, read_plan, content, calls })
    }

    /// The bodies to post, all at once.
    pub(super) fn bodies(&self) -> Vec<String> {
        match self.read_plan {
            ReadPlan::Batch => vec![rpc::batch_body(&self.calls)],
            _ => self.calls.iter().map(rpc::single_body).collect(),
        }
    }

    /// What the replies to [`bodies`](Self::bodies) report.
    pub(super) fn decode(&self, replies: Vec<Result<HttpReply, TransportError>>) -> Result<BalanceReport, Failure> {
        let mut report = self.decode_content(replies)?;
        for state in report.results.iter_mut().flatten() {
            state.notes.extend(self.read_plan.note());
        }
        Ok(report)
    }

    fn decode_content(&self, replies: Vec<Result<HttpReply, TransportError>>) -> Result<BalanceReport, Failure> {
        let identity = &self.plan.network.identity;
        match &self.content {
            Content::Multicalls(multicalls) => {
                let mut all = BalanceReport { results: Vec::new(), throttles: Vec::new(), chain_time_ms: None };
                for ((set, multicall), reply) in multicalls.iter().zip(replies) {
                    let items = self.items_of(reply, 1).map_err(evm::request_refused)?;
                    let report = evm::decode_multicall(identity, set, multicall, &items)?;
                    all.results.extend(report.results);
                    all.chain_time_ms = all.chain_time_ms.max(report.chain_time_ms);
                }
                Ok(all)
            }
            Content::Views(set) => evm::decode(identity, set, &self.items(replies)?),
            Content::Accounts(set) => set.decode(identity, &self.items(replies)?),
        }
    }

    /// One item a call. A batch fails as one, single calls each by itself.
    fn items(&self, replies: Vec<Result<HttpReply, TransportError>>) -> Result<Vec<Item>, Failure> {
        let batch = self.read_plan == ReadPlan::Batch;
        let mut items = Vec::new();
        for reply in replies {
            match self.items_of(reply, if batch { self.calls.len() } else { 1 }) {
                Ok(answers) => items.extend(answers),
                Err(failure) if batch => return Err(failure),
                Err(failure) => items.push(Err(failure)),
            }
        }
        Ok(items)
    }

    fn items_of(&self, reply: Result<HttpReply, TransportError>, count: usize) -> Result<Vec<Item>, Failure> {
        rpc::read(self.plan.network.chain.family(), &reply?, self.read_plan == ReadPlan::Batch, count)
    }
}
