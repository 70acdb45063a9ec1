//! The values of the document, each with the path that a refusal names. Refusals say what kind of value there is, never
//! the value.
//!
//! Only the first refusal is reported. Reading goes on with defaults, so readers need no early return; what they made is
//! discarded.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::node::{Node, Number};
use crate::config_error::{ConfigurationError, OUT_OF_RANGE, holds_url, whole_numbers, widened};
use crate::util::json::Kind;
use crate::util::text::shown;

/// A value and where it stands.
pub(super) struct Field<'a> {
    path: String,
    node: &'a Node,
    refusal: &'a OnceCell<ConfigurationError>,
}

/// Values by their keys, as they are written.
pub(super) type Entries<'a> = Vec<(&'a str, Field<'a>)>;

/// The fields of an object. A name that no reader asks for is unknown.
#[derive(Default)]
pub(super) struct Fields<'a> {
    all: Entries<'a>,
    known: RefCell<Vec<&'static str>>,
}

/// What `read` makes of a document, unless it refuses something.
pub(super) fn document<T>(node: &Node, read: impl FnOnce(&Field<'_>) -> T) -> Result<T, ConfigurationError> {
    let refusal = OnceCell::new();
    let made = read(&Field { path: String::new(), node, refusal: &refusal });
    refusal.into_inner().map_or(Ok(made), Err)
}

impl<'a> Field<'a> {
    pub(super) fn fields(&self) -> Fields<'a> {
        let mut names = BTreeSet::new();
        if let Some((name, _)) = self.members().iter().find(|(name, _)| !names.insert(name)) {
            self.refuse_at(name, &shown(&format!("duplicate field `{name}`")), "each field once");
        }
        Fields { all: self.entries(), known: RefCell::default() }
    }

    /// The values of an object whose keys are data, in the order they are written, repeated keys and all: two keys may
    /// be aliases of one network.
    pub(super) fn entries(&self) -> Entries<'a> {
        let entry = |(name, node): &'a (String, Node)| (name.as_str(), self.part(self.path_of(name), node));
        self.members().iter().map(entry).collect()
    }

    pub(super) fn items(&self) -> Vec<Field<'a>> {
        let items: &[Node] = match self.node {
            Node::List(items) => items,
            _ => self.mismatch_of(Kind::Array),
        };
        let item = |(position, node)| self.part(format!("{}[{position}]", self.path), node);
        items.iter().enumerate().map(item).collect()
    }

    pub(super) fn text(&self) -> &'a str {
        match self.node {
            Node::Text(text) => text,
            _ => self.mismatch_of(Kind::Text),
        }
    }

    pub(super) fn flag(&self) -> bool {
        match self.node {
            Node::Flag(flag) => *flag,
            _ => self.mismatch_of(Kind::Boolean),
        }
    }

    /// A number; `accepted` says which of them, for the caller to hold it to.
    pub(super) fn fraction(&self, accepted: &str) -> f64 {
        match self.node {
            // Rounded past 2^53, where every number is out of range.
            Node::Number(Number::Whole(number)) => return *number as f64,
            Node::Number(Number::Fraction(number)) if number.is_finite() => return *number,
            Node::Number(number) => self.refuse(number.problem(), accepted),
            _ => self.mismatch(accepted),
        }
        0.0
    }

    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> u64 {
        match self.node {
            Node::Number(Number::Whole(number)) if range.contains(number) => return *number,
            Node::Number(number) => self.refuse(number.problem(), &whole_numbers(range)),
            _ => self.mismatch(&whole_numbers(range)),
        }
        0
    }

    /// What one of a few words stands for.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text();
        let known = words.iter().find(|(word, _)| *word == text);
        if known.is_none() {
            self.refuse("is not a known word", &one_of(words.iter().map(|(word, _)| *word)));
        }
        known.map(|(_, meaning)| *meaning)
    }

    pub(super) fn is_text(&self) -> bool {
        self.node.kind() == Kind::Text
    }

    pub(super) fn is_object(&self) -> bool {
        self.node.kind() == Kind::Object
    }

    /// Refuses a value for its kind.
    pub(super) fn mismatch(&self, accepted: &str) {
        self.refuse(&format!("is {}", self.node.kind().words()), accepted);
    }

    pub(super) fn refuse(&self, problem: &str, accepted: &str) {
        self.refuse_path(if self.path.is_empty() { "." } else { &self.path }, problem, accepted);
    }

    /// Refuses the value, or the absence, of a field of this object.
    pub(super) fn refuse_at(&self, name: &str, problem: &str, accepted: &str) {
        self.refuse_path(&self.path_of(name), problem, accepted);
    }

    fn refuse_path(&self, path: &str, problem: &str, accepted: &str) {
        self.refusal.get_or_init(|| ConfigurationError::new(path, problem, accepted));
    }

    /// Refuses a value that is not of the accepted kind, and stands in for it.
    fn mismatch_of<T: Default>(&self, kind: Kind) -> T {
        match self.node {
            Node::NotUnicode(own) if *own == kind => self.refuse("is not valid Unicode text", kind.words()),
            _ => self.mismatch(kind.words()),
        }
        T::default()
    }

    fn members(&self) -> &'a [(String, Node)] {
        match self.node {
            Node::Object(members) => members,
            _ => self.mismatch_of(Kind::Object),
        }
    }

    fn part(&self, path: String, node: &'a Node) -> Self {
        Self { path, node, refusal: self.refusal }
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

impl Number {
    /// What is wrong with a number that is not accepted.
    fn problem(self) -> &'static str {
        match self {
            Self::Fraction(number) if number.is_nan() => "is not a number",
            Self::Fraction(number) if number.is_finite() => "is a number with a point or an exponent",
            _ => OUT_OF_RANGE,
        }
    }
}

impl<'a> Fields<'a> {
    /// The field by this name, if it is there.
    pub(super) fn get(&self, name: &'static str) -> Option<&Field<'a>> {
        self.known.borrow_mut().push(name);
        self.all.iter().find(|(key, _)| *key == name).map(|(_, field)| field)
    }

    /// The same; `null` counts as absent.
    pub(super) fn get_set(&self, name: &'static str) -> Option<&Field<'a>> {
        self.get(name).filter(|field| field.node.kind() != Kind::Null)
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

    /// Replaces a default, if the number is there.
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

    /// Refuses a field that no reader asked for. Its name is shown, unless it may be a URL.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        let Some((name, field)) = self.all.iter().find(|(name, _)| !known.contains(name)) else { return };
        let problem = match holds_url(name) {
            true => "has a field that is not known".to_owned(),
            false => shown(&format!("unknown field `{name}`")),
        };
        field.refuse(&problem, &one_of(known.iter().copied()));
    }
}

fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let quoted: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    format!("one of {}", quoted.join(", "))
}
