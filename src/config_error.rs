//! The error of a configuration. It never quotes a value.

use std::fmt;
use std::ops::RangeInclusive;

use crate::util::text::escaped;

/// The problem of a number that is not accepted.
pub(crate) const OUT_OF_RANGE: &str = "is out of range";

/// A configuration that is not accepted. `Display` is one sentence: path, problem, what is
/// accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    path: String,
    problem: String,
    accepted: String,
}

impl ConfigurationError {
    pub(crate) fn new(path: &str, problem: &str, accepted: &str) -> Self {
        let (path, problem, accepted) = (safe_path(path), problem.to_owned(), accepted.to_owned());
        Self(Box::new(Parts { path, problem, accepted }))
    }

    /// Where the problem is, for example `networks.base.rpc[0].url`; `.` for the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is accepted there.
    #[must_use]
    pub fn accepted(&self) -> &str {
        &self.0.accepted
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { path, problem, accepted } = &*self.0;
        write!(f, "{path}: {problem}; accepted is {accepted}")
    }
}

impl std::error::Error for ConfigurationError {}

/// The same range, as `u64`.
pub(crate) fn widened<T: TryInto<u64>>(range: RangeInclusive<T>) -> RangeInclusive<u64> {
    let (least, most) = range.into_inner();
    least.try_into().unwrap_or(u64::MAX)..=most.try_into().unwrap_or(u64::MAX)
}

/// The numbers of `range` in words.
pub(crate) fn whole_numbers(range: RangeInclusive<u64>) -> String {
    match range.into_inner() {
        (least, u64::MAX) => format!("a whole number from {least}"),
        (least, most) => format!("a whole number from {least} to {most}"),
    }
}

/// A path contains keys of the document, and a key can be any text.
fn safe_path(path: &str) -> String {
    const LONGEST: usize = 256;
    match holds_url(path) {
        true => "(a path with a URL in it)".to_owned(),
        false => escaped(path, LONGEST),
    }
}

/// Whether `text` may hold a URL. `https:host/key` is one too, and so is `HTTPS://…`.
pub(crate) fn holds_url(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["://", "http:", "https:", "ws:", "wss:"].iter().any(|mark| text.contains(mark))
}
