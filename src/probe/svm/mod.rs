//! Reading Solana: which cluster it is, and what owners hold in their associated token accounts.
//!
//! Builds calls and decodes results. Refuses to know how they travel. Payments go from one associated
//! account to another, so no other token account is looked for.

mod account;

use std::str::FromStr;

use solana_address::Address;

use self::account::{Account, TokenAccount, read_page};
use super::finding::{Told, ToldBalance, Untold};
use super::rpc::{Call, Failure, Item};
use crate::amount::Amount;
use crate::candidate::Holding;
use crate::class::FailureClass as Class;
use crate::config::Identity;
use crate::json::Json;
use crate::policy::BalanceRead;
use crate::registry::TokenProgram;
use crate::verdict::{Note, Reason};

/// The associated token account program.
const ATA_PROGRAM: Address = Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/// The clock sysvar, which every read brings along.
const CLOCK: Address = Address::from_str_const("SysvarC1ock11111111111111111111111111111111");
/// Keys that one `getMultipleAccounts` may ask for.
const KEYS_PER_CALL: usize = 100;

/// The accounts that a set of balances needs, each once, the clock first.
pub(super) struct Layout {
    keys: Vec<Address>,
    reads: Vec<ReadKeys>,
}

struct ReadKeys {
    mint: Address,
    decimals: u8,
    owner: Address,
    recipient: Option<Address>,
    /// Where the tokens could be: under the program that owns the mint, which the mint's own account
    /// tells when the registry does not.
    places: Vec<Places>,
}

/// The associated accounts under one token program.
struct Places {
    program: TokenProgram,
    owners: Address,
    recipients: Option<Address>,
}

/// The accounts of one call, in the order of its keys.
type Page = Result<Vec<Option<Account>>, Failure>;

impl Layout {
    /// Fails only on addresses that the configuration and decoding would not have let through.
    pub(super) fn new(reads: &[&BalanceRead]) -> Result<Self, Failure> {
        let mut layout = Self { keys: vec![CLOCK], reads: Vec::new() };
        for read in reads {
            let keys = ReadKeys::of(read)?;
            layout.add(keys.mint);
            for Places { owners, recipients, .. } in &keys.places {
                layout.add(*owners);
                recipients.iter().for_each(|key| layout.add(*key));
            }
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
        let identity = Call { method: "getGenesisHash", params: "[]".to_owned() };
        let accounts = self.keys.chunks(KEYS_PER_CALL).map(|keys| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            let keys = keys.join(r#"",""#);
            let params = format!(r#"[["{keys}"],{{"encoding":"base64","commitment":"confirmed"}}]"#);
            Call { method: "getMultipleAccounts", params }
        });
        std::iter::once(identity).chain(accounts).collect()
    }

    /// What the answers to [`calls`](Self::calls) say.
    pub(super) fn decode(&self, identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
        let (genesis, pages) = items.split_first().ok_or_else(|| Failure::malformed("the answer is empty"))?;
        same_cluster(identity, genesis)?;
        let pages = pages.iter().zip(self.keys.chunks(KEYS_PER_CALL)).map(|(page, keys)| match page {
            Ok(page) => read_page(page, keys.len()),
            Err(failure) => Err(failure.clone()),
        });
        let accounts: Vec<Page> = pages.collect();
        // Where the clock is all that was asked for, its failure has no balance to stand beside.
        if let ([], Some(Err(failure))) = (self.reads.as_slice(), accounts.first()) {
            return Err(failure.clone());
        }
        let balances = self.reads.iter().map(|read| self.holding(read, &accounts)).collect();
        let clock = self.find(&CLOCK, &accounts).ok().flatten();
        Ok(Told { balances, chain_time_ms: clock.and_then(Account::as_clock_ms) })
    }

    fn holding(&self, read: &ReadKeys, accounts: &[Page]) -> ToldBalance {
        let mint = self.find(&read.mint, accounts)?;
        let mint = mint.ok_or(Untold::Chain("the endpoint does not know the asset's mint"))?;
        let mint = mint.as_mint(read.decimals).map_err(Untold::Chain)?;
        let places = (read.places.iter().find(|places| places.program == mint.program))
            .ok_or(Untold::Chain("the mint belongs to another token program than configured"))?;
        let ours = self.token_account(&places.owners, &read.owner, read, places.program, accounts)?;
        let mut holding =
            Holding { balance: Amount::from_u64(ours.map_or(0, |account| account.amount)), ..Holding::default() };
        let mut object = |holds: bool, reason, detail| {
            if holds {
                holding.objections.push((reason, detail));
            }
        };
        object(
            ours.is_some_and(|account| account.frozen),
            Reason::AccountFrozen,
            "the buyer's token account is frozen",
        );
        object(mint.paused, Reason::TokenPaused, "the token's issuer has paused all transfers");
        object(mint.non_transferable, Reason::TransferMethodUnsupported, "the token cannot be transferred");
        if let (Some(key), Some(recipient)) = (&places.recipients, &read.recipient) {
            let theirs = self.token_account(key, recipient, read, places.program, accounts)?;
            object(theirs.is_none(), Reason::RecipientAccountMissing, "payments do not create it");
            let frozen = theirs.is_some_and(|account| account.frozen);
            object(frozen, Reason::AccountFrozen, "the recipient's token account is frozen");
        }
        if mint.takes_fee {
            holding.notes.push(Note::TransferFee);
        }
        Ok(holding)
    }

    fn token_account(
        &self,
        key: &Address,
        owner: &Address,
        read: &ReadKeys,
        program: TokenProgram,
        accounts: &[Page],
    ) -> Result<Option<TokenAccount>, Untold> {
        let Some(account) = self.find(key, accounts)? else {
            return Ok(None);
        };
        let account = account.as_token_account(program, &read.mint, owner);
        account.map_err(|()| Untold::Chain("an associated token account is not its owner's for this asset"))
    }

    fn find<'a>(&self, key: &Address, accounts: &'a [Page]) -> Result<Option<&'a Account>, Failure> {
        let missing = || Failure::malformed("an account is missing from the answer");
        for (page, keys) in accounts.iter().zip(self.keys.chunks(KEYS_PER_CALL)) {
            if let Some(position) = keys.iter().position(|known| known == key) {
                let page = page.as_ref().map_err(Clone::clone)?;
                return page.get(position).map(Option::as_ref).ok_or_else(missing);
            }
        }
        Err(missing())
    }
}

