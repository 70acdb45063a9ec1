//! A world by its seed: networks, endpoints with their software and moods, a configuration, offers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fastrand::Rng;
use payroute::{ChainId, Config, Limits, PaymentRequired};
use serde_json::{Value, json};

use super::fault::Fault;
use super::node::{Chain, Node};
use crate::reference::health::Rules;
use crate::reference::{Ms, Place};
use crate::support::chain::associated;
use crate::support::{
    BUYER, BUYER_SVM, Evm, MERCHANT_SVM, PYUSD_SOLANA, SOLANA, Svm, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, offers,
};

/// In every URL; nothing that is shown may hold it.
pub const SECRET: &str = "k3y-0f-th3-buy3r";

/// An endpoint that is asked for the time alone; its number within its network.
pub const REFERENCE: usize = 9;

/// A token that is configured and that no chain has.
const GHOST: &str = "0x00000000000000000000000000000000000900d5";
const USDC_POLYGON: &str = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359";

/// How long an endpoint's answers take, in milliseconds. Two past a multiple of 32, so that answers and
/// deadlines, which are multiples of 8, never fall on one moment: then nobody could tell which was first.
const DELAYS: [Ms; 8] = [2, 2, 34, 66, 130, 258, 418, 578];

#[derive(Clone, Debug)]
pub struct Offer {
    pub network: usize,
    pub asset: usize,
    pub amount: u64,
    /// The reason for which it is screened out, where it is.
    pub refused: Option<&'static str>,
    pub json: Value,
}

/// How an endpoint behaves for now.
#[derive(Clone, Debug)]
pub enum Mood {
    Good,
    Always(Fault),
    /// One of these, or a good answer, request by request.
    Flapping(Vec<Fault>),
}

pub struct Endpoint {
    pub host: String,
    pub priority: u8,
    pub max_in_flight: Option<u32>,
    pub node: Node,
    pub mood: Mood,
    pub delay_ms: Ms,
    /// Seconds by which its chain lies behind.
    pub behind: i64,
    /// When its chain stopped.
    pub frozen: Option<Ms>,
}

pub struct Network {
    pub chain: ChainId,
    pub allowed: bool,
    pub strategy: &'static str,
    pub assets: Vec<String>,
    /// Addresses that may be named besides the assets.
    pub others: Vec<String>,
    pub endpoints: BTreeMap<usize, Endpoint>,
}

impl Network {
    pub fn is_svm(&self) -> bool {
        self.chain.namespace() == "solana"
    }

    /// Whether equals are asked in the order of the configuration.
    pub fn is_listed(&self) -> bool {
        matches!(self.strategy, "ordered" | "race" | "hedged")
    }

    /// The endpoints that are asked for balances.
    pub fn asked(&self) -> impl Iterator<Item = (usize, &Endpoint)> {
        self.endpoints.iter().filter(|(number, _)| **number != REFERENCE).map(|(number, endpoint)| (*number, endpoint))
    }
}

pub struct World {
    pub networks: Vec<Network>,
    pub prefer: Vec<ChainId>,
    pub providers: usize,
    pub timeout_ms: Ms,
    pub rules: Rules,
    /// As the merchant's wallet would write it.
    pub config: Value,
}

impl World {
    pub fn new(random: &mut Rng) -> Self {
        let mut kinds = [0, 1, 2, 3];
        random.shuffle(&mut kinds);
        let policy = random.u8(..8) == 0;
        let mut networks: Vec<Network> =
            kinds[..random.usize(1..4)].iter().map(|kind| network(*kind, random)).collect();
        networks.iter_mut().skip(1).for_each(|network| network.allowed = !policy || random.bool());
        let mut prefer: Vec<ChainId> = networks.iter().map(|network| network.chain.clone()).collect();
        random.shuffle(&mut prefer);
        prefer.truncate(random.usize(..3));
        let rules = match random.u8(..4) {
            0 => Rules { in_a_row: 3, window: 12, minimum: 6, percent: 40, open_ms: 8_000, ..Rules::default() },
            _ => Rules::default(),
        };
        let providers = [1, 2, 2, 2][random.usize(..4)];
        let timeout_ms = [600, 600, 600, 208, 1_008][random.usize(..5)];
        let mut world = Self { networks, prefer, providers, timeout_ms, rules, config: Value::Null };
        world.config = world.config(policy, random);
        world
    }

