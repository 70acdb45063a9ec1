//! A request as it arrives: in which way it asks, and for what.

use payroute::ReadPlan;
use serde_json::Value;

use crate::support::chain::question;

/// The ways of asking, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Create,
    Override,
    Batch,
    Single,
}

impl Way {
    pub fn of(plan: ReadPlan) -> Self {
        match plan {
            ReadPlan::Create => Self::Create,
            ReadPlan::Override => Self::Override,
            ReadPlan::Batch => Self::Batch,
            ReadPlan::Single => Self::Single,
        }
    }

    /// As a view shows it.
    pub fn plan(self) -> ReadPlan {
        match self {
            Self::Create => ReadPlan::Create,
            Self::Override => ReadPlan::Override,
            Self::Batch => ReadPlan::Batch,
            Self::Single => ReadPlan::Single,
        }
    }

    /// The one to try next, the best again after the last.
    pub fn next(self, is_svm: bool) -> Self {
        match self {
            Self::Create => Self::Override,
            Self::Override => Self::Batch,
            Self::Batch => Self::Single,
            Self::Single if is_svm => Self::Batch,
            Self::Single => Self::Create,
        }
    }

    /// Whether it sends a program along, which then answers everything at once.
    pub fn is_program(self) -> bool {
        self < Self::Batch
    }
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub way: Way,
    pub is_svm: bool,
    /// Whether it asks which chain this is.
    pub identity: bool,
    /// How many calls it has.
    pub calls: usize,
    /// The assets whose balances it asks for, by number, in its order.
    pub assets: Vec<usize>,
    /// The first call that asks for a balance.
    pub first_balance: Option<usize>,
    /// Every address that it names and that is nobody's.
    pub strangers: Vec<String>,
    pub body: Value,
}

impl Ask {
    /// `assets` are the network's, by number; `others` are what else may be named.
    pub fn read(text: &str, is_svm: bool, assets: &[String], others: &[String]) -> Self {
        let body: Value = serde_json::from_str(text).unwrap();
        let program = program(&body);
        let way = match (&body, &program) {
            (Value::Array(_), _) => Way::Batch,
            (_, Some((way, _))) => *way,
            _ => Way::Single,
        };
        let calls = body.as_array().map_or(vec![&body], |calls| calls.iter().collect());
        let named: Vec<Named> = match &program {
            Some((_, code)) => named_by(question(code).1),
            None => calls.iter().enumerate().flat_map(|(call, text)| named_in(call, text)).collect(),
        };
        let identity = program.is_some() || calls.iter().any(|call| is_identity(call));
        let calls = calls.len();
        let (mut wanted, mut first_balance, mut strangers) = (Vec::new(), None, Vec::new());
        for Named { address, is_balance, call } in named {
            match assets.iter().position(|asset| asset.eq_ignore_ascii_case(&address)) {
                Some(asset) if is_balance && !wanted.contains(&asset) => {
                    wanted.push(asset);
                    first_balance = first_balance.or(Some(call));
                }
                Some(_) => {}
                None if others.iter().any(|other| other.eq_ignore_ascii_case(&address)) => {}
                None => strangers.push(address),
            }
        }
        Self { way, is_svm, identity, calls, assets: wanted, first_balance, strangers, body }
    }

    /// Whether a verdict depends on it: what a token says beyond its balance need not be told.
    pub fn is_required(&self) -> bool {
        self.identity || self.is_svm || !self.assets.is_empty()
    }
}

/// `balanceOf(address)`.
const BALANCE_OF: &str = "70a08231";

/// An address that a call names.
struct Named {
    address: String,
    is_balance: bool,
    call: usize,
}

fn named_by(facts: Vec<(&str, &str)>) -> Vec<Named> {
    let named = |(address, calldata): (&str, &str)| Named {
        address: format!("0x{address}"),
        is_balance: calldata.starts_with(BALANCE_OF),
        call: 0,
    };
    facts.into_iter().map(named).collect()
}

fn named_in(call: usize, text: &Value) -> Vec<Named> {
    let params = &text["params"];
    let named = |address: &Value, is_balance| Named { address: address.as_str().unwrap().to_owned(), is_balance, call };
    match text["method"].as_str() {
        Some("eth_call") => {
            let is_balance = params[0]["data"].as_str().unwrap()[2..].starts_with(BALANCE_OF);
            vec![named(&params[0]["to"], is_balance)]
        }
        Some("eth_getCode") => vec![named(&params[0], false)],
        Some("getMultipleAccounts") => params[0].as_array().unwrap().iter().map(|key| named(key, true)).collect(),
        Some("eth_chainId" | "getGenesisHash") => Vec::new(),
        other => panic!("nobody said that {other:?} would be called"),
    }
}

fn is_identity(call: &Value) -> bool {
    matches!(call["method"].as_str(), Some("eth_chainId" | "getGenesisHash"))
}

fn program(body: &Value) -> Option<(Way, String)> {
    let params = body.get("params")?;
    let code = |value: &Value| value.as_str().map(str::to_owned);
    match (params[0].get("to"), params.get(2)) {
        (Some(to), Some(accounts)) => Some((Way::Override, code(&accounts[to.as_str()?]["code"])?)),
        (None, _) if body["method"] == "eth_call" => Some((Way::Create, code(&params[0]["data"])?)),
        _ => None,
    }
}
