//! Reading an EVM chain: who it is, and what owners hold of ERC-20 tokens.
//!
//! Builds calls and decodes results. Refuses to know how they travel.

use ruint::aliases::U256;
use serde_json::value::RawValue;

use super::deployless::{Address, Fact, MAX_FACTS, Problem, Question, Unanswered, Word};
use super::finding::{Told, ToldBalance, Untold};
use super::rpc::{Call, Failure, Item};
use crate::amount::Amount;
use crate::candidate::Holding;
use crate::class::FailureClass as Class;
use crate::config::Identity;
use crate::policy::BalanceRead;
use crate::verdict::{Note, Reason};

/// `balanceOf(address)`.
const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];

/// `DOMAIN_SEPARATOR()`.
const DOMAIN_SEPARATOR: [u8; 4] = [0x36, 0x44, 0xe5, 0x15];
/// `isBlacklisted(address)`, as USDC has it.
const IS_BLACKLISTED: [u8; 4] = [0xfe, 0x57, 0x5a, 0x87];
/// `isBlackListed(address)`, as USDT has it.
const IS_BLACK_LISTED: [u8; 4] = [0xe4, 0x7d, 0x60, 0x60];
/// `paused()`.
const PAUSED: [u8; 4] = [0x5c, 0x97, 0x5a, 0xbb];

/// Facts that a read asks for: those of [`token_facts`].
const FACTS_PER_READ: usize = 5;
/// Reads that one call holds, the owner's code beside them.
const READS_PER_CALL: usize = (MAX_FACTS - 1) / FACTS_PER_READ;

/// Everything in one execution: what to ask, and how the answer is read.
pub(super) struct Inquiry(Question);

impl Inquiry {
    /// As few inquiries as hold all reads: one, unless there are more than a dozen. `None` when an
    /// address is none. Without reads, one that asks for identity and time alone.
    pub(super) fn all(reads: &[&BalanceRead], nonce: impl Fn() -> [u8; 16]) -> Option<Vec<Self>> {
        if reads.is_empty() {
            return Question::new(nonce(), &[]).map(|question| vec![Self(question)]);
        }
        reads.chunks(READS_PER_CALL).map(|reads| Self::new(reads, nonce())).collect()
    }

    /// The owner's code first, then the facts of each read. A network has one owner.
    fn new(reads: &[&BalanceRead], nonce: [u8; 16]) -> Option<Self> {
        let mut facts = vec![Fact::code(Address::parse(&reads.first()?.owner)?)];
        for read in reads {
            facts.extend(token_facts(Address::parse(&read.asset.address)?, Address::parse(&read.owner)?));
        }
        Question::new(nonce, &facts).map(Self)
    }

    /// The call as a creation (plan A).
    pub(super) fn create_call(&self) -> Call {
        Call { method: "eth_call", params: self.0.create_params() }
    }

    /// The call through a state override (plan B).
    pub(super) fn override_call(&self) -> Call {
        Call { method: "eth_call", params: self.0.override_params() }
    }

    /// What the answer to either call says. One that does not come from the program says that the
    /// node did not run it.
    pub(super) fn decode(&self, identity: &Identity, item: Item) -> Result<Told, Failure> {
        let result = item.map_err(program_refused)?;
        let text: String =
            serde_json::from_str(result.get()).map_err(|_| Failure::malformed("a call's result is not a string"))?;
        let answer = self.0.decode(&text).map_err(|problem| match problem {
            Problem::Nonce => Failure::malformed(problem.to_string()),
            _ => Failure::new(Class::Unsupported, problem.to_string()),
        })?;
        same_chain(identity, answer.chain_id)?;
        if answer.facts.contains(&Err(Unanswered::Starved)) {
            return Err(Failure::new(Class::Unsupported, Unanswered::Starved.to_string()));
        }
        let chain_time_ms = answer.timestamp.checked_mul(1_000);
        let Some((owner, facts)) = answer.facts.split_first() else {
            return Ok(Told { balances: Vec::new(), chain_time_ms });
        };
        let has_code = owner.is_ok();
        let (reads, _) = facts.as_chunks();
        Ok(Told { balances: reads.iter().map(|facts| holding(facts, has_code)).collect(), chain_time_ms })
    }
}

/// What is asked of a token, in the order in which [`holding`] reads it.
fn token_facts(token: Address, owner: Address) -> [Fact; FACTS_PER_READ] {
    [
        Fact::view(token, BALANCE_OF, [owner]),
        Fact::view(token, DOMAIN_SEPARATOR, []),
        Fact::view(token, IS_BLACKLISTED, [owner]),
        Fact::view(token, IS_BLACK_LISTED, [owner]),
        Fact::view(token, PAUSED, []),
    ]
}

