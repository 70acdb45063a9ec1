//! Text from strangers, made safe to show; numbers and lists as text.

use std::fmt::{Display, Write as _};

/// The most that a person is shown of a name that came from outside, in characters: every network's id and every
/// address is shorter.
const LONGEST_NAME: usize = 64;

/// What a person is shown of a name that came from outside: so many characters at most, made safe.
pub(crate) fn shown(text: &str) -> String {
    escaped(text, LONGEST_NAME)
}

/// The same where every right spelling is printable ASCII, so that all else is escaped: control and bidi
/// characters cannot act, and a look-alike letter shows itself. Escapes count as they are written.
pub(crate) fn in_ascii(text: &str) -> String {
    let mut shown = String::new();
    // Where to cut, should the text turn out too long: room for an ellipsis,
    // never inside an escape.
    let mut cut = 0;
    for c in text.chars() {
        shown.push_str(&c.escape_default().to_string());
        // Everything pushed so far is ASCII: bytes are characters.
        if shown.len() > LONGEST_NAME {
            shown.truncate(cut);
            shown.push('…');
            break;
        }
        if shown.len() < LONGEST_NAME {
            cut = shown.len();
        }
    }
    shown
}

/// At most `longest` characters of `text`, with control and direction-changing characters written
/// as escapes, so that no text can rewrite the sentence around it.
pub(crate) fn escaped(text: &str, longest: usize) -> String {
    let mut out = String::new();
    for (position, c) in text.chars().enumerate() {
        if position == longest {
            out.push('…');
            break;
        }
        if is_visible(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// Whether a character shows itself and leaves its neighbours where they are: no control, bidirectional
/// or other, no zero-width character, line or paragraph separator, and no tag.
pub(crate) fn is_visible(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// `digits` with a point before the last `places` of them, without zeros at the end: `0.05`, `1`.
pub(crate) fn with_point(mut digits: String, places: usize) -> String {
    while digits.len() <= places {
        digits.insert(0, '0');
    }
    if places > 0 {
        digits.insert(digits.len().saturating_sub(places), '.');
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    digits
}

/// Adds `words` to a sentence.
pub(crate) fn say(sentence: &mut String, words: &[&str]) {
    words.iter().for_each(|word| sentence.push_str(word));
}

/// Adds one of the parts of which a sentence is a list.
pub(crate) fn add_part(list: &mut String, part: &dyn Display) {
    if !list.is_empty() {
        list.push_str("; ");
    }
    // Writing to a String cannot fail.
    let _ = write!(list, "{part}");
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_hidden_gets_through() {
        assert_eq!(shown("USD₮0"), "USD₮0");
        assert_eq!(shown("a\u{202E}b\0\n"), "a\\u{202e}b\\u{0}\\u{a}");
        assert_eq!(shown(&"x".repeat(70)), format!("{}…", "x".repeat(64)));
    }
}
