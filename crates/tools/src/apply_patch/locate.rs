//! Where the changes of one file belong, and what they make of it. Pure.
//!
//! A change that fits in several places is told apart by what the format says: changes stand in
//! the order of the file, and headers name lines above them. Line numbers are not believed.

use std::ops::Range;

use super::parse::Hunk;
use crate::edit;
use crate::hunk::{self, File, Fit, Line, Refusal, Replacement};

/// How many line numbers of an ambiguous place are named.
const NAMED_LINES_MAX: usize = 10;

/// What the changes do to a content.
pub(super) struct Located {
    /// In order, and apart from each other.
    pub(super) replacements: Vec<Replacement>,
    /// What was overlooked to find the places.
    pub(super) notes: Vec<&'static str>,
}

/// Finds the place of every change; the error is for the model.
pub(super) fn locate(path: &str, content: &[u8], hunks: &[Hunk<'_>]) -> Result<Located, String> {
    let file = File::new(content);
    let mut places = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let fits = fits(&file, hunk).map_err(|refusal| refused(path, content, hunk, &refusal))?;
        places.push(narrowed(&file, hunk, fits));
    }
    in_order(&mut places);
    let mut located = Located { replacements: Vec::new(), notes: Vec::new() };
    for (hunk, fits) in hunks.iter().zip(&places) {
        let refused = |refusal: &Refusal| refused(path, content, hunk, refusal);
        let [fit] = &fits[..] else {
            let lines = fits.iter().map(|fit| fit.lines.start + 1).collect();
            return Err(refused(&Refusal::Ambiguous(lines)));
        };
        located
            .replacements
            .extend(hunk::apply(&file, &hunk.lines, fit).map_err(|refusal| refused(&refusal))?);
        located.notes.extend(fit.stage.note());
    }
    located.replacements.sort_by_key(|one| (one.range.start, one.range.end));
    let meets = |pair: &[Replacement]| {
        pair[1].range.start < pair[0].range.end || pair[0].range == pair[1].range
    };
    if let Some(pair) = located.replacements.windows(2).find(|pair| meets(pair)) {
        let n_lines = memchr::memchr_iter(b'\n', &content[..pair[1].range.start]).count();
        return Err(format!(
            "two changes of {path} meet at line {}; make one of them",
            n_lines + 1
        ));
    }
    located.notes.dedup();
    Ok(located)
}

fn fits(file: &File<'_>, hunk: &Hunk<'_>) -> Result<Vec<Fit>, Refusal> {
    let only_adds = hunk.lines.iter().all(|line| matches!(line, Line::Add(_)));
    if only_adds && (hunk.at_end || file.n_lines() == 0) {
        return Ok(vec![Fit::before_line(file.n_lines())]);
    }
    hunk::fits(file, &hunk.lines)
}

/// The places that the end of the file and the headers leave, if they leave any.
fn narrowed(file: &File<'_>, hunk: &Hunk<'_>, fits: Vec<Fit>) -> Vec<Fit> {
    let fits = only(fits, |fit| hunk.at_end && fit.lines.end == file.n_lines());
    if fits.len() < 2 || hunk.headers.is_empty() {
        return fits;
    }
    let mut scopes: Vec<_> = std::iter::once(0..file.n_lines()).collect();
    for header in &hunk.headers {
        let below = scopes.iter().flat_map(|scope| scopes_of(file, header, scope)).collect();
        scopes = below;
    }
    let within = |fit: &Fit| {
        scopes.iter().any(|scope| scope.start <= fit.lines.start && fit.lines.end <= scope.end)
    };
    only(fits, within)
}

/// Those for which it holds; all, when it holds for none.
fn only(fits: Vec<Fit>, holds: impl Fn(&Fit) -> bool) -> Vec<Fit> {
    let kept: Vec<Fit> = fits.iter().filter(|fit| holds(fit)).cloned().collect();
    if kept.is_empty() { fits } else { kept }
}

/// What lies below the lines of `within` that are this header: as far as lines are deeper.
fn scopes_of(file: &File<'_>, header: &str, within: &Range<usize>) -> Vec<Range<usize>> {
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let is_named = |index: &usize| file.text(*index).is_some_and(|text| is_it(text.trim()));
        within.clone().filter(is_named).collect()
    };
    let mut starts = named(&|line| line == header);
    if starts.is_empty() {
        starts = named(&|line| line.starts_with(header));
    }
    let scope = |start: usize| {
        let depth = file.text(start).map_or(0, indent);
        let is_outside = |index: &usize| {
            let line = file.text(*index).unwrap_or_default();
            let closes = line.trim_start().starts_with([')', ']', '}']);
            !line.trim().is_empty() && indent(line) <= depth && !closes
        };
        let end = (start + 1..within.end).find(is_outside).unwrap_or(within.end);
        start..end
    };
    starts.into_iter().map(scope).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Leaves of each change the places that it can have when all stand in the order of the file. When
/// that cannot be, the order says nothing.
fn in_order(places: &mut [Vec<Fit>]) {
    let mut earliest = vec![0];
    for fits in &*places {
        let from = earliest.last().copied().unwrap_or(0);
        let behind = fits.iter().filter(|fit| from <= fit.lines.start).map(|fit| fit.lines.end);
        let Some(end) = behind.min() else { return };
        earliest.push(end);
    }
    let mut latest = usize::MAX;
    for (fits, from) in places.iter_mut().zip(earliest).rev() {
        fits.retain(|fit| from <= fit.lines.start && fit.lines.end <= latest);
        latest = fits.iter().map(|fit| fit.lines.start).max().unwrap_or(latest);
    }
}

fn refused(path: &str, content: &[u8], hunk: &Hunk<'_>, refusal: &Refusal) -> String {
    let place = format!("the change at line {} of the patch", hunk.number);
    let old = || {
        let text = |line: &Line<'_>| match *line {
            Line::Keep(text) | Line::Remove(text) => Some(text.to_owned()),
            Line::Add(_) => None,
        };
        hunk.lines.iter().filter_map(text).collect::<Vec<_>>()
    };
    match refusal {
        Refusal::NotFound if old().is_empty() => format!(
            "{place} gives no line that is in {path}, so it is open where it belongs; give lines \
             around it, or `*** End of File` to append"
        ),
        Refusal::NotFound => {
            format!("{place} was not found in {path}; {}", edit::hint(content, &old().join("\n")))
        }
        Refusal::Ambiguous(lines) => {
            let named: Vec<_> =
                lines.iter().take(NAMED_LINES_MAX).map(ToString::to_string).collect();
            let more = if NAMED_LINES_MAX < lines.len() { ", ..." } else { "" };
            format!(
                "{place} fits {path} in several places (at lines {}{more}); give more lines around \
                 it, or `@@` and a line above it that tells them apart",
                named.join(", ")
            )
        }
        Refusal::Unclear(lines, why) => format!(
            "{place} is not in {path} as it is, only nearly, and {why}. The lines are:\n{}",
            edit::shown(content, lines.start - 1..lines.end - 1).trim_end()
        ),
    }
}
