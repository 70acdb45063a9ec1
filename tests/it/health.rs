//! Health, number by number as the defaults make them, on a clock that the test turns.

use std::time::Duration;

use payroute::__private::{AttemptGuard, Instant};
use payroute::{ChainId, Circuit, EndpointKey, HealthIndex, HealthSettings, Outcome};

const LEASE: Duration = Duration::from_millis(1_000);
const SUCCESS: Outcome = Outcome::Success { latency: Duration::from_millis(100), chain_time_ms: None };

fn key(number: u128) -> EndpointKey {
    EndpointKey::new(ChainId::resolve("base").unwrap(), number, "rpc.test")
}

/// An index, one endpoint and a clock.
struct Bench {
    index: HealthIndex,
    key: EndpointKey,
    now_ms: u64,
}

impl Bench {
    fn new() -> Self {
        Self { index: HealthIndex::default(), key: key(1), now_ms: 1_000_000 }
    }

    fn now(&self) -> Instant {
        Instant::from_millis(self.now_ms)
    }

    fn wait(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    fn admit(&self) -> AttemptGuard {
        self.index.admit(&self.key, LEASE, self.now())
    }

    fn report(&self, outcome: Outcome) {
        self.admit().settle(outcome, self.now());
    }

    fn circuit(&self) -> Circuit {
        self.index.inspect(&self.key, self.now()).circuit
    }

    fn score(&self) -> u16 {
        self.index.inspect(&self.key, self.now()).score.bps()
    }

    fn open(&self) {
        (0..5).for_each(|_| self.report(Outcome::Fault));
        assert_eq!(self.circuit(), Circuit::Open);
    }
}

#[test]
fn scores_by_the_default_settings() {
    let bench = Bench::new();
    assert_eq!(bench.score(), 8_000);
    let mut seen = Vec::new();
    for _ in 0..4 {
        bench.report(Outcome::Fault);
        seen.push(bench.score());
    }
    assert_eq!(seen, [6_400, 5_120, 4_096, 3_277]);
    let bench = Bench::new();
    bench.report(SUCCESS);
    assert_eq!(bench.score(), 8_067);
}

#[test]
fn the_circuit_multiplies_the_score() {
    let mut bench = Bench::new();
    bench.open();
    // 0.8 × 0.8^5 = 0.262144, then × 0.1 open and × 0.5 half-open.
    assert_eq!(bench.score(), 262);
    bench.wait(30_000);
    assert_eq!(bench.score(), 1_311);
}

#[test]
fn five_faults_in_a_row_open_and_a_success_between_does_not() {
    let bench = Bench::new();
    (0..4).for_each(|_| bench.report(Outcome::Fault));
    assert_eq!(bench.circuit(), Circuit::Closed);
    bench.report(SUCCESS);
    (0..4).for_each(|_| bench.report(Outcome::Fault));
    assert_eq!(bench.circuit(), Circuit::Closed);
    bench.report(Outcome::Fault);
    assert_eq!(bench.circuit(), Circuit::Open);
}

#[test]
fn half_of_ten_samples_open_and_of_nine_do_not() {
    let bench = Bench::new();
    for outcome in [Outcome::Fault, SUCCESS].into_iter().cycle().take(9) {
        bench.report(outcome);
    }
    assert_eq!(bench.circuit(), Circuit::Closed, "5 of 9");
    // Ten samples, exactly 50 %: the share is judged when a failure comes in.
    let bench = Bench::new();
    for outcome in [SUCCESS, Outcome::Fault].into_iter().cycle().take(10) {
        assert_eq!(bench.circuit(), Circuit::Closed);
        bench.report(outcome);
    }
    assert_eq!(bench.circuit(), Circuit::Open, "5 of 10");
}

#[test]
fn the_window_forgets_what_is_older_than_twenty() {
    let bench = Bench::new();
    // One failure in three never reaches a half, however long it goes on.
    for outcome in [SUCCESS, SUCCESS, Outcome::Fault].into_iter().cycle().take(300) {
        bench.report(outcome);
    }
    assert_eq!(bench.circuit(), Circuit::Closed);
}

#[test]
fn a_circuit_is_open_for_thirty_seconds_exactly() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(29_999);
    assert_eq!(bench.circuit(), Circuit::Open);
    bench.wait(1);
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
}

