//! Reading Solana: which cluster it is, and what owners hold in their associated token accounts.
//!
//! Builds calls and decodes results. Refuses to know how they travel. Payments spend from the
//! associated account alone, so no other token account is looked for.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use solana_address::Address;

use super::finding::{Told, ToldBalance, Untold};
use super::rpc::{Call, Failure, Item};
use crate::amount::Amount;
use crate::class::FailureClass as Class;
use crate::config::Identity;
use crate::json::Record;
use crate::policy::BalanceRead;
use crate::registry::TokenProgram;

/// The associated token account program.
const ATA_PROGRAM: Address = Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/// The clock sysvar, which every read brings along, and the owner of all sysvars.
const CLOCK: Address = Address::from_str_const("SysvarC1ock11111111111111111111111111111111");
const SYSVARS: &str = "Sysvar1111111111111111111111111111111111111";
/// Offset of the clock's seconds since 1970.
const CLOCK_TIME: usize = 32;
/// Owner of accounts that are nothing but lamports.
const SYSTEM_PROGRAM: &str = "11111111111111111111111111111111";
/// Keys that one `getMultipleAccounts` may ask for.
const KEYS_PER_CALL: usize = 100;

/// The holding of an owner without an account.
const NOTHING: (Amount, bool) = (Amount::ZERO, false);

/// Offsets in a token account (SPL Token and Token-2022 alike).
mod account {
    pub(super) const MINT: usize = 0;
    pub(super) const OWNER: usize = 32;
    pub(super) const AMOUNT: usize = 64;
    pub(super) const STATE: usize = 108;
    pub(super) const LENGTH: usize = 165;
    /// Multisigs are told apart by their length alone.
    pub(super) const MULTISIG_LENGTH: usize = 355;
    /// Token-2022 writes what kind of account it is behind the classic layout.
    pub(super) const KIND: usize = 165;
    pub(super) const STATE_FROZEN: u8 = 2;
    pub(super) const STATE_INITIALIZED: u8 = 1;
    pub(super) const KIND_MINT: u8 = 1;
    pub(super) const KIND_ACCOUNT: u8 = 2;
}

/// Offsets in a mint.
mod mint {
    pub(super) const DECIMALS: usize = 44;
    pub(super) const INITIALIZED: usize = 45;
    pub(super) const LENGTH: usize = 82;
}

/// The accounts that a set of balances needs, each once, the clock first.
pub(super) struct Layout {
    keys: Vec<Address>,
    reads: Vec<ReadKeys>,
}

struct ReadKeys {
    mint: Address,
    owner: Address,
    decimals: u8,
    /// Where the balance could be: under the program that owns the mint, which the mint's own
    /// account tells when the registry does not.
    holdings: Vec<(TokenProgram, Address)>,
}

impl Layout {
    /// Fails only on addresses that the configuration would not have let through.
    pub(super) fn new(reads: &[&BalanceRead]) -> Result<Self, Failure> {
        let address = |text: &str| {
            Address::from_str(text).map_err(|_| Failure::new(Class::ClientError, "an address is not base58"))
        };
        let mut layout = Self { keys: vec![CLOCK], reads: Vec::new() };
        for read in reads {
            let (mint, owner) = (address(&read.asset.address)?, address(&read.owner)?);
            let programs = match read.asset.program {
                Some(program) => vec![program],
                None => vec![TokenProgram::Token, TokenProgram::Token2022],
            };
            let holdings = programs
                .into_iter()
                .map(|program| Ok::<_, Failure>((program, associated_account(&owner, program, &mint)?)));
            let keys =
                ReadKeys { mint, owner, decimals: read.asset.decimals, holdings: holdings.collect::<Result<_, _>>()? };
            layout.add(mint);
            keys.holdings.iter().for_each(|(_, key)| layout.add(*key));
            layout.reads.push(keys);
        }
        Ok(layout)
    }

    fn add(&mut self, key: Address) {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// The identity first, then the accounts.
    pub(super) fn calls(&self) -> Vec<Call> {
        let identity = Call { method: "getGenesisHash", params: json!([]) };
        let accounts = self.keys.chunks(KEYS_PER_CALL).map(|keys| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            Call {
                method: "getMultipleAccounts",
                params: json!([keys, {"encoding": "base64", "commitment": "confirmed"}]),
            }
        });
        std::iter::once(identity).chain(accounts).collect()
    }

    /// What the answers to [`calls`](Self::calls) say.
    pub(super) fn decode(&self, identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
        let (genesis, pages) = items.split_first().ok_or_else(|| Failure::malformed("the answer is empty"))?;
        let genesis = genesis.as_ref().map_err(Clone::clone)?;
        let hash: String =
            serde_json::from_str(genesis.get()).map_err(|_| Failure::malformed("the genesis hash is not a string"))?;
        if !identity.matches_genesis(&hash) {
            return Err(match Address::from_str(&hash) {
                Ok(_) => Failure::new(Class::Identity, "answers for another cluster"),
                Err(_) => Failure::malformed("the genesis hash is not base58"),
            });
        }
        let mut accounts: Vec<Result<Option<Account>, Failure>> = Vec::with_capacity(self.keys.len());
        for (page, keys) in pages.iter().zip(self.keys.chunks(KEYS_PER_CALL)) {
            match page.as_ref().map_err(Clone::clone).and_then(|json| read_page(json, keys.len())) {
                Ok(page) => accounts.extend(page.into_iter().map(Ok)),
                Err(failure) => accounts.extend(std::iter::repeat_n(Err(failure), keys.len())),
            }
        }
        let balances = self.reads.iter().map(|read| self.reading(read, &accounts)).collect();
        let clock = accounts.first().and_then(|account| account.as_ref().ok()?.as_ref());
        Ok(Told { balances, chain_time_ms: clock.and_then(Account::as_clock_ms) })
    }

