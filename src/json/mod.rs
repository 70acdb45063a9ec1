//! JSON read strictly: every key once, objects as objects, numbers as their original text.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::text::shown;

/// A JSON object whose values keep their text. A key that appears twice is refused: two readers
/// could pick different ones.
pub(crate) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value of `key`; `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied().filter(|value| value.get() != "null")
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = (String, &'a RawValue)> {
        self.0.into_iter()
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor).map(Self)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = BTreeMap<String, &'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = access.next_key::<String>()? {
            if entries.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{}`", shown(&key))));
            }
            entries.insert(key, access.next_value::<&RawValue>()?);
        }
        Ok(entries)
    }
}

/// The members of a JSON object in the order they are written, repeated keys and all.
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The values of `names`, `null` as absent; `None` when a name is there twice. Other members may
    /// be whatever they are.
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> Option<[Option<&'a RawValue>; N]> {
        let mut values = [None; N];
        for (name, value) in names.iter().zip(&mut values) {
            let mut named = self.0.iter().filter(|(key, _)| key == name);
            *value = named.next().map(|(_, value)| *value).filter(|value| value.get() != "null");
            if named.next().is_some() {
                return None;
            }
        }
        Some(values)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// A struct that is written as an object and as nothing else: serde alone would also take an array of
/// its fields.
#[derive(Debug, Default)]
pub(crate) struct Record<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Record<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor(PhantomData)).map(Self)
    }
}

impl<T: Serialize> Serialize for Record<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

struct RecordVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for RecordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(access))
    }
}

/// What kind of value a text is, for error messages.
pub(crate) fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Whether `text` nests deeper than `limit`. Looks at brackets outside strings only, before any
/// parser recurses.
pub(crate) fn nests_deeper_than(text: &str, limit: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth = depth.saturating_add(1);
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_named_wherever_they_stand() {
        let error = |text| Object::parse(text).err().map(|e| e.to_string()).unwrap();
        assert!(error(r#"{"a":1,"a":2}"#).starts_with("duplicate key `a`"));
        assert!(error(r#"{"a":1,"\u0061":2}"#).starts_with("duplicate key `a`"));
        assert!(Object::parse(r#"{"a":{"b":1},"b":2}"#).is_ok());
    }

    #[test]
    fn a_record_is_no_array() {
        #[derive(Debug, serde::Deserialize)]
        struct Point {
            x: u8,
        }
        assert_eq!(serde_json::from_str::<Record<Point>>(r#"{"x":5}"#).unwrap().0.x, 5);
        let error = serde_json::from_str::<Record<Point>>("[5]").unwrap_err().to_string();
        assert!(error.starts_with("invalid type: sequence, expected an object"), "{error}");
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!nests_deeper_than(r#"{"a":["[[[[\"[["]}"#, 2));
        assert!(nests_deeper_than(r#"{"a":[[]]}"#, 2));
        assert!(nests_deeper_than(&"[".repeat(10_000), 32));
    }
}
