//! What an EVM node answers: its chain id, and `balanceOf` of the tokens on the ledger.

use payroute::ChainId;
use serde_json::{Value, json};

use super::ledger::Ledger;

/// The selector of `balanceOf(address)`, and the zeros before the address.
const BALANCE_OF: &str = "0x70a08231000000000000000000000000";

/// `None` for what this node does not know how to answer.
pub(super) fn answer(ledger: &Ledger, chain: &ChainId, method: &str, params: &Value) -> Option<Value> {
    match method {
        "eth_chainId" => Some(json!(format!("{:#x}", chain.evm_chain_id()?))),
        "eth_call" => {
            let token = params.pointer("/0/to")?.as_str()?.to_ascii_lowercase();
            let owner = params.pointer("/0/data")?.as_str()?.strip_prefix(BALANCE_OF)?;
            Some(json!(match ledger.holders(chain.as_str(), &token) {
                Some(holders) => format!("0x{:064x}", holders.get(&format!("0x{owner}")).unwrap_or(&0)),
                // What a real node says where there is no contract.
                None => "0x".to_owned(),
            }))
        }
        _ => None,
    }
}
