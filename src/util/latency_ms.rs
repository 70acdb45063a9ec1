//! A latency for serde: microseconds inside, milliseconds with three decimals in JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(micros: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    micros.map(|us| us as f64 / 1_000.0).serialize(serializer)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at both ends of the type")]
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let millis = Option::<f64>::deserialize(deserializer)?;
    Ok(millis.map(|ms| (ms * 1_000.0 + 0.5) as u64))
}
