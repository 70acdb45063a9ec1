//! What an endpoint's refusal means: tables of statuses, codes and words, and the order in which they apply.
//!
//! Codes are read by chain family: most of -32000 to -32019 mean one thing on EVM gateways and
//! another on Solana. Messages are matched by words, lower case, in the order of the table. They are
//! never shown or logged: a gateway may quote the key that it refused.

use crate::chain::ChainFamily;
use crate::health::FailureClass::{
    self as Class, Auth, Behind, ClientError as Client, Fault, Identity, Quota, RateLimited, Reverted, SoftFault,
    Unsupported,
};

/// What is known of a refusal.
#[derive(Clone, Copy, Debug)]
pub(super) struct RpcRefusal<'a> {
    pub(super) family: ChainFamily,
    /// The HTTP status of the reply.
    pub(super) status: u16,
    /// The JSON-RPC error code, if the body had one.
    pub(super) code: Option<i64>,
    /// The error's message, or the body's text if it is not JSON.
    pub(super) message: &'a str,
    /// Whether the request was a batch.
    pub(super) batch: bool,
}

/// Status first, refined by code and words; a 4xx never becomes a success.
pub(super) fn classify(refusal: RpcRefusal<'_>) -> Class {
    let words = by_words(refusal.message);
    match refusal.status {
        200..=299 => by_code(refusal, words),
        status => by_status(status, refusal, words),
    }
}

#[rustfmt::skip] // One row a status reads as the table that it is.
fn by_status(status: u16, refusal: RpcRefusal<'_>, words: Option<Class>) -> Class {
    let code = refusal.code.map(|_| by_code(refusal, words));
    let refined = |allowed: &[Class]| code.into_iter().chain(words).find(|class| allowed.contains(class));
    match status {
        400                   => refined(&[RateLimited, Quota, Unsupported, Auth, Reverted]).unwrap_or(Client),
        401 | 404             => Auth,
        402                   => refined(&[Unsupported]).unwrap_or(Quota),
        403                   => refined(&[Unsupported, Quota, RateLimited]).unwrap_or(Auth),
        405 | 410 | 413 | 415 => Unsupported,
        408                   => Fault,
        422                   => Client,
        429                   => refined(&[Quota]).unwrap_or(RateLimited),
        499                   => SoftFault,
        500                   => refined(&[Unsupported, RateLimited, Quota, Reverted]).unwrap_or(Fault),
        501                   => Unsupported,
        _ if status >= 500    => refined(&[RateLimited, Quota]).unwrap_or(Fault),
        _ if status >= 400    => Client,
        _                     => Fault,
    }
}

/// A row of a code table: what the codes mean, unless the words say one of `unless`, or the request
/// was a batch and `in_batch` says otherwise.
struct CodeRow {
    codes: &'static [i16],
    class: Class,
    unless: &'static [Class],
    in_batch: Option<Class>,
}

const fn row(codes: &'static [i16], class: Class, unless: &'static [Class]) -> CodeRow {
    CodeRow { codes, class, unless, in_batch: None }
}

const fn batch_row(codes: &'static [i16], class: Class, unless: &'static [Class], in_batch: Class) -> CodeRow {
    CodeRow { codes, class, unless, in_batch: Some(in_batch) }
}

/// Whatever the words say, if they say anything.
const ANY: &[Class] = &[RateLimited, Quota, Client, Behind, Unsupported, Auth, Fault, Reverted, Identity];

#[rustfmt::skip] // One row a meaning reads as the table that it is.
const EVM_CODES: &[CodeRow] = &[
    row(&[3], Reverted, &[Behind]),
    row(&[31, 410, -32601, -32004, 4200, -32612, -32613], Unsupported, &[]),
    row(&[403, -32006], Auth, &[]),
    row(&[429, -32005, -32009, -32012, -32017, -32024, -32029, -32429], RateLimited, &[Quota, Unsupported]),
    row(&[-32007], RateLimited, &[Unsupported, Quota]),
    row(&[-32016], RateLimited, &[Auth]),
    batch_row(&[-32700], Client, &[], Unsupported),
    batch_row(&[-32600], Client, &[Auth, Unsupported, Quota, RateLimited], Unsupported),
    row(&[-32602], Client, &[Unsupported]),
    row(&[-32603], Fault, &[Reverted, Auth, Unsupported, RateLimited, Quota, Behind]),
    row(&[-32000], SoftFault, ANY),
    row(&[-32001], Unsupported, &[Behind]),
    row(&[-32002, -32013, -32018, -32025, -32055, 1008, 4900], Fault, &[]),
    row(&[-32003, -32080, -32100, -32614], Client, &[]),
    row(&[-32010], Client, &[Fault]),
    row(&[-32011], Fault, &[RateLimited, Quota]),
    row(&[-32014], Behind, &[Unsupported]),
    row(&[-32015], Fault, &[Reverted]),
    batch_row(&[-32020, -32021, -32022], Client, &[], Unsupported),
    row(&[-32023], SoftFault, &[]),
    row(&[-3200], Fault, &[Behind]),
    row(&[4901], Identity, &[]),
];

