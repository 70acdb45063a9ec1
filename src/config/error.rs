//! What is wrong with a configuration, without saying anything that it holds.

use std::fmt;

use crate::text::shown;

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

    /// Keeps of serde's message what names kinds and fields, and drops what quotes values.
    pub(super) fn from_serde(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = safe_path(&error.path().to_string());
        let message = error.into_inner().to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let (problem, accepted) = match message.split_once(", expected ") {
            Some((problem, accepted)) => (problem, Some(accepted.to_owned())),
            None => (message, None),
        };
        Self { path, problem: without_values(problem), accepted }
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

/// serde writes `invalid type: string "https://…", expected …`: the kind stays, the value goes. A
/// field name stays, unless someone put a URL in its place.
fn without_values(problem: &str) -> String {
    let kind = ["invalid type: ", "invalid value: "].into_iter().find_map(|prefix| problem.strip_prefix(prefix));
    match kind {
        Some(found) => {
            let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
            format!("is {kind}")
        }
        None if problem.contains("://") => "has a field that is not known".to_owned(),
        None => shown(problem),
    }
}

/// A path is made of the document's own keys, and a key can be anything.
pub(super) fn safe_path(path: &str) -> String {
    match path.find("://") {
        Some(_) => "(a path with a URL in it)".to_owned(),
        None => shown(path),
    }
}
