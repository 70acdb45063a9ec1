//! JSON as exact text, by serde_json: a value is checked once, its parts are found when they are asked for, and a
//! number is never rounded.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::util::text::shown;

/// A JSON value as its exact text, without the white space around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'a>(&'a RawValue);

/// The place where a text stops being JSON; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The kind of a value, for messages that say which kind is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Object,
    Array,
    Boolean,
    Null,
    Number,
}

impl Kind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Number => "a number",
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is not JSON (line {}, column {})", self.line, self.column)
    }
}

impl<'a> From<&'a RawValue> for Json<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value)
    }
}

impl<'a> Json<'a> {
    /// The one value that `text` is.
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let value = serde_json::from_str(text);
        value.map(Self).map_err(|error| SyntaxError { line: error.line(), column: error.column().max(1) })
    }

    /// The value that `text` starts with, whatever follows.
    pub(crate) fn start_of(text: &'a str) -> Option<Self> {
        serde_json::Deserializer::from_str(text).into_iter().next()?.ok().map(Self)
    }

    /// A copy that outlives the document.
    pub(crate) fn to_owned(self) -> Box<RawValue> {
        self.0.to_owned()
    }

    /// The exact text.
    pub(crate) fn raw(self) -> &'a str {
        self.0.get()
    }

    pub(crate) fn kind(self) -> Kind {
        match self.raw().as_bytes() {
            [b'"', ..] => Kind::Text,
            [b'{', ..] => Kind::Object,
            [b'[', ..] => Kind::Array,
            [b't' | b'f', ..] => Kind::Boolean,
            [b'n', ..] => Kind::Null,
            _ => Kind::Number,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    pub(crate) fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// The text of a string; `None` for every other kind, and where an escape is half of a surrogate pair.
    pub(crate) fn text(self) -> Option<String> {
        self.part()
    }

    /// The text of a string. The problem is the end of a sentence that starts with the value's name.
    pub(crate) fn string(self) -> Result<String, String> {
        self.text().ok_or_else(|| match self.kind() {
            Kind::Text => "is not valid Unicode text".to_owned(),
            kind => format!("is {}; accepted is a string", kind.words()),
        })
    }

    /// A number in digits only, such as `5`; `None` for `5.0`, `-5`, a larger one and every other kind.
    pub(crate) fn whole(self) -> Option<u64> {
        self.raw().parse().ok()
    }

    /// The items of an array.
    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let items: Vec<&RawValue> = self.part()?;
        Some(items.into_iter().map(Self).collect())
    }

    /// The members of an object in the order they are written, repeated names included; `None` for every other kind,
    /// and where a name is not Unicode text.
    pub(crate) fn members(self) -> Option<Members<'a>> {
        self.part()
    }

    fn part<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.raw()).ok()
    }

    /// The members of an object that has each name once. If a name had two values, two readers could take different
    /// ones. The problem is the end of a sentence that starts with the value's name.
    pub(crate) fn object(self) -> Result<Members<'a>, String> {
        let members = match self.members() {
            Some(members) => members,
            None if self.is_object() => return Err("has a name that is not valid Unicode text".to_owned()),
            None => return Err(format!("is {}; accepted is an object", self.kind().words())),
        };
        match members.repeated() {
            Some(name) => Err(format!("has a duplicate key `{}`", shown(name))),
            None => Ok(members),
        }
    }
}

/// The members of an object.
pub(crate) struct Members<'a>(pub(crate) Vec<(String, Json<'a>)>);

impl<'a> Members<'a> {
    /// The last value of `name`; `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<Json<'a>> {
        let named = self.0.iter().rev().find(|(key, _)| key == name);
        named.map(|(_, value)| *value).filter(|value| !value.is_null())
    }

    /// The values of `names`, `null` as absent; `None` when one of them is there twice. Other members are not looked
    /// at.
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> Option<[Option<Json<'a>>; N]> {
        let once = |name: &&str| self.0.iter().filter(|(key, _)| key == name).count() <= 1;
        names.iter().all(once).then(|| names.map(|name| self.get(name)))
    }

    /// A name that occurs twice.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        })
    }
}

