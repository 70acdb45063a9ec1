//! Writing: a record and a list are their JSON text from the start, and grow field by field. Through a serde
//! serializer goes what that text says, so that both say the same.

use serde::ser::{Serialize, Serializer};

use crate::util::json::{Json, Members};
use crate::util::text::with_point;

/// A value to write.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub enum Value {
    Null,
    Whole(u64),
    /// A number of the last of so many decimal places: 8067 of 4 places is 0.8067.
    Decimal(u64, u8),
    Text(String),
    List(List),
    Record(Record),
}

/// An array to write: the text of its items so far.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct List(String);

/// An object to write: the text of its fields so far, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct Record(String);

impl Record {
    pub fn put(&mut self, name: &'static str, value: Value) {
        value.write(self.field(name));
    }

    pub fn text(&mut self, name: &'static str, text: &str) {
        write_text(self.field(name), text);
    }

    pub fn whole(&mut self, name: &'static str, number: u64) {
        self.put(name, Value::Whole(number));
    }

    pub fn flag(&mut self, name: &'static str, holds: bool) {
        self.field(name).push_str(if holds { "true" } else { "false" });
    }

    /// A text, unless it is unknown.
    pub fn known_text(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// A number, unless it is unknown.
    pub fn known_whole(&mut self, name: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.whole(name, number);
        }
    }

    pub fn texts<'a>(&mut self, name: &'static str, texts: impl Iterator<Item = &'a str>) {
        let mut list = List::default();
        texts.for_each(|text| write_text(list.item(), text));
        self.put(name, Value::List(list));
    }

    pub fn to_json(self) -> String {
        Value::Record(self).to_json()
    }

    fn field(&mut self, name: &str) -> &mut String {
        write_text(after_comma(&mut self.0), name);
        self.0.push(':');
        &mut self.0
    }
}

impl List {
    fn item(&mut self) -> &mut String {
        after_comma(&mut self.0)
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let mut list = Self::default();
        values.into_iter().for_each(|value| value.write(list.item()));
        list
    }
}

impl Value {
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Null => json.push_str("null"),
            Self::Whole(number) => json.push_str(&number.to_string()),
            Self::Decimal(number, places) => write_decimal(json, *number, usize::from(*places)),
            Self::Text(text) => write_text(json, text),
            Self::List(List(items)) => write_between(json, '[', items, ']'),
            Self::Record(Record(fields)) => write_between(json, '{', fields, '}'),
        }
    }
}

fn write_between(json: &mut String, opening: char, inner: &str, closing: char) {
    json.push(opening);
    json.push_str(inner);
    json.push(closing);
}

fn after_comma(json: &mut String) -> &mut String {
    if !json.is_empty() {
        json.push(',');
    }
    json
}

/// With a point in any case, as floats are written.
fn write_decimal(json: &mut String, number: u64, places: usize) {
    let decimal = with_point(number.to_string(), places);
    json.push_str(&decimal);
    if !decimal.contains('.') {
        json.push_str(".0");
    }
}

/// All that is escaped is one byte long; what lies between is copied as it is.
fn write_text(json: &mut String, text: &str) {
    json.push('"');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F)) {
        let (plain, behind) = rest.split_at_checked(place).unwrap_or_default();
        let mut behind = behind.chars();
        let escaped = behind.next().unwrap_or_default();
        rest = behind.as_str();
        json.push_str(plain);
        json.push('\\');
        json.push(match escaped {
            '\u{8}' => 'b',
            '\u{C}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\0'..='\u{1F}' => 'u',
            itself => itself,
        });
        if json.ends_with('u') {
            json.push_str(&format!("{:04x}", u32::from(escaped)));
        }
    }
    json.push_str(rest);
    json.push('"');
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match Json::parse(&self.to_json()) {
            Ok(json) => json.serialize(serializer),
            Err(error) => Err(serde::ser::Error::custom(error)),
        }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Record(self.clone()).serialize(serializer)
    }
}

/// Text of our own writing, read back: each member and each number is there once and in one form.
impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(Members(members)) = self.members() {
            return serializer.collect_map(members);
        }
        if let Some(items) = self.items() {
            return serializer.collect_seq(items);
        }
        if let Some(text) = self.text() {
            return serializer.serialize_str(&text);
        }
        if let Some(number) = self.whole() {
            return serializer.serialize_u64(number);
        }
        match self.raw() {
            "null" => serializer.serialize_none(),
            "true" => serializer.serialize_bool(true),
            "false" => serializer.serialize_bool(false),
            number => serializer.serialize_f64(number.parse().map_err(serde::ser::Error::custom)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list<const N: usize>(values: [Value; N]) -> Value {
        Value::List(values.into_iter().collect())
    }

    proptest! {
        #[test]
        fn text_and_serializer_say_the_same(text in any::<String>(), whole: u64, flag: bool, parts in 0_u64..100_000) {
            let mut record = Record::default();
            record.text("text", &text);
            record.whole("whole", whole);
            record.flag("flag", flag);
            record.put("share", Value::Decimal(parts, 4));
            record.put("list", list([Value::Null, Value::Decimal(parts, 3), list([])]));
            record.put("record", Value::Record(Record::default()));
            prop_assert_eq!(serde_json::to_string(&record).unwrap(), record.to_json());
        }
    }

    #[test]
    fn decimals() {
        for (number, places, json) in
            [(0, 3, "0.0"), (8_067, 4, "0.8067"), (10_000, 4, "1.0"), (1_250, 3, "1.25"), (1_005, 3, "1.005")]
        {
            assert_eq!(Value::Decimal(number, places).to_json(), json);
        }
    }
}
