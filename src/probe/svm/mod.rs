//! Reading Solana: which cluster it is, and what owners hold in their associated token accounts.
//!
//! Builds calls and decodes results. Payments go from one associated account to another, so no other token account is
//! looked for.

mod account;

use std::str::FromStr;

use self::account::{AccountInfo, Mint, TokenAccount, read_page};
use super::read_error::{BalanceReport, BalanceResult, Unread};
use super::rpc::{Call, Failure, Item, first};
use crate::chain::registry::TokenProgram;
use crate::chain::{Amount, SolanaAddress};
use crate::config::Identity;
use crate::health::FailureClass as Class;
use crate::ranking::RejectionReason;
use crate::scheme::facts::AccountState;
use crate::scheme::screen::BalanceRead;
use crate::util::find_or_push;
use crate::util::json::Json;

/// The associated token account program.
const ATA_PROGRAM: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
/// The clock sysvar, which every read brings along.
const CLOCK: &str = "SysvarC1ock11111111111111111111111111111111";
/// Keys that one `getMultipleAccounts` may ask for.
const KEYS_PER_CALL: usize = 100;

/// The accounts that a set of reads needs, each once, the clock first.
pub(super) struct AccountSet {
    keys: Vec<SolanaAddress>,
    reads: Vec<ReadKeys>,
}

struct ReadKeys {
    mint: SolanaAddress,
    decimals: u8,
    /// The buyer, and the recipient where payments do not create its account.
    owners: Vec<SolanaAddress>,
    /// One associated account an owner, for each token program that the mint may belong to. If the registry does
    /// not know the program, the mint's own account states it.
    associated: Vec<(TokenProgram, Vec<SolanaAddress>)>,
}

/// The account at one key, if there is one.
type AccountResult = Result<Option<AccountInfo>, Failure>;

impl AccountSet {
    /// `None` only for addresses that the configuration and decoding would not have let through.
    pub(super) fn new(reads: &[&BalanceRead]) -> Option<Self> {
        let reads: Vec<ReadKeys> = reads.iter().map(|read| ReadKeys::new(read)).collect::<Option<_>>()?;
        let mut keys = vec![SolanaAddress::from_str(CLOCK).ok()?];
        for read in &reads {
            let accounts = read.associated.iter().flat_map(|(_, accounts)| accounts);
            for key in std::iter::once(&read.mint).chain(accounts) {
                find_or_push(&mut keys, |known| known == key, || *key);
            }
        }
        Some(Self { keys, reads })
    }

