//! The ready-made transport over real sockets: requests counted at the server, faults that only a
//! network has, and bounds on bytes and time.

use std::time::{Duration, Instant};

use payroute::{Config, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::http::{Act, Server};
use crate::support::{BUYER, BUYER_SVM, Evm, Svm, USDC_BASE, USDC_SEPOLIA, offers, payment};

fn selector(networks: Value) -> RouteSelector {
    let config = json!({"owners": {"eip155": BUYER, "solana": BUYER_SVM}, "networks": networks});
    RouteSelector::new(Config::from_json(&config.to_string()).unwrap()).unwrap()
}

async fn base(balance: u128) -> Server {
    let chain = Evm::new(8453, USDC_BASE, balance);
    Server::start(move |body| Act::json(&chain.answer(&body))).await
}

#[tokio::test]
async fn healthy_endpoints_see_one_request_each() {
    let base = base(9).await;
    let chain = Evm::new(84532, USDC_SEPOLIA, 9);
    let sepolia = Server::start(move |body| Act::json(&chain.answer(&body))).await;
    let cluster = Svm::usdc(9);
    let solana = Server::start(move |body| Act::json(&cluster.answer(&body))).await;
    let selector = selector(json!({
        "base": {"rpc": [base.url()]}, "base-sepolia": {"rpc": [sepolia.url()]}, "solana": {"rpc": [solana.url()]},
    }));
    let accepts =
        [offers::base("1"), offers::base("2"), offers::sepolia("3"), offers::solana("4"), offers::solana("5")];
    let payment = payment(&accepts);
    for selections in 1..=3 {
        selector.select(&payment).await.unwrap();
        assert_eq!([base.count(), sepolia.count(), solana.count()], [selections; 3]);
    }
}

/// Selects with a faulty endpoint in front of a good one.
async fn with_faulty(
    act: impl Fn() -> Act + Send + Sync + 'static,
) -> (Result<Selection, SelectError>, Duration, String) {
    let faulty = Server::start(move |_| act()).await;
    let good = base(9).await;
    let both = selector(json!({"base": {"rpc": [faulty.url(), good.url()]}}));
    let started = Instant::now();
    let selection = both.select(&payment(&[offers::base("5")])).await;
    let took = started.elapsed();
    let alone = selector(json!({"base": {"rpc": [faulty.url()]}}));
    let cause = alone.select(&payment(&[offers::base("5")])).await.unwrap_err().to_string();
    (selection, took, cause)
}

/// A bound against hanging, not a measurement: whether a budget was spent shows in the cause.
const NO_HANG: Duration = Duration::from_secs(10);

#[tokio::test]
async fn faults_that_only_a_network_has() {
    type Fault = fn() -> Act;
    let cut_refusal = || Act::Cut(b"HTTP/1.1 429 X\r\nretry-after: 5\r\ncontent-length: 9\r\n\r\n[".to_vec());
    let faults: [(&str, Fault, &str); 9] = [
        ("hangs up in a refusal", cut_refusal, "rate limited (HTTP 429)"),
        ("says nothing", || Act::Stall(vec![]), "no answer within 600 ms"),
        (
            "stalls after its headers",
            || Act::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n".to_vec()),
            "no answer within 600 ms",
        ),
        (
            "stalls in its body",
            || Act::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[{".to_vec()),
            "no answer within 600 ms",
        ),
        ("hangs up", || Act::Cut(vec![]), "the connection failed"),
        (
            "hangs up in its body",
            || Act::Cut(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[{".to_vec()),
            "the connection failed",
        ),
        ("speaks no HTTP", || Act::Cut(b"SSH-2.0-x\r\n".to_vec()), "the connection failed"),
        ("floods", || Act::Flood, "the answer has over 262144 bytes"),
        ("redirects", || Act::Respond(307, "location: http://127.0.0.1:1/\r\n", vec![]), "endpoint failure (HTTP 307)"),
    ];
    for (name, fault, cause) in faults {
        let (selection, took, told) = with_faulty(fault).await;
        let selection = selection.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(selection.selected().balance.unwrap().to_string(), "9", "{name}");
        assert!(took < NO_HANG, "{name} took {took:?}");
        assert!(told.contains(cause), "{name}: {told}");
    }
}

#[tokio::test]
async fn the_largest_answer_that_is_read_and_one_byte_more() {
    for (padding, readable) in [(0, true), (1, false)] {
        let chain = Evm::new(8453, USDC_BASE, 9);
        let server = Server::start(move |body| {
            let mut answer = chain.answer(&body).to_string().into_bytes();
            answer.resize(payroute::MAX_RESPONSE_BYTES + padding, b' ');
            Act::Respond(200, "", answer)
        })
        .await;
        let selection = selector(json!({"base": {"rpc": [server.url()]}})).select(&payment(&[offers::base("5")])).await;
        assert_eq!(selection.is_ok(), readable);
    }
}

#[tokio::test]
async fn a_compressed_answer_that_nobody_asked_for_is_no_answer() {
    let server = Server::start(|_| Act::Respond(200, "content-encoding: gzip\r\n", vec![0x1f, 0x8b, 8, 0])).await;
    let error =
        selector(json!({"base": {"rpc": [server.url()]}})).select(&payment(&[offers::base("5")])).await.unwrap_err();
    assert!(error.to_string().contains("the answer is not JSON"), "{error}");
}

#[tokio::test]
async fn a_closed_port_fails_over_at_once() {
    let good = base(9).await;
    let selector = selector(json!({"base": {"rpc": ["http://127.0.0.1:9/", good.url()]}}));
    let started = Instant::now();
    selector.select(&payment(&[offers::base("5")])).await.unwrap();
    assert!(started.elapsed() < NO_HANG);
}