impl ReadKeys {
    fn of(read: &BalanceRead) -> Result<Self, Failure> {
        let address = |text: &str| Address::from_str(text).map_err(|_| no_address());
        let (mint, owner) = (address(&read.asset.address)?, address(&read.owner)?);
        let recipient = read.recipient.as_deref().map(address).transpose()?;
        let programs = match read.asset.program {
            Some(program) => vec![program],
            None => vec![TokenProgram::Token, TokenProgram::Token2022],
        };
        let places = programs.into_iter().map(|program| {
            Ok::<_, Failure>(Places {
                program,
                owners: associated_account(&owner, program, &mint)?,
                recipients: recipient.map(|recipient| associated_account(&recipient, program, &mint)).transpose()?,
            })
        });
        let places = places.collect::<Result<_, _>>()?;
        Ok(Self { mint, decimals: read.asset.decimals, owner, recipient, places })
    }
}

fn same_cluster(identity: &Identity, genesis: &Item) -> Result<(), Failure> {
    let genesis = genesis.as_ref().map_err(Clone::clone)?;
    let hash = Json::parse(genesis).ok().and_then(Json::text);
    let hash = hash.ok_or_else(|| Failure::malformed("the genesis hash is not a string"))?;
    if identity.matches_genesis(&hash) {
        return Ok(());
    }
    Err(match Address::from_str(&hash) {
        Ok(_) => Failure::new(Class::Identity, "answers for another cluster"),
        Err(_) => Failure::malformed("the genesis hash is not base58"),
    })
}

fn associated_account(owner: &Address, program: TokenProgram, mint: &Address) -> Result<Address, Failure> {
    let program = Address::from_str(program.address()).map_err(|_| no_address())?;
    let seeds = [owner.as_ref(), program.as_ref(), mint.as_ref()];
    Address::try_find_program_address(&seeds, &ATA_PROGRAM).map(|(address, _)| address).ok_or_else(no_address)
}

fn no_address() -> Failure {
    Failure::new(Class::ClientError, "an address is not base58")
}
