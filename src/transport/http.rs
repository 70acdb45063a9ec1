//! reqwest as a transport: natively a client of its own, on WASM over the host's `fetch`.

use super::{Endpoint, HttpReply, MAX_RESPONSE_BYTES, Transport, TransportError};
use crate::runtime::{BoxFuture, http_client, read_body};

/// The ready-made transport, over reqwest.
pub(super) struct HttpTransport(reqwest::Client);

impl HttpTransport {
    pub(super) fn new() -> Result<Self, reqwest::Error> {
        http_client().map(Self)
    }
}

impl Transport for HttpTransport {
    fn post<'a>(&'a self, endpoint: &'a Endpoint, body: String) -> BoxFuture<'a, Result<HttpReply, TransportError>> {
        Box::pin(async move {
            let url = endpoint.url().ok_or(TransportError::Unreachable)?;
            let request = self.0.post(url).header("content-type", "application/json").body(body);
            let response = request.send().await.map_err(|_| TransportError::Unreachable)?;
            // A browser follows redirects whatever it is told; the response's URL shows that it did.
            if reqwest::Url::parse(url).is_ok_and(|asked| asked.origin() != response.url().origin()) {
                return Err(TransportError::Redirected);
            }
            let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
            let (retry_after, date) = (header("retry-after"), header("date"));
            let status = response.status();
            let reply = |body| Ok(HttpReply { status: status.as_u16(), retry_after, date, body });
            match read_body(response, MAX_RESPONSE_BYTES).await {
                Ok(Some(body)) => reply(body),
                // The status of a refusal says enough; a body that is too long does not change it.
                Ok(None) | Err(_) if !status.is_success() => reply(Vec::new()),
                Ok(None) => Err(TransportError::TooLarge),
                Err(_) => Err(TransportError::Unreachable),
            }
        })
    }
}