    /// A few offers of the merchant's, some of which cannot be meant seriously.
    pub fn offers(&self, random: &mut Rng) -> Vec<Offer> {
        let offer = |index: usize, random: &mut Rng| {
            let network = random.usize(..self.networks.len());
            let Network { assets, chain, allowed, .. } = &self.networks[network];
            let asset = random.usize(..assets.len());
            let amount = [1, 40, 50, 60, 1_000_000][random.usize(..5)];
            let text = amount.to_string();
            let evm = chain.namespace() == "eip155";
            let json = match evm {
                true => offers::evm(chain.as_str(), &assets[asset], "USD Coin", &text),
                false => offers::spl(&assets[asset], &text),
            };
            let (refused, json) = match random.u8(..24) {
                0 => (Some("scheme-unsupported"), offers::with(json, "scheme", json!("batch-barter"))),
                // A document without one readable offer is none.
                1 if index > 0 => (Some("malformed-requirement"), offers::with(json, "amount", json!("1.5"))),
                2 if evm => (Some("network-unknown"), offers::with(json, "network", json!("eip155:424242424242"))),
                3 if evm => (Some("asset-unsupported"), offers::with(json, "asset", json!(BUYER))),
                4 if evm => (Some("domain-missing"), offers::with_extra(json, "name", json!(""))),
                _ if !allowed => (Some("network-not-allowed"), json),
                _ => (None, json),
            };
            Offer { network, asset, amount, refused, json }
        };
        (0..random.usize(1..7)).map(|index| offer(index, random)).collect()
    }

    pub fn endpoint(&self, (network, number): Place) -> &Endpoint {
        &self.networks[network].endpoints[&number]
    }

    pub fn endpoint_mut(&mut self, (network, number): Place) -> &mut Endpoint {
        self.networks[network].endpoints.get_mut(&number).unwrap()
    }

    pub fn places(&self) -> Vec<Place> {
        let places = self.networks.iter().enumerate();
        places.flat_map(|(network, row)| row.endpoints.keys().map(move |number| (network, *number))).collect()
    }

    pub fn configuration(&self) -> Config {
        Config::from_json(&self.config.to_string()).unwrap()
    }

    fn config(&self, policy: bool, random: &mut Rng) -> Value {
        let url = |endpoint: &Endpoint| format!("https://{}/{SECRET}", endpoint.host);
        let networks: serde_json::Map<String, Value> = (self.networks.iter())
            .map(|network| {
                let rpc: Vec<Value> = (network.asked())
                    .map(|(_, endpoint)| {
                        let Endpoint { priority, max_in_flight, .. } = endpoint;
                        let weight = random.u32(1..4);
                        json!({"url": url(endpoint), "priority": priority, "maxInFlight": max_in_flight, "weight": weight})
                    })
                    .collect();
                let mut row = json!({"rpc": rpc, "strategy": network.strategy});
                if let Some(reference) = network.endpoints.get(&REFERENCE) {
                    row["referenceUrl"] = json!(url(reference));
                }
                if network.assets.iter().any(|asset| asset == GHOST) {
                    row["assets"] = json!([{"address": GHOST, "symbol": "GHOST", "decimals": 18}]);
                }
                (network.chain.to_string(), row)
            })
            .collect();
        let allowed: Vec<&ChainId> = self.networks.iter().filter(|row| row.allowed).map(|row| &row.chain).collect();
        let fees: serde_json::Map<String, Value> = (self.networks.iter())
            .filter_map(|network| Some((network.chain.to_string(), random.u8(..4).checked_sub(2)?)))
            .map(|(chain, fee)| (chain, json!(fee.to_string())))
            .collect();
        let Rules { window, in_a_row, percent, minimum, open_ms, .. } = &self.rules;
        json!({
            "owners": {"eip155": BUYER, "solana": BUYER_SVM},
            "networks": networks,
            "routing": {
                "preferNetworks": self.prefer, "maxEndpointsPerNetwork": self.providers,
                "probeTimeoutMs": self.timeout_ms, "seed": random.u32(..),
                "secondOpinion": random.u8(..4) > 0,
            },
            "policy": if policy { json!({"allowedNetworks": allowed}) } else { json!({}) },
            "fees": fees,
            "health": {
                "failureWindow": window, "consecutiveFailures": in_a_row, "failurePercent": percent,
                "minimumSamples": minimum, "openForMs": open_ms,
            },
        })
    }
}

