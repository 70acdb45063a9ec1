//! What single values of the configuration must look like. Every refusal names the path and what is
//! accepted, never the value.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::ConfigError;
use super::field::{Field, Result};
use crate::network::{ChainId, Family};
use crate::payment::is_evm_address;
use crate::rpc_url::RpcUrl;
use crate::text::is_visible;

/// A network by any of its names.
fn chain(field: &Field<'_>, name: &str) -> Result<ChainId> {
    ChainId::resolve(name)
        .map_err(|_| field.refused("is not a network", "a CAIP-2 id such as eip155:8453, or a known name such as base"))
}

/// Networks by any of their names, each once.
pub(super) fn chains(fields: Vec<Field<'_>>) -> Result<Vec<ChainId>> {
    let mut chains = Vec::new();
    for field in fields {
        let chain = chain(&field, &field.text()?)?;
        if chains.contains(&chain) {
            return Err(listed_already(&field));
        }
        chains.push(chain);
    }
    Ok(chains)
}

pub(super) fn listed_already(field: &Field<'_>) -> ConfigError {
    field.refused("names a network that is already listed", "each network once")
}

/// A network of a family that payroute can read.
pub(super) fn payable_chain(field: &Field<'_>, name: &str) -> Result<ChainId> {
    let chain = chain(field, name)?;
    match chain.family() {
        Family::Other => Err(field.refused("is of a chain family that cannot be read", "an eip155 or solana network")),
        _ => Ok(chain),
    }
}

/// An address as chains of `family` write it.
pub(super) fn address(field: &Field<'_>, family: Family) -> Result<Arc<str>> {
    let text = field.text()?;
    let accepted = match family {
        Family::Svm => Address::from_str(&text).is_err().then_some("a base58 Solana address"),
        _ => (!is_evm_address(&text)).then_some("0x and 40 hexadecimal digits"),
    };
    match accepted {
        Some(accepted) => Err(field.refused("is not an address", accepted)),
        None => Ok(text.into()),
    }
}

pub(super) fn endpoint_url(field: &Field<'_>, allow_http: bool) -> Result<RpcUrl> {
    let refused = |problem| field.refused(problem, "an https URL; http on loopback or with routing.allowHttp");
    let text = field.text()?;
    if !written_host(&text).bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%') {
        return Err(refused(match text.contains(':') {
            true => "has a host that is not plain ASCII",
            false => "is not a URL",
        }));
    }
    let url = RpcUrl::parse(&text).ok_or_else(|| refused("is not a URL"))?;
    match url.scheme.as_str() {
        "http" if !allow_http && !url.is_loopback() => Err(refused("is not encrypted")),
        "http" | "https" if url.host.is_empty() => Err(refused("has no host")),
        "http" | "https" => Ok(url),
        _ => Err(refused("has another scheme")),
    }
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
pub(super) fn label(field: &Field<'_>) -> Result<Arc<str>> {
    let text = field.text()?;
    let printable = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | '_' | '-' | '+' | '(' | ')' | '$' => true,
        // Every script has its letters; which of its signs are letters takes tables to know.
        _ => !c.is_ascii() && is_visible(c),
    };
    match (1..=32).contains(&text.chars().count()) && text.chars().all(printable) {
        true => Ok(text.into()),
        false => Err(field.refused("is not a name", "1 to 32 letters, digits, spaces and . _ - + ( ) $")),
    }
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
