//! Which facts of an EVM chain a set of reads asks for, each once, and what they say of a read together.
//!
//! Refuses to know how facts are asked and answered.

use super::multicall::{EvmAddress, MAX_FACTS, STARVED, Unanswered, ViewCall, Word};
use crate::chain::Amount;
use crate::health::FailureClass as Class;
use crate::probe::finding::{ToldBalance, Untold};
use crate::probe::rpc::Failure;
use crate::ranking::{Note, RejectionReason};
use crate::scheme::ReadFlags;
use crate::scheme::eip3009::NO_TRANSFER;
use crate::scheme::facts::AccountState;
use crate::scheme::permit2::PERMIT2;
use crate::scheme::screen::BalanceRead;

/// `balanceOf(address)`.
const BALANCE_OF: View = View([0x70, 0xa0, 0x82, 0x31], 1);
/// `allowance(address,address)`.
const ALLOWANCE: View = View([0xdd, 0x62, 0xed, 0x3e], 2);
/// `DOMAIN_SEPARATOR()`.
const DOMAIN_SEPARATOR: View = View([0x36, 0x44, 0xe5, 0x15], 0);
/// `nonces(address)`, which EIP-2612 demands beside `permit`.
const NONCES: View = View([0x7e, 0xce, 0xbe, 0x00], 1);
/// `PERMIT_TYPEHASH()`, as many tokens have it.
const PERMIT_TYPEHASH: View = View([0x30, 0xad, 0xf8, 0x1f], 0);
/// `isBlacklisted(address)`, as USDC has it.
const IS_BLACKLISTED: View = View([0xfe, 0x57, 0x5a, 0x87], 1);
/// `isBlackListed(address)`, as USDT has it.
const IS_BLACK_LISTED: View = View([0xe4, 0x7d, 0x60, 0x60], 1);
/// `isBlocked(address)`, as Tether's newer tokens have it.
const IS_BLOCKED: View = View([0xfb, 0xac, 0x39, 0x51], 1);
/// `authorizationState(address,bytes32)`, which EIP-3009 demands. Any number will do for the nonce.
const AUTHORIZATION_STATE: View = View([0xe9, 0x4a, 0x01, 0x02], 2);
/// `paused()`.
const PAUSED: View = View([0x5c, 0x97, 0x5a, 0xbb], 0);

/// The hash of EIP-2612's type. DAI, which has all of the functions, signs permits of another one.
const EIP2612_TYPEHASH: Word = [
    0x6e, 0x71, 0xed, 0xae, 0x12, 0xb1, 0xb9, 0x7f, 0x4d, 0x1f, 0x60, 0x37, 0x0f, 0xef, 0x10, 0x10, 0x5f, 0xa2, 0xfa,
    0xae, 0x01, 0x26, 0x11, 0x4a, 0x16, 0x9c, 0x64, 0x84, 0x5d, 0x61, 0x26, 0xc9,
];

/// The facts of some reads.
#[derive(Default)]
pub(in crate::probe) struct CallSet {
    facts: Vec<ViewCall>,
    reads: Vec<TokenRead>,
}

/// What is told of one fact.
pub(in crate::probe) type ToldFact = Result<Word, Missing>;

/// Why nothing is told of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::probe) enum Missing {
    /// The chain proves that there is no code at the address.
    NoCode,
    /// The call ran and returned nothing: there may be no code.
    Empty,
    /// The call reverted.
    Reverted,
    /// The call returned something else than one word.
    Short,
    /// The endpoint refused or garbled it.
    Failed(Failure),
}

/// A view function of a token: its selector, and how many of the owner and Permit2 it is asked about.
#[derive(Clone, Copy)]
struct View([u8; 4], usize);

/// One read, its addresses parsed.
struct TokenRead {
    token: EvmAddress,
    owner: EvmAddress,
    permit2: EvmAddress,
    /// The code of each of the contracts that `asks` has.
    contracts: Vec<ViewCall>,
    asks: ReadFlags,
}

impl CallSet {
    /// One sheet for all reads, whatever its size. `None` when an address is none. What must be told
    /// comes first: where calls go out one by one, a limit hits the last ones.
    pub(in crate::probe) fn new(reads: &[&BalanceRead]) -> Option<Self> {
        let mut calls = Self::default();
        let mut optional = Vec::new();
        for read in reads {
            let read = TokenRead::new(read)?;
            push_once(&mut calls.facts, read.required());
            optional.extend(read.optional());
            calls.reads.push(read);
        }
        push_once(&mut calls.facts, optional);
        Some(calls)
    }

