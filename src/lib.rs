//! Client-side payment route selection for [x402](https://www.x402.org).
//!
//! A merchant answers `402 Payment Required` with several ways to pay. payroute asks RPC endpoints,
//! which it does not trust, what the buyer really holds, and says which offer to pay, what comes next,
//! and why. It never signs, settles or bridges.
//!
//! # The tour
//!
//! - [`PaymentRequired`] is the merchant's 402, every offer with its exact original JSON.
//! - [`Config`] says who the buyer is, which endpoints to ask and what to refuse.
//! - [`RouteSelector::select`] screens the offers, reads all balances at once (once more where one that
//!   is too low would change the route), ranks, and returns a [`Selection`] or a [`SelectError`] with
//!   the same [`Candidate`]s.
//! - [`Selection::hold`] keeps overlapping selections from spending the same money twice.
//! - [`rank`] is only the ordering: pure and public, for what-if.
//! - [`HealthIndex`] remembers how endpoints behaved; selectors can share one.
//! - [`Transport`] is the only way to the network.
//!
//! ```no_run
//! # async fn run(headers: Vec<(&str, &[u8])>, body: &[u8]) -> Result<(), payroute::SelectError> {
//! use payroute::{Config, RouteSelector};
//!
//! let config = Config::from_json(r#"{
//!     "owners": {"eip155": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
//!     "routing": {"preferNetworks": ["base"]}
//! }"#)?;
//! let selector = RouteSelector::new(config)?;
//! // Of the response with status 402: version 2 has its terms in a header, version 1 in the body.
//! let payment_required = selector.decode_response(headers, body)?;
//! match selector.select(&payment_required).await {
//!     Ok(selection) => println!("pay {}\n{}", selection.requirement().json(), selection.explain()),
//!     Err(error) => error.deficits().iter().for_each(|deficit| println!("{deficit}")),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Selections run inside a Tokio runtime with time enabled (on WASM, in the host's event loop).
//!
//! # Not for
//!
//! Signing or sending payments; choosing between merchants; prices in different currencies: offers
//! are ranked by whether, where and how safely they can be paid, not by what they cost.
//!
//! # Features
//!
//! - `reqwest` (default): the ready-made HTTP transport, natively with rustls, on WASM over the
//!   host's `fetch`.
//! - `fetch`: on WASM the ready-made transport without reqwest, over the host's `fetch` directly: tens of
//!   kilobytes less. Use it with `default-features = false`. It ships an ES module beside wasm-bindgen's output, so
//!   the `no-modules` target is unsupported and `nodejs` needs a Node that can `require()` ES modules. It has no
//!   effect natively.
//!
//!   Without either feature the crate opens no connection, `RouteSelector::new` does not exist, and
//!   [`RouteSelector::builder`] must be given a [`Transport`].
//! - `tracing`: spans `select` and `probe` and every [`SelectorEvent`], through the `tracing` crate. Without it
//!   nothing is logged anywhere.

// Untrusted input must neither panic nor silently change a number. Every `#[allow]` says why it is safe.
#![cfg_attr(
    not(test),
    deny(
        clippy::allow_attributes_without_reason,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::string_slice,
        clippy::unreachable
    )
)]

// The rooms, as a payment passes through them. `payment` reads the 402, and `config` says who buys, within which policy.
// `scheme` screens each offer and finds its route. `probe` reads balances through `transport`, and chooses endpoints by
// what `health` remembers of them. `scheme` then judges what was read, and `ranking` orders the candidates. `selector`
// is the whole flow, and `hold` keeps the money of payments under way apart. `chain` knows networks, tokens and amounts,
// `runtime` knows the platform, and `util` helps everywhere.
mod chain;
mod config;
mod config_error;
mod error;
mod health;
mod hold;
mod payment;
mod probe;
mod ranking;
mod runtime;
mod scheme;
mod selector;
mod transport;
mod util;

#[doc(no_inline)]
pub use chain::registry::NAMES;
pub use chain::{Amount, AmountError, ChainFamily, ChainId, MAX_DECIMALS, NetworkError, registry};
pub use config::{AssetBuilder, Config, ConfigBuilder, EndpointBuilder, NetworkBuilder, Strategy};
pub use config_error::ConfigurationError;
pub use error::{BuildError, RuntimeError, SelectError};
pub use health::{
    Circuit, EndpointHealth, EndpointKey, FailureClass, HealthIndex, HealthSettings, OpenReason, Outcome, ReadPlan,
    Score, ScoreParts, SnapshotError,
};
pub use hold::{Hold, HoldError};
pub use payment::{
    Carrier, CarrierFailure, DecodeError, Extra, Limits, MalformedField, PaymentRequired, PaymentRequirement, Terms,
    X402Version,
};
pub use probe::{EndpointMetrics, Observer, SelectorEvent};
pub use ranking::{Approval, Candidate, DecidingKey, Deficit, Note, Rejection, RejectionReason, explain, rank};
pub use runtime::{BoxFuture, MaybeSend, MaybeSync};
pub use selector::{RouteSelector, RouteSelectorBuilder, Selection};
#[cfg(all(feature = "fetch", target_arch = "wasm32"))]
pub use transport::FetchTransport;
pub use transport::{Endpoint, HttpReply, MAX_RESPONSE_BYTES, Transport, TransportError};

/// For the crate's own tests, benchmarks and npm package; no part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::health::{AttemptGuard, EndpointState, Transition};
    pub use crate::ranking::{RankInput, order};
    pub use crate::runtime::Instant;
    pub use crate::selector::PreparedHold;
    #[cfg(all(feature = "fetch", target_arch = "wasm32"))]
    pub use crate::transport::{Exchange, reply_of};
}

/// The documents' examples, compiled by the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../GUIDE.md")]
#[doc = include_str!("../docs/health.md")]
struct DocumentExamples;
