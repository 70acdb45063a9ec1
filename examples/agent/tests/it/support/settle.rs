//! Judging and settling a payment on the local chains, as a facilitator does.

use alloy_primitives::{Address, B256, Bytes, Signature, U256};
use alloy_sol_types::{Eip712Domain, SolCall, SolStruct, eip712_domain, sol};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_keypair::Keypair;
use solana_pubkey::Pubkey;
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;

use super::Chains;
use super::merchant::Settled;

sol! {
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes signature
    );
}

/// What is to be paid.
pub struct Offer {
    network: String,
    amount: u64,
    asset: String,
    pay_to: String,
    timeout: u64,
    extra: Value,
}

impl Offer {
    pub fn read(offer: &Value) -> Self {
        let text = |field: &str| offer[field].as_str().unwrap().to_owned();
        let network = match &*text("network") {
            "base" => super::BASE.to_owned(),
            "base-sepolia" => super::SEPOLIA.to_owned(),
            "solana" => super::SOLANA.to_owned(),
            id => id.to_owned(),
        };
        let amount = if offer["amount"].is_string() { text("amount") } else { text("maxAmountRequired") };
        Self {
            network,
            amount: amount.parse().unwrap(),
            asset: text("asset"),
            pay_to: text("payTo"),
            timeout: offer["maxTimeoutSeconds"].as_u64().unwrap(),
            extra: offer["extra"].clone(),
        }
    }
}

/// Settles what a scheme made of the offer.
///
/// # Errors
/// The payload does not pay this offer, or the chain refuses it.
pub async fn settle(offer: &Offer, payload: &Value) -> Result<Settled, String> {
    let payer = match offer.network.starts_with("eip155:") {
        true => settle_evm(offer, payload).await?,
        false => settle_solana(offer, payload).await?,
    };
    Ok(Settled { network: offer.network.clone(), payer, amount: offer.amount })
}

