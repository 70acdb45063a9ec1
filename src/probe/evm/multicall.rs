//! One `eth_call` that proves the chain and reads every fact of it, without a contract to call.
//!
//! The call carries a small program and behind it the question; `multicall.evm` is its source
//! and lays out question and answer. A node runs it as init code (plan A) or, through a state
//! override, as the code of an account (plan B); the bytes are the same. The nonce comes back in the
//! answer, so that one made up beforehand or kept from another question is told apart.
//!
//! Refuses to know how calls travel, what the facts mean, and where nonces come from. An address
//! without code is not called: a token that is a bare precompile stays unread.
//!
//! | facts of one argument | code, bytes | answer, bytes | gas used | all burning | gas sent |
//! |---|---|---|---|---|---|
//! | 1  | 244   | 98    | 0.08 M | 0.23 M | 0.63 M |
//! | 6  | 529   | 263   | 0.14 M | 1.02 M | 1.73 M |
//! | 16 | 1,099 | 593   | 0.27 M | 2.60 M | 3.91 M |
//! | 64 | 3,835 | 2,177 | 0.87 M | 10.2 M | 14.4 M |

/// `facts.evm`, assembled. A test assembles it again and compares.
const PROGRAM: &str = concat!(
    "426021524360195246601152601060ab600139600160005360bb60415b8138116026576000f35b602082823980518060141a",
    "9060601c6001813b1560925782605957813b8460010152601c600085600101843c506005609a565b600101620271005a1060",
    "925760010182856015018539602084600101848685620249f0fa1560925760010160203d10609257600101609a565b600084",
    "600101525b83535090602101910160150190601c56",
);

/// The most facts of one question. With it the worst case of gas stays at what nodes accept, and
/// code and answer far below their limits.
pub(super) const MAX_FACTS: usize = 64;

/// The most arguments of a view function; it bounds the size of a question.
const MAX_ARGS: usize = 3;

/// Where plan B puts the program: an address drawn at random, where no chain has anything.
const STAND_IN: &str = "0x40e01d4b8932f7eadc5ffc712ae8e88cd73a55d4";

const TAG: u8 = 1;
const HEAD_BYTES: usize = 1 + 16 + 32 + 8 + 8;
const TOLD_BYTES: usize = 1 + 32;

/// A 32-byte word as a contract returns it.
pub(super) type Word = [u8; 32];

/// Twenty bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EvmAddress(pub(super) [u8; 20]);

impl EvmAddress {
    /// `0x` and 40 hexadecimal digits; the case of a checksum is not looked at.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 20];
        hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

/// One thing to ask of a chain. Equal facts are answered alike, so asking once is enough.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewCall {
    address: EvmAddress,
    /// Empty: the code itself is asked for.
    calldata: Vec<u8>,
}

impl ViewCall {
    /// The first word that a contract's view function returns.
    pub(super) fn view(contract: EvmAddress, selector: [u8; 4], args: impl AsRef<[EvmAddress]>) -> Self {
        let args = args.as_ref();
        debug_assert!(args.len() <= MAX_ARGS);
        let mut calldata = selector.to_vec();
        for EvmAddress(arg) in args {
            calldata.extend_from_slice(&[0; 12]);
            calldata.extend_from_slice(arg);
        }
        Self { address: contract, calldata }
    }

    /// What code stands at an address: its first 28 bytes, then its size as four.
    pub(super) fn code(at: EvmAddress) -> Self {
        Self { address: at, calldata: Vec::new() }
    }

    /// The address and the calldata in hexadecimal, for asking in another way; no calldata asks for code.
    pub(super) fn parts(&self) -> (String, Option<String>) {
        let text = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
        (text(&self.address.0), (!self.asks_code()).then(|| text(&self.calldata)))
    }

    pub(super) fn asks_code(&self) -> bool {
        self.calldata.is_empty()
    }
}

/// Facts asked under one nonce.
#[derive(Clone, Debug)]
pub(super) struct Question {
    nonce: [u8; 16],
    facts: usize,
    /// Program and question, in hexadecimal with its `0x`.
    code: String,
}

impl Question {
    /// `None` when there are more than [`MAX_FACTS`].
    pub(super) fn new(nonce: [u8; 16], facts: &[ViewCall]) -> Option<Self> {
        if facts.len() > MAX_FACTS {
            return None;
        }
        let mut question = nonce.to_vec();
        for ViewCall { address: EvmAddress(address), calldata } in facts {
            question.extend_from_slice(address);
            question.push(u8::try_from(calldata.len()).ok()?);
            question.extend_from_slice(calldata);
        }
        let code = format!("0x{PROGRAM}{}", hex::encode(question));
        Some(Self { nonce, facts: facts.len(), code })
    }

