//! The program of a multicall, against its source and on a real EVM.
//!
//! The module is compiled in from its source: nothing of it is public. Tokens are small programs in
//! the same notation, put in place by the node's own means.

#[allow(dead_code)]
#[path = "../../src/probe/evm/multicall.rs"]
mod program;

use std::collections::HashMap;

use serde_json::{Value, json};

use self::program::{EvmAddress, MAX_CALLS, Multicall, MulticallResult, NoWord, Problem, ViewCall, Word};
use crate::support::NodeProgram;

const SOURCE: &str = include_str!("../../src/probe/evm/multicall.evm");
const NONCE: [u8; 16] = *b"\x9c\x01 a nonce \xffo\x00k!";
const OWNER: EvmAddress = EvmAddress([0x11; 20]);
const SPENDER: EvmAddress = EvmAddress([0x22; 20]);

const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];
const ALLOWANCE: [u8; 4] = [0xdd, 0x62, 0xed, 0x3e];
const PAUSED: [u8; 4] = [0x5c, 0x97, 0x5a, 0xbb];

/// The code at an address, from the word that a code call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code {
    size: u32,
    /// The first bytes, zeros behind the end.
    head: [u8; 28],
}

impl Code {
    fn from_word(word: Word) -> Self {
        let mut code = Self { size: 0, head: [0; 28] };
        if let Some((head, size)) = word.split_first_chunk() {
            code.head = *head;
            code.size = size.iter().fold(0, |size, byte| size << 8 | u32::from(*byte));
        }
        code
    }

    /// The contract that a plain account lets act for it (EIP-7702).
    fn delegate(&self) -> Option<EvmAddress> {
        let [0xef, 0x01, 0x00, rest @ ..] = &self.head else {
            return None;
        };
        rest.first_chunk().filter(|_| self.size == 23).copied().map(EvmAddress)
    }
}

// The assembler.

/// What the notation may say: opcodes of Istanbul and before, one of each name.
fn opcode(name: &str) -> Option<u8> {
    let numbered = |prefix: &str, first: u8| Some(first + name.strip_prefix(prefix)?.parse::<u8>().ok()? - 1);
    Some(match name {
        "stop" => 0x00,
        "add" => 0x01,
        "lt" => 0x10,
        "gt" => 0x11,
        "iszero" => 0x15,
        "byte" => 0x1a,
        "shr" => 0x1c,
        "calldataload" => 0x35,
        "calldatasize" => 0x36,
        "codesize" => 0x38,
        "codecopy" => 0x39,
        "extcodesize" => 0x3b,
        "extcodecopy" => 0x3c,
        "returndatasize" => 0x3d,
        "timestamp" => 0x42,
        "number" => 0x43,
        "chainid" => 0x46,
        "pop" => 0x50,
        "mload" => 0x51,
        "mstore" => 0x52,
        "mstore8" => 0x53,
        "sload" => 0x54,
        "sstore" => 0x55,
        "jump" => 0x56,
        "jumpi" => 0x57,
        "gas" => 0x5a,
        "jumpdest" => 0x5b,
        "return" => 0xf3,
        "staticcall" => 0xfa,
        "revert" => 0xfd,
        "invalid" => 0xfe,
        _ => return numbered("dup", 0x80).or_else(|| numbered("swap", 0x90)),
    })
}

/// `push` takes a number or a place, `name` or `name+number`; places fit in one byte.
fn assemble(source: &str) -> Vec<u8> {
    let (mut code, mut places, mut gaps) = (Vec::new(), HashMap::new(), Vec::new());
    let uncommented = source.lines().flat_map(|line| line.split(';').next());
    let mut words = uncommented.flat_map(str::split_whitespace);
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_suffix(':') {
            assert!(places.insert(name, code.len()).is_none(), "{name} is two places");
        } else if word == "push" {
            let what = words.next().expect("something to push");
            if let Ok(number) = what.parse::<u64>() {
                let bytes = number.to_be_bytes();
                let bytes = &bytes[(number.leading_zeros() as usize / 8).min(7)..];
                code.push(0x5f + u8::try_from(bytes.len()).unwrap());
                code.extend(bytes);
            } else {
                gaps.push((code.len() + 1, what));
                code.extend([0x60, 0]);
            }
        } else {
            code.push(opcode(word).unwrap_or_else(|| panic!("{word} is no opcode")));
        }
    }
    for (gap, what) in gaps {
        let (name, offset) = what.split_once('+').unwrap_or((what, "0"));
        code[gap] = u8::try_from(places[name] + offset.parse::<usize>().unwrap()).expect("a place in one byte");
    }
    code
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn word(value: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    word
}

