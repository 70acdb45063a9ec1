//! Where the terms of a 402 are found, and how they are unwrapped.

use super::{Carrier, CarrierFailure, DecodeError, Limits, Malformed, PaymentRequired, Requirement, Terms, Version};
use crate::base64;
use crate::json::{Json, Members, nests_deeper_than};
use crate::network::ChainId;
use crate::text::shown;
use crate::verdict::Note;

pub(super) fn from_document(text: &[u8], limits: &Limits) -> Result<PaymentRequired, DecodeError> {
    let mut search = Search::new(limits);
    let read = match looks_like_json(text) {
        true => search.body(Carrier::Document, text),
        false => search.header(Carrier::Document, text),
    };
    read.map_or_else(|| search.finish(), Ok)
}

pub(super) fn from_response<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
    limits: &Limits,
) -> Result<PaymentRequired, DecodeError> {
    let headers: Vec<(&str, &[u8])> = headers.into_iter().collect();
    let mut search = Search::new(limits);
    let found = search
        .named_header(Carrier::Header, "payment-required", &headers)
        .or_else(|| search.body(Carrier::Body, body))
        .or_else(|| search.named_header(Carrier::LegacyHeader, "x-payment-required", &headers))
        .or_else(|| search.named_header(Carrier::RequirementsHeader, "x-payment-requirements", &headers));
    found.map_or_else(|| search.finish(), Ok)
}

/// The carriers tried so far, and what was wrong with them.
struct Search<'l> {
    limits: &'l Limits,
    failures: Vec<CarrierFailure>,
    entries: Vec<Malformed>,
    unsupported: Option<String>,
    /// A list without an envelope: used only when no carrier has a whole document, for an envelope
    /// elsewhere states the version that the list lacks.
    bare_list: Option<PaymentRequired>,
}

impl<'l> Search<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self { limits, failures: Vec::new(), entries: Vec::new(), unsupported: None, bare_list: None }
    }

    fn named_header(&mut self, carrier: Carrier, name: &str, headers: &[(&str, &[u8])]) -> Option<PaymentRequired> {
        let mut values = headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
        let Some(value) = values.next() else {
            return self.fail(carrier, "is absent");
        };
        if values.any(|other| other != value) {
            return self.fail(carrier, "appears twice with different values");
        }
        self.header(carrier, value)
    }

    fn header(&mut self, carrier: Carrier, value: &[u8]) -> Option<PaymentRequired> {
        let limit = self.limits.header_bytes;
        if value.len() > limit {
            return self.fail(carrier, format!("has {} bytes; at most {limit} are read", value.len()));
        }
        let value = trim(value);
        if value.is_empty() {
            return self.fail(carrier, "is empty");
        }
        if looks_like_json(value) {
            return self.json(carrier, value);
        }
        match base64::decode(&standard_base64(value)) {
            Some(bytes) => self.json(carrier, &bytes),
            None => self.fail(carrier, "is neither base64 nor JSON"),
        }
    }

    fn body(&mut self, carrier: Carrier, body: &[u8]) -> Option<PaymentRequired> {
        let limit = self.limits.body_bytes;
        if body.len() > limit {
            return self.fail(carrier, format!("has {} bytes; at most {limit} are read", body.len()));
        }
        match trim(body) {
            [] => self.fail(carrier, "is empty"),
            body => self.json(carrier, body),
        }
    }

    fn json(&mut self, carrier: Carrier, bytes: &[u8]) -> Option<PaymentRequired> {
        let Ok(text) = std::str::from_utf8(trim(bytes)) else {
            return self.fail(carrier, "is not UTF-8 text");
        };
        let depth = self.limits.json_depth;
        if nests_deeper_than(text, depth) {
            return self.fail(carrier, format!("nests deeper than {depth} levels"));
        }
        let json = match Json::parse(text) {
            Ok(json) => json,
            Err(error) => return self.fail(carrier, error.to_string()),
        };
        if text.starts_with('[') {
            return self.bare_list(carrier, json);
        }
        match json.object() {
            Ok(envelope) => {
                let read = self.envelope(carrier, &envelope)?;
                Some(PaymentRequired { json: text.into(), ..read })
            }
            Err(problem) => self.fail(carrier, problem),
        }
    }

    fn envelope(&mut self, carrier: Carrier, envelope: &Members<'_>) -> Option<PaymentRequired> {
        let (version, coerced) = match stated_version(envelope.get("x402Version")) {
            Stated::Plain(version) => (Some(version), false),
            Stated::Coerced(version) => (Some(version), true),
            Stated::Missing => (None, true),
            Stated::Unsupported(version) => {
                self.fail::<()>(carrier, format!("states x402 version {version}"));
                self.unsupported.get_or_insert(version);
                return None;
            }
        };
        match envelope.get("accepts") {
            Some(accepts) => {
                let list = self.list(carrier, accepts, version, coerced)?;
                Some(PaymentRequired { extensions: advertised(envelope.get("extensions")), ..list })
            }
            None => self.fail(carrier, "has no accepts"),
        }
    }

    fn bare_list(&mut self, carrier: Carrier, list: Json<'_>) -> Option<PaymentRequired> {
        let read = self.list(carrier, list, None, true)?;
        if carrier == Carrier::Document {
            return Some(read);
        }
        self.bare_list.get_or_insert(read);
        self.fail(carrier, "is a list without an envelope")
    }

    /// Decodes the list itself. `version` is what the document states, if it does.
    fn list(
        &mut self,
        carrier: Carrier,
        list: Json<'_>,
        version: Option<Version>,
        coerced: bool,
    ) -> Option<PaymentRequired> {
        let Some(entries) = list.items() else {
            return self.fail(carrier, "has accepts that are not an array");
        };
        let most = self.limits.requirements;
        if entries.len() > most {
            return self.fail(carrier, format!("has {} entries in accepts; at most {most} are read", entries.len()));
        }
        if entries.is_empty() {
            return self.fail(carrier, "has no entry in accepts");
        }
        let version = version.unwrap_or_else(|| infer_version(&entries));
        let requirements: Vec<Requirement> =
            (entries.into_iter().enumerate()).map(|(index, json)| requirement(index, json, version)).collect();
        if requirements.iter().all(|requirement| requirement.terms.is_err()) {
            let problems: Vec<Malformed> =
                requirements.into_iter().filter_map(|requirement| requirement.terms.err()).collect();
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            if self.entries.is_empty() {
                self.entries = problems;
            }
            return self.fail(carrier, format!("has no readable entry in accepts (accepts[0]: {first})"));
        }
        let mut notes = Vec::new();
        if coerced {
            notes.push(Note::VersionCoerced);
        }
        if carrier == Carrier::Body && version == Version::V2 {
            notes.push(Note::CarrierBody);
        }
        let requirements = mark_ambiguous(version, requirements).into();
        Some(PaymentRequired { version, carrier, json: list.raw().into(), notes, extensions: Vec::new(), requirements })
    }

    fn fail<T>(&mut self, carrier: Carrier, problem: impl Into<String>) -> Option<T> {
        self.failures.push(CarrierFailure { carrier, problem: problem.into() });
        None
    }

    fn finish(self) -> Result<PaymentRequired, DecodeError> {
        match (self.unsupported, self.bare_list) {
            (Some(version), _) => Err(DecodeError::UnsupportedVersion { version }),
            (None, Some(list)) => Ok(list),
            (None, None) => Err(DecodeError::Unreadable { failures: self.failures, entries: self.entries }),
        }
    }
}

