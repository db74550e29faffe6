//! What each event makes of the transcript.

use heeler_core::{Envelope, Event, HookEnd, LimitKind, Timestamp, TurnOutcome};
use heeler_engine::Seen;

use super::call::CallRow;
use super::item::{Answer, Item, Thought};
use super::message::Heard;
use super::note::Note;
use super::{RunningTurn, Transcript, seconds};

/// A turn that was done sooner is not summed up.
const QUIET_TURN_MILLIS: u64 = 10_000;

impl Transcript {
    /// Brings it up to date.
    pub fn see(&mut self, seen: &Seen, now: Timestamp) {
        self.revision += 1;
        match seen {
            Seen::Event(envelope) => self.apply(envelope, now),
            Seen::Resync(view) => {
                // What was shown stays; what was missed is in the view, and the pager shows it all.
                let missed = Self::of_view(view, true, now);
                self.close(now);
                if view.turn.is_none() {
                    self.turn = None;
                }
                self.note(Note::quiet("caught up with what happened in between"));
                self.open.extend(missed.open);
            }
        }
    }

    fn apply(&mut self, envelope: &Envelope, now: Timestamp) {
        if !envelope.agent.is_main() {
            // A child's work shows in the row of the call that made it.
            return;
        }
        match &envelope.event {
            Event::TurnStarted { .. } => {
                self.turn = Some(RunningTurn { since: now, calls: 0 });
            }
            Event::Message { message } => self.message(message, Heard::Live, now),
            Event::AttemptStarted { .. } => self.thoughts = 0,
            Event::TextDelta { block, text, .. } => self.answer(*block, text, now),
            Event::ThinkingDelta { block, text, .. } => self.thought(*block, text, now),
            Event::Retry { attempt, message, wait_millis, .. } => {
                self.discard_attempt();
                // The last one is told by the end of the turn.
                if let Some(millis) = wait_millis {
                    let again = match *millis {
                        0 => "at once".to_owned(),
                        millis => format!("in {}", seconds(millis)),
                    };
                    let why = message.trim_end_matches('.');
                    self.note(Note::warning(format!("attempt {attempt}: {why}; again {again}")));
                }
            }
            Event::CallStarted { index, name, summary, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.calls += 1;
                }
                self.call(*index, name).start(summary, now);
            }
            Event::CallProgress { call, text } => {
                if let Some(row) = self.known_call(call.index) {
                    row.progress(text);
                }
            }
            Event::CallFinished { index, name, is_error, millis, .. } => {
                self.call(*index, name).finish(*is_error, *millis);
            }
            Event::ToolText { text, media, items, .. } => {
                self.note(Note::for_user(text, media, items));
            }
            Event::HookFinished { event, hook, millis, end, .. } => {
                let why = match end {
                    HookEnd::TimedOut => format!("it was stopped after {}", seconds(*millis)),
                    HookEnd::Broken { why } => why.clone(),
                    _ => return,
                };
                self.note(Note::warning(format!("the {event} hook `{hook}` is broken: {why}")));
            }
            Event::Usage { reread: Some(reread), .. } => self.note(Note::reread(reread)),
            event @ (Event::CompactionStarted { .. }
            | Event::Compacted { .. }
            | Event::CompactionFailed { .. }
            | Event::Trimmed { .. }
            | Event::Pruned { .. }
            | Event::Restored { .. }) => self.shortened(event),
            Event::ItemsLeftOut { items, .. } => self.note(Note::warning(format!(
                "{items} images or documents left out: the provider refused them"
            ))),
            // A notice tells it.
            Event::ReasoningLeftOut { .. } => {}
            Event::Notice { text } => self.note(Note::warning(text.clone())),
            Event::TurnFinished { turn, outcome, .. } => self.finish_turn(*turn, outcome, now),
            Event::ToolInputDelta { .. }
            | Event::Usage { .. }
            | Event::PermissionRequested(_)
            | Event::PermissionDecided { .. }
            | Event::HookStarted { .. }
            | Event::EpochStarted { .. }
            | Event::SteeringQueued { .. }
            | Event::SteeringTakenBack { .. }
            | Event::SteeringDelivered { .. }
            | Event::LimitsChanged { .. }
            | Event::Heartbeat { .. } => {}
        }
    }

    pub(super) fn answer(&mut self, block: u32, text: &str, now: Timestamp) {
        self.end_thought(now);
        match self.open.back_mut() {
            Some(Item::Answer(answer)) if answer.is_open_for(block) => answer.push(text),
            _ => {
                let mut answer = Answer::streaming(block);
                answer.push(text);
                self.open.push_back(Item::Answer(answer));
            }
        }
    }

    pub(super) fn thought(&mut self, block: u32, text: &str, now: Timestamp) {
        match self.open.back_mut() {
            Some(Item::Thought(thought)) if thought.is_open_for(block) => thought.push(text),
            _ => {
                let mut thought = Thought::streaming(block, now);
                thought.push(text);
                self.thoughts += 1;
                self.open.push_back(Item::Thought(thought));
            }
        }
    }

    pub(super) fn end_thought(&mut self, now: Timestamp) {
        if let Some(Item::Thought(thought)) = self.open.back_mut() {
            thought.end(now);
        }
    }

    /// What an attempt showed does not count: what is still here goes, what went up is marked.
    fn discard_attempt(&mut self) {
        let mut was_shown = false;
        self.open.retain_mut(|item| match item {
            Item::Answer(answer) if answer.is_streaming() => {
                let has_drained = answer.discard();
                was_shown |= has_drained;
                has_drained
            }
            Item::Thought(thought) => !thought.is_streaming(),
            _ => true,
        });
        if was_shown {
            self.note(Note::quiet("the answer above was cut off and does not count"));
        }
    }

    /// The row of a call of this batch, which may be a new one.
    fn call(&mut self, index: u32, name: &str) -> &mut CallRow {
        if self.known_call(index).is_none() {
            self.open.push_back(Item::Call(CallRow::new(index, name)));
        }
        #[expect(clippy::expect_used, reason = "it was added where it was not there")]
        self.known_call(index).expect("a row of this call")
    }

    fn known_call(&mut self, index: u32) -> Option<&mut CallRow> {
        self.open.iter_mut().rev().find_map(|item| match item {
            Item::Call(row) if row.is(index) => Some(row),
            _ => None,
        })
    }

    fn finish_turn(&mut self, number: u32, outcome: &TurnOutcome, now: Timestamp) {
        self.close(now);
        // One that was left unfinished and is ended without going on never ran here.
        let turn = self.turn.take().unwrap_or(RunningTurn { since: now, calls: 0 });
        let took = now.since(turn.since);
        let note = match outcome {
            TurnOutcome::Done if took < QUIET_TURN_MILLIS => return,
            TurnOutcome::Done => {
                let calls = match turn.calls {
                    0 => String::new(),
                    1 => ", 1 call".to_owned(),
                    calls => format!(", {calls} calls"),
                };
                Note::quiet(format!("{}{calls}", seconds(took)))
            }
            // With what was refused, what follows mostly is, too.
            TurnOutcome::Refused if number > 1 => Note::error(format!(
                "the model refused to answer; `/fork {number}` goes on without that"
            )),
            TurnOutcome::Refused => {
                Note::error("the model refused to answer; `/clear` begins without that")
            }
            TurnOutcome::Truncated => {
                Note::warning("the answer was cut at the model's output limit; say `go on`")
            }
            TurnOutcome::Cancelled => Note::warning("stopped; say what to do instead"),
            TurnOutcome::Denied { reason } => Note::warning(format!("denied: {reason}")),
            TurnOutcome::Limit { limit } => Note::warning(limit_reached(*limit)),
            TurnOutcome::ProviderFailed { message, .. } | TurnOutcome::Failed { message } => {
                Note::error(message.clone())
            }
        };
        self.note(note);
    }
}

fn limit_reached(limit: LimitKind) -> String {
    format!("the turn ended at its limit of {limit}; say `go on` to continue")
}
