//! Where words, lines and paragraphs begin and end.

use super::graphemes;
use super::units::is_marker;

/// What a grapheme is to somebody who moves by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Word,
    Sign,
    /// A unit is a word by itself.
    Unit,
}

/// Letters, digits and `_` are words.
pub(super) fn class(grapheme: &str) -> Class {
    match grapheme.chars().next() {
        Some(letter) if is_marker(letter) => Class::Unit,
        Some(letter) if letter.is_whitespace() => Class::Space,
        Some(letter) if letter.is_alphanumeric() || letter == '_' => Class::Word,
        _ => Class::Sign,
    }
}

/// Everything but blanks is a word, and a unit one by itself.
pub(super) fn class_between_blanks(grapheme: &str) -> Class {
    match class(grapheme) {
        Class::Sign => Class::Word,
        other => other,
    }
}

/// Past the graphemes from `at` on that are so.
pub(super) fn skip(text: &str, mut at: usize, is_so: impl Fn(&str) -> bool) -> usize {
    while let Some(grapheme) = graphemes::at(text, at).filter(|grapheme| is_so(grapheme)) {
        at += grapheme.len();
    }
    at
}

/// Before the graphemes up to `at` that are so.
pub(super) fn skip_back(text: &str, mut at: usize, is_so: impl Fn(&str) -> bool) -> usize {
    while let Some(grapheme) = graphemes::before(text, at).filter(|grapheme| is_so(grapheme)) {
        at -= grapheme.len();
    }
    at
}

/// The end of the word at or after `at`, as readline has it.
pub(super) fn end_of_word(text: &str, at: usize) -> usize {
    let start = skip(text, at, |grapheme| matches!(class(grapheme), Class::Space | Class::Sign));
    match graphemes::at(text, start) {
        Some(unit) if class(unit) == Class::Unit => start + unit.len(),
        _ => skip(text, start, |grapheme| class(grapheme) == Class::Word),
    }
}

/// The beginning of the word before `at`, as readline has it.
pub(super) fn start_of_word(text: &str, at: usize) -> usize {
    let end = skip_back(text, at, |grapheme| matches!(class(grapheme), Class::Space | Class::Sign));
    match graphemes::before(text, end) {
        Some(unit) if class(unit) == Class::Unit => end - unit.len(),
        _ => skip_back(text, end, |grapheme| class(grapheme) == Class::Word),
    }
}

/// The beginning of what stands between blanks before `at`.
pub(super) fn start_between_blanks(text: &str, at: usize) -> usize {
    let end = skip_back(text, at, |grapheme| class(grapheme) == Class::Space);
    skip_back(text, end, |grapheme| class(grapheme) != Class::Space)
}

/// The beginning of the line.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line_break| line_break + 1)
}

/// The end of the line, before its break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length)
}
