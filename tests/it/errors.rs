//! Which error it is, and what it carries.

use payroute::{Limits, PaymentRequired};
use serde_json::json;

use crate::schemes::{chain, permit2};
use crate::support::script::healthy;
use crate::support::{Answer, BUYER_SVM, MERCHANT_SVM, Script, Svm, USDC_SOLANA, config, offers, select, selector};

#[tokio::test(start_paused = true)]
async fn the_worst_news_that_a_buyer_can_act_on_names_the_error() {
    let broken = |script: &Script| {
        script.always("base-1.test", Answer::broken()).always("base-2.test", Answer::broken()).clone()
    };
    let unknown = offers::with(offers::base("5"), "network", json!("near:mainnet"));
    let (base, sepolia) = (offers::base("5"), offers::sepolia("5"));
    let mut refusing = config();
    refusing["policy"] = json!({"allowedNetworks": ["base-sepolia"]});
    for (name, config, script, offers, code) in [
        ("short", config(), healthy(4, 4, 4), vec![base.clone(), unknown.clone()], "insufficient-liquidity"),
        ("unread", config(), broken(&healthy(4, 4, 4)), vec![base.clone(), unknown.clone()], "balances-unavailable"),
        (
            "short here, unread there",
            config(),
            broken(&healthy(4, 4, 4)),
            vec![base.clone(), sepolia.clone()],
            "insufficient-liquidity",
        ),
        ("refused", refusing.clone(), Script::default(), vec![base.clone(), unknown.clone()], "refused-by-policy"),
        (
            "refused here, short there",
            refusing.clone(),
            healthy(9, 4, 9),
            vec![base.clone(), sepolia.clone()],
            "insufficient-liquidity",
        ),
        ("unsupported", config(), Script::default(), vec![unknown], "no-supported-route"),
    ] {
        let error = select(&selector(&config, &script), &offers).await.unwrap_err();
        assert_eq!(error.code(), code, "{name}");
        assert_eq!(error.candidates().len(), offers.len(), "{name}");
        assert_eq!(error.deficits().is_empty(), code != "insufficient-liquidity", "{name}");
    }
}

/// The chain was read and says no, but not for want of money: topping up would not help.
#[tokio::test(start_paused = true)]
async fn a_frozen_account_is_no_deficit() {
    let mut cluster = Svm::usdc(9);
    cluster.add_holding(USDC_SOLANA, BUYER_SVM, false, 9, 2);
    let script = healthy(9, 9, 9);
    script.svm("solana.test", cluster);
    let error = select(&selector(&config(), &script), &[offers::solana("5")]).await.unwrap_err();
    assert_eq!((error.code(), error.deficits().len()), ("no-supported-route", 0));
    assert!(error.to_string().starts_with("no offer can be paid: offer 0 (Solana): the token account is frozen"));

    let mut cluster = Svm::usdc(9);
    cluster.add_holding(USDC_SOLANA, BUYER_SVM, false, 9, 2);
    cluster.add_holding(USDC_SOLANA, MERCHANT_SVM, false, 9, 2);
    script.svm("solana.test", cluster);
    let error = select(&selector(&config(), &script), &[offers::solana("5")]).await.unwrap_err();
    let [rejection] = &error.candidates()[0].rejections[..] else { panic!("{error}") };
    assert_eq!(rejection.detail, "the buyer's token account is frozen; the recipient's token account is frozen");
}

/// Nor where money is short besides; an approval that is missing too is no such obstacle.
#[tokio::test(start_paused = true)]
async fn a_deficit_is_what_topping_up_would_mend() {
    for (name, view, offer, code, deficits) in [
        ("blocked", ("fe575a87", "1"), offers::base("100001"), "no-supported-route", 0),
        ("nothing approved", ("dd62ed3e", "0"), permit2("100001"), "insufficient-liquidity", 1),
    ] {
        let script = Script::default();
        script.evm("base-1.test", chain(&[view])).evm("base-2.test", chain(&[view]));
        let error = select(&selector(&config(), &script), &[offer]).await.unwrap_err();
        assert_eq!((error.code(), error.deficits().len()), (code, deficits), "{name}");
        assert_eq!(error.candidates()[0].rejections.len(), 2, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn deficits_are_in_the_merchants_order_and_read_as_sentences() {
    let script = healthy(20_000, 0, 49_999);
    let mut config = config();
    config["routing"] = json!({"preferNetworks": ["solana", "base"]});
    let offers = [offers::sepolia("1"), offers::base("50000"), offers::solana("50000")];
    let error = select(&selector(&config, &script), &offers).await.unwrap_err();
    let texts: Vec<String> = error.deficits().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "0.000001 USDC short on Base Sepolia (needs 0.000001, has 0)",
            "0.03 USDC short on Base (needs 0.05, has 0.02)",
            "0.000001 USDC short on Solana (needs 0.05, has 0.049999)",
        ]
    );
    assert_eq!(
        serde_json::to_value(&error.deficits()[1]).unwrap(),
        json!({
            "requirementIndex": 1, "network": "eip155:8453", "networkName": "Base",
            "assetId": "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "symbol": "USDC", "decimals": 6,
            "required": "50000", "available": "20000", "held": "0", "shortfall": "30000",
        })
    );
    let ranked: Vec<usize> = error.candidates().iter().map(|candidate| candidate.requirement_index).collect();
    assert_eq!(ranked, [2, 1, 0], "candidates are ranked even when none can pay");
}

#[test]
fn decoding_and_configuration_have_codes_too() {
    let code = |text: &str| {
        payroute::SelectError::from(PaymentRequired::from_text(text, &Limits::default()).unwrap_err()).code()
    };
    assert_eq!(code("{}"), "invalid-payment-required");
    assert_eq!(code(r#"{"x402Version":7,"accepts":[{}]}"#), "unsupported-version");
    let error = payroute::Config::from_json("{\"x\":1}").unwrap_err();
    assert_eq!(payroute::SelectError::from(error).code(), "configuration");
}
