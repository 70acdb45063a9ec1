//! What is refused before anyone is asked, and that nobody is.

use serde_json::{Value, json};

use crate::support::script::healthy;
use crate::support::{
    BUYER, BUYER_SVM, FEE_PAYER, MERCHANT, PYUSD_SOLANA, Script, USDC_BASE, config, offers, reasons, select, selector,
};

/// The reasons for which one offer is refused, with no endpoint to ask.
async fn refused(config: &Value, offer: Value) -> (Vec<&'static str>, &'static str) {
    let error = select(&selector(config, &Script::default()), &[offer]).await.unwrap_err();
    (reasons(&error.candidates()[0]), error.code())
}

#[tokio::test]
async fn every_rule_alone() {
    let with = |path: &[&str], value: Value| {
        let mut config = config();
        path.iter().fold(&mut config, |at, key| &mut at[*key]).clone_from(&value);
        config
    };
    let plain = config;
    let method = |name: &str| offers::with_extra(offers::base("5"), "assetTransferMethod", json!(name));
    for (config, offer, reason, code) in [
        (
            plain(),
            offers::with(offers::base("5"), "network", json!("eip155:999999")),
            "network-unknown",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with(offers::base("5"), "network", json!("near:mainnet")),
            "network-unknown",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with(offers::base("5"), "network", json!("EIP155:8453")),
            "network-unknown",
            "no-supported-route",
        ),
        (
            plain(),
            offers::evm("eip155:137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin", "5"),
            "network-unknown",
            "no-supported-route",
        ),
        (
            with(&["policy"], json!({"allowedNetworks": ["solana"]})),
            offers::base("5"),
            "network-not-allowed",
            "refused-by-policy",
        ),
        (
            with(&["policy"], json!({"allowedAssets": ["PYUSD"]})),
            offers::base("5"),
            "asset-not-allowed",
            "refused-by-policy",
        ),
        (
            with(&["policy"], json!({"maxAmount": {"USDC": "1.00"}})),
            offers::base("1000001"),
            "amount-over-limit",
            "refused-by-policy",
        ),
        (
            plain(),
            offers::with(offers::base("5"), "scheme", json!("escrow")),
            "scheme-unsupported",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with(offers::base("5"), "scheme", json!("Exact")),
            "scheme-unsupported",
            "no-supported-route",
        ),
        (plain(), method("erc7710"), "transfer-method-unsupported", "no-supported-route"),
        (
            plain(),
            offers::with_extra(offers::base("5"), "assetTransferMethod", json!(1)),
            "transfer-method-unsupported",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with_extra(offers::base("5"), "name", json!("GatewayWalletBatched")),
            "transfer-method-unsupported",
            "no-supported-route",
        ),
        (plain(), offers::with(offers::base("5"), "asset", json!(BUYER)), "asset-unsupported", "no-supported-route"),
        (
            plain(),
            offers::with(offers::base("5"), "asset", json!(USDC_BASE.replace("0x", "0X"))),
            "asset-unsupported",
            "no-supported-route",
        ),
        (plain(), offers::with(offers::base("5"), "asset", json!("USD")), "asset-unsupported", "no-supported-route"),
        (with(&["owners"], json!({"solana": BUYER_SVM})), offers::base("5"), "no-owner", "no-supported-route"),
        (plain(), offers::with_extra(offers::base("5"), "name", Value::Null), "domain-missing", "no-supported-route"),
        (plain(), offers::with_extra(offers::base("5"), "version", json!("")), "domain-missing", "no-supported-route"),
        (plain(), offers::with(offers::base("5"), "extra", Value::Null), "domain-missing", "no-supported-route"),
        (
            plain(),
            offers::with_extra(offers::solana("5"), "memo", json!("m".repeat(257))),
            "malformed-requirement",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with_extra(offers::solana("5"), "memo", json!(5)),
            "malformed-requirement",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with_extra(offers::solana("5"), "feePayer", Value::Null),
            "fee-payer-missing",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with_extra(offers::solana("5"), "feePayer", json!(MERCHANT)),
            "fee-payer-missing",
            "no-supported-route",
        ),
        (
            plain(),
            offers::with_extra(offers::solana("5"), "feePayer", json!(BUYER_SVM)),
            "fee-payer-missing",
            "no-supported-route",
        ),
    ] {
        let shown = offer.to_string();
        assert_eq!(refused(&config, offer).await, (vec![reason], code), "{shown}");
    }
}

