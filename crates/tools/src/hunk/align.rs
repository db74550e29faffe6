//! The place of a hunk whose context is not quite what the file has: a blank line is missing, or a
//! line has changed since the model saw it.
//!
//! Lines that are removed must be there. The other lines may differ a little, as long as no other
//! place comes near, and as long as nothing differs right beside what is to be changed: there it
//! would be open on which side of the difference the change belongs.

use std::collections::HashMap;
use std::ops::Range;

use super::likeness::{Keys, Likenesses, differ_in_depth};
use super::{File, Fit, Line, Refusal, Stage};

/// Old lines of a hunk that are aligned; a larger hunk has to be there as it is.
const OLD_LINES_MAX: usize = 400;
/// Lines of the file that a place may have more or less than the hunk.
pub(super) const SLACK_LINES: usize = 4;
/// Places that are compared closely.
const PLACES_MAX: usize = 60;
/// Lines of the file with the same text that are counted as places.
const SAME_LINES_MAX: usize = 200;
/// Letters and digits that must be found as they are for a place to count.
const FOUND_SIGNS_MIN: usize = 8;

/// What a difference costs: a blank line more or less, a line that has changed, a line more or less.
const BLANK: usize = 2;
pub(super) const CHANGED: usize = 5;
const OTHER: usize = 6;
/// What it costs, beside other places, that a line is as deep as it is not written.
pub(super) const DEPTH: usize = 1;
/// What a place may cost, and how much more every other place must cost.
const COST_MAX: usize = 6;
const DISTANCE_MIN: usize = 5;

const BESIDE: &str = "the lines there differ from the ones given right beside the change, so it is \
                      open where exactly it belongs";
const NOT_THERE: &str = "a line that is to be removed or replaced is not there as given";