    /// As few sheets as hold all reads within the size of one question: one, unless they have more
    /// than [`MAX_FACTS`] facts.
    pub(in crate::probe) fn all(reads: &[&BalanceRead]) -> Option<Vec<Self>> {
        let (mut sets, mut calls) = (Vec::new(), Self::default());
        for read in reads {
            let read = TokenRead::new(read)?;
            let mut facts = read.required();
            facts.extend(read.optional());
            let further = facts.iter().filter(|fact| !calls.facts.contains(fact)).count();
            if further > MAX_FACTS.saturating_sub(calls.facts.len()) {
                sets.push(std::mem::take(&mut calls));
            }
            push_once(&mut calls.facts, facts);
            calls.reads.push(read);
        }
        sets.push(calls);
        Some(sets)
    }

    pub(super) fn facts(&self) -> &[ViewCall] {
        &self.facts
    }

    /// What each read comes to, when `told` is what is told of each of [`facts`](Self::facts).
    pub(in crate::probe) fn balances(&self, told: &[ToldFact]) -> Vec<ToldBalance> {
        let answers = Answers { facts: &self.facts, told };
        self.reads.iter().map(|read| read.holding(&answers)).collect()
    }
}

/// Facts and what is told of them.
struct Answers<'a> {
    facts: &'a [ViewCall],
    told: &'a [ToldFact],
}

impl Answers<'_> {
    fn get(&self, fact: &ViewCall) -> &ToldFact {
        let position = self.facts.iter().position(|other| other == fact);
        position.and_then(|position| self.told.get(position)).unwrap_or(&Err(Missing::Empty))
    }

    /// A fact that must be a word.
    fn word(&self, fact: &ViewCall, no_word: &'static str) -> Result<Word, Untold> {
        Err(match self.get(fact) {
            Ok(word) => return Ok(*word),
            Err(Missing::NoCode) => Untold::NoContract,
            Err(Missing::Empty) => Untold::Chain("no contract answers at the asset's address"),
            Err(Missing::Short) => Untold::Chain(no_word),
            Err(Missing::Reverted) => Failure::new(Class::Reverted, Class::Reverted.words()).into(),
            Err(Missing::Failed(failure)) => failure.clone().into(),
        })
    }

    /// A fact that the chain may deny, but the endpoint must not.
    fn known(&self, fact: &ViewCall) -> Result<&ToldFact, Untold> {
        match self.get(fact) {
            Err(Missing::Failed(failure)) => Err(failure.clone().into()),
            told => Ok(told),
        }
    }

    /// Exactly one, as compilers encode it: a fallback that answers anything to everything is no yes.
    fn is_true(&self, fact: &ViewCall) -> bool {
        const ONE: Word = {
            let mut word = [0; 32];
            word[31] = 1;
            word
        };
        *self.get(fact) == Ok(ONE)
    }
}

impl TokenRead {
    fn new(read: &BalanceRead) -> Option<Self> {
        let mut contracts = Vec::new();
        for contract in read.asks.contracts {
            contracts.push(ViewCall::code(EvmAddress::parse(contract.address)?));
        }
        Some(Self {
            token: EvmAddress::parse(&read.asset.address)?,
            owner: EvmAddress::parse(&read.owner)?,
            permit2: EvmAddress::parse(PERMIT2.address)?,
            contracts,
            asks: read.asks,
        })
    }

    /// Without these there is no verdict.
    fn required(&self) -> Vec<ViewCall> {
        let mut facts = vec![self.view(BALANCE_OF)];
        if self.asks.allowance {
            facts.push(self.view(ALLOWANCE));
        }
        if self.asks.permit {
            for view in &[NONCES, PERMIT_TYPEHASH, DOMAIN_SEPARATOR] {
                facts.push(self.view(*view));
            }
        }
        facts.extend_from_slice(&self.contracts);
        facts
    }

    /// A token without one of these has nothing to say on the matter.
    fn optional(&self) -> Vec<ViewCall> {
        let mut facts = vec![ViewCall::code(self.owner)];
        if self.asks.domain {
            facts.push(self.view(DOMAIN_SEPARATOR));
        }
        if self.asks.authorizations {
            facts.push(self.view(AUTHORIZATION_STATE));
        }
        for view in &[IS_BLACKLISTED, IS_BLACK_LISTED, IS_BLOCKED, PAUSED] {
            facts.push(self.view(*view));
        }
        facts
    }

    fn view(&self, View(selector, args): View) -> ViewCall {
        let known = [self.owner, self.permit2];
        ViewCall::view(self.token, selector, known.get(..args).unwrap_or(&known))
    }

