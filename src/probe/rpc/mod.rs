//! The JSON-RPC envelope: bodies go out, answers come in and are matched by their ids alone.
//!
//! Refuses to know which methods are called and what their results mean.

mod classify;
mod retry_after;

use std::time::Duration;

use self::classify::{RpcRefusal, classify};
use crate::chain::ChainFamily;
use crate::health::FailureClass as Class;
use crate::transport::{HttpReply, TransportError};
use crate::util::json::{Json, Members};

/// A 503 that names a wait of up to this is busy; one that names a longer one is down, for at least as long as a
/// circuit would be open.
const BUSY_FOR: Duration = Duration::from_secs(30);

/// A method call. Its id is its position in the request, from 1: small integers are what every
/// server echoes unchanged.
#[derive(Clone, Debug)]
pub(in crate::probe) struct Call {
    pub(in crate::probe) method: &'static str,
    /// As JSON text: it consists of hexadecimal and base58, which need no escapes.
    pub(in crate::probe) params: String,
}

/// Why a reading, or one item of it, failed. The detail is for people and repeats nothing that the endpoint said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(in crate::probe) class: Class,
    pub(in crate::probe) detail: String,
    pub(in crate::probe) retry_after: Option<Duration>,
    /// There was no reply at all, not even an error status.
    pub(in crate::probe) unreachable: bool,
    /// The endpoint's JSON-RPC server reported it, under whatever HTTP status.
    pub(in crate::probe) from_server: bool,
    /// The same request may succeed soon.
    pub(in crate::probe) temporary: bool,
}

/// The result of one call, as its exact text.
pub(in crate::probe) type Item = Result<String, Failure>;

impl Failure {
    pub(in crate::probe) fn new(class: Class, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { class, detail, retry_after: None, unreachable: false, from_server: false, temporary: false }
    }

    /// The same failure under another class.
    pub(in crate::probe) fn with_class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// The same failure, taken as a refusal of this read plan, which it may not be.
    pub(in crate::probe) fn perhaps_unsupported(self) -> Self {
        Self { class: Class::Unsupported, temporary: true, ..self }
    }

    /// A reply that no working endpoint would give.
    pub(crate) fn malformed(detail: &str) -> Self {
        Self::new(Class::Fault, detail)
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        let unreachable = error.is_silence();
        Self { unreachable, ..Self::new(Class::Fault, error.to_string()) }
    }
}

/// All calls as one JSON-RPC batch.
pub(in crate::probe) fn batch_body(calls: &[Call]) -> String {
    let calls: Vec<String> = calls.iter().zip(1..).map(|(call, id)| envelope(call, id)).collect();
    format!("[{}]", calls.join(","))
}

pub(in crate::probe) fn single_body(call: &Call) -> String {
    envelope(call, 1)
}

fn envelope(Call { method, params }: &Call, id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// The answers to a batch of `count` calls in their order, or to a single one.
///
/// A refused batch comes in many shapes: one error object, with or without an id, by itself or in
/// an array, under any status. All of them become one [`Failure`] for the whole batch.
pub(in crate::probe) fn read(
    family: ChainFamily,
    reply: &HttpReply,
    batch: bool,
    count: usize,
) -> Result<Vec<Item>, Failure> {
    let context = Context { family, reply, batch };
    let json = Json::parse(context.success_text()?).map_err(|_| no_answer())?;
    let list = json.items().filter(|_| batch);
    let is_list = list.is_some();
    let answers: Vec<RpcResponse<'_>> = list
        .unwrap_or_else(|| vec![json])
        .into_iter()
        .map(RpcResponse::from_json)
        .collect::<Option<_>>()
        .ok_or_else(no_answer)?;
    if batch {
        // An error without an id is about the whole batch, and so is a single one in place of several answers.
        let single = !is_list || (answers.len() == 1 && count > 1);
        if let Some(error) =
            answers.iter().filter(|answer| single || answer.id.is_none()).find_map(|answer| answer.error)
        {
            return Err(context.refused(error));
        }
        if !is_list {
            return Err(Failure::malformed("one answer came for a batch"));
        }
    }
    let mut positions = Vec::new();
    for answer in &answers {
        // A single call is refused under any id.
        let position = if answer.error.is_some() && !batch { Some(0) } else { answer.position(count) };
        let position = position.ok_or_else(|| Failure::malformed("an answer has an id that was not asked"))?;
        if positions.contains(&position) {
            return Err(Failure::malformed("two answers have the same id"));
        }
        positions.push(position);
    }
    (0..count)
        .map(|position| {
            let answer = answers.iter().zip(&positions).find(|(_, other)| **other == position);
            let (answer, _) = answer.ok_or_else(|| Failure::malformed("an answer is missing from the batch"))?;
            Ok(context.item(answer))
        })
        .collect()
}

/// The answer to the first call, which is the one that proves the chain.
pub(in crate::probe) fn first(items: &[Item]) -> Result<&str, Failure> {
    match items.first() {
        Some(Ok(result)) => Ok(result),
        Some(Err(failure)) => Err(failure.clone()),
        None => Err(Failure::malformed("the answer is empty")),
    }
}

fn no_answer() -> Failure {
    Failure::malformed("the answer is not JSON-RPC")
}

struct Context<'a> {
    family: ChainFamily,
    reply: &'a HttpReply,
    batch: bool,
}

