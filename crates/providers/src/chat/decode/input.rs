//! A call's input while it grows: what it says so far, and whether that is one whole object.
//!
//! Invariant: each byte is looked at a fixed number of times, however many pieces it comes in.

use std::ops::Range;

use heeler_core::push_text;

use crate::input::parse_input;

/// An input as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Input {
    text: String,
    /// Where it says something: the white space before and behind it is left out.
    said: Range<usize>,
    form: Form,
    /// Bytes of the text that `form` knows of: whether it is whole is seldom asked.
    formed_bytes: usize,
    /// What was looked at; time would tell a test less.
    #[cfg(test)]
    looked_at: std::cell::Cell<usize>,
}

/// How far a text is on its way to a whole object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// White space.
    #[default]
    Blank,
    /// Inside an object, so many brackets deep.
    Open { depth: usize, quote: Quote },
    /// So many letters of `null`, which says as little as no input.
    Null { letters: usize },
    /// Its last bracket has come. Whether all between is as it should be, nobody has asked.
    Closed,
    /// It is one.
    Whole,
    /// It is none, and more would not make it one.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    Outside,
    Inside,
    /// Behind a backslash.
    Escaped,
}

impl Input {
    /// Adds what came.
    pub(super) fn push(&mut self, more: &str) {
        let before = self.text.len();
        if !more.trim().is_empty() {
            if self.said.is_empty() {
                self.said.start = before + more.len() - more.trim_start().len();
            }
            self.said.end = before + more.trim_end().len();
        }
        push_text(&mut self.text, more);
        self.look_at(more.len());
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text without the white space around it.
    pub(super) fn said(&self) -> &str {
        &self.text[self.said.clone()]
    }

    /// Whether it is one whole object, as far as it has come.
    pub(super) fn is_whole(&mut self) -> bool {
        let new = &self.text.as_bytes()[self.formed_bytes..];
        self.look_at(new.len());
        self.form = new.iter().fold(self.form, |form, byte| form.after(*byte));
        self.formed_bytes = self.text.len();
        if matches!(self.form, Form::Closed | Form::Null { letters: 4 }) {
            self.look_at(self.text.len());
            let is_whole = parse_input(&self.text).is_ok();
            self.form = if is_whole { Form::Whole } else { Form::Broken };
        }
        self.form == Form::Whole
    }

    /// Whether all that it says is the beginning of what another says; of so many bytes that is known.
    pub(super) fn goes_along(&self, other: &Self, known_bytes: usize) -> bool {
        let new = self.said().get(known_bytes..).unwrap_or_default();
        self.look_at(new.len() + 1);
        other.said().get(known_bytes..).is_some_and(|rest| rest.starts_with(new))
    }

    #[cfg(test)]
    pub(super) fn look_at(&self, n: usize) {
        self.looked_at.set(self.looked_at.get() + n);
    }

    #[cfg(test)]
    pub(super) fn looked_at(&self) -> usize {
        self.looked_at.get()
    }

    #[cfg(not(test))]
    pub(super) fn look_at(&self, _: usize) {}
}

impl Form {
    fn after(self, byte: u8) -> Self {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self {
            Self::Open { depth, quote } => Self::open(depth, quote, byte),
            Self::Blank | Self::Closed | Self::Whole if is_blank => self,
            Self::Null { letters: 4 } if is_blank => self,
            Self::Blank if byte == b'{' => Self::Open { depth: 1, quote: Quote::Outside },
            Self::Blank if byte == b'n' => Self::Null { letters: 1 },
            Self::Null { letters } if b"null".get(letters) == Some(&byte) => {
                Self::Null { letters: letters + 1 }
            }
            Self::Blank | Self::Null { .. } | Self::Closed | Self::Whole | Self::Broken => {
                Self::Broken
            }
        }
    }

    /// Which bracket ends what does not matter here: whoever reads it at its end sees that.
    fn open(depth: usize, quote: Quote, byte: u8) -> Self {
        let (depth, quote) = match (quote, byte) {
            (Quote::Outside, b'{' | b'[') => (depth + 1, quote),
            (Quote::Outside, b'}' | b']') => (depth - 1, quote),
            (Quote::Outside, b'"') | (Quote::Escaped, _) => (depth, Quote::Inside),
            (Quote::Inside, b'"') => (depth, Quote::Outside),
            (Quote::Inside, b'\\') => (depth, Quote::Escaped),
            (Quote::Outside | Quote::Inside, _) => (depth, quote),
        };
        if depth == 0 { Self::Closed } else { Self::Open { depth, quote } }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(pieces: &[&str]) -> Input {
        let mut input = Input::default();
        pieces.iter().for_each(|piece| input.push(piece));
        input
    }

    proptest! {
        /// Whoever asks after each piece hears what a reader of all of it says.
        #[test]
        fn it_is_whole_when_a_reader_says_so(
            pieces in prop::collection::vec("[ ]?(\\{|\\}|\\[|\\]|\"|\\\\|:|,|1|é|nu|ll|null|\"a\":)[ \n]?", 0..12),
        ) {
            let mut input = Input::default();
            let mut text = String::new();
            for piece in &pieces {
                input.push(piece);
                text.push_str(piece);
                let is_whole = !text.trim().is_empty() && parse_input(&text).is_ok();
                prop_assert_eq!(input.is_whole(), is_whole, "{}", text);
                prop_assert_eq!(input.said(), text.trim());
            }
        }

        #[test]
        fn it_goes_along_with_what_begins_so(
            (a, b) in ("[ ab]{0,6}", "[ ab]{0,6}"), known in 0..6usize,
        ) {
            let (input, other) = (of(&[&a]), of(&[&b]));
            let begins_so = b.trim().starts_with(a.trim());
            prop_assert_eq!(input.goes_along(&other, 0), begins_so);
            if a.trim().get(..known).is_some_and(|same| b.trim().starts_with(same)) {
                prop_assert_eq!(input.goes_along(&other, known), begins_so);
            }
        }
    }
}