    /// The parameters of `eth_call` in plan A: a creation, so there is no `to`. Neither is there a
    /// `from` nor a price, for either would make nodes look at a balance.
    pub(super) fn create_params(&self) -> String {
        format!(r#"[{{"data":"{}","gas":"{}"}},"latest"]"#, self.code, self.gas())
    }

    /// The parameters of `eth_call` in plan B.
    pub(super) fn override_params(&self) -> String {
        let (code, gas) = (&self.code, self.gas());
        format!(r#"[{{"to":"{STAND_IN}","gas":"{gas}"}},"latest",{{"{STAND_IN}":{{"code":"{code}"}}}}]"#)
    }

    /// Always said, for what a node takes without it ranges from the gas of one block to no limit.
    fn gas(&self) -> String {
        format!("{:#x}", worst_gas(self.facts, self.code.len() / 2))
    }

    /// Reads the result of the call, in either plan.
    pub(super) fn decode(&self, result: &str) -> Result<Answer, Problem> {
        let digits = result.strip_prefix("0x").ok_or(Problem::NotHex)?;
        if digits.is_empty() {
            return Err(Problem::Empty);
        }
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Problem::NotHex);
        }
        let (given, due) = (digits.len().div_ceil(2), answer_bytes(self.facts));
        if given > due {
            return Err(Problem::Long);
        }
        let bytes = bytes(digits).filter(|_| given == due).ok_or(Problem::Short)?;
        let mut rest = bytes.as_slice();
        if take(&mut rest)? != [TAG] {
            return Err(Problem::Tag);
        }
        if take(&mut rest)? != self.nonce {
            return Err(Problem::Nonce);
        }
        let chain_id = take(&mut rest)?;
        let block = u64::from_be_bytes(take(&mut rest)?);
        let timestamp = u64::from_be_bytes(take(&mut rest)?);
        let mut facts = Vec::new();
        for fact in rest.as_chunks().0 {
            facts.push(told(fact)?);
        }
        Ok(Answer { chain_id, block, timestamp, facts })
    }
}

/// What the chain said, all of it in one execution on one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) chain_id: Word,
    /// On some chains (Arbitrum) this counts the blocks of the parent chain.
    pub(super) block: u64,
    /// Seconds since 1970.
    pub(super) timestamp: u64,
    /// One for each fact, in the order of the question.
    pub(super) facts: Vec<Result<Word, Unanswered>>,
}

/// Why a fact has no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// For a code question: a plain account, or nothing at all.
    NoCode,
    /// The node gave less gas than was asked for. Says nothing of the contract.
    Starved,
    /// Reverted, out of gas, or an invalid instruction.
    Reverted,
    /// The call returned less than one word.
    Short,
}

/// What it means that a fact starved.
pub(super) const STARVED: &str = "the node gave too little gas";

/// Why a result is no answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    NotHex,
    /// `0x`: the program did not run.
    Empty,
    Long,
    Short,
    Tag,
    /// Canned, cached, or meant for somebody else.
    Nonce,
    Status,
    Residue,
}

impl Problem {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotHex => "the result is not hexadecimal",
            Self::Empty => "the result is empty",
            Self::Long => "the result is longer than the answer",
            Self::Short => "the result is shorter than the answer",
            Self::Tag => "the result does not start with the tag",
            Self::Nonce => "the result answers another question",
            Self::Status => "a fact has a status that the program does not have",
            Self::Residue => "a fact that was not told has a word",
        }
    }
}

fn told(bytes: &[u8; TOLD_BYTES]) -> Result<Result<Word, Unanswered>, Problem> {
    let [status, word @ ..] = bytes;
    let why = match status {
        1 => Unanswered::NoCode,
        2 => Unanswered::Starved,
        3 => Unanswered::Reverted,
        4 => Unanswered::Short,
        5 => return Ok(Ok(*word)),
        _ => return Err(Problem::Status),
    };
    if *word == [0; 32] { Ok(Err(why)) } else { Err(Problem::Residue) }
}

/// The length of an answer.
#[allow(clippy::arithmetic_side_effects, reason = "a question has at most MAX_FACTS facts")]
const fn answer_bytes(facts: usize) -> usize {
    HEAD_BYTES + TOLD_BYTES * facts
}

/// The gas of a question all of whose calls burn their share, priced with room for Amsterdam's
/// increases.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "a question has at most MAX_FACTS facts, whose gas is asserted below"
)]
const fn worst_gas(facts: usize, code_bytes: usize) -> u64 {
    /// A transaction, a creation and a new account.
    const BASE: u64 = 300_000;
    /// A byte sent: 16 today, 64 in EIP-7976.
    const SENT: u64 = 64;
    /// A byte of the answer, which becomes code in plan A: 200 today, 1,530 in EIP-8037.
    const KEPT: u64 = 1_600;
    /// A fact: the share of its call, and around it a cold account and the program's own steps.
    const FACT: u64 = 150_000 + 12_000;
    BASE + SENT * code_bytes as u64 + KEPT * answer_bytes(facts) as u64 + FACT * facts as u64
}

/// The largest question stays within what nodes accept: gas of 15 million (some refuse more, and a
/// transaction is limited to 2^24 since EIP-7825), code and an answer of 24,576 bytes each (init code
/// may have twice that).
const _: () = {
    let code = PROGRAM.len() / 2 + 16 + MAX_FACTS * (20 + 1 + 4 + 32 * MAX_ARGS);
    assert!(worst_gas(MAX_FACTS, code) <= 15_000_000);
    assert!(code <= 24_576 && answer_bytes(MAX_FACTS) <= 24_576);
};

/// Two hexadecimal digits a byte.
pub(super) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; digits.len() / 2];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Problem> {
    let (first, others) = rest.split_first_chunk().ok_or(Problem::Short)?;
    *rest = others;
    Ok(*first)
}