#[test]
fn failures_while_open_do_not_extend_the_window() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(29_000);
    bench.report(Outcome::Fault);
    bench.report(Outcome::WrongChain);
    bench.wait(1_000);
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
}

#[test]
fn one_successful_trial_closes_and_discards_the_history() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(30_000);
    let trial = bench.admit();
    assert!(trial.is_trial());
    trial.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::Closed);
    (0..4).for_each(|_| bench.report(Outcome::Fault));
    assert_eq!(bench.circuit(), Circuit::Closed, "the five old failures are forgotten");
}

#[test]
fn a_failed_trial_opens_for_another_thirty_seconds() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(30_000);
    bench.report(Outcome::Fault);
    assert_eq!(bench.circuit(), Circuit::Open);
    bench.wait(29_999);
    assert_eq!(bench.circuit(), Circuit::Open);
    bench.wait(1);
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
}

#[test]
fn two_at_half_open_give_one_trial() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(30_000);
    let (first, second) = (bench.admit(), bench.admit());
    assert_eq!((first.circuit(), first.is_trial()), (Circuit::HalfOpen, true));
    assert_eq!((second.circuit(), second.is_trial()), (Circuit::Open, false));
    // The one without the trial cannot close the circuit.
    second.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
    first.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::Closed);
}

#[test]
fn a_trial_comes_back_from_every_exit() {
    type Exit = fn(AttemptGuard, Instant);
    let exits: [(&str, Exit); 4] = [
        ("neutral", |guard, now| _ = guard.settle(Outcome::Neutral, now)),
        ("throttled", |guard, now| _ = guard.settle(Outcome::Throttled { retry_after: None }, now)),
        ("dropped", |guard, _| drop(guard)),
        ("panicked", |guard, _| {
            let thread = std::thread::spawn(move || {
                let _held = guard;
                std::panic::resume_unwind(Box::new("on purpose"));
            });
            assert!(thread.join().is_err());
        }),
    ];
    for (exit, leave) in exits {
        let mut bench = Bench::new();
        bench.open();
        bench.wait(30_000);
        leave(bench.admit(), bench.now());
        assert_eq!(bench.circuit(), Circuit::HalfOpen, "{exit}");
        assert!(bench.admit().is_trial(), "{exit}");
    }
}

#[test]
fn a_lost_trial_is_given_out_again_when_its_lease_ends() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(30_000);
    let lost = bench.admit();
    bench.wait(999);
    assert!(!bench.admit().is_trial());
    bench.wait(1);
    let second = bench.admit();
    assert!(second.is_trial());
    // The late one neither closes the circuit nor takes the new one's place.
    lost.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
    assert!(!bench.admit().is_trial());
    second.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::Closed);
}

#[test]
fn an_older_success_cannot_close_a_circuit_nor_an_older_fault_open_one() {
    let mut bench = Bench::new();
    let (old_success, old_fault) = (bench.admit(), bench.admit());
    bench.open();
    bench.wait(30_000);
    old_success.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
    bench.report(SUCCESS);
    (0..4).for_each(|_| bench.report(Outcome::Fault));
    old_fault.settle(Outcome::Fault, bench.now());
    assert_eq!(bench.circuit(), Circuit::Closed, "the fault is of before the opening");
}

#[test]
fn a_wrong_chain_opens_at_once_whatever_the_window_says() {
    let bench = Bench::new();
    (0..20).for_each(|_| bench.report(SUCCESS));
    let older = bench.admit();
    bench.report(Outcome::WrongChain);
    assert_eq!(bench.circuit(), Circuit::Open);
    older.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::Open);
}

