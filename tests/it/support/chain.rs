//! Chains that answer JSON-RPC from memory, single calls and batches alike.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use solana_address::Address;
use tokio::time::Instant;

use super::{BUYER_SVM, MERCHANT_SVM, SOLANA_GENESIS, USDC_SOLANA};

const TOKEN: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const TOKEN_2022: &str = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
const ATA: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

/// Answers one call: `Ok(result)` or `Err(error object)`.
pub type Answerer<'a> = dyn Fn(&str, &Value) -> Result<Value, Value> + 'a;

/// Applies `answer` to a call or to every call of a batch.
pub fn respond(body: &Value, answer: &Answerer<'_>) -> Value {
    let one = |call: &Value| match answer(call["method"].as_str().unwrap(), &call["params"]) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": call["id"], "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": call["id"], "error": error}),
    };
    match body {
        Value::Array(calls) => calls.iter().map(one).collect(),
        call => one(call),
    }
}

fn method_not_found() -> Value {
    json!({"code": -32601, "message": "method not found"})
}

enum Told {
    Word(String),
    NoCode,
    Reverted,
}

/// `authorizationState(address,bytes32)`: the token knows of none that was used.
pub const AUTHORIZATION_STATE: (&str, String) = ("e94a0102", String::new());

/// An EVM chain on which every owner of a token holds the same.
#[derive(Clone, Debug)]
pub struct Evm {
    pub chain_id: u64,
    /// By token address in lower case.
    pub balances: BTreeMap<String, u128>,
    /// What every token's other functions return, by selector; one that is not here reverts.
    pub views: BTreeMap<&'static str, String>,
    /// Addresses with code besides the tokens, in lower case.
    pub contracts: Vec<String>,
    /// Whether there is code at plain addresses too.
    pub code_everywhere: bool,
    /// Whether its nodes run a program that is sent along: as a creation, through a state override.
    pub creates: bool,
    pub overrides: bool,
    /// Seconds by which its time lies behind.
    pub behind: u64,
    /// Its time, in seconds since 1970, where the test sets it; else it moves with the test's.
    pub clock: Option<u64>,
}

impl Evm {
    pub fn new(chain_id: u64, token: &str, balance: u128) -> Self {
        let balances = BTreeMap::from([(token.to_ascii_lowercase(), balance)]);
        let (views, contracts) = (BTreeMap::from([AUTHORIZATION_STATE]), Vec::new());
        Self {
            chain_id,
            balances,
            views,
            contracts,
            code_everywhere: false,
            creates: true,
            overrides: true,
            behind: 0,
            clock: None,
        }
    }

    /// A chain whose nodes know plain calls only.
    pub fn plain(chain_id: u64, token: &str, balance: u128) -> Self {
        Self { creates: false, overrides: false, ..Self::new(chain_id, token, balance) }
    }

    pub fn answer(&self, body: &Value) -> Value {
        respond(body, &|method, params| match method {
            "eth_chainId" => Ok(json!(format!("{:#x}", self.chain_id))),
            "eth_call" => match (&params[0]["to"], &params[2]) {
                (Value::Null, _) if self.creates => Ok(self.run(&params[0]["data"])),
                (Value::Null, _) => Err(json!({"code": -32602, "message": "missing field `to`"})),
                (stand_in, Value::Object(accounts)) if self.overrides => {
                    Ok(self.run(&accounts[stand_in.as_str().unwrap()]["code"]))
                }
                (_, Value::Object(_)) => {
                    Err(json!({"code": -32602, "message": "Expected between 1 and 2 arguments and got 3"}))
                }
                (token, _) => {
                    let (address, data) = (token.as_str().unwrap(), params[0]["data"].as_str().unwrap());
                    match self.told(&address.to_ascii_lowercase()[2..], &data[2..]) {
                        Told::Word(word) => Ok(json!(format!("0x{word:0>64}"))),
                        Told::Reverted => Err(json!({"code": 3, "message": "execution reverted"})),
                        Told::NoCode => Ok(json!("0x")),
                    }
                }
            },
            "eth_getCode" => match self.told(&params[0].as_str().unwrap().to_ascii_lowercase()[2..], "") {
                Told::NoCode => Ok(json!("0x")),
                _ => Ok(json!(format!("0x{:046x}", 0))),
            },
            _ => Err(method_not_found()),
        })
    }

    /// What the program of `src/probe/evm/multicall.rs` answers: its source describes both layouts.
    fn run(&self, code: &Value) -> Value {
        let (nonce, facts) = question(code.as_str().unwrap());
        let mut answer = format!("0x01{nonce}{:064x}{:016x}{:016x}", self.chain_id, 1, self.seconds());
        for (address, calldata) in facts {
            answer += &match self.told(address, calldata) {
                Told::Word(word) => format!("05{word:0>64}"),
                Told::NoCode => format!("01{:064x}", 0),
                Told::Reverted => format!("03{:064x}", 0),
            };
        }
        json!(answer)
    }

    /// What the chain says to one question; without calldata it is about the code, of 23 bytes everywhere.
    fn told(&self, address: &str, calldata: &str) -> Told {
        let address = format!("0x{address}");
        let balance = self.balances.get(&address);
        let has_code = balance.is_some() || self.code_everywhere || self.contracts.contains(&address);
        match (balance, calldata.get(..8)) {
            (_, None) if has_code => Told::Word("17".to_owned()),
            (None, _) => Told::NoCode,
            (Some(balance), Some("70a08231")) => Told::Word(format!("{balance:x}")),
            (Some(_), selector) => match selector.and_then(|selector| self.views.get(selector)) {
                Some(word) => Told::Word(word.clone()),
                None => Told::Reverted,
            },
        }
    }

