//! One `eth_call` that proves the chain and makes every view call, without a contract of ours on the chain.
//!
//! A balance counts only if the same reply proves which chain it comes from. No standard method returns
//! both, and not every chain has a Multicall3 contract. So the request carries a small program with its
//! input behind it. The node runs the program as the init code of a contract that is never created (create
//! call), or as the code of an account (state override); the bytes are the same. `multicall.evm` is its source
//! and describes input and output. The nonce comes back in the output, so a canned or cached reply is
//! recognized. An address without code is not called: a token that is a bare precompile stays unread.
//!
//! An example: USDC's `balanceOf(0x1111…1111)`. What is sent, 244 bytes:
//!
//! ```text
//! 4260215243…190601c56                         program       171 bytes
//! 9c01…6b21                                    nonce          16
//! 833589fcd6edb6e08f4c7c32d4f71b54bda02913     contract       20   call 1: USDC on Base,
//! 24                                           length          1           36 bytes of calldata:
//! 70a08231                                     selector        4           balanceOf(address)
//! 0000…00001111111111111111111111111111…1111   argument       32           the owner
//! ```
//!
//! What comes back, 98 bytes:
//!
//! ```text
//! 01                                           tag             1
//! 9c01…6b21                                    nonce          16   the same as sent
//! 0000…2105                                    chain id       32   8453, Base
//! 0000000001c9c380                             block number    8   30,000,000
//! 000000006553f100                             block time      8   1,700,000,000 s
//! 05                                           status          1   call 1: returned a word
//! 0000…c350                                    word           32           50,000: 0.05 USDC
//! ```
//!
//! Gas, and sizes in bytes, of calls with one argument:
//!
//! | calls | sent | returned | gas used | gas used if all calls burn theirs | gas limit |
//! |---|---|---|---|---|---|
//! | 1  | 244   | 98    | 0.08 M | 0.23 M | 0.63 M |
//! | 6  | 529   | 263   | 0.14 M | 1.02 M | 1.73 M |
//! | 16 | 1,099 | 593   | 0.27 M | 2.60 M | 3.91 M |
//! | 64 | 3,835 | 2,177 | 0.87 M | 10.2 M | 14.4 M |

/// `multicall.evm`, assembled. A test assembles it again and compares.
const PROGRAM: &str = concat!(
    "426021524360195246601152601060ab600139600160005360bb60415b8138116026576000f35b602082823980518060141a",
    "9060601c6001813b1560925782605957813b8460010152601c600085600101843c506005609a565b600101620271005a1060",
    "925760010182856015018539602084600101848685620249f0fa1560925760010160203d10609257600101609a565b600084",
    "600101525b83535090602101910160150190601c56",
);

/// The most calls of one program. It keeps the worst case of gas below what nodes accept, and code and output far
/// below their limits.
pub(super) const MAX_CALLS: usize = 64;

/// The most arguments of a view function; it bounds the size of the input.
const MAX_ARGS: usize = 3;

/// The account whose code a state override replaces: an address drawn at random, where no chain has anything.
const OVERRIDDEN_ACCOUNT: &str = "0x40e01d4b8932f7eadc5ffc712ae8e88cd73a55d4";

const TAG: u8 = 1;
/// Tag, nonce, chain id, block number, block time.
const HEAD_BYTES: usize = 1 + 16 + 32 + 8 + 8;
/// Status and word.
const RESULT_BYTES: usize = 1 + 32;

/// A 32-byte word as a contract returns it.
pub(super) type Word = [u8; 32];

/// Twenty bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EvmAddress(pub(super) [u8; 20]);

impl EvmAddress {
    /// `0x` and 40 hexadecimal digits; the case of a checksum is ignored.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 20];
        hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

/// A call that changes nothing. Equal calls have equal results, so one of them is enough.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewCall {
    address: EvmAddress,
    /// Empty for the code itself.
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

    /// The code at an address: its first 28 bytes, then its size as four.
    pub(super) fn code(at: EvmAddress) -> Self {
        Self { address: at, calldata: Vec::new() }
    }

    /// Address and calldata in hexadecimal, for a call of its own. No calldata: `eth_getCode`.
    pub(super) fn parts(&self) -> (String, Option<String>) {
        let text = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
        (text(&self.address.0), (!self.is_code()).then(|| text(&self.calldata)))
    }

    pub(super) fn is_code(&self) -> bool {
        self.calldata.is_empty()
    }
}

/// Why a call has no word. The chain says so, not the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoWord {
    /// There is no code at the address: a plain account, or nothing at all.
    NoCode,
    /// The call ran and returned nothing: there may be no code. A multicall knows, and says `NoCode` or `Short`.
    Empty,
    /// Reverted, out of gas, or an invalid instruction.
    Reverted,
    /// The call returned less than one word.
    Short,
}

/// The program with its input: some calls under one nonce.
#[derive(Clone, Debug)]
pub(crate) struct Multicall {
    nonce: [u8; 16],
    calls: usize,
    /// Program and input, in hexadecimal with its `0x`.
    code: String,
}

impl Multicall {
    /// `None` when there are more than [`MAX_CALLS`].
    pub(super) fn new(nonce: [u8; 16], calls: &[ViewCall]) -> Option<Self> {
        if calls.len() > MAX_CALLS {
            return None;
        }
        let mut input = nonce.to_vec();
        for ViewCall { address: EvmAddress(address), calldata } in calls {
            input.extend_from_slice(address);
            input.push(u8::try_from(calldata.len()).ok()?);
            input.extend_from_slice(calldata);
        }
        let code = format!("0x{PROGRAM}{}", hex::encode(input));
        Some(Self { nonce, calls: calls.len(), code })
    }