/// The 402 with these offers.
pub fn document(offers: &[Offer]) -> PaymentRequired {
    let accepts: Vec<Value> = offers.iter().map(|offer| offer.json.clone()).collect();
    PaymentRequired::from_text(offers::v2(&accepts).to_string(), &Limits::default()).unwrap()
}

impl Endpoint {
    /// Another mood, another speed, sometimes another view of the chain.
    pub fn change(&mut self, now: Ms, random: &mut Rng) {
        let fault = |random: &mut Rng| Fault::ALL[random.usize(..Fault::ALL.len())];
        self.mood = match random.u8(..8) {
            0..4 => Mood::Good,
            4..6 => Mood::Always(fault(random)),
            _ => Mood::Flapping((0..random.usize(1..5)).map(|_| fault(random)).collect()),
        };
        self.delay_ms = DELAYS[random.usize(..DELAYS.len())];
        if random.u8(..4) == 0 {
            self.behind = [0, 0, 0, 15, 16, 40, 300, -90, -700][random.usize(..9)];
        }
        if random.u8(..6) == 0 {
            self.frozen = random.bool().then_some(now);
        }
        if random.u8(..4) == 0 {
            let lie = random.u64(..100);
            self.set_balance(0, lie);
        }
    }

    /// All is well, for the rest of the run.
    pub fn recover(&mut self) {
        (self.mood, self.delay_ms, self.behind, self.frozen) = (Mood::Good, 34, 0, None);
    }

    /// The next fault, if any.
    pub fn next_fault(&self, random: &mut Rng) -> Option<Fault> {
        match &self.mood {
            Mood::Good => None,
            Mood::Always(fault) => Some(*fault),
            Mood::Flapping(faults) => faults.get(random.usize(..=faults.len())).copied(),
        }
    }

    /// The node as it answers at `now`.
    pub fn node_at(&mut self, now: Ms) -> &Node {
        let seconds = 1_800_000_000 + self.frozen.unwrap_or(now) as i64 / 1_000 - self.behind;
        self.node.set_clock(seconds as u64);
        &self.node
    }

    fn set_balance(&mut self, asset: usize, balance: u64) {
        if self.node.balances[asset].replace(balance).is_none() {
            self.node.balances[asset] = None;
            return;
        }
        match &mut self.node.chain {
            Chain::Evm(evm) => _ = evm.balances.values_mut().map(|held| *held = u128::from(balance)).count(),
            Chain::Svm(svm) => {
                let (mint, is_2022) = SVM_ASSETS[asset];
                svm.add_holding(mint, BUYER_SVM, is_2022, balance, 1);
            }
        }
    }
}

const SVM_ASSETS: [(&str, bool); 2] = [(USDC_SOLANA, false), (PYUSD_SOLANA, true)];

