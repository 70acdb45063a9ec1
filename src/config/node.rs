//! The document as a tree, whatever format it came in. Keeps what a checked reading needs and a map would lose: keys
//! that are there twice, and whole numbers past 2^53.
//!
//! A derived `Deserialize` would not do: serde's messages quote values, which may be secrets, and do not say what is
//! accepted.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::config_error::ConfigurationError;
use crate::util::json::{Json, Kind, Members};

/// How deep a tree goes: twice as deep as any field of a configuration. A list or an object below that is empty; it is
/// refused further up.
const LEVELS: usize = 12;

/// 2^64, the first whole number that is too large for `u64`.
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;

/// A value of the document. Not `Debug`: it may be a secret.
#[derive(Clone)]
pub(super) enum Node {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order they are written, repeated keys and all.
    Object(Vec<(String, Node)>),
    /// A text, or an object with a key, that JSON's escapes leave without half of a surrogate pair.
    NotUnicode(Kind),
}

#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(u64),
    /// A whole number below 0 or past `u64`.
    Outside,
    /// Written with a point or an exponent; infinite where `f64` is too small for it.
    Fraction(f64),
}

impl Node {
    /// JSON is read by its exact text: serde_json alone would make a fraction of a number past `u64`, and would not say
    /// where a surrogate or `1e400` stands.
    pub(super) fn from_json(text: &str) -> Result<Self, ConfigurationError> {
        let json = Json::parse(text);
        let json = json.map_err(|error| ConfigurationError::new(".", &error.to_string(), "one JSON object"))?;
        Ok(Self::within(json, LEVELS))
    }

    fn within(json: Json<'_>, levels: usize) -> Self {
        let below = levels.checked_sub(1);
        let item = |json| below.map(|levels| Self::within(json, levels));
        let kind = json.kind();
        match kind {
            Kind::Null => Self::Null,
            Kind::Boolean => Self::Flag(json.raw() == "true"),
            Kind::Number => Self::Number(Number::from_json(json)),
            Kind::Text => json.text().map_or(Self::NotUnicode(kind), Self::Text),
            Kind::Array => Self::List(json.items().into_iter().flatten().filter_map(item).collect()),
            Kind::Object => match json.members() {
                Some(Members(members)) => {
                    let member = |(name, json)| Some((name, item(json)?));
                    Self::Object(members.into_iter().filter_map(member).collect())
                }
                None => Self::NotUnicode(kind),
            },
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Flag(_) => Kind::Boolean,
            Self::Number(_) => Kind::Number,
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
            Self::NotUnicode(kind) => *kind,
        }
    }
}

impl Number {
    fn from_json(json: Json<'_>) -> Self {
        let is_fraction = json.raw().bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        match json.whole() {
            Some(number) => Self::Whole(number),
            None if is_fraction => Self::Fraction(serde_json::from_str(json.raw()).unwrap_or(f64::INFINITY)),
            None => Self::Outside,
        }
    }
}

impl From<u64> for Node {
    fn from(number: u64) -> Self {
        Self::Number(Number::Whole(number))
    }
}

impl From<usize> for Node {
    fn from(number: usize) -> Self {
        Self::Number(u64::try_from(number).map_or(Number::Outside, Number::Whole))
    }
}

impl From<f64> for Node {
    fn from(number: f64) -> Self {
        let is_outside = number.is_sign_negative() || number >= TOO_LARGE;
        Self::Number(if number.is_finite() && is_outside { Number::Outside } else { Number::Fraction(number) })
    }
}

impl From<bool> for Node {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Levels(LEVELS).deserialize(deserializer)
    }
}

/// Makes a tree of so many levels.
#[derive(Clone, Copy)]
struct Levels(usize);

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a configuration")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(flag.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(u64::try_from(number).map_or(Node::Number(Number::Outside), Node::from))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Node, E> {
        Ok(u64::try_from(number).map_or(Node::Number(Number::Outside), Node::from))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Node, E> {
        Ok(u64::try_from(number).map_or(Node::Number(Number::Outside), Node::from))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        match self.0.checked_sub(1) {
            Some(levels) => {
                while let Some(item) = items.next_element_seed(Levels(levels))? {
                    list.push(item);
                }
            }
            None => while items.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        match self.0.checked_sub(1) {
            Some(levels) => {
                while let Some(name) = map.next_key()? {
                    members.push((name, map.next_value_seed(Levels(levels))?));
                }
            }
            None => while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
        }
        Ok(Node::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What a tree says, unless JSON's values cannot say it.
    fn said(node: &Node) -> Option<Value> {
        Some(match node {
            Node::Null => Value::Null,
            Node::Flag(flag) => (*flag).into(),
            Node::Number(Number::Whole(number)) => (*number).into(),
            Node::Number(Number::Fraction(number)) => (*number).into(),
            Node::Text(text) => text.as_str().into(),
            Node::List(items) => items.iter().map(said).collect::<Option<Vec<_>>>()?.into(),
            Node::Object(members) => {
                let member = |(name, node): &(String, Node)| Some((name.clone(), said(node)?));
                Value::Object(members.iter().map(member).collect::<Option<_>>()?)
            }
            Node::Number(Number::Outside) | Node::NotUnicode(_) => return None,
        })
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            (0..1_000_000_u32).prop_map(|number| (f64::from(number) / 1_024.0).into()),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_document_says_the_same_however_it_is_read(document in documents()) {
            let text = document.to_string();
            prop_assert_eq!(said(&Node::from_json(&text).unwrap()), Some(document.clone()));
            prop_assert_eq!(said(&serde_json::from_str(&text).unwrap()), Some(document.clone()));
            prop_assert_eq!(said(&serde_json::from_value(document.clone()).unwrap()), Some(document));
        }
    }

    #[test]
    fn whole_numbers_are_exact_or_outside() {
        for (text, kept) in [
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("-9223372036854775808", None),
            ("-9223372036854775809", None),
        ] {
            for node in [Node::from_json(text).unwrap(), serde_json::from_str(text).unwrap()] {
                match (node, kept) {
                    (Node::Number(Number::Whole(number)), Some(kept)) => assert_eq!(number, kept),
                    (Node::Number(Number::Outside), None) => {}
                    _ => panic!("{text}"),
                }
            }
        }
    }

    #[test]
    fn fractions_are_the_nearest_floats() {
        for text in ["0.2", "0.20", "2e-1", "20E-2", "0.05", "1.5", "0.123456789", "1e-7", "0.999", "12.5e1"] {
            let Node::Number(Number::Fraction(number)) = Node::from_json(text).unwrap() else { panic!("{text}") };
            assert_eq!(Some(number), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn repeated_keys_stay_and_depth_ends() {
        let text = r#"{"b":1,"a":[],"b":2}"#;
        for node in [Node::from_json(text).unwrap(), serde_json::from_str(text).unwrap()] {
            let Node::Object(members) = node else { panic!("an object") };
            assert_eq!(members.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a", "b"]);
        }
        fn depth(node: &Node) -> usize {
            match node {
                Node::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
                _ => 0,
            }
        }
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        for (levels, kept) in [(LEVELS, LEVELS), (LEVELS + 1, LEVELS + 1), (1_000_000, LEVELS + 1)] {
            assert_eq!(depth(&Node::from_json(&nested(levels)).unwrap()), kept);
            assert_eq!(depth(&serde_json::from_str(&nested(levels)).unwrap()), kept);
        }
    }
}