    /// The identity first, then the accounts.
    pub(super) fn calls(&self) -> Vec<Call> {
        let identity = Call { method: "getGenesisHash", params: "[]".to_owned() };
        let pages = self.keys.chunks(KEYS_PER_CALL).map(|keys| {
            let keys: Vec<String> = keys.iter().map(|key| format!(r#""{key}""#)).collect();
            let params = format!(r#"[[{}],{{"encoding":"base64","commitment":"confirmed"}}]"#, keys.join(","));
            Call { method: "getMultipleAccounts", params }
        });
        std::iter::once(identity).chain(pages).collect()
    }

    /// What the replies to [`calls`](Self::calls) report.
    pub(super) fn decode(&self, identity: &Identity, items: &[Item]) -> Result<BalanceReport, Failure> {
        check_cluster(identity, first(items)?)?;
        let mut accounts: Vec<AccountResult> = Vec::new();
        for (page, keys) in items.iter().skip(1).zip(self.keys.chunks(KEYS_PER_CALL)) {
            match page.as_ref().map_err(Clone::clone).and_then(|page| read_page(page, keys.len())) {
                Ok(page) => accounts.extend(page.into_iter().map(Ok)),
                Err(failure) => accounts.extend(keys.iter().map(|_| Err(failure.clone()))),
            }
        }
        let clock = accounts.first();
        // If the clock is all that was asked for, its failure is the whole reply's.
        if let ([], Some(Err(failure))) = (self.reads.as_slice(), clock) {
            return Err(failure.clone());
        }
        let clock = clock.and_then(|account| account.as_ref().ok()?.as_ref());
        let epoch = clock.and_then(AccountInfo::as_clock_epoch);
        let results = self.reads.iter().map(|read| self.account_state(read, &accounts, epoch)).collect();
        Ok(BalanceReport { results, throttles: Vec::new(), chain_time_ms: clock.and_then(AccountInfo::as_clock_ms) })
    }

    fn account_state(&self, read: &ReadKeys, accounts: &[AccountResult], epoch: Option<u64>) -> BalanceResult {
        let mint = self.find(&read.mint, accounts)?;
        let mint = mint.ok_or(Unread::Chain("the endpoint does not know the asset's mint"))?;
        let mint = mint.as_mint(read.decimals, epoch).map_err(Unread::Chain)?;
        let associated = read.associated.iter().find(|(program, _)| *program == mint.program);
        let (program, keys) =
            associated.ok_or(Unread::Chain("the mint belongs to another token program than configured"))?;
        let token_account = |(key, owner)| match self.find(key, accounts)? {
            Some(account) => account
                .as_token_account(*program, &read.mint, owner)
                .map_err(|()| Unread::Chain("an associated token account is not its owner's for this asset")),
            None => Ok(None),
        };
        let held: Vec<Option<TokenAccount>> =
            keys.iter().zip(&read.owners).map(token_account).collect::<Result<_, Unread>>()?;
        let missing = || Unread::Item(Failure::malformed("an account is missing from the answer"));
        let (ours, others) = held.split_first().ok_or_else(missing)?;
        let balance = Amount::from_u64(ours.map_or(0, |account| account.amount));
        let blockers = blockers(&mint, *ours, others.first());
        Ok(AccountState { balance, blockers, transfer_fee: mint.fee, ..AccountState::default() })
    }

    fn find<'a>(&self, key: &SolanaAddress, accounts: &'a [AccountResult]) -> Result<Option<&'a AccountInfo>, Unread> {
        let found = self.keys.iter().zip(accounts).find(|(known, _)| *known == key);
        let missing = || Unread::Item(Failure::malformed("an account is missing from the answer"));
        let (_, account) = found.ok_or_else(missing)?;
        account.as_ref().map(Option::as_ref).map_err(|failure| Unread::Item(failure.clone()))
    }
}

/// Why the token would not move, whatever the balance: from our account, and to theirs where payments do not create it.
fn blockers(
    mint: &Mint,
    ours: Option<TokenAccount>,
    theirs: Option<&Option<TokenAccount>>,
) -> Vec<(RejectionReason, &'static str)> {
    use RejectionReason::{AccountFrozen, RecipientAccountMissing, TokenPaused, TransferMethodUnsupported};
    let their_account = theirs.copied().flatten();
    let frozen = |account: Option<TokenAccount>| account.is_some_and(|account| account.frozen);
    let wants_memo = their_account.is_some_and(|account| account.wants_memo);
    let rules = [
        (frozen(ours), AccountFrozen, "the buyer's token account is frozen"),
        (mint.paused, TokenPaused, "the token's issuer has paused all transfers"),
        (mint.non_transferable, TransferMethodUnsupported, "the token cannot be transferred"),
        (mint.hooked, TransferMethodUnsupported, "the token calls another program on every transfer"),
        (wants_memo, TransferMethodUnsupported, "the recipient's account demands a memo before each transfer"),
        (theirs == Some(&None), RecipientAccountMissing, "payments do not create it"),
        (frozen(their_account), AccountFrozen, "the recipient's token account is frozen"),
    ];
    rules.into_iter().filter(|(holds, ..)| *holds).map(|(_, reason, detail)| (reason, detail)).collect()
}

impl ReadKeys {
    fn new(read: &BalanceRead) -> Option<Self> {
        let mint = SolanaAddress::from_str(&read.asset.address).ok()?;
        let owners = std::iter::once(&read.owner).chain(&read.recipient);
        let owners: Vec<SolanaAddress> =
            owners.map(|owner| SolanaAddress::from_str(owner).ok()).collect::<Option<_>>()?;
        let ata_program = SolanaAddress::from_str(ATA_PROGRAM).ok()?;
        let mut associated = Vec::new();
        for program in [TokenProgram::Token, TokenProgram::Token2022] {
            if read.asset.program.is_none_or(|known| known == program) {
                let address = SolanaAddress::from_str(program.address()).ok()?;
                let derived = |owner: &SolanaAddress| SolanaAddress::derived([*owner, address, mint], ata_program);
                associated.push((program, owners.iter().map(derived).collect::<Option<_>>()?));
            }
        }
        Some(Self { mint, decimals: read.asset.decimals, owners, associated })
    }
}

fn check_cluster(identity: &Identity, genesis: &str) -> Result<(), Failure> {
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