// What is asked.

fn parsed(params: &str) -> Value {
    serde_json::from_str(params).unwrap()
}

#[test]
fn the_bytes_are_the_source_and_the_input_stands_behind() {
    let calls = [
        ViewCall::view(OWNER, ALLOWANCE, [SPENDER, OWNER]),
        ViewCall::view(SPENDER, PAUSED, []),
        ViewCall::code(OWNER),
    ];
    let multicall = Multicall::new(NONCE, &calls).unwrap();
    let padded = |EvmAddress(address): EvmAddress| [[0; 12].as_slice(), &address].concat();
    let expected = [
        assemble(SOURCE),
        NONCE.to_vec(),
        OWNER.0.to_vec(),
        vec![68],
        ALLOWANCE.to_vec(),
        padded(SPENDER),
        padded(OWNER),
        SPENDER.0.to_vec(),
        vec![4],
        PAUSED.to_vec(),
        OWNER.0.to_vec(),
        vec![0],
    ];
    let [create, overriding] = [parsed(&multicall.create_params()), parsed(&multicall.override_params())];
    assert_eq!(create[0]["data"], hex(&expected.concat()), "the program drifted from multicall.evm");
    let gas = &create[0]["gas"];
    assert_eq!(create, json!([{"data": create[0]["data"], "gas": gas}, "latest"]));
    let to = overriding[0]["to"].as_str().unwrap();
    assert!(EvmAddress::parse(to).is_some());
    assert_eq!(overriding, json!([{"to": to, "gas": gas}, "latest", {to: {"code": create[0]["data"]}}]));
}

#[test]
fn a_multicall_has_a_size() {
    let sizes = [1, 6, 16, MAX_CALLS].map(|count| {
        let multicall = Multicall::new(NONCE, &vec![ViewCall::view(OWNER, BALANCE_OF, [SPENDER]); count]).unwrap();
        (parsed(&multicall.create_params())[0]["data"].as_str().unwrap().len() - 2) / 2
    });
    assert_eq!(sizes, [244, 529, 1_099, 3_835]);
    assert!(Multicall::new(NONCE, &vec![ViewCall::code(OWNER); MAX_CALLS + 1]).is_none());
}

#[test]
fn addresses_are_forty_digits() {
    assert_eq!(EvmAddress::parse(&hex(&[0xab; 20])), Some(EvmAddress([0xab; 20])));
    assert_eq!(EvmAddress::parse(&format!("0x{}", "aB".repeat(20))), Some(EvmAddress([0xab; 20])));
    for text in ["", "0x", "0xab", &"ab".repeat(20), &format!("0x{}", "+1".repeat(20)), &hex(&[0; 21])] {
        assert_eq!(EvmAddress::parse(text), None, "{text}");
    }
}

// What is understood.

fn output(results: &[(u8, u64)]) -> Vec<u8> {
    let mut bytes =
        [[1].as_slice(), &NONCE, &word(8453), &7_u64.to_be_bytes(), &1_700_000_000_u64.to_be_bytes()].concat();
    results.iter().for_each(|(status, value)| bytes.extend([[*status].as_slice(), &word(*value)].concat()));
    bytes
}

#[test]
fn every_status_has_its_meaning() {
    let multicall = Multicall::new(NONCE, &vec![ViewCall::code(OWNER); 5]).unwrap();
    let text = hex(&output(&[(5, 50_000), (1, 0), (2, 0), (3, 0), (4, 0)]));
    let expected = MulticallResult {
        chain_id: word(8453),
        block: 7,
        timestamp: 1_700_000_000,
        results: vec![
            Some(Ok(word(50_000))),
            Some(Err(NoWord::NoCode)),
            None,
            Some(Err(NoWord::Reverted)),
            Some(Err(NoWord::Short)),
        ],
    };
    assert_eq!(multicall.decode(&text).as_ref(), Ok(&expected));
    assert_eq!(multicall.decode(&text.replace('a', "A")), Ok(expected));
}

