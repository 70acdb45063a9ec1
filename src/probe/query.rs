//! One way of asking an endpoint: what goes out, and what the replies say together.
//!
//! Refuses to know how bodies travel, and whom else to ask.

use super::evm::{self, CallSet, Inquiry};
use super::finding::Told;
use super::plan::NetworkPlan;
use super::rpc::{self, Call, Failure, Item};
use super::svm::Layout;
use crate::chain::ChainFamily;
use crate::health::{FailureClass as Class, ReadPlan};
use crate::ranking::Note;
use crate::runtime;
use crate::scheme::screen::BalanceRead;
use crate::transport::{HttpReply, TransportError};

impl ReadPlan {
    /// The ways that a family knows, best first.
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

/// Reads of one network, asked in one way.
pub(super) struct Query<'a> {
    plan: &'a NetworkPlan,
    how: ReadPlan,
    shape: Shape,
    calls: Vec<Call>,
}

/// What the calls are for.
enum Shape {
    Inquiries(Vec<Inquiry>),
    Facts(CallSet),
    Accounts(Layout),
}

impl<'a> Query<'a> {
    /// Fails only on addresses that the configuration and decoding would not have let through.
    pub(super) fn new(plan: &'a NetworkPlan, how: ReadPlan, reads: &[&BalanceRead]) -> Result<Self, Failure> {
        let no_hex = || Failure::new(Class::ClientError, "an address is not hexadecimal");
        let no_base58 = || Failure::new(Class::ClientError, "an address is not base58");
        let (shape, calls) = match (how, plan.network.chain.family()) {
            (ReadPlan::Create | ReadPlan::Override, _) => {
                let inquiries = Inquiry::all(reads, runtime::nonce).ok_or_else(no_hex)?;
                let mut calls = Vec::new();
                for inquiry in &inquiries {
                    calls.push(inquiry.call(how == ReadPlan::Create));
                }
                (Shape::Inquiries(inquiries), calls)
            }
            (_, ChainFamily::Svm) => {
                let layout = Layout::new(reads).ok_or_else(no_base58)?;
                let calls = layout.calls();
                (Shape::Accounts(layout), calls)
            }
            _ => {
                let set = CallSet::new(reads).ok_or_else(no_hex)?;
                let calls = evm::calls(&set);
                (Shape::Facts(set), calls)
            }
        };
        Ok(Self { plan, how, shape, calls })
    }

    /// The bodies to post, all at once.
    pub(super) fn bodies(&self) -> Vec<String> {
        match self.how {
            ReadPlan::Batch => vec![rpc::batch_body(&self.calls)],
            _ => self.calls.iter().map(rpc::single_body).collect(),
        }
    }

    /// What the replies to [`bodies`](Self::bodies) say.
    pub(super) fn read(&self, replies: Vec<Result<HttpReply, TransportError>>) -> Result<Told, Failure> {
        let identity = &self.plan.network.identity;
        match &self.shape {
            Shape::Inquiries(inquiries) => {
                let mut all = Told { balances: Vec::new(), throttles: Vec::new(), chain_time_ms: None };
                for (inquiry, reply) in inquiries.iter().zip(replies) {
                    let items = self.answers(reply, 1).map_err(evm::request_refused)?;
                    let Told { balances, chain_time_ms, .. } = inquiry.decode(identity, &items)?;
                    all.balances.extend(balances);
                    all.chain_time_ms = all.chain_time_ms.max(chain_time_ms);
                }
                Ok(all)
            }
            Shape::Facts(calls) => evm::decode(identity, calls, &self.items(replies)?),
            Shape::Accounts(layout) => layout.decode(identity, &self.items(replies)?),
        }
    }

    /// One item a call. A failed batch is one failure; singles fail each for itself.
    fn items(&self, replies: Vec<Result<HttpReply, TransportError>>) -> Result<Vec<Item>, Failure> {
        let batch = self.how == ReadPlan::Batch;
        let mut items = Vec::new();
        for reply in replies {
            match self.answers(reply, if batch { self.calls.len() } else { 1 }) {
                Ok(answers) => items.extend(answers),
                Err(failure) if batch => return Err(failure),
                Err(failure) => items.push(Err(failure)),
            }
        }
        Ok(items)
    }

    fn answers(&self, reply: Result<HttpReply, TransportError>, count: usize) -> Result<Vec<Item>, Failure> {
        rpc::read(self.plan.network.chain.family(), &reply?, self.how == ReadPlan::Batch, count)
    }
}
