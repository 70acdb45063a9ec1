//! Accounts as the token programs lay them out: mints, token accounts, the clock.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::chain::SolanaAddress;
use crate::chain::registry::TokenProgram;
use crate::probe::rpc::Failure;
use crate::scheme::spl::TransferFee;
use crate::util::json::Json;

/// Owner of all sysvars.
const SYSVARS: &str = "Sysvar1111111111111111111111111111111111111";
/// Owner of accounts that hold only lamports.
const SYSTEM_PROGRAM: &str = "11111111111111111111111111111111";
/// Offsets in the clock: the number of the epoch, and seconds since 1970.
mod clock {
    pub(super) const EPOCH: usize = 16;
    pub(super) const TIME: usize = 32;
}

/// Offsets in a token account (SPL Token and Token-2022 alike).
mod token {
    pub(super) const MINT: usize = 0;
    pub(super) const OWNER: usize = 32;
    pub(super) const AMOUNT: usize = 64;
    pub(super) const STATE: usize = 108;
    pub(super) const LENGTH: usize = 165;
    pub(super) const INITIALIZED: u8 = 1;
    pub(super) const FROZEN: u8 = 2;
}

/// Offsets in a mint.
mod mint {
    pub(super) const DECIMALS: usize = 44;
    pub(super) const INITIALIZED: usize = 45;
    pub(super) const LENGTH: usize = 82;
}

/// How Token-2022 extends both: a byte for the kind, then type, length and value of each extension, numbers
/// little-endian.
mod extension {
    pub(super) const KIND: usize = 165;
    pub(super) const KIND_MINT: u8 = 1;
    pub(super) const KIND_ACCOUNT: u8 = 2;
    pub(super) const FIRST: usize = 166;
    /// Only their length distinguishes multisigs.
    pub(super) const MULTISIG_LENGTH: usize = 355;
    pub(super) const TRANSFER_FEE_CONFIG: u16 = 1;
    pub(super) const MEMO_TRANSFER: u16 = 8;
    pub(super) const NON_TRANSFERABLE: u16 = 9;
    pub(super) const TRANSFER_HOOK: u16 = 14;
    /// The program that every transfer calls, behind its authority; zero if there is none.
    pub(super) const HOOK: usize = 32;
    pub(super) const PAUSABLE: u16 = 26;
    /// Whether a pausable mint is paused, behind its authority.
    pub(super) const PAUSED: usize = 32;
    /// The older and the newer of a mint's two transfer fees, behind two authorities and withheld fees. Each is
    /// the epoch from which it holds, a maximum and basis points.
    pub(super) const OLDER_FEE: usize = 32 + 32 + 8;
    pub(super) const NEWER_FEE: usize = OLDER_FEE + 8 + 8 + 2;
}

/// An account as `getMultipleAccounts` returns it.
#[derive(Clone, Debug)]
pub(super) struct AccountInfo {
    owner: String,
    data: Vec<u8>,
}

/// A mint account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mint {
    pub(super) program: TokenProgram,
    pub(super) non_transferable: bool,
    pub(super) paused: bool,
    /// Transfers call another program, with accounts that only it can name.
    pub(super) hooked: bool,
    pub(super) fee: Option<TransferFee>,
}

/// A token account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenAccount {
    pub(super) amount: u64,
    pub(super) frozen: bool,
    /// Takes no transfer without a memo right before it.
    pub(super) wants_memo: bool,
}

/// The accounts of one `getMultipleAccounts` for `count` keys; `None` where there is none.
pub(super) fn read_page(json: &str, count: usize) -> Result<Vec<Option<AccountInfo>>, Failure> {
    let malformed = || Failure::malformed("the accounts are not in the form asked for");
    let page = accounts(json).ok_or_else(malformed)?;
    if page.len() != count {
        return Err(Failure::malformed("the answer has another number of accounts than asked for"));
    }
    let account = |json: Json<'_>| if json.is_null() { Some(None) } else { account_info(json).map(Some) };
    page.into_iter().map(|json| account(json).ok_or_else(malformed)).collect()
}

fn accounts(page: &str) -> Option<Vec<Json<'_>>> {
    let [value] = Json::parse(page).ok()?.members()?.pick(["value"])?;
    value?.items()
}

