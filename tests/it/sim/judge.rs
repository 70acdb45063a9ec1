//! A selection's answer against what the book knows: the laws, one check each.

use std::collections::BTreeSet;

use payroute::{
    Amount, Candidate, Circuit, DecidingKey, Note, PaymentRequired, RejectionReason, SelectError, Selection as Answer,
    rank,
};

use super::attempt::{Attempt, Kind, Stage};
use super::book::Book;
use super::node::Told;
use super::world::{Offer, SECRET};
use crate::reference::balance::Standing;
use crate::reference::health::Seen;
use crate::reference::{Ms, Place, cascade};

type Answered = Result<Answer, SelectError>;

impl Book {
    /// Everything that can be said of an answer when it is given.
    pub fn judge(&mut self, id: usize, payment: &PaymentRequired, answer: &Answered, offline: bool) {
        let candidates = match answer {
            Ok(selection) => selection.candidates(),
            Err(error) => error.candidates(),
        };
        self.tally.selections += 1;
        self.tally.code(answer.as_ref().err().map_or("selected", SelectError::code));
        self.note(|| format!("selection {id} ends: {}", payroute::explain(candidates).replace('\n', " | ")));
        let offers = self.selections[id].offers.clone();
        let complete: BTreeSet<usize> = candidates.iter().map(|candidate| candidate.requirement_index).collect();
        let expected: BTreeSet<usize> = (0..offers.len()).collect();
        self.check("nothing is lost", complete == expected && candidates.len() == offers.len(), || {
            format!("offers {expected:?}, candidates {complete:?}")
        });
        if self.wrong.is_some() {
            return;
        }
        self.judge_order(id, candidates);
        for candidate in candidates {
            let offer = &offers[candidate.requirement_index];
            match offer.refused {
                Some(reason) => self.judge_refused(candidate, reason),
                None => self.judge_read(id, candidate, offer, offline),
            }
        }
        self.judge_disagreements(id, &offers);
        self.judge_answer(payment, answer, &offers);
        self.judge_traffic(id);
    }

    /// Law 1.
    fn judge_order(&mut self, id: usize, candidates: &[Candidate]) {
        let prefer = self.world.prefer.clone();
        let ordered = cascade::check(candidates, &prefer);
        self.check("law 1: the cascade's order", ordered.is_ok(), || ordered.unwrap_err());
        if id.is_multiple_of(8) {
            let mut again: Vec<Candidate> = candidates.iter().rev().cloned().collect();
            rank(&mut again, &prefer);
            self.check("law 1: any order in, the same out", again == candidates, || format!("{again:?}"));
        }
        for candidate in candidates {
            let chosen_or_decided = (candidate.rank == 1) == candidate.decided_by.is_none();
            self.check("every candidate says what set it apart", chosen_or_decided, || format!("{candidate:?}"));
            self.tally.count(candidate.decided_by.map_or("decided by nothing: the first", decided));
        }
    }

    /// Law 5: an offer that cannot be meant spoils nothing and is asked about nowhere.
    fn judge_refused(&mut self, candidate: &Candidate, reason: &str) {
        let named = candidate.rejections.iter().any(|rejection| rejection.reason.name() == reason);
        let unread = candidate.balance.is_none() && candidate.endpoint.is_none();
        self.check("law 5: screened out for its own reason", !candidate.viable && named && unread, || {
            format!("{reason} expected of {candidate:?}")
        });
    }

    fn judge_read(&mut self, id: usize, candidate: &Candidate, offer: &Offer, offline: bool) {
        let selection = &self.selections[id];
        let told: Vec<_> =
            selection.told(offer.network, offer.asset).map(|telling| (telling.by, telling.told)).collect();
        let standing = selection.standing(offer.network, offer.asset);
        let clear = |c: &Candidate, reason| c.is_rejected_for(reason);
        let known = candidate.balance.map(|balance| balance.to_string());
        let proven = |balance: &String| {
            told.iter().any(|(_, told)| matches!(told, Told::Balance(b) if b.to_string() == *balance))
        };
        let some_balance = told.iter().any(|(_, told)| matches!(told, Told::Balance(_)));
        let shown = || format!("{candidate:?} although {told:?}");
        let holds = known.as_ref().is_none_or(proven);
        self.check("law 2: a balance comes from a proven chain", holds, shown);
        self.check("law 3: what was told is known", known.is_some() || !some_balance, shown);
        let stands = standing.is_none_or(|standing| known == Some(standing.balance.to_string()));
        self.check("the first balance stands, or a higher second one", stands, || format!("{}: {standing:?}", shown()));
        let noted = candidate.notes.contains(&Note::BalancesDisagree);
        let disagree = standing.is_some_and(|standing| standing.contradicted.is_some());
        self.check("balances that disagree are noted", noted == disagree, || format!("{}: {standing:?}", shown()));
        let short = clear(candidate, RejectionReason::InsufficientBalance);
        let enough = candidate.balance.is_some_and(|balance| balance >= Amount::from(offer.amount));
        self.check("law 3: short only when read", short == (known.is_some() && !enough), shown);
        self.check("viable exactly when without reasons", candidate.viable == candidate.rejections.is_empty(), shown);
        self.check("enough can pay", candidate.viable == enough, shown);
        let unread = clear(candidate, RejectionReason::BalanceUnavailable)
            || clear(candidate, RejectionReason::ChainIdentityMismatch)
            || clear(candidate, RejectionReason::AssetNotContract);
        self.check("law 3: unread is unread", unread == known.is_none(), shown);
        let no_contract = told.iter().any(|(_, told)| *told == Told::NoContract);
        self.check(
            "no contract only by proof",
            no_contract || !clear(candidate, RejectionReason::AssetNotContract),
            shown,
        );
        self.check("the device is offline", candidate.notes.contains(&Note::Offline) == offline, || {
            format!("offline {offline}: {candidate:?}")
        });
        self.judge_endpoint(id, candidate, offer, standing);
    }

