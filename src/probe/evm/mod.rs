//! Reading an EVM chain: which chain it is, and the view calls that the reads need. Builds calls and decodes results.

mod calls;
mod multicall;

use self::calls::CallResult;
pub(super) use self::calls::CallSet;
pub(super) use self::multicall::Multicall;
use self::multicall::{NoWord, Problem, ViewCall, Word};
use super::read_error::BalanceReport;
use super::rpc::{Call, Failure, Item, first};
use crate::chain::Amount;
use crate::config::Identity;
use crate::health::{FailureClass as Class, ReadPlan};
use crate::scheme::screen::BalanceRead;
use crate::util::json::Json;

/// As few multicalls as hold all reads, each with its calls: one, unless there are more than some dozen calls. `None`
/// if an address is not valid. Without reads there is one, for identity and time.
pub(super) fn multicalls(reads: &[&BalanceRead], nonce: impl Fn() -> [u8; 16]) -> Option<Vec<(CallSet, Multicall)>> {
    let sets = CallSet::split(reads)?.into_iter();
    sets.map(|set| Multicall::new(nonce(), set.calls()).map(|multicall| (set, multicall))).collect()
}

/// The `eth_call` of a multicall: by a state override, or else as a create call.
pub(super) fn multicall_call(multicall: &Multicall, plan: ReadPlan) -> Call {
    let params = match plan {
        ReadPlan::Override => multicall.override_params(),
        _ => multicall.create_params(),
    };
    Call { method: "eth_call", params }
}

/// What the reply to a multicall reports. A result that is not the program's output means that the node did not run
/// it.
pub(super) fn decode_multicall(
    identity: &Identity,
    set: &CallSet,
    multicall: &Multicall,
    items: &[Item],
) -> Result<BalanceReport, Failure> {
    let json = first(items).map_err(program_refused)?;
    let text = text(json).ok_or_else(|| Failure::malformed("a call's result is not a string"))?;
    let output = multicall.decode(&text).map_err(|problem| {
        let class = if problem == Problem::Nonce { Class::Fault } else { Class::Unsupported };
        Failure::new(class, problem.words())
    })?;
    check_chain(identity, output.chain_id)?;
    let results: Option<Vec<CallResult>> = output.results.into_iter().map(|result| result.map(Ok)).collect();
    let results = results.ok_or_else(|| Failure::new(Class::Unsupported, "the node gave too little gas"))?;
    let chain_time_ms = output.timestamp.checked_mul(1_000);
    Ok(BalanceReport { results: set.balances(&results), throttles: Vec::new(), chain_time_ms })
}

/// The program itself never reverts, so a request that is refused as such is refused for being of this kind. If
/// the server reports a fault of its own, the cause is uncertain.
pub(super) fn request_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::ClientError | Class::Reverted => failure.with_class(Class::Unsupported),
        Class::Fault | Class::SoftFault if failure.from_server => failure.perhaps_unsupported(),
        _ => failure,
    }
}

/// The program itself cannot fail. So any error but load, credentials and lag means that the node does not
/// support this read plan; nodes word that in many ways, and some of them are uncertain.
fn program_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::Fault | Class::SoftFault => failure.perhaps_unsupported(),
        _ => request_refused(failure),
    }
}

