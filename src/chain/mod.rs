//! Chains and what is known of them without asking anyone: ids and names, the registry's table, token amounts,
//! addresses.
//!
//! The ground floor: it uses only `util`, and does no I/O.

mod address;
mod amount;
mod eip712;
mod id;
pub mod registry;
mod solana_address;

pub(crate) use address::{check_address, has_wrong_checksum, is_evm_address, is_zero_address};
pub(crate) use amount::ScaledAmount;
pub use amount::{Amount, AmountError, MAX_DECIMALS};
pub(crate) use eip712::domain_separator;
pub(crate) use id::family_named;
pub use id::{ChainFamily, ChainId, NetworkError};
pub(crate) use solana_address::SolanaAddress;