/// The data of an account is its bytes and the name of their encoding.
fn account_info(account: Json<'_>) -> Option<AccountInfo> {
    let [owner, data] = account.members()?.pick(["owner", "data"])?;
    let [data, encoding] = data?.items()?.try_into().ok()?;
    let data = STANDARD.decode(data.text()?).ok().filter(|_| encoding.text().as_deref() == Some("base64"))?;
    Some(AccountInfo { owner: owner?.text()?, data })
}

impl AccountInfo {
    /// The epoch, if this is the clock.
    pub(super) fn as_clock_epoch(&self) -> Option<u64> {
        self.bytes(clock::EPOCH).map(u64::from_le_bytes).filter(|_| self.owner == SYSVARS)
    }

    /// Milliseconds since 1970, if this is the clock. Without it the time is unknown, no more.
    pub(super) fn as_clock_ms(&self) -> Option<u64> {
        let seconds = self.bytes(clock::TIME).map(i64::from_le_bytes).filter(|_| self.owner == SYSVARS)?;
        u64::try_from(seconds).ok()?.checked_mul(1_000)
    }

    /// The mint that this account is in an epoch, if it is one with the expected decimals.
    pub(super) fn as_mint(&self, decimals: u8, epoch: Option<u64>) -> Result<Mint, &'static str> {
        let program = self.program().ok_or("the asset's mint belongs to no token program")?;
        let is_mint = self.has_layout(program, mint::LENGTH, extension::KIND_MINT);
        if !is_mint || self.byte(mint::INITIALIZED) != Some(1) {
            return Err("the asset's address is not a mint");
        }
        if self.byte(mint::DECIMALS) != Some(decimals) {
            return Err("the mint has other decimals than configured");
        }
        let pausable = self.extension(extension::PAUSABLE);
        let hook = self.extension(extension::TRANSFER_HOOK).and_then(|value| value.get(extension::HOOK..));
        Ok(Mint {
            program,
            non_transferable: self.extension(extension::NON_TRANSFERABLE).is_some(),
            paused: pausable.and_then(|value| value.get(extension::PAUSED)) == Some(&1),
            hooked: hook.is_some_and(|program| program.iter().any(|byte| *byte != 0)),
            fee: self.transfer_fee(epoch),
        })
    }

    /// The fee in force; the newer one where the epoch is not known.
    fn transfer_fee(&self, epoch: Option<u64>) -> Option<TransferFee> {
        let config = self.extension(extension::TRANSFER_FEE_CONFIG)?;
        let (from, newer) = fee_at(config, extension::NEWER_FEE)?;
        match epoch {
            Some(epoch) if epoch < from => fee_at(config, extension::OLDER_FEE).map(|(_, older)| older),
            _ => Some(newer),
        }
    }

    /// The token account that this is, if it is one of `owner` for `mint`. Anyone can send lamports
    /// to an address; an account with nothing else counts as none, `Ok(None)`.
    pub(super) fn as_token_account(
        &self,
        program: TokenProgram,
        mint: &SolanaAddress,
        owner: &SolanaAddress,
    ) -> Result<Option<TokenAccount>, ()> {
        if self.owner == SYSTEM_PROGRAM && self.data.is_empty() {
            return Ok(None);
        }
        let is_theirs = self.program() == Some(program)
            && self.has_layout(program, token::LENGTH, extension::KIND_ACCOUNT)
            && self.bytes(token::MINT) == Some(mint.0)
            && self.bytes(token::OWNER) == Some(owner.0);
        let amount = self.bytes(token::AMOUNT).map(u64::from_le_bytes);
        match (self.byte(token::STATE), amount) {
            (Some(state @ (token::INITIALIZED | token::FROZEN)), Some(amount)) if is_theirs => {
                let wants_memo = self.extension(extension::MEMO_TRANSFER) == Some(&[1]);
                Ok(Some(TokenAccount { amount, frozen: state == token::FROZEN, wants_memo }))
            }
            _ => Err(()),
        }
    }

    fn program(&self) -> Option<TokenProgram> {
        [TokenProgram::Token, TokenProgram::Token2022].into_iter().find(|program| program.address() == self.owner)
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.data.get(offset).copied()
    }

    fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.data.get(offset..)?.first_chunk().copied()
    }

    /// Whether the length and the kind byte are those of a mint or token account of `classic`
    /// bytes: exactly that long, or extended by Token-2022 and marked as `kind`.
    fn has_layout(&self, program: TokenProgram, classic: usize, kind: u8) -> bool {
        let extended = program == TokenProgram::Token2022
            && self.byte(extension::KIND) == Some(kind)
            && self.data.len() != extension::MULTISIG_LENGTH;
        extended || self.data.len() == classic
    }

    /// The value of an extension, if the account has it.
    fn extension(&self, wanted: u16) -> Option<&[u8]> {
        let mut rest = self.data.get(extension::FIRST..)?;
        loop {
            let (number, behind) = rest.split_first_chunk()?;
            let (length, behind) = behind.split_first_chunk()?;
            let (value, next) = behind.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
            match u16::from_le_bytes(*number) {
                0 => return None,
                number if number == wanted => return Some(value),
                _ => rest = next,
            }
        }
    }
}

