//! Every hold of a selector and its clones.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::outstanding::Outstanding;
use super::{Demand, Hold, MOST_HOLDS};
use crate::chain::Amount;
use crate::runtime::Instant;

/// The most that a hold lives, whatever the merchant states: a day, so that none is for ever.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Why the ledger takes no hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldRefusal {
    /// This much of the balance is held.
    Held(Amount),
    TooMany,
}

/// Every hold of a selector and its clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    /// Of every account, oldest first.
    entries: Vec<HoldEntry>,
    issued: u64,
}

#[derive(Debug)]
struct HoldEntry {
    id: u64,
    demand: Demand,
    settled: bool,
    expires: Instant,
}

impl Ledger {
    /// Holds what `demand` takes, if the rest of its balance suffices.
    pub(crate) fn hold(&self, demand: Demand, now: Instant) -> Result<Hold, HoldRefusal> {
        let mut book = self.lock();
        book.entries.retain(|entry| now < entry.expires);
        let held = book.held(&demand.account.asset, &demand.account.owner, demand.balance, now);
        if demand.balance.saturating_sub(held) < demand.amount {
            return Err(HoldRefusal::Held(held));
        }
        if book.entries.len() >= MOST_HOLDS {
            return Err(HoldRefusal::TooMany);
        }
        let (account, expires) = (demand.account.clone(), now.after(demand.lifetime.min(LONGEST)));
        let id = book.add(demand, expires);
        Ok(Hold { ledger: self.clone(), account, id })
    }

    /// How much of `balance`, as it was just read of the owner's asset, other payments hold.
    pub(crate) fn held(&self, asset: &str, owner: &str, balance: Amount, now: Instant) -> Amount {
        self.lock().held(asset, owner, balance, now)
    }

    /// A hold that expired is no longer there.
    pub(super) fn settle(&self, id: u64) {
        if let Some(entry) = self.lock().entries.iter_mut().find(|entry| entry.id == id) {
            entry.settled = true;
        }
    }

    /// A settled hold stays until it expires.
    pub(super) fn release(&self, id: u64) {
        self.lock().entries.retain(|entry| entry.id != id || entry.settled);
    }

    /// A panic elsewhere while the lock was held leaves a hold too many at worst, and that expires.
    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn held(&self, asset: &str, owner: &str, balance: Amount, now: Instant) -> Amount {
        let counting = || {
            self.entries.iter().filter(|HoldEntry { demand, expires, .. }| {
                now < *expires && *demand.account.asset == *asset && *demand.account.owner == *owner
            })
        };
        let mut outstanding = Outstanding::default();
        for HoldEntry { demand, .. } in counting().filter(|entry| !entry.settled) {
            outstanding.holds(demand.amount);
        }
        for HoldEntry { demand, .. } in counting().filter(|entry| entry.settled) {
            outstanding.owes(demand);
        }
        outstanding.reads(balance);
        outstanding.held()
    }

