//! Where the changes of one file belong, and what they make of it. Pure.
//!
//! Headers name lines above a change, and it may say that it ends the file: where that is so, it
//! belongs there and nowhere else, even if another place fits better. Several places are told apart
//! by the order of the changes. Line numbers are not believed.

use std::ops::Range;

use super::parse::{Header, Hunk};
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
        let scope = Scope::of(&file, hunk);
        let fits = fits(&file, hunk, &scope).map_err(|refusal| {
            elsewhere(path, &file, hunk, &scope, &refusal)
                .unwrap_or_else(|| refused(path, content, hunk, &refusal))
        })?;
        places.push(scope.narrowed(fits));
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
    heeler_core::sort_by_key(&mut located.replacements, |one| (one.range.start, one.range.end));
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

fn fits(file: &File<'_>, hunk: &Hunk<'_>, scope: &Scope<'_>) -> Result<Vec<Fit>, Refusal> {
    let only_adds = hunk.lines.iter().all(|line| matches!(line, Line::Add(_)));
    if only_adds && (hunk.at_end || file.n_lines() == 0) {
        return Ok(vec![Fit::before_line(file.n_lines())]);
    }
    hunk::fits_where(file, &hunk.lines, &|lines| scope.allows(file, lines))
}

/// What lies below a line that a header names.
struct Block {
    /// As far as lines are deeper.
    lines: Range<usize>,
    /// As far as what the header tells of may be.
    reach: Range<usize>,
}

/// Where in a file a change may be.
struct Scope<'a> {
    /// What its headers name, as far as they are in the file.
    blocks: Vec<Block>,
    /// The header that the blocks are of.
    header: Option<&'a str>,
    at_end: bool,
}

impl<'a> Scope<'a> {
    fn of(file: &File<'_>, hunk: &Hunk<'a>) -> Self {
        let all = || 0..file.n_lines();
        let blocks = vec![Block { lines: all(), reach: all() }];
        let mut scope = Self { blocks, header: None, at_end: hunk.at_end };
        for header in &hunk.headers {
            let below: Vec<_> =
                scope.blocks.iter().flat_map(|it| blocks_of(file, header, &it.reach)).collect();
            if !below.is_empty() {
                scope.blocks = below;
                scope.header = Some(header.text);
            }
        }
        scope
    }

    /// Whether a place is in one of the blocks or reaches into it, as far as the change says where
    /// it is.
    fn allows(&self, file: &File<'_>, lines: &Range<usize>) -> bool {
        let meets = |block: &Block| lines.start < block.reach.end && block.reach.start < lines.end;
        let is_blank = |index: usize| file.text(index).is_some_and(|text| text.trim().is_empty());
        let is_last = || (lines.end..file.n_lines()).all(is_blank);
        (self.header.is_none() || self.blocks.iter().any(meets)) && (!self.at_end || is_last())
    }

    /// The places that lie wholly in a block, if there are such; else those that reach into one.
    fn narrowed(&self, fits: Vec<Fit>) -> Vec<Fit> {
        let holds = |block: &Block, fit: &Fit| {
            block.lines.start <= fit.lines.start && fit.lines.end <= block.lines.end
        };
        only(fits, |fit| self.blocks.iter().any(|block| holds(block, fit)))
    }

    /// How it is named; `None` when it is the whole file.
    fn name(&self) -> Option<String> {
        let end = if self.at_end { " at its end" } else { "" };
        match self.header {
            Some(header) => Some(format!("below `{header}`{end}")),
            None => self.at_end.then(|| "at its end".to_owned()),
        }
    }
}

/// What is said when a change fits, but not where it says it is.
fn elsewhere(
    path: &str,
    file: &File<'_>,
    hunk: &Hunk<'_>,
    scope: &Scope<'_>,
    refusal: &Refusal,
) -> Option<String> {
    let (Refusal::NotFound, Some(name)) = (refusal, scope.name()) else { return None };
    let fits = hunk::fits(file, &hunk.lines).ok()?;
    let lines: Vec<usize> = fits.iter().map(|fit| fit.lines.start + 1).collect();
    Some(format!(
        "the change at line {} of the patch was not found in {path} {name}, only elsewhere (at {} \
         {}); give the lines as they are there, or say where else they are",
        hunk.number,
        if lines.len() == 1 { "line" } else { "lines" },
        listed(&lines)
    ))
}

fn listed(lines: &[usize]) -> String {
    let named: Vec<_> = lines.iter().take(NAMED_LINES_MAX).map(ToString::to_string).collect();
    let more = if NAMED_LINES_MAX < lines.len() { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

/// Those for which it holds; all, when it holds for none.
fn only(fits: Vec<Fit>, holds: impl Fn(&Fit) -> bool) -> Vec<Fit> {
    let kept: Vec<Fit> = fits.iter().filter(|fit| holds(fit)).cloned().collect();
    if kept.is_empty() { fits } else { kept }
}

/// What lies below the lines of `within` that are this header. Where no line is deeper, or diff named
/// the line, the change may be anywhere behind it.
fn blocks_of(file: &File<'_>, header: &Header<'_>, within: &Range<usize>) -> Vec<Block> {
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let is_named = |index: &usize| file.text(*index).is_some_and(|text| is_it(text.trim()));
        within.clone().filter(is_named).collect()
    };
    let mut starts = named(&|line| line == header.text);
    if starts.is_empty() {
        starts = named(&|line| line.starts_with(header.text));
    }
    let block = |start: usize| {
        let depth = file.text(start).map_or(0, indent);
        let is_deeper = |line: &str| !line.trim().is_empty() && depth < indent(line);
        let is_outside = |index: &usize| {
            let line = file.text(*index).unwrap_or_default();
            let closes = line.trim_start().starts_with([')', ']', '}']);
            !line.trim().is_empty() && !is_deeper(line) && !closes
        };
        let end = (start + 1..within.end).find(is_outside).unwrap_or(within.end);
        let has_block = (start + 1..end).any(|index| file.text(index).is_some_and(is_deeper));
        let lines = start..if has_block { end } else { within.end };
        let reach = if header.is_diffs { start..within.end } else { lines.clone() };
        Block { lines, reach }
    };
    starts.into_iter().map(block).collect()
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
        Refusal::Ambiguous(lines) => format!(
            "{place} fits {path} in several places (at lines {}); give more lines around it, or \
             `@@` and a line above it that tells them apart",
            listed(lines)
        ),
        Refusal::Unclear(lines, why) => format!(
            "{place} is not in {path} as it is, only nearly, and {why}. The lines are:\n{}",
            edit::shown(content, lines.start - 1..lines.end - 1).trim_end()
        ),
    }
}
