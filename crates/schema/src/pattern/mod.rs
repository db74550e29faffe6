//! Patterns of ECMA-262 in the words of [`fancy_regex`], within bounds of memory and time.
//!
//! What ECMA-262 does not know is refused, whatever Rust makes of it, but for what many schemas
//! have: `\A` and `\z`, a script without `Script=`, and what its older syntax allows, such as a brace
//! or a bracket that stands for itself. One thing is otherwise: what a group found is not forgotten in
//! the next round of a repetition, and may come from another try of a look-ahead; this matters only
//! to a reference back.

mod class;
mod escape;
mod translation;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fancy_regex::{Regex, RegexBuilder};

use crate::problem::short;
use translation::{Translated, translated};

/// The most patterns of a schema.
const COUNT_MAX: usize = 1_000;
/// The most memory for all of them, and for one.
const BYTES_MAX: usize = 64 * 1024 * 1024;
const BYTES_OF_ONE_MAX: usize = 10 * 1024 * 1024;
/// The most memory for what matching builds up, on each thread: for all that is kept, and for one
/// more while it matches.
const BYTES_OF_MATCHING_MAX: usize = 64 * 1024 * 1024;

/// So much weight at a byte of a text costs a step: with many places to be at, 10 to 20 nanoseconds
/// go by for each.
const WEIGHT_A_STEP: usize = 16;
/// The steps back in a match are the fewer the heavier a pattern is, as each may go through all of
/// the text; but so many even the heaviest may take.
const STEPS_BACK_BY_WEIGHT: usize = 20_000;
const STEPS_BACK_MIN: usize = 500;
/// One in so many steps back goes through all of the text.
const STEPS_BACK_A_SCAN: usize = 16;
/// The most weight of a pattern that looks around or back: nothing else bounds what a step back
/// repeats, nor the memory of a look-behind.
const WEIGHT_OF_LOOKING_MAX: usize = 10_000;

/// What a match costs that begins with nothing built up: for a copy, and for a pattern that looks
/// around or back and has to be compiled anew, which takes longest for properties of characters.
const STEPS_OF_COPY: usize = 100;
const STEPS_OF_BUILD: usize = 1_000;
const STEPS_OF_BUILD_BY_WEIGHT: usize = 200;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// As it was written.
    pub(crate) text: String,
    translated: Translated,
    bytes_max: usize,
    regex: Regex,
    /// What a match builds up is there for the next one.
    keeps: bool,
}

impl Pattern {
    /// Compiles the patterns of a schema; if that fails, which one, and why.
    pub(crate) fn all(texts: Vec<String>) -> Result<Vec<Self>, (usize, String)> {
        if texts.len() > COUNT_MAX {
            return Err((COUNT_MAX, format!("there are more than {COUNT_MAX} patterns")));
        }
        let mut read = Vec::new();
        for (index, text) in texts.into_iter().enumerate() {
            let translated = translated(&text).map_err(|why| refused(index, &text, &why))?;
            read.push((text, translated));
        }
        let parts: usize = read.iter().map(|(_, translated)| translated.parts()).sum();
        let bytes_max = BYTES_OF_ONE_MAX.min(BYTES_MAX / parts.max(1));
        let mut bytes_left = BYTES_OF_MATCHING_MAX;
        let mut all = Vec::new();
        for (index, (text, translated)) in read.into_iter().enumerate() {
            let regex = translated.build(bytes_max);
            let regex = regex.map_err(|why| refused(index, &text, &why))?;
            let left = bytes_left.checked_sub(translated.matching_bytes);
            bytes_left = left.unwrap_or(bytes_left);
            all.push(Self { text, translated, bytes_max, regex, keeps: left.is_some() });
        }
        Ok(all)
    }

    /// What it costs to look for it in a text, in the steps of a check.
    pub(crate) fn steps(&self, text: &str) -> usize {
        let Translated { weight, looks, .. } = self.translated;
        let scans = if looks { self.translated.steps_back_max() / STEPS_BACK_A_SCAN } else { 1 };
        let start = match (self.keeps, looks) {
            (true, _) => 1,
            (false, false) => STEPS_OF_COPY,
            (false, true) => STEPS_OF_BUILD + STEPS_OF_BUILD_BY_WEIGHT * weight,
        };
        start + (scans * weight).saturating_mul(text.len() + 1) / WEIGHT_A_STEP
    }

    /// Whether it is found in a text; `None` if that takes too long to say.
    pub(crate) fn is_in(&self, text: &str) -> Option<bool> {
        let fresh;
        let regex = match (self.keeps, self.translated.looks) {
            (true, _) => &self.regex,
            (false, false) => {
                fresh = self.regex.clone();
                &fresh
            }
            // Its copies share what is built up.
            (false, true) => {
                fresh = self.translated.build(self.bytes_max).ok()?;
                &fresh
            }
        };
        // On a few patterns the engine panics: github.com/rust-lang/regex/issues/1344.
        catch_unwind(AssertUnwindSafe(|| regex.is_match(text))).ok()?.ok()
    }
}

impl Translated {
    /// In about how many parts it is compiled.
    fn parts(&self) -> usize {
        match self.looks {
            // Those before and after what looks around, of each way within each group.
            true => 2 * (1 + self.pattern.matches(['(', '|']).count()),
            false => 1,
        }
    }

    fn steps_back_max(&self) -> usize {
        (STEPS_BACK_BY_WEIGHT / self.weight.max(1)).max(STEPS_BACK_MIN)
    }

    /// Compiles it, with so much memory for each part.
    fn build(&self, bytes_max: usize) -> Result<Regex, String> {
        if self.looks && self.weight > WEIGHT_OF_LOOKING_MAX {
            return Err("is too large for one that looks around or back".to_owned());
        }
        if self.looks && self.matching_bytes > BYTES_OF_MATCHING_MAX {
            return Err("looks around or back, and has too many parts".to_owned());
        }
        let mut builder = RegexBuilder::new(&self.pattern);
        builder.backtrack_limit(self.steps_back_max()).delegate_size_limit(bytes_max);
        match catch_unwind(AssertUnwindSafe(|| builder.build())) {
            Ok(Ok(regex)) => Ok(regex),
            Ok(Err(error)) => Err(format!("cannot be used: {error}")),
            Err(_) => Err("cannot be used".to_owned()),
        }
    }
}

fn refused(index: usize, text: &str, why: &str) -> (usize, String) {
    (index, format!("the pattern {} {why}", short(&text.into())))
}
