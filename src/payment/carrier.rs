//! Where the terms of a 402 are found, and how they are unwrapped.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{
    Carrier, CarrierFailure, DecodeError, Document, Limits, MalformedField, PaymentRequired, PaymentRequirement, Terms,
    X402Version,
};
use crate::chain::{ChainFamily, ChainId};
use crate::ranking::Note;
use crate::util::json::{Json, Kind, Members, nests_deeper_than};
use crate::util::text::shown;

pub(super) fn from_document(text: &[u8], limits: &Limits) -> Result<PaymentRequired, DecodeError> {
    let mut search = Search::new(limits);
    let read = match looks_like_json(text) {
        true => search.body(Carrier::Document, text),
        false => search.header(Carrier::Document, text),
    };
    read.or_else(|problem| {
        search.failures.push(CarrierFailure { carrier: Carrier::Document, problem });
        search.finish()
    })
}

pub(super) fn from_response<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
    limits: &Limits,
) -> Result<PaymentRequired, DecodeError> {
    let headers: Vec<(&str, &[u8])> = headers.into_iter().collect();
    let mut search = Search::new(limits);
    for (carrier, header) in [
        (Carrier::Header, Some("payment-required")),
        (Carrier::Body, None),
        (Carrier::LegacyHeader, Some("x-payment-required")),
        (Carrier::RequirementsHeader, Some("x-payment-requirements")),
    ] {
        let read = match header {
            Some(name) => search.named_header(carrier, name, &headers),
            None => search.body(carrier, body),
        };
        match read {
            Ok(found) => return Ok(found),
            Err(problem) => search.failures.push(CarrierFailure { carrier, problem }),
        }
    }
    search.finish()
}

/// The terms, or what is wrong with their carrier: the end of a sentence that starts with its name.
type Read = Result<PaymentRequired, String>;

/// The carriers tried so far, and what was wrong with them.
struct Search<'l> {
    limits: &'l Limits,
    failures: Vec<CarrierFailure>,
    entries: Vec<MalformedField>,
    unsupported: Option<String>,
    /// A list without an envelope. It is used only when no carrier has a whole document, because an envelope
    /// states the version that the list lacks.
    bare_list: Option<PaymentRequired>,
}

impl<'l> Search<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self { limits, failures: Vec::new(), entries: Vec::new(), unsupported: None, bare_list: None }
    }

    fn named_header(&mut self, carrier: Carrier, name: &str, headers: &[(&str, &[u8])]) -> Read {
        let mut found = None;
        for (other_name, value) in headers {
            if !other_name.eq_ignore_ascii_case(name) {
                continue;
            }
            if found.is_some_and(|other| other != value) {
                return Err("appears twice with different values".to_owned());
            }
            found = Some(value);
        }
        match found {
            Some(value) => self.header(carrier, value),
            None => Err("is absent".to_owned()),
        }
    }

    fn header(&mut self, carrier: Carrier, value: &[u8]) -> Read {
        let value = within(self.limits.header_bytes, value)?;
        if looks_like_json(value) {
            return self.json(carrier, value);
        }
        match decode_base64(value) {
            Some(bytes) => self.json(carrier, &bytes),
            None => Err("is neither base64 nor JSON".to_owned()),
        }
    }

    fn body(&mut self, carrier: Carrier, body: &[u8]) -> Read {
        let body = within(self.limits.body_bytes, body)?;
        self.json(carrier, body)
    }

    fn json(&mut self, carrier: Carrier, bytes: &[u8]) -> Read {
        let Ok(text) = std::str::from_utf8(trim(bytes)) else {
            return Err("is not UTF-8 text".to_owned());
        };
        let depth = self.limits.json_depth;
        if nests_deeper_than(text, depth) {
            return Err(format!("nests deeper than {depth} levels"));
        }
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        if text.starts_with('[') {
            return self.bare_list(carrier, json);
        }
        let envelope = json.object()?;
        let stated = stated_version(envelope.get("x402Version")).map_err(|version| {
            let problem = format!("states x402 version {version}");
            self.unsupported.get_or_insert(version);
            problem
        })?;
        let accepts = envelope.get("accepts").ok_or("has no accepts")?;
        self.list(carrier, json, accepts, stated, advertised(envelope.get("extensions")))
    }

    fn bare_list(&mut self, carrier: Carrier, list: Json<'_>) -> Read {
        let read = self.list(carrier, list, list, Stated::Missing, Vec::new())?;
        if carrier == Carrier::Document {
            return Ok(read);
        }
        self.bare_list.get_or_insert(read);
        Err("is a list without an envelope".to_owned())
    }

    /// Decodes `list`, the `accepts` of `document`.
    fn list(
        &mut self,
        carrier: Carrier,
        document: Json<'_>,
        list: Json<'_>,
        stated: Stated,
        extensions: Vec<String>,
    ) -> Read {
        let entries = list.items().ok_or("has accepts that are not an array")?;
        let most = self.limits.requirements;
        if entries.len() > most {
            return Err(format!("has {} entries in accepts; at most {most} are read", entries.len()));
        }
        if entries.is_empty() {
            return Err("has no entry in accepts".to_owned());
        }
        let mut notes = Vec::new();
        let version = match stated {
            Stated::Plain(version) | Stated::Coerced(version) => version,
            Stated::Missing => infer_version(&entries),
        };
        if !matches!(stated, Stated::Plain(_)) {
            notes.push(Note::VersionCoerced);
        }
        if carrier == Carrier::Body && version == X402Version::V2 {
            notes.push(Note::CarrierBody);
        }
        let mut requirements: Vec<PaymentRequirement> = Vec::new();
        let mut problems = Vec::new();
        for (index, json) in entries.into_iter().enumerate() {
            let terms = Terms::parse(json);
            let notes = terms.as_ref().map_or(Vec::new(), |terms| remarks(terms, version, &requirements));
            if let Err(malformed) = &terms {
                problems.push(malformed.clone());
            }
            requirements.push(PaymentRequirement { index, json: json.raw().into(), terms, notes });
        }
        if problems.len() == requirements.len() {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            if self.entries.is_empty() {
                self.entries = problems;
            }
            return Err(format!("has no readable entry in accepts (accepts[0]: {first})"));
        }
        let json = document.raw().into();
        Ok(PaymentRequired(Arc::new(Document { version, carrier, json, notes, extensions, requirements })))
    }

    fn finish(self) -> Result<PaymentRequired, DecodeError> {
        match (self.unsupported, self.bare_list) {
            (Some(version), _) => Err(DecodeError::UnsupportedVersion { version }),
            (None, Some(list)) => Ok(list),
            (None, None) => Err(DecodeError::Unreadable { failures: self.failures, entries: self.entries }),
        }
    }
}

