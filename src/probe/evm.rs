//! Reading an EVM chain: who it is, and what owners hold of ERC-20 tokens.
//!
//! Builds calls and decodes results. Refuses to know how they travel.

use ruint::aliases::U256;
use serde_json::json;
use serde_json::value::RawValue;

use super::finding::{Told, ToldBalance, Untold};
use super::rpc::{Call, Failure, Item};
use crate::amount::Amount;
use crate::class::FailureClass as Class;
use crate::config::Identity;
use crate::policy::BalanceRead;

/// `balanceOf(address)`.
const BALANCE_OF: &str = "0x70a08231";

/// The identity first, then one call a balance.
pub(super) fn calls(reads: &[&BalanceRead]) -> Vec<Call> {
    let identity = Call { method: "eth_chainId", params: json!([]) };
    let balances = reads.iter().map(|read| {
        let owner = read.owner.trim_start_matches("0x").to_ascii_lowercase();
        let data = format!("{BALANCE_OF}{owner:0>64}");
        Call { method: "eth_call", params: json!([{"to": &*read.asset.address, "data": data}, "latest"]) }
    });
    std::iter::once(identity).chain(balances).collect()
}

/// What the answers to [`calls`] say. A reading that failed for its own sake stands beside the
/// others; what speaks for the endpoint as a whole is an error.
pub(super) fn decode(identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
    let (chain, balances) = items.split_first().ok_or_else(|| Failure::malformed("the answer is empty"))?;
    let chain = chain.as_ref().map_err(Clone::clone)?;
    let id = quantity(chain).ok_or_else(|| Failure::malformed("the chain id is not a number"))?;
    match identity {
        Identity::ChainId(expected) if id == U256::from(*expected) => {}
        _ => return Err(Failure::new(Class::Identity, format!("answers for chain {id}"))),
    }
    // This way of asking brings no time of the chain.
    Ok(Told { balances: balances.iter().map(balance).collect(), chain_time_ms: None })
}

/// A hexadecimal quantity. Leading zeros and upper case are tolerated: the number is the same.
fn quantity(json: &RawValue) -> Option<U256> {
    let text: String = serde_json::from_str(json.get()).ok()?;
    hex_word(hex_digits(&text)?)
}

fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

fn balance(item: &Item) -> ToldBalance {
    let result = match item {
        Ok(result) => result,
        Err(failure) => return Err(failure.clone().into()),
    };
    let not_hex = || Untold::from(Failure::malformed("a call's result is not hexadecimal"));
    let text: String = serde_json::from_str(result.get()).map_err(|_| not_hex())?;
    let digits = hex_digits(&text).ok_or_else(not_hex)?;
    match digits.len() {
        64 => {
            let word = hex_word(digits).ok_or_else(not_hex)?;
            Ok((Amount::from_be_bytes(word.to_be_bytes()), false))
        }
        0 => Err(Untold::Chain("no contract answers at the asset's address")),
        // Some gateways pass a revert off as a result.
        _ if digits.starts_with("08c379a0") => Err(Failure::new(Class::Reverted, "call reverted").into()),
        _ => Err(Untold::Chain("the token's balanceOf did not return one word")),
    }
}

/// Up to 64 hexadecimal digits; `from_str_radix` alone would take underscores too.
fn hex_word(digits: &str) -> Option<U256> {
    let well_formed = (1..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    U256::from_str_radix(digits, 16).ok().filter(|_| well_formed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str) -> Item {
        Ok(RawValue::from_string(json.to_owned()).unwrap())
    }

    fn read(word: &str) -> ToldBalance {
        decode(&Identity::ChainId(8453), &[item("\"0x2105\""), item(word)]).unwrap().balances[0].clone()
    }

    #[test]
    fn a_word_is_a_balance_and_nothing_else_is() {
        let word = format!("\"0x{:064x}\"", 50_000);
        assert_eq!(read(&word), Ok((Amount::from_u64(50_000), false)));
        for unread in ["\"0x\"", "\"0x00000000\"", &format!("\"0x{}\"", "0".repeat(128))] {
            assert!(matches!(read(unread), Err(Untold::Chain(_))), "{unread}");
        }
        for malformed in [
            "null",
            "0",
            "\"\"",
            "\"50000\"",
            &format!("\"0x{}\"", "z".repeat(64)),
            &format!("\"0x{}\"", "_".repeat(64)),
        ] {
            assert!(matches!(read(malformed), Err(Untold::Endpoint(f)) if f.class == Class::Fault), "{malformed}");
        }
    }

    #[test]
    fn the_chain_id_is_compared_as_a_number() {
        for same in ["\"0x2105\"", "\"0x02105\"", "\"0X2105\""] {
            assert!(decode(&Identity::ChainId(8453), &[item(same)]).is_ok(), "{same}");
        }
        for other in ["\"0x1\"", "\"0x12105\"", &format!("\"0x1{}\"", "0".repeat(40))] {
            let failure = decode(&Identity::ChainId(8453), &[item(other)]).unwrap_err();
            assert_eq!(failure.class, Class::Identity, "{other}");
        }
        for no_number in ["8453", "\"8453\"", "\"0x\"", "\"0x_2105\"", "null"] {
            let failure = decode(&Identity::ChainId(8453), &[item(no_number)]).unwrap_err();
            assert_eq!(failure.class, Class::Fault, "{no_number}");
        }
    }
}
