//! The feature `tracing`: spans and events through the crate of that name; nothing without it.

use crate::chain::ChainId;
use crate::probe::Event;

#[cfg(feature = "tracing")]
mod imp {
    use tracing::Instrument;

    use super::{ChainId, Event};

    pub(crate) async fn select<T>(offers: usize, work: impl Future<Output = T>) -> T {
        work.instrument(tracing::info_span!("select", offers)).await
    }

    pub(crate) async fn probe<T>(network: &ChainId, endpoint: &str, work: impl Future<Output = T>) -> T {
        work.instrument(tracing::info_span!("probe", %network, endpoint)).await
    }

    pub(crate) fn event(event: &Event) {
        match event {
            Event::Failover { network, from, to } => tracing::info!(%network, %from, %to, "failover"),
            Event::Failed { network, endpoint, class } => tracing::info!(%network, %endpoint, %class, "failed"),
            Event::Throttled { network, endpoint } => tracing::info!(%network, %endpoint, "throttled"),
            Event::IdentityMismatch { network, endpoint } => {
                tracing::warn!(%network, %endpoint, "identity mismatch");
            }
            Event::BalancesDisagree { network, lower, higher } => {
                tracing::warn!(%network, %lower, %higher, "balances disagree");
            }
            Event::CircuitOpened { network, endpoint, reason } => {
                tracing::warn!(%network, %endpoint, ?reason, "circuit opened");
            }
            Event::CircuitHalfOpen { network, endpoint } => {
                tracing::info!(%network, %endpoint, "circuit half-open");
            }
            Event::CircuitClosed { network, endpoint } => tracing::info!(%network, %endpoint, "circuit closed"),
            Event::Offline => tracing::warn!("offline"),
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use super::{ChainId, Event};

    pub(crate) fn select<T, W: Future<Output = T>>(_offers: usize, work: W) -> W {
        work
    }

    pub(crate) fn probe<T, W: Future<Output = T>>(_network: &ChainId, _endpoint: &str, work: W) -> W {
        work
    }

    pub(crate) fn event(_event: &Event) {}
}

pub(crate) use imp::{event, probe, select};
