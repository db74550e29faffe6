//! When two lines count as the same.

use std::borrow::Cow;

use super::Stage;

/// The part of a line that is compared in a stage.
pub(super) fn key(line: &str, stage: Stage) -> Cow<'_, str> {
    match stage {
        Stage::Exact => Cow::Borrowed(line),
        Stage::LineEnds => Cow::Borrowed(line.trim_end()),
        Stage::Indentation => Cow::Borrowed(line.trim()),
        Stage::Signs => folded(line.trim_end()),
        Stage::Both | Stage::Context => folded(line.trim()),
    }
}

/// A line with plain signs and single spaces behind its indentation.
fn folded(line: &str) -> Cow<'_, str> {
    let (indent, text) = split_indent(line);
    let is_plain = text.is_ascii() && !text.contains("  ") && !text.contains('\t');
    if is_plain {
        return Cow::Borrowed(line);
    }
    let mut folded = String::with_capacity(line.len());
    folded.push_str(indent);
    for sign in text.chars().map(plain) {
        if !(sign == ' ' && folded.ends_with(' ')) {
            folded.push(sign);
        }
    }
    Cow::Owned(folded)
}

/// The plain sign for a typographic one; others stay.
pub(super) fn plain(sign: char) -> char {
    match sign {
        '\u{2018}'..='\u{201b}' | '\u{02bc}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        sign if sign.is_whitespace() => ' ',
        sign => sign,
    }
}

/// The white space a line starts with, and the rest.
pub(super) fn split_indent(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start().len())
}
