//! CPU time of the parts that touch no network: ranking, decoding a 402, the health index.
//!
//! Inputs are made, cloned and dropped outside the timed part. `rank` gets lists in no particular
//! order, a different one each time, so that the branch predictor cannot learn the answer.
//!
//! Targets: `rank/32` under 3 µs, `rank/1024` under 150 µs, growth as n log n; `health/*` under
//! 150 ns each.
#![allow(clippy::expect_used)] // A benchmark whose own input is wrong should stop at once.

use std::hint::black_box;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use payroute::__private::Instant;
use payroute::{
    Amount, Candidate, ChainId, Circuit, EndpointKey, HealthIndex, Limits, Outcome, PaymentRequired, RejectionReason,
    Score, rank,
};

/// Short, so that the whole file ends within a minute; medians over several runs are steadier on a
/// shared machine than one long run.
const WARM_UP: Duration = Duration::from_millis(300);
const MEASUREMENT: Duration = Duration::from_millis(1_200);

/// Endpoints in the health index: its default capacity.
const ENDPOINTS: usize = 128;

fn main() {
    let settings = Criterion::default().warm_up_time(WARM_UP).measurement_time(MEASUREMENT).sample_size(60);
    let mut criterion = settings.configure_from_args();
    ranking(&mut criterion);
    decoding(&mut criterion);
    health(&mut criterion);
    criterion.final_summary();
}

/// Timed: `rank` alone, in place.
fn ranking(criterion: &mut Criterion) {
    let prefer = [chain("solana"), chain("base")];
    let mut group = criterion.benchmark_group("rank");
    for count in [2_usize, 8, 32, 256, 1_024] {
        let lists: Vec<Vec<Candidate>> = (1..=8).map(|seed| candidates(count, seed)).collect();
        let mut next = lists.iter().cycle();
        // A batch stays within the second-level cache, as the candidates of one selection do.
        let batch = BatchSize::NumIterations((256 / count as u64).max(1));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            let list = || next.next().cloned().expect("a cycle does not end");
            bencher.iter_batched_ref(list, |list| rank(list, &prefer), batch);
        });
    }
    group.finish();
}

/// Timed: from the text to `PaymentRequired`, its drop excluded.
fn decoding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for count in [1_usize, 8, 64] {
        let json = payment_required(count);
        let header = STANDARD.encode(&json);
        for (carrier, text) in [("json", json), ("header", header)] {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::new(carrier, count), |bencher| {
                let decode =
                    |text: &str| PaymentRequired::from_text(text, &Limits::default()).expect("the offers are readable");
                bencher.iter_with_large_drop(|| decode(black_box(&text)));
            });
        }
    }
    group.finish();
}

/// Timed: the public calls, each at another endpoint than the last.
fn health(criterion: &mut Criterion) {
    let keys: Vec<EndpointKey> = (0..ENDPOINTS).map(endpoint).collect();
    let index = HealthIndex::default();
    let mut now = Instant::from_millis(1);
    let mut attempt = |key: &EndpointKey| {
        now = now.after(Duration::from_micros(10));
        let permit = index.admit(key, Duration::from_secs(1), now);
        let chain_time_ms = Some(1_800_000_000_000 + now.as_micros() / 1_000);
        permit.settle(Outcome::Success { latency: Duration::from_millis(50), chain_time_ms }, now);
        now
    };
    let now = keys.iter().map(&mut attempt).last().unwrap_or_default();
    assert_eq!(index.len(), ENDPOINTS, "every endpoint is known");

    // A step that shares no factor with the length visits every endpoint, in no order of use.
    let mut scattered = keys.iter().cycle().step_by(37);
    let mut next = || scattered.next().expect("a cycle does not end");
    let mut group = criterion.benchmark_group("health");
    group.bench_function("admit+settle", |bencher| bencher.iter(|| attempt(next())));
    group.bench_function("inspect", |bencher| bencher.iter(|| index.inspect(next(), now)));
    group.bench_function("snapshot/128", |bencher| bencher.iter(|| index.snapshot(now)));
    group.bench_function("view/128", |bencher| bencher.iter(|| index.view(now)));
    group.finish();
}

/// Offers as a busy merchant's would look after probing: eight networks with an asset of 6 or 18
/// decimals and an endpoint each, some with a fee, one with an open circuit, a third of the offers
/// unpayable.
fn candidates(count: usize, seed: u64) -> Vec<Candidate> {
    const NETWORKS: [&str; 8] = ["base", "polygon", "solana", "avalanche", "arbitrum", "celo", "sei", "eip155:480"];
    let networks = NETWORKS.map(chain);
    let mut dice = Dice(seed);
    (networks.iter().cycle().take(count).enumerate())
        .map(|(index, network)| {
            let position = index % NETWORKS.len();
            let mut candidate = Candidate::new(index);
            candidate.network = Some(network.clone());
            candidate.scheme = Some("exact".into());
            candidate.symbol = Some("USDC".into());
            candidate.decimals = Some(if position == 5 { 18 } else { 6 });
            candidate.amount = Some(Amount::from(10_000 + dice.roll(90_000)));
            candidate.balance = Some(Amount::from(dice.roll(1_000_000)));
            candidate.fee = Amount::from(if position % 3 == 1 { 1_000 } else { 0 });
            candidate.health_score = Score::from_bps(6_000 + dice.roll(4_000) as u16);
            candidate.latency_us = (dice.roll(10) > 0).then(|| 20_000 + dice.roll(400_000));
            candidate.circuit = if position == 7 { Circuit::Open } else { Circuit::Closed };
            candidate.endpoint = Some("rpc.example".into());
            match dice.roll(6) {
                0 => candidate.reject(RejectionReason::InsufficientBalance, "0.03 USDC short"),
                1 => candidate.reject(RejectionReason::BalanceUnavailable, "no answer within 600 ms"),
                _ => {}
            }
            candidate
        })
        .collect()
}

/// A version 2 document with `count` offers.
fn payment_required(count: usize) -> String {
    let offers: Vec<String> = (0..count)
        .map(|index| {
            format!(
                r#"{{"scheme":"exact","network":"eip155:{}","amount":"{}","#,
                [8453, 137, 43114, 42161].iter().cycle().nth(index).expect("a cycle does not end"),
                50_000 + index,
            ) + r#""asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","#
                + r#""payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"#
                + r#""extra":{"name":"USD Coin","version":"2"}}"#
        })
        .collect();
    let resource = r#"{"url":"https://api.example/weather","description":"Weather","mimeType":"application/json"}"#;
    format!(r#"{{"x402Version":2,"error":"payment required","resource":{resource},"accepts":[{}]}}"#, offers.join(","))
}

fn chain(name: &str) -> ChainId {
    ChainId::resolve(name).expect("the name is known")
}

fn endpoint(number: usize) -> EndpointKey {
    let network = chain(&format!("eip155:{}", 900_001 + number / 2));
    // Spread over all bits, as the digest of a URL is.
    let digest = (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    EndpointKey::new(network, digest, format!("rpc{number}.example"))
}

/// SplitMix64: the same lists on every run and machine.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
