//! Offers as merchants write them.

use serde_json::{Value, json};

use super::{FEE_PAYER, MERCHANT, MERCHANT_SVM, SOLANA, USDC_BASE, USDC_SEPOLIA, USDC_SOLANA};

pub fn v2(accepts: &[Value]) -> Value {
    json!({"x402Version": 2, "resource": {"url": "https://shop.test/item"}, "accepts": accepts})
}

pub fn base(amount: &str) -> Value {
    evm("eip155:8453", USDC_BASE, "USD Coin", amount)
}

pub fn sepolia(amount: &str) -> Value {
    evm("eip155:84532", USDC_SEPOLIA, "USDC", amount)
}

pub fn solana(amount: &str) -> Value {
    spl(USDC_SOLANA, amount)
}

pub fn evm(network: &str, asset: &str, name: &str, amount: &str) -> Value {
    json!({
        "scheme": "exact", "network": network, "amount": amount, "asset": asset, "payTo": MERCHANT,
        "maxTimeoutSeconds": 60, "extra": {"name": name, "version": "2"},
    })
}

pub fn spl(mint: &str, amount: &str) -> Value {
    json!({
        "scheme": "exact", "network": SOLANA, "amount": amount, "asset": mint, "payTo": MERCHANT_SVM,
        "maxTimeoutSeconds": 60, "extra": {"feePayer": FEE_PAYER},
    })
}

/// `offer` with one field replaced; `null` removes it.
pub fn with(mut offer: Value, field: &str, value: Value) -> Value {
    let object = offer.as_object_mut().unwrap();
    match value {
        Value::Null => object.remove(field),
        value => object.insert(field.to_owned(), value),
    };
    offer
}

/// `offer` with one field of `extra` replaced; `null` removes it.
pub fn with_extra(mut offer: Value, field: &str, value: Value) -> Value {
    let extra = with(offer["extra"].take(), field, value);
    with(offer, "extra", extra)
}