/// The identity first, then one call for each of the set.
pub(super) fn calls(set: &CallSet) -> Vec<Call> {
    let identity = Call { method: "eth_chainId", params: "[]".to_owned() };
    let views = set.calls().iter().map(|call| match call.parts() {
        (address, None) => Call { method: "eth_getCode", params: format!(r#"["{address}","latest"]"#) },
        (address, Some(data)) => {
            Call { method: "eth_call", params: format!(r#"[{{"to":"{address}","data":"{data}"}},"latest"]"#) }
        }
    });
    std::iter::once(identity).chain(views).collect()
}

/// What the replies to [`calls()`] report. A call that failed alone is among the results; a failure of the whole
/// endpoint is the error.
pub(super) fn decode(identity: &Identity, set: &CallSet, items: &[Item]) -> Result<BalanceReport, Failure> {
    let chain = first(items)?;
    let id = quantity(chain).ok_or_else(|| Failure::malformed("the chain id is not a number"))?;
    check_chain(identity, id)?;
    let calls = set.calls().iter().zip(items.iter().skip(1));
    let results: Vec<CallResult> = calls.map(|(call, item)| call_result(call, item)).collect();
    // If a balance was read, only throttled calls count against the endpoint: some nodes report a revert as a fault.
    let failures = results.iter().filter_map(|result| result.as_ref().err());
    let throttles =
        failures.filter(|failure| matches!(failure.class, Class::RateLimited | Class::Quota)).cloned().collect();
    Ok(BalanceReport { results: set.balances(&results), throttles, chain_time_ms: None })
}

fn check_chain(identity: &Identity, id: Word) -> Result<(), Failure> {
    // As wide as a word: a number of more bits must not pass for one of 64.
    let id = Amount::from_be_bytes(id);
    match identity {
        Identity::ChainId(expected) if id == Amount::from_u64(*expected) => Ok(()),
        _ => Err(Failure::new(Class::Identity, format!("answers for chain {id}"))),
    }
}

/// A hexadecimal quantity. Leading zeros and upper case are tolerated: the number is the same.
fn quantity(json: &str) -> Option<Word> {
    hex_word(hex_digits(&text(json)?)?)
}

fn text(json: &str) -> Option<String> {
    Json::parse(json).ok()?.text()
}

fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

fn call_result(call: &ViewCall, item: &Item) -> CallResult {
    let json = match item {
        Ok(json) => json,
        Err(failure) if failure.class == Class::Reverted => return Ok(Err(NoWord::Reverted)),
        Err(failure) => return Err(failure.clone()),
    };
    let data = text(json).and_then(|text| hex::decode(hex_digits(&text)?).ok());
    let data = data.ok_or_else(|| Failure::malformed("a call's result is not hexadecimal"))?;
    if call.is_code() {
        return Ok(code_word(&data).ok_or(NoWord::NoCode));
    }
    Ok(match data.first_chunk() {
        // Some gateways return the data of a revert as a result.
        _ if data.len() != 32 && data.starts_with(&[0x08, 0xc3, 0x79, 0xa0]) => Err(NoWord::Reverted),
        // The first word counts, as for callers in Solidity and for the program.
        Some(word) => Ok(*word),
        None if data.is_empty() => Err(NoWord::Empty),
        None => Err(NoWord::Short),
    })
}

/// Code as the program returns it: its first 28 bytes, then its size.
fn code_word(code: &[u8]) -> Option<Word> {
    let size = u32::try_from(code.len()).ok().filter(|size| *size > 0)?;
    let mut word = [0; 32];
    for (to, from) in word.iter_mut().zip(code.iter().take(28)) {
        *to = *from;
    }
    word.last_chunk_mut::<4>()?.copy_from_slice(&size.to_be_bytes());
    Some(word)
}

/// Up to 64 hexadecimal digits.
fn hex_word(digits: &str) -> Option<Word> {
    let mut word = [0; 32];
    hex::decode_to_slice(format!("{digits:0>64}").as_str(), &mut word).ok().filter(|()| !digits.is_empty())?;
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::multicall::EvmAddress;
    use super::*;

    fn item(json: &str) -> Item {
        Ok(json.to_owned())
    }

    fn decode_id(item: Item) -> Result<BalanceReport, Failure> {
        decode(&Identity::ChainId(8453), &CallSet::new(&[]).unwrap(), &[item])
    }

    #[test]
    fn a_word_is_read_and_nothing_else_is() {
        let view = ViewCall::view(EvmAddress([7; 20]), [1, 2, 3, 4], []);
        let word = format!("\"0x{:064x}\"", 50_000);
        assert_eq!(call_result(&view, &item(&word)), Ok(Ok(Amount::from_u64(50_000).to_be_bytes())));
        let revert = format!("\"0x08c379a0{}\"", "0".repeat(64));
        let long = format!("\"0x{:064x}{}\"", 7, "0".repeat(64));
        assert_eq!(call_result(&view, &item(&long)), Ok(Ok(Amount::from_u64(7).to_be_bytes())));
        for (result, no_word) in
            [("\"0x\"", NoWord::Empty), ("\"0x00000000\"", NoWord::Short), (&revert, NoWord::Reverted)]
        {
            assert_eq!(call_result(&view, &item(result)), Ok(Err(no_word)), "{result}");
        }
        for malformed in [
            "null",
            "0",
            "\"\"",
            "\"50000\"",
            &format!("\"0x{}\"", "z".repeat(64)),
            &format!("\"0x{}\"", "_".repeat(64)),
            &format!("\"0x{:065x}\"", 7),
            &format!("\"0x{:064x}zz\"", 7),
        ] {
            assert_eq!(call_result(&view, &item(malformed)).unwrap_err().class, Class::Fault, "{malformed}");
        }
    }

    #[test]
    fn code_is_read_as_the_program_returns_it() {
        let code = ViewCall::code(EvmAddress([7; 20]));
        assert_eq!(call_result(&code, &item("\"0x\"")), Ok(Err(NoWord::NoCode)));
        let mut word = [0; 32];
        (word[0], word[1], word[31]) = (0x5b, 0xfe, 2);
        assert_eq!(call_result(&code, &item("\"0x5bfe\"")), Ok(Ok(word)));
        let long = format!("\"0x{}\"", "5b".repeat(300));
        let mut word = [0x5b; 32];
        word[28..].copy_from_slice(&300_u32.to_be_bytes());
        assert_eq!(call_result(&code, &item(&long)), Ok(Ok(word)));
        assert!(call_result(&code, &item("\"0x5\"")).is_err());
    }

    #[test]
    fn the_chain_id_is_compared_as_a_number() {
        for same in ["\"0x2105\"", "\"0x02105\"", "\"0X2105\""] {
            assert!(decode_id(item(same)).is_ok(), "{same}");
        }
        for other in ["\"0x1\"", "\"0x12105\"", &format!("\"0x1{}\"", "0".repeat(40))] {
            let failure = decode_id(item(other)).unwrap_err();
            assert_eq!(failure.class, Class::Identity, "{other}");
        }
        for no_number in ["8453", "\"8453\"", "\"0x\"", "\"0x_2105\"", "null"] {
            let failure = decode_id(item(no_number)).unwrap_err();
            assert_eq!(failure.class, Class::Fault, "{no_number}");
        }
    }
}
