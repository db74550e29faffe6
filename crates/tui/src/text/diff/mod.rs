//! What changed between two texts: hunks that can be shown, and taken or left one by one.

mod draw;
mod unified;
mod words;

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

pub(crate) use draw::headed;
pub use draw::{diff, hunk_lines};
pub use unified::unified;

/// Unchanged lines shown before and after a change.
pub const CONTEXT_LINES: usize = 3;

/// Changes that stand close together, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The lines of the old text it covers, counted from 0.
    pub old_range: Range<usize>,
    /// The lines of the new text that stand there instead.
    pub new_range: Range<usize>,
    /// Both, in the order of reading.
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// On which side it stands.
    pub side: Side,
    /// Its text with its line ending, if it has one.
    pub text: String,
}

/// The texts a line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In both.
    Both,
    /// In the old one only.
    Old,
    /// In the new one only.
    New,
}

/// Why hunks cannot be applied; the message names the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not what the change was made for; make the change anew")]
pub struct StaleHunk {
    line: usize,
}

/// The hunks that make `new` of `old`, in order.
#[must_use]
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changes: Vec<(Range<usize>, Range<usize>)> =
        diff.hunks().map(|hunk| (wide(&hunk.before), wide(&hunk.after))).collect();
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let is_near = |before: &(Range<usize>, _), after: &(Range<usize>, _)| {
        after.0.start - before.0.end <= 2 * CONTEXT_LINES
    };
    changes.chunk_by(is_near).map(|near| hunk(near, &old, &new)).collect()
}

/// Makes of `old` what the chosen hunks say; all of them give the new text, none the old one.
///
/// # Errors
///
/// If the text is no longer what the hunks were made for, or they overlap.
pub fn apply<'a>(
    old: &str,
    chosen: impl IntoIterator<Item = &'a Hunk>,
) -> Result<String, StaleHunk> {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut chosen: Vec<&Hunk> = chosen.into_iter().collect();
    heeler_core::sort_by_key(&mut chosen, |hunk| hunk.old_range.start);
    let mut out = String::with_capacity(old.len());
    let mut at = 0;
    for hunk in chosen {
        let between = lines.get(at..hunk.old_range.start);
        out.extend(between.ok_or(StaleHunk { line: hunk.old_range.start + 1 })?.iter().copied());
        at = hunk.old_range.start;
        for line in &hunk.lines {
            if line.side != Side::New {
                if lines.get(at) != Some(&line.text.as_str()) {
                    return Err(StaleHunk { line: at + 1 });
                }
                at += 1;
            }
            if line.side != Side::Old {
                out.push_str(&line.text);
            }
        }
    }
    out.extend(lines[at..].iter().copied());
    Ok(out)
}

/// One hunk of changes that stand near each other.
fn hunk(near: &[(Range<usize>, Range<usize>)], old: &[&str], new: &[&str]) -> Hunk {
    let (Some((first_old, first_new)), Some((last_old, last_new))) = (near.first(), near.last())
    else {
        return Hunk { old_range: 0..0, new_range: 0..0, lines: Vec::new() };
    };
    let before = first_old.start.min(CONTEXT_LINES);
    let after = (old.len() - last_old.end).min(CONTEXT_LINES);
    let old_range = first_old.start - before..last_old.end + after;
    let new_range = first_new.start - before..last_new.end + after;
    let mut lines = Vec::new();
    let mut push = |side, texts: &[&str]| {
        lines.extend(texts.iter().map(|text| HunkLine { side, text: (*text).to_owned() }));
    };
    let mut at = old_range.start;
    for (removed, added) in near {
        push(Side::Both, &old[at..removed.start]);
        push(Side::Old, &old[removed.clone()]);
        push(Side::New, &new[added.clone()]);
        at = removed.end;
    }
    push(Side::Both, &old[at..old_range.end]);
    Hunk { old_range, new_range, lines }
}

fn wide(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_text() -> impl Strategy<Value = String> {
        let line = prop_oneof![Just("a"), Just("b"), Just("c"), Just(""), Just("d\r"), Just("日")];
        (proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, ends)| {
            let mut text = lines.join("\n");
            if ends {
                text.push('\n');
            }
            text
        })
    }

    #[test]
    fn a_text_that_changed_meanwhile_is_refused() {
        let hunks = hunks("a\nb\nc\n", "a\nB\nc\n");
        let error = apply("a\nx\nc\n", &hunks).expect_err("another text");
        expect_test::expect!["line 2 is not what the change was made for; make the change anew"]
            .assert_eq(&error.to_string());
        assert!(apply("", &hunks).is_err());
        assert!(apply("a\nb\nc\n", hunks.iter().chain(&hunks)).is_err());
    }

    proptest! {
        #[test]
        fn all_hunks_give_the_new_text_and_none_the_old(old in any_text(), new in any_text()) {
            let hunks = hunks(&old, &new);
            prop_assert_eq!(apply(&old, &hunks).expect("made for it"), new.as_str());
            prop_assert_eq!(apply(&old, []).expect("nothing chosen"), old.as_str());
            prop_assert_eq!(hunks.is_empty(), old == new);
        }

        #[test]
        fn each_hunk_stands_alone(old in any_text(), new in any_text(), chosen in any::<u64>()) {
            let all = hunks(&old, &new);
            let is_chosen = |index: &usize| chosen >> (index % 64) & 1 == 1;
            let some: Vec<&Hunk> =
                (0..all.len()).filter(is_chosen).map(|index| &all[index]).collect();
            let mixed = apply(&old, some.iter().copied()).expect("made for it");
            let bytes = |side| -> usize {
                let lines = some.iter().flat_map(|hunk| &hunk.lines);
                lines.filter(|line| line.side == side).map(|line| line.text.len()).sum()
            };
            prop_assert_eq!(mixed.len() + bytes(Side::Old), old.len() + bytes(Side::New));
            for hunk in some {
                let stands: String = hunk
                    .lines
                    .iter()
                    .filter(|line| line.side != Side::Old)
                    .map(|line| line.text.as_str())
                    .collect();
                prop_assert!(mixed.contains(&stands));
            }
        }
    }
}
