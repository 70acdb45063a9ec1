//! The endpoints of a network: `rpc` and `referenceUrl`.

use std::sync::Arc;

use super::check;
use super::field::Field;
use crate::chain::ChainId;
use crate::transport::Endpoint;

/// Endpoints per network. 64: half of what health remembers by default.
const MOST_ENDPOINTS: usize = 64;

/// The list of them, each once.
pub(super) fn endpoints(field: &Field<'_>, chain: &ChainId, allow_http: bool) -> Vec<Arc<Endpoint>> {
    let fields = field.items();
    if fields.is_empty() || fields.len() > MOST_ENDPOINTS {
        let accepted = format!("1 to {MOST_ENDPOINTS} endpoints");
        field.refuse(&format!("has {} endpoints", fields.len()), &accepted);
        return Vec::new();
    }
    let mut endpoints: Vec<Arc<Endpoint>> = Vec::new();
    for field in &fields {
        let Some(endpoint) = endpoint(field, chain, allow_http) else { continue };
        if endpoints.iter().any(|other| other.key() == endpoint.key()) {
            field.refuse("is listed twice", "each endpoint once");
        }
        endpoints.push(Arc::new(endpoint));
    }
    endpoints
}

/// `"https://…"`, `{"url": "https://…", …}` or `{"provider": "…", …}`.
fn endpoint(field: &Field<'_>, chain: &ChainId, allow_http: bool) -> Option<Endpoint> {
    if field.is_text() {
        return endpoint_at(field, chain, allow_http);
    }
    if !field.is_object() {
        field.mismatch("a URL or an object with a url or a provider");
        return None;
    }
    let fields = field.fields();
    let url = fields.get_set("url");
    let provider = fields.get_set("provider").map(check::label);
    let label = fields.get_set("label").map(check::label);
    let (mut priority, mut weight) = (0, 1);
    fields.set_whole("priority", 0..=u8::MAX, &mut priority);
    fields.set_whole("weight", 1..=1_000, &mut weight);
    let max_in_flight = fields.whole("maxInFlight", 1..=u32::MAX.into());
    fields.finish();
    let endpoint = match (url, provider) {
        (Some(url), None) => endpoint_at(url, chain, allow_http)?,
        (None, Some(provider)) => {
            let shown = label.clone().unwrap_or_else(|| provider.clone());
            Endpoint::at_provider(chain.clone(), provider, shown)
        }
        (url, _) => {
            let problem = if url.is_some() { "has a url and a provider" } else { "has no address" };
            field.refuse(problem, "either a url or a provider");
            return None;
        }
    };
    let max_in_flight = max_in_flight.and_then(|most| u32::try_from(most).ok());
    Some(endpoint.with_options(label, priority, weight, max_in_flight))
}

/// The endpoint whose URL `field` is.
pub(super) fn endpoint_at(field: &Field<'_>, chain: &ChainId, allow_http: bool) -> Option<Endpoint> {
    check::endpoint_url(field, allow_http).map(|url| Endpoint::at_url(chain.clone(), url))
}
