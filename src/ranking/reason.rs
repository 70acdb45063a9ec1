//! Why an offer cannot be paid: a closed set of reasons with stable names.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Record, Value};

/// Why a candidate cannot be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// The reason, for programs.
    pub reason: RejectionReason,
    /// The particulars, for people; may be empty.
    pub detail: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.sentence())?;
        f.write_str(if self.detail.is_empty() { "" } else { ": " })?;
        f.write_str(&self.detail)
    }
}

/// A candidate's rejections. In JSON: `rejectionReasons`, the names, and `rejectionDetails`, the
/// particulars by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejections(Vec<Rejection>);

impl Rejections {
    /// Each reason is there once, with all of its particulars, and those once too.
    pub(crate) fn add(&mut self, rejection: Rejection) {
        match self.0.iter_mut().find(|known| known.reason == rejection.reason) {
            None => self.0.push(rejection),
            Some(known) if known.detail.contains(&rejection.detail) => {}
            Some(known) if known.detail.is_empty() => known.detail = rejection.detail,
            Some(known) => known.detail = format!("{}; {}", known.detail, rejection.detail),
        }
    }

    /// The names, and by name the particulars of those that have any.
    pub(crate) fn write_to(&self, record: &mut Record) {
        record.texts("rejectionReasons", self.iter().map(|rejection| rejection.reason.name()));
        let mut by_name = Record::default();
        for Rejection { reason, detail } in self.iter().filter(|rejection| !rejection.detail.is_empty()) {
            by_name.text(reason.name(), detail);
        }
        if by_name != Record::default() {
            record.put("rejectionDetails", Value::Record(by_name));
        }
    }
}

impl std::ops::Deref for Rejections {
    type Target = [Rejection];

    fn deref(&self) -> &[Rejection] {
        &self.0
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RejectionsJson {
    rejection_reasons: Vec<RejectionReason>,
    #[serde(default)]
    rejection_details: BTreeMap<RejectionReason, String>,
}

impl Serialize for Rejections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = Record::default();
        self.write_to(&mut record);
        record.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rejections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = RejectionsJson::deserialize(deserializer)?;
        let details = &mut json.rejection_details;
        let mut restored = Self::default();
        for reason in json.rejection_reasons {
            restored.add(Rejection { reason, detail: details.remove(&reason).unwrap_or_default() });
        }
        Ok(restored)
    }
}

/// What kind of obstacle a reason is; it decides the error code when nothing can be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The offer, or this configuration, does not allow for it.
    Unsupported,
    /// The buyer's policy refused it.
    Policy,
    /// The buyer holds too little.
    Funds,
    /// The buyer has not approved enough.
    Approval,
    /// The chain could not be read.
    Unread,
    /// The chain was read and says no.
    Chain,
}

/// The closed set of reasons for which an offer cannot be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RejectionReason {
    /// No owner address is configured for the network.
    NoOwner,
    /// The entry cannot be paid as written.
    MalformedRequirement,
    /// The network is neither built in nor configured, or has no endpoint.
    NetworkUnknown,
    /// `policy.allowedNetworks` does not list the network.
    NetworkNotAllowed,
    /// The scheme is not one that payroute can judge.
    SchemeUnsupported,
    /// The way the token would move is not one that payroute can judge, or the token or the recipient's account
    /// does not take it.
    TransferMethodUnsupported,
    /// The asset is neither built in nor configured; it is never queried.
    AssetUnsupported,
    /// `policy.allowedAssets` does not list the asset.
    AssetNotAllowed,
    /// The price is over `policy.maxAmount`.
    AmountOverLimit,
    /// The balance was read and is below the price.
    InsufficientBalance,
    /// The balance could not be read. Says nothing about the buyer's funds.
    BalanceUnavailable,
    /// Every endpoint that answered serves another chain.
    ChainIdentityMismatch,
    /// Permit2's allowance of the token is below what is due, and nothing that the 402 offers stands in
    /// for it; [`Candidate::approval`](crate::Candidate::approval) is what to send first.
    AllowanceRequired,
    /// The buyer's or the recipient's token account is frozen.
    AccountFrozen,
    /// The token refuses the buyer's address.
    AccountBlocked,
    /// The token is paused.
    TokenPaused,
    /// `extra.name` or `extra.version`, which the signature needs, is missing.
    DomainMissing,
    /// The token's signing domain is not the one that the offer states.
    DomainMismatch,
    /// `extra.feePayer` is missing, is no address, or is the buyer.
    FeePayerMissing,
    /// The recipient has no token account to receive into.
    RecipientAccountMissing,
    /// There is no contract at the asset's address.
    AssetNotContract,
    /// This scheme pays out of a deposit, and the balance is below what must be deposited.
    DepositRequired,
}

