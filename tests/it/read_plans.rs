//! Read plans, and what they find: the best one that an endpoint supports, and the facts of one reply. Virtual time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use payroute::{Circuit, Note, ReadPlan, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::script::healthy;
use crate::support::{
    Answer, BUYER_SVM, Evm, MERCHANT_SVM, PYUSD_SOLANA, Script, Svm, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA, config,
    offers, reasons, select, selector,
};

/// What an endpoint must be able to do for each way of asking, and how many requests the first and
/// the second selection cost.
#[tokio::test(start_paused = true)]
async fn every_endpoint_is_asked_in_the_best_way_that_it_takes() {
    let batches = |chain: Evm, yes: bool| {
        move |body: &Value| match body {
            Value::Array(_) if !yes => Answer::http(
                200,
                r#"{"id":null,"error":{"code":-32014,"message":"too many RPC calls in batch request"}}"#,
            ),
            body => Answer::json(&chain.answer(body)),
        }
    };
    let chain = |creates, overrides| Evm { creates, overrides, ..Evm::new(8453, USDC_BASE, 9) };
    for (name, chain, batch, first, second, note) in [
        ("a creation", chain(true, true), true, 1, 1, vec![]),
        ("a state override", chain(false, true), true, 2, 1, vec![]),
        ("a batch", chain(false, false), true, 3, 1, vec![]),
        ("singles", chain(false, false), false, 11, 8, vec![Note::IdentitySeparate]),
    ] {
        let script = healthy(9, 9, 9);
        script.on("base-1.test", batches(chain, batch));
        let selector = selector(&config(), &script);
        let selection = select(&selector, &[offers::base("5")]).await.unwrap();
        assert_eq!(selection.selected().notes, note, "{name}");
        assert_eq!(script.asked(), vec!["base-1.test"; first], "{name}");
        select(&selector, &[offers::base("5")]).await.unwrap();
        assert_eq!(script.asked(), vec!["base-1.test"; second], "{name}");
        // An hour later the better ways are tried again. Used meanwhile, or it would be forgotten.
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1_200)).await;
            script.asked();
            select(&selector, &[offers::base("5")]).await.unwrap();
        }
        assert_eq!(script.asked(), vec!["base-1.test"; first], "{name}");
    }
}

