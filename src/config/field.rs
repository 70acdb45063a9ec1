//! The values of the document, each with the path that a refusal names. Refusals say what kind of
//! value there is, never the value.
//!
//! The first refusal is the document's. Reading goes on behind it, with a value that stands for nothing:
//! one way through every reader, and what it has made is thrown away in the end.

use std::cell::{OnceCell, RefCell};
use std::ops::RangeInclusive;

use crate::config_error::{ConfigurationError, OUT_OF_RANGE, holds_address, whole_numbers, widened};
use crate::util::json::{Json, Kind, Members};
use crate::util::text::shown;

/// A value and where it stands.
pub(super) struct Field<'a> {
    path: String,
    json: Json<'a>,
    refusal: &'a OnceCell<ConfigurationError>,
}

/// Values by their keys, as they are written.
pub(super) type Entries<'a> = Vec<(String, Field<'a>)>;

/// The fields of an object. They are got by their names; a name that nobody asked for is not known.
#[derive(Default)]
pub(super) struct Fields<'a> {
    all: Entries<'a>,
    known: RefCell<Vec<&'static str>>,
}

/// What `read` makes of a document, unless it refuses something.
pub(super) fn document<T>(text: &str, read: impl FnOnce(&Field<'_>) -> T) -> Result<T, ConfigurationError> {
    let json =
        Json::parse(text).map_err(|error| ConfigurationError::new(".", &error.to_string(), "one JSON object"))?;
    let refusal = OnceCell::new();
    let made = read(&Field { path: String::new(), json, refusal: &refusal });
    refusal.into_inner().map_or(Ok(made), Err)
}

impl<'a> Field<'a> {
    pub(super) fn fields(&self) -> Fields<'a> {
        let members = self.members();
        if let Some(name) = members.repeated() {
            self.refuse_at(name, &shown(&format!("duplicate field `{name}`")), "each field once");
        }
        Fields { all: self.with_paths(members), known: RefCell::default() }
    }

    /// The values of an object whose keys are data, in the order they are written, repeated keys and
    /// all: aliases make duplicates that no JSON parser can see.
    pub(super) fn entries(&self) -> Entries<'a> {
        self.with_paths(self.members())
    }

    pub(super) fn items(&self) -> Vec<Field<'a>> {
        let mut fields = Vec::new();
        for json in self.accepted(self.json.items(), Kind::Array) {
            fields.push(self.part(format!("{}[{}]", self.path, fields.len()), json));
        }
        fields
    }

    pub(super) fn text(&self) -> String {
        self.accepted(self.json.text(), Kind::Text)
    }

    pub(super) fn flag(&self) -> bool {
        let flag = match self.json.raw() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        self.accepted(flag, Kind::Boolean)
    }

    /// A number of 0 or more; `accepted` says which of them.
    pub(super) fn fraction(&self, accepted: &str) -> f64 {
        let number = decimal(self.json.raw());
        if number.is_none() {
            match self.json.kind() {
                Kind::Number => self.refuse(OUT_OF_RANGE, accepted),
                _ => self.mismatch(accepted),
            }
        }
        number.unwrap_or_default()
    }

    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> u64 {
        let number = self.json.whole().filter(|number| range.contains(number));
        if number.is_none() {
            let accepted = &whole_numbers(range);
            let is_fraction = self.json.raw().bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            match (self.json.kind(), is_fraction) {
                (Kind::Number, true) => self.refuse("is a number with a point or an exponent", accepted),
                (Kind::Number, false) => self.refuse(OUT_OF_RANGE, accepted),
                _ => self.mismatch(accepted),
            }
        }
        number.unwrap_or_default()
    }

    /// What one of a few words stands for.
    pub(super) fn word<T: Copy, const N: usize>(&self, words: &[(&'static str, T); N]) -> Option<T> {
        let position = self.position_in(&words.map(|(word, _)| word))?;
        words.get(position).map(|(_, meaning)| *meaning)
    }

    fn position_in(&self, words: &[&str]) -> Option<usize> {
        let text = self.text();
        let position = words.iter().position(|word| *word == text);
        if position.is_none() {
            self.refuse("is not a known word", &one_of(words));
        }
        position
    }

    pub(super) fn is_text(&self) -> bool {
        self.json.kind() == Kind::Text
    }

    pub(super) fn is_object(&self) -> bool {
        self.json.is_object()
    }

    /// Refuses a value for its kind.
    pub(super) fn mismatch(&self, accepted: &str) {
        self.refuse(&format!("is {}", self.json.kind().words()), accepted);
    }

    pub(super) fn refuse(&self, problem: &str, accepted: &str) {
        self.refuse_path(if self.path.is_empty() { "." } else { &self.path }, problem, accepted);
    }

    /// Refuses a value of this object's field, which may not be written there.
    pub(super) fn refuse_at(&self, name: &str, problem: &str, accepted: &str) {
        self.refuse_path(&self.path_of(name), problem, accepted);
    }

    /// Refuses a number of this object that does not go with its others.
    pub(super) fn refuse_number(&self, name: &str, accepted: &str) {
        self.refuse_at(name, OUT_OF_RANGE, accepted);
    }

    fn refuse_path(&self, path: &str, problem: &str, accepted: &str) {
        self.refusal.get_or_init(|| ConfigurationError::new(path, problem, accepted));
    }

    fn accepted<T: Default>(&self, value: Option<T>, kind: Kind) -> T {
        if value.is_none() {
            match self.json.kind() == kind {
                // And yet not readable: half of a surrogate pair stands alone in it.
                true => self.refuse("is not valid Unicode text", kind.words()),
                false => self.mismatch(kind.words()),
            }
        }
        value.unwrap_or_default()
    }

    fn members(&self) -> Members<'a> {
        Members(self.accepted(self.json.members().map(|Members(members)| members), Kind::Object))
    }

    fn with_paths(&self, Members(members): Members<'a>) -> Entries<'a> {
        let mut fields = Vec::new();
        for (name, json) in members {
            let field = self.part(self.path_of(&name), json);
            fields.push((name, field));
        }
        fields
    }

    fn part(&self, path: String, json: Json<'a>) -> Self {
        Self { path, json, refusal: self.refusal }
    }

    fn path_of(&self, name: &str) -> String {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        path
    }
}

impl<'a> Fields<'a> {
    /// The field by this name, if it is there.
    pub(super) fn get(&self, name: &'static str) -> Option<&Field<'a>> {
        self.known.borrow_mut().push(name);
        self.all.iter().find(|(key, _)| key == name).map(|(_, field)| field)
    }

    /// The same; `null` is as good as nothing.
    pub(super) fn get_set(&self, name: &'static str) -> Option<&Field<'a>> {
        self.get(name).filter(|field| !field.json.is_null())
    }

    /// The fields of an object that may be missing.
    pub(super) fn object(&self, name: &'static str) -> Fields<'a> {
        self.get(name).map(Field::fields).unwrap_or_default()
    }

    /// The entries of an object that may be missing.
    pub(super) fn entries(&self, name: &'static str) -> Entries<'a> {
        self.get(name).map(Field::entries).unwrap_or_default()
    }

    /// The items of a list that may be missing.
    pub(super) fn items(&self, name: &'static str) -> Vec<Field<'a>> {
        self.get(name).map(Field::items).unwrap_or_default()
    }

    /// The number by this name, if it is set.
    pub(super) fn whole(&self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        self.get_set(name).map(|field| field.whole(range))
    }

    pub(super) fn set_flag(&self, name: &'static str, place: &mut bool) {
        if let Some(field) = self.get(name) {
            *place = field.flag();
        }
    }

    /// Puts a number where its default stands, if it is there.
    pub(super) fn set_whole<T: Copy + TryFrom<u64> + TryInto<u64>>(
        &self,
        name: &'static str,
        range: RangeInclusive<T>,
        place: &mut T,
    ) {
        if let Some(Ok(number)) = self.get(name).map(|field| T::try_from(field.whole(widened(range)))) {
            *place = number;
        }
    }

    /// Refuses what nobody asked for. Its name is shown, unless someone put an address there.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        let Some((name, field)) = self.all.iter().find(|(name, _)| !known.iter().any(|known| known == name)) else {
            return;
        };
        let problem = match holds_address(name) {
            true => "has a field that is not known".to_owned(),
            false => shown(&format!("unknown field `{name}`")),
        };
        field.refuse(&problem, &one_of(&known));
    }
}

/// A number as it is written, by multiplication and division alone: exact for as many digits as people
/// write, and the same everywhere.
fn decimal(number: &str) -> Option<f64> {
    let end = number.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.')).count();
    let (mantissa, exponent) = number.split_at_checked(end).filter(|(mantissa, _)| !mantissa.is_empty())?;
    let (mut value, mut places, mut has_point) = (0.0, 0_u64, false);
    for byte in mantissa.bytes() {
        if byte == b'.' {
            has_point = true;
        } else {
            value = value * 10.0 + f64::from(byte & 0xF);
            places = places.saturating_add(has_point.into());
        }
    }
    let exponent = exponent.get(1..).unwrap_or("0");
    let digits = exponent.strip_prefix('-').unwrap_or(exponent);
    let size = digits.parse::<u64>().ok().filter(|size| *size <= i32::MAX as u64)?;
    let (up, down) = if digits == exponent { (size, places) } else { (0, size.saturating_add(places)) };
    let power = |exponent: u64| (0..exponent.min(400)).fold(1.0, |power, _| power * 10.0);
    Some(value * power(up.saturating_sub(down)) / power(down.saturating_sub(up)))
}

fn one_of(words: &[&str]) -> String {
    let mut list = "one of ".to_owned();
    for (position, word) in words.iter().enumerate() {
        list.push_str(if position == 0 { "`" } else { ", `" });
        list.push_str(word);
        list.push('`');
    }
    list
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
        assert_eq!(decimal("-2"), None);
        assert_eq!(decimal("true"), None);
    }
}