    fn add(&mut self, demand: Demand, expires: Instant) -> u64 {
        self.issued = self.issued.wrapping_add(1);
        self.entries.push(HoldEntry { id: self.issued, demand, settled: false, expires });
        self.issued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::{Debit, HoldAccount};

    const NOW: Instant = Instant::from_millis(0);

    fn demand(balance: u64, amount: u64) -> Demand {
        Demand {
            account: HoldAccount { asset: "eip155:8453/erc20:0x1".into(), owner: "0x2".into() },
            amount: amount.into(),
            debit: Debit::Exact,
            balance: balance.into(),
            lifetime: Duration::from_secs(60),
        }
    }

    fn held(ledger: &Ledger, balance: Amount, now: Instant) -> Amount {
        let HoldAccount { asset, owner } = demand(0, 0).account;
        ledger.held(&asset, &owner, balance, now)
    }

    /// Settled holds as (balance when selected, amount); what of each balance read after is still held.
    #[test]
    fn a_settled_hold_counts_until_a_balance_shows_it() {
        for (settled, readings) in [
            // It lags, it shows, it lags again elsewhere; then other money arrives or goes.
            (&[(100, 30)][..], &[(100, 30), (70, 0), (100, 30), (90, 20), (120, 30), (40, 0)][..]),
            // Two that overlapped: one drop is not taken for both.
            (&[(100, 30), (100, 20)], &[(100, 50), (80, 30), (70, 20), (50, 0)]),
            // The second was selected after the first had shown.
            (&[(100, 30), (70, 20)], &[(70, 20), (50, 0), (100, 50), (60, 10)]),
            // The third was selected where the endpoint lags.
            (&[(100, 30), (70, 10), (100, 5)], &[(100, 45), (60, 5), (55, 0)]),
            // What was spent otherwise before the second is no payment of the second.
            (&[(1_000, 10), (390, 300)], &[(390, 300), (90, 0)]),
            // Money arrived between them: the first may count until it expires, the second shows.
            (&[(3, 2), (11, 5)], &[(11, 7), (6, 2)]),
        ] {
            let ledger = Ledger::default();
            for (balance, amount) in settled {
                let demand = demand(*balance, *amount);
                let expires = NOW.after(demand.lifetime);
                let account = demand.account.clone();
                let id = ledger.lock().add(demand, expires);
                Hold { ledger: ledger.clone(), account, id }.settle();
            }
            for (balance, expected) in readings {
                let found = held(&ledger, Amount::from_u64(*balance), NOW);
                assert_eq!(found, Amount::from_u64(*expected), "{settled:?} at {balance}");
            }
        }
    }

    /// Holds as (what is drawn, settled, balance when selected, amount); what of each balance read after is
    /// still held.
    #[test]
    fn a_fall_that_nothing_else_explains_shows_what_the_server_drew() {
        let (whole, part, yes, no) = (Debit::Exact, Debit::UpTo, true, false);
        for (holds, readings) in [
            (&[(part, yes, 100, 60)][..], &[(100, 60), (99, 0), (40, 0), (130, 60)][..]),
            // Read anew for each, one after the other is told apart.
            (&[(part, yes, 100, 60), (part, yes, 99, 60)], &[(99, 60), (98, 0)]),
            // Two at once are not.
            (&[(part, yes, 100, 60), (part, yes, 100, 20)], &[(100, 80), (98, 78), (20, 0)]),
            // The fall may be the other's. More than the other takes is both's, or the greater one's alone.
            (
                &[(whole, yes, 100, 30), (part, yes, 100, 60)],
                &[(100, 90), (70, 60), (69, 30), (40, 30), (30, 20), (10, 0)],
            ),
            (
                &[(part, yes, 100, 60), (whole, yes, 100, 30)],
                &[(100, 90), (70, 60), (69, 30), (40, 30), (30, 20), (10, 0)],
            ),
            (&[(part, yes, 100, 60), (whole, no, 100, 10)], &[(100, 70), (90, 60), (89, 10)]),
            // Gone before the other was selected, it explains nothing any more.
            (&[(whole, yes, 100, 30), (part, yes, 70, 60)], &[(70, 60), (50, 0)]),
            // What rises again at an endpoint that lags counts again, as far as it fell.
            (&[(part, yes, 100, 60), (whole, yes, 90, 5)], &[(90, 5), (85, 0), (100, 15)]),
        ] {
            let (ledger, mut live) = (Ledger::default(), Vec::new());
            for (debit, settled, balance, amount) in holds {
                let demand = Demand { debit: *debit, ..demand(*balance, *amount) };
                let (account, expires) = (demand.account.clone(), NOW.after(demand.lifetime));
                let id = ledger.lock().add(demand, expires);
                let hold = Hold { ledger: ledger.clone(), account, id };
                if *settled { hold.settle() } else { live.push(hold) }
            }
            for (balance, expected) in readings {
                let found = held(&ledger, Amount::from_u64(*balance), NOW);
                assert_eq!(found, Amount::from_u64(*expected), "{holds:?} at {balance}");
            }
        }
    }

    #[test]
    fn as_many_as_are_kept_and_none_is_forgotten_for_another() {
        let (ledger, one) = (Ledger::default(), demand(u64::MAX, 1));
        let holds: Vec<Hold> = (0..MOST_HOLDS).map(|_| ledger.hold(one.clone(), NOW).unwrap()).collect();
        assert_eq!(ledger.hold(one.clone(), NOW).unwrap_err(), HoldRefusal::TooMany);
        assert_eq!(held(&ledger, one.balance, NOW), Amount::from_u64(MOST_HOLDS as u64));
        // What expired makes room, and what is dropped after that is nobody else's.
        let later = NOW.after(one.lifetime);
        let next = ledger.hold(one.clone(), later).unwrap();
        drop(holds);
        assert_eq!(held(&ledger, one.balance, later), Amount::from_u64(1));
        drop(next);
        assert!(ledger.lock().entries.is_empty());
    }

    #[test]
    fn amounts_beyond_256_bits_hold_everything() {
        let most = Amount::from_be_bytes([0xff; 32]);
        let ledger = Ledger::default();
        for _ in 0..2 {
            let demand = Demand { amount: most, balance: most, ..demand(0, 0) };
            let (account, expires) = (demand.account.clone(), NOW.after(demand.lifetime));
            let id = ledger.lock().add(demand, expires);
            std::mem::forget(Hold { ledger: ledger.clone(), account, id });
        }
        assert_eq!(held(&ledger, most, NOW), most);
    }
}