#[test]
fn last_resort_success_does_not_close_early() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(10_000);
    let guard = bench.admit();
    assert_eq!(guard.circuit(), Circuit::Open);
    guard.settle(SUCCESS, bench.now());
    assert_eq!(bench.circuit(), Circuit::Open);
}

#[test]
fn throttling_is_a_wait_and_a_penalty_never_a_circuit() {
    for (hint_ms, wait_ms) in [(None, 1_000), (Some(10), 250), (Some(5_000), 5_000), (Some(3_600_000), 60_000)] {
        let mut bench = Bench::new();
        let retry_after = hint_ms.map(Duration::from_millis);
        bench.report(Outcome::Throttled { retry_after });
        assert_eq!(bench.score(), 6_000);
        bench.wait(wait_ms - 1);
        assert!(bench.index.inspect(&bench.key, bench.now()).throttled, "{hint_ms:?}");
        bench.wait(1);
        assert!(!bench.index.inspect(&bench.key, bench.now()).throttled, "{hint_ms:?}");
        assert_eq!((bench.circuit(), bench.score()), (Circuit::Closed, 8_000));
    }
    let mut bench = Bench::new();
    let mut waits = Vec::new();
    for _ in 0..7 {
        bench.report(Outcome::Throttled { retry_after: None });
        let started = bench.now_ms;
        while bench.index.inspect(&bench.key, bench.now()).throttled {
            bench.wait(1_000);
        }
        waits.push((bench.now_ms - started) / 1_000);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
    assert_eq!(bench.circuit(), Circuit::Closed);
}

#[test]
fn neutral_outcomes_of_any_number_change_nothing() {
    let bench = Bench::new();
    (0..1_000).for_each(|_| bench.report(Outcome::Neutral));
    (0..1_000).for_each(|_| drop(bench.admit()));
    let health = bench.index.inspect(&bench.key, bench.now());
    assert_eq!((health.circuit, health.score.bps(), health.latency_us), (Circuit::Closed, 8_000, None));
}

#[test]
fn backing_off_doubles_from_two_seconds_and_ends_with_a_success() {
    let mut bench = Bench::new();
    let backs_off = |bench: &Bench| bench.index.inspect(&bench.key, bench.now()).backing_off;
    for expected_ms in [2_000, 4_000, 8_000, 16_000] {
        bench.report(Outcome::Fault);
        bench.wait(expected_ms - 1);
        assert!(backs_off(&bench), "{expected_ms}");
        bench.wait(1);
        assert!(!backs_off(&bench), "{expected_ms}");
    }
    bench.report(SUCCESS);
    bench.report(Outcome::Fault);
    bench.wait(2_000);
    assert!(!backs_off(&bench));
    bench.report(Outcome::Fault);
    bench.report(SUCCESS);
    assert!(!backs_off(&bench));
}

#[test]
fn the_least_recently_used_is_forgotten_first() {
    let index = HealthIndex::default();
    let now = Instant::from_millis(5);
    let fault = |number| _ = index.admit(&key(number), LEASE, now).settle(Outcome::Fault, now);
    (0..128).for_each(fault);
    fault(0);
    fault(128);
    assert_eq!(index.len(), 128);
    let score = |number| index.inspect(&key(number), now).score.bps();
    assert_eq!((score(0), score(1), score(2)), (5_120, 8_000, 6_400));
    (0..100_000).for_each(fault);
    assert_eq!(index.len(), 128);
}

#[test]
fn half_an_hour_of_silence_makes_an_endpoint_new() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(1_800_000);
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
    bench.wait(1);
    assert_eq!((bench.circuit(), bench.score()), (Circuit::Closed, 8_000));
    assert!(!bench.admit().is_trial());
}

