//! Every reason for which a real chain says no, and what people are told of it. One request a network,
//! whatever is asked.

use payroute::{Candidate, Limits, Note, PaymentRequired, RouteSelector, SelectError, Selection};
use serde_json::{Value, json};

use crate::support::localnet::{BASE, Counted, Localnet};
use crate::support::{MERCHANT_SVM, PYUSD_SOLANA, SOLANA, USDC_BASE, USDC_SOLANA, offers, reasons};

/// An address where nobody deploys anything.
const GHOST: &str = "0x2222222222222222222222222222222222222222";

/// A token from before EIP-3009: `balanceOf` is 65,535 for everyone, and every other call reverts.
const OLD: &str = "0x3333333333333333333333333333333333333333";
const NOTHING_BUT_BALANCES: &str = "0x60003560e01c6370a082311460145760006000fd5b61ffff60005260206000f3";

/// A selector over the chains, and what is offered to it.
struct Shop {
    net: Localnet,
    counted: Counted,
    selector: RouteSelector,
    extensions: Value,
}

impl Shop {
    /// With `assets` of `network` besides the built-in ones.
    fn open(net: Localnet, network: &str, assets: Value) -> Self {
        let mut config = net.config(json!({"probeTimeoutMs": 5_000}));
        config["networks"][network]["assets"] = assets;
        let counted = Counted::default();
        let selector = counted.selector(&config);
        Self { net, counted, selector, extensions: json!({}) }
    }

    /// Selects among offers of one network: one request, and whatever is told to people.
    async fn select(&self, offers: &[Value]) -> (Result<Selection, SelectError>, String) {
        let mut document = offers::v2(offers);
        document["extensions"] = self.extensions.clone();
        let payment = PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap();
        let result = self.selector.select(&payment).await;
        assert_eq!(self.counted.take(), 1, "one request for {} offers", offers.len());
        let text = match &result {
            Ok(selection) => selection.explain(),
            Err(error) => payroute::explain(error.candidates()),
        };
        (result, text)
    }

    /// The verdicts by offer.
    async fn verdicts(&self, offers: &[Value]) -> (Vec<Vec<&'static str>>, String) {
        let (result, text) = self.select(offers).await;
        let mut all = candidates(&result).to_vec();
        all.sort_by_key(|candidate| candidate.requirement_index);
        (all.iter().map(reasons).collect(), text)
    }

    /// One offer is refused for `expected`, in these words.
    async fn refuses(&self, offer: &Value, expected: &[&str], words: &[&str]) {
        let (verdicts, text) = self.verdicts(std::slice::from_ref(offer)).await;
        assert_eq!(verdicts, [expected], "{text}");
        words.iter().for_each(|words| assert!(text.contains(words), "{words}: {text}"));
    }

    async fn takes(&self, offer: &Value) -> Candidate {
        let (result, text) = self.select(std::slice::from_ref(offer)).await;
        assert!(text.contains("can pay"), "{text}");
        result.unwrap().selected().clone()
    }

    async fn token(&self, op: &str, network: &str, asset: &str) {
        let owner = self.net.party("buyer", network);
        self.net.control(json!({"op": op, "network": network, "asset": asset, "owner": owner})).await;
    }
}

fn candidates(result: &Result<Selection, SelectError>) -> &[Candidate] {
    match result {
        Ok(selection) => selection.candidates(),
        Err(error) => error.candidates(),
    }
}

fn permit2(amount: &str) -> Value {
    offers::with_extra(offers::base(amount), "assetTransferMethod", json!("permit2"))
}