/// Nodes that do not run the program say so in many ways; none of them is a fault.
#[tokio::test(start_paused = true)]
async fn a_program_that_is_refused_in_any_way_is_no_fault() {
    let error = |code: i64, message: &str| format!(r#"{{"id":1,"error":{{"code":{code},"message":"{message}"}}}}"#);
    let result = |hex: &str| format!(r#"{{"id":1,"result":"{hex}"}}"#);
    for (status, refusal) in [
        (200, error(-32602, "missing field `to`")),
        (200, error(-32000, "execution reverted")),
        (200, error(-32603, "EVM error CreateContractSizeLimit")),
        (200, error(-32601, "method not found")),
        (200, error(-32003, "max initcode size exceeded")),
        (200, result("0x")),
        (200, result(&format!("0x{:064x}", 0))),
        (200, result(&format!("0x{}", "11".repeat(98)))),
        (400, error(-32602, "invalid argument")),
        (400, error(3, "execution reverted")),
        (400, error(-32000, "out of gas")),
        (500, error(3, "execution reverted")),
        (500, error(-32015, "VM execution error.")),
        (500, error(-32602, "missing field `to`")),
        (200, error(-32000, "Block gas limit exceeded")),
        (200, error(-32000, "gas limit is too high")),
        (405, String::new()),
    ] {
        let script = healthy(9, 9, 9);
        let plain = Evm::plain(8453, USDC_BASE, 9);
        let body = refusal.clone();
        script.on("base-1.test", move |request| match request["params"][0]["gas"].is_string() {
            true => Answer::http(status, &body),
            false => Answer::json(&plain.answer(request)),
        });
        let selection = select(&selector(&config(), &script), &[offers::base("5")]).await.unwrap();
        assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"), "{refusal}");
        assert_eq!(selection.selected().health_score.bps(), 8_400, "{refusal}");
    }
}

/// A way of asking that failed, which says nothing of what the endpoint offers, is tried again soon; one
/// that was refused only when an hour is over.
#[tokio::test(start_paused = true)]
async fn what_failed_once_is_not_given_up_for_an_hour() {
    let (failure, refusal) = ((-32603, "internal error"), (-32602, "missing field `to`"));
    for (create, instead, minutes) in
        [(failure, failure, 1), ((-32000, ""), refusal, 1), (refusal, failure, 1), (refusal, refusal, 60)]
    {
        let script = healthy(9, 9, 9);
        let (chain, asked) = (Evm::new(8453, USDC_BASE, 9), AtomicUsize::new(0));
        script.on("base-1.test", move |request| match [create, instead].get(asked.fetch_add(1, Ordering::SeqCst)) {
            Some((code, message)) => Answer::json(&json!({"id": 1, "error": {"code": code, "message": message}})),
            None => Answer::json(&chain.answer(request)),
        });
        let selector = selector(&config(), &script);
        let plan = || selector.health()[0].plan;
        select(&selector, &[offers::base("5")]).await.unwrap();
        for minute in 0..minutes {
            assert_eq!(plan(), Some(ReadPlan::Batch), "{create:?}, {instead:?}: after {minute} minutes");
            tokio::time::sleep(Duration::from_secs(60)).await;
            select(&selector, &[offers::base("5")]).await.unwrap();
        }
        assert_eq!(plan(), None, "{create:?}, {instead:?}");
    }
}

/// An endpoint that changed behind its address is asked in the ways that it once refused, too.
#[tokio::test(start_paused = true)]
async fn what_is_remembered_of_a_way_of_asking_may_have_ended() {
    let script = healthy(9, 9, 9);
    script.evm("base-1.test", Evm::plain(8453, USDC_BASE, 9));
    let selector = selector(&config(), &script);
    select(&selector, &[offers::base("5")]).await.unwrap();
    script.on("base-1.test", move |request| match request["params"][0]["gas"].is_string() {
        true => Answer::json(&Evm::new(8453, USDC_BASE, 9).answer(request)),
        false => Answer::http(405, ""),
    });
    let selection = select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(selection.selected().endpoint.as_deref(), Some("base-1.test"));
    script.asked();
    select(&selector, &[offers::base("5")]).await.unwrap();
    assert_eq!(script.asked(), ["base-1.test"], "it is remembered anew");
}

/// An answer of before, or for somebody else: the balance in it may be anybody's.
#[tokio::test(start_paused = true)]
async fn an_answer_to_another_question_is_a_fault() {
    let script = healthy(9, 9, 9);
    let chain = Evm::new(8453, USDC_BASE, 9);
    let canned = std::sync::OnceLock::new();
    script.on("base-1.test", move |body| Answer::json(canned.get_or_init(|| chain.answer(body))));
    let selector = selector(&config(), &script);
    let used = async || select(&selector, &[offers::base("5")]).await.unwrap().selected().endpoint.clone().unwrap();
    assert_eq!(&*used().await, "base-1.test");
    assert_eq!(&*used().await, "base-2.test");
}

#[tokio::test(start_paused = true)]
async fn solana_singles_when_its_batch_is_refused() {
    let script = healthy(9, 9, 9);
    let cluster = Svm::usdc(9);
    script.on("solana.test", move |body| match body.is_array() {
        true => Answer::http(413, "Payload too large"),
        false => Answer::json(&cluster.answer(body)),
    });
    let selection = select(&selector(&config(), &script), &[offers::solana("5")]).await.unwrap();
    assert_eq!(selection.selected().notes, [Note::IdentitySeparate]);
}

/// What the token and the buyer's address are found to be in the same call.
#[tokio::test(start_paused = true)]
async fn facts_that_decide_beside_the_balance() {
    let usd_coin = "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
    let views = |views: &[(&'static str, &str)]| {
        let views = views.iter().map(|(selector, word)| (*selector, (*word).to_owned())).collect();
        Evm { views, ..Evm::new(8453, USDC_BASE, 9) }
    };
    for (name, chain, expected, notes) in [
        ("nothing but a balance", views(&[]), vec![], vec![]),
        ("its own domain", views(&[("3644e515", usd_coin)]), vec![], vec![]),
        ("another domain", views(&[("3644e515", "07")]), vec!["domain-mismatch"], vec![]),
        ("blocked, as USDC says it", views(&[("fe575a87", "1")]), vec!["account-blocked"], vec![]),
        ("blocked, as USDT says it", views(&[("e47d6060", "1")]), vec!["account-blocked"], vec![]),
        ("blocked, as newer USDT says it", views(&[("fbac3951", "1")]), vec!["account-blocked"], vec![]),
        ("paused", views(&[("5c975abb", "1")]), vec!["token-paused"], vec![]),
        ("not blocked and not paused", views(&[("fe575a87", "0"), ("5c975abb", "0")]), vec![], vec![]),
        ("an answer that is no yes", views(&[("fe575a87", "2"), ("5c975abb", usd_coin)]), vec![], vec![]),
        ("a contract wallet", Evm { code_everywhere: true, ..views(&[]) }, vec![], vec![Note::OwnerHasCode]),
    ] {
        let script = healthy(9, 9, 9);
        script.evm("base-1.test", chain);
        let result = select(&selector(&config(), &script), &[offers::base("5")]).await;
        let candidate = match &result {
            Ok(selection) => selection.selected(),
            Err(error) => &error.candidates()[0],
        };
        assert_eq!((reasons(candidate), candidate.notes.clone()), (expected, notes), "{name}");
        assert_eq!(candidate.balance.unwrap().to_string(), "9", "{name}");
        assert_eq!(script.asked(), ["base-1.test"], "{name}");
    }
}

/// A token of which nothing is built in must know of authorizations, or it moves by none.
#[tokio::test(start_paused = true)]
async fn a_token_without_authorizations_moves_by_none() {
    let token = "0x1111111111111111111111111111111111111111";
    let mut config = config();
    config["networks"]["base"] = json!({
        "rpc": ["https://base-1.test/"], "assets": [{"address": token, "symbol": "TEST", "decimals": 6}]
    });
    let knows = Evm::new(8453, token, 9);
    let denies = Evm { views: BTreeMap::new(), ..knows.clone() };
    for (name, chain, expected) in [
        ("known", knows.clone(), vec![]),
        ("denied", denies.clone(), vec!["transfer-method-unsupported"]),
        ("denied in a batch", Evm { creates: false, overrides: false, ..denies }, vec!["transfer-method-unsupported"]),
    ] {
        let script = Script::default();
        script.evm("base-1.test", chain);
        let offer = offers::evm("eip155:8453", token, "Test", "9");
        let result = select(&selector(&config, &script), &[offer]).await;
        let candidates = result.as_ref().map_or_else(SelectError::candidates, Selection::candidates);
        assert_eq!(reasons(&candidates[0]), expected, "{name}");
        assert_eq!(candidates[0].balance.unwrap().to_string(), "9", "{name}");
        assert!(!candidates[0].notes.contains(&Note::FactsUnread), "{name}");
    }
}

/// Sixty-four offers of as many tokens take more than one call holds.
#[tokio::test(start_paused = true)]
async fn more_facts_than_a_call_holds_are_asked_in_several() {
    let token = |number: usize| format!("0x{:040x}", number + 1);
    let mut chain = Evm::new(8453, USDC_BASE, 9);
    chain.balances = (0..64).map(|number| (token(number), number as u128)).collect();
    let script = Script::default();
    script.evm("base-1.test", chain);
    let mut config = config();
    let assets: Vec<Value> =
        (0..64).map(|n| json!({"address": token(n), "symbol": format!("T{n}"), "decimals": 6})).collect();
    config["networks"]["base"] = json!({"rpc": ["https://base-1.test/"], "assets": assets});
    let accepts: Vec<Value> = (0..64).map(|n| offers::evm("eip155:8453", &token(n), "T", "1")).collect();
    let selection = select(&selector(&config, &script), &accepts).await.unwrap();
    for candidate in selection.candidates() {
        assert_eq!(candidate.balance.unwrap().to_string(), candidate.requirement_index.to_string());
    }
    assert_eq!(script.asked().len(), 8, "nine tokens a call");
}

/// A gateway that answers for the chain from its configuration while the node behind it cannot tell
/// a balance does nothing well.
#[tokio::test(start_paused = true)]
async fn a_chain_id_alone_is_no_success() {
    let items = [
        r#""error":{"code":-32000,"message":"header not found"}"#,
        r#""error":{"code":-32602,"message":"invalid params"}"#,
        r#""result":"0x""#,
    ];
    for item in items {
        let script = healthy(9, 9, 9);
        script.without_programs(
            "sepolia.test",
            Answer::http(200, &format!(r#"[{{"id":1,"result":"0x14a34"}},{{"id":2,{item}}}]"#)),
        );
        let selector = selector(&config(), &script);
        for _ in 0..30 {
            let error = select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
            assert_eq!(error.candidates()[0].health_score.bps(), 8_000, "{item}");
        }
        // Nor does it close a circuit that is half-open.
        script.evm("sepolia.test", Evm::new(1, USDC_SEPOLIA, 9));
        select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
        script.without_programs(
            "sepolia.test",
            Answer::http(200, &format!(r#"[{{"id":1,"result":"0x14a34"}},{{"id":2,{item}}}]"#)),
        );
        tokio::time::sleep(Duration::from_secs(30)).await;
        for _ in 0..2 {
            let error = select(&selector, &[offers::sepolia("5")]).await.unwrap_err();
            assert_eq!(error.candidates()[0].circuit, Circuit::HalfOpen, "{item}");
        }
    }
}

/// Base without batches, with two tokens; `second` is what a call for the second token meets.
async fn singles_with(second: Answer, chain_id: u64) -> payroute::SelectError {
    let other = "0x1111111111111111111111111111111111111111";
    let mut config = config();
    config["networks"]["base"] = json!({
        "rpc": ["https://base-1.test/"], "assets": [{"address": other, "symbol": "TEST", "decimals": 6}],
    });
    let script = Script::default();
    let chain = Evm::plain(chain_id, USDC_BASE, 4);
    script.on("base-1.test", move |body| match body {
        Value::Array(_) => Answer::http(405, ""),
        body if body.to_string().contains(other) => second.clone(),
        body => Answer::json(&chain.answer(body)),
    });
    let offers = [offers::base("5"), offers::evm("eip155:8453", other, "Test", "1")];
    select(&selector(&config, &script), &offers).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn one_bad_single_spoils_no_other() {
    let method = r#"{"id":1,"error":{"code":-32001,"message":"resource not found"}}"#;
    for second in [Answer::http(429, ""), Answer::http(500, ""), Answer::broken(), Answer::http(200, method)] {
        let error = singles_with(second.clone(), 8453).await;
        assert_eq!(error.deficits().len(), 1, "{second:?}: {error}");
        assert_eq!(reasons(&error.candidates()[1]), ["balance-unavailable"], "{second:?}");
    }
    let error = singles_with(Answer::http(500, ""), 1).await;
    assert_eq!(reasons(&error.candidates()[0]), ["chain-identity-mismatch"], "no fault hides another chain");
}

#[tokio::test(start_paused = true)]
async fn solana_balances_are_what_the_accounts_say() {
    let holding = |token_2022: bool, balance, state| {
        let mut svm = Svm::default();
        let mint = if token_2022 { PYUSD_SOLANA } else { USDC_SOLANA };
        svm.add_mint(mint, token_2022, 6);
        svm.add_holding(mint, BUYER_SVM, token_2022, balance, state);
        svm.add_holding(mint, MERCHANT_SVM, token_2022, 0, 1);
        svm
    };
    let mut no_account = Svm::default();
    no_account.add_mint(USDC_SOLANA, false, 6);
    no_account.add_holding(USDC_SOLANA, MERCHANT_SVM, false, 0, 1);
    let their_ata = crate::support::chain::associated(USDC_SOLANA, MERCHANT_SVM, false);
    let mut no_recipient = holding(false, 9, 1);
    no_recipient.accounts.remove(&their_ata);
    let mut frozen_recipient = holding(false, 9, 1);
    frozen_recipient.add_holding(USDC_SOLANA, MERCHANT_SVM, false, 0, 2);
    let mut lamports_only = no_account.clone();
    let ata = crate::support::chain::associated(USDC_SOLANA, BUYER_SVM, false);
    lamports_only.accounts.insert(ata.clone(), ("1".repeat(32), vec![]));
    let mut other_decimals = holding(false, 9, 1);
    other_decimals.add_mint(USDC_SOLANA, false, 9);
    let mut other_program = holding(false, 9, 1);
    other_program.add_mint(USDC_SOLANA, true, 6);
    let mut other_owner = holding(false, 9, 1);
    other_owner.accounts.get_mut(&ata).unwrap().1[32] ^= 1;
    let mut short = holding(false, 9, 1);
    short.accounts.get_mut(&ata).unwrap().1.truncate(164);
    let mut multisig = holding(false, 9, 1);
    multisig.accounts.get_mut(&ata).unwrap().1.resize(355, 0);

    let (usdc, pyusd) = (offers::solana("5"), offers::spl(PYUSD_SOLANA, "5"));
    for (name, cluster, offer, balance, expected) in [
        ("enough", holding(false, 9, 1), &usdc, Some("9"), vec![]),
        ("Token-2022 with extensions", holding(true, 9, 1), &pyusd, Some("9"), vec![]),
        ("too little", holding(false, 4, 1), &usdc, Some("4"), vec!["insufficient-balance"]),
        ("frozen", holding(false, 9, 2), &usdc, Some("9"), vec!["account-frozen"]),
        ("no account to receive into", no_recipient, &usdc, Some("9"), vec!["recipient-account-missing"]),
        ("a frozen recipient", frozen_recipient, &usdc, Some("9"), vec!["account-frozen"]),
        ("no account is a balance of 0", no_account, &usdc, Some("0"), vec!["insufficient-balance"]),
        ("lamports alone are no tokens", lamports_only, &usdc, Some("0"), vec!["insufficient-balance"]),
        ("no mint is not a balance of 0", Svm::default(), &usdc, None, vec!["balance-unavailable"]),
        ("another number of decimals", other_decimals, &usdc, None, vec!["balance-unavailable"]),
        ("another token program", other_program, &usdc, None, vec!["balance-unavailable"]),
        ("another owner", other_owner, &usdc, None, vec!["balance-unavailable"]),
        ("uninitialised", holding(false, 9, 0), &usdc, None, vec!["balance-unavailable"]),
        ("too short", short, &usdc, None, vec!["balance-unavailable"]),
        ("a multisig's length", multisig, &usdc, None, vec!["balance-unavailable"]),
    ] {
        let script = Script::default();
        script.svm("solana.test", cluster);
        let result = select(&selector(&config(), &script), std::slice::from_ref(offer)).await;
        let candidate = match &result {
            Ok(selection) => selection.selected(),
            Err(error) => &error.candidates()[0],
        };
        assert_eq!(candidate.balance.map(|b| b.to_string()).as_deref(), balance, "{name}");
        assert_eq!(reasons(candidate), expected, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mint_of_unknown_program_is_read_under_the_one_that_owns_it() {
    let mint = "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH";
    let unknown = "So11111111111111111111111111111111111111112";
    for token_2022 in [false, true] {
        let mut svm = Svm::default();
        svm.add_mint(unknown, token_2022, 9);
        svm.add_holding(unknown, BUYER_SVM, token_2022, 9, 1);
        svm.add_holding(unknown, BUYER_SVM, !token_2022, 1, 1);
        svm.add_holding(unknown, MERCHANT_SVM, token_2022, 0, 1);
        let script = Script::default();
        script.svm("solana.test", svm);
        let mut config = config();
        config["networks"]["solana"]["assets"] = json!([{"address": unknown, "symbol": "TEST", "decimals": 9}]);
        let selection = select(&selector(&config, &script), &[offers::spl(unknown, "9")]).await.unwrap();
        assert_eq!(selection.selected().balance.unwrap().to_string(), "9", "{mint}");
    }
}

#[tokio::test(start_paused = true)]
async fn more_than_a_hundred_accounts_are_split_within_one_request() {
    let mut svm = Svm::default();
    let mut assets = Vec::new();
    let mut accepts = Vec::new();
    for number in 0..60_u8 {
        let mint = solana_address::Address::from([number + 1; 32]).to_string();
        svm.add_mint(&mint, false, 6);
        svm.add_holding(&mint, BUYER_SVM, false, u64::from(number), 1);
        svm.add_holding(&mint, MERCHANT_SVM, false, 0, 1);
        assets.push(json!({"address": mint, "symbol": format!("T{number}"), "decimals": 6}));
        accepts.push(offers::spl(&mint, "1"));
    }
    let script = Script::default();
    script.svm("solana.test", svm);
    let mut config = config();
    config["networks"]["solana"]["assets"] = json!(assets);
    let selection = select(&selector(&config, &script), &accepts).await.unwrap();
    for candidate in selection.candidates() {
        assert_eq!(candidate.balance.unwrap().to_string(), candidate.requirement_index.to_string());
    }
    let requests = script.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].1.as_array().unwrap().len(), 5, "identity and four pages of accounts");
}
