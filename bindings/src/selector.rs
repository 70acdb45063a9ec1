//! The selector and the health index as handles.

use std::cell::RefCell;
use std::rc::Rc;

use futures::stream::{AbortHandle, Abortable};
use js_sys::{Array, Promise};
use payroute::{BoxFuture, Config, Endpoint, Event, HealthIndex, PaymentRequired, Record, RouteSelector, Value};
use wasm_bindgen::prelude::*;

use crate::convert;
use crate::hold::Claim;
use crate::payment::{Payment, decoded, response};
use crate::transport::{Host, JsTransport};

/// A health index that selectors share.
#[wasm_bindgen]
pub struct Health(HealthIndex);

#[wasm_bindgen]
impl Health {
    /// An index with the settings of a configuration document.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str) -> Result<Health, String> {
        let config = Config::from_json(config).map_err(convert::config_failure)?;
        Ok(Self(HealthIndex::new(config.health().clone())))
    }

    /// Forgets every observation.
    pub fn reset(&self) {
        self.0.reset();
    }
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

    /// As `new`, with a shared `health`.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn sharing(config: &str, host: Host, events: bool, health: &Health) -> Result<Selector, String> {
        Self::build(config, host, events, Some(health.0.clone()))
    }

    fn build(config: &str, host: Host, events: bool, health: Option<HealthIndex>) -> Result<Selector, String> {
        let config = Config::from_json(config).map_err(convert::config_failure)?;
        let host = Rc::new(host);
        let mut builder = RouteSelector::builder(config).transport(JsTransport(host.clone()));
        if let Some(health) = health {
            builder = builder.health(health);
        }
        if events {
            builder = builder.on_event(move |event: &Event| host.event(&event.record().to_json()));
        }
        let core = builder.build().map_err(convert::config_failure)?;
        Ok(Self { core, running: Rc::default() })
    }

    /// Decodes a document within this configuration's limits.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn decode(&self, text: &str) -> Result<Payment, String> {
        decoded(PaymentRequired::from_text_within(text, self.core.config().limits()))
    }

    /// Decodes a response within this configuration's limits.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(js_name = decodeResponse)]
    pub fn decode_response(&self, headers: Vec<String>, body: &[u8]) -> Result<Payment, String> {
        response(&headers, body, self.core.config().limits())
    }

    /// The most bytes of a body that are worth handing over.
    #[wasm_bindgen(getter, js_name = bodyLimit)]
    pub fn body_limit(&self) -> usize {
        self.core.config().limits().body_bytes
    }

    /// A promise of a list: the answer as JSON and its claim, or the failure as JSON alone; of an empty
    /// list once `cancel(call)` was called.
    pub fn select(&self, call: u32, payment: &Payment) -> Promise {
        let (core, payment, running) = (self.core.clone(), payment.0.clone(), self.running.clone());
        let (handle, registration) = AbortHandle::new_pair();
        running.borrow_mut().push((call, handle));
        wasm_bindgen_futures::future_to_promise(async move {
            let work: BoxFuture<'_, _> = Box::pin(core.select(&payment));
            let answer = Abortable::new(work, registration).await;
            running.borrow_mut().retain(|(other, _)| *other != call);
            let list = Array::new();
            match answer {
                Ok(Ok(selection)) => {
                    list.push(&JsValue::from_str(&convert::answer(&selection)));
                    list.push(&Claim(selection.claim().clone()).into());
                }
                Ok(Err(error)) => _ = list.push(&JsValue::from_str(&convert::failure(&error))),
                Err(_) => {}
            }
            Ok(list.into())
        })
    }

    /// Drops the selection with this number, if it is still under way: its requests end and what it
    /// held of endpoints comes back.
    pub fn cancel(&self, call: u32) {
        if let Some((_, handle)) = self.running.borrow().iter().find(|(other, _)| *other == call) {
            handle.abort();
        }
    }

    /// Health as it stands, as JSON.
    pub fn health(&self) -> String {
        Value::List(self.core.health().iter().map(|view| Value::Record(view.record())).collect()).to_json()
    }

    /// Every configured endpoint, as JSON.
    pub fn endpoints(&self) -> String {
        Value::List(self.core.endpoints().map(described).collect()).to_json()
    }

    /// Counts by endpoint and class, as JSON.
    pub fn metrics(&self) -> String {
        Value::List(self.core.metrics().iter().map(|row| Value::Record(row.record())).collect()).to_json()
    }

    /// Takes the endpoint with this id out of use, or puts it back. Whether there is one.
    #[wasm_bindgen(js_name = setCordon)]
    pub fn set_cordon(&self, id: &str, cordoned: bool) -> bool {
        let Some(endpoint) = self.core.endpoints().find(|endpoint| endpoint.key().id() == id) else {
            return false;
        };
        if cordoned {
            self.core.cordon(endpoint);
        } else {
            self.core.uncordon(endpoint);
        }
        true
    }

    /// Health as a snapshot.
    #[wasm_bindgen(js_name = snapshotHealth)]
    pub fn snapshot_health(&self) -> String {
        self.core.snapshot_health()
    }

    /// Replaces health by a snapshot; a problem if the text is none.
    #[wasm_bindgen(js_name = restoreHealth)]
    pub fn restore_health(&self, snapshot: &str) -> Option<String> {
        self.core.restore_health(snapshot).err().map(|error| error.to_string())
    }

    /// Forgets every observation of endpoints.
    #[wasm_bindgen(js_name = resetHealth)]
    pub fn reset_health(&self) {
        self.core.reset_health();
    }
}

fn described(endpoint: &Endpoint) -> Value {
    let mut record = Record::default();
    record.text("network", endpoint.key().network().as_str());
    record.text("endpoint", endpoint.host());
    record.text("id", &endpoint.key().id());
    Value::Record(record)
}
