//! What the facts make of a candidate: the reading, then the way its token would move, then what is short.
//!
//! Refuses to know how facts were read and what each way of moving tokens makes of them; that is the
//! schemes' own.

use crate::chain::Amount;
use crate::ranking::{Candidate, RejectionReason};
use crate::scheme::Route;
use crate::scheme::facts::{AccountState, ReadOutcome, Reading};

/// Turns the facts about a candidate into its verdict.
pub(crate) fn judge(candidate: &mut Candidate, route: Option<&Route>, evidence: &Reading<'_>) {
    candidate.endpoint = evidence.endpoint.clone();
    candidate.circuit = evidence.circuit;
    candidate.health_score = evidence.health_score;
    candidate.latency_us = evidence.latency_us;
    candidate.lag_ms = evidence.lag_ms;
    evidence.notes.iter().for_each(|note| candidate.note(*note));
    match &evidence.reading {
        ReadOutcome::Unreadable { reason, detail } => candidate.reject(*reason, detail.as_str()),
        ReadOutcome::AccountState(holding) => apply_state(candidate, route, holding),
    }
}

fn apply_state(candidate: &mut Candidate, route: Option<&Route>, holding: &AccountState) {
    let (due, balance) = (candidate.due(), holding.balance);
    candidate.balance = Some(balance);
    holding.notes.iter().for_each(|note| candidate.note(*note));
    holding.blockers.iter().for_each(|(reason, detail)| candidate.reject(*reason, *detail));
    if let Some(route) = route {
        route.transfer.judge(candidate, due, holding);
    }
    let available = balance.saturating_sub(candidate.held);
    if available < due {
        check_balance(candidate, due, due.saturating_sub(available));
    }
}

fn check_balance(candidate: &mut Candidate, due: Amount, shortage: Amount) {
    let mut detail = format!("{} short", candidate.in_units(shortage));
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

    fn verdict(reading: ReadOutcome<'_>) -> Candidate {
        let mut candidate = Candidate {
            amount: Some(Amount::from_u64(50_000)),
            symbol: Some("USDC".into()),
            decimals: Some(6),
            ..Candidate::new(0)
        };
        let evidence = Reading {
            reading,
            endpoint: Some("rpc.example".into()),
            circuit: Circuit::Closed,
            health_score: Score::NEW,
            latency_us: Some(1_250),
            lag_ms: None,
            notes: vec![],
        };
        judge(&mut candidate, None, &evidence);
        candidate
    }

    #[test]
    fn a_balance_of_exactly_the_price_pays() {
        let verdict_on = |balance: u64| {
            verdict(ReadOutcome::AccountState(&AccountState { balance: balance.into(), ..AccountState::default() }))
        };
        assert!(verdict_on(50_000).viable);
        let short = verdict_on(49_999);
        assert!(short.is_rejected_for(RejectionReason::InsufficientBalance));
        assert_eq!(short.rejections[0].to_string(), "the balance is too low: 0.000001 USDC short");
    }

    #[test]
    fn unreadable_is_never_insufficient_and_has_no_balance() {
        let unread =
            verdict(ReadOutcome::Unreadable { reason: RejectionReason::BalanceUnavailable, detail: "timeout".into() });
        assert_eq!(unread.balance, None);
        assert!(!unread.is_rejected_for(RejectionReason::InsufficientBalance));
    }

    #[test]
    fn what_holds_the_token_comes_before_what_is_short() {
        let blockers = vec![(RejectionReason::AccountFrozen, "the buyer's token account is frozen")];
        let candidate = verdict(ReadOutcome::AccountState(&AccountState { blockers, ..AccountState::default() }));
        let told: Vec<_> = candidate.rejections.iter().map(|known| (known.reason, known.detail.as_str())).collect();
        let frozen = (RejectionReason::AccountFrozen, "the buyer's token account is frozen");
        assert_eq!(told, [frozen, (RejectionReason::InsufficientBalance, "0.05 USDC short")]);
    }
}
