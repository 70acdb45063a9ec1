//! The agent end to end: real keys, real chains, merchants that settle what they are paid.

#![allow(unreachable_pub, reason = "the modules of a test are its own")]

mod paying;
mod program;
mod reading;
mod refusing;
mod support;