#[rustfmt::skip] // As above.
const SVM_CODES: &[CodeRow] = &[
    row(&[-32001, -32004, -32005, -32007, -32008, -32011, -32014, -32016], Behind, &[]),
    row(&[-32010, -32601, 410], Unsupported, &[]),
    row(&[-32012], SoftFault, &[]),
    row(&[-32019, -32603], Fault, &[RateLimited, Quota]),
    row(&[-32002, -32003, -32006, -32013, -32015, -32017, -32018, -32602], Client, &[]),
    batch_row(&[-32600, -32700], Client, &[Auth, RateLimited, Quota], Unsupported),
    row(&[403], Auth, &[]),
    row(&[429, -32429], RateLimited, &[Quota]),
    row(&[-32000], SoftFault, ANY),
];

fn by_code(refusal: RpcRefusal<'_>, words: Option<Class>) -> Class {
    let table = match refusal.family {
        ChainFamily::Svm => SVM_CODES,
        _ => EVM_CODES,
    };
    let row =
        refusal.code.and_then(|code| table.iter().find(|row| row.codes.iter().any(|known| i64::from(*known) == code)));
    // A batch that is refused for being one comes under every code.
    if refusal.batch && words == Some(Unsupported) {
        return Unsupported;
    }
    let Some(row) = row else {
        return words.unwrap_or(SoftFault);
    };
    if let Some(words) = words.filter(|class| row.unless.contains(class)) {
        return words;
    }
    row.in_batch.filter(|_| refusal.batch).unwrap_or(row.class)
}

/// A row of the word table: the class of a message with one of `any`, and with `also` if there is one.
struct WordRow {
    class: Class,
    also: Option<&'static str>,
    any: &'static [&'static str],
}

const fn words(class: Class, any: &'static [&'static str]) -> WordRow {
    WordRow { class, also: None, any }
}