    fn reading(&self, read: &ReadKeys, accounts: &[Result<Option<Account>, Failure>]) -> ToldBalance {
        let find = |key: &Address| -> Result<Option<&Account>, Failure> {
            let position = self.keys.iter().position(|known| known == key);
            match position.and_then(|position| accounts.get(position)) {
                Some(Ok(account)) => Ok(account.as_ref()),
                Some(Err(failure)) => Err(failure.clone()),
                None => Err(Failure::malformed("an account is missing from the answer")),
            }
        };
        let Some(mint) = find(&read.mint)? else {
            return Err(Untold::Chain("the endpoint does not know the asset's mint"));
        };
        let program = match mint.as_mint(read.decimals) {
            Ok(program) => program,
            Err(problem) => return Err(Untold::Chain(problem)),
        };
        let Some((_, key)) = read.holdings.iter().find(|(owner, _)| *owner == program) else {
            return Err(Untold::Chain("the mint belongs to another token program than configured"));
        };
        match find(key)? {
            None => Ok(NOTHING),
            Some(holding) => holding.as_holding(program, read),
        }
    }
}

fn associated_account(owner: &Address, program: TokenProgram, mint: &Address) -> Result<Address, Failure> {
    let no_address = || Failure::new(Class::ClientError, "there is no associated token account");
    let program = Address::from_str(program.address()).map_err(|_| no_address())?;
    let seeds = [owner.as_ref(), program.as_ref(), mint.as_ref()];
    Address::try_find_program_address(&seeds, &ATA_PROGRAM).map(|(address, _)| address).ok_or_else(no_address)
}

#[derive(Deserialize)]
struct Page {
    value: Vec<Option<Record<AccountJson>>>,
}

#[derive(Deserialize)]
struct AccountJson {
    owner: String,
    /// The bytes and the name of their encoding.
    data: (String, String),
}

#[derive(Clone)]
struct Account {
    owner: String,
    data: Vec<u8>,
}

fn read_page(json: &RawValue, count: usize) -> Result<Vec<Option<Account>>, Failure> {
    let malformed = || Failure::malformed("the accounts are not in the form asked for");
    let Record(page): Record<Page> = serde_json::from_str(json.get()).map_err(|_| malformed())?;
    if page.value.len() != count {
        return Err(Failure::malformed("the answer has another number of accounts than asked for"));
    }
    (page.value.into_iter())
        .map(|account| {
            let Some(Record(AccountJson { owner, data: (data, encoding) })) = account else {
                return Ok(None);
            };
            let data = STANDARD.decode(data).ok().filter(|_| encoding == "base64").ok_or_else(malformed)?;
            Ok(Some(Account { owner, data }))
        })
        .collect()
}

impl Account {
    fn program(&self) -> Option<TokenProgram> {
        [TokenProgram::Token, TokenProgram::Token2022].into_iter().find(|program| program.address() == self.owner)
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.data.get(offset).copied()
    }

    fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.data.get(offset..)?.first_chunk().copied()
    }

    /// Milliseconds since 1970, if this is the clock. Without it the time is unknown, no more.
    fn as_clock_ms(&self) -> Option<u64> {
        let seconds = self.bytes(CLOCK_TIME).map(i64::from_le_bytes).filter(|_| self.owner == SYSVARS)?;
        u64::try_from(seconds).ok()?.checked_mul(1_000)
    }

    /// Whether the length and the kind byte are those of a mint or token account of `classic`
    /// bytes: exactly that long, or extended by Token-2022 and marked as `kind`.
    fn has_layout(&self, program: TokenProgram, classic: usize, kind: u8) -> bool {
        let extended = program == TokenProgram::Token2022
            && self.byte(account::KIND) == Some(kind)
            && self.data.len() != account::MULTISIG_LENGTH;
        extended || self.data.len() == classic
    }

    /// The program of the mint that this account is, if it is one with the expected decimals.
    fn as_mint(&self, decimals: u8) -> Result<TokenProgram, &'static str> {
        let program = self.program().ok_or("the asset's mint belongs to no token program")?;
        let is_mint =
            self.has_layout(program, mint::LENGTH, account::KIND_MINT) && self.byte(mint::INITIALIZED) == Some(1);
        match is_mint {
            true if self.byte(mint::DECIMALS) == Some(decimals) => Ok(program),
            true => Err("the mint has other decimals than configured"),
            false => Err("the asset's address is not a mint"),
        }
    }

    fn as_holding(&self, program: TokenProgram, read: &ReadKeys) -> ToldBalance {
        // Anyone can send lamports to an address; that does not make it a token account.
        if self.owner == SYSTEM_PROGRAM && self.data.is_empty() {
            return Ok(NOTHING);
        }
        let is_ours = self.program() == Some(program)
            && self.has_layout(program, account::LENGTH, account::KIND_ACCOUNT)
            && self.bytes(account::MINT) == Some(read.mint.to_bytes())
            && self.bytes(account::OWNER) == Some(read.owner.to_bytes());
        let amount = self.bytes(account::AMOUNT).map(u64::from_le_bytes);
        match (self.byte(account::STATE), amount) {
            (Some(state @ (account::STATE_INITIALIZED | account::STATE_FROZEN)), Some(amount)) if is_ours => {
                Ok((Amount::from_u64(amount), state == account::STATE_FROZEN))
            }
            _ => Err(Untold::Chain("the token account is not the buyer's for this asset")),
        }
    }
}
