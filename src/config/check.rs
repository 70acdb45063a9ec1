//! What single values of the configuration must look like. Every refusal names the path and what is
//! accepted, never the value.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::field::Field;
use crate::network::{ChainId, Family};
use crate::payment::is_evm_address;
use crate::rpc_url::RpcUrl;
use crate::text::is_visible;

/// A network by any of its names.
fn chain(field: &Field<'_>, name: &str) -> Option<ChainId> {
    let chain = ChainId::resolve(name).ok();
    if chain.is_none() {
        field.refuse("is not a network", "a CAIP-2 id such as eip155:8453, or a known name such as base");
    }
    chain
}

/// Networks by any of their names, each once.
pub(super) fn chains(fields: &[Field<'_>]) -> Vec<ChainId> {
    let mut chains = Vec::new();
    for field in fields {
        if let Some(chain) = chain(field, &field.text()) {
            if chains.contains(&chain) {
                refuse_listed(field);
            }
            chains.push(chain);
        }
    }
    chains
}

pub(super) fn refuse_listed(field: &Field<'_>) {
    field.refuse("names a network that is already listed", "each network once");
}

/// A network of a family that payroute can read.
pub(super) fn payable_chain(field: &Field<'_>, name: &str) -> Option<ChainId> {
    let chain = chain(field, name)?;
    if chain.family() == Family::Other {
        field.refuse("is of a chain family that cannot be read", "an eip155 or solana network");
    }
    Some(chain)
}

/// An address as chains of `family` write it.
pub(super) fn address(field: &Field<'_>, family: Family) -> Arc<str> {
    let text = field.text();
    let (is_address, accepted) = match family {
        Family::Svm => (Address::from_str(&text).is_ok(), "a base58 Solana address"),
        _ => (is_evm_address(&text), "0x and 40 hexadecimal digits"),
    };
    if !is_address {
        field.refuse("is not an address", accepted);
    }
    text.into()
}

pub(super) fn endpoint_url(field: &Field<'_>, allow_http: bool) -> Option<RpcUrl> {
    let text = field.text();
    let is_plain = written_host(&text).bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%');
    let problem = match is_plain.then(|| RpcUrl::parse(&text)).flatten() {
        None if !is_plain && text.contains(':') => "has a host that is not plain ASCII",
        None => "is not a URL",
        Some(url) => match url.scheme.as_str() {
            "http" if !allow_http && !url.is_loopback() => "is not encrypted",
            "http" | "https" if url.host.is_empty() => "has no host",
            "http" | "https" => return Some(url),
            _ => "has another scheme",
        },
    };
    field.refuse(problem, "an https URL; http on loopback or with routing.allowHttp");
    None
}

/// The host, and port, of an http or https URL as it is written. What other scripts in it come to depends
/// on the Unicode tables that a program is built with; an RPC endpoint needs none.
fn written_host(text: &str) -> &str {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (_, rest) = text.split_once(':').unwrap_or(("", text));
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
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

/// Adds `key` to what is listed so far; `false` when it is already there.
pub(super) fn list_once<K: PartialEq, V>(listed: &mut Vec<(K, V)>, key: K, value: V) -> bool {
    let is_new = listed.iter().all(|(other, _)| *other != key);
    if is_new {
        listed.push((key, value));
    }
    is_new
}

/// What is listed for `key`.
pub(super) fn listed<'a, Q: ?Sized, K: PartialEq<Q>, V>(listed: &'a [(K, V)], key: &Q) -> Option<&'a V> {
    listed.iter().find(|(other, _)| other == key).map(|(_, value)| value)
}