/// Only the balance must be told: a token without one of the other functions reverts there, and
/// then has nothing to say on the matter.
fn holding(facts: &[Result<Word, Unanswered>; FACTS_PER_READ], owner_has_code: bool) -> ToldBalance {
    let [balance, domain, blacklisted, black_listed, paused] = facts;
    let balance = match balance {
        Ok(word) => Amount::from_be_bytes(*word),
        Err(Unanswered::NoCode) => return Err(Untold::NoContract),
        Err(Unanswered::Short) => return Err(Untold::Chain("the token's balanceOf did not return one word")),
        Err(Unanswered::Reverted | Unanswered::Starved) => {
            return Err(Failure::new(Class::Reverted, Class::Reverted.words()).into());
        }
    };
    let mut objections = Vec::new();
    if is_true(blacklisted) || is_true(black_listed) {
        objections.push((Reason::AccountBlocked, "the token's issuer has blocked the buyer's address"));
    }
    if is_true(paused) {
        objections.push((Reason::TokenPaused, "the token's issuer has paused all transfers"));
    }
    let notes = if owner_has_code { vec![Note::OwnerHasCode] } else { Vec::new() };
    Ok(Holding { balance, objections, domain_separator: domain.ok(), notes })
}

/// Exactly one, as compilers encode it: a fallback that answers anything to everything is no yes.
fn is_true(fact: &Result<Word, Unanswered>) -> bool {
    fact.is_ok_and(|word| word.iter().rev().copied().eq(std::iter::once(1).chain([0; 31])))
}

/// A request that is refused as such is refused for being of this kind.
pub(super) fn request_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::ClientError => Failure { class: Class::Unsupported, ..failure },
        _ => failure,
    }
}

/// The program itself cannot fail, so whatever a node complains of but load, credentials and lag
/// is this way of asking. Nodes say that in as many ways as there are nodes.
fn program_refused(failure: Failure) -> Failure {
    match failure.class {
        Class::ClientError | Class::Reverted | Class::Fault | Class::SoftFault => {
            Failure { class: Class::Unsupported, ..failure }
        }
        _ => failure,
    }
}

/// The identity first, then one call a balance.
pub(super) fn calls(reads: &[&BalanceRead]) -> Vec<Call> {
    let identity = Call { method: "eth_chainId", params: "[]".to_owned() };
    let balances = reads.iter().map(|read| {
        let owner = read.owner.trim_start_matches("0x").to_ascii_lowercase();
        let data = format!("0x{}{owner:0>64}", hex::encode(BALANCE_OF));
        let params = format!(r#"[{{"to":"{}","data":"{data}"}},"latest"]"#, read.asset.address);
        Call { method: "eth_call", params }
    });
    std::iter::once(identity).chain(balances).collect()
}

/// What the answers to [`calls`] say. A reading that failed for its own sake stands beside the
/// others; what speaks for the endpoint as a whole is an error.
pub(super) fn decode(identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
    let (chain, balances) = items.split_first().ok_or_else(|| Failure::malformed("the answer is empty"))?;
    let chain = chain.as_ref().map_err(Clone::clone)?;
    let id = quantity(chain).ok_or_else(|| Failure::malformed("the chain id is not a number"))?;
    same_chain(identity, id)?;
    // This way of asking brings no time of the chain.
    Ok(Told { balances: balances.iter().map(balance).collect(), chain_time_ms: None })
}

fn same_chain(identity: &Identity, id: U256) -> Result<(), Failure> {
    match identity {
        Identity::ChainId(expected) if id == U256::from(*expected) => Ok(()),
        _ => Err(Failure::new(Class::Identity, format!("answers for chain {id}"))),
    }
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
            Ok(Holding { balance: Amount::from_be_bytes(word.to_be_bytes()), ..Holding::default() })
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
        assert_eq!(read(&word), Ok(Holding { balance: Amount::from_u64(50_000), ..Holding::default() }));
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
    fn selectors_are_the_hashes_of_their_signatures() {
        use sha3::{Digest, Keccak256};
        for (signature, selector) in [
            ("balanceOf(address)", BALANCE_OF),
            ("DOMAIN_SEPARATOR()", DOMAIN_SEPARATOR),
            ("isBlacklisted(address)", IS_BLACKLISTED),
            ("isBlackListed(address)", IS_BLACK_LISTED),
            ("paused()", PAUSED),
        ] {
            assert_eq!(Keccak256::digest(signature)[..4], selector, "{signature}");
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