const fn words_about(also: &'static str, class: Class, any: &'static [&'static str]) -> WordRow {
    WordRow { class, also: Some(also), any }
}

/// The order decides: "limit exceeded" is used for batches, quotas and rates. If a refused batch were taken for
/// a rate limit, the next read plan would never be tried.
#[rustfmt::skip] // As above.
const WORDS: &[WordRow] = &[
    words(Identity, &["another chain", "wrong chain", "chain mismatch"]),
    words(Fault, &["invalid host"]),
    words(Reverted, &["execution reverted", "revert", "vm execution error", "out of gas", "invalid opcode",
        "invalid jump", "bad instruction", "stack underflow"]),
    words_about("batch", Unsupported, &["limit", "large", "too big", "many", "exceeded", "not allowed", "not supported",
        "too many rpc calls"]),
    words(Unsupported, &["gas limit", "gas cap", "gas required exceeds", "gas allowance"]),
    words(Quota, &["free tier", "monthly capacity", "credits", "daily request count", "billing",
        "upgrade", "quota"]),
    words(RateLimited, &["rate limit", "too many requests", "request limit reached", "limit exceeded",
        "has exceeded", "compute units", "throughput", "code: 1015", "over capacity", "no server available"]),
    words(Auth, &["unauthorized", "must be authenticated", "invalid access key", "api key", "forbidden",
        "origin", "project id", "inactive"]),
    words(Unsupported, &["method is not whitelisted", "method not found", "not supported",
        "does not exist/is not available", "disabled", "not included in your current plan"]),
    words(Behind, &["header not found", "missing trie node", "unknown block", "block not found",
        "greater than latest", "not processed yet", "not currently canonical", "could not find block",
        "state not available", "pruned", "node is behind", "minimum context slot"]),
    words(Client, &["invalid params", "invalid argument", "invalid address", "parse error"]),
    words(Fault, &["timeout", "timed out", "upstream", "unavailable", "offline", "no backend",
        "no nodes", "internal error"]),
];

/// Only the start of a message is looked at: a page of HTML is no explanation.
const MESSAGE_CHARS: usize = 2_048;

fn by_words(message: &str) -> Option<Class> {
    let message = message.chars().take(MESSAGE_CHARS).collect::<String>().to_ascii_lowercase();
    let says = |word: &str| message.contains(word);
    let row = WORDS.iter().find(|row| row.also.is_none_or(says) && row.any.iter().any(|word| says(word)));
    row.map(|row| row.class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(family: ChainFamily, status: u16, code: i64, message: &str, batch: bool) -> Class {
        classify(RpcRefusal { family, status, code: (code != 0).then_some(code), message, batch })
    }

    #[test]
    fn evm_refusals_as_they_are_seen() {
        for (status, code, message, batch, expected) in [
            (200, -32005, "daily request count exceeded", true, Quota),
            (200, -32005, "limit exceeded", true, RateLimited),
            (200, -32014, "too many RPC calls in batch request", true, Unsupported),
            (500, 31, "Batch of more than 3 requests are not allowed on free tier", true, Unsupported),
            (200, -32600, "batch too large", true, Unsupported),
            (200, -32010, "The batch request was too large", true, Unsupported),
            (200, -32011, "The batch response was too large", true, Unsupported),
            (200, -32005, "batch item count exceeded", true, Unsupported),
            (200, -32600, "Must be authenticated!", true, Auth),
            (200, -32600, "Invalid Request", true, Unsupported),
            (200, -32600, "Invalid Request", false, Client),
            (200, -32700, "Parse error", true, Unsupported),
            (200, -32700, "Parse error", false, Client),
            (200, -32007, "50/second request limit reached", true, RateLimited),
            (200, -32007, "batch limit exceeded", true, Unsupported),
            (403, -32601, "rpc method is not whitelisted", true, Unsupported),
            (403, -32600, "Monthly capacity limit exceeded", true, Quota),
            (403, 0, "Forbidden", true, Auth),
            (401, -32005, "limit exceeded", true, Auth),
            (400, 0, "too many requests", true, RateLimited),
            (400, -32602, "invalid params", false, Client),
            (402, 0, "payment required", false, Quota),
            (404, 0, "", false, Auth),
            (405, 0, "", true, Unsupported),
            (413, 0, "", true, Unsupported),
            (429, -32011, "no backends available", true, RateLimited),
            (503, -32011, "no backend is currently healthy", true, Fault),
            (302, 0, "", true, Fault),
            (200, 3, "execution reverted", true, Reverted),
            (200, 3, "Unknown block", true, Behind),
            (200, -32000, "header not found", true, Behind),
            (200, -32000, "execution timeout", true, Fault),
            (200, -32000, "something new", true, SoftFault),
            (200, -32015, "VM execution error.", true, Reverted),
            (200, -32016, "over rate limit", true, RateLimited),
            (200, -32016, "Unauthorized", true, Auth),
            (200, 4901, "chain disconnected", false, Identity),
            (200, 77, "", false, SoftFault),
            (200, -32000, "apikey is on another chain", false, Identity),
            // Statuses without a word.
            (301, 0, "", false, Fault),
            (400, 0, "", false, Client),
            (408, 0, "", false, Fault),
            (410, 0, "", false, Unsupported),
            (415, 0, "", false, Unsupported),
            (422, 0, "", false, Client),
            (429, 0, "", false, RateLimited),
            (451, 0, "", false, Client),
            (499, 0, "", false, SoftFault),
            (500, 0, "", false, Fault),
            (501, 0, "", false, Unsupported),
            (502, 0, "", false, Fault),
            (504, 0, "", false, Fault),
            (520, 0, "", false, Fault),
            (524, 0, "", false, Fault),
            (530, 0, "", false, Fault),
            (200, 0, "", false, SoftFault),
            // Statuses that words refine.
            (400, 0, "batch requests are not supported", true, Unsupported),
            (402, 0, "batch requests are not allowed on this plan", true, Unsupported),
            (403, 0, "rate limit", false, RateLimited),
            (429, 0, "monthly capacity limit exceeded", false, Quota),
            (500, 0, "execution reverted", false, Reverted),
            (500, 0, "rate limit", false, RateLimited),
            (503, 0, "over capacity", false, RateLimited),
            // Codes without a word.
            (200, 3, "", false, Reverted),
            (200, 31, "", true, Unsupported),
            (200, 403, "", false, Auth),
            (200, 410, "", false, Unsupported),
            (200, 429, "", false, RateLimited),
            (200, 4200, "", false, Unsupported),
            (200, 1008, "", false, Fault),
            (200, 4900, "", false, Fault),
            (200, -3200, "", false, Fault),
            (200, -3200, "not processed yet", false, Behind),
            (200, -32601, "", false, Unsupported),
            (200, -32602, "", false, Client),
            (200, -32603, "", false, Fault),
            (200, -32603, "unauthorized", false, Auth),
            (200, -32603, "execution reverted", false, Reverted),
            (200, -32001, "", false, Unsupported),
            (200, -32001, "unknown block", false, Behind),
            (200, -32002, "request timed out", false, Fault),
            (200, -32003, "max initcode size exceeded", false, Client),
            (200, -32004, "", false, Unsupported),
            (200, -32006, "", false, Auth),
            (200, -32009, "", false, RateLimited),
            (200, -32010, "", false, Client),
            (200, -32010, "backend offline", false, Fault),
            (200, -32011, "", false, Fault),
            (200, -32011, "rate limit", false, RateLimited),
            (200, -32012, "", false, RateLimited),
            (200, -32013, "", false, Fault),
            (200, -32014, "", false, Behind),
            (200, -32015, "", false, Fault),
            (200, -32017, "", false, RateLimited),
            (200, -32018, "", false, Fault),
            (200, -32020, "", false, Client),
            (200, -32021, "", true, Unsupported),
            (200, -32022, "", true, Unsupported),
            (200, -32023, "", false, SoftFault),
            (200, -32024, "", false, RateLimited),
            (200, -32025, "", false, Fault),
            (200, -32029, "", false, RateLimited),
            (200, -32055, "", false, Fault),
            (200, -32080, "", false, Client),
            (200, -32100, "", false, Client),
            (200, -32429, "", false, RateLimited),
            (200, -32612, "", false, Unsupported),
            (200, -32613, "", false, Unsupported),
            (200, -32614, "", false, Client),
            // Words, in the order that decides.
            (200, -32000, "Invalid host specified", false, Fault),
            (200, -32000, "out of gas", false, Reverted),
            (200, -32000, "batch limit exceeded", true, Unsupported),
            (200, -32000, "upgrade your plan, limit exceeded", false, Quota),
            (200, -32000, "compute units per second", false, RateLimited),
            (200, -32000, "the API key is inactive", false, Auth),
            (200, -32000, "the method does not exist/is not available", false, Unsupported),
            (200, -32000, "missing trie node", false, Behind),
            (200, -32000, "invalid argument 0", false, Client),
            (200, -32000, "no backend is available", false, Fault),
        ] {
            assert_eq!(class(ChainFamily::Evm, status, code, message, batch), expected, "{status} {code} {message}");
        }
    }

    #[test]
    fn the_same_codes_mean_other_things_on_solana() {
        for (status, code, message, batch, expected) in [
            (200, -32005, "Node is behind by 42 slots", true, Behind),
            (200, -32016, "Minimum context slot has not been reached", true, Behind),
            (200, 429, "Too many requests for a specific RPC call", true, RateLimited),
            (200, 403, "Access forbidden", true, Auth),
            (403, 403, "Access forbidden", true, Auth),
            (200, -32602, "Too many inputs provided; max 100", true, Client),
            (200, -32600, "Invalid request", true, Unsupported),
            (410, 410, "The RPC call or parameters have been disabled.", true, Unsupported),
            (200, -32603, "Internal error", true, Fault),
            (200, -32001, "", true, Behind),
            (200, -32002, "", true, Client),
            (200, -32003, "", true, Client),
            (200, -32004, "", true, Behind),
            (200, -32006, "", true, Client),
            (200, -32007, "", true, Behind),
            (200, -32008, "", true, Behind),
            (200, -32010, "", true, Unsupported),
            (200, -32011, "", true, Behind),
            (200, -32012, "", true, SoftFault),
            (200, -32013, "", true, Client),
            (200, -32014, "", true, Behind),
            (200, -32015, "", true, Client),
            (200, -32017, "", true, Client),
            (200, -32018, "", true, Client),
            (200, -32019, "", true, Fault),
            (200, -32601, "", true, Unsupported),
            (200, 410, "", true, Unsupported),
            (200, -32700, "", true, Unsupported),
            (200, -32700, "", false, Client),
            (200, -32429, "", true, RateLimited),
            (200, -32000, "rate limit", true, RateLimited),
        ] {
            assert_eq!(class(ChainFamily::Svm, status, code, message, batch), expected, "{status} {code} {message}");
        }
    }
}
