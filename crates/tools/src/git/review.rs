//! What a session has been shown of commits that could be made: each by the hash of what differs.
//!
//! It stands in the session's state, so it is journalled, comes back after a restart, and goes when
//! the conversation is rewound to before it.

use heeler_core::{ToolContext, ToolOutput};
use heeler_secrets::Secrets;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::page::page;
use crate::text::count_of;

/// The state's key.
const KEY: &str = "git:reviewed";
/// How many reviews a session remembers.
pub(super) const REVIEWS_MAX: usize = 32;
/// How many files are named before the differences.
const NAMES_MAX: usize = 100;

/// One review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Review {
    hash: String,
    /// When it was shown: who asked in the same reply had not seen it.
    round: u64,
}

/// Whether exactly this was shown to this session before the reply that asks.
pub(super) fn is_reviewed(context: &ToolContext, candidate: &Candidate) -> bool {
    let is_it = |review: &Review| review.hash == candidate.hash && review.round < context.round;
    reviews(context).iter().any(is_it)
}

/// Notes that it is shown now.
pub(super) fn noted(
    output: ToolOutput,
    context: &ToolContext,
    candidate: &Candidate,
) -> ToolOutput {
    let mut reviews = reviews(context);
    if reviews.iter().any(|review| review.hash == candidate.hash) {
        return output;
    }
    reviews.push(Review { hash: candidate.hash.clone(), round: context.round });
    let n_over = reviews.len().saturating_sub(REVIEWS_MAX);
    reviews.drain(..n_over);
    output.with_state(KEY, &reviews)
}

fn reviews(context: &ToolContext) -> Vec<Review> {
    context.state.get(KEY).unwrap_or_default()
}

/// What is reviewed: the files, then what differs in them.
pub(super) fn shown(candidate: &Candidate, diff: &str, offset: Option<u64>) -> String {
    let changes = &candidate.changes;
    let mut text = format!("{}:\n", count_of(changes.len(), "file", "files"));
    for change in changes.iter().take(NAMES_MAX) {
        text += &format!("{} {}\n", change.kind, change.path);
    }
    if changes.len() > NAMES_MAX {
        text += &format!("(and {} more)\n", changes.len() - NAMES_MAX);
    }
    text + &page(diff, offset)
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
