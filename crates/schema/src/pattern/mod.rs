//! Patterns of ECMA-262 in the words of [`fancy_regex`], within bounds of memory and time.
//!
//! What ECMA-262 does not know is refused, whatever Rust makes of it, but for what many schemas
//! have: `\A` and `\z`, a script without `Script=`, and what its older syntax allows, such as a brace
//! or a bracket that stands for itself. One thing is otherwise: what a group found is not forgotten in
//! the next round of a repetition, and may come from another try of a look-ahead; this matters only
//! to a reference back. Nor is a round taken back that found nothing.

mod class;
mod escape;
mod translation;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fancy_regex::{Error, Regex, RegexBuilder, RuntimeError};

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
const STEPS_BACK_BY_WEIGHT: usize = 5_000;
const STEPS_BACK_MIN: usize = 250;
/// Where these are not enough, and others are left, it is tried again with so many times as many.
const STEPS_BACK_GROWTH: usize = 2;
/// One in so many steps back goes through all of the text.
const STEPS_BACK_A_SCAN: usize = 16;
/// The most weight of all patterns of a schema.
const WEIGHT_MAX: usize = 500_000;
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
        let (mut read, mut weight) = (Vec::new(), 0_usize);
        for (index, text) in texts.into_iter().enumerate() {
            let translated = translated(&text).map_err(|why| refused(index, &text, &why))?;
            weight = translated.weight.saturating_add(weight);
            let too_much = match weight > WEIGHT_MAX {
                true => translated.too_much().or(Some("is too large, with those before it")),
                false => translated.too_much(),
            };
            if let Some(why) = too_much {
                return Err(refused(index, &text, why));
            }
            read.push((text, translated));
        }
        let parts: usize = read.iter().map(|(_, translated)| translated.parts()).sum();
        let bytes_max = BYTES_OF_ONE_MAX.min(BYTES_MAX / parts.max(1));
        let mut bytes_left = BYTES_OF_MATCHING_MAX;
        let mut all = Vec::new();
        for (index, (text, translated)) in read.into_iter().enumerate() {
            let regex = translated.build(bytes_max, translated.steps_back_max());
            let regex = regex.map_err(|why| refused(index, &text, &why))?;
            let left = bytes_left.checked_sub(translated.matching_bytes);
            bytes_left = left.unwrap_or(bytes_left);
            all.push(Self { text, translated, bytes_max, regex, keeps: left.is_some() });
        }
        Ok(all)
    }

    /// Whether it is found in a text; `None` if it takes more steps of a check to say than it is given.
    pub(crate) fn is_in(&self, text: &str, mut take: impl FnMut(usize) -> bool) -> Option<bool> {
        let translated = &self.translated;
        let mut steps_back = translated.steps_back_max();
        let start = match (self.keeps, translated.looks) {
            (true, _) => 1,
            (false, false) => STEPS_OF_COPY,
            (false, true) => translated.steps_of_build(),
        };
        if !take(start.saturating_add(translated.steps(text, steps_back))) {
            return None;
        }
        let mut found = match (self.keeps, translated.looks) {
            (true, _) => look_for(&self.regex, text),
            (false, false) => look_for(&self.regex.clone(), text),
            // Its copies share what is built up.
            (false, true) => look_for(&translated.build(self.bytes_max, steps_back).ok()?, text),
        };
        while let Found::NotYet = found {
            steps_back = steps_back.saturating_mul(STEPS_BACK_GROWTH);
            let steps = translated.steps(text, steps_back);
            if !take(translated.steps_of_build().saturating_add(steps)) {
                return None;
            }
            found = look_for(&translated.build(self.bytes_max, steps_back).ok()?, text);
        }
        match found {
            Found::Is(is_in) => Some(is_in),
            Found::NotYet | Found::Never => None,
        }
    }
}

/// What looking for a pattern came to.
enum Found {
    Is(bool),
    /// More steps back would tell.
    NotYet,
    Never,
}

fn look_for(regex: &Regex, text: &str) -> Found {
    // On a few patterns the engine panics: github.com/rust-lang/regex/issues/1344.
    match catch_unwind(AssertUnwindSafe(|| regex.is_match(text))) {
        Ok(Ok(is_in)) => Found::Is(is_in),
        Ok(Err(Error::RuntimeError(RuntimeError::BacktrackLimitExceeded))) => Found::NotYet,
        Ok(Err(_)) | Err(_) => Found::Never,
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

    /// What it costs to look for it in a text, in the steps of a check, with so many steps back at most.
    fn steps(&self, text: &str, steps_back: usize) -> usize {
        let length = text.len() + 1;
        // Nothing goes further than what it weighs, from each place and after each step back.
        if self.looks && !self.is_endless {
            return length.saturating_add(steps_back).saturating_mul(self.weight) / WEIGHT_A_STEP;
        }
        let scans = if self.looks { steps_back / STEPS_BACK_A_SCAN } else { 1 };
        // What is looked for again and again needs no step back for it. Where groups keep what they
        // find, it goes as slowly as everything else.
        let scans = match (self.looks_far, self.looks_back) {
            (false, _) => scans,
            (true, false) => scans.max(length / STEPS_BACK_A_SCAN),
            (true, true) => scans.max(length),
        };
        scans.saturating_mul(self.weight).saturating_mul(length) / WEIGHT_A_STEP
    }

    /// What it costs to compile it, in the steps of a check.
    fn steps_of_build(&self) -> usize {
        STEPS_OF_BUILD + STEPS_OF_BUILD_BY_WEIGHT * self.weight
    }

    /// Why it is not compiled at all, if it is not.
    fn too_much(&self) -> Option<&'static str> {
        if self.looks && self.weight > WEIGHT_OF_LOOKING_MAX {
            return Some("is too large for one that looks around or back");
        }
        let has_parts = self.looks && self.matching_bytes > BYTES_OF_MATCHING_MAX;
        has_parts.then_some("looks around or back, and has too many parts")
    }

    /// Compiles it, with so much memory for each part, and so many steps back at most.
    fn build(&self, bytes_max: usize, steps_back: usize) -> Result<Regex, String> {
        let mut builder = RegexBuilder::new(&self.pattern);
        builder.backtrack_limit(steps_back).delegate_size_limit(bytes_max);
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
