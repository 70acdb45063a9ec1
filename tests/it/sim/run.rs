//! One run: a world, a selector in it, and an application that uses it in every way it may.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use fastrand::Rng;
use payroute::{Circuit, Outcome, PaymentRequired, RouteSelector, SelectError, Selection};
use tokio::task::JoinHandle;

use super::book::{Book, Now};
use super::tally::Tally;
use super::trace::Trace;
use super::wire::Wire;
use super::world::{World, document};
use crate::reference::health::{Effect, Snapshot};
use crate::reference::{Ms, Place};

/// Things that the application does, one after another, before all is well again.
const STEPS: usize = 24;

/// How a run ended.
pub struct Report {
    pub tally: Tally,
    pub trace: Trace,
    pub wrong: Option<String>,
}

pub fn run(seed: u64, trace: Trace) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut random = Rng::with_seed(seed);
        let world = World::new(&mut random);
        let mut book = Book::new(world, trace);
        book.tally.seeds = 1;
        let config = book.world.config.clone();
        book.note(|| format!("seed {seed}: {config}"));
        let application = Application::new(book, random);
        application.live().await
    })
}

struct Application {
    wire: Wire,
    selector: RouteSelector,
    random: Rng,
    selections: Vec<JoinHandle<()>>,
    kept: Option<(String, Snapshot)>,
}

impl Application {
    fn new(book: Book, mut random: Rng) -> Self {
        let config = book.world.configuration();
        let wire = Wire::new(book, random.fork());
        let observer = wire.clone();
        let selector = RouteSelector::builder(config)
            .transport(wire.clone())
            .on_event(move |event: &payroute::SelectorEvent| observer.hear(event))
            .build()
            .unwrap();
        Self { wire, selector, random, selections: Vec::new(), kept: None }
    }

    async fn live(mut self) -> Report {
        for _ in 0..STEPS {
            self.step().await;
            if self.wire.book().wrong.is_some() {
                return self.report();
            }
        }
        self.recover().await;
        self.report()
    }

    fn report(self) -> Report {
        let mut book = self.wire.book();
        Report {
            tally: std::mem::take(&mut book.tally),
            trace: std::mem::replace(&mut book.trace, Trace::off()),
            wrong: book.wrong.take(),
        }
    }

    async fn step(&mut self) {
        match self.random.u8(..32) {
            0..=15 => (0..self.random.usize(1..4)).for_each(|_| self.select()),
            16..=21 => self.change_moods(),
            22 => self.cordon(),
            23 => self.report_traffic(),
            24 if self.random.u8(..4) == 0 => self.reset(),
            25 => self.keep_or_restore(),
            _ => {}
        }
        let waits = [0, 0, 2, 40, 200, 600, 700, 2_000, 5_000, 7_998, 8_000, 12_000, 29_998, 30_000, 31_000, 1_900_000];
        let most = if self.random.u8(..20) == 0 { waits.len() } else { waits.len() - 1 };
        let ms = waits[self.random.usize(..most)];
        self.wait(ms).await;
    }

