//! Who left plan mode, and for what.

use std::fmt;

use heeler_core::{Decision, Entry, Mode, PermissionReason, Record, Seq, Timestamp};
use heeler_turn::{State, state};
use serde::Serialize;

/// Plan mode was left.
#[derive(Debug, Serialize)]
pub(super) struct LeftPlan {
    /// The record of the decision.
    seq: Seq,
    /// When.
    pub(super) at: Timestamp,
    /// Who decided.
    by: String,
    /// The mode since.
    mode: Mode,
    /// The calls that it was asked for, as far as they were named.
    calls: Vec<String>,
}

impl LeftPlan {
    /// When a record that follows on this state is such a decision.
    pub(super) fn by(entry: &Entry, state: &State) -> Option<Self> {
        let Record::PermissionDecided(decided) = &entry.record else { return None };
        let Decision::LeavePlan { mode } = decided.decision else { return None };
        let open = state.open_permission(decided.id)?;
        if state::objection(&open, &decided.decision).is_some() {
            return None;
        }
        let PermissionReason::LeavePlan { calls, .. } = open.reason else { return None };
        Some(Self { seq: entry.seq, at: entry.at, by: decided.by.clone(), mode, calls })
    }
}

impl fmt::Display for LeftPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan mode was left for {} by {}: {}", self.mode, self.by, self.calls.join("; "))
    }
}
