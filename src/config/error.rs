//! What is wrong with a configuration, without saying anything that it holds.

use std::fmt;

use crate::text::{escaped, shown};

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
        let error = error.into_inner();
        if error.is_syntax() || error.is_eof() {
            let problem = format!("is not JSON (line {}, column {})", error.line(), error.column());
            return Self { path: ".".to_owned(), problem, accepted: Some("one JSON object".to_owned()) };
        }
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        // A value may hold any words; what serde itself expects comes last.
        let (problem, accepted) = match message.rsplit_once(", expected ") {
            Some((problem, accepted)) => (problem, Some(accepted.replace("sequence", "array"))),
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

/// serde writes `invalid type: string "https://…"`: the kind stays, the value goes. The name of an
/// unknown field stays, unless someone put an address in its place.
fn without_values(problem: &str) -> String {
    if let Some(found) = ["invalid type: ", "invalid value: "].iter().find_map(|prefix| problem.strip_prefix(prefix)) {
        let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
        return format!("is {}", kind.replace("sequence", "array"));
    }
    match problem {
        _ if problem.starts_with("unknown variant") => "is not a known word".to_owned(),
        _ if holds_address(problem) => "has a field that is not known".to_owned(),
        _ => shown(problem),
    }
}

/// A path is made of the document's own keys, and a key can be anything.
pub(super) fn safe_path(path: &str) -> String {
    const LONGEST: usize = 256;
    match holds_address(path) {
        true => "(a path with a URL in it)".to_owned(),
        false => escaped(path, LONGEST),
    }
}

/// `https:host/key` is a URL too, and so is `HTTPS://…`.
fn holds_address(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["://", "http:", "https:", "ws:", "wss:"].iter().any(|mark| text.contains(mark))
}
