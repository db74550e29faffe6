//! Work that goes on after its call has answered: what runs, what it came to, and what was lost.
//!
//! What it came to waits with what people say, and is delivered once: a result is taken from the
//! list of what runs as it joins the queue, and what a new process finds in the list is lost.

use heeler_core::{Block, CallId, Input, InputOrigin, SteeringQueued};
use serde::{Deserialize, Serialize};

use super::{Announcer, QueuedInput, State};
use crate::bugs::{Bug, is_on};
use crate::words;

/// Work whose result comes later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundWork {
    /// The call that began it.
    pub call: CallId,
    /// The tool of that call.
    pub tool: String,
    /// Where the input that led to it came from.
    pub origin: InputOrigin,
}

impl State {
    /// What the model is to be told of work that was lost with its process, and has not heard yet.
    pub fn lost_works(&self) -> impl Iterator<Item = &str> {
        let background = self.steering.iter().filter(|queued| queued.is_background);
        let texts = background.filter_map(|queued| queued.input.blocks.first()?.as_text());
        texts.filter(|text| words::tells_of_loss(text))
    }

    /// A call has answered and its work goes on. Works stand in the order of their calls, in which
    /// order these ended: outcomes of one batch may come in any.
    pub(super) fn begin_background(&mut self, call: CallId, tool: String) {
        let origin = self.turn.as_ref().map(|turn| turn.origin.clone()).unwrap_or_default();
        let at = self.background.partition_point(|work| work.call < call);
        self.background.insert(at, BackgroundWork { call, tool, origin });
    }

    /// Takes work from the list of what runs; `false` when it is not in there.
    pub(super) fn end_background(&mut self, call: CallId) -> bool {
        let before = self.background.len();
        if is_on(Bug::UnendedWork) {
            return self.background.iter().any(|work| work.call == call);
        }
        self.background.retain(|work| work.call != call);
        self.background.len() < before
    }

    /// Nothing of an older process runs any more: what it had begun is told as lost.
    pub(super) fn background_died(&mut self, out: &mut Announcer) {
        for work in std::mem::take(&mut self.background) {
            if is_on(Bug::SilentLoss) {
                continue;
            }
            let input = Input {
                blocks: vec![Block::text(words::background_lost(&work.tool, work.call))],
                origin: work.origin,
            };
            self.join_queue(&SteeringQueued::of_background(work.call, input), out);
        }
    }

    /// Whether an input of the queue begins a turn where none runs.
    pub(super) fn begins_turn(&self, queued: &QueuedInput) -> bool {
        !queued.is_background || self.settings.background_wakes || is_on(Bug::RestlessWork)
    }
}
