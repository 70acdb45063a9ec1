//! JSON-RPC replies: whatever endpoints answer, every offer gets its candidate, and a balance is
//! believed only where an answer of the same endpoint proves the chain and says it.
//!
//! An input is a line with a family and a strategy, then answers with a line `--` between them: one a
//! request, in turn, the last for all that follow. An answer is a line with its status, and perhaps
//! `Retry-After` and `Date` behind a `|` each, or one of `broken`, `large`, `redirected` and `hang`;
//! then its body. What endpoints see in a request can stand in it: `{nonce}`, and as `{facts}` an honest
//! answer to all that the program asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use payroute::{
    Amount, BoxFuture, Candidate, Config, Endpoint, HttpReply, Limits, PaymentRequired, RejectionReason, RouteSelector,
    SelectError, Selection, Transport, TransportError,
};
use serde_json::value::RawValue;

use super::stage::run;

const CHAIN_ID: &str = "2105";
const GENESIS: &str = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
/// What endpoints know and nobody is told: it stands in their URLs.
const SECRET: &str = "s3cr3t";
/// Hexadecimal digits before the nonce: the program's own.
const PROGRAM_DIGITS: usize = 2 * 171;

const EVM: &str = r#"{"x402Version":2,"accepts":[
    {"scheme":"exact","network":"eip155:8453","amount":"50000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
     "payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"USD Coin","version":"2"}},
    {"scheme":"exact","network":"eip155:8453","amount":"70000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
     "payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"USD Coin","version":"2"}},
    {"scheme":"exact","network":"eip155:8453","amount":"5","asset":"0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
     "payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"EURC","version":"2"}},
    {"scheme":"exact","network":"eip155:8453","amount":"5","asset":"0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
     "payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,
     "extra":{"name":"EURC","version":"2","assetTransferMethod":"permit2"}},
    {"scheme":"later"}]}"#;

const SVM: &str = r#"{"x402Version":2,"accepts":[
    {"scheme":"exact","network":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp","amount":"50000",
     "asset":"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v","payTo":"9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
     "maxTimeoutSeconds":60,"extra":{"feePayer":"2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4"}},
    {"scheme":"exact","network":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp","amount":"5",
     "asset":"2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo","payTo":"9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
     "maxTimeoutSeconds":60,"extra":{"feePayer":"2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4"}}]}"#;

const STRATEGIES: [&str; 3] = ["ordered", "race", "hedged"];

/// The fields of an object as they are written.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Selects with endpoints that answer as the input says, and again while there are answers left.
pub fn check(input: &[u8]) {
    let (head, answers) = split_once(input, b"\n").unwrap_or((input, b""));
    let head = String::from_utf8_lossy(head);
    let payment = offered(usize::from(head.starts_with("svm")));
    let strategy = STRATEGIES.iter().position(|strategy| head.ends_with(strategy)).unwrap_or(0);
    let script = Script::of(answers);
    let selector = RouteSelector::builder(config(strategy)).transport(script.clone()).build().unwrap();
    for _ in 0..3 {
        let asked = script.log.lock().unwrap().len();
        let answer = run(selector.select(&payment));
        let log = script.log.lock().unwrap();
        judged(&payment, &answer, &log[asked..]);
        // What an endpoint said is repeated nowhere.
        if split_once(input, SECRET.as_bytes()).is_some() {
            let shown = format!("{answer:?} {} {}", shown(&answer), selector.snapshot_health());
            assert!(!shown.contains(SECRET), "what an endpoint said is repeated: {shown}");
        }
        if log.len() >= script.answers.len() {
            break;
        }
    }
}

fn shown(answer: &Result<Selection, SelectError>) -> String {
    let (text, candidates) = match answer {
        Ok(selection) => (selection.explain(), selection.candidates()),
        Err(error) => (error.to_string(), error.candidates()),
    };
    format!("{text} {} {}", payroute::explain(candidates), serde_json::to_string(candidates).unwrap())
}

fn offered(family: usize) -> PaymentRequired {
    thread_local! {
        static OFFERED: [PaymentRequired; 2] = [EVM, SVM].map(|text| PaymentRequired::from_text(text, &Limits::default()).unwrap());
    }
    OFFERED.with(|offered| offered[family].clone())
}

