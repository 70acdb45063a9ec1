//! The values of the document, each with the path that a refusal names. Refusals say what kind of
//! value there is, never the value.

use super::ConfigError;
use super::error::holds_address;
use crate::json::{Json, Members};
use crate::text::shown;

pub(super) type Result<T> = std::result::Result<T, ConfigError>;

/// A value and where it stands.
pub(super) struct Field<'a> {
    path: String,
    json: Json<'a>,
}

/// The fields of an object. They are taken out by their names; what is left in the end is not known.
pub(super) struct Fields<'a> {
    left: Vec<(String, Field<'a>)>,
    known: Vec<&'static str>,
}

impl<'a> Field<'a> {
    pub(super) fn document(text: &'a str) -> Result<Self> {
        let json = Json::parse(text).map_err(|error| ConfigError::new(".", &error.to_string(), "one JSON object"))?;
        Ok(Self { path: String::new(), json })
    }

    pub(super) fn fields(&self) -> Result<Fields<'a>> {
        let members = self.members()?;
        if let Some(name) = members.repeated() {
            let path = self.path_of(name);
            return Err(ConfigError::new(&path, &shown(&format!("duplicate field `{name}`")), "each field once"));
        }
        Ok(Fields { left: self.with_paths(members), known: Vec::new() })
    }

    /// The values of an object whose keys are data, in the order they are written, repeated keys and
    /// all: aliases make duplicates that no JSON parser can see.
    pub(super) fn entries(&self) -> Result<Vec<(String, Field<'a>)>> {
        Ok(self.with_paths(self.members()?))
    }

    pub(super) fn items(&self) -> Result<Vec<Field<'a>>> {
        let items = self.json.items().ok_or_else(|| self.mismatch("an array"))?;
        let field = |(index, json)| Field { path: format!("{}[{index}]", self.path), json };
        Ok(items.into_iter().enumerate().map(field).collect())
    }

    pub(super) fn text(&self) -> Result<String> {
        self.json.text().ok_or_else(|| self.mismatch("a string"))
    }

    pub(super) fn flag(&self) -> Result<bool> {
        match self.json.raw() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.mismatch("a boolean")),
        }
    }

    pub(super) fn fraction(&self) -> Result<f64> {
        decimal(self.json.raw()).ok_or_else(|| self.mismatch("a number of 0 or more"))
    }

    pub(super) fn whole<T: TryFrom<u64>>(&self) -> Result<T> {
        let number = self.json.whole().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| {
            let unused_bits = 8_usize.saturating_sub(size_of::<T>()).saturating_mul(8);
            match unused_bits {
                0 => self.mismatch("a whole number from 0"),
                bits => {
                    let most = u64::MAX.unbounded_shr(u32::try_from(bits).unwrap_or_default());
                    self.mismatch(&format!("a whole number from 0 to {most}"))
                }
            }
        })
    }

    /// One of a few words and what it stands for.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T> {
        let text = self.text()?;
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        known.ok_or_else(|| self.refused("is not a known word", &one_of(words.iter().map(|(word, _)| *word))))
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind() == "a string"
    }

    pub(super) fn is_object(&self) -> bool {
        self.json.is_object()
    }

    /// Neither of the kinds that are accepted.
    pub(super) fn mismatch(&self, accepted: &str) -> ConfigError {
        match (self.kind(), accepted) {
            // Of the right kind, and yet not readable: half of a surrogate pair stands alone in it.
            ("a string", "a string") | ("an object", "an object") => {
                self.refused("is not valid Unicode text", accepted)
            }
            ("a whole number", _) if accepted.starts_with("a whole number") => {
                self.refused("is out of range", accepted)
            }
            (kind, _) => self.refused(&format!("is {kind}"), accepted),
        }
    }

    pub(super) fn refused(&self, problem: &str, accepted: &str) -> ConfigError {
        let path = if self.path.is_empty() { "." } else { &self.path };
        ConfigError::new(path, problem, accepted)
    }

    /// Refuses a value of this object's field, which may not be written there.
    pub(super) fn refused_at(&self, name: &str, problem: &str, accepted: &str) -> ConfigError {
        ConfigError::new(&self.path_of(name), problem, accepted)
    }

    fn members(&self) -> Result<Members<'a>> {
        self.json.members().ok_or_else(|| self.mismatch("an object"))
    }

    fn with_paths(&self, Members(members): Members<'a>) -> Vec<(String, Field<'a>)> {
        let field = |(name, json): (String, _)| (name.clone(), Field { path: self.path_of(&name), json });
        members.into_iter().map(field).collect()
    }

    fn path_of(&self, name: &str) -> String {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        path
    }

    fn kind(&self) -> &'static str {
        match self.json.kind() {
            "a number" if self.json.raw().contains(['.', 'e', 'E']) => "a number with a point or an exponent",
            "a number" => "a whole number",
            kind => kind,
        }
    }
}