#[test]
fn every_deviation_is_recognized() {
    let multicall = Multicall::new(NONCE, &[ViewCall::code(OWNER)]).unwrap();
    let good = output(&[(5, 1)]);
    assert!(multicall.decode(&hex(&good)).is_ok());
    let with = |position: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[position] = byte;
        hex(&bytes)
    };
    let text = hex(&good);
    let table = [
        (String::new(), Problem::NotHex),
        (text[2..].to_owned(), Problem::NotHex),
        (text.replace('1', "g"), Problem::NotHex),
        (text.replace('1', "\u{663}"), Problem::NotHex),
        ("0x".to_owned(), Problem::Empty),
        (hex(&good[..97]), Problem::Short),
        (text[..text.len() - 1].to_owned(), Problem::Short),
        (hex(&[0; 32]), Problem::Short),
        (format!("{text}0"), Problem::Long),
        (hex(&output(&[(5, 1), (5, 1)])), Problem::Long),
        (with(0, 0), Problem::Tag),
        (with(1, 0x9d), Problem::Nonce),
        (with(16, b'K'), Problem::Nonce),
        (hex(&[1; 98]), Problem::Nonce),
        (with(65, 0), Problem::Status),
        (with(65, 6), Problem::Status),
        (with(65, 3), Problem::Residue),
    ];
    for (text, problem) in table {
        assert_eq!(multicall.decode(&text), Err(problem), "{text}");
    }
}

// A real EVM.

/// A node, for as long as this value lives.
struct Anvil {
    url: String,
    http: reqwest::Client,
    _program: NodeProgram,
}

impl Anvil {
    fn start() -> Self {
        let (program, ready) = NodeProgram::start("localnet/anvil-guard.mjs", &["8453"]);
        let url = format!("http://127.0.0.1:{}", ready["8453"]["port"]);
        Self { url, http: reqwest::Client::new(), _program: program }
    }

    async fn reply(&self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.http.post(&self.url).json(&request).send().await.unwrap().json().await.unwrap()
    }

    async fn ask(&self, method: &str, params: &Value) -> Value {
        let mut reply = self.reply(method, params).await;
        assert_eq!(reply.get("error"), None, "{method}");
        reply["result"].take()
    }

    /// Puts code at an address that is free, and says which.
    async fn place(&self, number: u8, code: &[u8]) -> EvmAddress {
        let mut address = EvmAddress([0xc0; 20]);
        address.0[19] = number;
        self.ask("anvil_setCode", &json!([hex(&address.0), hex(code)])).await;
        address
    }

    /// The output, the same of a create call and of a state override.
    async fn output(&self, calls: &[ViewCall]) -> MulticallResult {
        let multicall = Multicall::new(NONCE, calls).unwrap();
        let created = self.ask("eth_call", &parsed(&multicall.create_params())).await;
        let overridden = self.ask("eth_call", &parsed(&multicall.override_params())).await;
        assert_eq!(created, overridden);
        multicall.decode(created.as_str().unwrap()).unwrap()
    }

    /// The gas that a creation uses of what a create call sends, as a transaction that is really mined.
    async fn gas(&self, calls: &[ViewCall]) -> (u64, u64) {
        let quantity = |json: &Value| u64::from_str_radix(&json.as_str().unwrap()[2..], 16).unwrap();
        let mut call = parsed(&Multicall::new(NONCE, calls).unwrap().create_params())[0].take();
        let sent = quantity(&call["gas"]);
        call["from"] = json!(hex(&OWNER.0));
        call["gasPrice"] = json!("0x0");
        let hash = self.ask("eth_sendTransaction", &json!([call])).await;
        self.ask("anvil_mine", &json!([])).await;
        let receipt = self.ask("eth_getTransactionReceipt", &json!([hash])).await;
        assert_eq!(receipt["status"], "0x1");
        (quantity(&receipt["gasUsed"]), sent)
    }
}

/// Returns the word at this place of its calldata.
fn mirror(offset: u8) -> String {
    format!("push {offset} calldataload push 0 mstore push 32 push 0 return")
}

const FULL: &str = "push 18446744073709551615 push 0 mstore";
const LOOP: &str = "again: jumpdest push again jump";

