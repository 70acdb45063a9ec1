//! The view calls that a set of reads needs, each once, and what their results say about each read.

use super::multicall::{EvmAddress, MAX_CALLS, NoWord, ViewCall, Word};
use crate::chain::Amount;
use crate::health::FailureClass as Class;
use crate::probe::read_error::{BalanceResult, Unread};
use crate::probe::rpc::Failure;
use crate::ranking::{Note, RejectionReason};
use crate::scheme::ReadFlags;
use crate::scheme::eip3009::NO_TRANSFER;
use crate::scheme::facts::AccountState;
use crate::scheme::permit2::PERMIT2;
use crate::scheme::screen::BalanceRead;
use crate::util::find_or_push;

/// `balanceOf(address)`.
const BALANCE_OF: View = View([0x70, 0xa0, 0x82, 0x31], 1);
/// `allowance(address,address)`.
const ALLOWANCE: View = View([0xdd, 0x62, 0xed, 0x3e], 2);
/// `DOMAIN_SEPARATOR()`.
const DOMAIN_SEPARATOR: View = View([0x36, 0x44, 0xe5, 0x15], 0);
/// `nonces(address)`, which EIP-2612 requires along with `permit`.
const NONCES: View = View([0x7e, 0xce, 0xbe, 0x00], 1);
/// `PERMIT_TYPEHASH()`, as many tokens have it.
const PERMIT_TYPEHASH: View = View([0x30, 0xad, 0xf8, 0x1f], 0);
/// `isBlacklisted(address)`, as USDC has it.
const IS_BLACKLISTED: View = View([0xfe, 0x57, 0x5a, 0x87], 1);
/// `isBlackListed(address)`, as USDT has it.
const IS_BLACK_LISTED: View = View([0xe4, 0x7d, 0x60, 0x60], 1);
/// `isBlocked(address)`, as Tether's newer tokens have it.
const IS_BLOCKED: View = View([0xfb, 0xac, 0x39, 0x51], 1);
/// `authorizationState(address,bytes32)`, which EIP-3009 requires. Any nonce will do.
const AUTHORIZATION_STATE: View = View([0xe9, 0x4a, 0x01, 0x02], 2);
/// `paused()`.
const PAUSED: View = View([0x5c, 0x97, 0x5a, 0xbb], 0);

/// The hash of EIP-2612's type. DAI, which has all of the functions, signs permits of another one.
const EIP2612_TYPEHASH: Word = [
    0x6e, 0x71, 0xed, 0xae, 0x12, 0xb1, 0xb9, 0x7f, 0x4d, 0x1f, 0x60, 0x37, 0x0f, 0xef, 0x10, 0x10, 0x5f, 0xa2, 0xfa,
    0xae, 0x01, 0x26, 0x11, 0x4a, 0x16, 0x9c, 0x64, 0x84, 0x5d, 0x61, 0x26, 0xc9,
];

/// What came of one call: the endpoint's failure outside, the chain's answer inside.
pub(super) type CallResult = Result<Result<Word, NoWord>, Failure>;

/// The calls of some reads.
#[derive(Default)]
pub(in crate::probe) struct CallSet {
    calls: Vec<ViewCall>,
    reads: Vec<TokenRead>,
}

/// A view function of a token: its selector, and how many of owner and Permit2 are its arguments.
#[derive(Clone, Copy)]
struct View([u8; 4], usize);

/// One read, its addresses parsed.
struct TokenRead {
    token: EvmAddress,
    owner: EvmAddress,
    permit2: EvmAddress,
    /// The code of each of the contracts of `flags`.
    contracts: Vec<ViewCall>,
    flags: ReadFlags,
}

impl CallSet {
    /// One set for all reads, whatever its size. `None` if an address is not valid. Required calls come first:
    /// where calls go out one by one, a rate limit hits the last ones.
    pub(in crate::probe) fn new(reads: &[&BalanceRead]) -> Option<Self> {
        let reads: Vec<TokenRead> = reads.iter().map(|read| TokenRead::new(read)).collect::<Option<_>>()?;
        let mut set = Self::default();
        set.add(reads.iter().flat_map(TokenRead::required));
        set.add(reads.iter().flat_map(TokenRead::optional));
        Some(Self { reads, ..set })
    }