    fn holding(&self, answers: &Answers<'_>) -> ToldBalance {
        let balance = answers.word(&self.view(BALANCE_OF), "the token's balanceOf did not return one word")?;
        let mut holding = Box::new(AccountState { balance: Amount::from_be_bytes(balance), ..AccountState::default() });
        if self.asks.allowance {
            let allowance = answers.word(&self.view(ALLOWANCE), "the token's allowance did not return one word")?;
            holding.allowance = Some(Amount::from_be_bytes(allowance));
        }
        holding.takes_permits = self.asks.permit && self.takes_permits(answers)?;
        let is_true = |view| answers.is_true(&self.view(view));
        let mut object = |holds: bool, reason, detail| {
            if holds {
                holding.blockers.push((reason, detail));
            }
            holds
        };
        // Of the contracts without code the first says what that means.
        for (code, contract) in self.contracts.iter().zip(self.asks.contracts) {
            let is_missing = *answers.known(code)? == Err(Missing::NoCode);
            if object(is_missing, RejectionReason::TransferMethodUnsupported, contract.missing) {
                break;
            }
        }
        let has_no_authorizations =
            self.asks.authorizations && answers.known(&self.view(AUTHORIZATION_STATE)).is_ok_and(|told| told.is_err());
        object(has_no_authorizations, RejectionReason::TransferMethodUnsupported, NO_TRANSFER);
        let blocked = [IS_BLACKLISTED, IS_BLACK_LISTED, IS_BLOCKED].into_iter().any(is_true);
        object(blocked, RejectionReason::AccountBlocked, "the token's issuer has blocked the buyer's address");
        object(is_true(PAUSED), RejectionReason::TokenPaused, "the token's issuer has paused all transfers");
        if self.asks.domain {
            holding.domain_separator = answers.get(&self.view(DOMAIN_SEPARATOR)).as_ref().ok().copied();
        }
        match answers.get(&ViewCall::code(self.owner)) {
            Ok(code) => {
                holding.key_signs = is_delegated(code);
                holding.notes.push(Note::OwnerHasCode);
            }
            Err(missing) => holding.key_signs = *missing == Missing::NoCode,
        }
        if self.optional().iter().any(|fact| answers.known(fact).is_err()) {
            holding.notes.push(Note::FactsUnread);
        }
        Ok(holding)
    }

    /// Whether the token has what EIP-2612 demands and can be read, and names no other kind of permit.
    fn takes_permits(&self, answers: &Answers<'_>) -> Result<bool, Untold> {
        let mut takes = true;
        for view in &[NONCES, DOMAIN_SEPARATOR] {
            takes &= answers.known(&self.view(*view))?.is_ok();
        }
        let kind = answers.known(&self.view(PERMIT_TYPEHASH))?;
        let other_kind = kind.as_ref().is_ok_and(|hash| *hash != EIP2612_TYPEHASH);
        Ok(takes && !other_kind)
    }
}

impl From<Unanswered> for Missing {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::NoCode => Self::NoCode,
            Unanswered::Reverted => Self::Reverted,
            Unanswered::Short => Self::Short,
            Unanswered::Starved => Self::Failed(Failure::new(Class::Unsupported, STARVED)),
        }
    }
}

fn push_once(facts: &mut Vec<ViewCall>, more: Vec<ViewCall>) {
    for fact in more {
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
}

/// Whether code is the 23 bytes by which an account with a key delegates (EIP-7702).
fn is_delegated(code: &Word) -> bool {
    code.starts_with(&[0xef, 0x01, 0x00]) && code.ends_with(&[0, 0, 0, 23])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_their_signatures() {
        use sha3::{Digest, Keccak256};
        for (signature, selector) in [
            ("balanceOf(address)", BALANCE_OF),
            ("allowance(address,address)", ALLOWANCE),
            ("DOMAIN_SEPARATOR()", DOMAIN_SEPARATOR),
            ("nonces(address)", NONCES),
            ("PERMIT_TYPEHASH()", PERMIT_TYPEHASH),
            ("isBlacklisted(address)", IS_BLACKLISTED),
            ("isBlackListed(address)", IS_BLACK_LISTED),
            ("isBlocked(address)", IS_BLOCKED),
            ("authorizationState(address,bytes32)", AUTHORIZATION_STATE),
            ("paused()", PAUSED),
        ] {
            assert_eq!(Keccak256::digest(signature)[..4], selector.0, "{signature}");
        }
        let permit = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";
        assert_eq!(Keccak256::digest(permit)[..], EIP2612_TYPEHASH);
    }
}
