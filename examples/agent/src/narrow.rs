//! One offer of a 402 as a 402 of its own, in the only two forms that x402-reqwest reads: version 2 in
//! the `PAYMENT-REQUIRED` header, version 1 in the body.
//!
//! x402-reqwest pays by the order in which its schemes were registered, so a list that is merely
//! reordered would not do. Its reader is stricter than a payment needs: what no payment depends on is
//! left out or filled in where it would fail on it. The offer that a payment repeats stays as it is.

use std::collections::BTreeMap;

use payroute::{PaymentRequired, PaymentRequirement, X402Version};
use reqwest::{Body, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Result;
use serde_json::value::{RawValue, to_raw_value};
use x402_types::proto::v2::{ExtensionsJson, ResourceInfo};
use x402_types::proto::{OriginalJson, v1, v2};
use x402_types::util::Base64Bytes;

/// The 402 that offers `requirement` of `required` and nothing else.
pub(crate) fn to_one(required: &PaymentRequired, requirement: &PaymentRequirement) -> Result<Response> {
    match required.version() {
        X402Version::V1 => in_body(requirement),
        X402Version::V2 => in_header(required, requirement),
    }
}

/// A version 1 payment repeats the scheme and the network alone.
fn in_body(requirement: &PaymentRequirement) -> Result<Response> {
    let mut offer: BTreeMap<String, Box<RawValue>> = serde_json::from_str(requirement.json())?;
    for field in ["resource", "description"] {
        if offer.get(field).is_none_or(|text| !text.get().starts_with('"')) {
            offer.insert(field.to_owned(), to_raw_value("")?);
        }
    }
    let accepts = vec![OriginalJson(to_raw_value(&offer)?)];
    let document = v1::PaymentRequired { x402_version: v1::X402Version1, accepts, error: None };
    Ok(response(http::Response::new(serde_json::to_vec(&document)?.into())))
}

/// A version 2 payment repeats the offer, the resource and the extensions.
fn in_header(required: &PaymentRequired, requirement: &PaymentRequirement) -> Result<Response> {
    let Envelope { resource, extensions } = serde_json::from_str(required.json()).unwrap_or_default();
    let document = v2::PaymentRequired {
        x402_version: v2::X402Version2,
        error: None,
        resource: resource.and_then(readable::<ResourceInfo>),
        accepts: vec![OriginalJson(RawValue::from_string(requirement.json().to_owned())?)],
        extensions: extensions.and_then(readable::<ExtensionsJson>).unwrap_or_default(),
    };
    let encoded = Base64Bytes::encode(serde_json::to_vec(&document)?);
    let mut challenge = http::Response::new(Body::default());
    if let Ok(value) = http::HeaderValue::from_bytes(encoded.as_ref()) {
        challenge.headers_mut().insert("payment-required", value);
    }
    Ok(response(challenge))
}

/// What surrounds the offers; nothing where they came as a bare list.
#[derive(Default, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
    #[serde(borrow)]
    extensions: Option<&'a RawValue>,
}

fn readable<T: DeserializeOwned>(json: &RawValue) -> Option<T> {
    serde_json::from_str(json.get()).ok()
}

fn response(mut response: http::Response<Body>) -> Response {
    *response.status_mut() = http::StatusCode::PAYMENT_REQUIRED;
    response.into()
}