#[test]
fn a_reset_forgets_and_later_reports_of_before_do_not_count() {
    let bench = Bench::new();
    let before = bench.admit();
    bench.open();
    bench.index.reset();
    assert!(bench.index.is_empty());
    assert_eq!((bench.circuit(), bench.score()), (Circuit::Closed, 8_000));
    bench.report(Outcome::Neutral);
    before.settle(Outcome::WrongChain, bench.now());
    assert_eq!((bench.circuit(), bench.score()), (Circuit::Closed, 8_000));
}

#[test]
fn a_clone_shares_and_two_urls_of_one_network_do_not() {
    let bench = Bench::new();
    let shared = bench.index.clone();
    bench.open();
    assert_eq!(shared.inspect(&bench.key, bench.now()).circuit, Circuit::Open);
    assert_eq!(shared.inspect(&key(2), bench.now()).circuit, Circuit::Closed);
    let other_network = EndpointKey::new(ChainId::resolve("polygon").unwrap(), 1, "rpc.test");
    assert_eq!(shared.inspect(&other_network, bench.now()).circuit, Circuit::Closed);
}

#[test]
fn settings_move_the_thresholds() {
    let mut settings = HealthSettings::default();
    settings.consecutive_failures = 1;
    settings.open_for_ms = 10;
    let mut bench = Bench::new();
    bench.index = HealthIndex::new(settings).unwrap();
    bench.report(Outcome::Fault);
    assert_eq!(bench.circuit(), Circuit::Open);
    bench.wait(10);
    assert_eq!(bench.circuit(), Circuit::HalfOpen);
}

#[test]
fn a_permit_of_before_a_reset_frees_nobody_elses_trial() {
    let mut bench = Bench::new();
    bench.open();
    bench.wait(30_000);
    let before = bench.admit();
    assert!(before.is_trial());
    bench.index.reset();
    bench.report(Outcome::WrongChain);
    bench.wait(30_000);
    let trial = bench.admit();
    assert!(trial.is_trial());
    drop(before);
    assert!(!bench.admit().is_trial());
    drop(trial);
    assert!(bench.admit().is_trial());
}

#[test]
fn a_report_after_half_an_hour_revives_nothing() {
    let mut bench = Bench::new();
    (0..4).for_each(|_| bench.report(Outcome::Fault));
    let late = bench.admit();
    bench.wait(1_800_001);
    late.settle(Outcome::Fault, bench.now());
    assert_eq!((bench.circuit(), bench.score()), (Circuit::Closed, 8_000));
}

#[test]
fn settings_that_do_not_fit_make_no_index() {
    let with = |change: fn(&mut HealthSettings)| {
        let mut settings = HealthSettings::default();
        change(&mut settings);
        HealthIndex::new(settings).map_err(|error| (error.path().to_owned(), error.accepted().to_owned())).err()
    };
    let refused = |name: &str, accepted: &str| Some((name.to_owned(), accepted.to_owned()));
    assert_eq!(with(|_| ()), None);
    assert_eq!(with(|settings| settings.ewma_alpha = -3.0), refused("ewmaAlpha", "a number above 0, at most 1"));
    assert_eq!(with(|settings| settings.ewma_alpha = f64::NAN), refused("ewmaAlpha", "a number above 0, at most 1"));
    assert_eq!(with(|settings| settings.failure_window = 0), refused("failureWindow", "a whole number from 1 to 64"));
    assert_eq!(
        with(|settings| settings.failure_percent = 101),
        refused("failurePercent", "a whole number from 1 to 100")
    );
    assert_eq!(with(|settings| settings.slow_ms = 0), refused("slowMs", "a whole number from 1"));
    assert_eq!(with(|settings| settings.capacity = 0), refused("capacity", "a whole number from 1 to 65536"));
    assert_eq!(
        with(|settings| settings.minimum_samples = 21),
        refused("minimumSamples", "a whole number from 1 to failureWindow")
    );
}