/// What is malformed here is no advertisement, and no more: no money term is among it.
fn advertised(extensions: Option<Json<'_>>) -> Vec<String> {
    let members = extensions.and_then(|value| value.object().ok());
    let advertised = members.into_iter().flat_map(|Members(members)| members).filter(|(_, value)| value.is_object());
    let mut names: Vec<String> = advertised.map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

fn looks_like_json(text: &[u8]) -> bool {
    matches!(trim(text).first(), Some(b'{' | b'['))
}

/// Without white space around it and without the byte order mark that some servers write.
fn trim(text: &[u8]) -> &[u8] {
    const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii()
}

/// Of base64 or base64url, padded or not.
fn standard_base64(value: &[u8]) -> Vec<u8> {
    let mut standard = value.to_vec();
    for byte in &mut standard {
        match byte {
            b'-' => *byte = b'+',
            b'_' => *byte = b'/',
            _ => {}
        }
    }
    while !standard.len().is_multiple_of(4) {
        standard.push(b'=');
    }
    standard
}

enum Stated {
    Plain(Version),
    Coerced(Version),
    Missing,
    Unsupported(String),
}

/// Version 1 and 2 as numbers; as text they are no guess either.
fn stated_version(value: Option<Json<'_>>) -> Stated {
    let Some(value) = value else {
        return Stated::Missing;
    };
    match value.raw() {
        "1" => Stated::Plain(Version::V1),
        "2" => Stated::Plain(Version::V2),
        "\"1\"" | "1.0" => Stated::Coerced(Version::V1),
        "\"2\"" | "2.0" => Stated::Coerced(Version::V2),
        other if matches!(value.kind(), "a string" | "a number") => Stated::Unsupported(shown(other)),
        _ => Stated::Unsupported(value.kind().to_owned()),
    }
}

/// A list whose entries state their price as version 1 does is of version 1.
fn infer_version(entries: &[Json<'_>]) -> Version {
    let is_v1 = |entry: Members<'_>| entry.get("amount").is_none() && entry.get("maxAmountRequired").is_some();
    match entries.iter().any(|json| json.object().is_ok_and(is_v1)) {
        true => Version::V1,
        false => Version::V2,
    }
}

fn requirement(index: usize, json: Json<'_>, version: Version) -> Requirement {
    let terms = Terms::parse(json);
    let mut notes = Vec::new();
    if let Ok(Terms { chain: Some(chain), network, .. }) = &terms {
        let by_name = **network != *chain.as_str();
        let wanted_by_name = version == Version::V1 && !network.contains(':');
        if by_name && !wanted_by_name {
            notes.push(Note::NonCanonicalNetwork);
        }
    }
    Requirement { index, json: json.raw().into(), terms, notes }
}

/// A version 1 payment names only scheme and network, so a server cannot tell which of two such
/// entries was meant. The later ones say so.
fn mark_ambiguous(version: Version, mut requirements: Vec<Requirement>) -> Vec<Requirement> {
    if version == Version::V2 {
        return requirements;
    }
    let mut seen = Vec::new();
    for requirement in &mut requirements {
        let Ok(terms) = &requirement.terms else { continue };
        let chain = terms.chain.as_ref().map_or(&*terms.network, ChainId::as_str);
        let offer = (terms.scheme.to_string(), chain.to_owned());
        if seen.contains(&offer) {
            requirement.notes.push(Note::V1Ambiguous);
        } else {
            seen.push(offer);
        }
    }
    requirements
}
