//! Vim's text objects: words, and what stands between quotes or brackets.

use std::ops::Range;

use super::super::graphemes;
use super::super::words::{
    Class, class, class_between_blanks, line_end, line_start, skip, skip_back,
};

/// The object of a key at a place, `around` it or inside.
pub(super) fn object(text: &str, at: usize, key: char, around: bool) -> Option<Range<usize>> {
    match key {
        'w' => word(text, at, around, class),
        'W' => word(text, at, around, class_between_blanks),
        '"' | '\'' | '`' => quoted(text, at, key, around),
        '(' | ')' | 'b' => bracketed(text, at, ('(', ')'), around),
        '{' | '}' | 'B' => bracketed(text, at, ('{', '}'), around),
        '[' | ']' => bracketed(text, at, ('[', ']'), around),
        '<' | '>' => bracketed(text, at, ('<', '>'), around),
        _ => None,
    }
}

fn word(text: &str, at: usize, around: bool, class: fn(&str) -> Class) -> Option<Range<usize>> {
    let line = line_start(text, at)..line_end(text, at);
    let here = class(graphemes::at(text, at).filter(|grapheme| *grapheme != "\n")?);
    let same = |grapheme: &str| class(grapheme) == here && grapheme != "\n";
    let mut range = match here {
        Class::Unit => at..graphemes::next(text, at),
        _ => skip_back(text, at, same)..skip(text, at, same),
    };
    if around {
        let blank = |grapheme: &str| class(grapheme) == Class::Space && grapheme != "\n";
        let other = |grapheme: &str| !blank(grapheme) && grapheme != "\n";
        let end = match here {
            Class::Space => skip(text, range.end, other),
            _ => skip(text, range.end, blank),
        };
        match end == range.end {
            true => range.start = skip_back(text, range.start, blank),
            false => range.end = end,
        }
    }
    Some(range.start.max(line.start)..range.end.min(line.end))
}

/// Between two quotes of the line: those around the place, or the next ones.
fn quoted(text: &str, at: usize, quote: char, around: bool) -> Option<Range<usize>> {
    let line = line_start(text, at)..line_end(text, at);
    let quotes = text[line.clone()].match_indices(quote).map(|(place, _)| line.start + place);
    let quotes: Vec<_> = quotes.collect();
    let pair = quotes.chunks_exact(2).find(|pair| at <= pair[1])?;
    Some(if around { pair[0]..pair[1] + 1 } else { pair[0] + 1..pair[1] })
}

fn bracketed(
    text: &str,
    at: usize,
    (open, close): (char, char),
    around: bool,
) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    let on_open = text[at..].starts_with(open);
    let before = if on_open { at + open.len_utf8() } else { at };
    let start = text[..before].char_indices().rev().find(|(_, letter)| {
        if *letter == close {
            depth += 1;
        } else if *letter == open {
            match depth {
                0 => return true,
                _ => depth -= 1,
            }
        }
        false
    });
    let (start, _) = start?;
    let inside = start + open.len_utf8();
    let mut depth = 0_usize;
    let end = text[inside..].char_indices().find(|(_, letter)| {
        if *letter == open {
            depth += 1;
        } else if *letter == close {
            match depth {
                0 => return true,
                _ => depth -= 1,
            }
        }
        false
    });
    let end = inside + end?.0;
    Some(if around { start..end + close.len_utf8() } else { inside..end })
}
