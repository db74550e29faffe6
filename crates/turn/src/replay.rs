//! Plays a journal again: whether the machine, as it is now, comes to each of its records.
//!
//! What came from outside (inputs, answers, settings, results) is taken as it was; what the machine
//! decided (what to ask, plan, run, finish, leave out) must be due again. So a journal is a regression
//! test of the machine, and nothing is performed.

use std::fmt;

use heeler_core::{
    CompactionCause, CompactionStarted, Difference, Effect, EffectId, EffectKind, Entry,
    EpochCause, ModelStarted, PermissionAsked, Record, Seq, TurnOutcome,
};
use serde::Serialize;
use serde_json::Value;

use crate::State;

/// A journal that is played.
pub struct Replay {
    state: State,
}

/// The first record that did not come again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The record.
    pub seq: Seq,
    /// Its kind.
    pub kind: &'static str,
    /// What it holds, and what there is in its place.
    pub difference: Difference,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} ({}) {}", self.seq, self.kind, self.difference)
    }
}

impl Replay {
    /// Plays on from a state: what follows the records that led to it.
    #[must_use]
    pub fn after(state: State) -> Self {
        Self { state }
    }

    /// The state after all that was played.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Plays the next record.
    ///
    /// # Errors
    /// When the machine does not come to it. Nothing is to be played after that.
    pub fn follow(&mut self, entry: &Entry) -> Result<(), Divergence> {
        let diverges =
            |difference| Divergence { seq: entry.seq, kind: entry.record.kind(), difference };
        if let Some(difference) = self.difference(&entry.record) {
            return Err(diverges(difference));
        }
        let misfits = self.state.misfits;
        self.state.apply(entry);
        if self.state.misfits > misfits {
            let found = "a session it does not fit".to_owned();
            let expected = "the record".to_owned();
            return Err(diverges(Difference { path: String::new(), expected, found }));
        }
        Ok(())
    }

    /// What is due in the place of a record, if it is not the record.
    fn difference(&self, record: &Record) -> Option<Difference> {
        match record {
            Record::Opened(_)
            | Record::SettingsChanged(_)
            | Record::LimitsChanged(_)
            | Record::HistoryGiven { .. }
            | Record::Input(_)
            | Record::PermissionDecided(_)
            | Record::RuleGranted(_)
            | Record::HookAnswered(_)
            | Record::SteeringQueued(_)
            | Record::SteeringTakenBack { .. }
            | Record::Interrupted { .. }
            | Record::CompactionStarted(CompactionStarted {
                cause: CompactionCause::Manual, ..
            })
            | Record::Restored
            | Record::TimePassed
            | Record::Named { .. }
            | Record::Forked(_) => None,
            Record::EpochStarted(epoch) => self.due(&epoch.cause, |kind| match kind {
                EffectKind::StartEpoch { cause } => Some(*cause),
                // What whoever drives was given has changed.
                EffectKind::CallModel { .. } => Some(epoch.cause)
                    .filter(|cause| matches!(cause, EpochCause::SystemPrompt | EpochCause::Tools)),
                _ => None,
            }),
            Record::ModelStarted(started) => self.due(started, |kind| match kind {
                EffectKind::CallModel { turn, round, attempt, reserve } => {
                    let mut due = ModelStarted {
                        turn: *turn,
                        round: *round,
                        attempt: *attempt,
                        ..started.clone()
                    };
                    // Its estimate is no decision.
                    due.reserve.output = reserve.output;
                    Some(due)
                }
                _ => None,
            }),
            Record::ModelAccepted(a) => self.answered((a.turn, a.round, a.attempt)),
            Record::ModelReplied(r) => self.answered((r.turn, r.round, r.attempt)),
            Record::ModelFailed(f) => self.answered((f.turn, f.round, f.attempt)),
            Record::CallPlanned(planned) => {
                self.due_as(EffectId::Plan(planned.call, planned.answered_before))
            }
            Record::FactsChanged(changed) => self.due_as(EffectId::Run(changed.call)),
            Record::CallStarted { call } | Record::CallFinished { call, .. } => {
                self.due_as(EffectId::Run(*call))
            }
            Record::PermissionAsked(asked) => self.due(asked, |kind| match kind {
                EffectKind::AskPermission { id, reason, .. } if *id == asked.id => {
                    Some(Box::new(PermissionAsked { id: *id, reason: reason.clone() }))
                }
                _ => None,
            }),
            Record::CompactionStarted(started) => self.due(started, |kind| match kind {
                EffectKind::Compact { cut, cause, focus, .. } => {
                    let focus = focus.clone();
                    Some(CompactionStarted { cut: *cut, cause: *cause, focus })
                }
                _ => None,
            }),
            Record::Compacted(_) | Record::CompactionFailed(_) => {
                let effects = self.state.pending();
                let ends = |effect: &Effect| matches!(effect.kind, EffectKind::Compact { .. });
                (!effects.iter().any(ends)).then(|| another("a compaction to end", &effects))
            }
            Record::Trimmed(trimmed) => self.due(trimmed, |kind| match kind {
                EffectKind::Trim(due) => Some(*due),
                _ => None,
            }),
            Record::Pruned(pruned) => self.due(pruned, |kind| match kind {
                EffectKind::Prune(due) => Some(*due),
                _ => None,
            }),
            Record::TurnFinished { turn, outcome } => {
                let recorded = Finished { turn: *turn, outcome: outcome.clone() };
                self.due(&recorded, |kind| match kind {
                    EffectKind::FinishTurn { turn, outcome } => {
                        Some(Finished { turn: *turn, outcome: outcome.clone() })
                    }
                    _ => None,
                })
            }
        }
    }

