//! Everything has a bound: each at the bound and one past it. Bytes of an answer, compressed or not, and
//! answers that never end are in the fault matrix.

use std::time::Duration;

use payroute::{Amount, Config, DecodeError, Limits, PaymentRequired};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::script::healthy;
use crate::support::{Answer, Evm, Script, USDC_BASE, config, offers, payment, select, selector};

/// A document of exactly `length` bytes, padded with white space.
fn padded(length: usize) -> String {
    let document = offers::v2(&[offers::base("1")]).to_string();
    format!("{document}{}", " ".repeat(length - document.len()))
}

fn many(count: usize) -> String {
    offers::v2(&vec![offers::base("1"); count]).to_string()
}

/// A document that nests `levels` deep: the outermost object is the first.
fn deep(levels: usize) -> String {
    let nested = format!("{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    format!(r#"{{"x402Version":2,"accepts":[{}],"x":{nested}}}"#, offers::base("1"))
}

fn problem(text: impl AsRef<[u8]>) -> Option<String> {
    PaymentRequired::from_text(text, &Limits::default()).err().map(|error| error.to_string())
}

fn header(value: &[u8]) -> Result<PaymentRequired, DecodeError> {
    PaymentRequired::from_response([("payment-required", value)], b"", &Limits::default())
}

#[test]
fn what_is_read_of_a_merchants_answer() {
    let at = [padded(1_048_576), many(64), deep(32)];
    assert_eq!(at.map(problem), [None, None, None]);
    for (text, expected) in [
        (padded(1_048_577), "has 1048577 bytes; at most 1048576 are read"),
        (many(65), "has 65 entries in accepts; at most 64 are read"),
        (many(10_000), "are read"),
        (deep(33), "nests deeper than 32 levels"),
        (deep(10_000), "nests deeper than 32 levels"),
        (deep(500_000), "nests deeper than 32 levels"),
    ] {
        let problem = problem(&text).unwrap();
        assert!(problem.contains(expected) && problem.len() < 200, "{problem}");
    }
    assert!(header(padded(65_536).as_bytes()).is_ok());
    assert!(header(padded(65_537).as_bytes()).unwrap_err().to_string().contains("has 65537 bytes; at most 65536"));
}

#[test]
fn the_same_within_limits_of_ones_own() {
    fn limits(change: impl Fn(&mut Limits)) -> Limits {
        let mut limits = Limits::default();
        change(&mut limits);
        limits
    }
    let size = many(1).len();
    for (text, at, below) in [
        (many(1), limits(|limits| limits.body_bytes = size), limits(|limits| limits.body_bytes = size - 1)),
        (many(3), limits(|limits| limits.requirements = 3), limits(|limits| limits.requirements = 2)),
        (deep(5), limits(|limits| limits.json_depth = 5), limits(|limits| limits.json_depth = 4)),
    ] {
        assert!(PaymentRequired::from_text(&text, &at).is_ok());
        assert!(PaymentRequired::from_text(&text, &below).is_err());
    }
    let read = |limits: &Limits| {
        let value = many(1);
        PaymentRequired::from_response([("payment-required", value.as_bytes())], b"", limits).is_ok()
    };
    assert!(read(&limits(|limits| limits.header_bytes = size)));
    assert!(!read(&limits(|limits| limits.header_bytes = size - 1)));
}

/// Ten thousand offers are read where the configuration allows as many as can be allowed, and no more.
#[tokio::test(start_paused = true)]
async fn as_many_offers_as_can_be_allowed_are_one_read() {
    let mut config = config();
    config["limits"] = json!({"requirements": 1_024, "bodyBytes": 1 << 24});
    let script = healthy(9, 9, 9);
    let selector = selector(&config, &script);
    assert!(selector.decode(many(10_000)).unwrap_err().to_string().contains("at most 1024"));
    let selection = selector.select(&selector.decode(many(1_024)).unwrap()).await.unwrap();
    assert_eq!(selection.candidates().len(), 1_024);
    assert_eq!(script.asked(), ["base-1.test"]);
}

#[test]
fn amounts_have_256_bits_however_long_they_are_written() {
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert_eq!(most.parse::<Amount>().unwrap().to_string(), most);
    let one_more = most.replace("9935", "9936");
    let mut limits = Limits::default();
    limits.body_bytes = 1 << 24;
    for digits in [one_more, "9".repeat(79), "9".repeat(1_000_000), "9".repeat(16_000_000)] {
        let read = PaymentRequired::from_text(many(2).replacen("\"1\"", &format!("\"{digits}\""), 1), &limits);
        let problem = read.unwrap().requirements()[0].terms().unwrap_err().to_string();
        assert!(problem.starts_with("amount ") && problem.len() < 100, "{problem}");
    }
    // A gigabyte is refused by its length: its pages are never looked at.
    let mut gigabyte = vec![0; 1 << 30];
    let start = br#"{"x402Version":2,"accepts":[{"amount":"999"#;
    gigabyte[..start.len()].copy_from_slice(start);
    assert!(problem(&gigabyte).unwrap().contains("has 1073741824 bytes; at most 1048576 are read"));
    assert!(header(&gigabyte).unwrap_err().to_string().contains("has 1073741824 bytes; at most 65536 are read"));
}

/// A number past 2^53 is another number to half of its readers.
#[test]
fn numbers_that_readers_round_are_refused() {
    for (written, readable) in [("9007199254740991", true), ("9007199254740992", false), ("1e3", false)] {
        let offer = |field: &str, value: &str| {
            let text = many(2).replacen(&format!(r#""{field}":{value}"#), &format!(r#""{field}":{written}"#), 1);
            assert!(text.contains(written));
            PaymentRequired::from_text(text, &Limits::default()).unwrap().requirements()[0].terms().is_ok()
        };
        assert_eq!(offer("amount", "\"1\""), readable, "{written}");
        assert_eq!(offer("maxTimeoutSeconds", "60"), readable, "{written}");
    }
}

#[test]
fn what_a_configuration_may_ask_for() {
    let urls = |count: usize| (0..count).map(|n| json!(format!("https://rpc-{n}.test/"))).collect::<Vec<Value>>();
    let endpoint = |options: Value| json!({"networks": {"base": {"rpc": [options]}}});
    let with = |field: &str, value: u64| {
        let (section, name) = field.split_once('.').unwrap();
        json!({ section: { name: value } })
    };
    for (field, at, past) in [
        ("limits.headerBytes", [1, 1 << 20], [0, (1 << 20) + 1]),
        ("limits.bodyBytes", [1, 1 << 24], [0, (1 << 24) + 1]),
        ("limits.jsonDepth", [1, 120], [0, 121]),
        ("limits.requirements", [1, 1_024], [0, 1_025]),
        ("routing.probeTimeoutMs", [1, 30_000], [0, 30_001]),
        ("routing.maxEndpointsPerNetwork", [1, 2], [0, 3]),
        ("health.capacity", [1, 65_536], [0, 65_537]),
    ] {
        for value in at {
            assert!(Config::from_json(&with(field, value).to_string()).is_ok(), "{field} {value}");
        }
        for value in past {
            assert_eq!(Config::from_json(&with(field, value).to_string()).unwrap_err().path(), field, "{value}");
        }
    }
    for (config, problem) in [
        (json!({"networks": {"base": {"rpc": urls(64)}}}), None),
        (json!({"networks": {"base": {"rpc": urls(65)}}}), Some("networks.base.rpc: has 65 endpoints")),
        (json!({"networks": {"base": {"rpc": []}}}), Some("networks.base.rpc: has 0 endpoints")),
        (endpoint(json!({"url": "https://x.test/", "weight": 1_000})), None),
        (endpoint(json!({"url": "https://x.test/", "weight": 1_001})), Some("rpc[0].weight: is out of range")),
        (endpoint(json!({"url": "https://x.test/", "priority": 255})), None),
        (endpoint(json!({"url": "https://x.test/", "priority": 256})), Some("rpc[0].priority: is")),
        (endpoint(json!({"url": "https://x.test/", "label": "x".repeat(32)})), None),
        (endpoint(json!({"url": "https://x.test/", "label": "x".repeat(33)})), Some("rpc[0].label: is not a name")),
    ] {
        let told = Config::from_json(&config.to_string()).err().map(|error| error.to_string());
        assert_eq!(told.is_some(), problem.is_some(), "{told:?}");
        assert!(told.unwrap_or_default().contains(problem.unwrap_or_default()), "{config}");
    }
}

/// The budget is for a whole answer: one that takes a millisecond more is none.
#[tokio::test(start_paused = true)]
async fn an_answer_counts_up_to_its_deadline() {
    for (ms, in_time) in [(599, true), (601, false)] {
        let script = Script::default();
        let chain = Evm::new(8453, USDC_BASE, 9);
        script
            .on("base-1.test", move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(ms)))
            .always("base-2.test", Answer::http(500, ""));
        let selection = select(&selector(&config(), &script), &[offers::base("5")]).await;
        assert_eq!(selection.is_ok(), in_time, "{ms} ms");
    }
}

/// A thread that is busy with something else looks at nothing: that time is not the endpoint's. What comes in it
/// says nothing of its latency, and an endpoint that says nothing all the while is waited for as long again at most.
#[tokio::test(start_paused = true)]
async fn a_busy_thread_gives_its_time_back() {
    for (busy_ms, answer_ms, in_time, ended_ms, is_blamed) in [
        (649, 700, false, 649, true),
        (700, 799, true, 799, false),
        (700, 801, false, 800, true),
        (2_000, 2_601, false, 2_600, true),
        (2_001, 2_602, false, 2_601, false),
        (9_000, 9_599, true, 9_599, false),
        (9_000, 9_601, false, 9_600, false),
    ] {
        let script = Script::default();
        let chain = Evm::new(8453, USDC_BASE, 9);
        script.on("base-1.test", move |body| Answer::json(&chain.answer(body)).after(Duration::from_millis(answer_ms)));
        let mut config = config();
        config["networks"]["base"]["rpc"] = json!(["https://base-1.test"]);
        let (selector, started) = (selector(&config, &script), Instant::now());
        let busy = async {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(busy_ms)).await;
        };
        let offers = [offers::base("5")];
        let (selection, ()) = futures::join!(select(&selector, &offers), busy);
        assert_eq!(selection.is_ok(), in_time, "{busy_ms} ms, {answer_ms} ms");
        assert_eq!(started.elapsed().as_millis(), ended_ms, "{busy_ms} ms, {answer_ms} ms");
        let health = &selector.health()[0];
        assert_eq!((health.latency_us, health.score.bps() < 8_000), (None, is_blamed), "{busy_ms} ms");
    }
}

/// Timers of a tab in the background run once a second: the deadline's is late, and so is the one that gives time
/// back. What says nothing all the while is passed over the next time.
#[tokio::test(start_paused = true)]
async fn silence_in_a_background_tab_is_the_endpoints() {
    for first_ms in [700, 1_000, 1_300, 1_599] {
        let script = Script::default();
        script.on("base-1.test", |_| Answer::hang());
        let mut config = config();
        config["networks"]["base"]["rpc"] = json!(["https://base-1.test"]);
        let (selector, started) = (selector(&config, &script), Instant::now());
        let ticks = async {
            for span_ms in [first_ms, 1_000] {
                tokio::task::yield_now().await;
                tokio::time::advance(Duration::from_millis(span_ms)).await;
            }
        };
        let offers = [offers::base("5")];
        let (selection, ()) = futures::join!(select(&selector, &offers), ticks);
        let ended_ms = started.elapsed().as_millis();
        let is_blamed = selector.health()[0].score.bps() < 8_000;
        assert_eq!((selection.is_err(), ended_ms, is_blamed), (true, u128::from(first_ms) + 1_000, true));
    }
}

/// However many offers there are, a selection asks a network of at most two providers, and as many
/// selections at once as an endpoint may have requests.
#[tokio::test(start_paused = true)]
async fn requests_at_once_are_what_the_configuration_says() {
    let mut config = config();
    for most in [1, 2, 5] {
        config["networks"]["base"]["rpc"] = json!([{"url": "https://base-1.test/", "maxInFlight": most}]);
        let script = healthy(9, 9, 9);
        script.on("base-1.test", |body| {
            Answer::json(&Evm::new(8453, USDC_BASE, 9).answer(body)).after(Duration::from_millis(50))
        });
        let (selector, offers) = (selector(&config, &script), payment(&[offers::base("1")]));
        let all = futures::future::join_all((0..most + 1).map(|_| selector.select(&offers))).await;
        let refused: Vec<_> = all.iter().filter_map(|answer| answer.as_ref().err()).collect();
        assert_eq!((refused.len(), script.asked().len()), (1, most));
        assert!(refused[0].to_string().contains("all are cordoned or busy"));
    }
}
