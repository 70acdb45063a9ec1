//! The book of a run: every attempt and every selection as seen from outside, through the transport
//! and the observer, and what the reference makes of them.
//!
//! Everything here happens at the moment at which the code under test does it, so that book and code
//! agree whenever neither is running.

use std::collections::BTreeSet;

use payroute::SelectorEvent;

use super::attempt::{Attempt, Kind, Stage};
use super::selection::Selection;
use super::tally::Tally;
use super::trace::Trace;
use super::world::{REFERENCE, World};
use crate::reference::health::{Effect, Health};
use crate::reference::{Ms, Place};

/// What is under way right now, in this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// No selection is being polled: a task beside one, or the application.
    Beside,
    Polling(usize),
    /// The application lets go of a selection.
    Cancelling,
}

pub struct Book {
    pub world: World,
    pub health: Health,
    pub attempts: Vec<Attempt>,
    pub selections: Vec<Selection>,
    pub now: Now,
    pub clock: Ms,
    pub heard: Option<Ms>,
    pub tally: Tally,
    pub trace: Trace,
    /// The first thing that was not as it should be.
    pub wrong: Option<String>,
    pub running: BTreeSet<usize>,
}

impl Book {
    pub fn new(world: World, trace: Trace) -> Self {
        let health = Health::new(world.rules.clone());
        Self {
            world,
            health,
            attempts: Vec::new(),
            selections: Vec::new(),
            now: Now::Beside,
            clock: 0,
            heard: None,
            tally: Tally::default(),
            trace,
            wrong: None,
            running: BTreeSet::new(),
        }
    }

    /// Counts a check, and remembers the first that fails.
    pub fn check(&mut self, name: &'static str, holds: bool, what: impl FnOnce() -> String) {
        self.tally.check(name);
        if !holds && self.wrong.is_none() {
            self.wrong = Some(format!("at {} ms, {name}: {}", self.clock, what()));
        }
    }

    pub fn note(&mut self, what: impl FnOnce() -> String) {
        self.trace.line(self.clock, what);
    }

    pub fn in_flight(&self, place: Place) -> u32 {
        self.running.iter().filter(|id| self.attempts[**id].place == place).count() as u32
    }

    /// The selection whose doing this is.
    pub fn culprit(&self) -> Option<usize> {
        match self.now {
            Now::Polling(id) => Some(id),
            Now::Beside | Now::Cancelling => None,
        }
    }

    pub fn hear(&mut self, event: &SelectorEvent) {
        self.note(|| format!("  event {event:?}"));
        self.tally.event(event);
        if let SelectorEvent::BalancesDisagree { lower, .. } = event {
            let place = self.place_of(lower);
            self.health.report(place, Effect::Contradicted, self.clock);
            match self.culprit() {
                Some(id) => self.selections[id].contradicted.push(place),
                None => self.check("opinions are compared by selections", false, || format!("{event:?}")),
            }
        }
        if let SelectorEvent::CircuitHalfOpen { endpoint, .. } = event {
            let place = self.place_of(endpoint);
            let ticket = self.admit(place);
            self.check("trials only at half-open", ticket.trial, || format!("{endpoint} got a trial"));
            let owner = self.culprit().unwrap_or(usize::MAX);
            let kind = match self.selections.get(owner) {
                _ if place.1 == REFERENCE => Kind::Reference,
                Some(selection) if selection.is_about_to_try(place.0, &self.attempts) => Kind::Trial,
                _ => Kind::Foreground,
            };
            self.start(place, owner, kind, ticket);
        }
    }

    pub fn place_of(&self, host: &str) -> Place {
        let found = self.world.places().into_iter().find(|place| self.world.endpoint(*place).host == host);
        found.unwrap_or_else(|| panic!("{host} is nobody's"))
    }

    /// Everything that could run has run: tasks that were ended before they began are gone.
    pub fn quiet(&mut self) {
        for id in self.running.clone() {
            let Attempt { stage, owner, under_way, place, .. } = self.attempts[id];
            if stage == Stage::Admitted && self.selections.get(owner).is_some_and(|selection| selection.over) {
                self.give_up(id);
            }
            self.check("an attempt goes on or ends", stage != Stage::Running || under_way > 0, || {
                format!("nothing more was asked of {place:?}")
            });
        }
    }
}