    /// As few sets as hold all reads within the size of one multicall: one, unless they have more than
    /// [`MAX_CALLS`] calls.
    pub(super) fn split(reads: &[&BalanceRead]) -> Option<Vec<Self>> {
        let (mut full, mut set) = (Vec::new(), Self::default());
        for read in reads {
            let read = TokenRead::new(read)?;
            let calls: Vec<ViewCall> = read.required().into_iter().chain(read.optional()).collect();
            let further = calls.iter().filter(|call| !set.calls.contains(call)).count();
            if further > MAX_CALLS.saturating_sub(set.calls.len()) {
                full.push(std::mem::take(&mut set));
            }
            set.add(calls);
            set.reads.push(read);
        }
        full.push(set);
        Some(full)
    }

    fn add(&mut self, calls: impl IntoIterator<Item = ViewCall>) {
        for call in calls {
            find_or_push(&mut self.calls, |known| *known == call, || call.clone());
        }
    }

    pub(super) fn calls(&self) -> &[ViewCall] {
        &self.calls
    }

    /// The result of each read, given the results of [`calls`](Self::calls) in order.
    pub(super) fn balances(&self, results: &[CallResult]) -> Vec<BalanceResult> {
        let results = CallResults { calls: &self.calls, results };
        self.reads.iter().map(|read| read.account_state(&results)).collect()
    }
}

struct CallResults<'a> {
    calls: &'a [ViewCall],
    results: &'a [CallResult],
}

impl CallResults<'_> {
    /// A result that is missing is the endpoint's failure, never an answer of the chain.
    fn get(&self, call: &ViewCall) -> CallResult {
        let found = self.calls.iter().zip(self.results).find(|(other, _)| *other == call);
        found.map_or_else(|| Err(Failure::malformed("a call's result is missing")), |(_, result)| result.clone())
    }

    /// The result of a call that must succeed. A revert is the token's own refusal; anything but a word is
    /// `not_a_word`.
    fn word(&self, call: &ViewCall, not_a_word: &'static str) -> Result<Word, Unread> {
        self.get(call).map_err(Unread::Item)?.map_err(|no_word| match no_word {
            NoWord::NoCode => Unread::NoContract,
            NoWord::Empty => Unread::Chain("no contract answers at the asset's address"),
            NoWord::Short => Unread::Chain(not_a_word),
            NoWord::Reverted => Unread::Item(Failure::new(Class::Reverted, Class::Reverted.words())),
        })
    }

    /// The result of a call that the chain may refuse, but the endpoint must not.
    fn chain_answer(&self, call: &ViewCall) -> Result<Result<Word, NoWord>, Unread> {
        self.get(call).map_err(Unread::Item)
    }

    /// Exactly one, as compilers encode it: a fallback that answers anything to everything does not count.
    fn is_true(&self, call: &ViewCall) -> bool {
        const ONE: Word = {
            let mut word = [0; 32];
            word[31] = 1;
            word
        };
        self.get(call) == Ok(Ok(ONE))
    }
}

impl TokenRead {
    fn new(read: &BalanceRead) -> Option<Self> {
        let contracts = read.flags.contracts.iter();
        Some(Self {
            token: EvmAddress::parse(&read.asset.address)?,
            owner: EvmAddress::parse(&read.owner)?,
            permit2: EvmAddress::parse(PERMIT2.address)?,
            contracts: contracts
                .map(|contract| EvmAddress::parse(contract.address).map(ViewCall::code))
                .collect::<Option<_>>()?,
            flags: read.flags,
        })
    }

    /// Calls that must succeed.
    fn required(&self) -> Vec<ViewCall> {
        let mut views = vec![BALANCE_OF];
        if self.flags.allowance {
            views.push(ALLOWANCE);
        }
        if self.flags.permit {
            views.extend([NONCES, PERMIT_TYPEHASH, DOMAIN_SEPARATOR]);
        }
        let views = views.into_iter().map(|view| self.view(view));
        views.chain(self.contracts.iter().cloned()).collect()
    }