#[tokio::test]
async fn what_an_evm_chain_says_no_to() {
    let tokens = json!([
        {"address": GHOST, "symbol": "GHOST", "decimals": 6}, {"address": OLD, "symbol": "OLD", "decimals": 6},
    ]);
    let shop = Shop::open(Localnet::start(), BASE, tokens);
    shop.net.ask(BASE, "anvil_setCode", json!([OLD, NOTHING_BUT_BALANCES])).await;
    let offer = offers::base("50000");
    shop.refuses(&offer, &["insufficient-balance"], &["holds 0 USDC", "the balance is too low: 0.05 USDC short"]).await;
    shop.net.fund(BASE, USDC_BASE, "50000").await;
    shop.takes(&offer).await;

    let misnamed = offers::with_extra(offer.clone(), "name", json!("USDC"));
    shop.refuses(
        &misnamed,
        &["domain-mismatch"],
        &["the token's signing domain is another: extra.name and extra.version do not make the token's domain"],
    )
    .await;

    let nowhere = offers::evm(BASE, GHOST, "Ghost", "1");
    shop.refuses(
        &nowhere,
        &["asset-not-contract"],
        &["there is no contract at the asset's address: ", "no contract answers at the asset's address"],
    )
    .await;

    let without = offers::evm(BASE, OLD, "Old", "65535");
    shop.refuses(
        &without,
        &["transfer-method-unsupported"],
        &["holds 0.065535 OLD", "the transfer method is not supported: the token has no EIP-3009 transfer"],
    )
    .await;

    shop.token("blacklist", BASE, USDC_BASE).await;
    let blocked = "the token refuses the address: the token's issuer has blocked the buyer's address";
    shop.refuses(&offer, &["account-blocked"], &[blocked]).await;
    shop.token("unblacklist", BASE, USDC_BASE).await;

    shop.token("pause", BASE, USDC_BASE).await;
    shop.refuses(&offer, &["token-paused"], &["the token is paused: the token's issuer has paused all transfers"])
        .await;
    // All of it side by side, in the same one request; a bad route spoils no other.
    let (verdicts, _) = shop.verdicts(&[offer.clone(), misnamed.clone(), nowhere.clone(), offers::base("50001")]).await;
    assert_eq!(
        verdicts,
        [
            vec!["token-paused"],
            vec!["token-paused", "domain-mismatch"],
            vec!["asset-not-contract"],
            vec!["token-paused", "insufficient-balance"],
        ]
    );
    shop.token("unpause", BASE, USDC_BASE).await;
    let (verdicts, _) = shop.verdicts(&[misnamed, nowhere, offer]).await;
    assert_eq!(verdicts, [vec!["domain-mismatch"], vec!["asset-not-contract"], vec![]]);
}

/// From what Permit2 may not spend to a payment, by the very transaction that the candidate names.
#[tokio::test]
async fn an_allowance_is_given_as_the_candidate_says() {
    let mut shop = Shop::open(Localnet::start(), BASE, json!([]));
    shop.net.fund(BASE, USDC_BASE, "200000").await;
    let offer = permit2("50000");
    shop.refuses(
        &offer,
        &["transfer-method-unsupported", "allowance-required"],
        &["the transfer method is not supported: Permit2 is not deployed on the network"],
    )
    .await;
    deploy_x402(&shop.net).await;
    shop.refuses(
        &offer,
        &["allowance-required"],
        &["the token allowance is too low: Permit2 may spend 0 USDC, the buyer must approve 0.05 USDC for \
           0x000000000022D473030F116dDEE9F6B43aC78BA3"],
    )
    .await;

    // The token is one that takes permits, so a server that takes them makes up for it.
    shop.extensions = json!({"eip2612GasSponsoring": {"info": {}}});
    let sponsored = shop.takes(&offer).await;
    assert_eq!((sponsored.notes, sponsored.allowance.unwrap().is_zero()), (vec![Note::Eip2612Sponsored], true));
    let misnamed = offers::with_extra(offer.clone(), "name", json!("USDC"));
    shop.refuses(&misnamed, &["allowance-required"], &["the token allowance is too low"]).await;
    shop.extensions = json!({"erc20ApprovalGasSponsoring": {"info": {}}});
    assert_eq!(shop.takes(&misnamed).await.notes, [Note::Erc20ApprovalSponsored]);
    // An account that delegates still has its key; a contract has none to sign with.
    let code = |code: &str| json!([shop.net.party("buyer", BASE), code]);
    shop.net.ask(BASE, "anvil_setCode", code(&format!("0xef0100{}", &GHOST[2..]))).await;
    assert_eq!(shop.takes(&offer).await.notes, [Note::OwnerHasCode, Note::Erc20ApprovalSponsored]);
    shop.net.ask(BASE, "anvil_setCode", code("0xfe")).await;
    shop.refuses(&offer, &["allowance-required"], &["the token allowance is too low"]).await;
    shop.net.ask(BASE, "anvil_setCode", code("0x")).await;
    shop.extensions = json!({});

    let (result, _) = shop.select(std::slice::from_ref(&offer)).await;
    let candidate = &candidates(&result)[0];
    let approval = candidate.approval.clone().unwrap();
    let transaction =
        json!({"from": candidate.owner, "to": approval.token, "data": approval.calldata, "gasPrice": "0x0"});
    shop.net.ask(BASE, "eth_sendTransaction", json!([transaction])).await;
    shop.net.ask(BASE, "anvil_mine", json!([])).await;
    let paying = shop.takes(&offer).await;
    assert_eq!((paying.allowance, paying.approval), (candidate.amount, None));

    // The same allowance for `upto`; one atom over it is too much for either.
    let upto = |amount: &str| {
        let offer = offers::with(offers::base(amount), "scheme", json!("upto"));
        offers::with_extra(offer, "facilitatorAddress", shop.net.party("merchant", BASE).clone())
    };
    let (verdicts, _) = shop.verdicts(&[upto("50000"), upto("50001"), permit2("50001"), offers::base("200000")]).await;
    assert_eq!(verdicts, [vec![], vec!["allowance-required"], vec!["allowance-required"], vec![]]);
}