    /// Who said less than another in this selection is said so, once.
    fn judge_disagreements(&mut self, id: usize, offers: &[Offer]) {
        let selection = &self.selections[id];
        let read = offers.iter().filter(|offer| offer.refused.is_none());
        let standings = read.filter_map(|offer| selection.standing(offer.network, offer.asset));
        let due: BTreeSet<Place> = standings.filter_map(|standing| standing.contradicted).collect();
        let mut told = selection.contradicted.clone();
        told.sort_unstable();
        self.check("who said less is told of, once", told.iter().eq(&due), || format!("{told:?}, due {due:?}"));
    }

    /// The endpoint that a candidate names is one that was asked, as health knew it then and knows it now.
    fn judge_endpoint(&mut self, id: usize, candidate: &Candidate, offer: &Offer, standing: Option<Standing>) {
        let Some(host) = &candidate.endpoint else {
            let asked = self.selections[id].asked(offer.network, &self.attempts).any(|a| a.kind != Kind::Reference);
            return self.check(
                "an endpoint is named when one was asked",
                !asked || candidate.balance.is_none(),
                || format!("{candidate:?}"),
            );
        };
        let (place, clock) = (self.place_of(host), self.clock);
        let attempts =
            self.selections[id].asked(offer.network, &self.attempts).filter(|attempt| attempt.place == place);
        let circuits: Vec<Circuit> = attempts.map(Attempt::circuit).collect();
        self.check("the circuit is what the attempt found", circuits.contains(&candidate.circuit), || {
            format!("{circuits:?} of {place:?}: {candidate:?}")
        });
        let seen = self.health.look(place, clock);
        let said = (candidate.health_score.bps(), candidate.latency_us, candidate.lag_ms);
        let first = self.selections[id].first_looks.as_ref().and_then(|looks| looks.get(&place)).cloned();
        let is = |seen: &Seen| said == (seen.score, seen.latency_us, seen.lag_ms);
        let holds = is(&seen) || first.as_ref().is_some_and(is);
        self.check("score, latency and lag are the index's", holds, || {
            format!("{host}: {said:?}, and the reference says {seen:?}, before {first:?}")
        });
        let teller = standing.is_none_or(|standing| standing.by == place);
        self.check("law 2: the endpoint named told the balance", teller, || format!("{candidate:?}: {standing:?}"));
    }

    fn judge_answer(&mut self, payment: &PaymentRequired, answer: &Answered, offers: &[Offer]) {
        match answer {
            Ok(selection) => {
                let first = selection.selected();
                let best = first.rank == 1 && first.viable;
                self.check("the first that can pay is chosen", best, || format!("{first:?}"));
                let theirs = offers[first.requirement_index].json.to_string();
                let ours = selection.requirement().json();
                let same = ours == theirs && payment.requirements()[first.requirement_index].json() == ours;
                self.check("law 11: the offer comes back untouched", same, || format!("{ours} for {theirs}"));
                let text = selection.explain();
                self.check("law 9: nothing shown holds a secret", !text.contains(SECRET), || text.clone());
            }
            Err(error) => {
                let code = expected_code(error.candidates());
                self.check("the error's code", error.code() == code, || format!("{} instead of {code}", error.code()));
                let short: Vec<usize> = (0..offers.len())
                    .filter(|index| {
                        let mine = error.candidates().iter().find(|candidate| candidate.requirement_index == *index);
                        mine.is_some_and(|candidate| candidate.is_rejected_for(RejectionReason::InsufficientBalance))
                    })
                    .collect();
                let told: Vec<usize> = error.deficits().iter().map(|deficit| deficit.requirement_index).collect();
                self.check("deficits in the merchant's order", short == told, || format!("{told:?}, due {short:?}"));
                let sums = error.deficits().iter().all(|d| d.required.saturating_sub(d.available) == d.shortfall);
                self.check("deficits add up", sums, || format!("{:?}", error.deficits()));
                let text = format!("{error} {error:?}");
                self.check("law 9: nothing shown holds a secret", !text.contains(SECRET), || text.clone());
            }
        }
    }

