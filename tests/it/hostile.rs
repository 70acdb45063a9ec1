//! Documents of a merchant who means harm: whatever they say, nothing goes to a place or about an asset
//! that is not configured, and nothing of them rewrites a sentence that a person reads.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Mutex;

use payroute::{ChainId, Limits, PaymentRequired, RouteSelector, SelectError, Selection, registry};
use proptest::prelude::*;
use serde_json::{Value, json};
use solana_address::Address;

use crate::schemes::{CONTRACTS, batch, permit2, upto};
use crate::support::script::healthy;
use crate::support::{
    BUYER, BUYER_SVM, MERCHANT_SVM, SOLANA, Script, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, chain, config, offers,
    payment, selector,
};

/// Places that a merchant would like to be asked.
const TARGETS: [&str; 12] = [
    "https://evil.test/rpc",
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:8545",
    "//evil.test",
    "file:///etc/passwd",
    "eip155:8453@evil.test",
    "eip155:8453#https://evil.test",
    "base\r\nhost: evil.test",
    "0xEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEe",
    "EviLToken1111111111111111111111111111111111",
    "__proto__",
    "\u{202e}tset.live//:sptth\0",
];

const NETWORKS: [&str; 9] =
    ["eip155:8453", "base", "eip155:84532", SOLANA, "solana:mainnet", "eip155:1", "eip155:137", "polygon", "eip155:0"];

/// What `config()` has endpoints for.
const HOSTS: [&str; 4] = ["base-1.test", "base-2.test", "sepolia.test", "solana.test"];

fn text() -> impl Strategy<Value = String> {
    let known = [USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, MERCHANT_SVM, BUYER, BUYER_SVM, "exact", "1", "eip3009"];
    prop_oneof![
        prop::sample::select(TARGETS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(NETWORKS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(known.to_vec()).prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A good offer with some of its fields, known and unknown, replaced.
fn offer() -> impl Strategy<Value = Value> {
    const FIELDS: [&str; 11] = [
        "scheme",
        "network",
        "amount",
        "asset",
        "payTo",
        "maxTimeoutSeconds",
        "extra",
        "resource",
        "rpc",
        "url",
        "rpcUrl",
    ];
    const EXTRAS: [&str; 11] = [
        "name",
        "version",
        "feePayer",
        "assetTransferMethod",
        "facilitatorAddress",
        "receiverAuthorizer",
        "withdrawDelay",
        "verifyingContract",
        "owner",
        "spender",
        "rpc",
    ];
    let change = |fields: &'static [&'static str]| {
        prop::collection::vec((prop::sample::select(fields), prop_oneof![text().prop_map(Value::from), value()]), 0..3)
    };
    (
        prop::sample::select(vec![
            offers::base("5"),
            offers::sepolia("5"),
            offers::solana("5"),
            permit2("5"),
            upto("5"),
            batch("5"),
        ]),
        change(&FIELDS),
        change(&EXTRAS),
    )
        .prop_map(|(mut offer, fields, extras)| {
            fields.into_iter().for_each(|(field, value)| offer[field] = value);
            if let Some(extra) = offer["extra"].as_object_mut() {
                extra.extend(extras.into_iter().map(|(field, value)| (field.to_owned(), value)));
            }
            offer
        })
}

fn document() -> impl Strategy<Value = Value> {
    (prop::collection::vec(offer(), 1..6), value(), value()).prop_map(|(accepts, resource, extensions)| {
        json!({"x402Version": 2, "accepts": accepts, "resource": resource, "extensions": extensions, "rpc": TARGETS[0]})
    })
}

/// Selects on a runtime of its own, with all endpoints of [`config`] in order and nobody else.
fn run(document: &Value) -> (Script, Option<Result<Selection, SelectError>>) {
    let script = healthy(9, 9, 9);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let selection = runtime.block_on(async {
        let payment = PaymentRequired::from_text(document.to_string(), &Limits::default()).ok()?;
        let selector: RouteSelector = selector(&only_these_endpoints(), &script);
        Some(selector.select(&payment).await)
    });
    (script, selection)
}

/// The configuration without the built-in endpoints of other networks: a policy names these three.
fn only_these_endpoints() -> Value {
    let mut config = config();
    config["policy"] = json!({"allowedNetworks": ["base", "base-sepolia", "solana"]});
    config
}

/// Every address that a request names.
fn addresses(body: &Value) -> BTreeSet<String> {
    let calls = body.as_array().cloned().unwrap_or_else(|| vec![body.clone()]);
    let mut found = BTreeSet::new();
    for call in &calls {
        match call["method"].as_str().unwrap() {
            "getMultipleAccounts" => {
                found.extend(call["params"][0].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned()));
            }
            "eth_call" => {
                let (_, facts) = chain::question(call["params"][0]["data"].as_str().unwrap());
                for (address, calldata) in facts {
                    found.insert(format!("0x{address}"));
                    let arguments = calldata.as_bytes().get(8..).unwrap_or_default().chunks(64);
                    found.extend(arguments.map(|word| format!("0x{}", str::from_utf8(&word[24..]).unwrap())));
                }
            }
            "getGenesisHash" => assert_eq!(call["params"], json!([])),
            other => panic!("{other} was called"),
        }
    }
    found
}

fn assets(network: &str) -> Vec<&'static str> {
    registry::assets(&ChainId::resolve(network).unwrap()).map(|asset| asset.address).collect()
}

/// What may be asked about: the buyer, the assets of the three networks, the contracts of x402, the
/// cluster's clock, and the accounts for those assets of the buyer and of `recipients`.
fn known<'a>(recipients: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let clock = "SysvarC1ock11111111111111111111111111111111";
    let mut known: BTreeSet<String> = [BUYER.to_ascii_lowercase(), clock.to_owned()].into();
    known.extend(["base", "base-sepolia"].into_iter().flat_map(assets).map(str::to_ascii_lowercase));
    known.extend(CONTRACTS.map(str::to_owned));
    known.extend(assets("solana").into_iter().map(str::to_owned));
    recipients.chain([BUYER_SVM]).for_each(|owner| known.extend(accounts_of(owner)));
    known
}

