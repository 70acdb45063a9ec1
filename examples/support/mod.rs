//! What `quickstart` runs against and prints with. Not an example by itself.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;

mod evm;
mod http;
mod ledger;
mod shop;
mod solana;
pub(crate) mod table;
pub(crate) mod world;

/// A line on standard output. Where nobody reads on, as after `| head`, the story is over.
pub(crate) fn say(line: Arguments<'_>) {
    if writeln!(io::stdout(), "{line}").is_err() {
        process::exit(0);
    }
}