    /// Calls that may revert.
    fn optional(&self) -> Vec<ViewCall> {
        let mut views = Vec::new();
        if self.flags.domain {
            views.push(DOMAIN_SEPARATOR);
        }
        if self.flags.authorizations {
            views.push(AUTHORIZATION_STATE);
        }
        views.extend([IS_BLACKLISTED, IS_BLACK_LISTED, IS_BLOCKED, PAUSED]);
        let views = views.into_iter().map(|view| self.view(view));
        std::iter::once(ViewCall::code(self.owner)).chain(views).collect()
    }

    fn view(&self, View(selector, args): View) -> ViewCall {
        let args: Vec<EvmAddress> = [self.owner, self.permit2].into_iter().take(args).collect();
        ViewCall::view(self.token, selector, args)
    }

    fn account_state(&self, results: &CallResults<'_>) -> BalanceResult {
        let balance = results.word(&self.view(BALANCE_OF), "the token's balanceOf did not return one word")?;
        let mut state = AccountState { balance: Amount::from_be_bytes(balance), ..AccountState::default() };
        if self.flags.allowance {
            let allowance = results.word(&self.view(ALLOWANCE), "the token's allowance did not return one word")?;
            state.allowance = Some(Amount::from_be_bytes(allowance));
        }
        state.takes_permits = self.flags.permit && self.takes_permits(results)?;
        state.blockers = self.blockers(results)?;
        if self.flags.domain {
            state.domain_separator = results.get(&self.view(DOMAIN_SEPARATOR)).ok().and_then(Result::ok);
        }
        match results.get(&ViewCall::code(self.owner)) {
            Ok(Ok(code)) => {
                state.is_eoa = is_delegated(&code);
                state.notes.push(Note::OwnerHasCode);
            }
            no_code => state.is_eoa = no_code == Ok(Err(NoWord::NoCode)),
        }
        if self.optional().iter().any(|call| results.get(call).is_err()) {
            state.notes.push(Note::FactsUnread);
        }
        Ok(state)
    }

    /// Why the token would not move, whatever the balance.
    fn blockers(&self, results: &CallResults<'_>) -> Result<Vec<(RejectionReason, &'static str)>, Unread> {
        let mut blockers = Vec::new();
        // One missing contract is enough; the first says what that means.
        for (code, contract) in self.contracts.iter().zip(self.flags.contracts) {
            if results.chain_answer(code)? == Err(NoWord::NoCode) {
                blockers.push((RejectionReason::TransferMethodUnsupported, contract.missing));
                break;
            }
        }
        if self.flags.authorizations && matches!(results.get(&self.view(AUTHORIZATION_STATE)), Ok(Err(_))) {
            blockers.push((RejectionReason::TransferMethodUnsupported, NO_TRANSFER));
        }
        let is_true = |view| results.is_true(&self.view(view));
        if [IS_BLACKLISTED, IS_BLACK_LISTED, IS_BLOCKED].into_iter().any(is_true) {
            blockers.push((RejectionReason::AccountBlocked, "the token's issuer has blocked the buyer's address"));
        }
        if is_true(PAUSED) {
            blockers.push((RejectionReason::TokenPaused, "the token's issuer has paused all transfers"));
        }
        Ok(blockers)
    }

    /// Whether the token has what EIP-2612 requires, and states no other type of permit.
    fn takes_permits(&self, results: &CallResults<'_>) -> Result<bool, Unread> {
        let nonces = results.chain_answer(&self.view(NONCES))?;
        let separator = results.chain_answer(&self.view(DOMAIN_SEPARATOR))?;
        let typehash = results.chain_answer(&self.view(PERMIT_TYPEHASH))?;
        let other_type = typehash.is_ok_and(|hash| hash != EIP2612_TYPEHASH);
        Ok(nonces.is_ok() && separator.is_ok() && !other_type)
    }
}

/// Whether code is the 23 bytes with which an EOA delegates (EIP-7702).
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