#[tokio::test]
async fn a_token_without_eip_3009_is_not_taken_for_one_with_it() {
    let mut config = config();
    config["networks"]["megaeth"] = json!({"rpc": ["https://mega.test"]});
    let offer = offers::evm("eip155:4326", "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7", "MegaUSD", "5");
    assert_eq!(refused(&config, offer).await.0, ["transfer-method-unsupported"]);
}

#[tokio::test]
async fn every_rule_that_applies_is_told() {
    let config = json!({"policy": {"allowedNetworks": ["solana"], "maxAmount": {"USDC": "0.000001"}}});
    let (reasons, code) = refused(&config, offers::with(offers::base("5"), "scheme", json!("escrow"))).await;
    assert_eq!(reasons, ["network-not-allowed", "scheme-unsupported", "amount-over-limit", "no-owner"]);
    assert_eq!(code, "no-supported-route");
}

#[tokio::test]
async fn a_limit_is_inclusive_and_a_caip_19_limit_beats_a_symbol() {
    let limited = |limits: Value| {
        let mut config = config();
        config["policy"] = json!({"maxAmount": limits});
        config
    };
    let script = healthy(9_000_000, 0, 0);
    let at_limit = select(&selector(&limited(json!({"USDC": "1"})), &script), &[offers::base("1000000")]).await;
    assert!(at_limit.is_ok());
    for network in ["eip155:8453", "base"] {
        let by_id = limited(json!({"USDC": "0.1", (format!("{network}/erc20:{USDC_BASE}")): "1"}));
        assert!(select(&selector(&by_id, &script), &[offers::base("1000000")]).await.is_ok(), "{network}");
    }
}

#[tokio::test]
async fn the_most_specific_owner_pays() {
    let mut config = config();
    config["owners"]["eip155:8453"] = json!(MERCHANT);
    let script = healthy(9, 9, 0);
    let selection = select(&selector(&config, &script), &[offers::base("5"), offers::sepolia("5")]).await.unwrap();
    let owner = |index| selection.candidates().iter().find(|c| c.requirement_index == index).unwrap().owner.clone();
    assert_eq!(owner(0).as_deref(), Some(MERCHANT));
    assert_eq!(owner(1).as_deref(), Some(crate::support::BUYER));
}

/// Whatever a merchant writes, only configured hosts are asked, and only for configured assets.
#[tokio::test]
async fn a_merchant_cannot_choose_what_is_asked() {
    let script = healthy(9_000_000, 9_000_000, 9_000_000);
    let selector = selector(&config(), &script);
    let hostile = [
        offers::base("5"),
        offers::solana("5"),
        offers::with(offers::base("5"), "asset", json!("0x000000000000000000000000000000000000dEaD")),
        offers::with(offers::base("5"), "rpc", json!("https://evil.test")),
        offers::with(offers::base("5"), "network", json!("eip155:1")),
        offers::spl(FEE_PAYER, "5"),
        offers::spl(PYUSD_SOLANA, "5"),
        json!({"accepts": [offers::base("5")], "url": "https://evil.test"}),
        json!(null),
    ];
    let selection = select(&selector, &hostile).await.unwrap();
    assert_eq!(selection.candidates().len(), hostile.len(), "n in, n out");
    let requests = script.requests();
    assert!(requests.iter().all(|(host, _)| host == "base-1.test" || host == "solana.test"), "{requests:?}");
    let sent = format!("{requests:?}");
    assert!(!sent.contains("dEaD") && !sent.contains("dead") && !sent.contains(FEE_PAYER), "{sent}");
}

/// Where the token does not tell its domain, the built-in row must.
#[tokio::test]
async fn a_domain_that_nobody_confirms_is_noted() {
    let script = healthy(9, 9, 9);
    let odd = offers::with_extra(offers::base("5"), "name", json!("USDC"));
    let selection = select(&selector(&config(), &script), &[offers::base("5"), odd]).await.unwrap();
    let notes: Vec<usize> = selection.candidates().iter().map(|candidate| candidate.notes.len()).collect();
    assert_eq!(notes, [0, 1]);
}
