//! What the client signed, looked at before it leaves: by the account whose balance was read, and with
//! the approval that the offer needs. Reads payments and changes nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use payroute::{Candidate, Note};
use serde_json::Value;

/// A payment as the merchant will read it.
pub(crate) struct Signed(Value);

impl Signed {
    /// `None` where the header is not what an x402 client makes.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let document = headers.values().find_map(|value| STANDARD.decode(value.as_bytes()).ok())?;
        serde_json::from_slice(&document).ok().map(Self)
    }

    /// Whether `owner` pays; `None` for a payload of a kind that is not known here.
    ///
    /// EVM payloads name the payer; a Solana transaction lists its signers.
    pub(crate) fn is_by(&self, owner: &str) -> Option<bool> {
        let payload = self.0.get("payload")?;
        let authorization = ["authorization", "permit2Authorization"].iter().find_map(|name| payload.get(*name));
        if let Some(payer) = authorization.and_then(|authorization| authorization.get("from")?.as_str()) {
            return Some(payer.eq_ignore_ascii_case(owner));
        }
        let transaction = STANDARD.decode(payload.get("transaction")?.as_str()?).ok()?;
        let owner = bs58::decode(owner).into_vec().ok()?;
        Some(signers(&transaction)?.any(|signer| signer == owner))
    }

    /// The approval that `candidate` is payable with and that the payment does not bring along.
    pub(crate) fn lacks(&self, candidate: &Candidate) -> Option<&'static str> {
        let needed = [
            (Note::Eip2612Sponsored, "eip2612GasSponsoring", "signature"),
            (Note::Erc20ApprovalSponsored, "erc20ApprovalGasSponsoring", "signedTransaction"),
        ];
        let brings = |name: &str, field: &str| {
            self.0.pointer(&format!("/extensions/{name}/info/{field}")).is_some_and(Value::is_string)
        };
        let notes = needed.into_iter().filter(|(note, ..)| candidate.notes.contains(note));
        notes.filter(|(_, name, field)| !brings(name, field)).map(|(_, name, _)| name).next()
    }
}

/// The public keys that must sign a Solana transaction: the first ones that its message lists.
fn signers(transaction: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    const SIGNATURE: usize = 64;
    const KEY: usize = 32;
    const VERSIONED: u8 = 0x80;
    let (signatures, rest) = short_length(transaction)?;
    let message = rest.get(signatures * SIGNATURE..)?;
    let message = if *message.first()? & VERSIONED == 0 { message } else { message.get(1..)? };
    let required = usize::from(*message.first()?);
    let (keys, rest) = short_length(message.get(3..)?)?;
    Some(rest.get(..keys.min(required) * KEY)?.chunks_exact(KEY))
}

/// Solana's length prefix: seven bits a byte, the lowest first, three bytes at most.
fn short_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut length = 0;
    for (place, byte) in bytes.iter().take(3).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((length, bytes.get(place + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn payment(payload: Value, extensions: Value) -> Signed {
        let document = json!({"x402Version": 2, "payload": payload, "extensions": extensions}).to_string();
        let mut headers = HeaderMap::new();
        headers.insert("payment-signature", STANDARD.encode(document).parse().unwrap());
        Signed::read(&headers).unwrap()
    }

    #[test]
    fn the_payer_is_found_in_every_payload_that_is_known() {
        let by = |payload: Value, owner: &str| payment(payload, json!({})).is_by(owner);
        assert_eq!(by(json!({"authorization": {"from": "0xAB"}}), "0xab"), Some(true));
        assert_eq!(by(json!({"permit2Authorization": {"from": "0xAB"}}), "0xAC"), Some(false));
        assert_eq!(by(json!({"voucher": 1}), "0xab"), None);

        let key = |byte: u8| bs58::encode([byte; 32]).into_string();
        // Two signatures, then a versioned message of two signers and one more account.
        let message = [&[0x80, 2, 1, 0, 3][..], &[1; 32], &[2; 32], &[3; 32], &[9; 32], &[0, 0]].concat();
        let transaction = [&[2][..], &[0; 128], &message].concat();
        let by_key = |bytes: &[u8], byte| by(json!({"transaction": STANDARD.encode(bytes)}), &key(byte));
        assert_eq!([1, 2, 3, 9].map(|byte| by_key(&transaction, byte)), [true, true, false, false].map(Some));
        let legacy = [&[2][..], &[0; 128], &message[1..]].concat();
        assert_eq!(by_key(&legacy, 2), Some(true));
        for length in 0..transaction.len() - 34 - 32 {
            assert_eq!(by_key(&transaction[..length], 2), None, "{length} bytes");
        }
    }

    #[test]
    fn an_approval_that_is_needed_must_be_there() {
        let advertised = json!({"eip2612GasSponsoring": {"info": {"description": "", "version": "1"}, "schema": {}}});
        let signed = json!({"eip2612GasSponsoring": {"info": {"signature": "0x12"}}});
        let mut candidate = Candidate::new(0);
        assert_eq!(payment(json!({}), advertised.clone()).lacks(&candidate), None, "not needed");
        candidate.notes.push(Note::Eip2612Sponsored);
        assert_eq!(payment(json!({}), advertised).lacks(&candidate), Some("eip2612GasSponsoring"));
        assert_eq!(payment(json!({}), signed.clone()).lacks(&candidate), None);
        candidate.notes = vec![Note::Erc20ApprovalSponsored];
        assert_eq!(payment(json!({}), signed).lacks(&candidate), Some("erc20ApprovalGasSponsoring"));
    }
}
