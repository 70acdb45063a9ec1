//! The feature `tracing`: spans and events through the crate of that name; nothing without it.

use crate::chain::ChainId;
use crate::probe::SelectorEvent;

#[cfg(feature = "tracing")]
mod imp {
    use tracing::Instrument;

    use super::{ChainId, SelectorEvent};

    pub(crate) async fn select<T>(offers: usize, work: impl Future<Output = T>) -> T {
        work.instrument(tracing::info_span!("select", offers)).await
    }

    pub(crate) async fn probe<T>(network: &ChainId, endpoint: &str, work: impl Future<Output = T>) -> T {
        work.instrument(tracing::info_span!("probe", %network, endpoint)).await
    }

    pub(crate) fn event(event: &SelectorEvent) {
        match event {
            SelectorEvent::Failover { network, from, to } => tracing::info!(%network, %from, %to, "failover"),
            SelectorEvent::Failed { network, endpoint, class } => tracing::info!(%network, %endpoint, %class, "failed"),
            SelectorEvent::Throttled { network, endpoint } => tracing::info!(%network, %endpoint, "throttled"),
            SelectorEvent::IdentityMismatch { network, endpoint } => {
                tracing::warn!(%network, %endpoint, "identity mismatch");
            }
            SelectorEvent::BalancesDisagree { network, lower, higher } => {
                tracing::warn!(%network, %lower, %higher, "balances disagree");
            }
            SelectorEvent::CircuitOpened { network, endpoint, reason } => {
                tracing::warn!(%network, %endpoint, ?reason, "circuit opened");
            }
            SelectorEvent::CircuitHalfOpen { network, endpoint } => {
                tracing::info!(%network, %endpoint, "circuit half-open");
            }
            SelectorEvent::CircuitClosed { network, endpoint } => tracing::info!(%network, %endpoint, "circuit closed"),
            SelectorEvent::Offline => tracing::warn!("offline"),
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use super::{ChainId, SelectorEvent};

    pub(crate) fn select<T, W: Future<Output = T>>(_offers: usize, work: W) -> W {
        work
    }

    pub(crate) fn probe<T, W: Future<Output = T>>(_network: &ChainId, _endpoint: &str, work: W) -> W {
        work
    }

    pub(crate) fn event(_event: &SelectorEvent) {}
}

pub(crate) use imp::{event, probe, select};