fn config(strategy: usize) -> Config {
    thread_local! {
        static CONFIGS: Vec<Config> = STRATEGIES.iter().map(|strategy| {
            let network = |host: &str, assets: &str| format!(
                r#"{{"rpc":["https://{host}-1.test/{SECRET}","https://{host}-2.test/?key={SECRET}"],
                    "strategy":"{strategy}","assets":[{assets}]}}"#
            );
            let eurc = r#"{"address":"0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42","symbol":"EURC","decimals":6}"#;
            Config::from_json(&format!(
                r#"{{"owners":{{"eip155":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                    "solana":"BXatMgU1vy2nTfZ3pfjE5AGg6rFmvP5rRCXDhmDq66Jn"}},
                    "networks":{{"base":{},"solana":{}}}}}"#,
                network("base", eurc), network("solana", "")
            )).unwrap()
        }).collect();
    }
    CONFIGS.with(|configs| configs[strategy].clone())
}

fn judged(payment: &PaymentRequired, answer: &Result<Selection, SelectError>, log: &[Exchange]) {
    let candidates = match answer {
        Ok(selection) => selection.candidates(),
        Err(error) => error.candidates(),
    };
    assert_eq!(candidates.len(), payment.requirements().len(), "an offer was lost");
    assert_eq!(answer.is_ok(), candidates.iter().any(|candidate| candidate.viable));
    if let Ok(selection) = answer {
        assert!(selection.selected().viable && selection.selected().rank == 1);
        assert_eq!(selection.requirement().index(), selection.selected().requirement_index);
    }
    let told = Told::of(log);
    candidates.iter().for_each(|candidate| judged_candidate(candidate, &told));
}

fn judged_candidate(candidate: &Candidate, told: &Told) {
    let price = candidate.amount.unwrap_or_default();
    assert_eq!(candidate.viable, candidate.rejections.is_empty());
    match candidate.balance {
        Some(balance) => {
            let host = candidate.endpoint.as_deref().expect("somebody told the balance");
            let proven = told.balances.get(host).is_some_and(|balances| balances.contains(&balance));
            assert!(proven, "{balance} was believed of {host} without proof");
            assert_eq!(candidate.is_rejected_for(RejectionReason::InsufficientBalance), balance < price);
        }
        None => {
            assert!(!candidate.viable, "paid from an unknown balance");
            assert!(!candidate.is_rejected_for(RejectionReason::InsufficientBalance), "unknown is not zero");
        }
    }
}

/// By host: the balances that it told in or beside answers which prove the chain. Which of them belongs
/// to which offer is not looked at.
#[derive(Default)]
struct Told {
    balances: BTreeMap<String, Vec<Amount>>,
}

impl Told {
    fn of(log: &[Exchange]) -> Self {
        let mut told = Self::default();
        // Proof and balances of single calls come apart.
        let mut singles: BTreeMap<&str, (bool, Vec<Amount>)> = BTreeMap::new();
        for Exchange { host, request, answer } in log {
            let is_batch = request.starts_with('[');
            let results = results(answer, is_batch);
            let calls = balance_calls(request, is_batch);
            let of_balances = results.iter().filter(|(id, _)| calls.contains(id));
            let amounts = of_balances.flat_map(|(_, result)| amounts(result));
            if is_batch {
                let first = results.iter().find(|(id, _)| id == "1");
                told.add(host, amounts.filter(|_| first.is_some_and(|(_, result)| is_proof(result))));
            } else if let Some((nonce, question)) = question(request) {
                told.add(host, results.iter().flat_map(|(_, result)| program_amounts(result, nonce, question)));
            } else {
                let (proven, balances) = singles.entry(host).or_default();
                *proven |= asks_identity(request) && results.iter().any(|(_, result)| is_proof(result));
                balances.extend(amounts);
            }
        }
        for (host, (proven, balances)) in singles {
            told.add(host, balances.into_iter().filter(|_| proven));
        }
        told
    }

    fn add(&mut self, host: &str, balances: impl Iterator<Item = Amount>) {
        self.balances.entry(host.to_owned()).or_default().extend(balances);
    }
}