    /// The chain's time, which moves with the test's.
    fn seconds(&self) -> u64 {
        if let Some(seconds) = self.clock {
            return seconds;
        }
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        let (origin, now) = (*ORIGIN.get_or_init(Instant::now), Instant::now());
        let moved = now.saturating_duration_since(origin).as_secs();
        1_800_000_000 + moved - origin.saturating_duration_since(now).as_secs() - self.behind
    }
}

/// The nonce and the facts, an address and its calldata each, that a program is asked for; hexadecimal
/// without `0x`.
pub fn question(code: &str) -> (&str, Vec<(&str, &str)>) {
    const PROGRAM_DIGITS: usize = 2 * 171;
    let (nonce, mut rest) = code[2 + PROGRAM_DIGITS..].split_at(32);
    let mut facts = Vec::new();
    while !rest.is_empty() {
        let (address, behind) = rest.split_at(40);
        let (length, behind) = behind.split_at(2);
        let (calldata, behind) = behind.split_at(2 * usize::from_str_radix(length, 16).unwrap());
        facts.push((address, calldata));
        rest = behind;
    }
    (nonce, facts)
}

/// A Solana cluster with the accounts given.
#[derive(Clone, Debug)]
pub struct Svm {
    pub genesis: String,
    /// Owner program and data, by address.
    pub accounts: BTreeMap<String, (String, Vec<u8>)>,
}

impl Default for Svm {
    fn default() -> Self {
        Self { genesis: SOLANA_GENESIS.to_owned(), accounts: BTreeMap::new() }
    }
}

impl Svm {
    /// USDC exists and the buyer's associated account holds `balance`.
    pub fn usdc(balance: u64) -> Self {
        let mut svm = Self::default();
        svm.add_mint(USDC_SOLANA, false, 6);
        svm.add_holding(USDC_SOLANA, BUYER_SVM, false, balance, 1);
        svm.add_holding(USDC_SOLANA, MERCHANT_SVM, false, 0, 1);
        svm
    }

    /// The cluster's time, in seconds since 1970.
    pub fn set_clock(&mut self, seconds: i64) {
        let mut data = vec![0; 40];
        data[32..].copy_from_slice(&seconds.to_le_bytes());
        let (clock, sysvars) =
            ("SysvarC1ock11111111111111111111111111111111", "Sysvar1111111111111111111111111111111111111");
        self.accounts.insert(clock.to_owned(), (sysvars.to_owned(), data));
    }

    pub fn add_mint(&mut self, mint: &str, token_2022: bool, decimals: u8) {
        let mut data = vec![0; 82];
        (data[44], data[45]) = (decimals, 1);
        if token_2022 {
            data.resize(170, 0);
            data[165] = 1;
        }
        self.accounts.insert(mint.to_owned(), (program(token_2022).to_owned(), data));
    }

    pub fn add_holding(&mut self, mint: &str, owner: &str, token_2022: bool, balance: u64, state: u8) {
        let mut data = vec![0; 165];
        data[..32].copy_from_slice(address(mint).as_ref());
        data[32..64].copy_from_slice(address(owner).as_ref());
        data[64..72].copy_from_slice(&balance.to_le_bytes());
        data[108] = state;
        if token_2022 {
            data.extend([2, 7, 0, 0, 0]);
        }
        self.accounts.insert(associated(mint, owner, token_2022), (program(token_2022).to_owned(), data));
    }

    pub fn answer(&self, body: &Value) -> Value {
        respond(body, &|method, params| match method {
            "getGenesisHash" => Ok(json!(self.genesis)),
            "getMultipleAccounts" => {
                assert_eq!(params[1]["encoding"], "base64");
                let keys = params[0].as_array().unwrap();
                assert!(keys.len() <= 100);
                let value: Vec<Value> = keys.iter().map(|key| self.account(key.as_str().unwrap())).collect();
                Ok(json!({"context": {"slot": 1}, "value": value}))
            }
            _ => Err(method_not_found()),
        })
    }

    fn account(&self, key: &str) -> Value {
        self.accounts.get(key).map_or(Value::Null, |(owner, data)| {
            json!({"owner": owner, "data": [STANDARD.encode(data), "base64"], "lamports": 1, "executable": false,
                "rentEpoch": u64::MAX, "space": data.len()})
        })
    }
}

pub fn associated(mint: &str, owner: &str, token_2022: bool) -> String {
    // Few are ever asked for, and each costs a search.
    static FOUND: Mutex<BTreeMap<(String, String, bool), String>> = Mutex::new(BTreeMap::new());
    let key = (mint.to_owned(), owner.to_owned(), token_2022);
    let find = || {
        let (owner, program, mint) = (address(owner), address(program(token_2022)), address(mint));
        Address::find_program_address(&[owner.as_ref(), program.as_ref(), mint.as_ref()], &address(ATA)).0.to_string()
    };
    FOUND.lock().unwrap().entry(key).or_insert_with(find).clone()
}

fn program(token_2022: bool) -> &'static str {
    if token_2022 { TOKEN_2022 } else { TOKEN }
}

fn address(text: &str) -> Address {
    Address::from_str(text).unwrap()
}
