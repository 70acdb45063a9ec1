//! Reads the terms out of a 402, wherever the merchant put them, and no more bytes than the limits
//! allow. Refuses to know what the terms say.

use std::time::Duration;

use http::HeaderMap;
use payroute::{Carrier, DecodeError, Limits, PaymentRequired, SelectError};
use reqwest::Response;
use reqwest_middleware::{Error, Result};

use crate::error::PayError;

/// How long the body of a 402 may take: a merchant that never ends it must not hold up an agent.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A header with a whole document is the answer; the body is read only without one.
pub(crate) async fn read(mut response: Response, limits: &Limits) -> Result<PaymentRequired> {
    let headers = response.headers().clone();
    if let Ok(found) = decode(&headers, b"", limits)
        && found.carrier() == Carrier::Header
        && found.json().starts_with('{')
    {
        return Ok(found);
    }
    let body = tokio::time::timeout(BODY_TIMEOUT, body(&mut response, limits.body_bytes)).await;
    let body = body.map_err(|_| Error::middleware(PayError::ChallengeTimeout { timeout: BODY_TIMEOUT }))??;
    decode(&headers, &body, limits).map_err(|error| Error::middleware(SelectError::from(error)))
}

fn decode(headers: &HeaderMap, body: &[u8], limits: &Limits) -> std::result::Result<PaymentRequired, DecodeError> {
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    PaymentRequired::from_response(headers, body, limits)
}

/// As much of the body as shows that it is longer than `limit`.
async fn body(response: &mut Response, limit: usize) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() <= limit
        && let Some(chunk) = response.chunk().await?
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(limit + 1);
    Ok(body)
}