struct RpcResponse<'a> {
    id: Option<Json<'a>>,
    result: Option<Json<'a>>,
    error: Option<Json<'a>>,
}

#[derive(Default)]
struct RpcError {
    code: Option<i64>,
    message: String,
    wait: Option<Duration>,
}

impl<'a> RpcResponse<'a> {
    fn from_json(json: Json<'a>) -> Option<Self> {
        let [id, result, error] = json.members()?.pick(["id", "result", "error"])?;
        Some(Self { id, result, error })
    }

    /// The position, of so many, of the call that is answered. Some servers write ids back as text.
    fn position(&self, count: usize) -> Option<usize> {
        let id = self.id?.raw();
        let digits = id.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(id);
        (0..count).find(|position| position.saturating_add(1).to_string() == digits)
    }
}

impl RpcError {
    /// Errors are objects with a code and a message; now and then a code is text, or the whole
    /// error is.
    fn read(error: Json<'_>) -> Self {
        let members = error.members().unwrap_or(Members(Vec::new()));
        let code = members.get("code").map(|code| code.text().unwrap_or_else(|| code.raw().to_owned()));
        Self {
            code: code.and_then(|code| code.parse().ok()),
            message: members.get("message").unwrap_or(error).text().unwrap_or_default(),
            wait: members.get("data").and_then(retry_after::from_data),
        }
    }
}

