//! What the tests are made of: real chains, buyers with keys of their own, merchants that settle.

pub mod buyer;
pub mod chains;
pub mod merchant;
#[path = "../../../../../tests/it/support/node.rs"]
mod node;
pub mod settle;
pub mod wire;

pub use buyer::Buyer;
pub use chains::{BASE, Chains, SEPOLIA, SOLANA};
pub use merchant::{Carrier, Conduct, Merchant};
pub use node::NodeProgram;
