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
use super::{GRACE, Prober, evm, svm};
use crate::endpoint::Endpoint;
use crate::health::{Moment, Outcome, Permit};
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

/// What one attempt came to.
pub(super) struct Attempt {
    /// One finding a read, in order.
    pub(super) findings: Vec<Result<Finding, Unread>>,
    /// The endpoint could not be reached at all; its permit is still to be settled.
    pub(super) silence: Option<Silence>,
}

/// An attempt that met no sign of life. Whose fault that is depends on the others.
pub(super) struct Silence {
    pub(super) permit: Permit,
    pub(super) since: Moment,
}

type Answer = Result<(ReadPlan, Vec<Told>), Failure>;

impl Prober {
    pub(super) async fn ask(
        &self,
        plan: &NetworkPlan,
        endpoint: &Endpoint,
        reads: &[&BalanceRead],
        permit: Permit,
    ) -> Attempt {
        let started = self.clock.now();
        let limit = self.settings.timeout;
        let answer = self.clock.within(limit, self.converse(plan, endpoint, reads)).await;
        let answer = answer
            .unwrap_or_else(|| Err(Failure::new(Class::Fault, format!("no answer within {} ms", limit.as_millis()))));
        let ended = self.clock.now();
        let silence = match &answer {
            Err(failure) if failure.unreachable => Some(Silence { permit, since: ended }),
            _ => {
                permit.settle(outcome(&answer, ended.since(started), limit), ended);
                None
            }
        };
        let findings = match answer {
            Ok((how, told)) => told.into_iter().map(|told| found(told, how)).collect(),
            Err(Failure { class: Class::Identity, detail, .. }) => vec![Err(Unread::WrongChain(detail)); reads.len()],
            Err(Failure { detail, .. }) => vec![Err(Unread::NoAnswer(detail)); reads.len()],
        };
        Attempt { findings, silence }
    }

    /// Asks in the best way that the endpoint is known to take, and in the next one where it turns
    /// out not to.
    async fn converse(&self, plan: &NetworkPlan, endpoint: &Endpoint, reads: &[&BalanceRead]) -> Answer {
        let known = self.health.inspect(endpoint.key(), self.clock.now()).plan;
        let first = known.and_then(ReadPlan::from_code).unwrap_or(ReadPlan::Batch);
        let answer = self.read_by(first, plan, endpoint, reads).await;
        if first == ReadPlan::Singles || !refuses_plan(&answer) {
            return answer;
        }
        let singles = self.read_by(ReadPlan::Singles, plan, endpoint, reads).await;
        match &singles {
            Ok((how, told)) if told.iter().any(Result::is_ok) => {
                self.health.remember_plan(endpoint.key(), how.code(), self.clock.now());
                singles
            }
            _ if answer.is_ok() => answer,
            _ => singles,
        }
    }

    async fn read_by(&self, how: ReadPlan, plan: &NetworkPlan, endpoint: &Endpoint, reads: &[&BalanceRead]) -> Answer {
        let (identity, family) = (&plan.network.identity, plan.network.chain.family());
        let told = match family {
            Family::Svm => {
                let layout = svm::Layout::new(reads)?;
                layout.decode(identity, &self.send(how, family, endpoint, &layout.calls()).await?)?
            }
            _ => evm::decode(identity, &self.send(how, family, endpoint, &evm::calls(reads)).await?)?,
        };
        Ok((how, told))
    }

    /// One item a call. A failed batch is one failure; singles fail each for itself.
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
                let items = calls.iter().map(|call| async move {
                    let reply = self.transport.post(endpoint, rpc::single_body(call)).await?;
                    rpc::read_single(family, &reply)?
                });
                Ok(join_all(items).await)
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

/// Whether an answer says that the endpoint should be asked in another way: it told nothing, and
/// something because it does not offer this one.
fn refuses_plan(answer: &Answer) -> bool {
    let unsupported = |failure: &Failure| failure.class == Class::Unsupported;
    match answer {
        Ok((_, told)) => !told.iter().any(Result::is_ok) && told.iter().filter_map(endpoint_failure).any(unsupported),
        Err(failure) => unsupported(failure),
    }
}

/// What an attempt says of its endpoint: the worst of what it did with any balance. One that told
/// none did nothing well, whatever its gateway answers about the chain.
fn outcome(answer: &Answer, took: Duration, limit: Duration) -> Outcome {
    let failures: Vec<&Failure> = match answer {
        Ok((_, told)) => told.iter().filter_map(endpoint_failure).collect(),
        Err(failure) => vec![failure],
    };
    let with = |effect| failures.iter().find(|failure| failure.class.effect() == effect);
    let told_any = answer.as_ref().is_ok_and(|(_, told)| told.iter().any(Result::is_ok));
    if with(Effect::OpenNow).is_some() {
        Outcome::WrongChain
    } else if took > limit + GRACE {
        // The device slept, or nobody polled: what passed for the endpoint's time was not.
        Outcome::Neutral
    } else if with(Effect::Fault).is_some() {
        Outcome::Fault
    } else if let Some(failure) = with(Effect::Throttle) {
        Outcome::Throttled { retry_after: failure.retry_after }
    } else if told_any {
        Outcome::Success { latency: took.min(limit) }
    } else {
        Outcome::Neutral
    }
}
