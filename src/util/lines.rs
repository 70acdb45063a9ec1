//! A table as one text, put together at compile time: a line for each row, a tab behind each cell. A WASM
//! module is smaller by it than by a pointer for each cell.
//!
//! Refuses to know what the cells mean.

/// The lines that a `const fn` of this name writes, as a text of their length.
macro_rules! lines {
    ($written:ident) => {{
        const LENGTH: usize = $written::<{ 1 << 14 }>().length;
        static BYTES: [u8; LENGTH] = $written::<LENGTH>().bytes;
        match std::str::from_utf8(&BYTES) {
            Ok(lines) => lines,
            Err(_) => "",
        }
    }};
}
pub(crate) use lines;

/// Room for `N` bytes, and how many of them are written.
pub(crate) struct Lines<const N: usize> {
    pub(crate) bytes: [u8; N],
    pub(crate) length: usize,
}

impl<const N: usize> Lines<N> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; N], length: 0 };

    pub(crate) const fn cell(&mut self, text: &str) -> &mut Self {
        self.word(text, b'\t')
    }

    /// A text and what ends it.
    pub(crate) const fn word(&mut self, text: &str, end: u8) -> &mut Self {
        let mut left = text.as_bytes();
        while let [byte, others @ ..] = left {
            self.byte(*byte);
            left = others;
        }
        self.byte(end);
        self
    }

    /// A cell of a number below 100, in two digits.
    #[expect(clippy::arithmetic_side_effects, reason = "neither divisor is zero, no sum is over 255")]
    pub(crate) const fn number(&mut self, number: u8) -> &mut Self {
        self.byte(b'0' + number / 10);
        self.byte(b'0' + number % 10);
        self.cell("")
    }

    /// What stands between lines, or between groups of them.
    pub(crate) const fn end(&mut self, mark: u8) {
        self.byte(mark);
    }

    #[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a compiler's error, if ever")]
    const fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }
}

/// `==` of texts, at compile time.
pub(crate) const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([a, ones @ ..], [b, others @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (ones, others);
    }
    one.is_empty() && other.is_empty()
}
