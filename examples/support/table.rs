//! Candidates as a table for people.

use std::iter::zip;

use payroute::{Amount, Candidate};

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
}

use Align::{Left, Right};

const COLUMNS: [(&str, Align); 12] = [
    ("#", Right),
    ("offer", Right),
    ("network", Left),
    ("price", Right),
    ("balance", Right),
    ("fee", Right),
    ("health", Right),
    ("latency", Right),
    ("circuit", Left),
    ("endpoint", Left),
    ("decided by", Left),
    ("verdict", Left),
];

/// One line a candidate, in the order given. `name` makes a name of an endpoint's host and port.
pub(crate) fn ranking(candidates: &[Candidate], name: impl Fn(&str) -> String) -> String {
    let mut rows = vec![COLUMNS.map(|(heading, _)| heading.to_owned())];
    rows.extend(candidates.iter().map(|candidate| row(candidate, &name)));
    let mut widths = [0; COLUMNS.len()];
    for row in &rows {
        zip(&mut widths, row).for_each(|(width, cell)| *width = cell.chars().count().max(*width));
    }
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// The price with its symbol: `0.05 USDC`.
pub(crate) fn price(candidate: &Candidate) -> String {
    let symbol = candidate.symbol.as_deref().unwrap_or("?");
    candidate.amount.map_or_else(unknown, |amount| format!("{} {symbol}", units(candidate, amount)))
}

fn row(candidate: &Candidate, name: &impl Fn(&str) -> String) -> [String; COLUMNS.len()] {
    let asked = candidate.endpoint.as_deref();
    let latency = |us: u64| format!("{}.{} ms", us / 1_000, us % 1_000 / 100);
    [
        candidate.rank.to_string(),
        candidate.requirement_index.to_string(),
        candidate.network_name.as_deref().map_or_else(unknown, str::to_owned),
        price(candidate),
        candidate.balance.map_or_else(unknown, |balance| units(candidate, balance)),
        if candidate.fee.is_zero() { unknown() } else { units(candidate, candidate.fee) },
        asked.map_or_else(unknown, |_| candidate.health_score.to_string()),
        candidate.latency_us.map_or_else(unknown, latency),
        asked.map_or_else(unknown, |_| candidate.circuit.to_string()),
        asked.map_or_else(unknown, name),
        candidate.decided_by.map_or_else(unknown, |key| key.to_string()),
        verdict(candidate),
    ]
}

fn verdict(candidate: &Candidate) -> String {
    let reasons: Vec<&str> = candidate.rejections.iter().map(|rejection| rejection.reason.name()).collect();
    match (candidate.viable, candidate.rank) {
        (true, 1) => "pay this".to_owned(),
        (true, _) => "can pay".to_owned(),
        (false, _) => reasons.join(", "),
    }
}

fn units(candidate: &Candidate, amount: Amount) -> String {
    amount.to_units(candidate.decimals.unwrap_or(0))
}

fn unknown() -> String {
    "-".to_owned()
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, width), (_, align)) in zip(zip(cells, widths), COLUMNS) {
        line += &match align {
            Left => format!("{cell:<width$}  "),
            Right => format!("{cell:>width$}  "),
        };
    }
    format!("{}\n", line.trim_end())
}
