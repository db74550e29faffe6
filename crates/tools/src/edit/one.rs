//! What one edit does to a content: where its text is, and what is put there. Pure.

use std::ops::Range;

use heeler_core::ToolError;
use imara_diff::{Algorithm, Diff, InternedInput};

use super::matches::{self, EDIT_MATCHES_MAX, Found, find, replacements};
use super::{check_size, nearest};
use crate::hunk::{self, File, Line, Refusal, Replacement};

/// How many line numbers of an ambiguous match are named.
const NAMED_LINES_MAX: usize = 10;
/// Characters that `Read` gives a line's number at least.
const READ_NUMBER_CHARS: usize = 6;

/// A text and what takes its place.
pub(crate) struct One<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) replace_all: bool,
}

/// What becomes of a content.
pub(crate) struct Change {
    /// In order, and apart from each other.
    pub(crate) replacements: Vec<Replacement>,
    /// What was overlooked to find the place.
    pub(crate) note: Option<&'static str>,
}

/// Finds the text in `content`; the error is for the model. `path` is its name for the file.
pub(crate) fn change(path: &str, content: &[u8], one: &One<'_>) -> Result<Change, ToolError> {
    let found = find(content, one.old, one.replace_all);
    if found.ranges.is_empty() {
        return nearly(path, content, one);
    }
    if let [range] = &found.ranges[..]
        && is_torn(content, range, one)
        && let Some(outcome) = as_whole_lines(path, content, range, one)
    {
        return outcome;
    }
    check_found(path, content, one, &found)?;
    check_size(matches::size_after_at_least(content, &found, one.new))?;
    let replacements = replacements(content, &found, one.new);
    Ok(Change { replacements, note: None })
}

fn check_found(path: &str, content: &[u8], one: &One<'_>, found: &Found) -> Result<(), ToolError> {
    let n_matches = found.ranges.len();
    if EDIT_MATCHES_MAX < n_matches {
        return Err(ToolError::for_model(format!(
            "old_string occurs more than {EDIT_MATCHES_MAX} times in {path}; use a longer one"
        )));
    }
    if n_matches > 1 && !one.replace_all {
        let lines = matches::line_numbers(content, &found.ranges, NAMED_LINES_MAX);
        let more = if NAMED_LINES_MAX < n_matches { ", ..." } else { "" };
        return Err(ToolError::for_model(format!(
            "old_string occurs {n_matches} times in {path} (at lines {}{more}); add text around \
             it until it is unique, or set replace_all",
            listed(&lines)
        )));
    }
    let [range] = &found.ranges[..] else { return Ok(()) };
    if is_depth_open(content, range.start, one) {
        let line = matches::line_numbers(content, &found.ranges, 1);
        return Err(ToolError::for_model(format!(
            "old_string starts in line {} of {path} behind the start of its indentation, so it is \
             open how deep the further lines of new_string belong; begin both with the whole \
             indentation of that line",
            listed(&line)
        )));
    }
    Ok(())
}

/// Whether the text, taken as lines, is not what was found: its first line is a part of one there
/// that begins amid or behind the indentation.
fn is_torn(content: &[u8], range: &Range<usize>, one: &One<'_>) -> bool {
    let before = &content[line_start(content, range.start)..range.start];
    if one.replace_all || before.is_empty() {
        return false;
    }
    let is_blank = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    let begins = |text: &str, sign: &[char]| text.starts_with(sign);
    let is_indented = is_blank && begins(one.old, &[' ', '\t']) && begins(one.new, &[' ', '\t']);
    // A line that stays, and has others before it now, is not to lose its indentation by that.
    let first = one.old.lines().next();
    let moves = is_blank
        && one.old.contains('\n')
        && first.is_some_and(|line| !line.trim().is_empty())
        && one.new.lines().next() != first
        && one.new.lines().any(|line| Some(line) == first);
    // What is put behind an indentation does not begin with one: all of it was written further left.
    let ends_line = matches!(content.get(range.end), None | Some(b'\n' | b'\r'));
    let is_flatter = is_blank
        && ends_line
        && !one.old.contains('\n')
        && !begins(one.old, &[' ', '\t'])
        && begins(one.new, &[' ', '\t']);
    // Whole lines that go leave no indentation behind.
    let goes = is_blank && one.new.is_empty() && one.old.ends_with('\n');
    is_indented || is_flatter || moves || goes
}

/// What the text does as whole lines at the place where it was found; `None` when it is none there.
/// No other place counts, since this one has the text as it is.
fn as_whole_lines(
    path: &str,
    content: &[u8],
    range: &Range<usize>,
    one: &One<'_>,
) -> Option<Result<Change, ToolError>> {
    let start = line_start(content, range.start);
    let end = memchr::memchr(b'\n', &content[range.end..]);
    let end = end.map_or(content.len(), |end| range.end + end + 1);
    let (old, new) = (one.old.replace("\r\n", "\n"), one.new.replace("\r\n", "\n"));
    match fitted(&File::new(content), &old, &new) {
        Ok(change) => {
            let is_here = |it: &Replacement| it.range.start <= end && start <= it.range.end;
            change.replacements.iter().all(is_here).then_some(Ok(change))
        }
        Err(Refusal::Unclear(lines, why)) => {
            let [first] = matches::line_numbers(content, std::slice::from_ref(range), 1)[..] else {
                return None;
            };
            lines.contains(&first).then(|| {
                Err(ToolError::for_model(format!(
                    "old_string begins within line {first} of {path}, and as whole lines {why}. \
                     The lines are:\n{}",
                    nearest::shown(content, lines.start - 1..lines.end - 1).trim_end()
                )))
            })
        }
        Err(_) => None,
    }
}

