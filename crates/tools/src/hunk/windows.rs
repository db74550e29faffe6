//! Places where every old line of a hunk has its line in the file, one after the other.

use std::borrow::Cow;
use std::ops::Range;

use super::alike::key;
use super::{File, Fit, Refusal, Stage};

/// Comparisons of lines in one search; a text that takes more is not found.
const COMPARISONS_MAX: usize = 20_000_000;

/// Places that are looked for: more than one is too many, and these are named.
const PLACES_MAX: usize = 100;

/// The places where the lines are exactly these.
pub(super) fn exact(
    file: &File<'_>,
    old: &[&str],
    allows: &dyn Fn(&Range<usize>) -> bool,
) -> Result<Vec<Fit>, Refusal> {
    let fits = fits(file, old, Stage::Exact, allows);
    if fits.is_empty() { Err(Refusal::NotFound) } else { Ok(fits) }
}

/// The places where all lines are the same by the measure of `stage`.
pub(super) fn fits(
    file: &File<'_>,
    old: &[&str],
    stage: Stage,
    allows: &dyn Fn(&Range<usize>) -> bool,
) -> Vec<Fit> {
    let Some(last_start) = file.n_lines().checked_sub(old.len()) else { return Vec::new() };
    if old.is_empty() {
        return Vec::new();
    }
    let wanted: Vec<Cow<'_, str>> = old.iter().map(|line| key(line, stage)).collect();
    let keys: Vec<Option<Cow<'_, str>>> =
        (0..file.n_lines()).map(|index| Some(key(file.text(index)?, stage))).collect();
    let mut n_left = COMPARISONS_MAX;
    let mut fits = Vec::new();
    for start in 0..=last_start {
        let mut pairs = wanted.iter().zip(&keys[start..]);
        let is_same = pairs.all(|(wanted, line)| {
            n_left = n_left.saturating_sub(1);
            line.as_ref() == Some(wanted)
        });
        if n_left == 0 {
            return Vec::new();
        }
        let lines = start..start + old.len();
        if is_same && allows(&lines) {
            fits.push(Fit { old: lines.clone().map(Some).collect(), lines, stage });
            if fits.len() == PLACES_MAX {
                break;
            }
        }
    }
    fits
}
