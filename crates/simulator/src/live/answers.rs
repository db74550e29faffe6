//! What calls of the API answer is what the journal says.

use std::collections::BTreeMap;

use heeler_core::{Block, Entry, Event, Input, PermissionId, Record, Seq, SteeringId, TurnOutcome};
use heeler_engine::DecideError;

use super::judge::{Halt, Judge};
use crate::check::{Checked, Invariant, ensure};

/// What the journal says about what people asked for, each with its record.
#[derive(Default)]
pub(super) struct Known {
    /// The turn that each input began.
    turns: BTreeMap<String, (Seq, u32)>,
    outcomes: BTreeMap<u32, (Seq, TurnOutcome)>,
    steered: BTreeMap<SteeringId, Seq>,
    taken_back: BTreeMap<SteeringId, Seq>,
    decided_by: BTreeMap<String, Seq>,
    asked: BTreeMap<PermissionId, Seq>,
    settings: Seq,
    compacted: Seq,
    restored: Seq,
    named: Seq,
    interrupted: Seq,
}

impl Known {
    pub(super) fn learn(&mut self, entry: &Entry, events: &[Event]) {
        let seq = entry.seq;
        match &entry.record {
            Record::Input(input) => {
                let turn = events.iter().find_map(|event| match event {
                    Event::TurnStarted { turn } => Some(*turn),
                    _ => None,
                });
                if let Some(turn) = turn {
                    self.turns.insert(text(input), (seq, turn));
                }
            }
            Record::TurnFinished { turn, outcome } => {
                self.outcomes.insert(*turn, (seq, outcome.clone()));
            }
            Record::SteeringQueued(queued) => {
                self.steered.entry(queued.id.clone()).or_insert(seq);
            }
            Record::SteeringTakenBack { id } => {
                self.taken_back.insert(id.clone(), seq);
            }
            Record::PermissionDecided(decided) => {
                self.decided_by.insert(decided.by.clone(), seq);
            }
            Record::PermissionAsked(asked) => {
                self.asked.insert(asked.id, seq);
            }
            Record::SettingsChanged(_) => self.settings = seq,
            Record::Compacted(_) => self.compacted = seq,
            Record::Restored => self.restored = seq,
            Record::Named { .. } => self.named = seq,
            Record::Interrupted { .. } => self.interrupted = seq,
            _ => {}
        }
    }

    /// What a loss of power took is not known any more.
    pub(super) fn forget_after(&mut self, written: Seq) {
        self.turns.retain(|_, (seq, _)| *seq <= written);
        self.outcomes.retain(|_, (seq, _)| *seq <= written);
        self.steered.retain(|_, seq| *seq <= written);
        self.taken_back.retain(|_, seq| *seq <= written);
        self.decided_by.retain(|_, seq| *seq <= written);
        self.asked.retain(|_, seq| *seq <= written);
        self.settings = self.settings.min(written);
        self.compacted = self.compacted.min(written);
        self.restored = self.restored.min(written);
        self.named = self.named.min(written);
        self.interrupted = self.interrupted.min(written);
    }

    /// All that was ever steered.
    pub(super) fn steering(&self) -> Vec<SteeringId> {
        self.steered.keys().cloned().collect()
    }

    /// All that was ever asked.
    pub(super) fn requests(&self) -> Vec<PermissionId> {
        self.asked.keys().copied().collect()
    }
}

fn told(holds: bool, words: impl FnOnce() -> String) -> Checked {
    ensure(holds, Invariant::AnswersAreTrue, words)
}

impl Judge {
    /// Whether this input began a turn.
    pub(super) fn began_turn(&self, said: &str) -> bool {
        self.known.turns.contains_key(said)
    }

    /// Whether the turn of this input runs, or waits for another one's end.
    pub(super) fn may_be_dropped(&self, said: &str) -> bool {
        match self.known.turns.get(said) {
            Some((_, turn)) => !self.known.outcomes.contains_key(turn),
            None => !said.trim().is_empty(),
        }
    }

    /// Whether something was interrupted after this record.
    pub(super) fn was_interrupted(&self, after: Seq) -> bool {
        self.known.interrupted > after
    }

