//! A candidate's rejections in JSON: `rejectionReasons`, the names, and `rejectionDetails`, the particulars by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Rejection, RejectionReason};

/// Both fields, with the details as they are written or as they are read.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RejectionFields<Details> {
    rejection_reasons: Vec<RejectionReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection_details: Option<Details>,
}

/// The details of those that have any, in the order of the reasons.
struct Details<'a>(&'a [Rejection]);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with_detail = self.0.iter().filter(|rejection| !rejection.detail.is_empty());
        serializer.collect_map(with_detail.map(|rejection| (rejection.reason, &rejection.detail)))
    }
}

pub(super) fn serialize<S: Serializer>(rejections: &[Rejection], serializer: S) -> Result<S::Ok, S::Error> {
    let rejection_reasons = rejections.iter().map(|rejection| rejection.reason).collect();
    let any_detail = rejections.iter().any(|rejection| !rejection.detail.is_empty());
    RejectionFields { rejection_reasons, rejection_details: any_detail.then_some(Details(rejections)) }
        .serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rejection>, D::Error> {
    let fields = RejectionFields::<BTreeMap<RejectionReason, String>>::deserialize(deserializer)?;
    let mut details = fields.rejection_details.unwrap_or_default();
    let mut rejections: Vec<Rejection> = Vec::new();
    for reason in fields.rejection_reasons {
        if rejections.iter().all(|known| known.reason != reason) {
            rejections.push(Rejection { reason, detail: details.remove(&reason).unwrap_or_default() });
        }
    }
    Ok(rejections)
}
