//! The order of candidates: under shuffles, and whatever order the probes finish in. Small worlds are
//! enumerated elsewhere.

use std::time::Duration;

use payroute::{Amount, Candidate, ChainId, Circuit, DecidingKey, RejectionReason, rank};
use proptest::prelude::*;
use serde_json::json;

use crate::reference;
use crate::support::{Answer, Evm, Sample, Script, Svm, USDC_BASE, USDC_SEPOLIA, config, offers, select, selector};

fn chain(name: &str) -> ChainId {
    ChainId::resolve(name).unwrap()
}

fn assert_ranked(ranked: &[Candidate], prefer: &[ChainId]) {
    let ordered = reference::cascade::check(ranked, prefer);
    assert!(ordered.is_ok(), "{}: {ranked:?}", ordered.unwrap_err());
}

#[test]
fn fees_of_the_same_worth_tie_whatever_the_decimals() {
    let sample =
        |fee| Sample { viable: true, circuit: Circuit::Closed, network: "base", fee, score: 8_000, latency_us: None };
    let mut ranked = vec![sample((10_000_000_000_001, 18)).candidate(0), sample((10, 6)).candidate(1)];
    rank(&mut ranked, &[]);
    assert_eq!((ranked[0].requirement_index, ranked[1].decided_by), (1, Some(DecidingKey::Fee)));
    let mut ranked = vec![sample((10_000_000_000_000, 18)).candidate(0), sample((10, 6)).candidate(1)];
    rank(&mut ranked, &[]);
    assert_eq!((ranked[0].requirement_index, ranked[1].decided_by), (0, Some(DecidingKey::Index)));
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
        let order: Vec<(usize, Option<DecidingKey>)> =
            selection.candidates().iter().map(|c| (c.requirement_index, c.decided_by)).collect();
        seen.push(order);
    }
    let preference = Some(DecidingKey::Preference);
    assert!(seen.iter().all(|order| *order == [(2, None), (1, preference), (0, preference)]), "{seen:?}");
}

#[test]
fn explain_says_it_in_words() {
    let mut candidates = vec![Candidate::new(0), Candidate::new(1)];
    candidates[0].reject(RejectionReason::NoOwner, "owners has neither eip155:137 nor eip155");
    for candidate in &mut candidates {
        candidate.amount = Some(Amount::from(50_000));
        candidate.symbol = Some("USDC".into());
        candidate.decimals = Some(6);
        candidate.network_name = Some("Base".into());
    }
    candidates[1].balance = Some(Amount::from(1_200_000));
    candidates[1].endpoint = Some("rpc.test".into());
    candidates[1].latency_us = Some(12_345);
    rank(&mut candidates, &[]);
    assert_eq!(
        payroute::explain(&candidates),
        "1. 0.05 USDC on Base: can pay, holds 1.2 USDC, read at rpc.test (score 0.8000, 12.3 ms); chosen\n\
         2. 0.05 USDC on Base: cannot pay, no owner address is configured: owners has neither eip155:137 nor eip155\n"
    );
}