/// A price of which five can be deposited, and one of which they cannot.
#[tokio::test]
async fn a_deposit_is_what_must_be_there() {
    let shop = Shop::open(Localnet::start(), BASE, json!([]));
    shop.net.fund(BASE, USDC_BASE, "200000").await;
    deploy_x402(&shop.net).await;
    let batch = |amount: &str| {
        let offer = offers::with(offers::base(amount), "scheme", json!("batch-settlement"));
        let offer = offers::with_extra(offer, "receiverAuthorizer", shop.net.party("merchant", BASE).clone());
        offers::with_extra(offer, "withdrawDelay", json!(900))
    };
    assert_eq!(shop.takes(&batch("40000")).await.deposit.unwrap().to_string(), "200000");
    shop.refuses(
        &batch("40001"),
        &["deposit-required"],
        &["deposits 0.200005 USDC", "the balance is too low for the deposit: 0.000005 USDC short of 0.200005 USDC"],
    )
    .await;
    let misnamed = offers::with_extra(batch("40000"), "name", json!("USDC"));
    shop.refuses(&misnamed, &["domain-mismatch"], &["the token's signing domain is another"]).await;
}

/// Code at the addresses of Permit2 and of x402's contracts: what they would do is not under test.
async fn deploy_x402(net: &Localnet) {
    for address in [
        "0x000000000022D473030F116dDEE9F6B43aC78BA3",
        "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
        "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
        "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003",
        "0x4020806089470a89826cB9fB1f4059150b550004",
    ] {
        net.ask(BASE, "anvil_setCode", json!([address, "0xfe"])).await;
    }
}

