//! What a Solana node answers: its genesis hash, mints, and the token accounts of the ledger.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use payroute::ChainId;
use payroute::registry::{self, TokenProgram};
use serde_json::{Value, json};
use solana_address::Address;

use super::ledger::Ledger;

const ATA_PROGRAM: Address = Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const TOKEN_PROGRAM: Address = Address::from_str_const(TokenProgram::Token.address());
const DECIMALS: u8 = 6;
const INITIALIZED: u8 = 1;

/// `None` for what this node does not know how to answer.
pub(super) fn answer(ledger: &Ledger, chain: &ChainId, method: &str, params: &Value) -> Option<Value> {
    match method {
        "getGenesisHash" => Some(json!(registry::network(chain)?.genesis_hash?)),
        "getMultipleAccounts" => {
            let keys = params.pointer("/0")?.as_array()?.iter().map(Value::as_str);
            let accounts = keys.map(|key| Some(account(ledger, chain, key?.parse().ok()?)));
            Some(json!({ "context": { "slot": 1 }, "value": accounts.collect::<Option<Vec<_>>>()? }))
        }
        _ => None,
    }
}

/// The mint or token account at `key`; null where there is neither.
fn account(ledger: &Ledger, chain: &ChainId, key: Address) -> Value {
    let data = ledger.on(chain.as_str()).find_map(|(mint, owner, units)| {
        let (mint, owner) = (mint.parse::<Address>().ok()?, owner.parse::<Address>().ok()?);
        match key {
            _ if key == mint => Some(mint_data(units)),
            _ if key == token_account(&owner, &mint) => Some(token_account_data(&mint, &owner, units)),
            _ => None,
        }
    });
    data.map_or(Value::Null, |data| {
        json!({
            "data": [STANDARD.encode(&data), "base64"],
            "executable": false,
            "lamports": 2_039_280,
            "owner": TOKEN_PROGRAM.to_string(),
            "rentEpoch": 0,
            "space": data.len(),
        })
    })
}

/// Where `owner` keeps its tokens of `mint`.
fn token_account(owner: &Address, mint: &Address) -> Address {
    let seeds = [owner.as_ref(), TOKEN_PROGRAM.as_ref(), mint.as_ref()];
    Address::find_program_address(&seeds, &ATA_PROGRAM).0
}

/// 82 bytes: no mint authority, supply, decimals, no freeze authority.
fn mint_data(supply: u64) -> Vec<u8> {
    [&[0; 36][..], &supply.to_le_bytes(), &[DECIMALS, INITIALIZED], &[0; 36]].concat()
}

/// 165 bytes: mint, owner, amount, no delegate, state, not native, no close authority.
fn token_account_data(mint: &Address, owner: &Address, amount: u64) -> Vec<u8> {
    [mint.as_ref(), owner.as_ref(), &amount.to_le_bytes(), &[0; 36], &[INITIALIZED], &[0; 56]].concat()
}
