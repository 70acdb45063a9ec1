//! Reading a 402: what is accepted, what becomes a reason, what is an error, and that nothing is
//! lost on the way.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use payroute::{Carrier, DecodeError, Limits, Note, PaymentRequired, X402Version};
use serde_json::{Value, json};

use crate::support::{USDC_BASE, offers};

fn read(document: &Value) -> PaymentRequired {
    PaymentRequired::from_text(document.to_string(), &Limits::default()).unwrap()
}

/// What is wrong with the one entry under test; a good one stands beside it.
fn malformed(entry: &Value) -> String {
    let payment = read(&offers::v2(&[entry.clone(), offers::base("1")]));
    assert!(payment.requirements()[1].terms().is_ok());
    payment.requirements()[0].terms().unwrap_err().to_string()
}

#[test]
fn header_values_in_every_base64_spelling() {
    // Enough 0xFB and 0xFF bits that the alphabets differ: `+/` and `-_` both occur.
    let document = offers::v2(&[offers::with(offers::base("50000"), "note", json!("~~~???>>>"))]).to_string();
    let spellings = [
        STANDARD.encode(&document),
        STANDARD_NO_PAD.encode(&document),
        URL_SAFE.encode(&document),
        URL_SAFE_NO_PAD.encode(&document),
    ];
    assert_ne!(spellings[0], spellings[2]);
    let padded = format!(" {} \n", spellings[0]);
    let marked = format!("\u{feff}{document}");
    for text in spellings.iter().chain([&document, &padded, &marked]) {
        let payment = PaymentRequired::from_text(text, &Limits::default()).unwrap();
        assert_eq!(payment.requirements()[0].terms().unwrap().amount.to_string(), "50000");
        let headers = [("Payment-Required", text.as_bytes())];
        assert_eq!(
            PaymentRequired::from_response(headers, b"", &Limits::default()).unwrap().carrier(),
            Carrier::Header
        );
    }
    for text in ["", "   ", "!!!", "eyJ4", "e30", "bm90IGpzb24", "\u{feff}"] {
        assert!(PaymentRequired::from_text(text, &Limits::default()).is_err(), "{text:?}");
    }
}

