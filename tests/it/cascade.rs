//! The order of candidates: against a naive reference, under shuffles, and whatever order the
//! probes finish in.

use std::time::Duration;

use payroute::{Amount, Candidate, ChainId, Circuit, Key, Reason, Score, rank};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Answer, Evm, Script, Svm, USDC_BASE, USDC_SEPOLIA, config, offers, select, selector};

fn chain(name: &str) -> ChainId {
    ChainId::resolve(name).unwrap()
}

/// A few values for every key of the cascade.
#[derive(Clone, Copy, Debug)]
struct Sample {
    viable: bool,
    circuit: Circuit,
    network: &'static str,
    fee: (u64, u8),
    score: u16,
    latency_us: Option<u64>,
}

impl Sample {
    fn candidate(self, index: usize) -> Candidate {
        let mut candidate = Candidate::new(index);
        if !self.viable {
            candidate.reject(Reason::InsufficientBalance, "");
        }
        candidate.circuit = self.circuit;
        candidate.network = Some(chain(self.network));
        candidate.fee = Amount::from_u64(self.fee.0);
        candidate.decimals = Some(self.fee.1);
        candidate.health_score = Score::from_ten_thousandths(self.score);
        candidate.latency_us = self.latency_us;
        candidate
    }
}

/// The cascade in words, key by key, with nothing shared with the code under test.
fn first_key_that_prefers(a: &Candidate, b: &Candidate, prefer: &[ChainId]) -> Option<(bool, Key)> {
    let wish = |c: &Candidate| {
        let listed = prefer.iter().position(|p| Some(p) == c.network.as_ref());
        listed.map_or(1_000, |position| position)
    };
    // Fees in these tests fit a u128 at 18 decimals.
    let worth =
        |c: &Candidate| c.fee.to_string().parse::<u128>().unwrap() * 10_u128.pow(18 - u32::from(c.decimals.unwrap()));
    let speed = |c: &Candidate| c.latency_us.map_or((1, 0), |us| (0, us));
    let keys: [(std::cmp::Ordering, Key); 7] = [
        (b.viable.cmp(&a.viable), Key::Viability),
        ((a.circuit == Circuit::Open).cmp(&(b.circuit == Circuit::Open)), Key::Circuit),
        (wish(a).cmp(&wish(b)), Key::Preference),
        (worth(a).cmp(&worth(b)), Key::Fee),
        (b.health_score.cmp(&a.health_score), Key::Score),
        (speed(a).cmp(&speed(b)), Key::Latency),
        (a.requirement_index.cmp(&b.requirement_index), Key::Index),
    ];
    keys.into_iter().find(|(order, _)| order.is_ne()).map(|(order, key)| (order.is_lt(), key))
}

fn assert_ranked(ranked: &[Candidate], prefer: &[ChainId]) {
    for (place, candidate) in ranked.iter().enumerate() {
        assert_eq!(candidate.rank, place + 1);
        let against_winner = first_key_that_prefers(&ranked[0], candidate, prefer);
        assert_eq!(candidate.decided_by, against_winner.map(|(_, key)| key));
    }
    for pair in ranked.windows(2) {
        assert_eq!(first_key_that_prefers(&pair[0], &pair[1], prefer).map(|(first, _)| first), Some(true));
    }
}

fn small_world() -> Vec<Sample> {
    let mut samples = Vec::new();
    for viable in [true, false] {
        for circuit in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
            for network in ["base", "solana"] {
                for fee in [(0, 6), (10, 6), (10_000_000_000_000, 18)] {
                    for score in [8_000, 8_001] {
                        for latency_us in [None, Some(0), Some(1)] {
                            samples.push(Sample { viable, circuit, network, fee, score, latency_us });
                        }
                    }
                }
            }
        }
    }
    samples
}

#[test]
fn every_world_of_two_and_a_few_values() {
    let prefer = [chain("solana")];
    let samples = small_world();
    for first in &samples {
        for second in &samples {
            let mut ranked = vec![first.candidate(0), second.candidate(1)];
            rank(&mut ranked, &prefer);
            assert_ranked(&ranked, &prefer);
        }
    }
}

#[test]
fn every_world_of_three_with_two_values_a_key() {
    let mut samples = small_world();
    samples.retain(|s| s.circuit != Circuit::HalfOpen && s.fee.1 == 6 && s.latency_us != Some(0));
    let prefer = [chain("solana"), chain("base")];
    for first in &samples {
        for second in &samples {
            for third in &samples {
                let mut ranked = vec![first.candidate(0), second.candidate(1), third.candidate(2)];
                rank(&mut ranked, &prefer);
                assert_ranked(&ranked, &prefer);
            }
        }
    }
}

