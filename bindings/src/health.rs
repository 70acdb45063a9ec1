//! A health index that several selectors share, as a handle.

use payroute::Config;
use wasm_bindgen::prelude::*;

use crate::convert;
use crate::selector::Selector;
use crate::transport::Host;

/// What every endpoint did lately.
#[wasm_bindgen]
pub struct HealthIndex(payroute::HealthIndex);

#[wasm_bindgen]
impl HealthIndex {
    /// An index with the `health` of a configuration.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str) -> Result<HealthIndex, String> {
        let config = Config::from_json(config);
        let index = config.and_then(|config| payroute::HealthIndex::new(config.health().clone()));
        index.map(Self).map_err(|error| convert::failure(&error.into()))
    }

    /// A selector that shares this index; else as `Selector::new`.
    ///
    /// # Errors
    /// A text, as JSON of a failure.
    pub fn selector(&self, config: &str, host: Host, events: bool) -> Result<Selector, String> {
        Selector::build(config, host, events, Some(&self.0))
    }

    /// Forgets every observation of endpoints.
    pub fn reset(&self) {
        self.0.reset();
    }
}
