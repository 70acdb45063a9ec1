//! What endpoints do wrong: for every fault the bytes that go out, and what they amount to.
//!
//! The right column of [`Fault::meaning`] is read off the description of endpoints' ways, not off the
//! code under test.

use payroute::{HttpReply, MAX_RESPONSE_BYTES, TransportError};
use serde_json::{Value, json};

use super::ask::{Ask, Way};
use super::node::{Node, Told};
use crate::reference::Ms;

/// What a reply amounts to for the endpoint that sent it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    Fine,
    Fault,
    SoftFault,
    WrongChain,
    Throttled(Option<Ms>),
    Quota,
    /// Says nothing of the endpoint's health.
    Nothing,
    /// Does not offer this way of asking.
    Unsupported,
    /// The same, or failed for another reason.
    PerhapsUnsupported,
    /// No sign of life.
    Silent,
}

/// A reply and everything that follows from it.
#[derive(Clone, Debug)]
pub struct Said {
    pub meaning: Meaning,
    /// By asset number.
    pub told: Vec<(usize, Told)>,
    pub chain_ms: Option<u64>,
    pub reply: Result<HttpReply, TransportError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Refused,
    DroppedMidBody,
    Hangs,
    StallsAfterHeaders,
    SixtyMegabytes,
    Redirects,
    Html,
    Empty,
    Truncated,
    NotUtf8,
    ServerError(u16),
    BusyUntil(&'static str),
    TooManyRequests(Option<&'static str>),
    ThrottledInBody,
    OutOfQuota(u16),
    OutOfQuotaInBody,
    Unauthorised(u16),
    BadRequest,
    NotAllowed(u16),
    Behind,
    Unclear,
    InternalError,
    InvalidParams,
    NoSuchMethod,
    OtherChain,
    Disconnected,
    DuplicateIds,
    ForeignIds,
    MissingItem,
    OneItemFails,
    NeitherResultNorError,
    EmptyWords,
    ShortWords,
    KeptAnswer,
    Reverts,
    // Odd, and right.
    Reordered,
    TextIds,
    NullError,
}

impl Fault {
    pub const ALL: &[Self] = &[
        Self::Refused,
        Self::DroppedMidBody,
        Self::Hangs,
        Self::StallsAfterHeaders,
        Self::SixtyMegabytes,
        Self::Redirects,
        Self::Html,
        Self::Empty,
        Self::Truncated,
        Self::NotUtf8,
        Self::ServerError(500),
        Self::ServerError(502),
        Self::ServerError(503),
        Self::ServerError(504),
        Self::BusyUntil("2"),
        Self::TooManyRequests(None),
        Self::TooManyRequests(Some("0.1")),
        Self::TooManyRequests(Some("7")),
        Self::TooManyRequests(Some("3600")),
        Self::ThrottledInBody,
        Self::OutOfQuota(402),
        Self::OutOfQuota(403),
        Self::OutOfQuotaInBody,
        Self::Unauthorised(401),
        Self::Unauthorised(404),
        Self::BadRequest,
        Self::NotAllowed(405),
        Self::NotAllowed(413),
        Self::Behind,
        Self::Unclear,
        Self::InternalError,
        Self::InvalidParams,
        Self::NoSuchMethod,
        Self::OtherChain,
        Self::Disconnected,
        Self::DuplicateIds,
        Self::ForeignIds,
        Self::MissingItem,
        Self::OneItemFails,
        Self::NeitherResultNorError,
        Self::EmptyWords,
        Self::ShortWords,
        Self::KeptAnswer,
        Self::Reverts,
        Self::Reordered,
        Self::TextIds,
        Self::NullError,
    ];

    /// The fault's name, for counting.
    pub fn name(self) -> String {
        format!("{self:?}").replace("Some(", "").replace("))", ")").replace('"', "")
    }

    /// Whether no answer ever comes.
    pub fn is_mute(self) -> bool {
        matches!(self, Self::Hangs | Self::StallsAfterHeaders)
    }

    /// What the reply amounts to, by the way of asking; `None` where the fault does not show.
    #[rustfmt::skip] // One row a fault reads as the table that it is.
    fn meaning(self, ask: &Ask) -> Option<Meaning> {
        use Meaning::{
            Fault, Fine, Nothing, PerhapsUnsupported, Quota, Silent, SoftFault, Throttled, Unsupported, WrongChain,
        };
        // A program that a node does not run says only that it does not run it.
        let (program, batch, single) = (ask.way.is_program(), ask.way == Way::Batch, ask.way == Way::Single);
        let unless_program = |meaning| match meaning {
            _ if !program => meaning,
            Fault | SoftFault => PerhapsUnsupported,
            _ => Unsupported,
        };
        Some(match self {
            Self::Refused | Self::DroppedMidBody | Self::Hangs | Self::StallsAfterHeaders => Silent,
            Self::SixtyMegabytes | Self::Redirects | Self::Html | Self::Empty | Self::Truncated | Self::NotUtf8 => Fault,
            Self::ServerError(_) | Self::Unauthorised(_) => Fault,
            Self::BusyUntil(_)              => Throttled(Some(2_000)),
            Self::TooManyRequests(hint)     => Throttled(hint.map(|seconds| (seconds.parse::<f64>().unwrap() * 1_000.0) as Ms)),
            Self::ThrottledInBody           => Throttled(Some(1_500)),
            Self::OutOfQuota(_) | Self::OutOfQuotaInBody => Quota,
            Self::BadRequest                => unless_program(Nothing),
            Self::NotAllowed(_)             => Unsupported,
            Self::Behind                    => Nothing,
            Self::Unclear                   => unless_program(SoftFault),
            Self::InternalError             => unless_program(Fault),
            Self::InvalidParams             => unless_program(Nothing),
            Self::NoSuchMethod              => Unsupported,
            Self::OtherChain if single && !ask.identity => return None,
            Self::OtherChain                => WrongChain,
            Self::Disconnected if ask.is_svm => return None,
            Self::Disconnected              => WrongChain,
            Self::DuplicateIds | Self::MissingItem if !batch => return None,
            Self::DuplicateIds if ask.calls < 2 => return None,
            Self::DuplicateIds | Self::MissingItem | Self::ForeignIds => Fault,
            Self::OneItemFails if !batch || (ask.first_balance.is_none() && !ask.is_svm) => return None,
            Self::OneItemFails              => Fault,
            Self::NeitherResultNorError     => unless_program(Fault),
            Self::EmptyWords | Self::ShortWords if program => Unsupported,
            Self::EmptyWords | Self::ShortWords if ask.assets.is_empty() || ask.is_svm => return None,
            Self::EmptyWords | Self::ShortWords => Fine,
            Self::KeptAnswer if !program    => return None,
            Self::KeptAnswer                => Fault,
            Self::Reverts if ask.is_svm     => return None,
            Self::Reverts                   => unless_program(Nothing),
            Self::Reordered if !batch       => return None,
            Self::Reordered | Self::TextIds | Self::NullError => Fine,
        })
    }

    /// The reply of `node` to `ask`, spoilt.
    pub fn spoil(self, node: &Node, ask: &Ask) -> Option<Said> {
        let meaning = self.meaning(ask)?;
        let good = node.answer(ask);
        if good.meaning != Meaning::Fine && self.needs_an_answer() {
            return None;
        }
        let reply = match self {
            Self::Refused | Self::DroppedMidBody | Self::Hangs | Self::StallsAfterHeaders => {
                Err(TransportError::Unreachable)
            }
            Self::SixtyMegabytes => Err(TransportError::TooLarge),
            Self::Redirects => Err(TransportError::Redirected),
            Self::Html => ok(200, "<!doctype html><title>Just a moment...</title>"),
            Self::Empty => ok(200, ""),
            Self::Truncated => {
                let text = good.value.to_string();
                ok(200, &text[..text.len() / 2])
            }
            Self::NotUtf8 => Ok(HttpReply {
                status: 200,
                body: [b"[{\"id\":1,\xff".as_slice(), &[0; 64]].concat(),
                ..HttpReply::default()
            }),
            Self::ServerError(status) | Self::Unauthorised(status) | Self::NotAllowed(status) => ok(status, ""),
            Self::BusyUntil(seconds) => ok_after(503, "busy", Some(seconds)),
            Self::TooManyRequests(hint) => ok_after(429, "", hint),
            Self::OutOfQuota(status) => ok(status, "Monthly capacity limit exceeded"),
            Self::BadRequest => ok(400, ""),
            _ => ok(200, &self.body(node, ask, good.value).to_string()),
        };
        let told = match self {
            Self::Reordered | Self::TextIds | Self::NullError => good.told,
            Self::OneItemFails if !ask.is_svm => {
                good.told.into_iter().filter(|(asset, _)| *asset != ask.assets[0]).collect()
            }
            Self::Reverts if ask.way == Way::Single && !ask.identity => {
                ask.assets.iter().map(|asset| (*asset, Told::Refused)).collect()
            }
            _ => Vec::new(),
        };
        Some(Said { meaning, told, chain_ms: good.chain_ms.filter(|_| meaning == Meaning::Fine), reply })
    }

    /// Whether it spoils a good answer rather than stand in its place.
    fn needs_an_answer(self) -> bool {
        matches!(
            self,
            Self::DuplicateIds
                | Self::ForeignIds
                | Self::MissingItem
                | Self::OneItemFails
                | Self::EmptyWords
                | Self::ShortWords
                | Self::KeptAnswer
                | Self::OtherChain
                | Self::Reordered
                | Self::TextIds
                | Self::NullError
                | Self::Truncated
        )
    }

    fn body(self, node: &Node, ask: &Ask, mut good: Value) -> Value {
        let error = |code: i64, message: &str| {
            let error = json!({"code": code, "message": message});
            json!({"jsonrpc": "2.0", "id": if ask.way == Way::Batch { Value::Null } else { json!(1) }, "error": error})
        };
        match self {
            Self::ThrottledInBody => {
                let mut refusal = error(429, "compute units per second exceeded");
                refusal["error"]["data"] = json!({"try_again_in": "1500ms"});
                refusal
            }
            Self::OutOfQuotaInBody => error(if ask.is_svm { 429 } else { -32005 }, "daily request count exceeded"),
            Self::Behind if ask.is_svm => error(-32005, "Node is behind by 42 slots"),
            Self::Behind => error(-32000, "header not found"),
            Self::Unclear => error(-32000, "something new"),
            Self::InternalError => error(-32603, "oops"),
            Self::InvalidParams => error(-32602, "invalid params"),
            Self::NoSuchMethod => error(-32601, "method not found"),
            Self::Disconnected => error(4901, "chain disconnected"),
            Self::Reverts => error(3, "execution reverted"),
            Self::OtherChain => node.on_another_chain().answer(ask).value,
            Self::KeptAnswer => node.kept_answer(ask),
            Self::EmptyWords => with_words(good, ask, "0x"),
            Self::ShortWords => with_words(good, ask, "0x00000000"),
            Self::OneItemFails => {
                let item = &mut good[ask.first_balance.unwrap_or(1)];
                *item = json!({"id": item["id"], "error": {"code": -32603, "message": "oops"}});
                good
            }
            Self::DuplicateIds => {
                good[1]["id"] = json!(1);
                good
            }
            Self::MissingItem => {
                good.as_array_mut().unwrap().pop();
                good
            }
            Self::Reordered => {
                good.as_array_mut().unwrap().reverse();
                good
            }
            Self::ForeignIds => each(good, |item| item["id"] = json!(999)),
            Self::NeitherResultNorError => each(good, |item| {
                *item = json!({"jsonrpc": "2.0", "id": item["id"], "result": null});
            }),
            Self::TextIds => each(good, |item| item["id"] = json!(item["id"].to_string())),
            Self::NullError => each(good, |item| item["error"] = Value::Null),
            _ => good,
        }
    }
}

fn ok(status: u16, body: &str) -> Result<HttpReply, TransportError> {
    ok_after(status, body, None)
}

fn ok_after(status: u16, body: &str, retry_after: Option<&str>) -> Result<HttpReply, TransportError> {
    assert!(body.len() <= MAX_RESPONSE_BYTES);
    Ok(HttpReply { status, retry_after: retry_after.map(str::to_owned), body: body.into(), ..HttpReply::default() })
}

fn each(mut body: Value, change: impl Fn(&mut Value)) -> Value {
    match &mut body {
        Value::Array(items) => items.iter_mut().for_each(change),
        item => change(item),
    }
    body
}

/// Every result but an identity replaced by `word`.
fn with_words(mut body: Value, ask: &Ask, word: &str) -> Value {
    match &mut body {
        Value::Array(items) => {
            let results = items.iter_mut().skip(1).filter(|item| item.get("error").is_none());
            results.for_each(|item| item["result"] = json!(word));
        }
        item if !ask.identity || ask.way.is_program() => item["result"] = json!(word),
        _ => {}
    }
    body
}
