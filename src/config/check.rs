//! The rules for single values: networks, addresses, URLs, labels.

use std::sync::Arc;

use super::field::Field;
use crate::chain::{ChainFamily, ChainId, check_address, has_wrong_checksum, is_zero_address};
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
    for field in fields {
        let Some(chain) = chain(field, field.text()) else { continue };
        if chains.contains(&chain) {
            refuse_second_network(field);
        }
        chains.push(chain);
    }
    chains
}

pub(super) fn refuse_second_network(field: &Field<'_>) {
    field.refuse("names a network that is already listed", "each network once");
}

pub(super) fn refuse_second_asset(field: &Field<'_>) {
    field.refuse("is listed twice", "each asset once");
}

/// A network of a family that payroute can read.
pub(super) fn payable_chain(field: &Field<'_>, name: &str) -> Option<ChainId> {
    let chain = chain(field, name)?;
    if chain.family() == ChainFamily::Other {
        field.refuse("is of a chain family that cannot be read", "an eip155 or solana network");
    }
    Some(chain)
}

/// An address in the form of its chain family.
pub(super) fn address(field: &Field<'_>, family: ChainFamily) -> Arc<str> {
    let text = field.text();
    match check_address(text, family) {
        Err(accepted) => field.refuse("is not an address", accepted),
        Ok(()) if family == ChainFamily::Evm && has_wrong_checksum(text) => refuse_checksum(field),
        Ok(()) => {}
    }
    text.into()
}

pub(super) fn refuse_checksum(field: &Field<'_>) {
    field.refuse("is not an address: its checksum is wrong", "an address as its wallet or explorer shows it (EIP-55)");
}

/// The buyer's address. There is no key to the zero address, which is what an unset variable leaves.
pub(super) fn owner(field: &Field<'_>, family: ChainFamily) -> Arc<str> {
    let owner = address(field, family);
    if is_zero(&owner, family) {
        field.refuse("is the zero address, which has no owner", "the address that pays");
    }
    owner
}

fn is_zero(address: &str, family: ChainFamily) -> bool {
    match family {
        ChainFamily::Evm => is_zero_address(address),
        ChainFamily::Svm => address.bytes().all(|digit| digit == b'1'),
        ChainFamily::Other => false,
    }
}

pub(super) fn endpoint_url(field: &Field<'_>, allow_http: bool) -> Option<RpcUrl> {
    let text = field.text();
    let problem = match text.split_once(':') {
        Some((_, rest)) if !has_plain_host(rest) => "has a host that is not plain ASCII",
        _ => match RpcUrl::parse(text) {
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

/// Whether the host and port of an http or https URL are plain ASCII as they are written, given what follows the scheme's
/// colon. A host in another script is mapped to ASCII by Unicode tables, which differ between programs.
fn has_plain_host(rest: &str) -> bool {
    let rest = rest.trim_end_matches(|c: char| c <= ' ').trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%')
}

/// A name for people: short, visible, and without the characters that a URL needs.
pub(super) fn label(field: &Field<'_>) -> Arc<str> {
    let text = field.text();
    let printable = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | '_' | '-' | '+' | '(' | ')' | '$' => true,
        // All visible characters of other scripts: telling their letters from their signs takes Unicode tables.
        _ => !c.is_ascii() && is_visible(c),
    };
    if !(1..=32).contains(&text.chars().count()) || !text.chars().all(printable) {
        field.refuse("is not a name", "1 to 32 letters, digits, spaces and . _ - + ( ) $");
    }
    text.into()
}