    /// The parameters of `eth_call` as a create call, which has no `to`. It has no `from` and no price either:
    /// with one of them nodes check a balance.
    pub(super) fn create_params(&self) -> String {
        format!(r#"[{{"data":"{}","gas":"{}"}},"latest"]"#, self.code, self.gas())
    }

    /// The parameters of `eth_call` with a state override.
    pub(super) fn override_params(&self) -> String {
        let (code, gas, to) = (&self.code, self.gas(), OVERRIDDEN_ACCOUNT);
        format!(r#"[{{"to":"{to}","gas":"{gas}"}},"latest",{{"{to}":{{"code":"{code}"}}}}]"#)
    }

    /// Always stated: the default of nodes ranges from the gas of one block to no limit.
    fn gas(&self) -> String {
        format!("{:#x}", worst_gas(self.calls, self.code.len() / 2))
    }

    /// Reads the result of either `eth_call`.
    pub(super) fn decode(&self, result: &str) -> Result<MulticallResult, Problem> {
        let digits = result.strip_prefix("0x").ok_or(Problem::NotHex)?;
        if digits.is_empty() {
            return Err(Problem::Empty);
        }
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Problem::NotHex);
        }
        let (given, expected) = (digits.len().div_ceil(2), output_bytes(self.calls));
        if given > expected {
            return Err(Problem::Long);
        }
        let bytes = hex::decode(digits).ok().filter(|_| given == expected).ok_or(Problem::Short)?;
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
        let results = (0..self.calls).map(|_| decode_result(take(&mut rest)?)).collect::<Result<_, _>>()?;
        Ok(MulticallResult { chain_id, block, timestamp, results })
    }
}

/// What the chain returned, all of it in one execution on one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MulticallResult {
    pub(super) chain_id: Word,
    /// On some chains (Arbitrum) this counts the blocks of the parent chain.
    pub(super) block: u64,
    /// Seconds since 1970.
    pub(super) timestamp: u64,
    /// One for each call, in order. `None` if the node gave too little gas to make it: that says nothing about the
    /// contract.
    pub(super) results: Vec<Option<Result<Word, NoWord>>>,
}

/// Why a result is not the program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    NotHex,
    /// `0x`: the program did not run.
    Empty,
    Long,
    Short,
    Tag,
    /// Canned, cached, or the reply to another request.
    Nonce,
    Status,
    Residue,
}

impl Problem {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotHex => "the result is not hexadecimal",
            Self::Empty => "the result is empty",
            Self::Long => "the result is longer than the program's output",
            Self::Short => "the result is shorter than the program's output",
            Self::Tag => "the result does not start with the tag",
            Self::Nonce => "the result answers another request",
            Self::Status => "a call has a status that the program does not have",
            Self::Residue => "a call without a result has a word",
        }
    }
}

/// A call's status and word. The word is zero unless there is one.
fn decode_result([status, word @ ..]: [u8; RESULT_BYTES]) -> Result<Option<Result<Word, NoWord>>, Problem> {
    let result = match status {
        1 => Some(Err(NoWord::NoCode)),
        2 => None,
        3 => Some(Err(NoWord::Reverted)),
        4 => Some(Err(NoWord::Short)),
        5 => return Ok(Some(Ok(word))),
        _ => return Err(Problem::Status),
    };
    if word == [0; 32] { Ok(result) } else { Err(Problem::Residue) }
}

#[allow(clippy::arithmetic_side_effects, reason = "a program makes at most MAX_CALLS calls")]
const fn output_bytes(calls: usize) -> usize {
    HEAD_BYTES + RESULT_BYTES * calls
}

/// The gas of a program all of whose calls burn their share, with room for the prices that Amsterdam brings.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "a program makes at most MAX_CALLS calls, whose gas is asserted below"
)]
const fn worst_gas(calls: usize, code_bytes: usize) -> u64 {
    /// A transaction, a creation and a new account.
    const BASE: u64 = 300_000;
    /// A byte sent: 16 today, 64 in EIP-7976.
    const SENT: u64 = 64;
    /// A byte of the output, which becomes code in a create call: 200 today, 1,530 in EIP-8037.
    const KEPT: u64 = 1_600;
    /// A call: its share, and around it a cold account and the program's own steps.
    const CALL: u64 = 150_000 + 12_000;
    BASE + SENT * code_bytes as u64 + KEPT * output_bytes(calls) as u64 + CALL * calls as u64
}

/// The largest program stays within what nodes accept: gas of 15 million (some refuse more, and a
/// transaction is limited to 2^24 since EIP-7825), code and output of 24,576 bytes each (init code may have
/// twice that).
const _: () = {
    let code = PROGRAM.len() / 2 + 16 + MAX_CALLS * (20 + 1 + 4 + 32 * MAX_ARGS);
    assert!(worst_gas(MAX_CALLS, code) <= 15_000_000);
    assert!(code <= 24_576 && output_bytes(MAX_CALLS) <= 24_576);
};

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Problem> {
    let (first, others) = rest.split_first_chunk().ok_or(Problem::Short)?;
    *rest = others;
    Ok(*first)
}