async fn settle_evm(offer: &Offer, payload: &Value) -> Result<String, String> {
    let authorization = authorization(offer, &payload["authorization"])?;
    let signature: Bytes = parse(&payload["signature"])?;
    let digest = authorization.eip712_signing_hash(&domain(offer));
    let signer = Signature::from_raw(&signature).and_then(|s| s.recover_address_from_prehash(&digest));
    if signer.map_err(|error| error.to_string())? != authorization.from {
        return Err("not signed by the payer".into());
    }
    let TransferWithAuthorization { from, to, value, validAfter, validBefore, nonce } = authorization;
    let call = transferWithAuthorizationCall { from, to, value, validAfter, validBefore, nonce, signature };
    let transaction = json!({
        "from": Chains::get().party("treasury", &offer.network), "to": offer.asset, "gasPrice": "0x0",
        "data": Bytes::from(call.abi_encode()),
    });
    let chains = Chains::get();
    let hash = chains.ask(&offer.network, "eth_sendTransaction", json!([transaction])).await;
    loop {
        let receipt = chains.ask(&offer.network, "eth_getTransactionReceipt", json!([hash])).await;
        match receipt["status"].as_str() {
            Some("0x1") => return Ok(from.to_string()),
            Some(_) => return Err("the transfer reverted".into()),
            None => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    }
}

fn authorization(offer: &Offer, fields: &Value) -> Result<TransferWithAuthorization, String> {
    let number = |field: &str| -> Result<U256, String> { parse(&fields[field]) };
    let authorization = TransferWithAuthorization {
        from: parse(&fields["from"])?,
        to: parse(&fields["to"])?,
        value: number("value")?,
        validAfter: number("validAfter")?,
        validBefore: number("validBefore")?,
        nonce: parse::<B256>(&fields["nonce"])?,
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let good = [
        ("to", authorization.to == offer.pay_to.parse::<Address>().unwrap()),
        ("value", authorization.value == U256::from(offer.amount)),
        ("validAfter", authorization.validAfter <= U256::from(now)),
        ("validBefore", authorization.validBefore > U256::from(now)),
        ("validBefore", authorization.validBefore <= U256::from(now + offer.timeout)),
    ];
    match good.into_iter().find(|(_, good)| !good) {
        Some((field, _)) => Err(format!("{field} is not what was offered")),
        None => Ok(authorization),
    }
}

fn domain(offer: &Offer) -> Eip712Domain {
    let text = |field: &str| offer.extra[field].as_str().unwrap().to_owned();
    let chain_id: u64 = offer.network["eip155:".len()..].parse().unwrap();
    eip712_domain! {
        name: text("name"),
        version: text("version"),
        chain_id: chain_id,
        verifying_contract: offer.asset.parse().unwrap(),
    }
}

fn parse<T: std::str::FromStr>(value: &Value) -> Result<T, String> {
    let text = value.as_str().ok_or_else(|| format!("{value} is no text"))?;
    text.parse().map_err(|_| format!("{text} is not accepted"))
}

/// Checks the one transfer, adds the fee payer's signature and sends the transaction.
async fn settle_solana(offer: &Offer, payload: &Value) -> Result<String, String> {
    let bytes = STANDARD.decode(payload["transaction"].as_str().unwrap()).map_err(|error| error.to_string())?;
    let mut transaction: VersionedTransaction = bincode::deserialize(&bytes).map_err(|error| error.to_string())?;
    let payer = check_transfer(offer, &transaction)?;
    let fee_payer = fee_payer();
    transaction.signatures[0] = fee_payer.sign_message(&transaction.message.serialize());
    let text = STANDARD.encode(bincode::serialize(&transaction).unwrap());
    let chains = Chains::get();
    let signature = chains.ask(&offer.network, "sendTransaction", json!([text, {"encoding": "base64"}])).await;
    let status = chains.ask(&offer.network, "getSignatureStatuses", json!([[signature]])).await;
    match status["value"][0]["err"].is_null() && status["value"][0].is_object() {
        true => Ok(payer.to_string()),
        false => Err(format!("the cluster refused it: {status}")),
    }
}

fn check_transfer(offer: &Offer, transaction: &VersionedTransaction) -> Result<Pubkey, String> {
    const TOKEN: Pubkey = Pubkey::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
    const ASSOCIATED: Pubkey = Pubkey::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
    const TRANSFER_CHECKED: u8 = 12;
    let keys = transaction.message.static_account_keys();
    let transfers: Vec<_> =
        transaction.message.instructions().iter().filter(|i| keys[usize::from(i.program_id_index)] == TOKEN).collect();
    let [transfer] = transfers[..] else { return Err("not one transfer".into()) };
    let account = |place: usize| keys[usize::from(transfer.accounts[place])];
    let (mint, pay_to): (Pubkey, Pubkey) = (offer.asset.parse().unwrap(), offer.pay_to.parse().unwrap());
    let seeds = [pay_to.as_ref(), TOKEN.as_ref(), mint.as_ref()];
    let destination = Pubkey::find_program_address(&seeds, &ASSOCIATED).0;
    let good = [
        ("instruction", transfer.data[0] == TRANSFER_CHECKED),
        ("amount", transfer.data[1..9] == offer.amount.to_le_bytes()),
        ("mint", account(1) == mint),
        ("destination", account(2) == destination),
        ("fee payer", keys[0] == fee_payer().pubkey() && offer.extra["feePayer"] == keys[0].to_string()),
    ];
    match good.into_iter().find(|(_, good)| !good) {
        Some((what, _)) => Err(format!("the {what} is not what was offered")),
        None => Ok(account(3)),
    }
}

/// The key that `tests/localnet` documents.
fn fee_payer() -> Keypair {
    let seed: [u8; 32] = Sha256::digest("payroute localnet feePayer").into();
    Keypair::new_from_array(seed)
}
