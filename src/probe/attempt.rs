//! One attempt at one endpoint under one deadline, and its report to health.
//!
//! Knows the read plans and what a reply means for the endpoint. Refuses to know other endpoints.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::plan::NetworkPlan;
use super::query::Query;
use super::read_error::{BalanceReport, BalanceResult, Unread};
use super::rpc::Failure;
use super::traffic::InFlight;
use super::{GRACE, Prober};
use crate::health::{
    AttemptGuard, Circuit, Effect, FailureClass as Class, Next, Outcome, PLAN_MEMORY, PlanEffect, ReadPlan, millis,
};
use crate::probe::{SelectorEvent, trace};
use crate::runtime::Instant;
use crate::scheme::screen::BalanceRead;
use crate::transport::{Endpoint, HttpReply, TransportError};

/// How long a read plan is preferred to better ones that were refused, and to better ones that failed.
const REFUSED_MEMORY: Duration = PLAN_MEMORY;
const FAILED_MEMORY: Duration = Duration::from_secs(60);

/// A finished attempt.
pub(super) struct Attempt {
    pub(super) asked: Asked,
    /// The position of each read in the plan, and its result.
    pub(super) results: Vec<(usize, BalanceResult)>,
    /// The endpoint could not be reached at all; health does not know yet.
    pub(super) unreachable: Option<Unreachable>,
    /// How long the attempt ran past its deadline because the thread was blocked.
    pub(super) late: Duration,
}

/// An endpoint and its circuit when it was asked.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) circuit: Circuit,
}

/// An attempt without any reply. Whether that is the endpoint's fault depends on the other endpoints.
pub(super) struct Unreachable {
    pub(super) guard: AttemptGuard,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) since: Instant,
}

type Reply = Result<BalanceReport, Failure>;

impl Prober {
    /// Reads what stands at the positions `reads` of the plan.
    pub(super) async fn run_attempt(
        &self,
        plan: &NetworkPlan,
        endpoint: &Arc<Endpoint>,
        reads: Vec<usize>,
        guard: AttemptGuard,
        in_flight: InFlight,
    ) -> Attempt {
        let wanted: Vec<&BalanceRead> = reads.iter().map(|position| plan.read(*position)).collect();
        let (started, limit) = (self.clock.now(), self.settings.timeout);
        let reply = self.clock.within(limit, Box::pin(self.try_read_plans(plan, endpoint, &wanted)));
        let reply = trace::probe(&plan.network.chain, endpoint.host(), reply).await;
        let timeout = || Err(Failure::new(Class::Fault, format!("no answer within {} ms", millis(limit))));
        let reply = reply.unwrap_or_else(timeout);
        let ended = self.clock.now();
        self.report_failures(endpoint, &reply, &in_flight);
        let asked = Asked { endpoint: endpoint.clone(), circuit: guard.circuit() };
        let unreachable = if reply.as_ref().is_err_and(|failure| failure.unreachable) {
            Some(Unreachable { guard, endpoint: endpoint.clone(), since: ended })
        } else {
            self.traffic.note_reply(ended);
            self.settle(endpoint, guard, outcome(&reply, ended.since(started), limit), ended);
            None
        };
        let results = match reply {
            Ok(report) => reads.into_iter().zip(report.results).collect(),
            Err(failure) => reads.into_iter().map(|read| (read, Err(Unread::Unproven(failure.clone())))).collect(),
        };
        Attempt { asked, results, unreachable, late: ended.since(started).saturating_sub(limit) }
    }

