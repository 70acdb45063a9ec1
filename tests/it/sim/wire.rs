//! The network between the code under test and the world: a transport that answers by script and
//! writes everything into the book.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fastrand::Rng;
use payroute::{BoxFuture, Endpoint, HttpReply, SelectorEvent, Transport, TransportError};
use tokio::time::Instant;

use super::ask::Ask;
use super::book::Book;
use super::fault::Said;
use super::world::SECRET;

/// The one owner of book and time; the code under test holds clones of it.
#[derive(Clone)]
pub struct Wire {
    book: Arc<Mutex<Book>>,
    random: Arc<Mutex<Rng>>,
    began: Instant,
}

impl Wire {
    pub fn new(book: Book, random: Rng) -> Self {
        let (book, random) = (Arc::new(Mutex::new(book)), Arc::new(Mutex::new(random)));
        Self { book, random, began: Instant::now() }
    }

    /// The book, at the present moment.
    pub fn book(&self) -> MutexGuard<'_, Book> {
        let mut book = self.book.lock().unwrap();
        book.clock = self.began.elapsed().as_millis() as u64;
        book
    }

    pub fn hear(&self, event: &SelectorEvent) {
        self.book().hear(event);
    }

    /// Takes the request down and decides what comes of it.
    fn receive(&self, endpoint: &Endpoint, text: &str) -> (Request, Duration, Option<Said>) {
        let mut book = self.book();
        let mut random = self.random.lock().unwrap();
        let host = endpoint.host().to_string();
        let place = book.place_of(&host);
        book.check("law 9: a body holds no secret", !text.contains(SECRET), || text.to_owned());
        let network = &book.world.networks[place.0];
        let ask = Ask::read(text, network.is_svm(), &network.assets, &network.others);
        let clock = book.clock;
        book.note(|| format!("  {host} is asked by {:?} for {:?}", ask.way, ask.assets));
        book.tally.requests += 1;
        let row = book.world.endpoint_mut(place);
        let fault = row.next_fault(&mut random);
        let delay = Duration::from_millis(row.delay_ms);
        let node = row.node_at(clock);
        let spoilt = fault.and_then(|fault| Some((fault, fault.spoil(node, &ask)?)));
        let mute = spoilt.as_ref().is_some_and(|(fault, _)| fault.is_mute());
        let shown = spoilt.as_ref().map(|(fault, _)| *fault);
        let said = spoilt.map_or_else(|| node.said(&ask), |(_, said)| said);
        if let Some(fault) = shown {
            book.tally.fault(fault);
            book.note(|| format!("    fault {fault:?}"));
        }
        let (attempt, number) = book.send(&host, &ask);
        let request = Request { wire: self.clone(), attempt, number, open: true };
        (request, delay, (!mute).then_some(said))
    }
}

impl Transport for Wire {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        let (request, delay, said) = self.receive(endpoint, &body);
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            match said {
                Some(said) => request.answered(said),
                None => std::future::pending().await,
            }
        })
    }
}

/// A request under way; dropping it breaks it off.
struct Request {
    wire: Wire,
    attempt: usize,
    number: usize,
    open: bool,
}

impl Request {
    fn answered(mut self, said: Said) -> Result<HttpReply, TransportError> {
        self.open = false;
        let reply = said.reply.clone();
        self.wire.book().answered(self.attempt, self.number, said);
        reply
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.open {
            self.wire.book().broken_off(self.attempt);
        }
    }
}
