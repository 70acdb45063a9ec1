//! The shop: answers every order with 402 and its terms, base64 in the `PAYMENT-REQUIRED` header.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::http::Response;

/// Where the shop is paid on Solana. It has a token account there; payments would not create one.
pub(super) const SHOP_SOLANA: &str = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";

/// Three ways to pay, and one with a mistake in it: an amount in dollars where atomic units belong.
const ACCEPTS: [&str; 4] = [
    r#"{"scheme":"exact","network":"eip155:84532","amount":"50000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}"#,
    r#"{"scheme":"exact","network":"eip155:8453","amount":"50000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"USD Coin","version":"2"}, "receipt": "unknown to payroute, kept all the same"}"#,
    r#"{"scheme":"exact","network":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp","amount":"50000","asset":"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v","payTo":"9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM","maxTimeoutSeconds":60,"extra":{"feePayer":"2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4"}}"#,
    r#"{"scheme":"exact","network":"eip155:8453","amount":"0.05","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","payTo":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","maxTimeoutSeconds":60,"extra":{"name":"USD Coin","version":"2"}}"#,
];

pub(super) fn answer() -> Response {
    let terms = format!(
        r#"{{"x402Version":2,"resource":{{"url":"https://shop.example/report"}},"accepts":[{}]}}"#,
        ACCEPTS.join(",")
    );
    Response {
        status: "402 Payment Required",
        headers: vec![("PAYMENT-REQUIRED", STANDARD.encode(terms))],
        body: "{}".to_owned(),
    }
}
