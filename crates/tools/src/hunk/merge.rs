//! What a hunk does at its place: kept lines stay as they are, removed ones go, added ones are
//! written as the file would have them.

use super::alike::{key, split_indent};
use super::{File, Fit, Line, Refusal, Replacement, Stage, quotes, style};

const INDENT_UNCLEAR: &str = "the indentation differs from the file's in a way that leaves open \
                              how deep the new lines belong";
const QUOTES_UNCLEAR: &str = "quotes or dashes differ from the file's in a way that leaves open \
                              which ones the new lines should have";

pub(super) fn merge(
    file: &File<'_>,
    hunk: &[Line<'_>],
    fit: &Fit,
) -> Result<Vec<Replacement>, Refusal> {
    let unclear = |why| Refusal::Unclear(fit.lines.start + 1..fit.lines.end + 1, why);
    let pairs = pairs(file, hunk, fit);
    let mut added: Vec<String> = hunk.iter().filter_map(added_text).map(str::to_owned).collect();
    if !added.is_empty() {
        let begins = matches!(hunk.first(), Some(Line::Add(_)));
        if !style::adapt(&pairs, &mut added, begins) {
            return Err(unclear(INDENT_UNCLEAR));
        }
        if !quotes::adapt(&pairs, &mut added) {
            return Err(unclear(QUOTES_UNCLEAR));
        }
    }
    let mut replacements: Vec<Replacement> = Vec::new();
    let mut added = added.into_iter();
    let mut old = fit.old.iter();
    let mut next = fit.lines.start;
    for line in hunk {
        let one = match line {
            Line::Add(_) => {
                let at = file.start(next);
                let text = added.next().unwrap_or_default();
                Replacement { range: at..at, new: [&text, file.line_end(next)].concat().into() }
            }
            Line::Keep(_) | Line::Remove(_) => {
                let Some(index) = old.next().copied().flatten() else { continue };
                next = index + 1;
                match (line, file.range(index)) {
                    (Line::Remove(_), Some(range)) => Replacement { range, new: Vec::new() },
                    _ => continue,
                }
            }
        };
        push(&mut replacements, one);
    }
    if file.is_open_ended() {
        leave_open(file, &mut replacements);
    }
    replacements.retain(|one| file.content[one.range.clone()] != one.new);
    Ok(replacements)
}

fn added_text<'a>(line: &Line<'a>) -> Option<&'a str> {
    match *line {
        Line::Add(text) => Some(text),
        _ => None,
    }
}

/// What the model wrote, and what the file has there.
fn pairs<'a>(file: &File<'a>, hunk: &[Line<'a>], fit: &Fit) -> Vec<(&'a str, &'a str)> {
    let old = hunk.iter().filter_map(|line| line.old());
    old.zip(&fit.old)
        .filter_map(|(written, index)| Some((written, file.text((*index)?)?)))
        .filter(|(written, there)| {
            let is_same = key(written, Stage::Both) == key(there, Stage::Both);
            is_same && !split_indent(written).1.is_empty()
        })
        .collect()
}

fn push(replacements: &mut Vec<Replacement>, one: Replacement) {
    match replacements.last_mut() {
        Some(last) if last.range.end == one.range.start => {
            last.range.end = one.range.end;
            last.new.extend(one.new);
        }
        _ => replacements.push(one),
    }
}

/// A file whose last line has no end has none afterwards either.
fn leave_open(file: &File<'_>, replacements: &mut [Replacement]) {
    let Some(last) = replacements.last_mut() else { return };
    if last.range.end != file.content.len() {
        return;
    }
    let without_end = |bytes: &[u8]| {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes.strip_suffix(b"\r").unwrap_or(bytes).len()
    };
    if last.range.is_empty() {
        let end = file.line_end(file.n_lines().saturating_sub(1));
        last.new.truncate(without_end(&last.new));
        last.new.splice(..0, end.bytes());
    } else if last.new.is_empty() {
        last.range.start = without_end(&file.content[..last.range.start]);
    } else {
        last.new.truncate(without_end(&last.new));
    }
}
