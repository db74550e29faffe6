//! The parser whose tree is judged: brush-parser, held so that it cannot panic.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::word::{self, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

/// The program a text is, if it is one.
pub(crate) fn program(text: &str) -> Option<Program> {
    held(|| Parser::new(text.as_bytes(), &ParserOptions::default()).parse_program().ok())
}

/// The text with each line that ends in a backslash joined to the next, as a shell does before it looks for
/// words. Where something may keep them apart (quotes, a comment, a here-document), it stays as it is.
pub(crate) fn joined(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") || text.contains(['\'', '`', '#']) || text.contains("<<") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(escaped)) => {
                whole.extend([c, escaped]);
                chars.next();
            }
            _ => whole.push(c),
        }
    }
    Cow::Owned(whole)
}

/// How deep brackets may be nested in a word that expands something: this parser tries each level
/// of `${a[${b[...` again and again.
const BRACKETS_DEPTH_MAX: usize = 2;

/// The pieces of a word.
pub(crate) fn word(text: &str) -> Option<Vec<WordPieceWithSource>> {
    if is_slow(text) {
        return None;
    }
    held(|| word::parse(text, &ParserOptions::default()).ok())
}

/// The pieces of a text in which quotes mean nothing: a here-document, arithmetic.
pub(crate) fn text(text: &str) -> Option<Vec<WordPieceWithSource>> {
    if is_slow(text) {
        return None;
    }
    held(|| word::parse_heredoc(text, &ParserOptions::default()).ok())
}

fn is_slow(text: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest > BRACKETS_DEPTH_MAX && text.contains('$')
}

fn held<T>(parse: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(parse)).ok().flatten()
}