#[tokio::test]
async fn good_and_bad_tokens_side_by_side() {
    let anvil = Anvil::start();
    let returns = |value: u64| Ok(word(value));
    let table: Vec<(&str, String, Result<Word, NoWord>)> = vec![
        ("stored", "push 0 sload push 0 mstore push 32 push 0 return".into(), returns(0)),
        ("constant", format!("{FULL} push 32 push 0 return"), returns(u64::MAX)),
        ("reverts with a word", format!("{FULL} push 32 push 0 revert"), Err(NoWord::Reverted)),
        ("reverts with nothing", "push 0 push 0 revert".into(), Err(NoWord::Reverted)),
        ("never ends", LOOP.into(), Err(NoWord::Reverted)),
        ("burns its gas", "invalid".into(), Err(NoWord::Reverted)),
        ("writes", "push 1 push 0 sstore".into(), Err(NoWord::Reverted)),
        ("31 bytes", format!("{FULL} push 31 push 0 return"), Err(NoWord::Short)),
        ("1 byte", format!("{FULL} push 1 push 31 return"), Err(NoWord::Short)),
        ("nothing", "stop".into(), Err(NoWord::Short)),
        ("64 bytes", format!("{FULL} push 64 push 0 return"), returns(u64::MAX)),
        ("200 KB", format!("{FULL} push 200000 push 0 return"), returns(u64::MAX)),
        ("200 KB, reverting", format!("{FULL} push 200000 push 0 revert"), Err(NoWord::Reverted)),
        ("more than its gas", "push 4294967295 push 0 return".into(), Err(NoWord::Reverted)),
        ("no code", String::new(), Err(NoWord::NoCode)),
    ];
    let good = anvil.place(200, &assemble("push 77 push 0 mstore push 32 push 0 return")).await;
    let (mut calls, mut expected) = (Vec::new(), Vec::new());
    for (number, (name, source, result)) in (1..).zip(table) {
        let token = anvil.place(number, &assemble(&source)).await;
        // Behind each bad one a good one, which must not find its leftovers.
        calls.extend([ViewCall::view(token, BALANCE_OF, [OWNER]), ViewCall::view(good, PAUSED, [])]);
        expected.extend([(name, Some(result)), ("good", Some(returns(77)))]);
    }
    let output = anvil.output(&calls).await;
    for ((name, expected), result) in expected.iter().zip(&output.results) {
        assert_eq!(result, expected, "{name}");
    }
    assert_eq!(output.results.len(), expected.len());
    // However many of its like there are, each has the same result.
    for (call, (name, expected)) in calls.iter().zip(&expected).step_by(2) {
        for count in [1, 10, 50, MAX_CALLS] {
            let output = anvil.output(&vec![call.clone(); count]).await;
            assert_eq!(output.results, vec![*expected; count], "{count} times {name}");
        }
    }
}

#[tokio::test]
async fn the_chain_says_who_it_is_and_when() {
    let anvil = Anvil::start();
    anvil.ask("anvil_mine", &json!(["0x123"])).await;
    for calls in [vec![], vec![ViewCall::code(OWNER)]] {
        let block = anvil.ask("eth_getBlockByNumber", &json!(["latest", false])).await;
        let output = anvil.output(&calls).await;
        assert_eq!(output.chain_id, word(8453));
        assert_eq!(json!(format!("{:#x}", output.block)), block["number"]);
        assert_eq!(json!(format!("{:#x}", output.timestamp)), block["timestamp"]);
    }
    // Another nonce, another output: an earlier one does not pass.
    let multicall = Multicall::new(NONCE, &[ViewCall::code(OWNER)]).unwrap();
    let earlier = anvil.ask("eth_call", &parsed(&multicall.create_params())).await;
    let next = Multicall::new([3; 16], &[ViewCall::code(OWNER)]).unwrap();
    assert_eq!(next.decode(earlier.as_str().unwrap()), Err(Problem::Nonce));
}