    /// The awaitable of a turn that this input was to begin resolves.
    pub(super) fn turn_ended(&self, said: &str, outcome: &TurnOutcome) -> Checked {
        if self.is_broken {
            return Ok(());
        }
        let Some((_, turn)) = self.known.turns.get(said) else {
            let refused = matches!(outcome, TurnOutcome::Failed { .. })
                && (self.is_closing || said.trim().is_empty());
            let halted = *outcome == TurnOutcome::Cancelled && self.halt != Halt::No;
            return told(refused || halted, || format!("{said:?} began no turn: {outcome:?}"));
        };
        let written = self.known.outcomes.get(turn).map(|(_, outcome)| outcome);
        let unfinished = self.is_closing && written.is_none();
        told(unfinished || written == Some(outcome), || {
            format!("turn {turn} is told to end as {outcome:?}, written is {written:?}")
        })
    }

    /// The awaitable of a turn that was resumed resolves: of this one, or of one that came after it.
    pub(super) fn resumed(&self, turn: u32, outcome: &TurnOutcome) -> Checked {
        let mut written = self.known.outcomes.range(turn..).map(|(_, (_, outcome))| outcome);
        let is_written = written.any(|written| written == outcome);
        let excused = self.is_broken || self.is_closing;
        told(excused || is_written, || format!("turn {turn} is resumed, and told {outcome:?}"))
    }

    /// Somebody was told that the session is closed.
    pub(super) fn is_closed(&self) -> Checked {
        told(self.is_broken || self.is_closing, || "the session is closed by itself".into())
    }

    pub(super) fn steered(&self, id: &SteeringId) -> Checked {
        told(self.known.steered.contains_key(id), || format!("{} is nowhere written", id.0))
    }

    pub(super) fn took_back(&self, id: &SteeringId, worked: bool) -> Checked {
        let written = self.known.taken_back.contains_key(id);
        told(!worked || written, || format!("{} was not taken back", id.0))?;
        let words = self.state.steering.iter().filter(|queued| !queued.is_background);
        let waits = words.map(|queued| &queued.id).any(|waiting| waiting == id);
        told(worked || !waits || self.is_broken, || {
            format!("{} waits, and was not to be taken back", id.0)
        })
    }

    pub(super) fn decided(&self, by: &str, answer: &Result<(), DecideError>) -> Checked {
        let written = self.known.decided_by.contains_key(by);
        match answer {
            Ok(()) => told(written, || format!("{by} decided, and it is nowhere written")),
            Err(DecideError::NotOpen(id)) => {
                told(!written, || format!("{by} was too late for {id}, and it is written"))
            }
            Err(DecideError::Unusable(id, _)) => told(!written, || {
                format!("{by} was told that {id} cannot be decided so, and it is")
            }),
            Err(DecideError::Closed) => Ok(()),
        }
    }

    /// Settings were changed after this record.
    pub(super) fn changed_settings(&self, after: Seq) -> Checked {
        told(self.known.settings > after, || "new settings are nowhere written".into())
    }

    /// A compaction was asked for after this record.
    pub(super) fn compacted(&self, after: Seq, worked: bool) -> Checked {
        told(!worked || self.known.compacted > after, || "no summary is written".into())
    }

    /// What a compaction replaced was wanted back after this record.
    pub(super) fn restored(&self, after: Seq, worked: bool) -> Checked {
        told(!worked || self.known.restored > after, || "nothing is brought back".into())
    }

    /// A name was given or taken away after this record.
    pub(super) fn renamed(&self, after: Seq) -> Checked {
        told(self.known.named > after, || "a name is nowhere written".into())
    }

    /// A cancel that was asked for while this turn ran is answered, so much later.
    pub(super) fn cancelled(&self, turn: Option<u32>, since: u64) -> Checked {
        if self.is_broken || self.is_closing {
            return Ok(());
        }
        if let Some(turn) = turn {
            let ended = self.known.outcomes.contains_key(&turn);
            told(ended, || format!("turn {turn} was cancelled and goes on"))?;
        }
        let took = self.now.saturating_sub(since);
        ensure(took <= super::judge::CANCEL_MILLIS_MAX, Invariant::CancelIsPrompt, || {
            format!("a cancel took {took} milliseconds")
        })
    }
}

/// What an input says.
pub(super) fn text(input: &Input) -> String {
    input.blocks.iter().filter_map(Block::as_text).collect()
}
