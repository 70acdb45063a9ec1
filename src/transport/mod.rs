//! The one seam to the network: a body goes out to an endpoint, a reply or a failure comes back.
//!
//! Refuses to know JSON-RPC, deadlines and retries; those are the prober's.

mod endpoint;
#[cfg(all(feature = "fetch", target_arch = "wasm32"))]
mod fetch;
#[cfg(feature = "reqwest")]
mod http;

use std::fmt;
use std::sync::Arc;

pub use endpoint::Endpoint;
#[cfg(all(feature = "fetch", target_arch = "wasm32"))]
pub use fetch::{Exchange, FetchTransport, reply_of};

use crate::runtime::{BoxFuture, MaybeSend, MaybeSync};

/// The most that is read of a reply, after decompression: 262,144 bytes. A usual reply has two thousand.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Sends a JSON-RPC body to an endpoint.
///
/// An implementation must not follow redirects: a body with account data, and a URL with a key, would go to a host
/// that nobody configured. It must stop reading past [`MAX_RESPONSE_BYTES`], and must end the request when the
/// future is dropped. The caller keeps the deadlines.
///
/// A transport that gives every endpoint the same answer, as a test would:
///
/// ```
/// use payroute::{BoxFuture, Config, Endpoint, HttpReply, RouteSelector, Transport, TransportError};
///
/// struct Fixed(HttpReply);
///
/// impl Transport for Fixed {
///     fn post<'a>(&'a self, _: &'a Endpoint, _: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
///         Box::pin(async { Ok(self.0.clone()) })
///     }
/// }
///
/// let busy = HttpReply { status: 503, retry_after: Some("5".to_owned()), ..HttpReply::default() };
/// let selector = RouteSelector::builder(Config::from_json("{}")?).transport(Fixed(busy)).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Transport: MaybeSend + MaybeSync + 'static {
    /// Posts `body` as `application/json`.
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>>;
}

/// An HTTP reply of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpReply {
    /// The HTTP status code.
    pub status: u16,
    /// The `Retry-After` header, if there was one.
    pub retry_after: Option<String>,
    /// The `Date` header, if there was one. A date in `Retry-After` is measured against it.
    pub date: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

/// Why there is no reply. No variant has a text that could hold a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportError {
    /// No byte of a reply came, for a reason that the host does not tell.
    Unreachable,
    /// The name of the host was not found.
    NameNotFound,
    /// The host refused the connection.
    Refused,
    /// No secure connection: a certificate or a protocol that is not accepted.
    Tls,
    /// No connection within the transport's own time.
    TimedOut,
    /// A reply began and did not end.
    BrokeOff,
    /// The reply is larger than [`MAX_RESPONSE_BYTES`].
    TooLarge,
    /// The reply came from another origin than was asked.
    Redirected,
}

impl TransportError {
    /// Whether nothing was heard of the endpoint: no byte of a reply came.
    #[must_use]
    pub fn is_silence(self) -> bool {
        match self {
            Self::Unreachable | Self::NameNotFound | Self::Refused | Self::Tls | Self::TimedOut => true,
            Self::BrokeOff | Self::TooLarge | Self::Redirected => false,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("the connection failed"),
            Self::NameNotFound => f.write_str("the name of the host was not found"),
            Self::Refused => f.write_str("the host refused the connection"),
            Self::Tls => f.write_str("no secure connection could be made"),
            Self::TimedOut => f.write_str("no connection was made in time"),
            Self::BrokeOff => f.write_str("the answer broke off"),
            Self::TooLarge => write!(f, "the answer has over {MAX_RESPONSE_BYTES} bytes"),
            Self::Redirected => f.write_str("the endpoint redirects"),
        }
    }
}

impl std::error::Error for TransportError {}

/// The transport that the crate's features bring. Otherwise what is wrong, and what is needed.
pub(crate) fn ready_made() -> Result<Arc<dyn Transport>, (&'static str, &'static str)> {
    #[cfg(feature = "reqwest")]
    return match http::HttpTransport::new() {
        Ok(transport) => Ok(Arc::new(transport)),
        Err(_) => Err(("the HTTP client cannot be made", "a system with trusted root certificates")),
    };
    #[cfg(all(feature = "fetch", target_arch = "wasm32", not(feature = "reqwest")))]
    return Ok(Arc::new(FetchTransport::new()));
    #[cfg(not(any(feature = "reqwest", all(feature = "fetch", target_arch = "wasm32"))))]
    Err(("there is no transport", "a Transport, or one of the crate's features `reqwest` and `fetch`"))
}
