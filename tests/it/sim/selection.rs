//! The life of a selection: what it was told and by whom, and how it ends.

use std::collections::{BTreeMap, BTreeSet};

use super::attempt::{Attempt, Kind, Stage};
use super::book::Book;
use super::node::Told;
use super::world::Offer;
use crate::reference::balance::Standing;
use crate::reference::health::{Effect, Seen};
use crate::reference::lineup::{Lineup, Runner};
use crate::reference::{Ms, Place};

#[derive(Clone, Debug)]
pub struct Selection {
    pub offers: Vec<Offer>,
    pub started: Ms,
    pub lineups: BTreeMap<usize, Lineup>,
    pub attempts: Vec<usize>,
    pub tellings: Vec<Telling>,
    /// Who was said to have told less than another.
    pub contradicted: Vec<Place>,
    pub spoke: bool,
    pub over: bool,
    /// Every endpoint as it was when the first reading was over, where a second one follows.
    pub first_looks: Option<BTreeMap<Place, Seen>>,
}

/// What one endpoint told of one asset.
#[derive(Clone, Debug)]
pub struct Telling {
    pub by: Place,
    pub asset: usize,
    pub told: Told,
    pub kind: Kind,
}

impl Book {
    pub fn begin(&mut self, offers: Vec<Offer>) -> usize {
        let wanted: BTreeSet<usize> = offers.iter().filter(|o| o.refused.is_none()).map(|o| o.network).collect();
        let lineups = wanted.into_iter().map(|network| (network, self.lineup(network))).collect();
        let id = self.selections.len();
        self.note(|| format!("selection {id} starts: {lineups:?}"));
        self.selections.push(Selection {
            offers,
            started: self.clock,
            lineups,
            attempts: Vec::new(),
            tellings: Vec::new(),
            contradicted: Vec::new(),
            spoke: false,
            over: false,
            first_looks: None,
        });
        id
    }

    fn lineup(&self, network: usize) -> Lineup {
        let runners = self.world.networks[network].asked().map(|(number, endpoint)| {
            let place = (network, number);
            let busy = endpoint.max_in_flight.is_some_and(|most| self.in_flight(place) >= most);
            Runner { seen: self.health.look(place, self.clock), priority: endpoint.priority, busy }
        });
        let listed = self.world.networks[network].is_listed();
        Lineup::of(&runners.collect::<Vec<_>>(), listed, self.world.providers)
    }

    /// Whether a selection has all that it wants of a network and asks nobody there any more.
    pub fn is_read(&self, id: usize, network: usize) -> bool {
        let selection = &self.selections[id];
        let asking = selection.attempts.iter().map(|id| &self.attempts[*id]).any(|attempt| {
            attempt.place.0 == network && attempt.kind == Kind::Foreground && attempt.stage == Stage::Running
        });
        selection.first_looks.is_some() || (!asking && selection.unread(network).is_empty())
    }

    /// Whether a selection is about to ask an endpoint although it has all that it will get of the
    /// network: a failover follows at once.
    pub fn is_done_reading(&self, id: usize, network: usize) -> bool {
        let selection = &self.selections[id];
        let earlier = selection.asked(network, &self.attempts).filter(|attempt| attempt.kind == Kind::Foreground);
        let earlier: Vec<&Attempt> = earlier.collect();
        let ended = |attempt: &Attempt| {
            !matches!(attempt.stage, Stage::Running | Stage::Admitted) && attempt.ended < self.clock
        };
        let all_ended = selection.unread(network).is_empty() || earlier.iter().all(|attempt| ended(attempt));
        selection.first_looks.is_some() || (!earlier.is_empty() && all_ended)
    }

    /// The first reading is over for all networks, and judged.
    pub fn read_once_more(&mut self, id: usize) {
        if self.selections[id].first_looks.is_some() {
            return;
        }
        self.note(|| format!("  selection {id} wants a second opinion"));
        self.tally.count("selections with a second opinion");
        let offline = self.settle_silent(id);
        self.check("no second opinion where there is no first", !offline, || format!("selection {id}"));
        let looks = self.world.places().into_iter().map(|place| (place, self.health.look(place, self.clock)));
        self.selections[id].first_looks = Some(looks.collect());
    }

