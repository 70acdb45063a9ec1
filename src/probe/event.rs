//! What happens while endpoints are asked, for logs and dashboards.
//!
//! A failed attempt is reported every time. A lasting state (an open circuit, a throttled endpoint, a device offline)
//! is reported when it begins and when it ends.

use std::sync::Arc;

use serde::Serialize;

use crate::chain::ChainId;
use crate::health::{FailureClass, OpenReason, Transition};
use crate::runtime::{MaybeSend, MaybeSync};

/// Something that happened to an endpoint. Endpoints go by host, a provider by its label; nothing in here is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SelectorEvent {
    /// A selection went on to another endpoint.
    Failover {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint that did not answer everything.
        from: Arc<str>,
        /// The one asked next.
        to: Arc<str>,
    },
    /// An endpoint did not answer as it should have.
    Failed {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
        /// What kind of failure it was.
        class: FailureClass,
    },
    /// An endpoint asked for fewer requests.
    Throttled {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
    },
    /// An endpoint answered for another chain.
    IdentityMismatch {
        /// The network that it is configured for.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
    },
    /// Two endpoints reported different balances of one account.
    BalancesDisagree {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint that reported less.
        lower: Arc<str>,
        /// The endpoint whose balance was taken.
        higher: Arc<str>,
    },
    /// A circuit opened.
    CircuitOpened {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
        /// Why.
        reason: OpenReason,
    },
    /// A circuit's trial started.
    CircuitHalfOpen {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
    },
    /// A circuit closed.
    CircuitClosed {
        /// The network as CAIP-2 id.
        network: ChainId,
        /// The endpoint.
        endpoint: Arc<str>,
    },
    /// No endpoint of any network could be reached.
    Offline,
}

impl SelectorEvent {
    pub(crate) fn from_transition(transition: Transition, network: ChainId, endpoint: Arc<str>) -> Self {
        match transition {
            Transition::Opened(reason) => Self::CircuitOpened { network, endpoint, reason },
            Transition::Closed => Self::CircuitClosed { network, endpoint },
        }
    }
}

/// Gets every [`SelectorEvent`] of a selector, on the task that caused it: a selection's own, or that of a
/// trial in the background. Any function of an event is one. It should return quickly, for that task waits,
/// and may call the selector. A panic in it is the selection's.
///
/// ```
/// # use payroute::{BoxFuture, Endpoint, HttpReply, Transport, TransportError};
/// # struct MyTransport;
/// # impl Transport for MyTransport {
/// #     fn post<'a>(&'a self, _: &'a Endpoint, _: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
/// #         Box::pin(async { Err(TransportError::Unreachable) })
/// #     }
/// # }
/// use payroute::{Config, RouteSelector, SelectorEvent};
///
/// let selector = RouteSelector::builder(Config::from_json("{}")?)
///     .transport(MyTransport)
///     .on_event(|event: &SelectorEvent| match event {
///         SelectorEvent::CircuitOpened { network, endpoint, reason } => {
///             eprintln!("{endpoint} of {network} is left alone: {}", reason.name());
///         }
///         SelectorEvent::Offline => eprintln!("no endpoint could be reached"),
///         _ => {}
///     })
///     .build()?;
/// # let _ = selector;
/// # Ok::<(), payroute::SelectError>(())
/// ```
pub trait Observer: MaybeSend + MaybeSync + 'static {
    /// Called once an event.
    fn on_event(&self, event: &SelectorEvent);
}

impl<F: Fn(&SelectorEvent) + MaybeSend + MaybeSync + 'static> Observer for F {
    fn on_event(&self, event: &SelectorEvent) {
        self(event);
    }
}