impl Context<'_> {
    /// The text of a 2xx answer that could be JSON. Status comes before size and size before
    /// parsing: a 503 is a 503 whatever it carries.
    fn success_text(&self) -> Result<&str, Failure> {
        let text = std::str::from_utf8(&self.reply.body);
        if !is_success(self.reply.status) {
            // A refusal in another encoding has words too.
            let latin = || self.reply.body.iter().map(|byte| char::from(*byte)).collect();
            let text = text.map_or_else(|_| latin(), str::to_owned);
            let error = match Json::parse(first_object(text.trim_ascii())).ok().and_then(RpcResponse::from_json) {
                Some(RpcResponse { error: Some(error), .. }) => RpcError::read(error),
                Some(_) => RpcError::default(),
                None => RpcError { message: text, ..RpcError::default() },
            };
            return Err(self.failure(&error));
        }
        match text.map(str::trim_ascii) {
            Ok(text) if text.starts_with(['{', '[']) => Ok(text),
            _ => Err(Failure::malformed("the answer is not JSON")),
        }
    }

    fn item(&self, answer: &RpcResponse<'_>) -> Item {
        match (answer.error, answer.result) {
            (Some(error), _) => Err(self.refused(error)),
            (None, Some(result)) => Ok(result.raw().to_owned()),
            (None, None) => Err(Failure::malformed("an answer has neither result nor error")),
        }
    }

    fn refused(&self, error: Json<'_>) -> Failure {
        self.failure(&RpcError::read(error))
    }

    fn failure(&self, error: &RpcError) -> Failure {
        let status = self.reply.status;
        let date = self.reply.date.as_deref();
        let header = self.reply.retry_after.as_deref().and_then(|text| retry_after::from_headers(text, date));
        let retry_after = header.or(error.wait);
        let class = classify(RpcRefusal {
            family: self.family,
            status,
            code: error.code,
            message: &error.message,
            batch: self.batch,
        });
        // A 503 that says to come back soon is a load signal.
        let soon = header.is_some_and(|wait| wait <= BUSY_FOR);
        let class = if status == 503 && soon { Class::RateLimited } else { class };
        let words = class.words();
        let detail = match (is_success(status), error.code) {
            (true, None) => words.to_owned(),
            (true, Some(code)) => format!("{words} (JSON-RPC error {code})"),
            (false, None) => format!("{words} (HTTP {status})"),
            (false, Some(code)) => format!("{words} (HTTP {status}, JSON-RPC error {code})"),
        };
        Failure { retry_after, from_server: error.code.is_some(), ..Failure::new(class, detail) }
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// A batch that is refused under an error status may be refused item by item; the first speaks for
/// all.
fn first_object(text: &str) -> &str {
    text.strip_prefix('[').and_then(Json::start_of).map_or(text, Json::raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> HttpReply {
        HttpReply { status, body: body.as_bytes().to_vec(), ..HttpReply::default() }
    }

    fn batch(body: &str) -> Result<Vec<Result<String, Class>>, Class> {
        let items = read_batch(ChainFamily::Evm, &reply(200, body), 2).map_err(|failure| failure.class)?;
        Ok(items.into_iter().map(|item| item.map_err(|f| f.class)).collect())
    }

    fn read_batch(family: ChainFamily, reply: &HttpReply, count: usize) -> Result<Vec<Item>, Failure> {
        read(family, reply, true, count)
    }

    #[test]
    fn answers_are_matched_by_id_in_any_order_and_spelling() {
        let expected = Ok(vec![Ok("\"a\"".to_owned()), Ok("\"b\"".to_owned())]);
        assert_eq!(batch(r#"[{"id":2,"result":"b"},{"id":1,"result":"a","error":null}]"#), expected);
        assert_eq!(batch(r#" [{"id":"1","result":"a"},{"id":"2","result":"b"}]"#), expected);
    }

    #[test]
    fn what_does_not_match_is_malformed() {
        for body in [
            r#"[{"id":1,"result":"a"}]"#,
            r#"[{"id":1,"result":"a"},{"id":1,"result":"b"}]"#,
            r#"[{"id":1,"result":"a"},{"id":3,"result":"b"}]"#,
            r#"[{"id":1,"result":"a"},{"id":2,"result":"b"},{"id":3,"result":"c"}]"#,
            r#"[{"id":0,"result":"a"},{"id":2,"result":"b"}]"#,
            r#"[{"id":1.0,"result":"a"},{"id":2,"result":"b"}]"#,
            r#"[{"id":"+1","result":"a"},{"id":"02","result":"b"}]"#,
            r#"[{"id":1,"result":"a"},{"result":"b"}]"#,
            r#"{"id":1,"result":"a"}"#,
            r#"[{"id":1,"result":"a","result":"b"},{"id":2,"result":"b"}]"#,
            r#"[[1,"a"],[2,"b"]]"#,
            "[]",
            "",
            "null",
            "<html>",
            "[1,2]",
            "{",
        ] {
            assert_eq!(batch(body), Err(Class::Fault), "{body}");
        }
        assert_eq!(batch(r#"[{"id":1,"result":null},{"id":2}]"#), Ok(vec![Err(Class::Fault), Err(Class::Fault)]));
    }

    #[test]
    fn a_refused_batch_in_all_its_shapes() {
        let error = r#""error":{"code":-32600,"message":"batch too large"}"#;
        for body in [
            format!(r#"{{"id":null,{error}}}"#),
            format!(r#"{{"id":1,{error}}}"#),
            format!(r#"{{{error}}}"#),
            format!(r#"[{{"id":null,{error}}}]"#),
            format!(r#"[{{"id":1,{error}}}]"#),
            format!(r#"[{{"id":1,"result":"a"}},{{"id":null,{error}}}]"#),
        ] {
            assert_eq!(batch(&body), Err(Class::Unsupported), "{body}");
        }
        for status in [413, 405, 500] {
            let body = r#"[{"id":1,"error":{"code":31,"message":"Batch of more than 3 requests"}}]"#;
            let failure = read_batch(ChainFamily::Evm, &reply(status, body), 2).unwrap_err();
            assert_eq!(failure.class, Class::Unsupported, "{status}");
        }
    }

    #[test]
    fn status_comes_before_the_body() {
        let body = r#"[{"id":1,"result":"0x1"},{"id":2,"result":"0x2"}]"#;
        assert_eq!(read_batch(ChainFamily::Evm, &reply(503, body), 2).unwrap_err().class, Class::Fault);
        let mut throttled = reply(503, "busy");
        throttled.retry_after = Some("1.5".to_owned());
        let failure = read_batch(ChainFamily::Evm, &throttled, 2).unwrap_err();
        assert_eq!((failure.class, failure.retry_after), (Class::RateLimited, Some(Duration::from_millis(1_500))));
    }

    #[test]
    fn waits_are_read_from_the_error_too() {
        let body = r#"{"id":null,"error":{"code":-32005,"message":"limit","data":{"try_again_in":"566.5ms"}}}"#;
        let failure = read_batch(ChainFamily::Evm, &reply(200, body), 2).unwrap_err();
        assert_eq!(failure.retry_after, Some(Duration::from_micros(566_500)));
    }

    #[test]
    fn nothing_that_an_endpoint_says_is_repeated() {
        let body = r#"{"id":null,"error":{"code":-32600,"message":"invalid access key s3cr3t"}}"#;
        let failure = read(ChainFamily::Evm, &reply(200, body), false, 1).unwrap().remove(0).unwrap_err();
        assert_eq!(failure.detail, "access refused (JSON-RPC error -32600)");
    }
}