fn line_start(content: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &content[..at]).map_or(0, |end| end + 1)
}

/// Whether the further lines of the new text may be meant as deep as they are written, or as deep
/// as the first one is in the file. A text of several lines shows which by its own.
fn is_depth_open(content: &[u8], start: usize, one: &One<'_>) -> bool {
    let line_start = line_start(content, start);
    let before = &content[line_start..start];
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    let is_several = one.old.trim_end_matches(['\n', '\r']).contains('\n');
    if one.replace_all || before.is_empty() || !is_blank(before) || is_several {
        return false;
    }
    let own = one.old.len() - one.old.trim_start_matches([' ', '\t']).len();
    let depth = &content[line_start..start + own];
    let mut lines = one.new.lines();
    let opens = |line: &str| {
        let line = line.trim_end();
        line.ends_with([':', '{', '(', '[', '=', ',', '\\']) || line.ends_with("=>")
    };
    let begins_a_block = lines.next().is_some_and(opens);
    let mut further = lines.filter(|line| !line.trim().is_empty());
    let is_flat =
        |line: &str| line.trim_start_matches([' ', '\t']).len() + depth.len() == line.len();
    let continues = |line: &str| line.trim_start().starts_with(['.', '?', '&', '|', '+']);
    let Some(second) = further.next() else { return false };
    let is_odd = is_flat(second) && (begins_a_block || continues(second));
    is_odd || std::iter::once(second).chain(further).any(|line| !line.as_bytes().starts_with(depth))
}

/// Looks for whole lines that are nearly the text.
fn nearly(path: &str, content: &[u8], one: &One<'_>) -> Result<Change, ToolError> {
    let not_found = || {
        let hint = nearest::hint(content, one.old);
        ToolError::for_model(format!("old_string was not found in {path}; {hint}"))
    };
    if one.replace_all {
        return Err(not_found());
    }
    let file = File::new(content);
    let (old, new) = (one.old.replace("\r\n", "\n"), one.new.replace("\r\n", "\n"));
    match fitted(&file, &old, &new) {
        Err(Refusal::NotFound) => {}
        outcome => return outcome.map_err(|refusal| refused(path, content, &refusal)),
    }
    let Some(bare_old) = without_line_numbers(&old) else { return Err(not_found()) };
    // Lines that come new may have none.
    match fitted(&file, &bare_old, &with_bare_lines(&new)) {
        Err(Refusal::NotFound) => Err(not_found()),
        outcome => outcome
            .map(|change| Change { note: Some("line numbers were left out"), ..change })
            .map_err(|refusal| refused(path, content, &refusal)),
    }
}

fn fitted(file: &File<'_>, old: &str, new: &str) -> Result<Change, Refusal> {
    let (old, new) = as_lines(old, new);
    let lines = lines(&old, &new);
    let fits = hunk::fits(file, &lines)?;
    let [fit] = &fits[..] else {
        return Err(Refusal::Ambiguous(fits.iter().map(|fit| fit.lines.start + 1).collect()));
    };
    let replacements = hunk::apply(file, &lines, fit)?;
    Ok(Change { replacements, note: fit.stage.note() })
}

/// Both texts as whole lines. A text that ends with a line end has an empty line behind it, unless
/// both end so, or the lines go without a trace.
fn as_lines<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        (Some(old), None) if new.is_empty() => return (old.split('\n').collect(), Vec::new()),
        _ => (old, new),
    };
    (old.split('\n').collect(), new.split('\n').collect())
}

/// What stays, goes and comes.
fn lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let diff = Diff::compute(Algorithm::Myers, &input);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let mut done = 0;
    for hunk in diff.hunks() {
        let [removed, added] =
            [hunk.before, hunk.after].map(|range| range.start as usize..range.end as usize);
        lines.extend(old[done..removed.start].iter().copied().map(Line::Keep));
        done = removed.end;
        lines.extend(old[removed].iter().copied().map(Line::Remove));
        lines.extend(new[added].iter().copied().map(Line::Add));
    }
    lines.extend(old[done..].iter().copied().map(Line::Keep));
    lines
}

fn refused(path: &str, content: &[u8], refusal: &Refusal) -> ToolError {
    ToolError::for_model(match refusal {
        Refusal::NotFound => format!("old_string was not found in {path}"),
        Refusal::Ambiguous(lines) => format!(
            "old_string was not found in {path} as it is, and nearly so in several places (at \
             lines {}); copy more of the text exactly",
            listed(&lines[..lines.len().min(NAMED_LINES_MAX)])
        ),
        Refusal::Unclear(lines, why) => format!(
            "old_string is not in {path} as it is, only nearly, and {why}. The lines are:\n{}",
            nearest::shown(content, lines.start - 1..lines.end - 1).trim_end()
        ),
    })
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The text without the numbers that `Read` puts before each line, when every line has one. Blank
/// lines may have lost theirs.
pub(super) fn without_line_numbers(text: &str) -> Option<String> {
    let mut lines = text.split('\n').filter(|line| !line.trim().is_empty()).peekable();
    let is_numbered = lines.peek().is_some() && lines.all(|line| without_number(line).is_some());
    is_numbered.then(|| with_bare_lines(text))
}

/// The text without the numbers of those of its lines that have one.
fn with_bare_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| without_number(line).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without the number that `Read` puts before it; `None` when it has none.
fn without_number(line: &str) -> Option<&str> {
    // What copies a blank line may drop the tab behind its number, and leaves what is before it.
    let is_blank = line.len() >= READ_NUMBER_CHARS && !line.contains(['\t', '\u{2192}']);
    let (number, rest) = if is_blank { (line, "") } else { line.split_once(['\t', '\u{2192}'])? };
    number.trim_start().parse::<u64>().ok().map(|_| rest)
}