/// The one allowed place where the hunk fits but for a little.
pub(super) fn fit(
    file: &File<'_>,
    hunk: &[Line<'_>],
    allows: &dyn Fn(&Range<usize>) -> bool,
) -> Result<Fit, Refusal> {
    let old: Vec<&str> = hunk.iter().filter_map(|line| line.old()).collect();
    if OLD_LINES_MAX < old.len() {
        return Err(Refusal::NotFound);
    }
    let mut keys = Keys::new(file, &old);
    let mut places: Vec<Alignment> = Vec::new();
    for start in candidates(&keys, &old) {
        let mut window = start..(start + old.len() + 3 * SLACK_LINES).min(file.n_lines());
        // Of two places in one window the later hides the one before it.
        while let Some(place) = align(file, &old, window.clone(), &mut keys) {
            window.end = place.lines().start;
            if !allows(&place.lines()) {
                continue;
            }
            match places.iter_mut().find(|other| other.overlaps(&place)) {
                Some(other) if place.cost < other.cost => *other = place,
                Some(_) => {}
                None => places.push(place),
            }
        }
    }
    if keys.is_exhausted() {
        // A place that was not looked at may fit as well.
        return Err(Refusal::NotFound);
    }
    heeler_core::sort_by_key(&mut places, |place| (place.cost, place.lines().start));
    let Some(best) = places.first().filter(|best| best.cost - best.depths <= COST_MAX) else {
        return Err(Refusal::NotFound);
    };
    // Where this one lacks a line, one that has another in its place is as good: both took one slip.
    let distance = if best.cost - best.depths < OTHER { DISTANCE_MIN } else { OTHER + 1 };
    let rivals = places.iter().take_while(|place| place.cost < best.cost + distance);
    let starts: Vec<usize> = rivals.map(|place| place.lines().start + 1).collect();
    if starts.len() > 1 {
        return Err(Refusal::Ambiguous(starts));
    }
    let lines = best.lines();
    let unclear = |why| Refusal::Unclear(lines.start + 1..lines.end + 1, why);
    if !removes_what_is_there(hunk, &best.old) {
        return Err(unclear(NOT_THERE));
    }
    if differs_beside(file, hunk, &best.old) {
        return Err(unclear(BESIDE));
    }
    let old = best.old.iter().map(|pair| pair.map(|(index, _)| index)).collect();
    Ok(Fit { old, lines, stage: Stage::Context })
}

/// The old lines of a hunk beside lines of the file.
struct Alignment {
    /// For each old line the file's line, and how it is alike.
    old: Vec<Option<(usize, Likeness)>>,
    cost: usize,
    /// The part of the cost that is for other depths.
    depths: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    Changed,
}

impl Alignment {
    fn lines(&self) -> Range<usize> {
        let mut indices = self.old.iter().flatten().map(|(index, _)| *index);
        let first = indices.next().unwrap_or(0);
        first..indices.next_back().unwrap_or(first) + 1
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (self.lines(), other.lines());
        one.start < other.end && other.start < one.end
    }
}

/// Where the hunk may start: where lines that it has are, as far before them as in the hunk.
fn candidates(keys: &Keys<'_>, old: &[&str]) -> Vec<usize> {
    let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, key) in keys.lines.iter().enumerate() {
        if let Some(key) = key.filter(|key| keys.is_wanted(*key)) {
            places.entry(key).or_default().push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (offset, line) in old.iter().enumerate() {
        let Some(indices) = places.get(&keys.old[offset]) else { continue };
        let n_signs = signs(line);
        for index in indices.iter().take(SAME_LINES_MAX) {
            *votes.entry((index + SLACK_LINES).saturating_sub(offset)).or_default() += n_signs + 1;
        }
    }
    let mut starts: Vec<(usize, usize)> =
        votes.into_iter().map(|(start, votes)| (votes, start)).collect();
    heeler_core::sort_by(&mut starts, |one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    starts.truncate(PLACES_MAX);
    starts.into_iter().map(|(_, start)| start.saturating_sub(2 * SLACK_LINES)).collect()
}

/// The cheapest alignment within a window of the file; the last of several.
fn align(
    file: &File<'_>,
    old: &[&str],
    window: Range<usize>,
    keys: &mut Keys<'_>,
) -> Option<Alignment> {
    let start = window.start;
    if keys.n_absent(window.clone()) * CHANGED > COST_MAX + OTHER
        || !keys.pay(old.len() * window.len())
    {
        return None;
    }
    let likeness = Likenesses::new(file, old, window.clone(), keys);
    let lines: Vec<Option<&str>> = window.map(|index| file.text(index)).collect();
    let width = lines.len() + 1;
    // costs[i * width + j]: the first i old lines beside lines that end with the first j.
    let mut costs = vec![0usize; (old.len() + 1) * width];
    for i in 1..=old.len() {
        for j in 0..width {
            let mut cost = costs[(i - 1) * width + j] + missing(old[i - 1]);
            if let Some(j) = j.checked_sub(1) {
                if let Some(change) = likeness.cost(i - 1, j) {
                    cost = cost.min(costs[(i - 1) * width + j] + change);
                }
                // A line before the first, or behind the last, costs nothing.
                let skipped = if i == old.len() { 0 } else { missing(lines[j].unwrap_or("?")) };
                cost = cost.min(costs[i * width + j] + skipped);
            }
            costs[i * width + j] = cost;
        }
    }
    let cost = costs[old.len() * width + lines.len()];
    let old_lines = trace(&costs, width, old, &lines, &likeness, start);
    let is_deeper = |(line, pair): (&&str, &Option<(usize, Likeness)>)| {
        let there = pair.and_then(|(index, _)| file.text(index));
        there.is_some_and(|there| differ_in_depth(line, there))
    };
    let depths = DEPTH * old.iter().zip(&old_lines).filter(|pair| is_deeper(*pair)).count();
    if COST_MAX + OTHER < cost - depths {
        return None;
    }
    let found: usize = old_lines
        .iter()
        .zip(old)
        .filter(|(pair, _)| matches!(pair, Some((_, Likeness::Same))))
        .map(|(_, line)| signs(line))
        .sum();
    (FOUND_SIGNS_MIN <= found).then_some(Alignment { old: old_lines, cost, depths })
}

/// The way back through the costs. A pair is preferred to a gap.
fn trace(
    costs: &[usize],
    width: usize,
    old: &[&str],
    lines: &[Option<&str>],
    likeness: &Likenesses,
    start: usize,
) -> Vec<Option<(usize, Likeness)>> {
    let mut pairs = vec![None; old.len()];
    let (mut i, mut j) = (old.len(), lines.len());
    while i > 0 {
        let cost = costs[i * width + j];
        if let Some(before) = j.checked_sub(1) {
            let skipped = if i == old.len() { 0 } else { missing(lines[before].unwrap_or("?")) };
            let change = likeness.cost(i - 1, before);
            if change.is_some_and(|change| cost == costs[(i - 1) * width + before] + change) {
                let is_same = change.is_some_and(|change| change < CHANGED);
                let how = if is_same { Likeness::Same } else { Likeness::Changed };
                pairs[i - 1] = Some((start + before, how));
                (i, j) = (i - 1, before);
                continue;
            }
            if cost == costs[i * width + before] + skipped {
                j = before;
                continue;
            }
        }
        i -= 1;
    }
    pairs
}

/// What it costs that a line is on one side only.
fn missing(line: &str) -> usize {
    if line.trim().is_empty() { BLANK } else { OTHER }
}

fn signs(line: &str) -> usize {
    line.chars().filter(|sign| sign.is_alphanumeric()).count()
}

fn removes_what_is_there(hunk: &[Line<'_>], old: &[Option<(usize, Likeness)>]) -> bool {
    let lines = hunk.iter().filter(|line| line.old().is_some());
    lines.zip(old).all(|(line, pair)| match line {
        Line::Remove(_) => matches!(pair, Some((_, Likeness::Same))),
        _ => true,
    })
}

/// Whether a line is missing on either side next to an added line or between two removed ones,
/// with nothing but blank lines between.
fn differs_beside(file: &File<'_>, hunk: &[Line<'_>], old: &[Option<(usize, Likeness)>]) -> bool {
    let mut old = old.iter();
    let mut last: Option<usize> = None;
    // Since the last line that holds its place: something differed, something was changed there.
    let (mut differs, mut changes) = (false, false);
    let mut last_removed = false;
    for line in hunk {
        let removes = matches!(line, Line::Remove(_));
        let pair = match line {
            Line::Add(_) => {
                changes = true;
                continue;
            }
            _ => old.next().copied().flatten(),
        };
        let Some((index, _)) = pair else {
            differs = true;
            continue;
        };
        differs |= last.is_some_and(|last| last + 1 != index);
        last = Some(index);
        if file.text(index).is_none_or(|text| text.trim().is_empty()) {
            changes |= removes;
        } else {
            if differs && (changes || (removes && last_removed)) {
                return true;
            }
            (differs, changes, last_removed) = (false, false, removes);
        }
    }
    differs && changes
}