impl<'a> Fields<'a> {
    /// The field by this name, if it is there.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.known.push(name);
        let position = self.left.iter().position(|(key, _)| key == name)?;
        Some(self.left.remove(position).1)
    }

    /// The same; `null` is as good as nothing.
    pub(super) fn take_set(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.take(name).filter(|field| !field.json.is_null())
    }

    /// The fields of an object that may be missing.
    pub(super) fn object(&mut self, name: &'static str) -> Result<Fields<'a>> {
        match self.take(name) {
            Some(field) => field.fields(),
            None => Ok(Fields { left: Vec::new(), known: Vec::new() }),
        }
    }

    /// The entries of an object that may be missing.
    pub(super) fn entries(&mut self, name: &'static str) -> Result<Vec<(String, Field<'a>)>> {
        self.take(name).map_or(Ok(Vec::new()), |field| field.entries())
    }

    /// The items of a list that may be missing.
    pub(super) fn items(&mut self, name: &'static str) -> Result<Vec<Field<'a>>> {
        self.take(name).map_or(Ok(Vec::new()), |field| field.items())
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>> {
        self.take_set(name).map(|field| field.text()).transpose()
    }

    pub(super) fn whole<T: TryFrom<u64>>(&mut self, name: &'static str) -> Result<Option<T>> {
        self.take_set(name).map(|field| field.whole()).transpose()
    }

    /// Puts a number where its default stands, if it is there.
    pub(super) fn set_whole<T: TryFrom<u64>>(&mut self, name: &'static str, place: &mut T) -> Result<()> {
        if let Some(field) = self.take(name) {
            *place = field.whole()?;
        }
        Ok(())
    }

    pub(super) fn set_flag(&mut self, name: &'static str, place: &mut bool) -> Result<()> {
        if let Some(field) = self.take(name) {
            *place = field.flag()?;
        }
        Ok(())
    }

    /// Refuses what nobody took. Its name is shown, unless someone put an address there.
    pub(super) fn finish(self) -> Result<()> {
        let Some((name, field)) = self.left.first() else {
            return Ok(());
        };
        let problem = match holds_address(name) {
            true => "has a field that is not known".to_owned(),
            false => shown(&format!("unknown field `{name}`")),
        };
        Err(field.refused(&problem, &one_of(self.known.into_iter())))
    }
}

/// A number as it is written, by multiplication and division alone: exact for as many digits as people
/// write, and the same everywhere.
fn decimal(number: &str) -> Option<f64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        value = value * 10.0 + f64::from(char::from(digit).to_digit(10)?);
    }
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let scale = (0..exponent.unsigned_abs().min(400)).fold(1.0, |scale, _| scale * 10.0);
    Some(if exponent < 0 { value / scale } else { value * scale })
}

fn one_of(words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    format!("one of {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_are_the_nearest_floats() {
        for text in ["0", "1", "0.2", "0.20", "2e-1", "20E-2", "0.05", "1.5", "0.123456789", "1e-7", "0.999", "12.5e1"]
        {
            assert_eq!(decimal(text), text.parse().ok(), "{text}");
        }
        assert_eq!(decimal("-0.2"), None);
        assert_eq!(decimal("true"), None);
    }
}
