//! Reading Solana: which cluster it is, and what owners hold in their associated token accounts.
//!
//! Builds calls and decodes results. Refuses to know how they travel. Payments go from one associated
//! account to another, so no other token account is looked for.

mod account;

use std::str::FromStr;

use self::account::{AccountInfo, TokenAccount, read_page};
use super::finding::{Told, ToldBalance, Untold};
use super::rpc::{Call, Failure, Item, first};
use crate::chain::registry::TokenProgram;
use crate::chain::{Amount, SolanaAddress};
use crate::config::Identity;
use crate::health::FailureClass as Class;
use crate::ranking::RejectionReason;
use crate::scheme::facts::AccountState;
use crate::scheme::screen::BalanceRead;
use crate::util::json::Json;

/// The associated token account program.
const ATA_PROGRAM: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
/// The clock sysvar, which every read brings along.
const CLOCK: &str = "SysvarC1ock11111111111111111111111111111111";
/// Keys that one `getMultipleAccounts` may ask for.
const KEYS_PER_CALL: usize = 100;

/// The accounts that a set of balances needs, each once, the clock first.
pub(super) struct Layout {
    keys: Vec<SolanaAddress>,
    reads: Vec<ReadKeys>,
}

struct ReadKeys {
    mint: SolanaAddress,
    decimals: u8,
    /// The buyer, and the recipient where payments do not create its account.
    owners: Vec<SolanaAddress>,
    /// Where the tokens could be: under the program that owns the mint, which the mint's own account
    /// tells when the registry does not. One associated account an owner.
    places: Vec<(TokenProgram, Vec<SolanaAddress>)>,
}

/// What became of one key.
type Found = Result<Option<AccountInfo>, Failure>;

impl Layout {
    /// `None` only for addresses that the configuration and decoding would not have let through.
    pub(super) fn new(reads: &[&BalanceRead]) -> Option<Self> {
        let mut layout = Self { keys: Vec::new(), reads: Vec::new() };
        layout.add(SolanaAddress::from_str(CLOCK).ok()?);
        for read in reads {
            let keys = ReadKeys::new(read)?;
            layout.add(keys.mint);
            for (_, accounts) in &keys.places {
                accounts.iter().for_each(|key| layout.add(*key));
            }
            layout.reads.push(keys);
        }
        Some(layout)
    }