    /// Counts failures, one event per class; `Throttled` only if the endpoint was not throttled before.
    fn report_failures(&self, endpoint: &Endpoint, reply: &Reply, in_flight: &InFlight) {
        let failures = failures(reply);
        let is_met = |class: &Class| failures.iter().any(|failure| failure.class == *class);
        let classes: Vec<Class> = Class::ALL.into_iter().filter(is_met).collect();
        in_flight.count(has_balance(reply), &classes);
        for class in classes.into_iter().filter(|class| class.next() != Next::Accept) {
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

    /// Tries the read plan that the endpoint is known to support, and the next ones if it does not.
    async fn try_read_plans(&self, plan: &NetworkPlan, endpoint: &Endpoint, reads: &[&BalanceRead]) -> Reply {
        let plans = ReadPlan::all(plan.network.chain.family());
        let known = self.health.inspect(endpoint.key(), self.clock.now()).plan;
        let first = plans.iter().position(|read_plan| known == Some(*read_plan)).unwrap_or(0);
        let (mut refused, mut memory): (Option<Reply>, _) = (None, REFUSED_MEMORY);
        // What was remembered may not hold any more, so those before it come last.
        for read_plan in plans.iter().skip(first).chain(plans.iter().take(first)) {
            let query = Query::new(plan, *read_plan, reads)?;
            let reply = query.decode(self.post(endpoint, query.bodies()).await);
            if !refuses_read_plan(&reply) {
                if refused.is_some() && has_balance(&reply) {
                    self.health.remember_plan(endpoint.key(), *read_plan, memory, self.clock.now());
                }
                return reply;
            }
            if failures(&reply).iter().any(|failure| failure.temporary) {
                memory = FAILED_MEMORY;
            }
            // A refusal that proves the chain says more than one that does not.
            if reply.is_ok() || refused.as_ref().is_none_or(Result::is_err) {
                refused = Some(reply);
            }
        }
        refused.unwrap_or_else(|| Err(Failure::new(Class::Unsupported, "no way of asking is supported")))
    }

    /// The replies to `bodies`, which are posted all at once.
    async fn post(&self, endpoint: &Endpoint, bodies: Vec<String>) -> Vec<Result<HttpReply, TransportError>> {
        join_all(bodies.into_iter().map(|body| self.transport.post(endpoint, body))).await
    }
}

/// Whether a reply has a balance, or was not asked for any.
fn has_balance(reply: &Reply) -> bool {
    reply.as_ref().is_ok_and(|report| report.results.is_empty() || report.results.iter().any(Result::is_ok))
}

fn failures(reply: &Reply) -> Vec<&Failure> {
    match reply {
        Ok(report) => {
            let items = report.results.iter().filter_map(|result| match result {
                Err(Unread::Item(failure)) => Some(failure),
                _ => None,
            });
            report.throttles.iter().chain(items).collect()
        }
        Err(failure) => vec![failure],
    }
}

/// Whether the next read plan should be tried: no balance came, and something failed because the endpoint does not
/// support this plan. Never while the endpoint throttles.
fn refuses_read_plan(reply: &Reply) -> bool {
    let failures = failures(reply);
    let throttles = |failure: &&Failure| matches!(failure.class.effect(), Effect::Throttle | Effect::LongThrottle);
    let downgrades = |failure: &&Failure| failure.class.plan_effect() == PlanEffect::Downgrade;
    !has_balance(reply) && failures.iter().any(downgrades) && !failures.iter().any(throttles)
}

/// What an attempt says about its endpoint: the worst of what happened to any balance. Without a balance it is no
/// success, whatever the endpoint's gateway answers about the chain.
fn outcome(reply: &Reply, took: Duration, limit: Duration) -> Outcome {
    let failures = failures(reply);
    let with = |effect| failures.iter().find(|failure| failure.class.effect() == effect);
    if with(Effect::OpenNow).is_some() {
        Outcome::WrongChain
    } else if took > limit.saturating_add(GRACE) {
        // The device slept, or the future was not polled: the endpoint's own time is unknown.
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
        match reply {
            // A reply after the limit came to a blocked thread: its latency is unknown.
            Ok(report) if has_balance(reply) && took <= limit => {
                Outcome::Success { latency: took, chain_time_ms: report.chain_time_ms }
            }
            _ => Outcome::Neutral,
        }
    }
}
