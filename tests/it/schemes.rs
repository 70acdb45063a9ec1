//! Schemes and transfer methods: what each demands of an offer, and what of the chain.

use payroute::{Candidate, Limits, Note, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::{Answer, BUYER, Evm, MERCHANT, Script, USDC_BASE, config, offers, payment, reasons, selector};

const PERMIT2: &str = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
/// What must be deployed for each route, in lower case.
pub const CONTRACTS: [&str; 6] = [
    "0x000000000022d473030f116ddee9f6b43ac78ba3",
    "0x402085c248eea27d92e8b30b2c58ed07f9e20001",
    "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002",
    "0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003",
    "0x4020806089470a89826cb9fb1f4059150b550004",
    "0x4020425faf3b746c082c2f942b4e5159887b0005",
];
/// A token with permits under a domain of its own, built in as none of either.
const USD_COIN: &str = "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
const DOMAIN: (&str, &str) = ("3644e515", USD_COIN);
const NONCES: (&str, &str) = ("7ecebe00", "0");
const EIP2612_TYPE: (&str, &str) = ("30adf81f", "6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9");
const DAI_TYPE: (&str, &str) = ("30adf81f", "ea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb");
const ALLOWANCE: &str = "dd62ed3e";

/// Base with 100,000 atomic units of USDC, these views, and every contract of x402.
pub fn chain(views: &[(&'static str, &str)]) -> Evm {
    let views = views.iter().map(|(selector, word)| (*selector, (*word).to_owned())).collect();
    Evm { views, contracts: CONTRACTS.map(str::to_owned).to_vec(), ..Evm::new(8453, USDC_BASE, 100_000) }
}

pub fn permit2(amount: &str) -> Value {
    offers::with_extra(offers::base(amount), "assetTransferMethod", json!("permit2"))
}

pub fn upto(amount: &str) -> Value {
    let offer = offers::with(offers::base(amount), "scheme", json!("upto"));
    offers::with_extra(offer, "facilitatorAddress", json!(MERCHANT))
}

pub fn batch(amount: &str) -> Value {
    let offer = offers::with(offers::base(amount), "scheme", json!("batch-settlement"));
    offers::with_extra(offers::with_extra(offer, "receiverAuthorizer", json!(MERCHANT)), "withdrawDelay", json!(900))
}

fn batch_by_permit2(amount: &str) -> Value {
    offers::with_extra(batch(amount), "assetTransferMethod", json!("permit2"))
}

/// One offer on one chain; how often its endpoint is asked comes along.
async fn select_on(chain: Evm, extensions: &[&str], offers: &[Value]) -> (Result<Selection, SelectError>, usize) {
    let script = Script::default();
    script.evm("base-1.test", chain);
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    let mut document = offers::v2(offers);
    for name in extensions {
        document["extensions"][name] = json!({"info": {"version": "1"}, "schema": {}});
    }
    let payment = payroute::PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
    let result = selector(&config, &script).select(&payment).await;
    (result, script.asked().len())
}

fn first(result: &Result<Selection, SelectError>) -> &Candidate {
    match result {
        Ok(selection) => selection.selected(),
        Err(error) => &error.candidates()[0],
    }
}

/// What a 402 must advertise, and what the token must be, for a too low allowance not to matter.
#[tokio::test(start_paused = true)]
async fn an_allowance_or_a_sponsor_that_the_token_lends_itself_to() {
    const PERMIT: &str = "eip2612GasSponsoring";
    const APPROVAL: &str = "erc20ApprovalGasSponsoring";
    let (needed, none, some) = ((ALLOWANCE, "c350"), (ALLOWANCE, "0"), (ALLOWANCE, "c34f"));
    let (payable, required): (Vec<&str>, _) = (vec![], vec!["allowance-required"]);
    let permits = vec![Note::Eip2612Sponsored];
    let approvals = vec![Note::Erc20ApprovalSponsored];
    for (name, views, extensions, reasons_expected, notes) in [
        ("allowance of exactly the price", vec![needed], vec![], payable.clone(), vec![]),
        ("one atom less", vec![some], vec![], required.clone(), vec![]),
        ("none", vec![none], vec![], required.clone(), vec![]),
        ("enough, and sponsors that nobody needs", vec![needed], vec![PERMIT, APPROVAL], payable.clone(), vec![]),
        ("a permit, a token with permits", vec![none, DOMAIN, NONCES], vec![PERMIT], payable.clone(), permits.clone()),
        ("one that names their type", vec![some, DOMAIN, NONCES, EIP2612_TYPE], vec![PERMIT], payable.clone(), permits),
        ("permits like DAI's", vec![none, DOMAIN, NONCES, DAI_TYPE], vec![PERMIT], required.clone(), vec![]),
        ("no nonces", vec![none, DOMAIN], vec![PERMIT], required.clone(), vec![]),
        ("no domain", vec![none, NONCES], vec![PERMIT], required.clone(), vec![]),
        ("another domain", vec![none, ("3644e515", "7"), NONCES], vec![PERMIT], required.clone(), vec![]),
        ("a permit that nobody takes", vec![none, DOMAIN, NONCES], vec![], required.clone(), vec![]),
        ("an extension of another name", vec![none, DOMAIN, NONCES], vec!["bazaar"], required.clone(), vec![]),
        ("an approval", vec![none], vec![APPROVAL], payable.clone(), approvals.clone()),
        ("an approval over another", vec![some], vec![APPROVAL], required.clone(), vec![]),
        // Official clients sign the permit that they are asked for first, whatever the token makes of it.
        (
            "a permit that nobody takes before an approval",
            vec![none, DOMAIN],
            vec![PERMIT, APPROVAL],
            required.clone(),
            vec![],
        ),
    ] {
        for (scheme, offer) in [("exact", permit2("50000")), ("upto", upto("50000"))] {
            let (result, asked) = select_on(chain(&views), &extensions, &[offer]).await;
            let candidate = first(&result);
            assert_eq!(reasons(candidate), reasons_expected, "{scheme}: {name}");
            assert_eq!(candidate.notes, notes, "{scheme}: {name}");
            assert_eq!(candidate.approval.is_some(), reasons_expected == required, "{scheme}: {name}");
            assert_eq!(asked, 1, "{scheme}: {name}");
        }
    }
    // Without a domain no permit is signed, and the approval is what both sides come to.
    let unnamed = offers::with_extra(permit2("50000"), "name", json!(""));
    let (result, _) = select_on(chain(&[none, DOMAIN]), &[PERMIT, APPROVAL], &[unnamed]).await;
    assert_eq!(first(&result).notes, approvals);
}

#[tokio::test(start_paused = true)]
async fn the_approval_that_is_missing_is_told_to_people_and_programs() {
    let (result, _) = select_on(chain(&[(ALLOWANCE, "2710")]), &[], &[permit2("50000")]).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), "no-supported-route");
    let candidate = serde_json::to_value(&error.candidates()[0]).unwrap();
    assert_eq!(candidate["allowance"], "10000");
    assert_eq!(
        candidate["approval"],
        json!({
            "token": USDC_BASE.to_lowercase(), "spender": PERMIT2, "amount": "50000",
            "calldata": format!("0x095ea7b3{:0>64}{:064x}", &PERMIT2.to_lowercase()[2..], 50_000),
        })
    );
    assert_eq!(serde_json::from_value::<Candidate>(candidate).unwrap(), error.candidates()[0]);
    assert!(
        payroute::explain(error.candidates()).contains(
            "the token allowance is too low: Permit2 may spend 0.01 USDC, the buyer must approve 0.05 USDC for \
             0x000000000022D473030F116dDEE9F6B43aC78BA3, for some tokens after a reset to 0"
        ),
        "{}",
        payroute::explain(error.candidates())
    );
}

/// Unknown is not zero: a token that does not tell its allowance has none to judge.
#[tokio::test(start_paused = true)]
async fn an_allowance_that_cannot_be_read_is_unknown() {
    for plan in [chain(&[]), Evm { creates: false, ..chain(&[]) }, plain(chain(&[]))] {
        let (result, _) = select_on(plan, &["erc20ApprovalGasSponsoring"], &[permit2("5")]).await;
        let error = result.unwrap_err();
        assert_eq!(
            (error.code(), reasons(&error.candidates()[0])),
            ("balances-unavailable", vec!["balance-unavailable"])
        );
        assert_eq!((error.candidates()[0].allowance, error.candidates()[0].balance), (None, None));
    }
}

/// Base's one endpoint, with a chain that knows plain calls only and answers some of a batch by this error.
fn refusing(chain: Evm, error: Value, refuses: fn(&Value) -> bool) -> (Script, RouteSelector) {
    let (script, chain) = (Script::default(), plain(chain));
    script.on("base-1.test", move |body| {
        let answer = |call: &Value| match refuses(call) {
            true => json!({"id": call["id"], "error": error}),
            false => chain.answer(call),
        };
        Answer::json(&body.as_array().map_or_else(|| chain.answer(body), |calls| calls.iter().map(answer).collect()))
    });
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    let selector = selector(&config, &script);
    (script, selector)
}

/// A fact that an endpoint refuses to tell is no good news: the balance stands, and what is unknown is noted.
#[tokio::test(start_paused = true)]
async fn what_is_refused_beside_a_balance_is_noted() {
    let is_paused =
        |call: &Value| call["params"][0]["data"].as_str().is_some_and(|data| data.starts_with("0x5c975abb"));
    for (code, message, throttled) in [(-32603, "internal error", false), (-32005, "limit exceeded", true)] {
        for offer in [offers::base("5"), permit2("5")] {
            let chain = chain(&[(ALLOWANCE, "c350"), ("5c975abb", "1")]);
            let (_, selector) = refusing(chain, json!({"code": code, "message": message}), is_paused);
            let selection = selector.select(&payment(&[offer])).await.unwrap();
            assert_eq!(selection.selected().notes, [Note::FactsUnread], "{message}");
            assert_eq!(selector.health()[0].throttled_for_ms.is_some(), throttled, "{message}");
        }
    }
}

/// Whether a key can sign decides whether anything stands in for an allowance.
#[tokio::test(start_paused = true)]
async fn without_word_of_the_owners_code_nothing_stands_in() {
    let is_owners_code = |call: &Value| call["params"][0].as_str().is_some_and(|at| at.eq_ignore_ascii_case(BUYER));
    let error = json!({"code": -32603, "message": "internal error"});
    let (_, selector) = refusing(chain(&[(ALLOWANCE, "0")]), error, is_owners_code);
    let mut document = offers::v2(&[permit2("5")]);
    document["extensions"]["erc20ApprovalGasSponsoring"] = json!({"info": {"version": "1"}, "schema": {}});
    let payment = payroute::PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
    let error = selector.select(&payment).await.unwrap_err();
    assert_eq!(reasons(&error.candidates()[0]), ["allowance-required"]);
    assert_eq!(error.candidates()[0].notes, [Note::FactsUnread]);
}

fn plain(chain: Evm) -> Evm {
    Evm { creates: false, overrides: false, ..chain }
}

/// A wallet that is a contract signs neither permits nor transactions.
#[tokio::test(start_paused = true)]
async fn no_key_no_sponsor() {
    let extensions = ["eip2612GasSponsoring", "erc20ApprovalGasSponsoring"];
    let views = [(ALLOWANCE, "0"), DOMAIN, NONCES];
    let contract = Evm { code_everywhere: true, ..chain(&views) };
    let (result, _) = select_on(contract, &extensions, &[permit2("5")]).await;
    assert_eq!(reasons(first(&result)), ["allowance-required"]);
    assert_eq!(first(&result).notes, [Note::OwnerHasCode]);
}

/// Every way of asking tells the same facts.
#[tokio::test(start_paused = true)]
async fn all_plans_come_to_the_same_verdict() {
    let extensions = ["eip2612GasSponsoring"];
    let singles = |chain: Evm| {
        let script = Script::default();
        script.on("base-1.test", move |body| match body.is_array() {
            true => crate::support::Answer::http(405, ""),
            false => crate::support::Answer::json(&chain.answer(body)),
        });
        script
    };
    for views in [
        vec![(ALLOWANCE, "ffff")],
        vec![(ALLOWANCE, "1")],
        vec![(ALLOWANCE, "1"), DOMAIN, NONCES],
        vec![(ALLOWANCE, "ffff"), ("fe575a87", "1")],
        vec![(ALLOWANCE, "ffff"), ("5c975abb", "1")],
        vec![(ALLOWANCE, "ffff"), ("3644e515", "7")],
    ] {
        let offers = [permit2("50000"), offers::base("50000"), batch("20000")];
        let (expected, _) = select_on(chain(&views), &extensions, &offers).await;
        let expected = verdicts(&expected);
        for other in [Evm { creates: false, ..chain(&views) }, plain(chain(&views))] {
            let (result, _) = select_on(other, &extensions, &offers).await;
            assert_eq!(verdicts(&result), expected, "{views:?}");
        }
        let mut config = config();
        config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
        let mut document = offers::v2(&offers);
        document["extensions"] = json!({"eip2612GasSponsoring": {}});
        let payment = payroute::PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
        let result = selector(&config, &singles(plain(chain(&views)))).select(&payment).await;
        assert_eq!(verdicts(&result), expected, "singles: {views:?}");
    }
}

/// Reasons and notes by offer, without the note that identity came beside.
fn verdicts(result: &Result<Selection, SelectError>) -> Vec<(usize, Vec<&'static str>, Vec<Note>)> {
    let candidates = match result {
        Ok(selection) => selection.candidates(),
        Err(error) => error.candidates(),
    };
    let notes = |candidate: &Candidate| {
        candidate.notes.iter().copied().filter(|note| *note != Note::IdentitySeparate).collect::<Vec<_>>()
    };
    let mut verdicts: Vec<_> = candidates.iter().map(|c| (c.requirement_index, reasons(c), notes(c))).collect();
    verdicts.sort_by_key(|(index, ..)| *index);
    verdicts
}

#[tokio::test(start_paused = true)]
async fn what_is_not_deployed_settles_nothing() {
    for (offer, needs) in [
        (permit2("5"), [0, 1].as_slice()),
        (upto("5"), &[0, 2]),
        (batch("5"), &[3, 4]),
        (batch_by_permit2("5"), &[0, 3, 5]),
    ] {
        let all = chain(&[(ALLOWANCE, "ffff")]);
        let only =
            |contracts: Vec<&str>| Evm { contracts: contracts.into_iter().map(str::to_owned).collect(), ..all.clone() };
        let needed = needs.iter().map(|position| CONTRACTS[*position]).collect();
        assert!(select_on(only(needed), &[], std::slice::from_ref(&offer)).await.0.is_ok(), "{offer}");
        for missing in needs {
            let rest = CONTRACTS.into_iter().filter(|address| *address != CONTRACTS[*missing]).collect();
            let (result, _) = select_on(only(rest), &[], std::slice::from_ref(&offer)).await;
            assert_eq!(reasons(first(&result)), ["transfer-method-unsupported"], "{offer}");
            assert!(first(&result).rejections[0].detail.ends_with("is not deployed on the network"), "{offer}");
        }
    }
    // A payment by EIP-3009 needs nothing but the token.
    let bare = Evm { contracts: vec![], ..chain(&[]) };
    assert!(select_on(bare, &[], &[offers::base("5")]).await.0.is_ok());
}

/// Five prices, or what the merchant names; never more than five times the buyer's own limit.
#[tokio::test(start_paused = true)]
async fn a_deposit_must_be_there_not_a_price() {
    let named = |sum: Value| offers::with_extra(batch("20000"), "minDeposit", sum);
    for (offer, deposit) in [
        (batch("20000"), "100000"),
        (batch("20001"), "100005"),
        (named(json!("100000")), "100000"),
        (named(json!("000100000")), "100000"),
        (named(json!("100001")), "100001"),
        (named(json!("20000")), "20000"),
        // Not a sum of at least the price: as if it were not there.
        (named(json!("19999")), "100000"),
        (named(json!("1.5")), "100000"),
        (named(json!(100_001)), "100000"),
    ] {
        let (result, asked) = select_on(chain(&[]), &[], std::slice::from_ref(&offer)).await;
        let candidate = first(&result);
        assert_eq!(candidate.deposit.unwrap().to_string(), deposit, "{offer}");
        assert_eq!(asked, 1);
        let expected: Vec<&str> =
            if deposit.parse::<u64>().unwrap() > 100_000 { vec!["deposit-required"] } else { vec![] };
        assert_eq!(reasons(candidate), expected, "{offer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deposit_that_cannot_be_made_is_a_deficit() {
    let (result, _) = select_on(chain(&[]), &[], &[batch("25000")]).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), "insufficient-liquidity");
    assert_eq!(error.deficits()[0].to_string(), "0.025 USDC short on Base (needs 0.125, has 0.1)");
    let text = payroute::explain(error.candidates());
    assert!(
        text.contains(
            "holds 0.1 USDC, deposits 0.125 USDC, read at base-1.test (score 0.8400, 0.0 ms), \
             the balance is too low for the deposit: 0.025 USDC short of 0.125 USDC to deposit"
        ),
        "{text}"
    );
}

/// A false "too little" changes the route, be it for a price or for a deposit.
#[tokio::test(start_paused = true)]
async fn a_deposit_that_cannot_be_made_is_read_once_more() {
    let script = Script::default();
    let poor = Evm { balances: [(USDC_BASE.to_ascii_lowercase(), 99_999)].into(), ..chain(&[]) };
    script.evm("base-1.test", poor).evm("base-2.test", chain(&[]));
    let selection = selector(&config(), &script).select(&payment(&[batch("20000")])).await.unwrap();
    assert_eq!(selection.selected().notes, [Note::BalancesDisagree]);
    assert_eq!(script.asked(), ["base-1.test", "base-2.test"]);
}

/// A merchant cannot have more locked up than the buyer's limit allows for.
#[tokio::test(start_paused = true)]
async fn a_deposit_has_the_buyers_limit() {
    let script = Script::default();
    script.evm("base-1.test", chain(&[]));
    let mut config = config();
    config["networks"]["base"]["rpc"] = json!(["https://base-1.test/"]);
    config["policy"] = json!({"maxAmount": {"USDC": "0.015"}});
    let greedy = offers::with_extra(batch("10000"), "minDeposit", json!("99000000"));
    let selection = selector(&config, &script).select(&payment(&[greedy])).await.unwrap();
    assert_eq!(selection.selected().deposit.unwrap().to_string(), "75000");
}

/// A deposit by Permit2 takes an allowance of the deposit.
#[tokio::test(start_paused = true)]
async fn a_deposit_by_permit2_needs_the_allowance_for_it() {
    let (result, _) = select_on(chain(&[(ALLOWANCE, "1869f")]), &[], &[batch_by_permit2("20000")]).await;
    let candidate = first(&result);
    assert_eq!(reasons(candidate), ["allowance-required"]);
    assert_eq!(candidate.approval.as_ref().unwrap().amount.to_string(), "100000");
    assert!(select_on(chain(&[(ALLOWANCE, "186a0")]), &[], &[batch_by_permit2("20000")]).await.0.is_ok());
}

/// Whatever is asked of one network, it is one request.
#[tokio::test(start_paused = true)]
async fn all_routes_of_a_network_share_one_request() {
    let everything = chain(&[(ALLOWANCE, "ffff"), DOMAIN, NONCES]);
    let offers: Vec<Value> = (1..=10)
        .flat_map(|price| {
            let price = (price * 1_000).to_string();
            [offers::base(&price), permit2(&price), upto(&price), batch(&price), batch_by_permit2(&price)]
        })
        .collect();
    let (result, asked) = select_on(everything, &["eip2612GasSponsoring"], &offers).await;
    assert_eq!(asked, 1);
    assert!(result.unwrap().candidates().iter().all(|candidate| candidate.viable));
}

/// What an offer of each scheme must state, and what it must not.
#[tokio::test]
async fn terms_of_each_scheme() {
    let solana = |scheme: &str| offers::with(offers::solana("5"), "scheme", json!(scheme));
    let extra = offers::with_extra;
    for (offer, expected) in [
        (extra(upto("5"), "facilitatorAddress", Value::Null), "malformed-requirement"),
        (extra(upto("5"), "facilitatorAddress", json!("merchant")), "malformed-requirement"),
        (extra(upto("5"), "facilitatorAddress", json!(format!("0x{:040}", 0))), "malformed-requirement"),
        (extra(upto("5"), "facilitatorAddress", json!(7)), "malformed-requirement"),
        (extra(upto("5"), "assetTransferMethod", json!("eip3009")), "transfer-method-unsupported"),
        (extra(upto("5"), "assetTransferMethod", json!("erc7710")), "transfer-method-unsupported"),
        (extra(upto("5"), "name", json!("GatewayWalletBatched")), "transfer-method-unsupported"),
        (extra(permit2("5"), "name", json!("GatewayWalletBatched")), "transfer-method-unsupported"),
        (extra(permit2("5"), "assetTransferMethod", json!("Permit2")), "transfer-method-unsupported"),
        (extra(offers::base("5"), "verifyingContract", json!(MERCHANT)), "transfer-method-unsupported"),
        (extra(offers::base("5"), "verifyingContract", json!(1)), "transfer-method-unsupported"),
        (extra(offers::base("5"), "paymentFlow", json!("streaming")), "transfer-method-unsupported"),
        (extra(offers::solana("5"), "paymentFlow", json!("Upfront")), "transfer-method-unsupported"),
        (extra(upto("5"), "paymentFlow", json!(1)), "transfer-method-unsupported"),
        (extra(batch("5"), "receiverAuthorizer", Value::Null), "malformed-requirement"),
        (extra(batch("5"), "receiverAuthorizer", json!(format!("0x{:040}", 0))), "malformed-requirement"),
        (extra(batch("5"), "withdrawDelay", Value::Null), "malformed-requirement"),
        (extra(batch("5"), "withdrawDelay", json!("900")), "malformed-requirement"),
        (extra(batch("5"), "withdrawDelay", json!(899)), "malformed-requirement"),
        (extra(batch("5"), "withdrawDelay", json!(2_592_001)), "malformed-requirement"),
        (extra(batch("5"), "version", Value::Null), "domain-missing"),
        (extra(batch("5"), "assetTransferMethod", json!("erc7710")), "transfer-method-unsupported"),
        (offers::with(offers::base("5"), "scheme", json!("auth-capture")), "scheme-unsupported"),
        (solana("upto"), "scheme-unsupported"),
        (solana("batch-settlement"), "scheme-unsupported"),
    ] {
        let error =
            selector(&config(), &Script::default()).select(&payment(std::slice::from_ref(&offer))).await.unwrap_err();
        assert_eq!(reasons(&error.candidates()[0]), [expected], "{offer}");
    }
    for flow in [json!("authorization"), json!("upfront"), json!("escrow"), Value::Null] {
        let offer = extra(offers::base("5"), "paymentFlow", flow);
        assert!(select_on(chain(&[]), &[], &[offer]).await.0.is_ok());
    }
    // The token itself, in whatever case.
    let itself = extra(offers::base("5"), "verifyingContract", json!(USDC_BASE.to_lowercase()));
    assert!(select_on(chain(&[]), &[], &[itself]).await.0.is_ok());
}

/// Clients of version 1 sign EIP-3009 whatever an entry says.
#[tokio::test]
async fn version_1_has_one_scheme_and_one_method() {
    let methods = [
        (permit2("5"), vec!["transfer-method-unsupported"]),
        (upto("5"), vec!["scheme-unsupported"]),
        (batch("5"), vec!["scheme-unsupported"]),
    ];
    for (offer, expected) in methods {
        let document = json!({"x402Version": 1, "accepts": [offers::with(offer.clone(), "network", json!("base"))]});
        let payment = payroute::PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
        let error = selector(&config(), &Script::default()).select(&payment).await.unwrap_err();
        assert_eq!(reasons(&error.candidates()[0]), expected, "{offer}");
    }
}

/// What the registry knows of a token is not asked; what it denies is not believed.
#[tokio::test(start_paused = true)]
async fn what_is_known_of_a_token_is_not_asked() {
    // MegaETH's row says that permits stand in, Igra's that the token has none.
    let mega = ("eip155:4326", 4326, "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7", "MegaUSD", "1");
    let igra = ("eip155:38833", 38_833, "0xA5b8BF902b2844dA17d4506cc827F7F1681735E7", "USDC", "1");
    for ((network, id, token, name, version), version_stated, payable) in
        [(mega, "1", true), (mega, "2", false), (igra, "1", false)]
    {
        let views = [(ALLOWANCE, "0".to_owned()), (NONCES.0, "0".to_owned())].into_iter().collect();
        let chain = Evm { views, contracts: CONTRACTS.map(str::to_owned).to_vec(), ..Evm::new(id, token, 9) };
        let script = Script::default();
        script.evm("rpc.test", chain);
        let mut config = config();
        config["networks"][network] = json!({"rpc": ["https://rpc.test/"]});
        let offer = offers::with_extra(offers::evm(network, token, name, "5"), "version", json!(version_stated));
        let offer = offers::with_extra(offer, "assetTransferMethod", json!("permit2"));
        let mut document = offers::v2(&[offer]);
        document["extensions"] = json!({"eip2612GasSponsoring": {"info": {}}});
        let payment = payroute::PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
        let result = selector(&config, &script).select(&payment).await;
        assert_eq!(first(&result).viable, payable, "{network}, version {version_stated} of {version}");
        let (_, body) = &script.requests()[0];
        assert!(!body.to_string().contains("30adf81f"), "its kind of permit is known");
    }
}