    fn add(&mut self, key: SolanaAddress) {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// The identity first, then the accounts.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut calls = vec![Call { method: "getGenesisHash", params: "[]".to_owned() }];
        for keys in self.keys.chunks(KEYS_PER_CALL) {
            let mut params = String::from("[[");
            for (position, key) in keys.iter().enumerate() {
                params.push_str(if position == 0 { "\"" } else { "\",\"" });
                params.push_str(&key.to_string());
            }
            params.push_str(r#""],{"encoding":"base64","commitment":"confirmed"}]"#);
            calls.push(Call { method: "getMultipleAccounts", params });
        }
        calls
    }

    /// What the answers to [`calls`](Self::calls) say.
    pub(super) fn decode(&self, identity: &Identity, items: &[Item]) -> Result<Told, Failure> {
        same_cluster(identity, first(items)?)?;
        let mut accounts: Vec<Found> = Vec::new();
        for (page, keys) in items.iter().skip(1).zip(self.keys.chunks(KEYS_PER_CALL)) {
            match page.as_ref().map_err(Clone::clone).and_then(|page| read_page(page, keys.len())) {
                Ok(page) => accounts.extend(page.into_iter().map(Ok)),
                Err(failure) => keys.iter().for_each(|_| accounts.push(Err(failure.clone()))),
            }
        }
        let clock = accounts.first();
        // Where the clock is all that was asked for, its failure has no balance to stand beside.
        if let ([], Some(Err(failure))) = (self.reads.as_slice(), clock) {
            return Err(failure.clone());
        }
        let clock = clock.and_then(|found| found.as_ref().ok()?.as_ref());
        let mut balances = Vec::new();
        let epoch = clock.and_then(AccountInfo::as_clock_epoch);
        for read in &self.reads {
            balances.push(self.holding(read, &accounts, epoch));
        }
        Ok(Told { balances, throttles: Vec::new(), chain_time_ms: clock.and_then(AccountInfo::as_clock_ms) })
    }

    fn holding(&self, read: &ReadKeys, accounts: &[Found], epoch: Option<u64>) -> ToldBalance {
        let mint = self.find(&read.mint, accounts)?;
        let mint = mint.ok_or(Untold::Chain("the endpoint does not know the asset's mint"))?;
        let mint = mint.as_mint(read.decimals, epoch).map_err(Untold::Chain)?;
        let place = read.places.iter().find(|(program, _)| *program == mint.program);
        let (program, keys) =
            place.ok_or(Untold::Chain("the mint belongs to another token program than configured"))?;
        let mut held: Vec<Option<TokenAccount>> = Vec::new();
        for (key, owner) in keys.iter().zip(&read.owners) {
            held.push(match self.find(key, accounts)? {
                Some(account) => account
                    .as_token_account(*program, &read.mint, owner)
                    .map_err(|()| Untold::Chain("an associated token account is not its owner's for this asset"))?,
                None => None,
            });
        }
        let (ours, theirs) = (held.first().copied().flatten(), held.get(1));
        let frozen = |account: Option<TokenAccount>| account.is_some_and(|account| account.frozen);
        let theirs_frozen = theirs.is_some_and(|theirs| frozen(*theirs));
        let wants_memo = theirs.copied().flatten().is_some_and(|theirs| theirs.wants_memo);
        let balance = Amount::from_u64(ours.map_or(0, |account| account.amount));
        let mut holding = Box::new(AccountState { balance, transfer_fee: mint.fee, ..AccountState::default() });
        for (holds, reason, detail) in &[
            (frozen(ours), RejectionReason::AccountFrozen, "the buyer's token account is frozen"),
            (mint.paused, RejectionReason::TokenPaused, "the token's issuer has paused all transfers"),
            (mint.non_transferable, RejectionReason::TransferMethodUnsupported, "the token cannot be transferred"),
            (
                mint.hooked,
                RejectionReason::TransferMethodUnsupported,
                "the token calls another program on every transfer",
            ),
            (
                wants_memo,
                RejectionReason::TransferMethodUnsupported,
                "the recipient's account demands a memo before each transfer",
            ),
            (theirs == Some(&None), RejectionReason::RecipientAccountMissing, "payments do not create it"),
            (theirs_frozen, RejectionReason::AccountFrozen, "the recipient's token account is frozen"),
        ] {
            if *holds {
                holding.blockers.push((*reason, *detail));
            }
        }
        Ok(holding)
    }

    fn find<'a>(&self, key: &SolanaAddress, accounts: &'a [Found]) -> Result<Option<&'a AccountInfo>, Failure> {
        let position = self.keys.iter().position(|known| known == key);
        match position.and_then(|position| accounts.get(position)) {
            Some(Ok(account)) => Ok(account.as_ref()),
            Some(Err(failure)) => Err(failure.clone()),
            None => Err(Failure::malformed("an account is missing from the answer")),
        }
    }
}

impl ReadKeys {
    fn new(read: &BalanceRead) -> Option<Self> {
        let mint = SolanaAddress::from_str(&read.asset.address).ok()?;
        let mut owners = vec![SolanaAddress::from_str(&read.owner).ok()?];
        if let Some(recipient) = &read.recipient {
            owners.push(SolanaAddress::from_str(recipient).ok()?);
        }
        let associated = SolanaAddress::from_str(ATA_PROGRAM).ok()?;
        let mut places = Vec::new();
        for program in &[TokenProgram::Token, TokenProgram::Token2022] {
            if read.asset.program.is_some_and(|known| known != *program) {
                continue;
            }
            let address = SolanaAddress::from_str(program.address()).ok()?;
            let mut accounts = Vec::new();
            for owner in &owners {
                accounts.push(SolanaAddress::derived([*owner, address, mint], associated)?);
            }
            places.push((*program, accounts));
        }
        Some(Self { mint, decimals: read.asset.decimals, owners, places })
    }
}

fn same_cluster(identity: &Identity, genesis: &str) -> Result<(), Failure> {
    let hash = Json::parse(genesis).ok().and_then(Json::text);
    let hash = hash.ok_or_else(|| Failure::malformed("the genesis hash is not a string"))?;
    if identity.matches_genesis(&hash) {
        return Ok(());
    }
    Err(match SolanaAddress::from_str(&hash) {
        Ok(_) => Failure::new(Class::Identity, "answers for another cluster"),
        Err(_) => Failure::malformed("the genesis hash is not base58"),
    })
}
