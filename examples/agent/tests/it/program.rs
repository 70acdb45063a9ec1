//! The program: what it prints where, and how it ends.

use std::process::{Command, Output};

use payroute::Config;

use crate::support::buyer::config;
use crate::support::merchant::offer;
use crate::support::{BASE, Buyer, Merchant, SOLANA};

const PRICE: u64 = 50_000;

/// What of the environment it reads.
type Keys = Vec<(&'static str, String)>;

/// A configuration in a file of its own, gone with this value.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("payroute-agent-{}-{name}.json", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs it beside the test's own tasks, which serve it.
async fn run(arguments: &[&str], keys: &[(&'static str, String)]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_payroute-agent"));
    command.args(arguments).env_remove("EVM_PRIVATE_KEY").env_remove("SVM_PRIVATE_KEY").envs(keys.iter().cloned());
    let Output { status, stdout, stderr } =
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[tokio::test]
async fn it_prints_the_answer_and_beside_it_the_ranking() {
    let merchant = Merchant::selling(&[offer(SOLANA, PRICE).await, offer(BASE, PRICE).await]).await;
    let buyer = Buyer::with(&[(BASE, PRICE)]).await;
    let file = File::new("funded", &config().to_string());
    let arguments = ["--config", file.path(), "--data", "an order", &merchant.url];

    let (code, stdout, stderr) = run(&arguments, &buyer.keys()).await;
    assert_eq!((code, &*stdout), (0, "the item"), "{stderr}");
    assert!(stderr.contains("1. 0.05 USDC on Base: can pay"), "{stderr}");
    assert!(stderr.contains("0.05 USDC short"), "{stderr}");
    assert!(stderr.ends_with("a payment for offer 1 was sent; the answer is 200 OK\n"), "{stderr}");
    assert_eq!(merchant.bodies(), ["an order", "an order"]);

    let (code, stdout, stderr) = run(&arguments, &buyer.keys()).await;
    assert_eq!((code, &*stdout), (1, ""), "{stderr}");
    assert!(stderr.contains("payroute-agent: insufficient-liquidity: no balance is high enough"), "{stderr}");
    assert_eq!(merchant.settled().len(), 1);
}

#[tokio::test]
async fn bad_usage_is_told_by_name_and_shows_no_key() {
    let good = File::new("good", &config().to_string());
    let bad = File::new("bad", r#"{"owners": {"eip155": 5}}"#);
    let keys = Buyer::new().keys();
    let spoilt = |name: &'static str| vec![(name, format!("{}z", keys.iter().find(|(n, _)| *n == name).unwrap().1))];
    let url = "http://127.0.0.1:9/";
    let cases: [(&[&str], Keys, &str); 9] = [
        (&[url], keys.to_vec(), "--config FILE is missing"),
        (&["--config", good.path()], keys.to_vec(), "a URL is missing"),
        (&["--config"], keys.to_vec(), "--config: needs a value"),
        (&["--fast", url], keys.to_vec(), "--fast: unknown; accepted are --config FILE"),
        (&["--config", good.path(), url, url], keys.to_vec(), "more than one URL"),
        (&["--config", good.path(), url], vec![], "no key; set EVM_PRIVATE_KEY, SVM_PRIVATE_KEY or both"),
        (&["--config", bad.path(), url], keys.to_vec(), "owners.eip155"),
        (&["--config", good.path(), url], spoilt("EVM_PRIVATE_KEY"), "the EVM key is not accepted"),
        (&["--config", good.path(), url], spoilt("SVM_PRIVATE_KEY"), "the Solana key is not accepted"),
    ];
    for (arguments, given, complaint) in cases {
        let (code, stdout, stderr) = run(arguments, &given).await;
        assert_eq!((code, &*stdout), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(complaint), "{arguments:?}: {stderr}");
        assert!(keys.iter().all(|(_, key)| !stderr.contains(key)), "{stderr}");
    }
    let (code, stdout, _) = run(&["--help"], &[]).await;
    assert!(code == 0 && stdout.starts_with("Asks for a URL"));
}

/// Everything that a debugger's eye could fall on.
#[test]
fn a_wallet_shows_addresses_alone() {
    let buyer = Buyer::new();
    let shown = format!("{:?}", buyer.wallet());
    assert!(shown.contains(&buyer.address(SOLANA)), "{shown}");
    assert!(buyer.keys().iter().all(|(_, key)| !shown.contains(key)), "{shown}");
}

/// Owners are filled in only once the text as it was written is accepted.
#[test]
fn a_configuration_is_refused_as_it_would_be_without_a_wallet() {
    let wallet = Buyer::new().wallet();
    for text in ["[]", r#"{"owners": []}"#, r#"{"owners": {}, "owners": {}}"#, r#"{"fast": true}"#] {
        let (ours, own) = (wallet.config(text).unwrap_err(), Config::from_json(text).unwrap_err());
        assert_eq!(ours.to_string(), own.to_string());
    }
}
