//! The life of an attempt: what it was for, what went out and came back for it, and what that comes to.

use payroute::Circuit;

use super::ask::{Ask, Way};
use super::book::{Book, Now};
use super::fault::{Meaning, Said};
use super::node::Told;
use super::selection::Telling;
use super::world::REFERENCE;
use crate::reference::health::{Effect, Ticket};
use crate::reference::{Ms, Place};

/// What an attempt's task is granted beyond its deadline before its trial counts as returned.
const LEASE_GRACE_MS: Ms = 2_000;

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
    is_svm: bool,
    /// A way of asking failed that may not have been refused.
    doubtful: bool,
    pub under_way: usize,
    /// Of the current way, in the order of sending.
    replies: Vec<(Role, Option<Said>)>,
    nothing_asked: bool,
}

/// What an answer is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Identity,
    Required,
    /// Nothing depends on it.
    Optional,
}

impl Book {
    pub fn admit(&mut self, place: Place) -> Ticket {
        self.health.admit(place, self.world.timeout_ms + LEASE_GRACE_MS, self.clock)
    }

    pub fn start(&mut self, place: Place, owner: usize, kind: Kind, ticket: Ticket) -> usize {
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
            is_svm: false,
            doubtful: false,
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
            attempt.is_svm = ask.is_svm;
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

    /// Ways of asking are tried from the one that is remembered on, then those before it, each once.
    fn ask_in_turn(&mut self, id: usize, ask: &Ask) {
        let (attempt, clock) = (&self.attempts[id], self.clock);
        let best = if ask.is_svm { Way::Batch } else { Way::Create };
        let expected = match attempt.stage {
            Stage::Admitted => self.health.look(attempt.place, clock).plan.map_or(best, Way::of),
            _ if attempt.under_way > 0 => Way::Single,
            _ => attempt.way.next(ask.is_svm),
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
        let Outcome { told, meaning, chain_ms, refused } = outcome(replies, attempt.way);
        let told_any = told.iter().any(|(_, told)| matches!(told, Told::Balance(_)))
            || (attempt.nothing_asked && meaning == Meaning::Fine);
        attempt.doubtful |= meaning == Meaning::PerhapsUnsupported;
        if refused && !told_any && attempt.way.next(attempt.is_svm) != attempt.first_way {
            return;
        }
        let (place, way, latency_ms) = (attempt.place, attempt.way, self.clock - attempt.started);
        if told_any && way != attempt.first_way {
            let memory_ms = if attempt.doubtful { 60_000 } else { 3_600_000 };
            self.health.remember_plan(place, way.plan(), self.clock + memory_ms, self.clock);
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

    pub fn give_up(&mut self, id: usize) {
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
}

impl Kind {
    /// Whether the selection itself polls it.
    pub fn is_awaited(self) -> bool {
        matches!(self, Self::Foreground | Self::Opinion)
    }
}

/// The circuit as an attempt found it.
impl Attempt {
    pub fn circuit(&self) -> Circuit {
        self.ticket.circuit
    }
}

struct Outcome {
    told: Vec<(usize, Told)>,
    meaning: Meaning,
    chain_ms: Option<u64>,
    /// Something was refused for the way of asking, and nothing for want of patience.
    refused: bool,
}

/// What the replies to one way of asking come to: without an identity nothing, else the worst of them.
fn outcome(replies: Vec<(Role, Said)>, way: Way) -> Outcome {
    let is_refusal = |meaning| matches!(meaning, Meaning::Unsupported | Meaning::PerhapsUnsupported);
    let wants_patience = |meaning| matches!(meaning, Meaning::Throttled(_) | Meaning::Quota);
    let identity = replies.iter().find(|(role, _)| *role == Role::Identity).map(|(_, said)| said.meaning);
    if way == Way::Single && identity != Some(Meaning::Fine) {
        let meaning = identity.unwrap_or(Meaning::Fault);
        return Outcome { told: Vec::new(), meaning, chain_ms: None, refused: is_refusal(meaning) };
    }
    let mut outcome = Outcome { told: Vec::new(), meaning: Meaning::Fine, chain_ms: None, refused: false };
    let counts = |(role, said): &(Role, Said)| *role != Role::Optional || wants_patience(said.meaning);
    let counting: Vec<Said> = replies.into_iter().filter(counts).map(|(_, said)| said).collect();
    outcome.refused = counting.iter().any(|said| is_refusal(said.meaning))
        && !counting.iter().any(|said| wants_patience(said.meaning));
    for Said { meaning, told, chain_ms, .. } in counting {
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
        Meaning::Unsupported | Meaning::PerhapsUnsupported => 2,
        Meaning::Throttled(_) => 3,
        Meaning::Quota => 4,
        Meaning::SoftFault => 5,
        Meaning::Fault => 6,
        Meaning::WrongChain => 7,
        Meaning::Silent => 8,
    }
}
