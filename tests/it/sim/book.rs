//! The book of a run: every attempt and every selection as seen from outside, through the transport
//! and the observer, and what the reference makes of them.
//!
//! Everything here happens at the moment at which the code under test does it, so that book and code
//! agree whenever neither is running.

use std::collections::{BTreeMap, BTreeSet};

use payroute::{Circuit, Event};

use super::ask::{Ask, Way};
use super::fault::{Meaning, Said};
use super::node::Told;
use super::tally::Tally;
use super::trace::Trace;
use super::world::{Offer, REFERENCE, World};
use crate::reference::balance::Standing;
use crate::reference::health::{Effect, Health, Seen, Ticket};
use crate::reference::lineup::{Lineup, Runner};
use crate::reference::{Ms, Place};

/// What an attempt's task is granted beyond its deadline before its trial counts as returned.
const LEASE_GRACE_MS: Ms = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The selection waits for it.
    Foreground,
    /// Runs beside the selection.
    Trial,
    /// Asks for the time alone.
    Reference,
    /// Reads once more what was too low.
    Opinion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Admitted; nothing was sent yet.
    Admitted,
    Running,
    /// Met no sign of life; whose fault that is depends on the others.
    Silent,
    Over,
}

#[derive(Clone, Debug)]
pub struct Attempt {
    pub place: Place,
    pub owner: usize,
    pub kind: Kind,
    pub ticket: Ticket,
    pub started: Ms,
    pub ended: Ms,
    pub stage: Stage,
    /// It was broken off before its end.
    pub given_up: bool,
    /// The task that sends for it, where that is not a selection's own.
    task: Option<tokio::task::Id>,
    first_way: Way,
    way: Way,
    under_way: usize,
    /// Of the current way, in the order of sending.
    replies: Vec<(Role, Option<Said>)>,
    nothing_asked: bool,
}

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
    kind: Kind,
}

