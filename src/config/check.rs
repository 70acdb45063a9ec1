//! What single values of the configuration must look like. Every refusal names the path and what is
//! accepted, never the value.

use std::str::FromStr;
use std::sync::Arc;

use solana_address::Address;

use super::ConfigError;
use super::error::safe_path;
use crate::network::{ChainId, Family};
use crate::payment::is_evm_address;
use crate::rpc_url::RpcUrl;

pub(super) type Result<T> = std::result::Result<T, ConfigError>;

/// A network of a family that payroute can read.
pub(super) fn payable_chain(path: &str, name: &str) -> Result<ChainId> {
    let chain = ChainId::resolve(name).map_err(|_| not_a_network(path))?;
    match chain.family() {
        Family::Other => Err(ConfigError::new(
            safe_path(path),
            "is of a chain family that cannot be read",
            "an eip155 or solana network",
        )),
        _ => Ok(chain),
    }
}

pub(super) fn not_a_network(path: &str) -> ConfigError {
    ConfigError::new(
        safe_path(path),
        "is not a network",
        "a CAIP-2 id such as eip155:8453, or a known name such as base",
    )
}

/// An address as chains of `family` write it.
pub(super) fn address(path: &str, family: Family, text: &str) -> Result<Arc<str>> {
    let accepted = match family {
        Family::Svm => Address::from_str(text).is_err().then_some("a base58 Solana address"),
        _ => (!is_evm_address(text)).then_some("0x and 40 hexadecimal digits"),
    };
    match accepted {
        Some(accepted) => Err(ConfigError::new(safe_path(path), "is not an address", accepted)),
        None => Ok(text.into()),
    }
}

pub(super) fn endpoint_url(path: &str, text: &str, allow_http: bool) -> Result<RpcUrl> {
    let bad = |problem: &str| {
        ConfigError::new(safe_path(path), problem, "an https URL; http on loopback or with routing.allowHttp")
    };
    if !written_host(text).bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%') {
        return Err(bad("has a host that is not plain ASCII"));
    }
    let url = RpcUrl::parse(text).ok_or_else(|| bad("is not a URL"))?;
    match url.scheme.as_str() {
        "https" => {}
        "http" if allow_http || url.is_loopback() => {}
        "http" => return Err(bad("is not encrypted")),
        _ => return Err(bad("has another scheme")),
    }
    match url.host.is_empty() {
        true => Err(bad("has no host")),
        false => Ok(url),
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

/// A name for people: short, printable, nothing that could carry a URL.
pub(super) fn label(path: &str, text: &str) -> Result<Arc<str>> {
    let printable = |c: char| c.is_alphanumeric() || " ._-+()₮$".contains(c);
    match (1..=32).contains(&text.chars().count()) && text.chars().all(printable) {
        true => Ok(text.into()),
        false => {
            Err(ConfigError::new(safe_path(path), "is not a name", "1 to 32 letters, digits, spaces and . _ - + ( ) $"))
        }
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

pub(super) fn in_range(section: &str, problem: Option<(&'static str, &'static str)>) -> Result<()> {
    match problem {
        Some((name, accepted)) => Err(ConfigError::new(format!("{section}.{name}"), "is out of range", accepted)),
        None => Ok(()),
    }
}
