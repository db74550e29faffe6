//! What there is to perform, derived from the state alone.

use heeler_core::{
    CompactionCause, Effect, EffectId, EffectKind, EpochCause, LimitKind, PermissionReason,
    ProviderErrorKind, Timestamp, TurnOutcome, WakeCause,
};

use crate::bugs::{Bug, is_on};
use crate::fit::Fit;
use crate::schedule::{self, Slot};
use crate::state::{Call, CallStatus, Phase, State, Turn};
use crate::{limits, words};

impl State {
    /// The effects that are due or run, in order. The driver starts those it has not started and
    /// aborts those that are gone.
    #[must_use]
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        match &self.turn {
            None => effects.extend(self.running_compaction()),
            Some(turn) => match &turn.phase {
                Phase::Ending(outcome) => effects.push(finish(turn, outcome.clone())),
                Phase::Model { started, retry_at } => {
                    effects.extend(self.wall_time(turn));
                    let retry_at = retry_at.filter(|at| *at > self.now);
                    match retry_at {
                        Some(at) => effects.push(Effect {
                            id: EffectId::Retry(at),
                            kind: EffectKind::Wake { at, cause: WakeCause::Retry },
                        }),
                        None => effects.push(self.model_effect(turn, *started)),
                    }
                }
                Phase::Calls => {
                    effects.extend(self.wall_time(turn).filter(|_| !is_on(Bug::EndlessCalls)));
                    self.call_effects(turn, &mut effects);
                }
            },
        }
        effects
    }

    /// The end of the turn's wall time. The time is the same for as long as a process lives.
    fn wall_time(&self, turn: &Turn) -> Option<Effect> {
        let at = self.wall_time_of(turn)?;
        Some(Effect {
            id: EffectId::WallTime(at),
            kind: EffectKind::Wake { at, cause: WakeCause::WallTime },
        })
    }

    /// When the wall time of the running turn ends, for whoever has its end wait.
    #[must_use]
    pub fn wall_time_ends(&self) -> Option<Timestamp> {
        self.wall_time_of(self.turn.as_ref()?)
    }

    fn wall_time_of(&self, turn: &Turn) -> Option<Timestamp> {
        let wall_max = self.settings.limits.wall_millis;
        let at = Timestamp(self.now.plus(wall_max).since(Timestamp(turn.wall_spent_millis)));
        (wall_max != 0).then_some(at)
    }

    /// The model call, or what has to come before it.
    fn model_effect(&self, turn: &Turn, started: bool) -> Effect {
        let reserve = limits::reserve(self, turn);
        // What is paid for already has to be asked about nothing.
        let is_asked = started || self.resumes().is_some();
        if !is_asked && let Some(effect) = self.before_model(turn, reserve.err()) {
            return effect;
        }
        Effect {
            id: EffectId::Model(turn.number, turn.round, turn.attempt),
            kind: EffectKind::CallModel {
                turn: turn.number,
                round: turn.round,
                attempt: turn.attempt,
                reserve: reserve.unwrap_or_default(),
            },
        }
    }

    /// A compaction is asked for with the prefix in force, so there must be one; the next epoch
    /// waits for it. It is a model call itself: a turn that is over does not begin one.
    fn before_model(&self, turn: &Turn, limit: Option<LimitKind>) -> Option<Effect> {
        if self.epoch.is_none() {
            return self.epoch_effect();
        }
        if let Some(effect) = self.running_compaction().filter(|_| !is_on(Bug::OvertakenSummary)) {
            return Some(effect);
        }
        if let Some(limit) = limit {
            return Some(finish(turn, TurnOutcome::Limit { limit }));
        }
        match self.fit(turn) {
            Fit::Fits => self.epoch_effect(),
            Fit::Prune(how) => Some(Effect {
                id: EffectId::Prune(self.compactions.saturating_add(1)),
                kind: EffectKind::Prune(how),
            }),
            Fit::Compact(cut) => Some(self.compaction_effect(cut)),
            Fit::Trim(how) => Some(Effect {
                id: EffectId::Trim(self.compactions.saturating_add(1)),
                kind: EffectKind::Trim(how),
            }),
            Fit::Never => Some(finish(turn, self.cannot_fit(turn))),
        }
    }

    fn cannot_fit(&self, turn: &Turn) -> TurnOutcome {
        match turn.overflowed {
            true => TurnOutcome::ProviderFailed {
                kind: ProviderErrorKind::ContextOverflow,
                message: words::OVERFLOW_STAYS.into(),
            },
            false => TurnOutcome::Failed {
                message: words::cannot_fit(self.estimate_due(), self.context_limit()),
            },
        }
    }

    fn epoch_effect(&self) -> Option<Effect> {
        let cause = match &self.epoch {
            None => EpochCause::First,
            Some(_) => self.epoch_due?,
        };
        let epoch = self.epoch.as_ref().map_or(0, |epoch| epoch.number).saturating_add(1);
        Some(Effect { id: EffectId::Epoch(epoch), kind: EffectKind::StartEpoch { cause } })
    }

    fn running_compaction(&self) -> Option<Effect> {
        let compaction = self.compaction.as_ref()?;
        Some(Effect {
            id: EffectId::Compact(self.compactions),
            kind: EffectKind::Compact {
                cut: compaction.cut as u64,
                cause: compaction.cause,
                focus: compaction.focus.clone(),
                started: true,
            },
        })
    }

    fn compaction_effect(&self, cut: usize) -> Effect {
        Effect {
            id: EffectId::Compact(self.compactions.saturating_add(1)),
            kind: EffectKind::Compact {
                cut: cut as u64,
                cause: CompactionCause::Automatic,
                focus: None,
                started: false,
            },
        }
    }

    /// Which calls can start, by their places.
    fn startable(&self, turn: &Turn) -> Vec<usize> {
        let slots: Vec<Slot<'_>> = turn.calls.iter().map(slot).collect();
        let at_once_max = match self.settings.limits.calls_at_once {
            0 => usize::MAX,
            n => n as usize,
        };
        schedule::startable(&slots, at_once_max)
    }

    fn call_effects(&self, turn: &Turn, effects: &mut Vec<Effect>) {
        let is_ready = |call: &Call| matches!(call.status, CallStatus::Ready { .. });
        // Between two steps of a call nothing can start.
        let start = match turn.calls.iter().any(is_ready) {
            true => self.startable(turn),
            false => Vec::new(),
        };
        let asks_for_all = turn.asks_for_all();
        for (at, call) in turn.calls.iter().enumerate() {
            let effect = match &call.status {
                CallStatus::Unplanned => Some(Effect {
                    id: EffectId::Plan(call.id, call.answered_before),
                    kind: EffectKind::PlanCall {
                        call: call.id,
                        answered_before: call.answered_before,
                        name: call.name.clone(),
                        input: call.input.clone(),
                    },
                }),
                // Another call asks for this one, too, or will.
                CallStatus::Asking { reason: PermissionReason::LeavePlan { .. }, .. }
                    if asks_for_all != Some(call.id) =>
                {
                    None
                }
                CallStatus::Asking { reason, asked } => {
                    let reason = match (call.asks_to_leave_plan(), asked) {
                        (true, false) => turn.reason_to_leave_plan(),
                        _ => reason.clone(),
                    };
                    let id = call.permission_id();
                    Some(Effect {
                        id: EffectId::Ask(id),
                        kind: EffectKind::AskPermission {
                            id,
                            reason,
                            asked: *asked,
                            name: call.name.clone(),
                            input: call.input.clone(),
                        },
                    })
                }
                CallStatus::Ready { by, confined } if start.binary_search(&at).is_ok() => {
                    Some(run(call, by, *confined))
                }
                CallStatus::Started { by, confined } => Some(run(call, by, *confined)),
                CallStatus::Ready { .. } | CallStatus::Done(_) => None,
            };
            effects.extend(effect);
        }
    }
}

pub(crate) fn slot(call: &Call) -> Slot<'_> {
    match &call.status {
        CallStatus::Unplanned => Slot::Unknown,
        CallStatus::Asking { .. } => Slot::Waiting(&call.facts),
        CallStatus::Ready { .. } => Slot::Ready(&call.facts),
        CallStatus::Started { .. } => Slot::Running(&call.facts),
        CallStatus::Done(_) => Slot::Done,
    }
}

fn run(call: &Call, by: &str, confined: bool) -> Effect {
    Effect {
        id: EffectId::Run(call.id),
        kind: EffectKind::RunCall {
            call: call.id,
            name: call.name.clone(),
            input: call.input.clone(),
            replay_safe: call.facts.replay_safe || is_on(Bug::UnsyncedSideEffect),
            allowed_by: by.to_owned(),
            confined,
        },
    }
}

fn finish(turn: &Turn, outcome: TurnOutcome) -> Effect {
    Effect {
        id: EffectId::Finish(turn.number),
        kind: EffectKind::FinishTurn { turn: turn.number, outcome },
    }
}
