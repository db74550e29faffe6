//! How much the lines of a hunk are like those of a file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::align::{CHANGED, DEPTH, SLACK_LINES};
use super::alike::{key, split_indent};
use super::{File, Stage};

/// Bytes of two lines that are compared for likeness.
const COMPARED_BYTES_MAX: usize = 400;
/// How much alike two lines must be, from 0 to 1, to be the same line before and after a change.
const RATIO_MIN: f64 = 0.5;
/// Comparisons, of two signs or of two lines, in one search.
const COMPARISONS_MAX: usize = 50_000_000;

/// What is compared of every line, as a number: lines with the same number are the same.
pub(super) struct Keys<'a> {
    pub(super) old: Vec<usize>,
    /// `None` for what is no text.
    pub(super) lines: Vec<Option<usize>>,
    texts: Vec<Cow<'a, str>>,
    /// How often each is among the old lines.
    n_wanted: HashMap<usize, usize>,
    alike: HashMap<(usize, usize), bool>,
    n_left: usize,
}

impl<'a> Keys<'a> {
    pub(super) fn new(file: &File<'a>, old: &[&'a str]) -> Self {
        let mut known: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let mut texts = Vec::new();
        let mut number = |line: &'a str| {
            let text = key(line, Stage::Context);
            *known.entry(text).or_insert_with_key(|text| {
                texts.push(text.clone());
                texts.len() - 1
            })
        };
        let old: Vec<usize> = old.iter().map(|line| number(line)).collect();
        let lines = (0..file.n_lines()).map(|index| file.text(index).map(&mut number)).collect();
        let mut n_wanted = HashMap::new();
        for key in &old {
            *n_wanted.entry(*key).or_insert(0) += 1;
        }
        Self { old, lines, texts, n_wanted, alike: HashMap::new(), n_left: COMPARISONS_MAX }
    }

    /// Whether it is among the old lines, and says something.
    pub(super) fn is_wanted(&self, key: usize) -> bool {
        self.n_wanted.contains_key(&key) && !self.texts[key].is_empty()
    }

    /// How many old lines with something in them cannot be in a window as they are.
    pub(super) fn n_absent(&self, window: Range<usize>) -> usize {
        let there = self.counted(window);
        let wanted = self.n_wanted.iter().filter(|(key, _)| !self.texts[**key].is_empty());
        let absent = |(key, n): (&usize, &usize)| n - there.get(key).unwrap_or(&0).min(n);
        wanted.map(absent).sum()
    }

    fn counted(&self, window: Range<usize>) -> HashMap<usize, usize> {
        let mut there = HashMap::new();
        for key in self.lines[window].iter().flatten() {
            *there.entry(*key).or_insert(0) += 1;
        }
        there
    }

    /// Takes comparisons from what the search may have; `false` when they are used up.
    pub(super) fn pay(&mut self, n: usize) -> bool {
        self.n_left = self.n_left.saturating_sub(n);
        !self.is_exhausted()
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.n_left == 0
    }

    fn are_alike(&mut self, one: usize, other: usize) -> bool {
        if let Some(known) = self.alike.get(&(one, other)) {
            return *known;
        }
        let lengths = [one, other].map(|key| self.texts[key].len().min(COMPARED_BYTES_MAX));
        let are_alike =
            self.pay(lengths[0] * lengths[1]) && is_alike(&self.texts[one], &self.texts[other]);
        self.alike.insert((one, other), are_alike);
        are_alike
    }
}

/// How much each old line is like each line of a window.
pub(super) struct Likenesses {
    width: usize,
    costs: Vec<Option<usize>>,
}

impl Likenesses {
    pub(super) fn new(
        file: &File<'_>,
        old: &[&str],
        window: Range<usize>,
        keys: &mut Keys<'_>,
    ) -> Self {
        let there = keys.counted(window.clone());
        let count = |key: usize| there.get(&key).copied().unwrap_or(0);
        let given = |keys: &Keys<'_>, key: usize| keys.n_wanted.get(&key).copied().unwrap_or(0);
        let mut costs = Vec::with_capacity(old.len() * window.len());
        for (index, line) in old.iter().enumerate() {
            let wanted = keys.old[index];
            // A line that is there, or was given, as it is has not changed into another.
            let is_gone = count(wanted) < given(keys, wanted);
            for (at, place) in window.clone().enumerate() {
                let Some(key) = keys.lines[place] else {
                    costs.push(None);
                    continue;
                };
                let is_new = given(keys, key) < count(key);
                // Only lines that could stand beside each other are compared closely.
                let is_near = at.abs_diff(index + SLACK_LINES) <= 2 * SLACK_LINES;
                let is_deeper = file.text(place).is_some_and(|there| differ_in_depth(line, there));
                let depth = if is_deeper { DEPTH } else { 0 };
                costs.push(match wanted == key {
                    true => Some(depth),
                    false if is_near && is_gone && is_new && keys.are_alike(wanted, key) => {
                        Some(CHANGED + depth)
                    }
                    false => None,
                });
            }
        }
        Self { width: window.len(), costs }
    }

    pub(super) fn cost(&self, old: usize, line: usize) -> Option<usize> {
        self.costs[old * self.width + line]
    }
}

pub(super) fn differ_in_depth(one: &str, other: &str) -> bool {
    let is_blank = one.trim().is_empty() || other.trim().is_empty();
    !is_blank && split_indent(one).0 != split_indent(other).0
}

fn is_alike(one: &str, other: &str) -> bool {
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    if short == 0 || long > 3 * short {
        return false;
    }
    let cut = |text: &'_ str| text[..text.floor_char_boundary(COMPARED_BYTES_MAX)].to_owned();
    strsim::normalized_levenshtein(&cut(one), &cut(other)) >= RATIO_MIN
}
