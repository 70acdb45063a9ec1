//! The values of the document, each with the path that a refusal names. Refusals say what kind of
//! value there is, never the value.

use serde::de::Deserialize;
use serde_json::value::RawValue;

use super::ConfigError;
use super::check::Result;
use super::error::{holds_address, safe_path};
use crate::json::Members;
use crate::text::shown;

/// A value and where it stands.
pub(super) struct Field<'a> {
    path: String,
    json: &'a RawValue,
}

impl<'a> Field<'a> {
    pub(super) fn document(text: &'a str) -> Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let json = <&RawValue>::deserialize(&mut deserializer).map_err(|error| {
            let problem = format!("is not JSON (line {}, column {})", error.line(), error.column());
            ConfigError::new(".", problem, "one JSON object")
        })?;
        match deserializer.end() {
            Ok(()) => Ok(Self { path: String::new(), json }),
            Err(_) => Err(ConfigError::new(".", "something follows the document", "one JSON object")),
        }
    }

    /// Hands every field of an object to `read`, by its name.
    pub(super) fn fields(&self, read: &mut dyn FnMut(&str, &Field<'a>) -> Result<()>) -> Result<()> {
        let entries = self.entries()?;
        for (position, (name, field)) in entries.iter().enumerate() {
            if entries.iter().take(position).any(|(earlier, _)| earlier == name) {
                return Err(field.refused(&format!("duplicate field `{name}`"), "each field once"));
            }
            read(name, field)?;
        }
        Ok(())
    }

    /// The values of an object whose keys are data, in the order they are written, repeated keys and
    /// all: aliases make duplicates that no JSON parser can see.
    pub(super) fn entries_of<T>(&self, read: impl Fn(&Field<'a>) -> Result<T>) -> Result<Vec<(String, T)>> {
        let mut entries = Vec::new();
        for (name, field) in self.entries()? {
            entries.push((name, read(&field)?));
        }
        Ok(entries)
    }

    pub(super) fn list_of<T>(&self, read: impl Fn(&Field<'a>) -> Result<T>) -> Result<Vec<T>> {
        let mut list = Vec::new();
        for field in self.items()? {
            list.push(read(&field)?);
        }
        Ok(list)
    }

    pub(super) fn text(&self) -> Result<String> {
        self.parsed("a string")
    }

    pub(super) fn flag(&self) -> Result<bool> {
        self.parsed("a boolean")
    }

    pub(super) fn fraction(&self) -> Result<f64> {
        self.parsed("f64")
    }

    pub(super) fn whole<T: TryFrom<u64>>(&self) -> Result<T> {
        let number = self.json.get().parse().ok().and_then(|number: u64| T::try_from(number).ok());
        number.ok_or_else(|| self.mismatch(std::any::type_name::<T>()))
    }

    /// One of a few words and what it stands for.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T> {
        let text = self.text()?;
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        known.ok_or_else(|| self.refused("is not a known word", &one_of(words.iter().map(|(word, _)| *word))))
    }

    /// `null` is as good as nothing.
    pub(super) fn optional<T>(&self, read: impl Fn(&Self) -> Result<T>) -> Result<Option<T>> {
        match self.json.get() {
            "null" => Ok(None),
            _ => read(self).map(Some),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind() == "string"
    }

    pub(super) fn is_object(&self) -> bool {
        self.kind() == "object"
    }

    /// Neither of the kinds that are accepted.
    pub(super) fn mismatch(&self, accepted: &str) -> ConfigError {
        self.refused(&format!("is {}", self.kind()), accepted)
    }

    /// A field by this name is not known. The name is shown, unless someone put an address there.
    pub(super) fn unknown(&self, name: &str, known: &[&'static str]) -> ConfigError {
        let problem = match holds_address(name) {
            true => "has a field that is not known".to_owned(),
            false => shown(&format!("unknown field `{name}`")),
        };
        self.refused(&problem, &one_of(known.iter().copied()))
    }

    pub(super) fn missing(&self, name: &str, accepted: &str) -> ConfigError {
        self.refused(&format!("missing field `{name}`"), accepted)
    }

    fn items(&self) -> Result<Vec<Field<'a>>> {
        let items: Vec<&'a RawValue> = self.parsed("an array")?;
        let path = &self.path;
        let field = |(index, json): (usize, _)| Field { path: format!("{path}[{index}]"), json };
        Ok(items.into_iter().enumerate().map(field).collect())
    }

    fn entries(&self) -> Result<Vec<(String, Field<'a>)>> {
        let Members(entries) = self.parsed("an object")?;
        let parent = if self.path.is_empty() { String::new() } else { format!("{}.", self.path) };
        let field = |(name, json): (String, _)| {
            let path = format!("{parent}{name}");
            (name, Field { path, json })
        };
        Ok(entries.into_iter().map(field).collect())
    }

    fn parsed<T: Deserialize<'a>>(&self, accepted: &str) -> Result<T> {
        serde_json::from_str(self.json.get()).map_err(|error| match error.is_data() {
            true => self.mismatch(accepted),
            false => self.refused("is not valid JSON", accepted),
        })
    }

    fn refused(&self, problem: &str, accepted: &str) -> ConfigError {
        let path = if self.path.is_empty() { "." } else { &self.path };
        ConfigError::new(safe_path(path), problem, accepted)
    }

    fn kind(&self) -> &'static str {
        match self.json.get().as_bytes() {
            [b'"', ..] => "string",
            [b'{', ..] => "object",
            [b'[', ..] => "array",
            [b't' | b'f', ..] => "boolean",
            [b'n', ..] => "null",
            number if number.iter().any(|byte| b".eE".contains(byte)) => "floating point",
            _ => "integer",
        }
    }
}

fn one_of(words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    format!("one of {}", words.join(", "))
}
