//! How a selector is put together.

use std::sync::Arc;

use super::RouteSelector;
use crate::config::Config;
use crate::error::{BuildError, RuntimeError};
use crate::health::HealthIndex;
use crate::hold::Ledger;
use crate::probe::{Observer, Prober};
use crate::transport::{self, Transport};

/// Builds a [`RouteSelector`].
#[must_use]
pub struct RouteSelectorBuilder {
    pub(super) config: Config,
    pub(super) health: Option<HealthIndex>,
    pub(super) transport: Option<Arc<dyn Transport>>,
    pub(super) observer: Option<Arc<dyn Observer>>,
}

impl RouteSelectorBuilder {
    /// Uses `health` instead of an index of its own; the `health` settings of the configuration
    /// then have no effect.
    pub fn health(mut self, health: HealthIndex) -> Self {
        self.health = Some(health);
        self
    }

    /// Sends requests through `transport` instead of the ready-made one.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Calls `observer` with failovers, throttling and circuits as they happen.
    pub fn on_event(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The selector.
    ///
    /// # Errors
    /// There is no transport, or the ready-made one cannot be made or does not reach every endpoint.
    pub fn build(self) -> Result<RouteSelector, BuildError> {
        let transport = match self.transport {
            Some(transport) => transport,
            None => {
                self.config.require_urls()?;
                transport::ready_made().map_err(|(problem, needed)| RuntimeError::new(problem, needed))?
            }
        };
        let health = self.health.unwrap_or_else(|| HealthIndex::with_settings(self.config.health.clone()));
        let prober = Prober::new(transport, health, self.observer, self.config.probe);
        Ok(RouteSelector { config: Arc::new(self.config), prober, holds: Ledger::default() })
    }
}