#[tokio::test]
async fn what_solana_says_no_to() {
    let net = Localnet::start();
    let mut mints = Vec::new();
    for kind in ["default-frozen", "non-transferable", "pausable", "transfer-fee", "transfer-hook", "plain"] {
        let made = net.control(json!({"op": "mint", "network": SOLANA, "kind": kind})).await;
        mints.push(made["asset"].as_str().unwrap().to_owned());
    }
    let assets = mints.iter().map(|mint| json!({"address": mint, "symbol": "TEST", "decimals": 6}));
    let shop = Shop::open(net, SOLANA, assets.collect());
    let [born_frozen, stuck, pausable, taxed, hooked, plain] = mints.try_into().unwrap();
    let of = |mint: &str| shop.net.offer(offers::spl(mint, "60000"));

    let usdc = of(USDC_SOLANA);
    shop.refuses(&usdc, &["insufficient-balance"], &["holds 0 USDC", "the balance is too low: 0.06 USDC short"]).await;
    shop.net.fund(SOLANA, USDC_SOLANA, "60000").await;
    shop.takes(&usdc).await;

    let stranger = offers::with(usdc.clone(), "payTo", json!(MERCHANT_SVM));
    shop.refuses(
        &stranger,
        &["recipient-account-missing"],
        &["the recipient has no token account: payments do not create it"],
    )
    .await;

    let frozen = |whose: &str| format!("the token account is frozen: the {whose}'s token account is frozen");
    for (role, whose) in [("buyer", "buyer"), ("merchant", "recipient")] {
        for (asset, offer) in [(USDC_SOLANA, &usdc), (PYUSD_SOLANA, &of(PYUSD_SOLANA))] {
            shop.net.fund(SOLANA, asset, "60000").await;
            let owner = shop.net.party(role, SOLANA);
            let set = |op: &str| json!({"op": op, "network": SOLANA, "asset": asset, "owner": owner});
            shop.net.control(set("freeze")).await;
            shop.refuses(offer, &["account-frozen"], &[&frozen(whose)]).await;
            shop.net.control(set("thaw")).await;
            shop.takes(offer).await;
        }
    }

    // Accounts of this mint are frozen from the start, the buyer's and the merchant's alike.
    let (offer, owners) = (of(&born_frozen), ["buyer", "merchant"].map(|role| shop.net.party(role, SOLANA)));
    let both = format!("{}; the recipient's token account is frozen", frozen("buyer"));
    shop.refuses(&offer, &["account-frozen"], &[&both]).await;
    let thaw = |owner| json!({"op": "thaw", "network": SOLANA, "asset": born_frozen, "owner": owner});
    shop.net.control(thaw(owners[0])).await;
    shop.refuses(&offer, &["account-frozen"], &[&frozen("recipient")]).await;
    shop.net.control(thaw(owners[1])).await;
    shop.takes(&offer).await;

    shop.refuses(
        &of(&stuck),
        &["transfer-method-unsupported"],
        &["the transfer method is not supported: the token cannot be transferred"],
    )
    .await;

    shop.refuses(
        &of(&hooked),
        &["transfer-method-unsupported"],
        &["the transfer method is not supported: the token calls another program on every transfer"],
    )
    .await;

    shop.takes(&of(&plain)).await;
    let demand = json!({"op": "demand-memo", "network": SOLANA, "asset": plain, "owner": owners[1]});
    shop.net.control(demand).await;
    let memo = "the recipient's account demands a memo before each transfer";
    shop.refuses(&of(&plain), &["transfer-method-unsupported"], &[memo]).await;

    shop.takes(&of(&pausable)).await;
    shop.token("pause", SOLANA, &pausable).await;
    let paused = "the token is paused: the token's issuer has paused all transfers";
    shop.refuses(&of(&pausable), &["token-paused"], &[paused]).await;

    // The token keeps a fortieth of a payment, and no more than 1,000 atoms.
    for (price, fee, words) in [("20000", "500", "keeps 0.0005 TEST"), ("60000", "1000", "keeps 0.001 TEST")] {
        let offer = shop.net.offer(offers::spl(&taxed, price));
        let paying = shop.takes(&offer).await;
        assert_eq!(paying.transfer_fee.map(|fee| fee.to_string()).as_deref(), Some(fee));
        assert_eq!(paying.notes, [Note::TransferFee]);
        assert!(payroute::explain(&[paying]).contains(words));
    }

    // All of it side by side, in the same one request.
    let (verdicts, _) = shop.verdicts(&[usdc, stranger, of(&born_frozen), of(&stuck), of(&pausable)]).await;
    let expected: [&[&str]; 5] =
        [&[], &["recipient-account-missing"], &[], &["transfer-method-unsupported"], &["token-paused"]];
    assert_eq!(verdicts, expected);
}