/// Keeps repeated names, which a map would drop.
impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((name, Json(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// Whether `text` nests deeper than `limit`. Looks at brackets outside strings only.
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
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// Texts near the edge of what is JSON, put together of its own pieces.
    fn texts() -> impl Strategy<Value = String> {
        const PIECES: [&str; 40] = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"b\":",
            "\\",
            "\\u",
            "d800",
            "dc00",
            "\\ud83d\\ude00",
            "\\n",
            "\\x",
            "true",
            "false",
            "null",
            "nul",
            "0",
            "00",
            "-",
            "-0",
            "1",
            "12",
            ".",
            ".5",
            "e",
            "E+",
            "e-7",
            " ",
            "\n",
            "\t",
            "\u{1}",
            "é",
            "😀",
            "\u{FEFF}",
            "\u{7f}",
            "{\"a\":1,\"a\":[2]}",
        ];
        prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..12).prop_map(|pieces| pieces.concat())
    }

    /// What a text says, by this reader.
    fn ours(json: Json<'_>) -> Option<serde_json::Value> {
        Some(match json.kind() {
            Kind::Text => json.text()?.into(),
            Kind::Array => json.items()?.into_iter().map(ours).collect::<Option<Vec<_>>>()?.into(),
            Kind::Object => {
                let Members(members) = json.members()?;
                let member = |(name, value)| Some((name, ours(value)?));
                serde_json::Value::Object(members.into_iter().map(member).collect::<Option<_>>()?)
            }
            Kind::Number => {
                json.whole().map_or_else(|| serde_json::from_str(json.raw()).ok(), |whole| Some(whole.into()))?
            }
            _ => serde_json::from_str(json.raw()).ok()?,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]

        #[test]
        fn what_is_json_and_what_it_says_is_as_serde_json_has_it(text in texts()) {
            let theirs = serde_json::from_str::<&RawValue>(&text);
            let read = Json::parse(&text);
            prop_assert_eq!(read.is_ok(), theirs.is_ok(), "{}", text);
            if let (Ok(ours_read), Ok(theirs)) = (read, theirs) {
                prop_assert_eq!(ours_read.raw(), theirs.get());
                prop_assert_eq!(ours(ours_read), serde_json::from_str(&text).ok(), "{}", text);
            }
        }

        #[test]
        fn whole_documents_too(text in documents()) {
            prop_assert_eq!(ours(Json::parse(&text).unwrap()), serde_json::from_str(&text).ok());
        }
    }

    fn documents() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        let value = leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        });
        (value, any::<bool>()).prop_map(|(value, pretty)| {
            if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap()
        })
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(Json::parse(&deep).is_ok());
        assert!(Json::parse(&deep[1..]).is_err());
    }

    #[test]
    fn duplicates_are_named_wherever_they_stand() {
        let error = |text| Json::parse(text).unwrap().object().err().unwrap();
        assert_eq!(error(r#"{"a":1,"a":2}"#), "has a duplicate key `a`");
        assert_eq!(error(r#"{"a":1,"\u0061":2}"#), "has a duplicate key `a`");
        assert_eq!(error("[1]"), "is an array; accepted is an object");
        assert_eq!(error(r#"{"\ud800":1}"#), "has a name that is not valid Unicode text");
        assert!(Json::parse(r#"{"a":{"b":1},"b":2}"#).unwrap().object().is_ok());
    }

    #[test]
    fn a_problem_has_its_place() {
        for (text, line, column) in [("", 1, 1), ("{\n  \"a\": x}", 2, 8), ("{} {}", 1, 4), ("[1,]", 1, 4)] {
            assert_eq!(Json::parse(text).err(), Some(SyntaxError { line, column }), "{text:?}");
        }
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!nests_deeper_than(r#"{"a":["[[[[\"[["]}"#, 2));
        assert!(nests_deeper_than(r#"{"a":[[]]}"#, 2));
        assert!(nests_deeper_than(&"[".repeat(10_000), 32));
    }
}