/// `value` without what [`trim`] takes away, if it has at most `most` bytes.
fn within(most: usize, value: &[u8]) -> Result<&[u8], String> {
    if value.len() > most {
        return Err(format!("has {} bytes; at most {most} are read", value.len()));
    }
    match trim(value) {
        [] => Err("is empty".to_owned()),
        value => Ok(value),
    }
}

/// The names of the extensions, sorted. Malformed extensions are ignored; none affects an amount.
fn advertised(extensions: Option<Json<'_>>) -> Vec<String> {
    let Some(Ok(Members(members))) = extensions.map(Json::object) else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        members.into_iter().filter(|(_, value)| value.is_object()).map(|(name, _)| name).collect();
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

/// The bytes of base64 or base64url, padded or not; `None` for anything else.
fn decode_base64(value: &[u8]) -> Option<Vec<u8>> {
    let standard_digit = |byte: &u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    };
    let mut standard: Vec<u8> = value.iter().map(standard_digit).collect();
    standard.resize(standard.len().next_multiple_of(4), b'=');
    STANDARD.decode(standard).ok()
}

enum Stated {
    Plain(X402Version),
    Coerced(X402Version),
    Missing,
}

/// The version, as a number or as text: neither has to be guessed. The error is any other version, safe to show.
fn stated_version(value: Option<Json<'_>>) -> Result<Stated, String> {
    let Some(value) = value else {
        return Ok(Stated::Missing);
    };
    match value.raw() {
        "1" => Ok(Stated::Plain(X402Version::V1)),
        "2" => Ok(Stated::Plain(X402Version::V2)),
        "\"1\"" | "1.0" => Ok(Stated::Coerced(X402Version::V1)),
        "\"2\"" | "2.0" => Ok(Stated::Coerced(X402Version::V2)),
        other if matches!(value.kind(), Kind::Text | Kind::Number) => Err(shown(other)),
        _ => Err(value.kind().words().to_owned()),
    }
}

/// A list whose entries state their price as version 1 does is of version 1.
fn infer_version(entries: &[Json<'_>]) -> X402Version {
    let is_v1 = |entry: Members<'_>| entry.get("amount").is_none() && entry.get("maxAmountRequired").is_some();
    match entries.iter().any(|json| json.object().is_ok_and(is_v1)) {
        true => X402Version::V1,
        false => X402Version::V2,
    }
}

/// The notes on an entry that follows `earlier` ones.
fn remarks(terms: &Terms, version: X402Version, earlier: &[PaymentRequirement]) -> Vec<Note> {
    let mut notes = Vec::new();
    let by_id = *terms.network == *canonical(terms);
    let is_evm = terms.chain.as_ref().is_some_and(|chain| chain.family() == ChainFamily::Evm);
    let is_as_usual = match version {
        // Version 1 has names; official clients take the ids of Solana's clusters too.
        X402Version::V1 => !terms.network.contains(':') || (by_id && !is_evm),
        X402Version::V2 => by_id,
    };
    if !is_as_usual {
        notes.push(Note::NonCanonicalNetwork);
    }
    // A version 1 payment names only scheme and network, so a server cannot tell which of two such
    // entries was meant. The later ones get the note.
    let same = |other: &Terms| other.scheme == terms.scheme && canonical(other) == canonical(terms);
    if version == X402Version::V1 && earlier.iter().any(|other| other.terms.as_ref().is_ok_and(same)) {
        notes.push(Note::V1Ambiguous);
    }
    notes
}

/// The network as its CAIP-2 id, where that is known.
fn canonical(terms: &Terms) -> &str {
    terms.chain.as_ref().map_or(&terms.network, ChainId::as_str)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_usual_base64_is_decoded(bytes: Vec<u8>) {
            for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
                prop_assert_eq!(decode_base64(engine.encode(&bytes).as_bytes()), Some(bytes.clone()));
            }
        }

        #[test]
        fn texts_of_the_same_bytes_differ_only_in_alphabet_and_padding(text in "[AQgwZz059+/=_ -]{0,9}") {
            if let Some(bytes) = decode_base64(text.as_bytes()) {
                let digits = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
                prop_assert_eq!(STANDARD_NO_PAD.encode(bytes), digits, "{}", text);
            }
        }
    }

    #[test]
    fn what_is_no_base64() {
        for text in ["A", "A===", "AA===", "AAAA=", "AAAA====", "=", "AB==", "AAB=", "A A=", "AA\n", "AA=A", "é"] {
            assert_eq!(decode_base64(text.as_bytes()), None, "{text:?}");
        }
    }
}
