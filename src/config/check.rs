//! What single values of the configuration must look like. Every refusal names the path and what is
//! accepted, never the value.

use std::sync::Arc;

use super::field::{Field, Listed};
use crate::chain::{ChainFamily, ChainId, check_address};
use crate::runtime::RpcUrl;
use crate::util::text::is_visible;

/// A network by any of its names.
fn chain(field: &Field<'_>, name: &str) -> Option<ChainId> {
    let chain = ChainId::known(name);
    if chain.is_none() {
        field.refuse("is not a network", "a CAIP-2 id such as eip155:8453, or a known name such as base");
    }
    chain
}

/// Networks by any of their names, each once.
pub(super) fn chains(fields: &[Field<'_>]) -> Vec<ChainId> {
    let mut chains = Vec::new();
    let mut listed = Listed::new();
    for field in fields {
        if let Some(chain) = chain(field, &field.text()) {
            list_network(&mut listed, chain.as_str(), field);
            chains.push(chain);
        }
    }
    chains
}

pub(super) fn list_network<'f, 'a>(listed: &mut Listed<'f, 'a>, key: &str, field: &'f Field<'a>) {
    list_once(listed, key, field, "names a network that is already listed", "each network once");
}

/// A network of a family that payroute can read.
pub(super) fn payable_chain(field: &Field<'_>, name: &str) -> Option<ChainId> {
    let chain = chain(field, name)?;
    if chain.family() == ChainFamily::Other {
        field.refuse("is of a chain family that cannot be read", "an eip155 or solana network");
    }
    Some(chain)
}

/// An address as chains of `family` write it.
pub(super) fn address(field: &Field<'_>, family: ChainFamily) -> Arc<str> {
    let text = field.text();
    if let Err(accepted) = check_address(&text, family) {
        field.refuse("is not an address", accepted);
    }
    text.into()
}

pub(super) fn endpoint_url(field: &Field<'_>, allow_http: bool) -> Option<RpcUrl> {
    let text = field.text();
    let problem = match text.split_once(':') {
        Some((_, rest)) if !has_plain_host(rest) => "has a host that is not plain ASCII",
        _ => match RpcUrl::parse(&text) {
            None => "is not a URL",
            Some(url) => match url.scheme.as_str() {
                "http" if !allow_http && !url.is_loopback() => "is not encrypted",
                "http" | "https" if url.host.is_empty() => "has no host",
                "http" | "https" => return Some(url),
                _ => "has another scheme",
            },
        },
    };
    field.refuse(problem, "an https URL; http on loopback or with routing.allowHttp");
    None
}

/// Whether the host, and port, of an http or https URL is plain ASCII as it is written, given what is behind the
/// scheme. What other scripts in it come to depends on the Unicode tables that a program is built with; an RPC
/// endpoint needs none.
fn has_plain_host(rest: &str) -> bool {
    let (mut has_begun, mut is_plain) = (false, true);
    for byte in rest.trim_end_matches(|c: char| c <= ' ').bytes() {
        match byte {
            b'/' | b'\\' if !has_begun => continue,
            b'/' | b'\\' | b'?' | b'#' => break,
            // Behind a user's name the host begins anew.
            b'@' => is_plain = true,
            _ => is_plain &= byte.is_ascii_graphic() && byte != b'%',
        }
        has_begun = true;
    }
    is_plain
}

/// A name for people: short, visible, nothing that could carry a URL.
pub(super) fn label(field: &Field<'_>) -> Arc<str> {
    let text = field.text();
    let printable = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | '_' | '-' | '+' | '(' | ')' | '$' => true,
        // Every script has its letters; which of its signs are letters takes tables to know.
        _ => !c.is_ascii() && is_visible(c),
    };
    if !(1..=32).contains(&text.chars().count()) || !text.chars().all(printable) {
        field.refuse("is not a name", "1 to 32 letters, digits, spaces and . _ - + ( ) $");
    }
    text.into()
}

pub(super) fn list_asset<'f, 'a>(listed: &mut Listed<'f, 'a>, id: &str, field: &'f Field<'a>) {
    list_once(listed, id, field, "is listed twice", "each asset once");
}

/// Lists `field` under `key`, and refuses it where something is listed already.
pub(super) fn list_once<'f, 'a>(
    listed: &mut Listed<'f, 'a>,
    key: &str,
    field: &'f Field<'a>,
    problem: &str,
    accepted: &str,
) {
    if self::listed(listed, key).is_some() {
        field.refuse(problem, accepted);
    }
    listed.push((key.to_owned(), field));
}

/// What is listed under `key`.
pub(super) fn listed<'f, 'a>(listed: &Listed<'f, 'a>, key: &str) -> Option<&'f Field<'a>> {
    listed.iter().find(|(other, _)| other == key).map(|(_, field)| *field)
}
