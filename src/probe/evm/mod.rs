//! Reading an EVM chain: who it is, and the facts that reads ask for.
//!
//! Builds calls and decodes results. Refuses to know how they travel and what the facts mean.

mod calls;
mod multicall;

pub(super) use self::calls::CallSet;
use self::calls::{Missing, ToldFact};
use self::multicall::{Problem, Question, STARVED, Unanswered, ViewCall, Word, bytes};
use super::finding::Told;
use super::rpc::{Call, Failure, Item, first};
use crate::chain::Amount;
use crate::config::Identity;
use crate::health::FailureClass as Class;
use crate::scheme::screen::BalanceRead;
use crate::util::json::Json;

/// Everything in one execution: what to ask, and how the answer is read.
pub(super) struct Inquiry {
    calls: CallSet,
    question: Question,
}

impl Inquiry {
    /// As few inquiries as hold all reads: one, unless there are more than some dozen facts. `None` when
    /// an address is none. Without reads, one that asks for identity and time alone.
    pub(super) fn all(reads: &[&BalanceRead], nonce: impl Fn() -> [u8; 16]) -> Option<Vec<Self>> {
        let mut inquiries = Vec::new();
        for calls in CallSet::all(reads)? {
            inquiries.push(Self { question: Question::new(nonce(), calls.facts())?, calls });
        }
        Some(inquiries)
    }

    /// The call as a creation (plan A), or through a state override (plan B).
    pub(super) fn call(&self, creates: bool) -> Call {
        let params = if creates { self.question.create_params() } else { self.question.override_params() };
        Call { method: "eth_call", params }
    }

    /// What the answer to either call says. One that does not come from the program says that the
    /// node did not run it.
    pub(super) fn decode(&self, identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
        let result = first(items).map_err(program_refused)?;
        let text = text(result).ok_or_else(|| Failure::malformed("a call's result is not a string"))?;
        let answer = self.question.decode(&text).map_err(|problem| {
            let class = if problem == Problem::Nonce { Class::Fault } else { Class::Unsupported };
            Failure::new(class, problem.words())
        })?;
        same_chain(identity, answer.chain_id)?;
        let mut told: Vec<ToldFact> = Vec::new();
        for fact in answer.facts {
            if fact == Err(Unanswered::Starved) {
                return Err(Failure::new(Class::Unsupported, STARVED));
            }
            told.push(fact.map_err(Missing::from));
        }
        let chain_time_ms = answer.timestamp.checked_mul(1_000);
        Ok(Told { balances: self.calls.balances(&told), throttles: Vec::new(), chain_time_ms })
    }
}

/// A request that is refused as such is refused for being of this kind, and the program itself does not
/// revert. Where a server speaks for itself under a status of failure, nobody knows which it is.
pub(super) fn request_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::ClientError | Class::Reverted => failure.with_class(Class::Unsupported),
        Class::Fault | Class::SoftFault if failure.said => failure.perhaps_unsupported(),
        _ => failure,
    }
}

/// The program itself cannot fail, so whatever a node complains of but load, credentials and lag
/// is this way of asking. Nodes say that in as many ways as there are nodes; of some it is not sure.
fn program_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::Fault | Class::SoftFault => failure.perhaps_unsupported(),
        _ => request_refused(failure),
    }
}