    /// Whom it asked, and how long it took.
    fn judge_traffic(&mut self, id: usize) {
        let (selection, bound) = (self.selections[id].clone(), self.world.timeout_ms * self.world.providers as Ms);
        let took = self.clock - selection.started;
        self.check("law 10: wall time is bounded", took <= bound, || format!("{took} ms of {bound}"));
        for (network, lineup) in &selection.lineups {
            let mut asked: Vec<usize> = Vec::new();
            let mut trials: Vec<usize> = Vec::new();
            let mut opinions: Vec<usize> = Vec::new();
            for attempt in selection.asked(*network, &self.attempts) {
                match attempt.kind {
                    Kind::Foreground => asked.push(attempt.place.1),
                    Kind::Trial => trials.push(attempt.place.1),
                    Kind::Opinion => opinions.push(attempt.place.1),
                    Kind::Reference => {}
                }
            }
            let due: Vec<usize> = lineup.asked.iter().map(|(_, number)| *number).collect();
            let row = &self.world.networks[*network];
            let limited = |number: &usize| row.endpoints[number].max_in_flight.is_some();
            // Equals are ordered by chance or by score there: only their standing is known beforehand.
            let listed = row.is_listed();
            let standing = |numbers: &[usize]| -> Vec<_> { numbers.iter().map(|n| lineup.able.get(n)).collect() };
            let in_order = match listed {
                true => is_subsequence(&asked, &due, limited),
                false => standing(&due).starts_with(&standing(&asked)) || lineup.able.keys().any(limited),
            };
            let trial: Vec<usize> = lineup.trial.into_iter().collect();
            let due_trial = trials == trial || (!listed && standing(&trials) == standing(&trial));
            let skippable = if listed { due.iter().any(limited) } else { lineup.able.keys().any(limited) };
            let enough = asked.len() == due.len() || selection.unread(*network).is_empty() || skippable;
            let shown = || format!("network {network} asked {asked:?}, due {due:?}");
            let strange = row.strategy;
            self.check("endpoints are asked in their order", in_order, || format!("{strange}: {}", shown()));
            self.check("nobody gives up while another could tell", enough, shown);
            // A trial takes a provider's turn, except the only one.
            let most = self.world.providers.max(1 + trial.len());
            let providers: BTreeSet<usize> = asked.iter().chain(&trials).chain(&opinions).copied().collect();
            self.check("law 10: providers are bounded", providers.len() <= most, shown);
            // Whoever lost a race was not heard.
            let heard = |number: &usize| {
                let mut earlier = selection.asked(*network, &self.attempts).filter(|a| a.place.1 == *number);
                earlier.any(|attempt| attempt.kind != Kind::Opinion && !attempt.given_up)
            };
            let one_other = opinions.len() <= 1 && !opinions.iter().any(heard);
            self.check("a second opinion is one other's", one_other, || format!("{opinions:?}, {}", shown()));
            self.check("a trial beside where one is due", due_trial, || format!("{trials:?} instead of {trial:?}"));
        }
        let foreign = selection
            .attempts
            .iter()
            .map(|id| &self.attempts[*id])
            .find(|attempt| attempt.stage == Stage::Running && attempt.kind.is_awaited());
        let left = foreign.map(|attempt| attempt.place);
        self.check("every probe is awaited or ended", left.is_none(), || format!("{left:?} goes on"));
    }
}

fn is_subsequence(asked: &[usize], due: &[usize], may_be_skipped: impl Fn(&usize) -> bool) -> bool {
    let mut due = due.iter();
    asked.iter().all(|number| {
        loop {
            match due.next() {
                Some(next) if next == number => return true,
                Some(next) if may_be_skipped(next) => {}
                _ => return false,
            }
        }
    })
}

/// The code that candidates amount to, none of which can pay.
fn expected_code(candidates: &[Candidate]) -> &'static str {
    let only = |reasons: &'static [RejectionReason]| {
        move |c: &Candidate| c.rejections.iter().all(|rejection| reasons.contains(&rejection.reason))
    };
    let unread = only(&[RejectionReason::BalanceUnavailable, RejectionReason::ChainIdentityMismatch]);
    let policy =
        only(&[RejectionReason::NetworkNotAllowed, RejectionReason::AssetNotAllowed, RejectionReason::AmountOverLimit]);
    if candidates.iter().any(|candidate| candidate.is_rejected_for(RejectionReason::InsufficientBalance)) {
        "insufficient-liquidity"
    } else if candidates.iter().any(unread) {
        "balances-unavailable"
    } else if candidates.iter().any(policy) {
        "refused-by-policy"
    } else {
        "no-supported-route"
    }
}

fn decided(key: DecidingKey) -> &'static str {
    match key {
        DecidingKey::Viability => "decided by viability",
        DecidingKey::Circuit => "decided by circuit",
        DecidingKey::Preference => "decided by preference",
        DecidingKey::Fee => "decided by fee",
        DecidingKey::Score => "decided by score",
        DecidingKey::Latency => "decided by latency",
        DecidingKey::Index => "decided by index",
    }
}
