//! How many cells text takes, character by character as a person counts them.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What a person takes for one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grapheme<'a> {
    /// Its bytes.
    pub(crate) text: &'a str,
    /// Where they begin.
    pub(crate) start: usize,
    /// How many cells it takes: 0, 1 or 2, or more where a script joins several letters.
    pub(crate) width: usize,
}

impl Grapheme<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_space(&self) -> bool {
        self.text == " "
    }
}

/// The cells `text` takes: the sum over its graphemes, as a terminal's grid counts.
///
/// ```
/// assert_eq!(heeler_tui::text::width("日本 e\u{301}"), 6);
/// ```
#[must_use]
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    graphemes(text).map(|grapheme| grapheme.width).sum()
}

/// The graphemes of `text` in order.
pub(crate) fn graphemes(text: &str) -> impl Iterator<Item = Grapheme<'_>> {
    known_graphemes(text, text.is_ascii())
}

/// The graphemes of a text of which it is known whether it is ASCII throughout.
pub(crate) fn known_graphemes(text: &str, is_ascii: bool) -> impl Iterator<Item = Grapheme<'_>> {
    // Finding borders by the tables costs fifty times what a byte costs, and most text is ASCII.
    let (ascii, rest) = if is_ascii { (text, "") } else { ("", text) };
    let ascii = (0..ascii.len()).map(move |start| Grapheme {
        text: &ascii[start..=start],
        start,
        width: 1,
    });
    let rest = rest.grapheme_indices(true).map(|(start, text)| Grapheme {
        text,
        start,
        // As the cells of a row are filled: what is counted here for less would push the rest of a
        // line over its edge, and nobody would see it.
        width: text.width(),
    });
    ascii.chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_one_sign_of_two_cells() {
        let widths = |text| graphemes(text).map(|found| found.width).collect::<Vec<_>>();
        assert_eq!(widths("a\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}b"), [1, 2, 1]);
        assert_eq!(widths("e\u{301}\u{302}x"), [1, 1]);
        assert_eq!(widths("日本"), [2, 2]);
        assert_eq!(widths("\u{1f1e9}\u{1f1ea}"), [2]);
        assert_eq!(width("plain text"), 10);
        // One sign to Unicode, and each letter a cell to a row.
        assert_eq!(widths(&"\u{1100}".repeat(3)), [6]);
        assert_eq!(width("संस्थान"), unicode_width::UnicodeWidthStr::width("संस्थान"));
    }
}