    /// Lets time pass, and everything that is due then happen, before it looks.
    async fn wait(&mut self, ms: Ms) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        for _ in 0..6 {
            tokio::task::yield_now().await;
        }
        self.wire.book().quiet();
        self.compare();
    }

    /// Every endpoint's health against the reference's.
    fn compare(&self) {
        let views = self.selector.health();
        let metrics = self.selector.metrics();
        let mut book = self.wire.book();
        let clock = book.clock;
        for place in book.world.places() {
            let host = &book.world.endpoint(place).host;
            let view = views.iter().find(|view| *view.endpoint == **host);
            let seen = book.health.look(place, clock);
            let known = book.health.knows(place, clock);
            let host = host.clone();
            let shown = |what: &str| format!("{what} of {host}: {view:?}, and the reference says {seen:?}");
            book.check("an endpoint is known or not", view.is_some() == (known || seen.cordoned), || shown("memory"));
            let flight = metrics.iter().find(|row| *row.endpoint == *host).map_or(0, |row| row.in_flight);
            let expected = book.in_flight(place);
            book.check("law 8: requests under way", flight == expected, || {
                format!("{flight} at {host}, not {expected}")
            });
            let Some(view) = view else { continue };
            book.check("circuit", (view.circuit, view.opened_for) == (seen.circuit, seen.opened_for), || {
                shown("circuit")
            });
            let left = view.half_open_in_ms.unwrap_or(0);
            book.check("open window", left == seen.half_open_in_ms, || shown("open window"));
            book.check("score", view.score.bps() == seen.score, || shown("score"));
            book.check("latency", view.latency_us == seen.latency_us, || shown("latency"));
            book.check("lag", view.lag_ms == seen.lag_ms, || shown("lag"));
            book.check("throttling", view.throttled_for_ms.unwrap_or(0) == seen.throttled_ms, || shown("throttling"));
            let backing_off = view.backing_off_for_ms.unwrap_or(0);
            book.check("backing off", backing_off == seen.backing_off_ms, || shown("backing off"));
            book.check("cordon", view.cordoned == seen.cordoned, || shown("cordon"));
            book.check("read plan", view.plan == seen.plan, || shown("plan"));
            if known {
                book.check("idle time", view.idle_for_ms == seen.idle_ms, || shown("idle time"));
            }
        }
    }

    fn select(&mut self) {
        let offers = self.wire.book().world.offers(&mut self.random);
        let payment = document(&offers);
        let selector = self.selector.clone();
        let selecting = {
            let payment = payment.clone();
            async move { selector.select(&payment).await }
        };
        let patience = match self.random.u8(..16) {
            0..=2 => Patience::Until(self.random.u64(..700) * 2 + 1),
            3 => Patience::Polls(self.random.u32(..6)),
            _ => Patience::Endless,
        };
        let begin = {
            let wire = self.wire.clone();
            move || wire.book().begin(offers)
        };
        self.selections.push(tokio::spawn(Selecting::new(self.wire.clone(), payment, begin, selecting, patience)));
        self.selections.retain(|selection| !selection.is_finished());
    }

    fn change_moods(&mut self) {
        let mut book = self.wire.book();
        let (clock, places) = (book.clock, book.world.places());
        let outage = self.random.u8(..12) == 0;
        for place in places {
            if outage {
                book.world.endpoint_mut(place).mood = super::world::Mood::Always(super::fault::Fault::Refused);
            } else if self.random.bool() {
                book.world.endpoint_mut(place).change(clock, &mut self.random);
                let mood = format!("{:?}", book.world.endpoint(place).mood);
                book.note(|| format!("{place:?} is now {mood}"));
            }
        }
    }

    fn some_place(&mut self) -> Place {
        let places = self.wire.book().world.places();
        let asked: Vec<Place> = places.into_iter().filter(|(_, number)| *number != super::world::REFERENCE).collect();
        asked[self.random.usize(..asked.len())]
    }

    fn endpoint(&self, place: Place) -> payroute::Endpoint {
        let host = self.wire.book().world.endpoint(place).host.clone();
        self.selector.endpoints().find(|endpoint| endpoint.host() == &*host).unwrap().clone()
    }

    fn cordon(&mut self) {
        let place = self.some_place();
        let endpoint = self.endpoint(place);
        if self.random.bool() {
            self.selector.cordon(&endpoint);
            self.wire.book().health.cordon(place);
        } else {
            self.selector.uncordon(&endpoint);
            self.wire.book().health.uncordon(place);
        }
        self.wire.book().note(|| format!("{place:?} is cordoned or uncordoned"));
    }

    fn report_traffic(&mut self) {
        let place = self.some_place();
        let ms = self.random.u64(..900);
        let (outcome, effect) = match self.random.u8(..7) {
            0 | 1 => {
                let latency = Duration::from_millis(ms);
                let success = Outcome::Success { latency, chain_time_ms: None };
                (success, Effect::Success { latency_ms: ms, chain_ms: None })
            }
            2 => (Outcome::Fault, Effect::Fault),
            3 => (Outcome::SoftFault, Effect::SoftFault),
            4 => (Outcome::WrongChain, Effect::WrongChain),
            5 => (Outcome::Throttled { retry_after: None }, Effect::Throttled { hint_ms: None }),
            _ => (Outcome::Neutral, Effect::Nothing),
        };
        self.selector.report(&self.endpoint(place), outcome);
        let mut book = self.wire.book();
        let clock = book.clock;
        book.note(|| format!("the application reports {effect:?} of {place:?}"));
        book.health.report(place, effect, clock);
    }

    fn reset(&mut self) {
        self.selector.reset_health();
        let mut book = self.wire.book();
        book.note(|| "health is reset".to_owned());
        book.health.reset();
    }

    fn keep_or_restore(&mut self) {
        match self.kept.take() {
            None => {
                let text = self.selector.snapshot_health();
                let mut book = self.wire.book();
                let clock = book.clock;
                book.note(|| "health is kept".to_owned());
                book.check("law 9: a snapshot holds no secret", !text.contains(super::world::SECRET), || text.clone());
                self.kept = Some((text, book.health.snapshot(clock)));
            }
            Some((text, snapshot)) => {
                let restored = self.selector.restore_health(&text);
                let again = self.selector.snapshot_health();
                let mut book = self.wire.book();
                let clock = book.clock;
                book.note(|| "health is restored".to_owned());
                book.check("a snapshot restores", restored.is_ok(), || format!("{restored:?}"));
                book.check("what is restored is written the same", again == text, || format!("{text}\nthen {again}"));
                book.health.restore(snapshot, clock);
            }
        }
    }

    /// The faults stop. A while later every circuit is closed, nothing is under way, and answers are right.
    async fn recover(&mut self) {
        for selection in std::mem::take(&mut self.selections) {
            selection.await.unwrap();
        }
        let places = self.wire.book().world.places();
        for place in places {
            if place.1 != super::world::REFERENCE {
                self.selector.uncordon(&self.endpoint(place));
            }
            let mut book = self.wire.book();
            book.health.uncordon(place);
            book.world.endpoint_mut(place).recover();
        }
        self.wire.book().note(|| "all is well from now on".to_owned());
        // The longest wait that an endpoint can have earned is that of a quota: five minutes.
        self.wait(301_000).await;
        for _ in 0..8 {
            self.select_everything();
            self.wait(2_000).await;
        }
        let views = self.selector.health();
        let mut book = self.wire.book();
        let allowed: Vec<Place> =
            book.world.places().into_iter().filter(|place| book.world.networks[place.0].allowed).collect();
        for place in allowed {
            let host = book.world.endpoint(place).host.clone();
            let view = views.iter().find(|view| *view.endpoint == *host);
            let well = view.is_none_or(|view| view.circuit == Circuit::Closed && view.throttled_for_ms.is_none());
            book.check("when faults stop, every endpoint recovers", well, || format!("{view:?}"));
        }
        let under_way: Vec<Place> =
            book.world.places().into_iter().filter(|place| book.in_flight(*place) > 0).collect();
        book.check("law 8: in the end nothing is under way", under_way.is_empty(), || format!("{under_way:?}"));
    }

    /// One offer of every asset of every network.
    fn select_everything(&mut self) {
        let offers = {
            let book = self.wire.book();
            let mut offers = Vec::new();
            while offers.len() < 12 {
                offers.extend(book.world.offers(&mut self.random));
            }
            offers
        };
        let payment = document(&offers);
        let selector = self.selector.clone();
        let selecting = {
            let payment = payment.clone();
            async move { selector.select(&payment).await }
        };
        let wire = self.wire.clone();
        let begin = move || wire.book().begin(offers);
        let selecting = Selecting::new(self.wire.clone(), payment, begin, selecting, Patience::Endless);
        self.selections.push(tokio::spawn(selecting));
    }
}

