//! The selector as a handle.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::{AbortHandle, Abortable};
use payroute::{BoxFuture, Config, Endpoint, HealthIndex, Outcome, RouteSelector, SelectorEvent};
use wasm_bindgen::prelude::*;

use crate::convert;
use crate::hold::Answered;
use crate::payment::Payment;
use crate::transport::{Host, JsTransport};

/// What a selector is asked for, or is to do.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum Task {
    /// Every configured endpoint.
    Endpoints,
    /// Health as it stands.
    Health,
    /// Counts by endpoint and class.
    Metrics,
    /// Health as a snapshot.
    Snapshot,
    /// Replaces health by the snapshot given.
    Restore,
    /// Forgets every observation of endpoints.
    Reset,
    /// Takes the endpoint with the id given out of use.
    Cordon,
    /// Puts it back.
    Uncordon,
}

#[wasm_bindgen]
extern "C" {
    /// Who waits for a selection.
    pub type Caller;

    /// Hears the answer as JSON, with what stays in the module, or a failure as JSON alone.
    #[wasm_bindgen(method)]
    fn answer(this: &Caller, answer: &str, answered: Option<Answered>);
}

/// A selector. Selections under way have a number, by which they are cancelled.
#[wasm_bindgen]
pub struct Selector {
    core: RouteSelector,
    running: Rc<RefCell<Vec<(u32, AbortHandle)>>>,
}

#[wasm_bindgen]
impl Selector {
    /// A selector over `host` with a health index of its own. `events` says whether the host hears
    /// of events.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, host: Host, events: bool) -> Result<Selector, String> {
        Self::build(config, host, events, None)
    }

    /// Decodes within this configuration's limits; as the function `decode`.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn decode(&self, headers: Option<String>, body: &[u8]) -> Result<Payment, String> {
        Payment::decode(headers.as_deref(), body, self.core.config().limits())
    }

    /// The most bytes of a body that are worth handing over.
    #[wasm_bindgen(js_name = bodyLimit)]
    pub fn body_limit(&self) -> usize {
        self.core.config().limits().body_bytes
    }

    /// Selects. `caller` hears the answer, unless `cancel(call)` comes first.
    pub fn select(&self, call: u32, payment: &Payment, caller: Caller) {
        let (core, payment, running) = (self.core.clone(), payment.0.clone(), self.running.clone());
        let (handle, registration) = AbortHandle::new_pair();
        running.borrow_mut().push((call, handle));
        wasm_bindgen_futures::spawn_local(async move {
            let work: BoxFuture<'_, _> = Box::pin(core.select(&payment));
            let answer = Abortable::new(work, registration).await;
            running.borrow_mut().retain(|(other, _)| *other != call);
            match answer {
                Ok(Ok(selection)) => {
                    caller.answer(&convert::answer(&selection), Some(Answered::new(&selection)));
                }
                Ok(Err(error)) => caller.answer(&convert::failure(&error), None),
                Err(_) => {}
            }
        });
    }

    /// Drops the selection with this number, if it is still under way: its requests end and what it
    /// held of endpoints comes back.
    pub fn cancel(&self, call: u32) {
        if let Some((_, handle)) = self.running.borrow().iter().find(|(other, _)| *other == call) {
            handle.abort();
        }
    }

    /// Does what needs no waiting. Comes to JSON where something is asked, and elsewhere to nothing, or to
    /// what is wrong with the text given.
    pub fn run(&self, task: Task, given: &str) -> String {
        let core = &self.core;
        match task {
            Task::Endpoints => convert::to_json(&core.endpoints().map(Endpoint::key).collect::<Vec<_>>()),
            Task::Health => convert::to_json(&core.health()),
            Task::Metrics => convert::to_json(&core.metrics()),
            Task::Snapshot => core.snapshot_health(),
            Task::Restore => core.restore_health(given).err().map(|error| error.to_string()).unwrap_or_default(),
            Task::Reset => {
                core.reset_health();
                String::new()
            }
            Task::Cordon | Task::Uncordon => {
                let Some(endpoint) = core.endpoints().find(|endpoint| endpoint.key().id() == given) else {
                    return "there is no such endpoint".to_owned();
                };
                match task {
                    Task::Cordon => core.cordon(endpoint),
                    _ => core.uncordon(endpoint),
                }
                String::new()
            }
        }
    }

    /// Records the outcome of the application's own traffic to the endpoint at this position of the list that
    /// `Task::Endpoints` gives. `millis` is the latency of a success, and of `throttled` how long to wait, if that was
    /// said. Says whether there is such an endpoint and such an outcome.
    pub fn report(&self, endpoint: usize, outcome: &str, millis: Option<f64>) -> bool {
        let (Some(endpoint), Some(outcome)) = (self.core.endpoints().nth(endpoint), outcome_named(outcome, millis))
        else {
            return false;
        };
        self.core.report(endpoint, outcome);
        true
    }
}

fn outcome_named(name: &str, millis: Option<f64>) -> Option<Outcome> {
    let duration = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1_000.0).ok());
    Some(match name {
        "success" => Outcome::Success { latency: duration?, chain_time_ms: None },
        "fault" => Outcome::Fault,
        "throttled" => Outcome::Throttled { retry_after: duration },
        "wrong-chain" => Outcome::WrongChain,
        "neutral" => Outcome::Neutral,
        _ => return None,
    })
}

impl Selector {
    pub(crate) fn build(
        config: &str,
        host: Host,
        events: bool,
        health: Option<&HealthIndex>,
    ) -> Result<Selector, String> {
        let config = Config::from_json(config).map_err(|error| convert::failure(&error.into()))?;
        let host = Rc::new(host);
        let mut builder = RouteSelector::builder(config).transport(JsTransport::new(host.clone()));
        if let Some(health) = health {
            builder = builder.health(health.clone());
        }
        if events {
            builder = builder.on_event(move |event: &SelectorEvent| host.event(&convert::to_json(event)));
        }
        let core = builder.build().map_err(|error| convert::failure(&error.into()))?;
        Ok(Self { core, running: Rc::default() })
    }
}
