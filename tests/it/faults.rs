//! The fault matrix over the ready-made transport: every row of `tests/faults/table.json`, at real
//! sockets. The npm package runs the same table in Node and in browsers (`tests/faults/run.mjs`).

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use payroute::{Candidate, Config, PaymentRequired, RouteSelector, SelectError, Selection, SelectorEvent};
use serde_json::{Value, json};

use crate::support::{NodeProgram, payment};

/// What one endpoint may take: enough for a good answer on a machine that is busy with all the other
/// cases.
const BUDGET: Duration = Duration::from_secs(3);
/// What a selection may take beyond its budgets before it counts as hung.
const MARGIN: Duration = Duration::from_secs(15);
/// How many cases run at once.
const AT_ONCE: usize = 16;

/// What comes out wrong is tried once more, alone: a machine that stalls makes good answers late, and
/// payroute takes no deadline for evidence then.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn every_fault_does_what_the_table_says() {
    let table: Value = serde_json::from_str(include_str!("../faults/table.json")).unwrap();
    let (_program, ready) = NodeProgram::start("faults/start.mjs", &[]);
    let cases = ready["cases"].as_array().unwrap();
    // One for all: making a client takes longer than most cases.
    let http = reqwest::Client::new();
    let runs = cases.iter().map(|case| {
        let run = Case::new(&table, &ready, case, &http).run();
        async { (tokio::spawn(run).await.unwrap().is_err()).then(|| case.clone()) }
    });
    let suspects: Vec<Option<Value>> = futures::stream::iter(runs).buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(suspects.len(), cases.len());
    let mut problems = Vec::new();
    for mut case in suspects.into_iter().flatten() {
        let id = case["id"].as_str().unwrap().to_owned();
        let reopened = http.put(ready["control"].as_str().unwrap()).body(id.clone());
        case["rpc"] = reopened.send().await.unwrap().json().await.unwrap();
        let verdict = Case::new(&table, &ready, &case, &http).run().await;
        problems.extend(verdict.err().map(|problem| format!("{id}: {problem}")));
    }
    assert!(problems.is_empty(), "{} of {} cases:\n{}", problems.len(), cases.len(), problems.join("\n"));
}

