//! Small worlds, all of them: what cannot be met by chance is met by counting.

use std::time::Duration;

use payroute::__private::Instant;
use payroute::{Candidate, ChainId, Circuit, EndpointKey, HealthIndex, Outcome, rank};

use crate::reference::cascade;
use crate::reference::health::{Effect, Health};
use crate::support::Sample;

/// Every combination; the fees are nothing, the same worth in two ways, and a little more.
fn samples(fees: &[(u64, u8)], circuits: &[Circuit], latencies: &[Option<u64>]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for viable in [true, false] {
        for &circuit in circuits {
            for network in ["base", "solana", "polygon"] {
                for &fee in fees {
                    for score in [8_000, 8_001] {
                        for &latency_us in latencies {
                            samples.push(Sample { viable, circuit, network, fee, score, latency_us });
                        }
                    }
                }
            }
        }
    }
    samples
}

fn preferences() -> Vec<Vec<ChainId>> {
    let chains = |names: &[&str]| names.iter().map(|name| ChainId::resolve(name).unwrap()).collect();
    vec![vec![], chains(&["solana"]), chains(&["polygon", "base"])]
}

fn assert_ranked(mut candidates: Vec<Candidate>, prefer: &[ChainId]) {
    rank(&mut candidates, prefer);
    let ordered = cascade::check(&candidates, prefer);
    assert!(ordered.is_ok(), "{}: {candidates:?}", ordered.unwrap_err());
}

#[test]
fn every_world_of_one_and_of_two() {
    let fees = [(0, 6), (10, 6), (10_000_000_000_000, 18), (10_000_000_000_001, 18)];
    let circuits = [Circuit::Closed, Circuit::HalfOpen, Circuit::Open];
    let samples = samples(&fees, &circuits, &[None, Some(0), Some(1)]);
    for prefer in preferences() {
        for first in &samples {
            assert_ranked(vec![first.candidate(0)], &prefer);
            for second in &samples {
                assert_ranked(vec![first.candidate(0), second.candidate(1)], &prefer);
            }
        }
    }
}

#[test]
fn every_world_of_three() {
    let samples: Vec<Sample> = samples(&[(0, 6), (10, 6)], &[Circuit::Closed, Circuit::Open], &[None, Some(1)]);
    let prefer = &preferences()[2];
    let two_networks: Vec<&Sample> = samples.iter().filter(|sample| sample.network != "solana").collect();
    for first in &two_networks {
        for second in &two_networks {
            for third in &two_networks {
                assert_ranked(vec![first.candidate(0), second.candidate(1), third.candidate(2)], prefer);
            }
        }
    }
}

/// What can happen to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happening {
    Settled(Outcome, Effect),
    Cancelled,
    Wait(u64),
}

const LATENCY_MS: u64 = 100;
const SUCCESS: Outcome = Outcome::Success { latency: Duration::from_millis(LATENCY_MS), chain_time_ms: None };

const HAPPENINGS: [Happening; 7] = [
    Happening::Settled(SUCCESS, Effect::Success { latency_ms: LATENCY_MS, chain_ms: None }),
    Happening::Settled(Outcome::Fault, Effect::Fault),
    Happening::Settled(Outcome::Throttled { retry_after: None }, Effect::Throttled { hint_ms: None }),
    Happening::Settled(Outcome::WrongChain, Effect::WrongChain),
    Happening::Cancelled,
    Happening::Wait(29_999),
    Happening::Wait(30_000),
];

const LEASE_MS: u64 = 1_000;
const BEGAN_MS: u64 = 5_000;

/// An endpoint of the code under test at the end of a story, beside the reference's.
struct Told {
    index: HealthIndex,
    key: EndpointKey,
    now_ms: u64,
}

impl Told {
    fn new(key: &EndpointKey) -> Self {
        Self { index: HealthIndex::default(), key: key.clone(), now_ms: BEGAN_MS }
    }

    fn now(&self) -> Instant {
        Instant::from_millis(self.now_ms)
    }

    fn live(&mut self, happening: Happening) {
        let admit = |told: &Self| told.index.admit(&told.key, Duration::from_millis(LEASE_MS), told.now());
        match happening {
            Happening::Settled(outcome, _) => _ = admit(self).settle(outcome, self.now()),
            Happening::Cancelled => drop(admit(self)),
            Happening::Wait(ms) => self.now_ms += ms,
        }
    }

    /// What is seen of it, and what an attempt would be told.
    fn assert_like(&self, health: &Health, story: &[Happening]) {
        let seen = health.look((0, 0), self.now_ms);
        let health_now = self.index.inspect(&self.key, self.now());
        let (ours, theirs) = (
            (health_now.circuit, health_now.score.bps(), health_now.latency_us, health_now.throttled),
            (seen.circuit, seen.score, seen.latency_us, seen.throttled_ms > 0),
        );
        assert_eq!(ours, theirs, "after {story:?}");
        let (ours, theirs) = (
            (health_now.backing_off, health_now.trial_available, health_now.lag_ms),
            (seen.backing_off_ms > 0, seen.trial_free, seen.lag_ms),
        );
        assert_eq!(ours, theirs, "after {story:?}");
    }
}

/// Walks every story that begins as `story` does. The reference is cloned at each turn; the code under
/// test cannot be and lives each story from its beginning.
fn walk(story: &mut Vec<Happening>, health: &Health, now_ms: u64, key: &EndpointKey, left: usize) -> u64 {
    let mut told = Told::new(key);
    story.iter().for_each(|happening| told.live(*happening));
    told.assert_like(health, story);
    if left == 0 {
        return 1;
    }
    let mut stories = 1;
    for happening in HAPPENINGS {
        let (mut health, mut now_ms) = (health.clone(), now_ms);
        match happening {
            Happening::Settled(_, effect) => {
                let ticket = health.admit((0, 0), LEASE_MS, now_ms);
                health.settle((0, 0), ticket, effect, now_ms);
            }
            Happening::Cancelled => {
                let ticket = health.admit((0, 0), LEASE_MS, now_ms);
                health.give_back((0, 0), ticket);
            }
            Happening::Wait(ms) => now_ms += ms,
        }
        story.push(happening);
        stories += walk(story, &health, now_ms, key, left - 1);
        story.pop();
    }
    stories
}

/// Every story of up to so many events; `make sim` goes to 8.
#[test]
fn every_story_of_one_circuit() {
    let length = std::env::var("STORY_LENGTH").map_or(6, |text| text.parse().expect("a whole number"));
    let key = EndpointKey::new(ChainId::resolve("base").unwrap(), 1, "rpc.test");
    let began = std::time::Instant::now();
    let stories = walk(&mut Vec::new(), &Health::default(), BEGAN_MS, &key, length);
    assert_eq!(stories, (0..=length as u32).map(|length| 7_u64.pow(length)).sum::<u64>());
    println!("{stories} stories of up to {length} events in {:.1} s", began.elapsed().as_secs_f64());
}
