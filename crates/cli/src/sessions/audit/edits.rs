//! What people made of the inputs they were asked about.

use std::fmt;

use heeler_core::{CallId, Decision, Entry, Record, Seq, truncate_chars};
use heeler_turn::{State, state};
use serde::Serialize;

use crate::say::one_line;

/// The most characters of an input on one line.
const INPUT_SHOWN_CHARS_MAX: usize = 200;

/// One change of an input.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Edit {
    /// The record of the decision.
    seq: Seq,
    /// Who decided.
    by: String,
    /// The input somebody was asked about.
    before: String,
    /// What was made of it.
    after: String,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, after] = [&self.before, &self.after]
            .map(|input| truncate_chars(&one_line(input), INPUT_SHOWN_CHARS_MAX).into_owned());
        write!(f, "by {}: {before} became {after}", self.by)
    }
}

/// All changes so far.
#[derive(Default)]
pub(super) struct Edits(Vec<(CallId, Edit)>);

impl Edits {
    /// Takes a record in that follows on this state.
    pub(super) fn take(&mut self, entry: &Entry, state: &State) {
        if let Record::PermissionDecided(decided) = &entry.record
            && let Decision::Edited { input } = &decided.decision
            && let Some(open) = state.open_permission(decided.id)
            && state::objection(&open, &decided.decision).is_none()
        {
            let edit = Edit {
                seq: entry.seq,
                by: decided.by.clone(),
                before: open.input.get().to_owned(),
                after: input.get().to_owned(),
            };
            self.0.push((decided.id.call, edit));
        }
    }

    /// Those of a call, in order.
    pub(super) fn of(&self, id: CallId) -> Vec<Edit> {
        let of_call = self.0.iter().filter(|(call, _)| *call == id);
        of_call.map(|(_, edit)| edit.clone()).collect()
    }
}