/// Ids and results of an answer.
fn results(answer: &[u8], is_batch: bool) -> Vec<(String, Box<RawValue>)> {
    let text = std::str::from_utf8(answer).map(str::trim).unwrap_or_default();
    let answers: Vec<Fields<'_>> = match is_batch {
        true => serde_json::from_str(text).unwrap_or_default(),
        false => serde_json::from_str(text).into_iter().collect(),
    };
    let result = |fields: &Fields<'_>| {
        Some((fields.get("id")?.get().trim_matches('"').to_owned(), (*fields.get("result")?).to_owned()))
    };
    answers.iter().filter_map(result).collect()
}

fn asks_identity(request: &str) -> bool {
    request.contains("eth_chainId") || request.contains("getGenesisHash")
}

/// The chain id as a quantity in any spelling, or the cluster's genesis hash.
fn is_proof(result: &RawValue) -> bool {
    let text: String = serde_json::from_str(result.get()).unwrap_or_default();
    let quantity = text.to_ascii_lowercase();
    let digits = quantity.strip_prefix("0x").map(|digits| digits.trim_start_matches('0'));
    text == GENESIS || digits == Some(CHAIN_ID)
}

/// What an answer could mean as balances: the first word of some bytes, or what accounts hold, one that is not
/// there nothing.
fn amounts(result: &RawValue) -> Vec<Amount> {
    if let Ok(text) = serde_json::from_str::<String>(result.get()) {
        let digits = text.get(2..).filter(|digits| digits.len().is_multiple_of(2));
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        return digits.and_then(|digits| word(digits.get(..64)?)).into_iter().collect();
    }
    let page: Fields<'_> = serde_json::from_str(result.get()).unwrap_or_default();
    let accounts: Vec<Option<Fields<'_>>> =
        page.get("value").and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default();
    accounts.iter().map(|account| account.as_ref().and_then(held).unwrap_or(Amount::ZERO)).collect()
}

fn held(account: &Fields<'_>) -> Option<Amount> {
    let (data, _): (String, String) = serde_json::from_str(account.get("data")?.get()).ok()?;
    let data = STANDARD.decode(data).ok()?;
    data.get(64..)?.first_chunk().map(|amount| Amount::from(u64::from_le_bytes(*amount)))
}

/// The ids of the calls that ask for balances.
fn balance_calls(request: &str, is_batch: bool) -> Vec<String> {
    let calls: Vec<Fields<'_>> = match is_batch {
        true => serde_json::from_str(request).unwrap(),
        false => vec![serde_json::from_str(request).unwrap()],
    };
    let asks =
        |call: &Fields<'_>, text: &str| call["method"].get().contains(text) || call["params"].get().contains(text);
    let calls = calls.iter().filter(|call| asks(call, "0x70a08231") || asks(call, "getMultipleAccounts"));
    calls.map(|call| call["id"].get().to_owned()).collect()
}

/// What the program of `src/probe/evm/multicall.rs` answered of balances, if it echoes the nonce and names the
/// chain. A fact is a status and a word.
fn program_amounts(result: &RawValue, nonce: &str, question: &str) -> Vec<Amount> {
    let text: String = serde_json::from_str(result.get()).unwrap_or_default();
    let head = format!("0x01{nonce}{CHAIN_ID:0>64}");
    let told = text.get(head.len()..).filter(|_| text[..head.len()].eq_ignore_ascii_case(&head));
    let told = told.and_then(|rest| rest.get(32..)).unwrap_or_default().as_bytes();
    let balances = told.chunks(66).zip(facts(question)).filter(|(_, selector)| *selector == "70a08231");
    balances.filter_map(|(fact, _)| word(std::str::from_utf8(fact.strip_prefix(b"05")?).ok()?)).collect()
}

/// The selectors of a question's facts, empty where code is asked for: each an address, the length of the
/// calldata and the calldata.
fn facts(mut question: &str) -> Vec<&str> {
    let mut facts = Vec::new();
    while let Some((head, rest)) = question.split_at_checked(42) {
        let length = usize::from_str_radix(&head[40..], 16).unwrap();
        let (calldata, rest) = rest.split_at(2 * length);
        facts.push(calldata.get(..8).unwrap_or_default());
        question = rest;
    }
    facts
}