    /// A selection has come to its end. Whether the reference takes the device for offline.
    pub fn finish(&mut self, id: usize) -> bool {
        let offline = self.settle_silent(id);
        self.tally.count(if offline { "selections that found the device offline" } else { "selections that ended" });
        self.selections[id].over = true;
        offline
    }

    /// Whose fault silence is: the endpoint's, unless everybody is silent.
    fn settle_silent(&mut self, id: usize) -> bool {
        let silent: Vec<usize> = self.silent(id);
        let selection = &self.selections[id];
        let others_left = selection.lineups.iter().any(|(network, lineup)| {
            lineup.asked.len() + usize::from(lineup.trial.is_some()) < self.world.networks[*network].asked().count()
        });
        let heard_since = self.heard.is_some_and(|heard| heard > selection.started);
        let offline = !silent.is_empty() && !selection.spoke && !others_left && !heard_since;
        for id in silent {
            let Attempt { place, ticket, ended, .. } = self.attempts[id];
            self.attempts[id].stage = Stage::Over;
            match offline {
                true => self.health.give_back(place, ticket),
                false => self.health.settle(place, ticket, Effect::Fault, ended),
            }
        }
        offline
    }

    /// A selection was let go of.
    pub fn cancelled(&mut self, id: usize) {
        self.note(|| format!("selection {id} is cancelled"));
        self.tally.count("selections cancelled");
        for id in self.silent(id) {
            self.give_up(id);
        }
        self.selections[id].over = true;
    }

    pub fn silent(&self, id: usize) -> Vec<usize> {
        let attempts = self.selections[id].attempts.iter().copied();
        attempts.filter(|id| self.attempts[*id].stage == Stage::Silent).collect()
    }
}

impl Selection {
    /// The assets of a network that are wanted and of which nothing final was told.
    pub fn unread(&self, network: usize) -> BTreeSet<usize> {
        let wanted = self.offers.iter().filter(|offer| offer.refused.is_none() && offer.network == network);
        let told = |asset: usize| self.told(network, asset).any(|telling| telling.told != Told::NoContract);
        wanted.map(|offer| offer.asset).filter(|asset| !told(*asset)).collect()
    }

    /// What was told of an asset, in order.
    pub fn told(&self, network: usize, asset: usize) -> impl Iterator<Item = &Telling> {
        self.tellings.iter().filter(move |telling| (telling.by.0, telling.asset) == (network, asset))
    }

    /// The balance that the reference goes by: a trial's only where nobody who was waited for told one, and a
    /// second opinion against the first.
    pub fn standing(&self, network: usize, asset: usize) -> Option<Standing> {
        let first_of = |kind| {
            let mut told = self.told(network, asset).filter(move |telling| telling.kind == kind);
            told.find_map(|Telling { by, told, .. }| match told {
                Told::Balance(balance) => Some((*by, *balance)),
                Told::NoContract | Told::Refused => None,
            })
        };
        let first = first_of(Kind::Foreground).or_else(|| first_of(Kind::Trial))?;
        Some(Standing::of(first, first_of(Kind::Opinion)))
    }

    /// Whether a trial is due beside the selection, and nobody of the network was asked yet.
    pub fn is_about_to_try(&self, network: usize, attempts: &[Attempt]) -> bool {
        let due = self.lineups.get(&network).is_some_and(|lineup| lineup.trial.is_some());
        due && self.asked(network, attempts).next().is_none()
    }

    /// The attempts on a network, in their order.
    pub fn asked<'a>(&'a self, network: usize, attempts: &'a [Attempt]) -> impl Iterator<Item = &'a Attempt> {
        self.attempts.iter().map(|id| &attempts[*id]).filter(move |attempt| attempt.place.0 == network)
    }
}
