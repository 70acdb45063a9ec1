//! How much of a merchant's answer is read.

use serde::Deserialize;

/// Bounds on what is decoded. The `limits` object of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a header value. 65,536: no common server or proxy lets more through.
    pub header_bytes: usize,
    /// Bytes of a body. 1,048,576: a thousand times a usual offer list.
    pub body_bytes: usize,
    /// Nesting of JSON. 32: real offers nest four deep, schemas in extensions a dozen.
    pub json_depth: usize,
    /// Entries of `accepts`. 64: each may cost a read; no merchant has been seen with over 20.
    pub requirements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { header_bytes: 64 * 1024, body_bytes: 1024 * 1024, json_depth: 32, requirements: 64 }
    }
}

impl Limits {
    /// The first bound that makes no sense: its JSON name, and what is accepted.
    pub(crate) fn out_of_range(&self) -> Option<(&'static str, &'static str)> {
        let depth = 1..=120;
        let rules: [(bool, &(&str, &str)); 4] = [
            ((1..=1 << 20).contains(&self.header_bytes), &("headerBytes", "bytes from 1 to 1048576")),
            ((1..=1 << 24).contains(&self.body_bytes), &("bodyBytes", "bytes from 1 to 16777216")),
            (depth.contains(&self.json_depth), &("jsonDepth", "a whole number from 1 to 120")),
            ((1..=1_024).contains(&self.requirements), &("requirements", "a whole number from 1 to 1024")),
        ];
        rules.iter().find(|(holds, _)| !holds).map(|(_, rule)| **rule)
    }
}