/// Exactly 64 hexadecimal digits.
fn word(digits: &str) -> Option<Amount> {
    let well_formed = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    well_formed.then(|| Amount::from_be_bytes(std::array::from_fn(byte)))
}

/// The nonce of a request that brings the program, in either way, and the question behind it.
fn question(request: &str) -> Option<(&str, &str)> {
    let code = ["\"code\":\"0x", "\"data\":\"0x"].iter().find_map(|mark| request.split_once(mark));
    let (code, _) = code.filter(|_| request.contains("\"gas\""))?.1.split_once('"')?;
    code.get(PROGRAM_DIGITS..)?.split_at_checked(32)
}

/// A request, and the body of its answer if that was a success.
struct Exchange {
    host: String,
    request: String,
    answer: Vec<u8>,
}

/// Endpoints that answer as the input says, whoever asks.
#[derive(Clone)]
struct Script {
    answers: Arc<Vec<Scripted>>,
    log: Arc<Mutex<Vec<Exchange>>>,
}

#[derive(Clone)]
struct Scripted {
    after: Duration,
    reply: Result<HttpReply, TransportError>,
}

impl Script {
    fn of(text: &[u8]) -> Self {
        let (mut answers, mut rest) = (Vec::new(), Some(text));
        while let Some(text) = rest.filter(|_| answers.len() < 16) {
            let (answer, others) =
                split_once(text, b"\n--\n").map_or((text, None), |(one, others)| (one, Some(others)));
            answers.push(Scripted::of(answer));
            rest = others;
        }
        Self { answers: Arc::new(answers), log: Arc::default() }
    }
}

impl Scripted {
    fn of(text: &[u8]) -> Self {
        let (head, body) = split_once(text, b"\n").unwrap_or((text, b""));
        let head = String::from_utf8_lossy(head);
        let mut head = head.split('|').map(str::trim);
        let reply = match head.next().unwrap_or_default() {
            "broken" | "hang" => Err(TransportError::Unreachable),
            "large" => Err(TransportError::TooLarge),
            "redirected" => Err(TransportError::Redirected),
            status => Ok(HttpReply {
                status: status.parse().unwrap_or(200),
                retry_after: head.next().map(str::to_owned),
                date: head.next().map(str::to_owned),
                body: body.to_vec(),
            }),
        };
        let after = if text.starts_with(b"hang") { Duration::from_secs(3_600) } else { Duration::ZERO };
        Self { after, reply }
    }
}

impl Transport for Script {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, request: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        let mut log = self.log.lock().unwrap();
        let Scripted { after, mut reply } = self.answers[log.len().min(self.answers.len() - 1)].clone();
        if let Ok(reply) = &mut reply {
            reply.body = filled_in(&reply.body, &request);
        }
        let answer = match &reply {
            Ok(HttpReply { status: 200..300, body, .. }) => body.clone(),
            _ => Vec::new(),
        };
        log.push(Exchange { host: endpoint.host().to_string(), request, answer });
        Box::pin(async move {
            if !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            reply
        })
    }
}

/// `body` with what only a request tells in its places.
fn filled_in(body: &[u8], request: &str) -> Vec<u8> {
    let (nonce, facts) = question(request).map_or(("", Vec::new()), |(nonce, question)| (nonce, facts(question)));
    let told = facts.iter().map(|selector| match *selector {
        "70a08231" => format!("05{:064x}", 60_000),
        // No authorization was used yet (EIP-3009).
        "e94a0102" => format!("05{:064x}", 0),
        _ => format!("03{:064x}", 0),
    });
    replaced(&replaced(body, b"{facts}", &told.collect::<String>()), b"{nonce}", nonce)
}

fn replaced(text: &[u8], mark: &[u8], by: &str) -> Vec<u8> {
    let (mut filled, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((before, after)) = split_once(rest, mark) {
        filled.extend_from_slice(before);
        filled.extend_from_slice(by.as_bytes());
        rest = after;
    }
    filled.extend_from_slice(rest);
    filled
}

fn split_once<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}
