//! One attempt at one endpoint under one deadline, and its report to health.
//!
//! Knows the ways to ask and what an answer means for the endpoint. Refuses to know other
//! endpoints.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::finding::{Told, ToldBalance, Unread, Untold, Why};
use super::plan::NetworkPlan;
use super::query::Query;
use super::rpc::Failure;
use super::traffic::InFlight;
use super::{GRACE, Prober};
use crate::health::{
    AttemptGuard, Circuit, Effect, FailureClass as Class, Next, Outcome, PLAN_MEMORY, PlanEffect, ReadPlan, millis,
};
use crate::probe::{SelectorEvent, trace};
use crate::runtime::{BoxFuture, Instant};
use crate::scheme::facts::AccountState;
use crate::scheme::screen::BalanceRead;
use crate::transport::{Endpoint, HttpReply, TransportError};

/// How long a way of asking is preferred to better ones that were refused, and to those that failed.
const REFUSED_MEMORY: Duration = PLAN_MEMORY;
const FAILED_MEMORY: Duration = Duration::from_secs(60);

/// What one attempt came to.
pub(super) struct Attempt {
    pub(super) asked: Asked,
    /// The positions in the plan of what was asked for.
    pub(super) reads: Vec<usize>,
    /// One finding a read, in order.
    pub(super) findings: Vec<Result<Box<AccountState>, Unread>>,
    /// The endpoint could not be reached at all; its permit is still to be settled.
    pub(super) unreachable: Option<Unreachable>,
    /// How long past its deadline it went on, on a thread that was busy.
    pub(super) late: Duration,
}

/// An endpoint and its circuit when it was asked.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) circuit: Circuit,
}

/// An attempt that met no sign of life. Whose fault that is depends on the others.
pub(super) struct Unreachable {
    pub(super) guard: AttemptGuard,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) since: Instant,
}

/// How an endpoint was asked and what it told.
type Answer = Result<(ReadPlan, Told), Failure>;

impl Prober {
    pub(super) fn ask<'a>(
        &'a self,
        plan: &'a NetworkPlan,
        endpoint: &'a Arc<Endpoint>,
        reads: Vec<usize>,
        guard: AttemptGuard,
        in_flight: InFlight,
    ) -> BoxFuture<'a, Box<Attempt>> {
        Box::pin(async move {
            let mut wanted: Vec<&BalanceRead> = Vec::new();
            wanted.extend(reads.iter().filter_map(|position| plan.reads.get(*position)));
            let (started, limit) = (self.clock.now(), self.settings.timeout);
            let conversation = self.clock.within(limit, Box::pin(self.try_plans(plan, endpoint, &wanted)));
            let answer = trace::probe(&plan.network.chain, endpoint.host(), conversation).await;
            let answer = answer
                .unwrap_or_else(|| Err(Failure::new(Class::Fault, &format!("no answer within {} ms", millis(limit)))));
            let ended = self.clock.now();
            self.tell(endpoint, &answer, &in_flight);
            let asked = Asked { endpoint: endpoint.clone(), circuit: guard.circuit() };
            let mut unreachable = Some(Unreachable { guard, endpoint: endpoint.clone(), since: ended });
            if !answer.as_ref().is_err_and(|failure| failure.unreachable)
                && let Some(heard) = unreachable.take()
            {
                self.traffic.hear(ended);
                self.settle(heard, outcome(&answer, ended.since(started), limit));
            }
            let mut findings = Vec::new();
            match answer {
                Ok((how, told)) => findings.extend(told.balances.into_iter().map(|balance| found(balance, how))),
                Err(failure) => {
                    let why = if failure.class == Class::Identity { Why::WrongChain } else { Why::NoAnswer };
                    let unread = Unread { why, detail: failure.into_detail() };
                    wanted.iter().for_each(|_| findings.push(Err(unread.clone())));
                }
            }
            let late = ended.since(started).saturating_sub(limit);
            Box::new(Attempt { asked, reads, findings, unreachable, late })
        })
    }

    /// Counts the failures of an answer and tells of them, each class once; that an endpoint wants
    /// patience only when that is news.
    fn tell(&self, endpoint: &Endpoint, answer: &Answer, in_flight: &InFlight) {
        let failures = failures(answer);
        let mut classes = Vec::new();
        for class in Class::ALL {
            if failures.iter().any(|failure| failure.class == class) {
                classes.push(class);
            }
        }
        in_flight.count(told_any(answer), &classes);
        for class in classes {
            if class.next() == Next::Accept {
                continue;
            }
            let (network, endpoint_host) = (endpoint.key().network().clone(), endpoint.shared_host().clone());
            let throttled = || self.health.inspect(endpoint.key(), self.clock.now()).throttled;
            self.emit(&match class.effect() {
                Effect::OpenNow => SelectorEvent::IdentityMismatch { network, endpoint: endpoint_host },
                Effect::Throttle | Effect::LongThrottle if throttled() => continue,
                Effect::Throttle | Effect::LongThrottle => {
                    SelectorEvent::Throttled { network, endpoint: endpoint_host }
                }
                _ => SelectorEvent::Failed { network, endpoint: endpoint_host, class },
            });
        }
    }

    /// Asks in the best way that the endpoint is known to take, and in the next ones where it turns
    /// out not to.
    async fn try_plans(&self, plan: &NetworkPlan, endpoint: &Endpoint, reads: &[&BalanceRead]) -> Answer {
        let plans = ReadPlan::all(plan.network.chain.family());
        let known = self.health.inspect(endpoint.key(), self.clock.now()).plan;
        let first = plans.iter().position(|how| known == Some(*how)).unwrap_or(0);
        let (mut refused, mut memory): (Option<Answer>, _) = (None, REFUSED_MEMORY);
        // What was remembered may not hold any more, so those before it come last.
        for how in plans.iter().skip(first).chain(plans.iter().take(first)) {
            let query = Query::new(plan, *how, reads)?;
            let answer = query.read(self.post(endpoint, query.bodies()).await).map(|told| (*how, told));
            if !refuses_plan(&answer) {
                if refused.is_some() && told_any(&answer) {
                    self.health.remember_plan(endpoint.key(), *how, memory, self.clock.now());
                }
                return answer;
            }
            if failures(&answer).iter().any(|failure| failure.passing) {
                memory = FAILED_MEMORY;
            }
            // Of refusals, one that proves the chain tells more.
            if answer.is_ok() || refused.as_ref().is_none_or(Result::is_err) {
                refused = Some(answer);
            }
        }
        refused.unwrap_or_else(|| Err(Failure::new(Class::Unsupported, "no way of asking is supported")))
    }

    /// The replies to `bodies`, which are posted all at once.
    async fn post(&self, endpoint: &Endpoint, bodies: Vec<String>) -> Vec<Result<HttpReply, TransportError>> {
        join_all(bodies.into_iter().map(|body| self.transport.post(endpoint, body))).await
    }
}

