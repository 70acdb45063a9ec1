//! The one seam to the network: a body goes out to an endpoint, an answer or a failure comes back.
//!
//! Refuses to know JSON-RPC, deadlines and retries; those are the prober's.

use std::fmt;

use crate::endpoint::Endpoint;
use crate::platform::{BoxFuture, MaybeSend, MaybeSync};

/// The most that is read of an answer, after decompression: 262,144 bytes. A usual one has two
/// thousand.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Sends a JSON-RPC body to an endpoint.
///
/// Implementations must not follow redirects (a body with account data, and a URL with a key, would
/// go to a host that nobody configured), must stop reading past [`MAX_RESPONSE_BYTES`], and must
/// end the request when the future is dropped. Deadlines are kept by the caller.
pub trait Transport: MaybeSend + MaybeSync + 'static {
    /// Posts `body` as `application/json`.
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<Reply, TransportError>>;
}

/// An HTTP answer of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status code.
    pub status: u16,
    /// The `Retry-After` header, if there was one.
    pub retry_after: Option<String>,
    /// The `Date` header, if there was one: what a date in `Retry-After` is measured against.
    pub date: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

/// Why there is no answer. Says nothing that could hold a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportError {
    /// No connection, or it broke.
    Unreachable,
    /// The answer is larger than is read.
    TooLarge,
    /// The answer came from another place than was asked.
    Redirected,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("the connection failed"),
            Self::TooLarge => write!(f, "the answer has over {MAX_RESPONSE_BYTES} bytes"),
            Self::Redirected => f.write_str("the endpoint redirects"),
        }
    }
}

impl std::error::Error for TransportError {}
