//! Reading: a value is its text, checked once; its parts are found when they are asked for.

use std::fmt;

use crate::util::text::shown;

/// A JSON value as its exact text, without the white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Json<'a>(&'a str);

/// Where a text stops being JSON, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What a value is, for whoever has to say that it should be something else.
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

impl<'a> Json<'a> {
    /// The one value that `text` is.
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner { text, at: 0 };
        match scanner.value().filter(|_| scanner.peek().is_none()) {
            Some(value) => Ok(value),
            None => Err(scanner.position()),
        }
    }

    /// The value that `text` starts with, whatever follows.
    pub(crate) fn start_of(text: &'a str) -> Option<Self> {
        Scanner { text, at: 0 }.value()
    }

    /// The exact text.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0.as_bytes() {
            [b'"', ..] => Kind::Text,
            [b'{', ..] => Kind::Object,
            [b'[', ..] => Kind::Array,
            [b't' | b'f', ..] => Kind::Boolean,
            [b'n', ..] => Kind::Null,
            _ => Kind::Number,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// The text of a string; `None` for every other kind, and where the escapes make no Unicode text.
    pub(crate) fn text(self) -> Option<String> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        unescaped(inner)
    }

    /// A number in digits alone, such as `5`; `None` for `5.0`, `-5`, a larger one and every other kind.
    pub(crate) fn whole(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The items of an array.
    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let mut scanner = Scanner { text: self.0, at: 0 };
        scanner.take(b'[').then_some(())?;
        let mut items = Vec::new();
        while !scanner.take(b']') {
            items.push(scanner.value()?);
            scanner.take(b',');
        }
        Some(items)
    }

    /// The members of an object in the order they are written, repeated names and all; `None` for every
    /// other kind, and where a name is no Unicode text.
    pub(crate) fn members(self) -> Option<Members<'a>> {
        let mut scanner = Scanner { text: self.0, at: 0 };
        scanner.take(b'{').then_some(())?;
        let mut members = Vec::new();
        while !scanner.take(b'}') {
            let name = scanner.value()?.text()?;
            scanner.take(b':');
            members.push((name, scanner.value()?));
            scanner.take(b',');
        }
        Some(Members(members))
    }

    /// The members of an object that has each name once: of two values, two readers could pick different
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

    /// The values of `names`, `null` as absent; `None` when one of them is there twice. Other members may
    /// be whatever they are.
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> Option<[Option<Json<'a>>; N]> {
        let once = |name: &&str| self.0.iter().filter(|(key, _)| key == name).count() <= 1;
        names.iter().all(once).then(|| names.map(|name| self.get(name)))
    }

    /// A name that is there twice.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        })
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn value(&mut self) -> Option<Json<'a>> {
        self.peek()?;
        let start = self.at;
        self.skip_value()?;
        self.text.get(start..self.at).map(Json)
    }

    /// Moves past one value. The brackets that are still open are kept in a list, not on the stack: their
    /// number is the writer's choice.
    fn skip_value(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            let mut is_over = true;
            match self.peek()? {
                bracket @ (b'{' | b'[') => {
                    let closing = if bracket == b'{' { b'}' } else { b']' };
                    self.advance(1);
                    open.push(closing);
                    is_over = self.peek()? == closing;
                }
                b'"' => self.skip_string()?,
                b't' => self.skip_word("true")?,
                b'f' => self.skip_word("false")?,
                b'n' => self.skip_word("null")?,
                _ => self.skip_number()?,
            }
            while is_over {
                let Some(bracket) = open.last() else { return Some(()) };
                if self.take(b',') {
                    is_over = false;
                } else {
                    self.take(*bracket).then_some(())?;
                    open.pop();
                }
            }
            if open.last() == Some(&b'}') {
                self.peek().filter(|byte| *byte == b'"')?;
                self.skip_string()?;
                self.take(b':').then_some(())?;
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.advance(1);
        loop {
            // Nearly all of a document is the plain inside of texts: one look at each byte.
            let rest = self.text.as_bytes().get(self.at..)?;
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
            self.advance(plain.unwrap_or(rest.len()));
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => (0..4).try_for_each(|_| self.next()?.is_ascii_hexdigit().then_some(()))?,
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    fn skip_word(&mut self, word: &str) -> Option<()> {
        word.bytes().try_for_each(|byte| self.skip_byte(&[byte]).then_some(()))
    }

    fn skip_number(&mut self) -> Option<()> {
        self.skip_byte(b"-");
        if !self.skip_byte(b"0") {
            self.skip_digits()?;
        }
        if self.skip_byte(b".") {
            self.skip_digits()?;
        }
        if self.skip_byte(b"eE") {
            self.skip_byte(b"+-");
            self.skip_digits()?;
        }
        Some(())
    }

    fn skip_digits(&mut self) -> Option<()> {
        self.skip_byte(b"0123456789").then_some(())?;
        while self.skip_byte(b"0123456789") {}
        Some(())
    }

    fn skip_byte(&mut self, any_of: &[u8]) -> bool {
        let is_there = self.text.as_bytes().get(self.at).is_some_and(|byte| any_of.iter().any(|one| one == byte));
        self.advance(usize::from(is_there));
        is_there
    }

    /// Moves past `byte`, if it is next but for white space.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.advance(usize::from(is_next));
        is_next
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.advance(1),
                byte => return byte.copied(),
            }
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.text.as_bytes().get(self.at).copied()?;
        self.advance(1);
        Some(byte)
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn position(&self) -> SyntaxError {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        let lines = before.split(|byte| *byte == b'\n');
        let (line, in_line) = lines.fold((0_usize, 0), |(line, _), bytes| (line.saturating_add(1), bytes.len()));
        SyntaxError { line, column: in_line.saturating_add(1) }
    }
}

/// What a string says, escapes resolved; `None` where half of a surrogate pair stands alone.
fn unescaped(text: &str) -> Option<String> {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        said.push_str(plain);
        let (kind, behind) = escape.split_at_checked(1)?;
        rest = behind;
        said.push(match kind {
            "b" => '\u{8}',
            "f" => '\u{C}',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => {
                let (first, behind) = code_unit(rest)?;
                rest = behind;
                match char::from_u32(first) {
                    Some(c) => c,
                    None => {
                        let (second, behind) = code_unit(rest.strip_prefix("\\u")?)?;
                        rest = behind;
                        of_surrogates(first, second)?
                    }
                }
            }
            literal => literal.chars().next()?,
        });
    }
    said.push_str(rest);
    Some(said)
}

/// Four hexadecimal digits, and what is behind them.
fn code_unit(text: &str) -> Option<(u32, &str)> {
    let (digits, behind) = text.split_at_checked(4)?;
    let unit = digits.chars().try_fold(0, |unit, digit| Some(unit << 4 | digit.to_digit(16)?))?;
    Some((unit, behind))
}

/// What the two halves of a pair make together.
fn of_surrogates(high: u32, low: u32) -> Option<char> {
    let bits = |half: u32, first| half.checked_sub(first).filter(|bits| *bits < 0x400);
    let place = bits(high, 0xD800)? << 10 | bits(low, 0xDC00)?;
    char::from_u32(place.checked_add(0x1_0000)?)
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
            assert_eq!(Json::parse(text), Err(SyntaxError { line, column }), "{text:?}");
        }
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!nests_deeper_than(r#"{"a":["[[[[\"[["]}"#, 2));
        assert!(nests_deeper_than(r#"{"a":[[]]}"#, 2));
        assert!(nests_deeper_than(&"[".repeat(10_000), 32));
    }
}
