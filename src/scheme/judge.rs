//! What the facts make of a candidate: first what was read, then how its token would move, then what is short.
//!
//! What each way of moving tokens makes of the facts is in its own file in `transfer`.

use super::Route;
use super::facts::{AccountState, ReadOutcome, Reading};
use crate::chain::Amount;
use crate::ranking::{Candidate, RejectionReason};

/// Completes a candidate with what was read.
pub(crate) fn apply_facts(candidate: &mut Candidate, route: Option<&Route>, reading: &Reading<'_>) {
    candidate.endpoint = reading.endpoint.clone();
    candidate.circuit = reading.circuit;
    candidate.health_score = reading.health_score;
    candidate.latency_us = reading.latency_us;
    candidate.lag_ms = reading.lag_ms;
    reading.notes.iter().for_each(|note| candidate.note(*note));
    match &reading.outcome {
        ReadOutcome::Unreadable { reason, detail } => candidate.reject(*reason, detail.as_str()),
        ReadOutcome::AccountState(state) => apply_state(candidate, route, state),
    }
}

fn apply_state(candidate: &mut Candidate, route: Option<&Route>, state: &AccountState) {
    candidate.balance = Some(state.balance);
    state.notes.iter().for_each(|note| candidate.note(*note));
    state.blockers.iter().for_each(|(reason, detail)| candidate.reject(*reason, *detail));
    if let Some(route) = route {
        route.transfer.check(candidate, candidate.due(), state);
    }
    check_balance(candidate, state.balance);
}

fn check_balance(candidate: &mut Candidate, balance: Amount) {
    let (due, available) = (candidate.due(), balance.saturating_sub(candidate.held));
    if available >= due {
        return;
    }
    let mut detail = format!("{} short", candidate.in_units(due.saturating_sub(available)));
    let mut reason = RejectionReason::InsufficientBalance;
    if candidate.deposit.is_some() {
        reason = RejectionReason::DepositRequired;
        detail = format!("{detail} of {} to deposit", candidate.in_units(due));
    }
    if !candidate.held.is_zero() {
        detail = format!("{detail} while other payments hold {}", candidate.in_units(candidate.held));
    }
    candidate.reject(reason, detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Circuit, Score};

    fn judged(outcome: ReadOutcome<'_>) -> Candidate {
        let mut candidate = Candidate {
            amount: Some(Amount::from_u64(50_000)),
            symbol: Some("USDC".into()),
            decimals: Some(6),
            ..Candidate::new(0)
        };
        let reading = Reading {
            outcome,
            endpoint: Some("rpc.example".into()),
            circuit: Circuit::Closed,
            health_score: Score::NEW,
            latency_us: Some(1_250),
            lag_ms: None,
            notes: vec![],
        };
        apply_facts(&mut candidate, None, &reading);
        candidate
    }

    #[test]
    fn a_balance_of_exactly_the_price_pays() {
        let judged_with = |balance: u64| {
            judged(ReadOutcome::AccountState(&AccountState { balance: balance.into(), ..AccountState::default() }))
        };
        assert!(judged_with(50_000).viable);
        let short = judged_with(49_999);
        assert!(short.is_rejected_for(RejectionReason::InsufficientBalance));
        assert_eq!(short.rejections[0].to_string(), "the balance is too low: 0.000001 USDC short");
    }

    #[test]
    fn unreadable_is_never_insufficient_and_has_no_balance() {
        let unread =
            judged(ReadOutcome::Unreadable { reason: RejectionReason::BalanceUnavailable, detail: "timeout".into() });
        assert_eq!(unread.balance, None);
        assert!(!unread.is_rejected_for(RejectionReason::InsufficientBalance));
    }

    #[test]
    fn what_holds_the_token_comes_before_what_is_short() {
        let blockers = vec![(RejectionReason::AccountFrozen, "the buyer's token account is frozen")];
        let candidate = judged(ReadOutcome::AccountState(&AccountState { blockers, ..AccountState::default() }));
        let rejections: Vec<_> =
            candidate.rejections.iter().map(|rejection| (rejection.reason, rejection.detail.as_str())).collect();
        let frozen = (RejectionReason::AccountFrozen, "the buyer's token account is frozen");
        assert_eq!(rejections, [frozen, (RejectionReason::InsufficientBalance, "0.05 USDC short")]);
    }
}
