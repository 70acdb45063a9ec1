//! Health snapshots: one that restores is written the same again, and what it restored behaves like
//! what was restored from that.
//!
//! An input is a line of deeds, then the snapshot. A deed is a letter of [`OUTCOMES`], `k` for the next
//! endpoint, `r` for a restart, or a digit for the time that passes: 10^digit milliseconds.

use std::time::Duration;

use payroute::__private::Instant;
use payroute::{ChainId, EndpointKey, HealthIndex, HealthSettings, Outcome};

const OUTCOMES: [(u8, Outcome); 8] = [
    (b's', Outcome::Success { latency: Duration::from_millis(120), chain_time_ms: Some(1_800_000_000_000) }),
    (b'm', Outcome::Success { latency: Duration::MAX, chain_time_ms: None }),
    (b'f', Outcome::Fault),
    (b'h', Outcome::SoftFault),
    (b't', Outcome::Throttled { retry_after: None }),
    (b'q', Outcome::QuotaUsedUp),
    (b'w', Outcome::WrongChain),
    (b'n', Outcome::Neutral),
];

/// Restores, and lives on for as long as the deeds say.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (deeds, snapshot) = text.split_once('\n').unwrap_or(("", text));
    let now = Instant::from_millis(100_000_000);
    let index = index();
    index.report(&known(), Outcome::Fault, now);
    let before = index.snapshot(now);
    if index.restore(snapshot, now).is_err() {
        assert_eq!(index.snapshot(now), before, "a refusal changed something");
    }
    let twin = restarted(&index, now);
    live(deeds.as_bytes(), [index, twin], now);
}

/// What was restored and what is restored from its snapshot fare alike, and a restart loses nothing.
fn live(deeds: &[u8], mut indexes: [HealthIndex; 2], mut now: Instant) {
    let mut keys: Vec<EndpointKey> = indexes[0].view(now).iter().map(|view| key(&view.network, &view.id)).collect();
    keys.push(known());
    let mut turn = 0;
    for deed in deeds.iter().take(64) {
        let key = &keys[turn % keys.len()];
        match deed {
            b'k' => turn += 1,
            b'r' => indexes = indexes.map(|index| restarted(&index, now)),
            b'0'..=b'9' => now = now.after(Duration::from_millis(10_u64.pow(u32::from(deed - b'0')))),
            _ => {
                let Some((_, outcome)) = OUTCOMES.iter().find(|(letter, _)| letter == deed) else { continue };
                let settle = |index: &HealthIndex| index.admit(key, Duration::from_secs(1), now).settle(*outcome, now);
                assert_eq!(settle(&indexes[0]), settle(&indexes[1]), "after {}", char::from(*deed));
            }
        }
        let [one, other] = indexes.each_ref().map(|index| index.inspect(key, now));
        assert!(one.score.bps() <= 10_000);
        assert_eq!((one.circuit, one.throttled, one.backing_off), (other.circuit, other.throttled, other.backing_off));
    }
    restarted(&indexes[0], now);
}

/// The index that a process has which starts from `index`'s snapshot. Its own snapshot is that one.
fn restarted(index: &HealthIndex, now: Instant) -> HealthIndex {
    let (snapshot, fresh) = (index.snapshot(now), self::index());
    fresh.restore(&snapshot, now).expect("what was written can be read");
    assert_eq!(fresh.snapshot(now), snapshot);
    fresh
}

fn index() -> HealthIndex {
    let mut settings = HealthSettings::default();
    settings.capacity = 8;
    HealthIndex::new(settings).expect("the settings fit")
}

/// Its host is as long as a host can be.
fn known() -> EndpointKey {
    EndpointKey::new(ChainId::resolve("base").unwrap(), 7, format!("{}.test:65535", "known".repeat(49)))
}

fn key(network: &ChainId, id: &str) -> EndpointKey {
    EndpointKey::new(network.clone(), u128::from_str_radix(id, 16).unwrap(), "restored.test")
}
