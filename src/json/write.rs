//! Writing: a record is put together field by field and then written, as JSON text or through any serde
//! serializer, so that both say the same.

use std::fmt::{self, Write as _};

use serde::ser::{Serialize, Serializer};

/// A value to write.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub enum Value {
    Null,
    Flag(bool),
    Whole(u64),
    /// A number of the last of so many decimal places: 8067 of 4 places is 0.8067.
    Decimal(u64, u8),
    Text(String),
    List(Vec<Value>),
    Record(Record),
    /// JSON as it is.
    Json(String),
}

/// An object to write, its fields in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct Record(Vec<(&'static str, Value)>);

impl Record {
    pub fn put(&mut self, name: &'static str, value: Value) {
        self.0.push((name, value));
    }

    pub fn text(&mut self, name: &'static str, text: &str) {
        self.put(name, Value::Text(text.to_owned()));
    }

    pub fn whole(&mut self, name: &'static str, number: u64) {
        self.put(name, Value::Whole(number));
    }

    pub fn flag(&mut self, name: &'static str, holds: bool) {
        self.put(name, Value::Flag(holds));
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
        self.put(name, Value::List(texts.map(|text| Value::Text(text.to_owned())).collect()));
    }

    pub fn to_json(self) -> String {
        Value::Record(self).to_json()
    }
}

impl Value {
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut json);
        json
    }

    fn write(&self, json: &mut String) -> fmt::Result {
        match self {
            Self::Null => json.push_str("null"),
            Self::Flag(holds) => json.push_str(if *holds { "true" } else { "false" }),
            Self::Whole(number) => write!(json, "{number}")?,
            Self::Decimal(number, places) => write_decimal(json, *number, usize::from(*places))?,
            Self::Text(text) => write_text(json, text)?,
            Self::Json(text) => json.push_str(text),
            Self::List(values) => {
                json.push('[');
                for (position, value) in values.iter().enumerate() {
                    separate(json, position);
                    value.write(json)?;
                }
                json.push(']');
            }
            Self::Record(Record(fields)) => {
                json.push('{');
                for (position, (name, value)) in fields.iter().enumerate() {
                    separate(json, position);
                    write_text(json, name)?;
                    json.push(':');
                    value.write(json)?;
                }
                json.push('}');
            }
        }
        Ok(())
    }
}

fn separate(json: &mut String, position: usize) {
    if position > 0 {
        json.push(',');
    }
}

/// With a point in any case, as floats are written.
fn write_decimal(json: &mut String, number: u64, places: usize) -> fmt::Result {
    let digits = format!("{number:0>width$}", width = places.saturating_add(1));
    let (whole, fraction) = digits.split_at_checked(digits.len().saturating_sub(places)).unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    write!(json, "{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

fn write_text(json: &mut String, text: &str) -> fmt::Result {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{8}' => json.push_str("\\b"),
            '\u{C}' => json.push_str("\\f"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\0'..='\u{1F}' => write!(json, "\\u{:04x}", u32::from(c))?,
            _ => json.push(c),
        }
    }
    json.push('"');
    Ok(())
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Flag(holds) => serializer.serialize_bool(*holds),
            Self::Whole(number) => serializer.serialize_u64(*number),
            Self::Decimal(number, places) => {
                let scale = (0..*places).fold(1.0, |scale, _| scale * 10.0);
                serializer.serialize_f64(*number as f64 / scale)
            }
            Self::Text(text) | Self::Json(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Record(record) => record.serialize(serializer),
        }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_and_serializer_say_the_same(text in any::<String>(), whole: u64, flag: bool, parts in 0_u64..100_000) {
            let mut record = Record::default();
            record.text("text", &text);
            record.whole("whole", whole);
            record.flag("flag", flag);
            record.put("share", Value::Decimal(parts, 4));
            record.put("list", Value::List(vec![Value::Null, Value::Decimal(parts, 3), Value::List(vec![])]));
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
