//! A simulator: worlds by their seed, in which endpoints do everything wrong that endpoints do, while
//! selections overlap and are cancelled at any moment. After every step the laws in `CONTRIBUTING.md` hold and
//! health is what a reference of its own makes of it.
//!
//! `make sim SEEDS=n FROM=k` runs n seeds from k on. A failure names its seed, tells what led to it, and
//! how to run it again.

mod ask;
mod attempt;
mod book;
mod fault;
mod judge;
mod node;
mod run;
mod selection;
mod tally;
mod trace;
mod wire;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use self::run::{Report, run};
use self::tally::Tally;
use self::trace::Trace;

/// Lines of a failing run that are shown.
const SHOWN: usize = 60;
/// Every so many seeds a run is made twice, to see that a seed is all there is.
const TWICE: u64 = 64;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a whole number"))
}

#[test]
fn seeds() {
    let (from, seeds) = (setting("SIM_FROM", 0), setting("SIM_SEEDS", 2_000));
    let began = std::time::Instant::now();
    let (next, total) = (AtomicU64::new(from), Mutex::new(Tally::default()));
    let failed = Mutex::new(None::<u64>);
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < from + seeds) {
            match checked(seed) {
                Some(tally) => total.lock().unwrap().add(&tally),
                None => {
                    let mut failed = failed.lock().unwrap();
                    *failed = Some(failed.map_or(seed, |known| known.min(seed)));
                    next.store(from + seeds, Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!("{}\nin {:.1} s, from seed {from}", total.lock().unwrap(), began.elapsed().as_secs_f64());
    if let Some(seed) = *failed.lock().unwrap() {
        panic!("{}", told(seed));
    }
}

/// A run of which nothing is told; `None` when something is wrong with it.
fn checked(seed: u64) -> Option<Tally> {
    let once = |trace| catch_unwind(AssertUnwindSafe(|| run(seed, trace))).ok();
    let Report { tally, trace, wrong } = once(if seed.is_multiple_of(TWICE) { Trace::hashed() } else { Trace::off() })?;
    let same = trace.hash().is_none_or(|hash| once(Trace::hashed()).and_then(|again| again.trace.hash()) == Some(hash));
    assert!(same, "seed {seed} runs in two ways");
    wrong.is_none().then_some(tally)
}

/// The story of a run that fails.
fn told(seed: u64) -> String {
    let again = format!("make sim SEEDS=1 FROM={seed}");
    match catch_unwind(AssertUnwindSafe(|| run(seed, Trace::told()))) {
        Ok(Report { trace, wrong: Some(wrong), .. }) => {
            format!("seed {seed}\n{}\n\n{wrong}\n\nseed {seed}; to run it again: {again}", trace.tail(SHOWN))
        }
        Ok(_) => format!("seed {seed} failed once and not twice: it does not depend on its seed alone"),
        Err(_) => format!("seed {seed} panics, see above; to run it again: {again}"),
    }
}