/// What an answer is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Identity,
    Required,
    /// Nothing depends on it.
    Optional,
}

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
    running: BTreeSet<usize>,
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

    pub fn in_flight(&self, place: Place) -> u32 {
        self.running.iter().filter(|id| self.attempts[**id].place == place).count() as u32
    }

    /// The selection whose doing this is.
    fn culprit(&self) -> Option<usize> {
        match self.now {
            Now::Polling(id) => Some(id),
            Now::Beside | Now::Cancelling => None,
        }
    }

    pub fn hear(&mut self, event: &Event) {
        self.note(|| format!("  event {event:?}"));
        self.tally.event(event);
        if let Event::BalancesDisagree { lower, .. } = event {
            let place = self.place_of(lower);
            self.health.report(place, Effect::Contradicted, self.clock);
            match self.culprit() {
                Some(id) => self.selections[id].contradicted.push(place),
                None => self.check("opinions are compared by selections", false, || format!("{event:?}")),
            }
        }
        if let Event::CircuitHalfOpen { endpoint, .. } = event {
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

    fn admit(&mut self, place: Place) -> Ticket {
        self.health.admit(place, self.world.timeout_ms + LEASE_GRACE_MS, self.clock)
    }

    fn start(&mut self, place: Place, owner: usize, kind: Kind, ticket: Ticket) -> usize {
        let id = self.attempts.len();
        self.attempts.push(Attempt {
            place,
            owner,
            kind,
            ticket,
            started: self.clock,
            ended: 0,
            stage: Stage::Admitted,
            given_up: false,
            task: None,
            first_way: Way::Create,
            way: Way::Create,
            under_way: 0,
            replies: Vec::new(),
            nothing_asked: true,
        });
        self.running.insert(id);
        if let Some(selection) = self.selections.get_mut(owner) {
            selection.attempts.push(id);
        }
        id
    }

    /// A request goes out. Its attempt, and its number within the way of asking.
    pub fn send(&mut self, host: &str, ask: &Ask) -> (usize, usize) {
        let place = self.place_of(host);
        let culprit = self.culprit();
        let task = tokio::task::try_id();
        let mine = |attempt: &Attempt| {
            attempt.place == place
                && match culprit {
                    Some(id) => attempt.owner == id && attempt.kind.is_awaited(),
                    None => !attempt.kind.is_awaited() && attempt.task.is_none_or(|known| Some(known) == task),
                }
        };
        // One of this task's own before one that no task has taken up yet.
        let known = self.running.iter().copied().filter(|id| mine(&self.attempts[*id]));
        let known = known.max_by_key(|id| self.attempts[*id].task.is_some());
        let opinion = known.is_none() && culprit.is_some_and(|id| self.is_done_reading(id, place.0));
        if opinion {
            self.read_once_more(culprit.unwrap());
        }
        let id = known.unwrap_or_else(|| {
            let ticket = self.admit(place);
            self.check("every trial is told of", !ticket.trial, || format!("{host} is tried in silence"));
            let kind = match opinion {
                _ if place.1 == REFERENCE => Kind::Reference,
                true => Kind::Opinion,
                false => Kind::Foreground,
            };
            self.check("nothing is sent beside a selection", culprit.is_some() || kind == Kind::Reference, || {
                format!("{host} is asked by nobody")
            });
            self.start(place, culprit.unwrap_or(usize::MAX), kind, ticket)
        });
        self.check("law 4: no stranger is named", ask.strangers.is_empty(), || format!("{:?}", ask.strangers));
        self.check("law 4: only allowed networks are asked", self.world.networks[place.0].allowed, || host.to_owned());
        self.ask_in_turn(id, ask);
        let clock = self.clock;
        let attempt = &mut self.attempts[id];
        if attempt.stage == Stage::Admitted {
            attempt.stage = Stage::Running;
            attempt.task = task;
            attempt.started = clock;
            attempt.first_way = ask.way;
            attempt.nothing_asked = ask.assets.is_empty();
        }
        attempt.nothing_asked &= ask.assets.is_empty();
        attempt.way = ask.way;
        attempt.under_way += 1;
        let role = match (ask.identity, ask.is_required()) {
            (true, _) => Role::Identity,
            (false, true) => Role::Required,
            (false, false) => Role::Optional,
        };
        attempt.replies.push((role, None));
        (id, attempt.replies.len() - 1)
    }

    /// Ways of asking are tried from the one that is remembered on, each once.
    fn ask_in_turn(&mut self, id: usize, ask: &Ask) {
        let (attempt, clock) = (&self.attempts[id], self.clock);
        let best = if ask.is_svm { Way::Batch } else { Way::Create };
        let expected = match attempt.stage {
            Stage::Admitted => self.health.look(attempt.place, clock).plan.map_or(best, Way::of),
            _ if attempt.under_way > 0 => Way::Single,
            _ => Way::of((attempt.way.number() + 1).min(3)),
        };
        let (place, way) = (attempt.place, ask.way);
        self.check("ways of asking are tried in turn", way == expected, || {
            format!("{place:?} is asked by {way:?}, due was {expected:?}")
        });
    }

    /// An answer is about to be handed over.
    pub fn answered(&mut self, id: usize, number: usize, said: Said) {
        let place = self.attempts[id].place;
        self.note(|| format!("  {place:?} answers attempt {id}: {:?} {:?}", said.meaning, said.told));
        let attempt = &mut self.attempts[id];
        attempt.replies[number].1 = Some(said);
        attempt.under_way -= 1;
        if attempt.under_way > 0 {
            return;
        }
        let replies: Vec<(Role, Said)> =
            std::mem::take(&mut attempt.replies).into_iter().filter_map(|(role, said)| Some((role, said?))).collect();
        let Outcome { told, meaning, chain_ms } = outcome(replies, attempt.way);
        let told_any = told.iter().any(|(_, told)| matches!(told, Told::Balance(_)))
            || (attempt.nothing_asked && meaning == Meaning::Fine);
        if meaning == Meaning::Unsupported && !told_any && attempt.way != Way::Single {
            return;
        }
        let (place, way, latency_ms) = (attempt.place, attempt.way, self.clock - attempt.started);
        if told_any && way != attempt.first_way {
            self.health.remember_plan(place, way.number(), self.clock);
        }
        let effect = match meaning {
            Meaning::Fault => Some(Effect::Fault),
            Meaning::SoftFault => Some(Effect::SoftFault),
            Meaning::WrongChain => Some(Effect::WrongChain),
            Meaning::Throttled(hint_ms) => Some(Effect::Throttled { hint_ms }),
            Meaning::Quota => Some(Effect::Quota),
            Meaning::Silent => None,
            _ if told_any => Some(Effect::Success { latency_ms, chain_ms }),
            _ => Some(Effect::Nothing),
        };
        self.end(id, effect, told);
    }

    /// A request is broken off: by its deadline, by its selection's end, or because another won.
    pub fn broken_off(&mut self, id: usize) {
        let attempt = &self.attempts[id];
        if attempt.stage != Stage::Running {
            return;
        }
        let at_deadline = self.clock == attempt.started + self.world.timeout_ms;
        if at_deadline && self.now != Now::Cancelling {
            self.note(|| format!("  attempt {id} ran out of time"));
            return self.end(id, Some(Effect::Fault), Vec::new());
        }
        self.note(|| format!("  attempt {id} was given up"));
        self.tally.count("attempts given up");
        self.give_up(id);
    }

    fn give_up(&mut self, id: usize) {
        let Attempt { place, ticket, .. } = self.attempts[id];
        (self.attempts[id].stage, self.attempts[id].given_up) = (Stage::Over, true);
        self.running.remove(&id);
        self.health.give_back(place, ticket);
    }

    fn end(&mut self, id: usize, effect: Option<Effect>, told: Vec<(usize, Told)>) {
        self.running.remove(&id);
        let clock = self.clock;
        let attempt = &mut self.attempts[id];
        attempt.stage = Stage::Over;
        attempt.ended = clock;
        let (place, owner, ticket, kind) = (attempt.place, attempt.owner, attempt.ticket, attempt.kind);
        let awaited = self.selections.get(owner).is_some_and(|s| !s.over) && kind != Kind::Reference;
        let alone = !awaited || kind == Kind::Opinion || (kind == Kind::Trial && self.is_read(owner, place.0));
        match effect {
            Some(effect) => {
                self.heard = Some(clock);
                self.health.settle(place, ticket, effect, clock);
            }
            None if alone => self.health.settle(place, ticket, Effect::Fault, clock),
            None => self.attempts[id].stage = Stage::Silent,
        }
        if let Some(selection) = self.selections.get_mut(owner).filter(|_| awaited) {
            selection.spoke |= effect.is_some();
            selection.tellings.extend(told.into_iter().map(|(asset, told)| Telling { by: place, asset, told, kind }));
        }
    }

    /// Whether a selection has all that it wants of a network and asks nobody there any more.
    fn is_read(&self, id: usize, network: usize) -> bool {
        let selection = &self.selections[id];
        let asking = selection.attempts.iter().map(|id| &self.attempts[*id]).any(|attempt| {
            attempt.place.0 == network && attempt.kind == Kind::Foreground && attempt.stage == Stage::Running
        });
        selection.first_looks.is_some() || (!asking && selection.unread(network).is_empty())
    }

    /// Whether a selection is about to ask an endpoint although it has all that it will get of the
    /// network: a failover follows at once.
    fn is_done_reading(&self, id: usize, network: usize) -> bool {
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
    fn read_once_more(&mut self, id: usize) {
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

    fn silent(&self, id: usize) -> Vec<usize> {
        let attempts = self.selections[id].attempts.iter().copied();
        attempts.filter(|id| self.attempts[*id].stage == Stage::Silent).collect()
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

impl Kind {
    /// Whether the selection itself polls it.
    pub fn is_awaited(self) -> bool {
        matches!(self, Self::Foreground | Self::Opinion)
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
    fn is_about_to_try(&self, network: usize, attempts: &[Attempt]) -> bool {
        let due = self.lineups.get(&network).is_some_and(|lineup| lineup.trial.is_some());
        due && self.asked(network, attempts).next().is_none()
    }

    /// The attempts on a network, in their order.
    pub fn asked<'a>(&'a self, network: usize, attempts: &'a [Attempt]) -> impl Iterator<Item = &'a Attempt> {
        self.attempts.iter().map(|id| &attempts[*id]).filter(move |attempt| attempt.place.0 == network)
    }
}

struct Outcome {
    told: Vec<(usize, Told)>,
    meaning: Meaning,
    chain_ms: Option<u64>,
}

/// What the replies to one way of asking come to: without an identity nothing, else the worst of them.
fn outcome(replies: Vec<(Role, Said)>, way: Way) -> Outcome {
    let identity = replies.iter().find(|(role, _)| *role == Role::Identity).map(|(_, said)| said.meaning);
    if way == Way::Single && identity != Some(Meaning::Fine) {
        return Outcome { told: Vec::new(), meaning: identity.unwrap_or(Meaning::Fault), chain_ms: None };
    }
    let mut outcome = Outcome { told: Vec::new(), meaning: Meaning::Fine, chain_ms: None };
    for (_, Said { meaning, told, chain_ms, .. }) in replies.into_iter().filter(|(role, _)| *role != Role::Optional) {
        // Beside a proven identity, silence is a failure like another.
        let meaning = if meaning == Meaning::Silent && way == Way::Single { Meaning::Fault } else { meaning };
        if severity(meaning) > severity(outcome.meaning) {
            outcome.meaning = meaning;
        }
        outcome.told.extend(told);
        outcome.chain_ms = outcome.chain_ms.max(chain_ms);
    }
    outcome
}

fn severity(meaning: Meaning) -> u8 {
    match meaning {
        Meaning::Fine => 0,
        Meaning::Nothing => 1,
        Meaning::Unsupported => 2,
        Meaning::Throttled(_) => 3,
        Meaning::Quota => 4,
        Meaning::SoftFault => 5,
        Meaning::Fault => 6,
        Meaning::WrongChain => 7,
        Meaning::Silent => 8,
    }
}

/// The circuit as an attempt found it.
impl Attempt {
    pub fn circuit(&self) -> Circuit {
        self.ticket.circuit
    }
}