/// The token accounts of an owner; none of one that is no address. Deriving them takes long.
fn accounts_of(owner: &str) -> Vec<String> {
    static DERIVED: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
    if Address::from_str(owner).is_err() {
        return Vec::new();
    }
    let derive = || {
        let accounts = |mint| [false, true].map(|token_2022| chain::associated(mint, owner, token_2022));
        assets("solana").into_iter().flat_map(accounts).collect()
    };
    DERIVED.lock().unwrap().entry(owner.to_owned()).or_insert_with(derive).clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_hostile_document_reaches_nobody_and_rewrites_nothing(document in document()) {
        let (script, selection) = run(&document);
        assert_nothing_unasked(&document, &script);
        match selection {
            Some(selection) => assert_readable(&selection),
            None => assert_printable(&PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap_err().to_string()),
        }
    }
}

/// Only configured hosts are asked, and of configured assets and owners alone; on Solana of the
/// recipient's account for a configured asset too, which is derived and never the merchant's word.
fn assert_nothing_unasked(document: &Value, script: &Script) {
    let recipients = document["accepts"].as_array().unwrap().iter().filter_map(|offer| offer["payTo"].as_str());
    let known = known(recipients);
    for (host, body) in script.requests() {
        assert!(HOSTS.contains(&host.as_str()), "{host}");
        let asked = addresses(&body);
        let unknown: Vec<&String> = asked.difference(&known).collect();
        assert!(unknown.is_empty(), "{unknown:?} in {body}");
    }
}

/// Errors and explanations are lines of printable text, whatever the document says.
fn assert_readable(selection: &Result<Selection, SelectError>) {
    let candidates = selection.as_ref().map_or_else(SelectError::candidates, Selection::candidates);
    assert_printable(&payroute::explain(candidates).replace('\n', " "));
    for rejection in candidates.iter().flat_map(|candidate| candidate.rejections.iter()) {
        assert_printable(&rejection.to_string());
    }
    if let Err(error) = selection {
        assert_printable(&error.to_string());
    }
}

fn assert_printable(text: &str) {
    let bidi = ['\u{061C}', '\u{200E}', '\u{200F}', '\u{2028}', '\u{2029}'];
    let hidden = |c: char| {
        c.is_control()
            || bidi.contains(&c)
            || ('\u{202A}'..='\u{202E}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    assert!(!text.contains(hidden), "{text:?}");
}

/// Every place of a document whose words can reach a person, each with the same bad word.
#[test]
fn nul_and_bidi_are_written_out_wherever_they_stand() {
    const BAD: &str = "a\0\u{202E}b\u{2066}\n";
    let offer = offers::base("5");
    for (bad, shown) in [
        (offers::with(offer.clone(), "scheme", json!(BAD)), true),
        (offers::with(offer.clone(), "network", json!(BAD)), true),
        (offers::with(offer.clone(), "asset", json!(BAD)), true),
        (offers::with(offer.clone(), "payTo", json!(BAD)), true),
        (offers::with(offer.clone(), "amount", json!(BAD)), false),
        (offers::with(offer.clone(), "maxTimeoutSeconds", json!(BAD)), false),
        (offers::with(offer.clone(), "extra", json!(BAD)), false),
        (offers::with_extra(offer.clone(), "assetTransferMethod", json!(BAD)), true),
        (offers::with_extra(offers::solana("5"), "feePayer", json!(BAD)), false),
    ] {
        let document = offers::v2(&[bad.clone(), offers::with(offer.clone(), "scheme", json!("other"))]);
        let (_, selection) = run(&document);
        let error = selection.unwrap().unwrap_err();
        let text = format!("{error} {}", payroute::explain(error.candidates()).replace('\n', " "));
        assert_printable(&text);
        assert_eq!(text.contains(r"a\u{0}\u{202e}b\u{2066}\u{a}"), shown, "{bad}: {text}");
    }
    for text in [
        format!(r#"{{"x402Version":"{}","accepts":[]}}"#, r"\u0000\u202e"),
        format!(r#"{{"x402Version":2,"{0}":1,"{0}":2}}"#, r"\u0000\u202e"),
        format!(r#"{{"x402Version":2,"accepts":[{{"{0}":1,"{0}":2}}]}}"#, r"\u0000\u202e"),
        "\0\u{202E}".to_owned(),
    ] {
        assert_printable(&PaymentRequired::from_text(text, &Limits::default()).unwrap_err().to_string());
    }
    assert!(payment(&[offer]).requirements()[0].terms().is_ok());
}
