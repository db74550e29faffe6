//! What a session has been shown of commits that could be made: each by the hash of what
//! differs, and which of its lines.
//!
//! It stands in the session's state, so it is journalled, comes back after a restart, and goes when
//! the conversation is rewound to before it.

use std::ops::Range;

use heeler_core::{ToolContext, ToolOutput};
use heeler_secrets::Secrets;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::page::{LINE_CHARS_MAX, has_folded, page_bytes_max, page_with_lines};
use crate::text::count_of;

/// The state's key.
const KEY: &str = "git:reviewed";
/// How many reviews a session remembers.
const REVIEWS_MAX: usize = 32;
/// How many files are named before the differences.
const NAMES_MAX: usize = 100;

/// How far one commit was shown, from its first line on: what comes behind a gap is shown again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Review {
    hash: String,
    /// When it was shown last: who asked in the same reply had not seen that.
    round: u64,
    /// Lines that were shown by then, each whole. Versions that cut long ones counted in a field of
    /// another name, so what they showed is shown again.
    #[serde(default)]
    n_rows: usize,
    /// The same before that reply, if it was shown in another.
    #[serde(default)]
    n_rows_before: Option<usize>,
}

impl Review {
    /// The lines that replies before this one have shown, if any did.
    fn n_seen(&self, round: u64) -> Option<usize> {
        if self.round < round { Some(self.n_rows) } else { self.n_rows_before }
    }
}

/// What is still to be shown before a commit.
pub(super) enum Missing {
    /// All of it.
    Whole,
    /// What comes from this line on, from 0.
    From(usize),
}

/// What of exactly this the session was not shown before the reply that asks; `None` when it has
/// seen every line. None of them is so long that it would be cut.
pub(super) fn missing(context: &ToolContext, candidate: &Candidate, diff: &str) -> Option<Missing> {
    let reviews = reviews(context);
    let review = reviews.iter().find(|review| review.hash == candidate.hash);
    match review.and_then(|review| review.n_seen(context.round)) {
        Some(n_seen) if n_seen >= diff.lines().count() => None,
        None | Some(0) => Some(Missing::Whole),
        Some(n_seen) => Some(Missing::From(n_seen)),
    }
}

/// Notes that these lines of it are shown now.
pub(super) fn noted(
    output: ToolOutput,
    context: &ToolContext,
    candidate: &Candidate,
    lines: Range<usize>,
) -> ToolOutput {
    let mut reviews = reviews(context);
    if !note(&mut reviews, &candidate.hash, context.round, lines) {
        return output;
    }
    output.with_shown(KEY, &reviews, None::<&()>)
}

/// Whether that says anything new.
fn note(reviews: &mut Vec<Review>, hash: &str, round: u64, lines: Range<usize>) -> bool {
    let known = reviews.iter().find(|review| review.hash == hash).cloned();
    let n_shown = known.as_ref().map_or(0, |review| review.n_rows);
    if lines.start > n_shown || (known.is_some() && lines.end <= n_shown) {
        return false;
    }
    reviews.retain(|review| review.hash != hash);
    reviews.push(Review {
        hash: hash.to_owned(),
        round,
        n_rows: lines.end,
        n_rows_before: known.and_then(|review| review.n_seen(round)),
    });
    let n_over = reviews.len().saturating_sub(REVIEWS_MAX);
    reviews.drain(..n_over);
    true
}

fn reviews(context: &ToolContext) -> Vec<Review> {
    context.state.get(KEY).unwrap_or_default()
}

/// What is reviewed: the files, then what differs in them, in lines that are all shown whole, and
/// which of these.
pub(super) fn shown(
    context: &ToolContext,
    candidate: &Candidate,
    diff: &str,
    offset: Option<u64>,
) -> (String, Range<usize>) {
    let changes = &candidate.changes;
    let bytes_max = page_bytes_max(context);
    let mut text = format!("{}:\n", count_of(changes.len(), "file", "files"));
    let mut n_named = 0;
    while n_named < changes.len().min(NAMES_MAX) && text.len() < bytes_max / 4 {
        let change = &changes[n_named];
        text += &format!("{} {}\n", change.kind, change.path);
        n_named += 1;
    }
    if changes.len() > n_named {
        text += &format!("(and {} more)\n", changes.len() - n_named);
    }
    let (page, lines) = page_with_lines(diff, offset, bytes_max.saturating_sub(text.len()));
    if has_folded(&page) {
        text += &format!(
            "(a line of more than {LINE_CHARS_MAX} characters goes on in the next, behind `[...]`)\n"
        );
    }
    (text + &page, lines)
}

/// Where added lines hold what looks like a secret: what it is, and the file.
pub(super) fn secrets_in(diff: &str) -> Vec<String> {
    let secrets = Secrets::default();
    let mut file = "";
    let mut found = Vec::new();
    for line in diff.lines() {
        // An added line may look like the name of a file, so both are read.
        if let Some(path) = line.strip_prefix("+++ ") {
            file = path.strip_prefix("b/").unwrap_or(path).trim_end_matches('\t');
        }
        let added = line.strip_prefix('+').unwrap_or_default();
        found.extend(secrets.find(added).into_iter().map(|it| format!("{} in {file}", it.what)));
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What replies from 1 to 4 would have seen after these were shown, each in its round.
    fn seen(shown: &[(u64, Range<usize>)]) -> Vec<Option<usize>> {
        let mut reviews = Vec::new();
        for (round, lines) in shown {
            note(&mut reviews, "a", *round, lines.clone());
        }
        let seen = |round| reviews.iter().find_map(|review: &Review| review.n_seen(round));
        (1..5).map(seen).collect()
    }

    #[test]
    fn what_was_shown_without_a_gap_counts_from_the_next_reply_on() {
        for (shown, expected) in [
            (&[][..], [None, None, None, None]),
            (&[(1, 0..5)], [None, Some(5), Some(5), Some(5)]),
            (&[(1, 0..5), (3, 5..9)], [Some(5), Some(5), Some(5), Some(9)]),
            (&[(1, 0..5), (1, 3..9)], [None, Some(9), Some(9), Some(9)]),
            (&[(1, 0..5), (3, 5..7), (3, 7..9)], [Some(5), Some(5), Some(5), Some(9)]),
            (&[(1, 0..5), (3, 0..5)], [None, Some(5), Some(5), Some(5)]),
            // Behind a gap, and behind the end.
            (&[(1, 6..9)], [None; 4]),
            (&[(1, 0..5), (2, 6..9)], [None, Some(5), Some(5), Some(5)]),
            (&[(1, 9..9)], [None; 4]),
            // Where nothing is to be shown, that was.
            (&[(1, 0..0)], [None, Some(0), Some(0), Some(0)]),
        ] {
            assert_eq!(seen(shown), expected, "{shown:?}");
        }
    }

    #[test]
    fn a_session_remembers_so_many_of_them() {
        let mut reviews = Vec::new();
        for n in 0..=REVIEWS_MAX {
            assert!(note(&mut reviews, &n.to_string(), 1, 0..1));
        }
        assert_eq!(reviews.len(), REVIEWS_MAX);
        assert_eq!(reviews[0].hash, "1");
    }

    #[test]
    fn what_an_older_version_noted_is_shown_again() {
        for old in
            [r#"[{"hash": "a", "round": 1}]"#, r#"[{"hash": "a", "round": 1, "n_shown": 9}]"#]
        {
            let reviews: Vec<Review> = serde_json::from_str(old).unwrap();
            assert_eq!(reviews[0].n_seen(2), Some(0));
        }
    }
}