/// How long the application waits for an answer.
#[derive(Clone, Copy, Debug)]
enum Patience {
    Endless,
    /// An odd number of milliseconds: nothing else happens at such a moment.
    Until(Ms),
    /// So many polls without an answer.
    Polls(u32),
}

/// A selection, its patience, and the book: who does what while it is polled is its doing.
struct Selecting<B, F> {
    wire: Wire,
    payment: PaymentRequired,
    begin: Option<B>,
    id: usize,
    selecting: Option<Pin<Box<F>>>,
    patience: Patience,
    give_up: Option<Pin<Box<tokio::time::Sleep>>>,
    polls: u32,
}

impl<B, F> Selecting<B, F> {
    fn new(wire: Wire, payment: PaymentRequired, begin: B, selecting: F, patience: Patience) -> Self {
        let selecting = Some(Box::pin(selecting));
        Self { wire, payment, begin: Some(begin), id: 0, selecting, patience, give_up: None, polls: 0 }
    }

    fn cancel(&mut self) -> Poll<()> {
        self.wire.book().now = Now::Cancelling;
        self.selecting = None;
        let mut book = self.wire.book();
        book.cancelled(self.id);
        book.now = Now::Beside;
        Poll::Ready(())
    }

    /// At a deadline a broken off request has run out of time, cancelled or not: nobody could tell.
    fn at_a_deadline(&self) -> bool {
        let book = self.wire.book();
        let (clock, timeout) = (book.clock, book.world.timeout_ms);
        book.selections[self.id].attempts.iter().any(|id| book.attempts[*id].started + timeout == clock)
    }
}

impl<B, F> Future for Selecting<B, F>
where
    B: FnOnce() -> usize + Unpin,
    F: Future<Output = Result<Selection, SelectError>>,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(begin) = self.begin.take() {
            self.id = begin();
            if let Patience::Until(ms) = self.patience {
                self.give_up = Some(Box::pin(tokio::time::sleep(Duration::from_millis(ms))));
            }
        }
        let id = self.id;
        self.wire.book().now = Now::Polling(id);
        let polled = self.selecting.as_mut().unwrap().as_mut().poll(context);
        self.wire.book().now = Now::Beside;
        if let Poll::Ready(answer) = polled {
            let mut book = self.wire.book();
            let offline = book.finish(id);
            book.judge(id, &self.payment, &answer, offline);
            return Poll::Ready(());
        }
        self.polls += 1;
        if matches!(self.patience, Patience::Polls(most) if self.polls > most) && !self.at_a_deadline() {
            return self.cancel();
        }
        if self.give_up.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready()) {
            return self.cancel();
        }
        Poll::Pending
    }
}