fn network(kind: usize, random: &mut Rng) -> Network {
    let (id, usdc, name) = [
        ("eip155:8453", USDC_BASE, "base"),
        ("eip155:84532", USDC_SEPOLIA, "sepolia"),
        ("eip155:137", USDC_POLYGON, "polygon"),
        (SOLANA, USDC_SOLANA, "solana"),
    ][kind];
    let is_svm = kind == 3;
    let assets = match (is_svm, random.u8(..3)) {
        (true, _) => SVM_ASSETS.map(|(mint, _)| mint.to_owned()).to_vec(),
        (false, 0) => vec![usdc.to_owned(), GHOST.to_owned()],
        (false, _) => vec![usdc.to_owned()],
    };
    let truth = random.u64(..100);
    let chain_id = id.split_once(':').unwrap().1.parse().unwrap_or(0);
    let mut numbers: Vec<usize> = (0..random.usize(1..4)).collect();
    if random.u8(..5) == 0 {
        numbers.push(REFERENCE);
    }
    let endpoints = numbers.into_iter().map(|number| {
        let node = if is_svm { svm_node(truth, random) } else { evm_node(chain_id, &assets, truth, random) };
        let mut endpoint = Endpoint {
            host: format!("{name}-{number}.test"),
            priority: u8::from(random.u8(..6) == 0),
            max_in_flight: (random.u8(..6) == 0).then(|| random.u32(1..4)),
            node,
            mood: Mood::Good,
            delay_ms: 2,
            behind: 0,
            frozen: None,
        };
        endpoint.change(0, random);
        (number, endpoint)
    });
    let endpoints = endpoints.collect();
    let strategies = ["ordered", "ordered", "ordered", "ordered", "best-score", "weighted", "race", "hedged"];
    Network {
        chain: ChainId::resolve(id).unwrap(),
        allowed: true,
        strategy: strategies[random.usize(..strategies.len())],
        assets,
        others: if is_svm { svm_others().clone() } else { vec![BUYER.to_owned()] },
        endpoints,
    }
}

fn evm_node(chain_id: u64, assets: &[String], truth: u64, random: &mut Rng) -> Node {
    let mut evm = Evm::new(chain_id, &assets[0], u128::from(truth));
    evm.creates = random.u8(..4) > 0;
    evm.overrides = random.u8(..4) > 0;
    let balances = assets.iter().map(|asset| (asset != GHOST).then_some(truth)).collect();
    Node { chain: Chain::Evm(evm), batches: random.u8(..4) > 0, balances, seconds: 0 }
}

fn svm_node(truth: u64, random: &mut Rng) -> Node {
    static EMPTY_HANDED: OnceLock<Svm> = OnceLock::new();
    let svm = EMPTY_HANDED.get_or_init(|| {
        let mut svm = Svm::default();
        for (mint, is_2022) in SVM_ASSETS {
            svm.add_mint(mint, is_2022, 6);
            svm.add_holding(mint, MERCHANT_SVM, is_2022, 0, 1);
        }
        svm
    });
    let mut svm = svm.clone();
    for (mint, is_2022) in SVM_ASSETS {
        svm.add_holding(mint, BUYER_SVM, is_2022, truth, 1);
    }
    Node { chain: Chain::Svm(svm), batches: random.u8(..4) > 0, balances: vec![Some(truth); 2], seconds: 0 }
}

/// The accounts that a payment on Solana is about, and the clock.
fn svm_others() -> &'static Vec<String> {
    static OTHERS: OnceLock<Vec<String>> = OnceLock::new();
    OTHERS.get_or_init(|| {
        let accounts = SVM_ASSETS.iter().flat_map(|(mint, _)| {
            [BUYER_SVM, MERCHANT_SVM]
                .iter()
                .flat_map(|owner| [false, true].map(|is_2022| associated(mint, owner, is_2022)))
        });
        accounts.chain(["SysvarC1ock11111111111111111111111111111111".to_owned()]).collect()
    })
}
