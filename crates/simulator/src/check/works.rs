//! Work that goes on after its call: each ends once in the journal, or is told as lost.

use std::collections::BTreeSet;

use heeler_core::{CallId, SteeringId, ToolOutput};
use heeler_turn::State;

use super::{Checked, Invariant, ensure};
use crate::tools;

/// What the model is told of work whose program ended.
const LOST: &str = "was lost: the program ended before it was done. Whatever it ran has ended; check \
    what it changed before doing it again.]";

/// The works that go on, by what the records say.
#[derive(Debug, Default)]
pub(super) struct Works(BTreeSet<CallId>);

impl Works {
    /// A call that ran has answered.
    pub(super) fn begin(&mut self, call: CallId, output: &ToolOutput) {
        if output.is_background && !output.is_error {
            self.0.insert(call);
        }
    }

    /// Work has ended; `false` when it was not going on.
    pub(super) fn end(&mut self, call: CallId) -> bool {
        self.0.remove(&call)
    }

    /// The process died, and all its works with it: what the model is told of each, and its name.
    pub(super) fn die(&mut self) -> Vec<(SteeringId, String)> {
        let lost = std::mem::take(&mut self.0).into_iter();
        let told = |call| format!("[The background work of {} (call {call}) {LOST}", tools::LATER);
        lost.map(|call| (SteeringId(format!("background-{call}")), told(call))).collect()
    }

    /// They go on elsewhere.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The machine lists what goes on, and nothing else.
    pub(super) fn agree(&self, state: &State) -> Checked {
        let listed = || state.background.iter().map(|work| work.call);
        ensure(listed().eq(self.0.iter().copied()), Invariant::WorkEndsOnce, || {
            let listed: Vec<CallId> = listed().collect();
            format!("{listed:?} are held to go on, the journal says {:?}", self.0)
        })
    }
}