#[test]
fn the_table_in_the_readme_is_this_table() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/readme.mjs");
    let output = Command::new("node").args([script, "--check"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// One row in one family with one or two providers.
struct Case {
    id: Value,
    http: reqwest::Client,
    control: String,
    family: Value,
    /// The faulty endpoint, and maybe a good one behind it.
    rpc: Value,
    hosts: Vec<String>,
    expected: Value,
    waits: Option<(u64, u64)>,
}

type Verdict = Result<(), String>;

impl Case {
    fn new(table: &Value, ready: &Value, case: &Value, http: &reqwest::Client) -> Self {
        let family = case["family"].as_str().unwrap();
        let row = table["rows"].as_array().unwrap().iter().find(|row| row["id"] == case["row"]).unwrap();
        let host = |url: &Value| url.as_str().unwrap().split('/').nth(2).unwrap().to_owned();
        let wait = |position: usize| row["waits"][position].as_u64();
        Self {
            id: case["id"].clone(),
            http: http.clone(),
            control: ready["control"].as_str().unwrap().to_owned(),
            family: ready["families"][family].clone(),
            rpc: case["rpc"].clone(),
            hosts: case["rpc"].as_array().unwrap().iter().map(host).collect(),
            expected: table["outcomes"][outcome_of(&row["is"], family)].clone(),
            waits: wait(0).zip(wait(1)),
        }
    }

    async fn run(self) -> Verdict {
        let events = Arc::new(Mutex::new(Vec::new()));
        let (selector, offers) = (self.selector(events.clone()), [self.family["offer"].clone()]);
        let offered = payment(&offers);
        let began = Instant::now();
        let answer = selector.select(&offered).await;
        let in_time = began.elapsed() < BUDGET * u32::try_from(self.hosts.len()).unwrap() + MARGIN;
        expect("an end in time", &in_time, &true)?;
        self.expect_answer(&answer)?;
        self.expect_traffic(&selector, &events.lock().unwrap())?;
        self.expect_health(&selector)?;
        let mended = self.http.post(&self.control).body(self.id.as_str().unwrap().to_owned());
        expect("the endpoint mended", &mended.send().await.unwrap().status().is_success(), &true)?;
        self.expect_return(&selector, &offered).await
    }

    fn selector(&self, events: Arc<Mutex<Vec<Value>>>) -> RouteSelector {
        let config = json!({
            "owners": self.family["owners"],
            "networks": {(self.family["network"].as_str().unwrap()): {"rpc": self.rpc}},
            "routing": {"probeTimeoutMs": BUDGET.as_millis()},
            // Back at once, so that coming back can be seen.
            "health": {"backoffMs": 1, "openForMs": 1},
        });
        RouteSelector::builder(Config::from_json(&config.to_string()).unwrap())
            .on_event(move |event: &SelectorEvent| events.lock().unwrap().push(serde_json::to_value(event).unwrap()))
            .build()
            .unwrap()
    }

    fn says(&self, key: &str) -> Option<&str> {
        self.expected[key].as_str()
    }

    fn answers(&self) -> bool {
        self.says("says") == Some("answers")
    }

    /// Whether the good endpoint is asked after the faulty one.
    fn fails_over(&self) -> bool {
        self.hosts.len() > 1 && !self.answers() && self.expected["final"] != true
    }

    /// Who told the balance, or which error it came to.
    fn expect_answer(&self, answer: &Result<Selection, SelectError>) -> Verdict {
        let teller =
            if self.answers() { Some(&self.hosts[0]) } else { self.hosts.get(1).filter(|_| self.fails_over()) };
        let code = answer.as_ref().err().map(SelectError::code);
        expect("the code", &code, &teller.is_none().then_some("balances-unavailable"))?;
        let candidate = &candidates(answer)[0];
        expect("the endpoint", &candidate.endpoint.as_deref(), &Some(teller.unwrap_or(&self.hosts[0]).as_str()))?;
        let balance = candidate.balance.map(|balance| balance.to_string());
        expect("the balance", &balance, &teller.map(|_| "60000".to_owned()))?;
        if teller.is_none() {
            let reason = self.says("reason").unwrap_or("balance-unavailable");
            expect("the reasons", &crate::support::reasons(candidate), &vec![reason])?;
            let (detail, cause) = (&candidate.rejections[0].detail, self.says("cause").unwrap_or_default());
            expect(&format!("the cause in \"{detail}\""), &detail.contains(cause), &true)?;
        }
        Ok(())
    }

    /// What was counted and what was told, failover included.
    fn expect_traffic(&self, selector: &RouteSelector, events: &[Value]) -> Verdict {
        let metrics = serde_json::to_value(selector.metrics()).unwrap();
        let row = |host: &String| metrics.as_array().unwrap().iter().find(|row| row["endpoint"] == **host);
        let class = self.says("class");
        let failures = class.map_or(json!({}), |class| json!({ class: 1 }));
        expect("the failures", &row(&self.hosts[0]).map(|row| &row["failures"]), &Some(&failures))?;
        let asked = self.hosts.get(1).and_then(row).is_some_and(|row| row["successes"] == 1);
        expect("a second request", &asked, &self.fails_over())?;
        let mut expected = match (self.says("health"), class) {
            (Some("opened"), _) => vec!["identity-mismatch", "circuit-opened"],
            (Some("throttled"), _) => vec!["throttled"],
            (_, Some(_)) if self.expected["final"] != true => vec!["failed"],
            _ => vec![],
        };
        if self.says("alone") == Some("offline") && !self.fails_over() {
            expected.push("offline");
        }
        if self.fails_over() {
            expected.push("failover");
        }
        let types = events.iter().map(|event| event["type"].as_str().unwrap());
        expect("the events", &types.filter(|kind| *kind != "circuit-half-open").collect::<Vec<_>>(), &expected)
    }

    fn expect_health(&self, selector: &RouteSelector) -> Verdict {
        let rows = serde_json::to_value(selector.health()).unwrap();
        let row = rows.as_array().unwrap().iter().find(|row| row["endpoint"] == self.hosts[0]);
        let alone = self.says("alone").filter(|_| self.hosts.len() == 1);
        let effect = alone.or(self.says("health")).unwrap();
        expect("the success rate", &row.map_or(&json!(0.8), |row| &row["successRate"]), &&json!(rate_after(effect)))?;
        let opened_for = row.and_then(|row| row["openedFor"].as_str());
        expect("what opened it", &opened_for, &(effect == "opened").then_some("wrong-chain"))?;
        let wait = row.and_then(|row| row["throttledForMs"].as_u64()).unwrap_or_default();
        if let Some((more_than, at_most)) = self.waits {
            expect(&format!("a wait of {wait} ms"), &(more_than < wait && wait <= at_most), &true)?;
        }
        if effect != "throttled" {
            expect("the wait", &wait, &0)?;
        }
        Ok(())
    }

    /// Once it is well it is asked again, if it did not ask for patience; alone it is asked anyway.
    async fn expect_return(&self, selector: &RouteSelector, offered: &PaymentRequired) -> Verdict {
        let teller = |answer: &Result<Selection, SelectError>| {
            candidates(answer)[0].endpoint.as_deref().filter(|_| answer.is_ok()).map(str::to_owned)
        };
        let waits = self.waits.is_some_and(|(more_than, _)| more_than > 0);
        if self.hosts.len() > 1 && self.says("health") == Some("throttled") && waits {
            return expect(
                "who answers meanwhile",
                &teller(&selector.select(offered).await).as_ref(),
                &self.hosts.get(1),
            );
        }
        let began = Instant::now();
        loop {
            let answer = selector.select(offered).await;
            if teller(&answer).as_ref() == self.hosts.first() {
                return Ok(());
            }
            if began.elapsed() > BUDGET + MARGIN {
                return Err(format!("does not come back: {answer:?}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn outcome_of<'a>(is: &'a Value, family: &str) -> &'a str {
    is.as_str().or(is["native"].as_str()).or(is[family].as_str()).or(is["else"].as_str()).unwrap()
}

fn candidates(answer: &Result<Selection, SelectError>) -> &[Candidate] {
    answer.as_ref().map_or_else(SelectError::candidates, Selection::candidates)
}

/// The share of successes after one attempt: a new endpoint has 0.8.
fn rate_after(effect: &str) -> f64 {
    match effect {
        "success" => 0.84,
        "soft-fault" => 0.72,
        "fault" | "opened" => 0.64,
        _ => 0.8,
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, wanted: &T) -> Verdict {
    if got == wanted { Ok(()) } else { Err(format!("{what}: {got:?} instead of {wanted:?}")) }
}