#[test]
fn the_original_text_of_every_entry_is_kept() {
    let entry = "{ \"scheme\":\"exact\",\"network\" : \"eip155:8453\",\"amount\":\"5\",\"maxTimeoutSeconds\":60,\n\
         \"asset\":\"0xABCDEF0000000000000000000000000000000001\",\"payTo\":\"0xabcdef0000000000000000000000000000000002\",\
         \"unknown\":[1.0,1e5,\"\\u00e9\"]}";
    let text = format!("{{\"x402Version\":2,\"accepts\":[null,{entry} , 5]}}");
    let payment = PaymentRequired::from_text(&text, &Limits::default()).unwrap();
    let texts: Vec<&str> = payment.requirements().iter().map(|requirement| requirement.json()).collect();
    assert_eq!(texts, ["null", entry, "5"]);
    assert_eq!(payment.requirements().iter().map(|r| r.index()).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn the_original_text_of_the_document_is_kept() {
    let offer = offers::base("1");
    let envelope = format!(r#"{{ "x402Version":2,"resource":{{"url":"https://shop.test/ü"}},  "accepts":[{offer}] }}"#);
    let list = format!("[ {offer} ]");
    for document in [&envelope, &list] {
        assert_eq!(PaymentRequired::from_text(document, &Limits::default()).unwrap().json(), document);
        let header = STANDARD.encode(document);
        let read = PaymentRequired::from_response([("payment-required", header.as_bytes())], b"{}", &Limits::default())
            .unwrap();
        assert_eq!(read.json(), document);
    }
    let elsewhere = PaymentRequired::from_response(
        [("payment-required", list.as_bytes())],
        envelope.as_bytes(),
        &Limits::default(),
    );
    assert_eq!(elsewhere.unwrap().json(), envelope, "the document that the terms were read from");
}

#[test]
fn version_1_reads_as_it_is_written() {
    let entry = json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": "50000", "resource": "https://shop.test/",
        "description": "", "mimeType": "", "payTo": crate::support::MERCHANT, "maxTimeoutSeconds": 60,
        "asset": USDC_BASE, "outputSchema": null, "extra": {"name": "USD Coin", "version": "2"},
    });
    let payment = read(&json!({"x402Version": 1, "error": "pay", "accepts": [entry]}));
    let terms = payment.requirements()[0].terms().unwrap();
    assert_eq!((payment.version(), terms.amount.to_string()), (X402Version::V1, "50000".to_owned()));
    assert_eq!(terms.chain.as_ref().unwrap().as_str(), "eip155:8453");
    assert!(payment.notes().is_empty() && payment.requirements()[0].notes().is_empty());
}

#[test]
fn the_version_is_read_generously_and_refused_exactly() {
    let with_version = |version: &str, entry: &Value| format!(r#"{{"x402Version":{version},"accepts":[{entry}]}}"#);
    let v2_entry = offers::base("1");
    let mut v1_entry = offers::with(v2_entry.clone(), "maxAmountRequired", json!("1"));
    v1_entry = offers::with(v1_entry, "amount", Value::Null);
    for (version, entry, expected, coerced) in [
        ("1", &v2_entry, X402Version::V1, false),
        ("2", &v1_entry, X402Version::V2, false),
        ("\"1\"", &v1_entry, X402Version::V1, true),
        ("\"2\"", &v2_entry, X402Version::V2, true),
        ("2.0", &v2_entry, X402Version::V2, true),
        ("null", &v2_entry, X402Version::V2, true),
        ("null", &v1_entry, X402Version::V1, true),
    ] {
        let payment = PaymentRequired::from_text(with_version(version, entry), &Limits::default()).unwrap();
        assert_eq!(payment.version(), expected, "{version}");
        assert_eq!(payment.notes().contains(&Note::VersionCoerced), coerced, "{version}");
    }
    for version in ["0", "3", "-1", "1.5", "\"v2\"", "true", "{}", "[2]", "1e1000"] {
        let error = PaymentRequired::from_text(with_version(version, &v2_entry), &Limits::default()).unwrap_err();
        assert!(matches!(error, DecodeError::UnsupportedVersion { .. }), "{version}: {error}");
    }
}

#[test]
fn amounts_are_exact_or_a_reason() {
    let with_amount = |amount: &str| {
        let text = offers::base("AMOUNT").to_string().replace("\"AMOUNT\"", amount);
        let document = format!(r#"{{"x402Version":2,"accepts":[{text},{}]}}"#, offers::base("1"));
        let payment = PaymentRequired::from_text(&document, &Limits::default()).unwrap();
        payment.requirements()[0].terms().map(|terms| terms.amount.to_string()).map_err(ToString::to_string)
    };
    let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    for (written, amount) in [
        ("\"50000\"", "50000"),
        ("50000", "50000"),
        ("9007199254740991", "9007199254740991"),
        ("\"9007199254740993\"", "9007199254740993"),
        (&format!("\"{max}\""), max),
    ] {
        assert_eq!(with_amount(written).as_deref(), Ok(amount));
    }
    for (written, problem) in [
        ("\"\"", "amount is empty; accepted is a whole number of atomic units"),
        ("\"0.05\"", "amount is not a whole number of atomic units written in digits only"),
        ("0.05", "amount is not a whole number of atomic units written in digits only"),
        ("\"1e3\"", "amount is not a whole number of atomic units written in digits only"),
        ("1e3", "amount is not a whole number of atomic units written in digits only"),
        ("-5", "amount is not a whole number of atomic units written in digits only"),
        ("\"007\"", "amount has leading zeros; accepted is a whole number without them"),
        ("9007199254740993", "amount is a JSON number past 2^53, which readers round; write it as a string"),
        ("\"0\"", "amount is zero; accepted is a positive whole number of atomic units"),
        ("0", "amount is zero; accepted is a positive whole number of atomic units"),
        ("true", "amount is a boolean; accepted is a string of digits"),
        ("null", "amount is missing"),
        ("[\"5\"]", "amount is an array; accepted is a string of digits"),
        (&format!("\"1{max}\""), "amount does not fit in 256 bits"),
    ] {
        assert_eq!(with_amount(written), Err(problem.to_owned()), "{written}");
    }
}

#[test]
fn a_solana_amount_has_64_bits() {
    let payment = read(&offers::v2(&[offers::solana("18446744073709551615"), offers::solana("18446744073709551616")]));
    assert!(payment.requirements()[0].terms().is_ok());
    let problem = payment.requirements()[1].terms().unwrap_err().to_string();
    assert_eq!(problem, "amount does not fit in 64 bits, as every Solana token amount must");
}

#[test]
fn two_names_for_the_price_must_agree() {
    let both = |max: &str| offers::with(offers::base("5"), "maxAmountRequired", json!(max));
    assert!(read(&offers::v2(&[both("5")])).requirements()[0].terms().is_ok());
    assert_eq!(malformed(&both("6")), "maxAmountRequired differs from amount");
}

#[test]
fn a_malformed_entry_names_its_field() {
    let good = || offers::base("5");
    for (entry, problem) in [
        (json!(null), "entry is null; accepted is an object"),
        (json!("exact"), "entry is a string; accepted is an object"),
        (json!(5), "entry is a number; accepted is an object"),
        (json!([]), "entry is an array; accepted is an object"),
        (json!({}), "network is missing"),
        (offers::with(good(), "scheme", Value::Null), "scheme is missing"),
        (offers::with(good(), "scheme", json!(1)), "scheme is a number; accepted is a string"),
        (offers::with(good(), "network", json!("")), "network is empty"),
        (offers::with(good(), "asset", json!({})), "asset is an object; accepted is a string"),
        (
            offers::with(good(), "payTo", json!("merchant-vault")),
            "payTo `merchant-vault` is not an address; accepted is 0x and 40 hexadecimal digits",
        ),
        (
            offers::with(offers::solana("5"), "payTo", json!("0x12")),
            "payTo `0x12` is not an address; accepted is a base58 Solana address",
        ),
        (
            offers::with(good(), "payTo", json!("0x0000000000000000000000000000000000000000")),
            "payTo is the zero address, where tokens refuse to go",
        ),
        (
            offers::with(good(), "payTo", json!(USDC_BASE.to_lowercase())),
            "payTo is the token itself, which gives nothing back",
        ),
        (offers::with(good(), "maxTimeoutSeconds", Value::Null), "maxTimeoutSeconds is missing"),
        (
            offers::with(good(), "maxTimeoutSeconds", json!(0)),
            "maxTimeoutSeconds is not a positive whole number of seconds",
        ),
        (
            offers::with(good(), "maxTimeoutSeconds", json!("60")),
            "maxTimeoutSeconds is not a positive whole number of seconds",
        ),
        (json!({"network": "base", "scheme": "\u{0}"}), "amount is missing"),
        (offers::with(good(), "extra", json!([])), "extra is an array; accepted is an object"),
    ] {
        assert_eq!(malformed(&entry), problem);
    }
}

#[test]
fn what_no_term_depends_on_is_read_generously() {
    let text = offers::base("5").to_string();
    let lenient = text
        .replace(r#""maxTimeoutSeconds":60"#, r#""maxTimeoutSeconds":60.0,"odd":1e999"#)
        .replace(r#""name":"USD Coin""#, r#""name":"USD Coin","note":"\ud800","big":1e999"#);
    let payment =
        PaymentRequired::from_text(format!(r#"{{"x402Version":2,"accepts":[{lenient}]}}"#), &Limits::default())
            .unwrap();
    assert_eq!(payment.requirements()[0].terms().unwrap().max_timeout_seconds, 60);
    let surrogate = text.replace("\"exact\"", r#""\ud800""#);
    let document = format!(r#"{{"x402Version":2,"accepts":[{surrogate},{text}]}}"#);
    let payment = PaymentRequired::from_text(document, &Limits::default()).unwrap();
    assert_eq!(payment.requirements()[0].terms().unwrap_err().to_string(), "scheme is not valid Unicode text");
}

#[test]
fn a_key_that_stands_twice_is_refused_where_it_stands() {
    let entry = offers::base("5").to_string();
    let document = |body: &str| format!(r#"{{"x402Version":2,{body}}}"#);
    let twice = document(&format!(r#""accepts":[{entry}],"accepts":[]"#));
    let error = PaymentRequired::from_text(&twice, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("duplicate key `accepts`"), "{error}");
    let unknown_twice = document(&format!(r#""accepts":[{entry}],"a":1,"\u0061":2"#));
    assert!(PaymentRequired::from_text(&unknown_twice, &Limits::default()).is_err());

    let amount_twice = entry.replace(r#""amount":"5""#, r#""amount":"5","amount":"5000000""#);
    let name_twice = entry.replace(r#""name":"USD Coin""#, r#""name":"USD Coin","name":"USDC""#);
    for bad in [amount_twice, name_twice] {
        let payment =
            PaymentRequired::from_text(document(&format!(r#""accepts":[{bad},{entry}]"#)), &Limits::default()).unwrap();
        assert!(payment.requirements()[0].terms().unwrap_err().to_string().contains("duplicate key"));
        assert!(payment.requirements()[1].terms().is_ok());
    }
}

#[test]
fn only_a_document_without_a_readable_entry_is_an_error() {
    for (text, problem) in [
        ("{}", "document has no accepts"),
        (r#"{"x402Version":2}"#, "document has no accepts"),
        (r#"{"x402Version":2,"accepts":[]}"#, "document has no entry in accepts"),
        (r#"{"x402Version":2,"accepts":{}}"#, "document has accepts that are not an array"),
        (
            r#"{"x402Version":2,"accepts":[null]}"#,
            "document has no readable entry in accepts (accepts[0]: entry is null; accepted is an object)",
        ),
        (r#"{"x402Version":2,"accepts":[{}]} x"#, "document is not JSON (line 1, column 34)"),
        ("<html>payment required</html>", "is neither base64 nor JSON"),
    ] {
        let error = PaymentRequired::from_text(text, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains(problem), "{text}: {error}");
    }
    let DecodeError::Unreadable { entries, .. } =
        PaymentRequired::from_text(r#"{"x402Version":2,"accepts":[null,{}]}"#, &Limits::default()).unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!(entries.len(), 2);
}

#[test]
fn carriers_are_tried_in_order_and_every_failure_is_told() {
    let v2 = offers::v2(&[offers::base("2")]).to_string();
    let v1 = json!({"x402Version": 1, "accepts": [offers::base("1")]}).to_string();
    let encoded = STANDARD.encode(&v2);
    let list = STANDARD.encode(json!([offers::base("3")]).to_string());
    let amount = |headers: &[(&'static str, &str)], body: &str| {
        let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let payment = PaymentRequired::from_response(headers, body.as_bytes(), &Limits::default())
            .map_err(|error| error.to_string())?;
        let amount = payment.requirements()[0].terms().unwrap().amount.to_string();
        Ok::<_, String>((payment.carrier(), amount, payment.notes().to_vec()))
    };
    let found = |carrier, amount: &str, notes: &[Note]| Ok((carrier, amount.to_owned(), notes.to_vec()));
    assert_eq!(amount(&[("PAYMENT-REQUIRED", &encoded)], &v1), found(Carrier::Header, "2", &[]));
    assert_eq!(amount(&[], &v1), found(Carrier::Body, "1", &[]));
    assert_eq!(amount(&[], &v2), found(Carrier::Body, "2", &[Note::CarrierBody]));
    assert_eq!(amount(&[("payment-required", "garbage!")], &v1), found(Carrier::Body, "1", &[]));
    assert_eq!(amount(&[("x-payment-required", &encoded)], "<html>"), found(Carrier::LegacyHeader, "2", &[]));
    assert_eq!(amount(&[("x-payment-requirements", &v2)], ""), found(Carrier::RequirementsHeader, "2", &[]));
    // A bare list is used only where no envelope says more.
    assert_eq!(amount(&[("payment-required", &list)], &v1), found(Carrier::Body, "1", &[]));
    assert_eq!(amount(&[("payment-required", &list)], ""), found(Carrier::Header, "3", &[Note::VersionCoerced]));
    assert_eq!(
        amount(&[("payment-required", "garbage!")], "<html>"),
        Err("no payment requirement could be read: PAYMENT-REQUIRED header is neither base64 nor JSON; \
             response body is not JSON (line 1, column 1); \
             X-PAYMENT-REQUIRED header is absent; X-PAYMENT-REQUIREMENTS header is absent"
            .to_owned())
    );
    let twice = [("payment-required", encoded.as_str()), ("Payment-Required", list.as_str())];
    assert!(amount(&twice, "").unwrap_err().contains("appears twice with different values"));
    let v3 = json!({"x402Version": 3, "accepts": [offers::base("1")]}).to_string();
    assert_eq!(amount(&[("payment-required", &v3)], &v1), found(Carrier::Body, "1", &[]));
    for (header, body) in [(v3.as_str(), ""), (r#"{"x402Version":3,"offers":[]}"#, ""), (&v3, "[{}]")] {
        assert!(amount(&[("payment-required", header)], body).unwrap_err().contains("x402 version 3 is not supported"));
    }
}

#[test]
fn networks_by_any_name_are_noted_when_it_is_not_their_own() {
    let note = |version: u8, network: &str, offer: Value| {
        let offer = offers::with(offer, "network", json!(network));
        let payment = read(&json!({"x402Version": version, "accepts": [offer]}));
        let requirement = &payment.requirements()[0];
        (requirement.terms().unwrap().chain.clone().map(|c| c.to_string()), requirement.notes().to_vec())
    };
    let base = Some("eip155:8453".to_owned());
    let solana = Some(crate::support::SOLANA.to_owned());
    assert_eq!(note(2, "eip155:8453", offers::base("1")), (base.clone(), vec![]));
    assert_eq!(note(2, "base", offers::base("1")), (base.clone(), vec![Note::NonCanonicalNetwork]));
    assert_eq!(note(1, "base", offers::base("1")), (base.clone(), vec![]));
    assert_eq!(note(1, "eip155:8453", offers::base("1")), (base, vec![Note::NonCanonicalNetwork]));
    assert_eq!(note(1, "solana", offers::solana("1")), (solana.clone(), vec![]));
    assert_eq!(note(1, crate::support::SOLANA, offers::solana("1")), (solana.clone(), vec![]));
    assert_eq!(note(2, "solana:mainnet", offers::solana("1")), (solana, vec![Note::NonCanonicalNetwork]));
    assert_eq!(note(2, "EIP155:8453", offers::base("1")), (None, vec![]));
}

#[test]
fn a_version_1_twin_is_marked() {
    let payment = read(&json!({"x402Version": 1, "accepts": [
        offers::with(offers::base("1"), "network", json!("base")), offers::base("2"), offers::sepolia("3"),
    ]}));
    let marked: Vec<bool> =
        payment.requirements().iter().map(|requirement| requirement.notes().contains(&Note::V1Ambiguous)).collect();
    assert_eq!(marked, [false, true, false]);
}
