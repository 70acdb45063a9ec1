//! One attempt at one endpoint under one deadline, and its report to health.
//!
//! Knows the ways to ask and what an answer means for the endpoint. Refuses to know other
//! endpoints.

use std::time::Duration;

use futures::future::join_all;

use super::classify::{Class, Effect};
use super::finding::{Finding, Told, Unread, Untold};
use super::plan::NetworkPlan;
use super::rpc::{self, Call, Failure, Item};
use super::{Prober, evm, svm};
use crate::endpoint::Endpoint;
use crate::health::{Outcome, Permit};
use crate::network::Family;
use crate::policy::BalanceRead;
use crate::verdict::Note;

/// The ways to ask an endpoint, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadPlan {
    /// Identity and balances in one JSON-RPC batch.
    Batch,
    /// One request each, at once.
    Singles,
}

impl Prober {
    /// One finding a read, in order.
    pub(super) async fn ask(
        &self,
        plan: &NetworkPlan,
        endpoint: &Endpoint,
        reads: &[&BalanceRead],
        permit: Permit,
    ) -> Vec<Result<Finding, Unread>> {
        let started = self.clock.now();
        let limit = self.settings.timeout;
        let answer = self.clock.within(limit, self.converse(plan, endpoint, reads)).await;
        let answer = answer
            .unwrap_or_else(|| Err(Failure::new(Class::Fault, format!("no answer within {} ms", limit.as_millis()))));
        let ended = self.clock.now();
        permit.settle(outcome(&answer, ended.since(started)), ended);
        match answer {
            Ok((how, told)) => told.into_iter().map(|told| found(told, how)).collect(),
            Err(Failure { class: Class::Identity, detail, .. }) => vec![Err(Unread::WrongChain(detail)); reads.len()],
            Err(Failure { detail, .. }) => vec![Err(Unread::NoAnswer(detail)); reads.len()],
        }
    }

    /// Asks in the best way that the endpoint is known to take, and in the next one where it turns
    /// out not to.
    async fn converse(
        &self,
        plan: &NetworkPlan,
        endpoint: &Endpoint,
        reads: &[&BalanceRead],
    ) -> Result<(ReadPlan, Vec<Told>), Failure> {
        let known = self.health.inspect(endpoint.key(), self.clock.now()).plan;
        let first = known.and_then(ReadPlan::from_code).unwrap_or(ReadPlan::Batch);
        match self.read_by(first, plan, endpoint, reads).await {
            Err(failure) if failure.class == Class::Unsupported && first == ReadPlan::Batch => {
                let told = self.read_by(ReadPlan::Singles, plan, endpoint, reads).await?;
                self.health.remember_plan(endpoint.key(), ReadPlan::Singles.code(), self.clock.now());
                Ok((ReadPlan::Singles, told))
            }
            answer => answer.map(|told| (first, told)),
        }
    }

    async fn read_by(
        &self,
        how: ReadPlan,
        plan: &NetworkPlan,
        endpoint: &Endpoint,
        reads: &[&BalanceRead],
    ) -> Result<Vec<Told>, Failure> {
        let (identity, family) = (&plan.network.identity, plan.network.chain.family());
        let told = match family {
            Family::Svm => {
                let layout = svm::Layout::new(reads)?;
                layout.decode(identity, &self.send(how, family, endpoint, &layout.calls()).await?)?
            }
            _ => evm::decode(identity, &self.send(how, family, endpoint, &evm::calls(reads)).await?)?,
        };
        match told.iter().filter_map(endpoint_failure).find(|failure| failure.class == Class::Unsupported) {
            Some(failure) => Err(failure.clone()),
            None => Ok(told),
        }
    }

    async fn send(
        &self,
        how: ReadPlan,
        family: Family,
        endpoint: &Endpoint,
        calls: &[Call],
    ) -> Result<Vec<Item>, Failure> {
        match how {
            ReadPlan::Batch => {
                let reply = self.transport.post(endpoint, rpc::batch_body(calls)).await?;
                rpc::read_batch(family, &reply, calls.len())
            }
            ReadPlan::Singles => {
                let replies = calls.iter().map(|call| async move {
                    let reply = self.transport.post(endpoint, rpc::single_body(call)).await?;
                    rpc::read_single(family, &reply)
                });
                join_all(replies).await.into_iter().collect()
            }
        }
    }
}

impl ReadPlan {
    /// The number under which health remembers it.
    fn code(self) -> u8 {
        match self {
            Self::Batch => 0,
            Self::Singles => 1,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::Batch, Self::Singles].into_iter().find(|plan| plan.code() == code)
    }

    fn notes(self) -> Vec<Note> {
        match self {
            Self::Batch => Vec::new(),
            Self::Singles => vec![Note::IdentitySeparate],
        }
    }
}

fn found(told: Told, how: ReadPlan) -> Result<Finding, Unread> {
    match told {
        Ok((balance, frozen)) => Ok(Finding { balance, frozen, notes: how.notes() }),
        Err(Untold::Chain(detail)) => Err(Unread::Untold(detail.to_owned())),
        Err(Untold::Endpoint(failure)) => Err(Unread::Untold(failure.detail)),
    }
}

fn endpoint_failure(told: &Told) -> Option<&Failure> {
    match told {
        Err(Untold::Endpoint(failure)) => Some(failure),
        _ => None,
    }
}

/// What an attempt says of its endpoint: the worst of what it did with any balance.
fn outcome(answer: &Result<(ReadPlan, Vec<Told>), Failure>, latency: Duration) -> Outcome {
    let failures: Vec<&Failure> = match answer {
        Ok((_, told)) => told.iter().filter_map(endpoint_failure).collect(),
        Err(failure) => vec![failure],
    };
    let with = |effect| failures.iter().find(|failure| failure.class.effect() == effect);
    if with(Effect::OpenNow).is_some() {
        Outcome::WrongChain
    } else if with(Effect::Fault).is_some() {
        Outcome::Fault
    } else if let Some(failure) = with(Effect::Throttle) {
        Outcome::Throttled { retry_after: failure.retry_after }
    } else if answer.is_ok() {
        Outcome::Success { latency }
    } else {
        Outcome::Neutral
    }
}