/// A transfer fee, and the epoch from which it holds.
fn fee_at(config: &[u8], offset: usize) -> Option<(u64, TransferFee)> {
    let (from, rest) = config.get(offset..)?.split_first_chunk()?;
    let (maximum, rest) = rest.split_first_chunk()?;
    let basis_points = u16::from_le_bytes(*rest.first_chunk()?);
    Some((u64::from_le_bytes(*from), TransferFee { basis_points, maximum: u64::from_le_bytes(*maximum) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mint_with(extensions: &[(u16, Vec<u8>)], epoch: Option<u64>) -> Mint {
        let mut data = vec![0; 166];
        (data[mint::DECIMALS], data[mint::INITIALIZED], data[extension::KIND]) = (6, 1, extension::KIND_MINT);
        for (number, value) in extensions {
            data.extend(number.to_le_bytes());
            data.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
            data.extend(value);
        }
        let owner = TokenProgram::Token2022.address().to_owned();
        AccountInfo { owner, data }.as_mint(6, epoch).unwrap()
    }

    /// A transfer fee config whose older and newer fee are these basis points; the newer holds from epoch 9.
    fn fees(older: u16, newer: u16) -> (u16, Vec<u8>) {
        let mut value = vec![0; 108];
        value[80..88].copy_from_slice(&5_u64.to_le_bytes());
        value[88..90].copy_from_slice(&older.to_le_bytes());
        value[90..98].copy_from_slice(&9_u64.to_le_bytes());
        value[98..106].copy_from_slice(&7_u64.to_le_bytes());
        value[106..108].copy_from_slice(&newer.to_le_bytes());
        (extension::TRANSFER_FEE_CONFIG, value)
    }

    #[test]
    fn extensions_that_change_what_can_be_paid() {
        let plain =
            Mint { program: TokenProgram::Token2022, non_transferable: false, paused: false, hooked: false, fee: None };
        let hook = |program: u8| (extension::TRANSFER_HOOK, [[7; 32], [program; 32]].concat());
        let pausable = |paused: u8| (extension::PAUSABLE, [vec![7; 32], vec![paused]].concat());
        let metadata = (19, vec![9; 300]);
        for (extensions, expected) in [
            (vec![], plain),
            (vec![metadata.clone(), (extension::NON_TRANSFERABLE, vec![])], Mint { non_transferable: true, ..plain }),
            (vec![pausable(0)], plain),
            (vec![hook(0)], plain),
            (vec![metadata.clone(), hook(3)], Mint { hooked: true, ..plain }),
            (vec![metadata, pausable(1)], Mint { paused: true, ..plain }),
            (vec![(extension::TRANSFER_FEE_CONFIG, vec![0; 107])], plain),
            (vec![(extension::PAUSABLE, vec![])], plain),
        ] {
            assert_eq!(mint_with(&extensions, None), expected);
        }
    }

    #[test]
    fn of_two_fees_the_one_of_the_epoch_holds() {
        let older = TransferFee { basis_points: 1, maximum: 5 };
        let newer = TransferFee { basis_points: 2, maximum: 7 };
        for (epoch, fee) in [(Some(0), older), (Some(8), older), (Some(9), newer), (Some(10), newer), (None, newer)] {
            assert_eq!(mint_with(&[fees(1, 2)], epoch).fee, Some(fee), "{epoch:?}");
        }
    }
}
