//! What an EVM node answers: its chain id, and of the tokens on the ledger `balanceOf` and that they know of
//! authorizations.

use payroute::ChainId;
use serde_json::{Value, json};

use super::ledger::Ledger;

/// The selector of `balanceOf(address)`, and the zeros before the address.
const BALANCE_OF: &str = "0x70a08231000000000000000000000000";

/// The selector of `authorizationState(address,bytes32)` (EIP-3009); none was used here.
const AUTHORIZATION_STATE: &str = "0xe94a0102";

/// `None` for what this node does not know how to answer.
pub(super) fn answer(ledger: &Ledger, chain: &ChainId, method: &str, params: &Value) -> Option<Value> {
    match method {
        "eth_chainId" => Some(json!(format!("{:#x}", chain.evm_chain_id()?))),
        "eth_call" => {
            let token = params.pointer("/0/to")?.as_str()?.to_ascii_lowercase();
            let data = params.pointer("/0/data")?.as_str()?;
            let Some(holders) = ledger.holders(chain.as_str(), &token) else {
                // What a real node says where there is no contract.
                return Some(json!("0x"));
            };
            let word = match data.strip_prefix(BALANCE_OF) {
                Some(owner) => *holders.get(&format!("0x{owner}")).unwrap_or(&0),
                None => data.starts_with(AUTHORIZATION_STATE).then_some(0)?,
            };
            Some(json!(format!("0x{word:064x}")))
        }
        _ => None,
    }
}
