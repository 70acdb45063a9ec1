//! What stands behind an endpoint: a chain as this node sees it, and what its software can do.

use serde_json::{Value, json};

use super::ask::{Ask, Way};
use super::fault::{Meaning, Said};
use crate::support::{Evm, Svm};

/// What a reply tells of one balance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    Balance(u64),
    /// The chain proves that there is no contract.
    NoContract,
    /// The token itself refused to tell.
    Refused,
}

#[derive(Clone)]
pub struct Node {
    pub chain: Chain,
    pub batches: bool,
    /// By asset number; `None` where there is nothing on this chain.
    pub balances: Vec<Option<u64>>,
    /// Seconds since 1970, as its chain has it.
    pub seconds: u64,
}

#[derive(Clone)]
pub enum Chain {
    Evm(Evm),
    Svm(Svm),
}

/// A reply before anything goes wrong with it.
pub struct Good {
    pub meaning: Meaning,
    pub told: Vec<(usize, Told)>,
    pub chain_ms: Option<u64>,
    pub value: Value,
}

impl Node {
    pub fn said(&self, ask: &Ask) -> Said {
        let Good { meaning, told, chain_ms, value } = self.answer(ask);
        let reply = payroute::HttpReply { status: 200, body: value.to_string().into_bytes(), ..Default::default() };
        Said { meaning, told, chain_ms, reply: Ok(reply) }
    }

    pub fn answer(&self, ask: &Ask) -> Good {
        let runs = match (&self.chain, ask.way) {
            (Chain::Evm(evm), Way::Create) => evm.creates,
            (Chain::Evm(evm), Way::Override) => evm.overrides,
            (_, Way::Batch) => self.batches,
            _ => true,
        };
        if ask.way == Way::Batch && !runs {
            let value = json!({"id": null, "error": {"code": -32600, "message": "batch too large"}});
            return Good { meaning: Meaning::Unsupported, told: Vec::new(), chain_ms: None, value };
        }
        let value = match &self.chain {
            Chain::Evm(evm) => Evm { clock: Some(self.seconds), ..evm.clone() }.answer(&ask.body),
            Chain::Svm(svm) => svm.answer(&ask.body),
        };
        if !runs {
            return Good { meaning: Meaning::Unsupported, told: Vec::new(), chain_ms: None, value };
        }
        let told = |asset: &usize| match self.balances[*asset] {
            Some(balance) => Some((*asset, Told::Balance(balance))),
            None if ask.way.is_program() => Some((*asset, Told::NoContract)),
            // A plain call to nothing returns nothing, which proves nothing.
            None => None,
        };
        let has_time = ask.way.is_program() || (ask.is_svm && (ask.way == Way::Batch || !ask.identity));
        Good {
            meaning: Meaning::Fine,
            told: ask.assets.iter().filter_map(told).collect(),
            chain_ms: has_time.then_some(self.seconds * 1_000),
            value,
        }
    }

    /// The chain's own time from now on.
    pub fn set_clock(&mut self, seconds: u64) {
        self.seconds = seconds;
        if let Chain::Svm(svm) = &mut self.chain {
            svm.set_clock(seconds as i64);
        }
    }

    /// The same holdings elsewhere.
    pub fn on_another_chain(&self) -> Self {
        let mut node = self.clone();
        match &mut node.chain {
            Chain::Evm(evm) => evm.chain_id += 1,
            Chain::Svm(svm) => svm.genesis = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY".to_owned(),
        }
        node
    }

    /// The right answer to an earlier question: all is well but the nonce.
    pub fn kept_answer(&self, ask: &Ask) -> Value {
        let mut value = self.answer(ask).value;
        let result = value["result"].as_str().unwrap();
        let other = result[4..36].chars().rev().map(|digit| if digit == '7' { '8' } else { '7' });
        let kept = format!("{}{}{}", &result[..4], other.collect::<String>(), &result[36..]);
        value["result"] = json!(kept);
        value
    }
}