#[tokio::test]
async fn calldata_arrives_and_storage_is_read() {
    let anvil = Anvil::start();
    let head = anvil.place(1, &assemble(&mirror(0))).await;
    let [first, second] = [anvil.place(2, &assemble(&mirror(4))).await, anvil.place(3, &assemble(&mirror(36))).await];
    let size = anvil.place(4, &assemble("calldatasize push 0 mstore push 32 push 0 return")).await;
    let stored = anvil.place(5, &assemble("push 0 sload push 0 mstore push 32 push 0 return")).await;
    anvil.ask("anvil_setStorageAt", &json!([hex(&stored.0), hex(&[0; 32]), hex(&[0xfe; 32])])).await;
    let calls = [head, first, second, size, stored].map(|token| ViewCall::view(token, ALLOWANCE, [OWNER, SPENDER]));
    let calls =
        [calls.as_slice(), &[ViewCall::view(size, PAUSED, []), ViewCall::view(size, PAUSED, [OWNER; 3])]].concat();
    let padded =
        |EvmAddress(address): EvmAddress| -> Word { [[0; 12].as_slice(), &address].concat().try_into().unwrap() };
    let selector: Word = [ALLOWANCE.as_slice(), &[0; 12], &OWNER.0[..16]].concat().try_into().unwrap();
    let expected = [selector, padded(OWNER), padded(SPENDER), word(68), [0xfe; 32], word(4), word(100)];
    assert_eq!(anvil.output(&calls).await.results, expected.map(|word| Some(Ok(word))));
}

#[tokio::test]
async fn code_differs_from_a_delegate_and_from_nothing() {
    let anvil = Anvil::start();
    let delegate = anvil.place(1, &assemble(&mirror(4))).await;
    let account = anvil.place(2, &[[0xef, 0x01, 0x00].as_slice(), &delegate.0].concat()).await;
    let (short, long) = (anvil.place(3, &[0x5b; 3]).await, anvil.place(4, &[0x5b; 24_576]).await);
    let calls = [delegate, account, short, long, OWNER].map(ViewCall::code);
    let calls = [calls.as_slice(), &[ViewCall::view(account, BALANCE_OF, [OWNER])]].concat();
    let output = anvil.output(&calls).await;
    let codes: Vec<_> = output.results.iter().map(|result| result.unwrap().map(Code::from_word)).collect();
    let sizes: Vec<_> = codes[..5].iter().map(|code| code.map(|code| code.size)).collect();
    assert_eq!(sizes, [Ok(11), Ok(23), Ok(3), Ok(24_576), Err(NoWord::NoCode)]);
    assert_eq!(codes[1].unwrap().delegate(), Some(delegate));
    assert_eq!(codes[2].unwrap().head[..4], [0x5b, 0x5b, 0x5b, 0]);
    assert_eq!(codes[3].unwrap().head, [0x5b; 28]);
    assert!([0, 2, 3].iter().all(|number| codes[*number].unwrap().delegate().is_none()));
    // A call to such an account runs its delegate.
    assert_eq!(output.results[5].unwrap().unwrap()[12..], OWNER.0);
}

/// A node that gives less than it is asked for. A call that never got its share is not one that
/// reverted.
#[tokio::test]
async fn too_little_gas_is_not_a_revert() {
    let anvil = Anvil::start();
    let endless = anvil.place(1, &assemble(LOOP)).await;
    let calls = vec![ViewCall::view(endless, BALANCE_OF, [OWNER]); 4];
    let multicall = Multicall::new(NONCE, &calls).unwrap();
    let mut params = parsed(&multicall.create_params());
    params[0]["gas"] = json!("0x70000");
    let output = multicall.decode(anvil.ask("eth_call", &params).await.as_str().unwrap()).unwrap();
    let [reverted, starved] = [Some(Err(NoWord::Reverted)), None];
    assert_eq!(output.results, [reverted, reverted, starved, starved]);
    params[0]["gas"] = json!("0x10000");
    assert!(anvil.reply("eth_call", &params).await.get("error").is_some());
}

#[tokio::test]
async fn what_it_costs() {
    let anvil = Anvil::start();
    let stored = assemble("push 0 sload push 0 mstore push 32 push 0 return");
    let endless = anvil.place(255, &assemble(LOOP)).await;
    for count in [1, 6, 16, 50, 64] {
        let mut calls = Vec::new();
        for number in 0..count {
            calls.push(ViewCall::view(anvil.place(number, &stored).await, BALANCE_OF, [OWNER]));
        }
        let (good, sent) = anvil.gas(&calls).await;
        let (bad, _) = anvil.gas(&vec![ViewCall::view(endless, BALANCE_OF, [OWNER]); count.into()]).await;
        println!("{count} calls: {good} gas, {bad} when all burn their share, {sent} sent");
        assert!(good < 70_000 + 15_000 * u64::from(count) && bad < sent);
    }
}