impl RejectionReason {
    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The reason in words, lower case, without a full stop.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn obstacle(self) -> Obstacle {
        self.row().2
    }

    #[rustfmt::skip] // One row a reason reads as the table that it is.
    fn row(self) -> (&'static str, &'static str, Obstacle) {
        use Obstacle::{Approval, Chain, Funds, Policy, Unread, Unsupported};
        match self {
            Self::NoOwner => ("no-owner", "no owner address is configured", Unsupported),
            Self::MalformedRequirement => ("malformed-requirement", "cannot be paid as written", Unsupported),
            Self::NetworkUnknown => ("network-unknown", "the network is not configured", Unsupported),
            Self::NetworkNotAllowed => ("network-not-allowed", "the policy does not allow the network", Policy),
            Self::SchemeUnsupported => ("scheme-unsupported", "the payment scheme is not supported", Unsupported),
            Self::TransferMethodUnsupported => ("transfer-method-unsupported", "the transfer method is not supported", Unsupported),
            Self::AssetUnsupported => ("asset-unsupported", "the asset is not configured", Unsupported),
            Self::AssetNotAllowed => ("asset-not-allowed", "the policy does not allow the asset", Policy),
            Self::AmountOverLimit => ("amount-over-limit", "the price is over the policy's limit", Policy),
            Self::InsufficientBalance => ("insufficient-balance", "the balance is too low", Funds),
            Self::BalanceUnavailable => ("balance-unavailable", "the balance could not be read", Unread),
            Self::ChainIdentityMismatch => ("chain-identity-mismatch", "the endpoint serves another chain", Unread),
            Self::AllowanceRequired => ("allowance-required", "the token allowance is too low", Approval),
            Self::AccountFrozen => ("account-frozen", "the token account is frozen", Chain),
            Self::AccountBlocked => ("account-blocked", "the token refuses the address", Chain),
            Self::TokenPaused => ("token-paused", "the token is paused", Chain),
            Self::DomainMissing => ("domain-missing", "the offer does not state the token's signing domain", Unsupported),
            Self::DomainMismatch => ("domain-mismatch", "the token's signing domain is another", Chain),
            Self::FeePayerMissing => ("fee-payer-missing", "the offer names no fee payer", Unsupported),
            Self::RecipientAccountMissing => ("recipient-account-missing", "the recipient has no token account", Chain),
            Self::AssetNotContract => ("asset-not-contract", "there is no contract at the asset's address", Chain),
            Self::DepositRequired => ("deposit-required", "the balance is too low for the deposit", Funds),
        }
    }
}

impl fmt::Display for RejectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_there_once_with_all_that_was_said_of_it() {
        let mut rejections = Rejections::default();
        for (reason, detail) in [
            (RejectionReason::TokenPaused, "b"),
            (RejectionReason::AccountFrozen, "ours"),
            (RejectionReason::AccountFrozen, "theirs"),
            (RejectionReason::AccountFrozen, "ours"),
            (RejectionReason::NoOwner, ""),
            (RejectionReason::NoOwner, "a"),
            (RejectionReason::NoOwner, ""),
        ] {
            rejections.add(Rejection { reason, detail: detail.to_owned() });
        }
        let json = serde_json::to_string(&rejections).unwrap();
        let expected = r#"{"rejectionReasons":["token-paused","account-frozen","no-owner"],"rejectionDetails":{"token-paused":"b","account-frozen":"ours; theirs","no-owner":"a"}}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Rejections>(&json).unwrap(), rejections);
    }
}