    fn answered(&self, (turn, round, attempt): (u32, u32, u32)) -> Option<Difference> {
        self.due_as(EffectId::Model(turn, round, attempt))
    }

    fn due_as(&self, id: EffectId) -> Option<Difference> {
        let effects = self.state.pending();
        let is_due = effects.iter().any(|effect| effect.id == id);
        (!is_due).then(|| another(&told(id), &effects))
    }

    /// Compares what a record says with what is due of its kind.
    fn due<T: Serialize>(
        &self,
        recorded: &T,
        as_recorded: impl Fn(&EffectKind) -> Option<T>,
    ) -> Option<Difference> {
        let effects = self.state.pending();
        let recorded = json(recorded);
        match effects.iter().find_map(|effect| as_recorded(&effect.kind)) {
            Some(due) => Difference::first(&recorded, &json(&due)),
            None => Some(another(&recorded.to_string(), &effects)),
        }
    }
}

/// The end of a turn, as its record tells it.
#[derive(Serialize)]
struct Finished {
    turn: u32,
    outcome: TurnOutcome,
}

fn json(value: &impl Serialize) -> Value {
    // What is written into journals is JSON.
    serde_json::to_value(value).unwrap_or_default()
}

/// Something of another kind is due, or nothing.
fn another(expected: &str, effects: &[Effect]) -> Difference {
    let due: Vec<String> = effects.iter().map(|effect| told(effect.id)).collect();
    let found = if due.is_empty() { "nothing that is due".to_owned() } else { due.join(", ") };
    Difference { path: String::new(), expected: expected.to_owned(), found }
}

fn told(id: EffectId) -> String {
    match id {
        EffectId::Epoch(epoch) => format!("epoch {epoch}"),
        EffectId::Compact(n) => format!("compaction {n}"),
        EffectId::Trim(n) => format!("trimming after compaction {n}"),
        EffectId::Prune(n) => format!("shorter old results after compaction {n}"),
        EffectId::Model(turn, round, attempt) => {
            format!("model call of turn {turn}, round {round}, attempt {attempt}")
        }
        EffectId::Plan(call, _) => format!("plan of call {call}"),
        EffectId::Ask(id) => format!("permission {id}"),
        EffectId::Run(call) => format!("run of call {call}"),
        EffectId::Retry(_) => "wait for another attempt".to_owned(),
        EffectId::WallTime(_) => "end of the wall time".to_owned(),
        EffectId::Finish(turn) => format!("end of turn {turn}"),
    }
}
