//! Decoding: nothing is lost, every offer keeps its bytes, no amount differs from its text, and a
//! selection has a candidate for each.
//!
//! An input is a document; as a response it is header lines, an empty line, and the body.

use std::collections::BTreeMap;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use payroute::{Carrier, Config, Limits, PaymentRequired, RejectionReason, RouteSelector, X402Version};
use serde_json::value::RawValue;

use super::stage::{Silent, run};

const CONFIG: &str = r#"{
    "owners": {"eip155": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
               "solana": "BXatMgU1vy2nTfZ3pfjE5AGg6rFmvP5rRCXDhmDq66Jn"},
    "policy": {"maxAmount": {"USDC": "1.00"}}
}"#;

/// The fields of an object as they are written: other readers stumble over some numbers and escapes.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Reads the input alone, and as a response.
pub fn check(input: &[u8]) {
    if let Ok(payment) = PaymentRequired::from_text(input, &Limits::default()) {
        decoded(&payment, input);
    }
    let (head, body) = halves(input);
    let headers: Vec<(&str, &[u8])> = head.split(|byte| *byte == b'\n').filter_map(header).collect();
    if let Ok(payment) = PaymentRequired::from_response(headers.iter().copied(), body, &Limits::default()) {
        let named = |name: &str| {
            let header = headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
            header.expect("the header that was read").1
        };
        let source = match payment.carrier() {
            Carrier::Header => named("payment-required"),
            Carrier::LegacyHeader => named("x-payment-required"),
            Carrier::RequirementsHeader => named("x-payment-requirements"),
            _ => body,
        };
        decoded(&payment, source);
    }
}

fn halves(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.windows(2).position(|pair| pair == b"\n\n");
    end.map_or((&[], input), |end| (&input[..end], &input[end + 2..]))
}

fn header(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((std::str::from_utf8(&line[..colon]).ok()?, &line[colon + 1..]))
}

/// `source` is the carrier that the offers were found in.
fn decoded(payment: &PaymentRequired, source: &[u8]) {
    let document = unwrapped(source);
    let text = std::str::from_utf8(&document).expect("what was decoded is text");
    let offers = payment.requirements();
    assert!(offers.iter().any(|offer| offer.terms().is_ok()), "an offer list of which nothing can be read");
    let mut rest = text;
    for (index, offer) in offers.iter().enumerate() {
        assert_eq!(offer.index(), index);
        let found = rest.find(offer.json()).expect("an offer's own bytes, in the merchant's order");
        rest = &rest[found + offer.json().len()..];
        if let Ok(terms) = offer.terms() {
            let read: Fields<'_> = serde_json::from_str(offer.json()).unwrap();
            assert!(priced_as_written(&read, &terms.amount.to_string()), "{} for {}", terms.amount, offer.json());
            let texts = [&terms.asset, &terms.pay_to, &terms.network, &terms.scheme];
            for (field, text) in ["asset", "payTo", "network", "scheme"].into_iter().zip(texts) {
                assert_eq!(serde_json::from_str::<String>(read[field].get()).unwrap(), **text, "{field}");
            }
        }
    }
    assert_eq!(offers.len(), entries(text), "an offer was lost");
    written_again(payment);
    selected(payment);
}

/// The document that a carrier holds: itself, or what base64 of either alphabet makes of it.
fn unwrapped(source: &[u8]) -> Vec<u8> {
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &alphabet::URL_SAFE,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let source = without_space(source);
    if source.starts_with(b"{") || source.starts_with(b"[") {
        return source.to_vec();
    }
    let url_safe: Vec<u8> = (source.iter())
        .map(|byte| match byte {
            b'+' => b'-',
            b'/' => b'_',
            byte => *byte,
        })
        .collect();
    BASE64.decode(url_safe).expect("a carrier that is no JSON is base64")
}

/// Neither white space nor byte order marks around it.
fn without_space(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.trim_ascii().strip_prefix(b"\xEF\xBB\xBF") {
        text = rest;
    }
    text.trim_ascii()
}

fn entries(document: &str) -> usize {
    let document = document.trim_start_matches('\u{FEFF}').trim();
    let list = match document.starts_with('[') {
        true => document,
        false => serde_json::from_str::<Fields<'_>>(document).unwrap()["accepts"].get(),
    };
    serde_json::from_str::<Vec<&RawValue>>(list).unwrap().len()
}

fn priced_as_written(offer: &Fields<'_>, amount: &str) -> bool {
    let stated = |field: &str| {
        let json = offer.get(field)?.get();
        (json != "null").then(|| serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()))
    };
    let prices = [stated("amount"), stated("maxAmountRequired")];
    prices.iter().any(Option::is_some) && prices.iter().flatten().all(|price| price == amount)
}

/// The same offers in a document of our own are the same offers, in a body and in a header.
fn written_again(payment: &PaymentRequired) {
    let version = if payment.version() == X402Version::V1 { 1 } else { 2 };
    let accepts: Vec<&str> = payment.requirements().iter().map(|offer| offer.json()).collect();
    let document = format!(r#"{{"x402Version":{version},"accepts":[{}]}}"#, accepts.join(","));
    serde_json::from_str::<&RawValue>(&document).expect("offers are JSON");
    let header = base64::engine::general_purpose::STANDARD.encode(&document);
    for carrier in [&document, &header] {
        let Ok(again) = PaymentRequired::from_text(carrier, &Limits::default()) else {
            // What was found in a body may be too long for a header.
            assert!(header.len() > 64 * 1024, "what was read once cannot be read again");
            continue;
        };
        assert_eq!(again.version(), payment.version());
        assert_eq!(format!("{:?}", again.requirements()), format!("{:?}", payment.requirements()));
    }
}

/// Nobody answers, so nothing can be paid: one candidate an offer, none with a balance.
fn selected(payment: &PaymentRequired) {
    thread_local! {
        static CONFIGURED: Config = Config::from_json(CONFIG).unwrap();
    }
    let selector = RouteSelector::builder(CONFIGURED.with(Config::clone)).transport(Silent).build().unwrap();
    let error = run(selector.select(payment)).expect_err("nobody told a balance");
    let candidates = error.candidates();
    assert_eq!(candidates.len(), payment.requirements().len());
    let mut indexes: Vec<usize> = candidates.iter().map(|candidate| candidate.requirement_index).collect();
    indexes.sort_unstable();
    assert!(indexes.into_iter().eq(0..candidates.len()));
    for candidate in candidates {
        let offer = &payment.requirements()[candidate.requirement_index];
        assert!(!candidate.viable && !candidate.rejections.is_empty() && candidate.balance.is_none());
        assert!(!candidate.is_rejected_for(RejectionReason::InsufficientBalance), "unknown is not zero");
        assert_eq!(candidate.is_rejected_for(RejectionReason::MalformedRequirement), offer.terms().is_err());
        assert_eq!(candidate.amount, offer.terms().ok().map(|terms| terms.amount));
    }
    let shown = format!("{error} {}", payroute::explain(candidates));
    assert!(
        !shown.chars().any(|c| c.is_control() && c != '\n'),
        "a merchant's control characters are shown: {shown:?}"
    );
}