/// The identity first, then one call a fact.
pub(super) fn calls(set: &CallSet) -> Vec<Call> {
    let mut calls = vec![Call { method: "eth_chainId", params: "[]".to_owned() }];
    for fact in set.facts() {
        calls.push(match fact.parts() {
            (address, None) => Call { method: "eth_getCode", params: format!(r#"["{address}","latest"]"#) },
            (address, Some(data)) => {
                Call { method: "eth_call", params: format!(r#"[{{"to":"{address}","data":"{data}"}},"latest"]"#) }
            }
        });
    }
    calls
}

/// What the answers to [`calls`] say. A reading that failed for its own sake stands beside the
/// others; what speaks for the endpoint as a whole is an error.
pub(super) fn decode(identity: &Identity, calls: &CallSet, items: &[Item]) -> Result<Told, Failure> {
    let chain = first(items)?;
    let id = quantity(chain).ok_or_else(|| Failure::malformed("the chain id is not a number"))?;
    same_chain(identity, id)?;
    let facts = calls.facts().iter().zip(items.iter().skip(1));
    let told: Vec<ToldFact> = facts.map(|(fact, item)| told(fact, item)).collect();
    // Of what failed beside a balance this alone counts against the endpoint: some call a revert a fault.
    let mut throttles = Vec::new();
    for fact in &told {
        if let Err(Missing::Failed(failure)) = fact
            && matches!(failure.class, Class::RateLimited | Class::Quota)
        {
            throttles.push(failure.clone());
        }
    }
    // This way of asking brings no time of the chain.
    Ok(Told { balances: calls.balances(&told), throttles, chain_time_ms: None })
}

fn same_chain(identity: &Identity, id: Word) -> Result<(), Failure> {
    // As wide as a word: a number of more bits must not pass for one of 64.
    let id = Amount::from_be_bytes(id);
    match identity {
        Identity::ChainId(expected) if id == Amount::from_u64(*expected) => Ok(()),
        _ => Err(Failure::new(Class::Identity, &format!("answers for chain {id}"))),
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

fn told(fact: &ViewCall, item: &Item) -> ToldFact {
    let result = match item {
        Ok(result) => result,
        Err(failure) if failure.class == Class::Reverted => return Err(Missing::Reverted),
        Err(failure) => return Err(Missing::Failed(failure.clone())),
    };
    let not_hex = || Missing::Failed(Failure::malformed("a call's result is not hexadecimal"));
    let text = text(result).ok_or_else(not_hex)?;
    let digits = hex_digits(&text).ok_or_else(not_hex)?;
    let data = bytes(digits).ok_or_else(not_hex)?;
    if fact.asks_code() {
        return code_word(&data).ok_or(Missing::NoCode);
    }
    match data.first_chunk() {
        // Some gateways pass a revert off as a result.
        _ if data.len() != 32 && data.starts_with(&[0x08, 0xc3, 0x79, 0xa0]) => Err(Missing::Reverted),
        // The first word counts, as callers in Solidity and the program read it.
        Some(word) => Ok(*word),
        None if data.is_empty() => Err(Missing::Empty),
        None => Err(Missing::Short),
    }
}

/// Code as the program tells it: its first 28 bytes, then its size.
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

    fn decode_id(item: Item) -> Result<Told, Failure> {
        decode(&Identity::ChainId(8453), &CallSet::new(&[]).unwrap(), &[item])
    }

    #[test]
    fn a_word_is_told_and_nothing_else_is() {
        let view = ViewCall::view(EvmAddress([7; 20]), [1, 2, 3, 4], []);
        let word = format!("\"0x{:064x}\"", 50_000);
        assert_eq!(told(&view, &item(&word)), Ok(Amount::from_u64(50_000).to_be_bytes()));
        let revert = format!("\"0x08c379a0{}\"", "0".repeat(64));
        let long = format!("\"0x{:064x}{}\"", 7, "0".repeat(64));
        assert_eq!(told(&view, &item(&long)), Ok(Amount::from_u64(7).to_be_bytes()));
        for (result, missing) in
            [("\"0x\"", Missing::Empty), ("\"0x00000000\"", Missing::Short), (&revert, Missing::Reverted)]
        {
            assert_eq!(told(&view, &item(result)), Err(missing), "{result}");
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
            let failed = told(&view, &item(malformed)).unwrap_err();
            assert!(matches!(failed, Missing::Failed(f) if f.class == Class::Fault), "{malformed}");
        }
    }

    #[test]
    fn code_is_told_as_the_program_tells_it() {
        let code = ViewCall::code(EvmAddress([7; 20]));
        assert_eq!(told(&code, &item("\"0x\"")), Err(Missing::NoCode));
        let mut word = [0; 32];
        (word[0], word[1], word[31]) = (0x5b, 0xfe, 2);
        assert_eq!(told(&code, &item("\"0x5bfe\"")), Ok(word));
        let long = format!("\"0x{}\"", "5b".repeat(300));
        let mut word = [0x5b; 32];
        word[28..].copy_from_slice(&300_u32.to_be_bytes());
        assert_eq!(told(&code, &item(&long)), Ok(word));
        assert!(matches!(told(&code, &item("\"0x5\"")), Err(Missing::Failed(_))));
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