#[test]
fn fees_of_the_same_worth_tie_whatever_the_decimals() {
    let sample =
        |fee| Sample { viable: true, circuit: Circuit::Closed, network: "base", fee, score: 8_000, latency_us: None };
    let mut ranked = vec![sample((10_000_000_000_001, 18)).candidate(0), sample((10, 6)).candidate(1)];
    rank(&mut ranked, &[]);
    assert_eq!((ranked[0].requirement_index, ranked[1].decided_by), (1, Some(Key::Fee)));
    let mut ranked = vec![sample((10_000_000_000_000, 18)).candidate(0), sample((10, 6)).candidate(1)];
    rank(&mut ranked, &[]);
    assert_eq!((ranked[0].requirement_index, ranked[1].decided_by), (0, Some(Key::Index)));
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let circuit = prop::sample::select(vec![Circuit::Closed, Circuit::HalfOpen, Circuit::Open]);
    let network = prop::sample::select(vec!["base", "solana", "polygon"]);
    let fee = (0_u64..3, prop::sample::select(vec![6_u8, 18]));
    (any::<bool>(), circuit, network, fee, 7_999_u16..8_002, prop::option::of(0_u64..3)).prop_map(
        |(viable, circuit, network, fee, score, latency_us)| Sample {
            viable,
            circuit,
            network,
            fee,
            score,
            latency_us,
        },
    )
}

proptest! {
    #[test]
    fn any_input_order_gives_the_same_bytes(
        samples in prop::collection::vec(any_sample(), 0..40),
        seed in any::<u64>(),
    ) {
        let prefer = [chain("polygon"), chain("base")];
        let mut straight: Vec<Candidate> =
            samples.iter().enumerate().map(|(index, sample)| sample.candidate(index)).collect();
        let mut shuffled = straight.clone();
        for position in (1..shuffled.len()).rev() {
            let other = seed.wrapping_mul(6_364_136_223_846_793_005).rotate_left(position as u32) as usize;
            shuffled.swap(position, other % (position + 1));
        }
        rank(&mut straight, &prefer);
        rank(&mut shuffled, &prefer);
        prop_assert_eq!(serde_json::to_string(&straight).unwrap(), serde_json::to_string(&shuffled).unwrap());
        assert_ranked(&straight, &prefer);
        let again = straight.clone();
        rank(&mut straight, &prefer);
        prop_assert_eq!(straight, again);
    }
}

/// Every order in which three probes can finish, the preferred network last, first and in between.
#[tokio::test(start_paused = true)]
async fn the_order_in_which_probes_finish_decides_nothing() {
    let delays = [[10, 20, 30], [10, 30, 20], [20, 10, 30], [20, 30, 10], [30, 10, 20], [30, 20, 10]];
    let mut seen = Vec::new();
    for [base, sepolia, solana] in delays.map(|order| order.map(Duration::from_millis)) {
        let script = Script::default();
        script
            .on("base-1.test", move |b| Answer::json(&Evm::new(8453, USDC_BASE, 9_000_000).answer(b)).after(base))
            .on("sepolia.test", move |b| {
                Answer::json(&Evm::new(84532, USDC_SEPOLIA, 9_000_000).answer(b)).after(sepolia)
            })
            .on("solana.test", move |b| Answer::json(&Svm::usdc(9_000_000).answer(b)).after(solana));
        let mut config = config();
        config["routing"] = json!({"preferNetworks": ["solana", "base-sepolia", "base"]});
        let selection =
            select(&selector(&config, &script), &[offers::base("5"), offers::sepolia("5"), offers::solana("5")])
                .await
                .unwrap();
        let order: Vec<(usize, Option<Key>)> =
            selection.candidates().iter().map(|c| (c.requirement_index, c.decided_by)).collect();
        seen.push(order);
    }
    let preference = Some(Key::Preference);
    assert!(seen.iter().all(|order| *order == [(2, None), (1, preference), (0, preference)]), "{seen:?}");
}

#[test]
fn explain_says_it_in_words() {
    let mut candidates = vec![Candidate::new(0), Candidate::new(1)];
    candidates[0].reject(Reason::NoOwner, "owners has neither eip155:137 nor eip155");
    for candidate in &mut candidates {
        candidate.amount = Some(Amount::from_u64(50_000));
        candidate.symbol = Some("USDC".into());
        candidate.decimals = Some(6);
        candidate.network_name = Some("Base".into());
    }
    candidates[1].balance = Some(Amount::from_u64(1_200_000));
    candidates[1].endpoint = Some("rpc.test".into());
    candidates[1].latency_us = Some(12_345);
    rank(&mut candidates, &[]);
    assert_eq!(
        payroute::explain(&candidates),
        "1. 0.05 USDC on Base: can pay, holds 1.2 USDC, read at rpc.test (score 0.8000, 12.3 ms); chosen\n\
         2. 0.05 USDC on Base: cannot pay, no owner address is configured: owners has neither eip155:137 nor eip155\n"
    );
}
