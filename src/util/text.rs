//! Makes text from strangers safe to show; writes numbers and lists as text.

use std::fmt::Display;

/// Characters shown of a name that came from outside; every network's id and every address is shorter.
const LONGEST_NAME: usize = 64;

/// A name that came from outside, made safe and cut to [`LONGEST_NAME`] characters.
pub(crate) fn shown(text: &str) -> String {
    escaped(text, LONGEST_NAME)
}

/// The same for a name of which every right spelling is printable ASCII. Everything else is escaped, so that a
/// look-alike letter is seen. An escape counts as the characters it is written in.
pub(crate) fn in_ascii(text: &str) -> String {
    let mut shown = String::new();
    // Where a text that turns out too long is cut: it leaves room for an ellipsis, and is never inside an escape.
    let mut cut = 0;
    for c in text.chars() {
        shown.extend(c.escape_default());
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

/// Whether a character can be seen and leaves its neighbours where they are. Controls (bidirectional ones too),
/// zero-width characters, line and paragraph separators and tags do not.
pub(crate) fn is_visible(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// `digits` with a point before the last `places` of them, without zeros at the end: `0.05`, `1`.
pub(crate) fn with_point(digits: &str, places: usize) -> String {
    let width = places.saturating_add(1);
    let mut digits = format!("{digits:0>width$}");
    if places > 0 {
        digits.insert(digits.len().saturating_sub(places), '.');
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    digits
}

/// The parts of which a sentence is a list.
pub(crate) fn joined<T: Display>(parts: impl IntoIterator<Item = T>) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join("; ")
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
