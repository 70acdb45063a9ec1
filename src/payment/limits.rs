//! How much of a merchant's answer is read.

use std::ops::RangeInclusive;

/// Bounds on what is decoded. The `limits` object of the configuration, which accepts the ranges named here;
/// [`PaymentRequired::from_text`](crate::PaymentRequired::from_text) takes any.
///
/// ```
/// use payroute::{Config, Limits};
///
/// let mut limits = Limits::default();
/// limits.requirements = 16;
/// let config = Config::builder().limits(&limits).build()?;
/// # Ok::<(), payroute::ConfigurationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a header value, 1 to 1,048,576. 65,536: no common server or proxy lets more through.
    pub header_bytes: usize,
    /// Bytes of a body, 1 to 16,777,216. 1,048,576: a thousand times a usual offer list.
    pub body_bytes: usize,
    /// Nesting of JSON, 1 to 120. 32: real offers nest four deep, schemas in extensions a dozen.
    pub json_depth: usize,
    /// Entries of `accepts`, 1 to 1,024. 64: each may cost a read; no merchant has been seen with over 20.
    pub requirements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { header_bytes: 64 * 1024, body_bytes: 1024 * 1024, json_depth: 32, requirements: 64 }
    }
}

impl Limits {
    /// What the configuration accepts for each field, in their order.
    pub(crate) const RANGES: [RangeInclusive<usize>; 4] = [1..=1 << 20, 1..=1 << 24, 1..=120, 1..=1_024];
}
