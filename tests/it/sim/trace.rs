//! What happened, line by line, for whoever has to understand a failure. Silent unless asked for: a run
//! that fails is run again to be told.

use crate::reference::Ms;

#[derive(Clone, Debug)]
pub struct Trace {
    lines: Option<Vec<String>>,
    /// Of every line: two runs of one seed must have the same.
    hash: Option<u64>,
}

impl Trace {
    pub fn off() -> Self {
        Self { lines: None, hash: None }
    }

    pub fn hashed() -> Self {
        Self { lines: None, hash: Some(0xcbf2_9ce4_8422_2325) }
    }

    pub fn told() -> Self {
        Self { lines: Some(Vec::new()), hash: None }
    }

    pub fn line(&mut self, at: Ms, what: impl FnOnce() -> String) {
        if self.lines.is_none() && self.hash.is_none() {
            return;
        }
        let line = format!("{at:>9} ms  {}", what());
        if let Some(hash) = &mut self.hash {
            *hash = line.bytes().fold(*hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
        if let Some(lines) = &mut self.lines {
            lines.push(line);
        }
    }

    pub fn hash(&self) -> Option<u64> {
        self.hash
    }

    /// The last lines.
    pub fn tail(&self, count: usize) -> String {
        let lines = self.lines.as_deref().unwrap_or_default();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }
}