fn found(balance: ToldBalance, how: ReadPlan) -> Result<Box<AccountState>, Unread> {
    match balance {
        Ok(mut holding) => {
            holding.notes.extend(how.note());
            Ok(holding)
        }
        Err(untold) => {
            let (why, detail) = match untold {
                Untold::Chain(detail) => (Why::Untold, detail.to_owned()),
                Untold::NoContract => (Why::NoContract, "no contract answers at the asset's address".to_owned()),
                Untold::Endpoint(failure) if failure.class.next() == Next::Accept => {
                    (Why::Refused, failure.into_detail())
                }
                Untold::Endpoint(failure) => (Why::Untold, failure.into_detail()),
            };
            Err(Unread { why, detail })
        }
    }
}

fn told_any(answer: &Answer) -> bool {
    let all_or_some = |told: &Told| told.balances.is_empty() || told.balances.iter().any(Result::is_ok);
    answer.as_ref().is_ok_and(|(_, told)| all_or_some(told))
}

fn failures(answer: &Answer) -> Vec<&Failure> {
    match answer {
        Ok((_, told)) => {
            let mut failures: Vec<&Failure> = told.throttles.iter().collect();
            for balance in &told.balances {
                if let Err(Untold::Endpoint(failure)) = balance {
                    failures.push(failure);
                }
            }
            failures
        }
        Err(failure) => vec![failure],
    }
}

/// Whether an answer says that the endpoint should be asked in another way: it told nothing, and
/// something because it does not offer this one. Not where it wants patience.
fn refuses_plan(answer: &Answer) -> bool {
    let failures = failures(answer);
    let waits = |failure: &&Failure| matches!(failure.class.effect(), Effect::Throttle | Effect::LongThrottle);
    let downgrades = |failure: &&Failure| failure.class.plan_effect() == PlanEffect::Downgrade;
    !told_any(answer) && failures.iter().any(downgrades) && !failures.iter().any(waits)
}

/// What an attempt says of its endpoint: the worst of what it did with any balance. One that told
/// none did nothing well, whatever its gateway answers about the chain.
fn outcome(answer: &Answer, took: Duration, limit: Duration) -> Outcome {
    let failures = failures(answer);
    let with = |effect| failures.iter().find(|failure| failure.class.effect() == effect);
    if with(Effect::OpenNow).is_some() {
        Outcome::WrongChain
    } else if took > limit.saturating_add(GRACE) {
        // The device slept, or nobody polled: what passed for the endpoint's time was not.
        Outcome::Neutral
    } else if with(Effect::Fault).is_some() {
        Outcome::Fault
    } else if with(Effect::SoftFault).is_some() {
        Outcome::SoftFault
    } else if with(Effect::LongThrottle).is_some() {
        Outcome::QuotaUsedUp
    } else if let Some(failure) = with(Effect::Throttle) {
        Outcome::Throttled { retry_after: failure.retry_after }
    } else {
        match answer {
            // What came after the limit came to a thread that was busy: nobody knows how long it took.
            Ok((_, told)) if told_any(answer) && took <= limit => {
                Outcome::Success { latency: took, chain_time_ms: told.chain_time_ms }
            }
            _ => Outcome::Neutral,
        }
    }
}
