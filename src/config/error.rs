//! What is wrong with a configuration, without saying anything that it holds.

use std::fmt;

use crate::text::escaped;

/// A configuration that is not accepted. `Display` is one sentence: path, problem, what is
/// accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    path: String,
    problem: String,
    accepted: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(path: impl Into<String>, problem: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into(), accepted: Some(accepted.into()) }
    }

    /// Where the problem is, for example `networks.base.rpc[0].url`; `.` for the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is accepted there, if that can be said shortly.
    #[must_use]
    pub fn accepted(&self) -> Option<&str> {
        self.accepted.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)?;
        match &self.accepted {
            Some(accepted) => write!(f, "; accepted is {accepted}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A path is made of the document's own keys, and a key can be anything.
pub(super) fn safe_path(path: &str) -> String {
    const LONGEST: usize = 256;
    match holds_address(path) {
        true => "(a path with a URL in it)".to_owned(),
        false => escaped(path, LONGEST),
    }
}

/// `https:host/key` is a URL too, and so is `HTTPS://…`.
pub(super) fn holds_address(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["://", "http:", "https:", "ws:", "wss:"].iter().any(|mark| text.contains(mark))
}
