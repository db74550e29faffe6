//! The checker's account of one turn: what it spent, and how it may go on and end.

use heeler_core::{
    AcceptedAnswer, InterruptCause, LimitKind, Limits, ModelStarted, Prices, ProviderErrorKind,
    StopReason, TurnOutcome,
};

use super::batch::Batch;
use super::{Checked, Invariant, ensure};

/// How many processes may die in one effect.
pub(super) const DEATHS_MAX: u32 = 3;

/// How often a provider may find a request too long.
const OVERFLOWS_MAX: u32 = 3;
/// How many automatic compactions in a row may give nothing.
const COMPACTION_FAILURES_MAX: u32 = 2;
/// So many attempts may fail to read an answer that the provider keeps to its end.
const UNREAD_MAX: u32 = 3;

/// The running turn.
#[derive(Default)]
pub(super) struct TurnAccount {
    pub(super) number: u32,
    pub(super) rounds: u32,
    pub(super) calls: u32,
    pub(super) tokens: u64,
    pub(super) cost: u64,
    pub(super) wall_millis: u64,
    pub(super) limits_moved: bool,
    /// The last request: round and attempt, and whether it is still out.
    pub(super) attempt: (u32, u32),
    pub(super) is_asking: bool,
    pub(super) deaths: u32,
    pub(super) interrupted: Option<InterruptCause>,
    /// The session is a fork, and this turn is the source's.
    pub(super) is_foreign: bool,
    pub(super) last_stop: Option<StopReason>,
    pub(super) batch: Option<Batch>,
    /// The last failing call and how often it came in a row.
    pub(super) repeats: (Option<(String, String)>, u32),
    pub(super) is_stopped_by_denial: bool,
    pub(super) attempt_failed: bool,
    /// A summary failed since, as whatever is asked would.
    pub(super) cannot_ask: bool,
    /// A compaction was tried since the last answer.
    pub(super) compaction_tried: bool,
    /// Automatic compactions in a row that gave nothing.
    pub(super) compaction_failures: u32,
    /// The answer that the provider keeps, and how many attempts could not read it to its end.
    pub(super) accepted: Option<(AcceptedAnswer, u32)>,
    /// How often the request was found too long since the last answer.
    pub(super) overflows: u32,
}

impl TurnAccount {
    /// The model may be asked now: within every limit, once more, and after no interrupt.
    pub(super) fn may_ask(
        &self,
        started: &ModelStarted,
        limits: &Limits,
        prices: Option<Prices>,
    ) -> Checked {
        let attempt = (started.round, started.attempt);
        ensure(attempt > self.attempt, Invariant::AttemptsGrow, || {
            format!("{attempt:?} comes after {:?}", self.attempt)
        })?;
        ensure(self.interrupted.is_none(), Invariant::CancelEndsEffects, || {
            "the model is asked after the interrupt".into()
        })?;
        ensure(!self.is_foreign, Invariant::CancelEndsEffects, || {
            "the model is asked in a turn of the session that was forked".into()
        })?;
        ensure(self.deaths < DEATHS_MAX, Invariant::DeathsAreBounded, || {
            format!("the model is asked after {} processes died of it", self.deaths)
        })?;
        ensure(self.overflows < OVERFLOWS_MAX, Invariant::OverflowsAreBounded, || {
            format!("the request was found too long {} times and is sent again", self.overflows)
        })?;
        if self.accepted.is_some() {
            // It was paid for, whatever the limits are by now.
            return Ok(());
        }
        ensure(limits.rounds == 0 || self.rounds < limits.rounds, Invariant::RoundLimit, || {
            format!("{} rounds were spent already", self.rounds)
        })?;
        let reserve = started.reserve;
        let tokens = self.tokens + reserve.input + reserve.output;
        ensure(limits.tokens == 0 || tokens <= limits.tokens, Invariant::TokenLimit, || {
            format!("{tokens} tokens may be spent, {} are allowed", limits.tokens)
        })?;
        let cost = prices.map_or(0, |prices| {
            // The input may turn out twice as long, and cost what long requests cost.
            let long = prices.long.filter(|long| reserve.input * 2 > long.over);
            let (input, cache_write, output) = match long {
                Some(long) => (long.input, long.cache_write, long.output),
                None => (prices.input, prices.cache_write, prices.output),
            };
            reserve.input * input.max(cache_write) + reserve.output * output
        });
        let cost = self.cost + cost;
        let counts = limits.cost != 0 && prices.is_some();
        ensure(!counts || cost <= limits.cost, Invariant::CostLimit, || {
            format!("{cost} may be spent, {} is allowed", limits.cost)
        })?;
        Ok(())
    }

    /// A compaction may begin by itself: once before an answer, and not for ever in vain.
    pub(super) fn may_compact(&self) -> Checked {
        let bounded = !self.compaction_tried && self.compaction_failures < COMPACTION_FAILURES_MAX;
        ensure(bounded, Invariant::CompactionsAreBounded, || {
            format!("one more compaction after {} in vain", self.compaction_failures)
        })
    }

    /// The model is asked.
    pub(super) fn ask(&mut self, started: &ModelStarted) {
        self.attempt = (started.round, started.attempt);
        self.is_asking = true;
        self.attempt_failed = false;
        self.cannot_ask = false;
        self.batch = None;
    }

    /// An attempt failed so: the answer may still be there when only the way to it broke.
    pub(super) fn failed(&mut self, kind: ProviderErrorKind) {
        self.accepted.take_if(|(_, unread)| match kind {
            ProviderErrorKind::Network => false,
            ProviderErrorKind::Format => {
                *unread += 1;
                *unread == UNREAD_MAX
            }
            _ => true,
        });
    }

    /// What is written as the end is what happened.
    pub(super) fn outcome_is_true(&self, outcome: &TurnOutcome, limits: &Limits) -> Checked {
        let ends_in_words = self.batch.is_none() && !self.is_asking;
        let possible = match self.interrupted {
            Some(InterruptCause::Cancelled) => *outcome == TurnOutcome::Cancelled,
            Some(InterruptCause::WallTime) => {
                *outcome == TurnOutcome::Limit { limit: LimitKind::Wall }
            }
            None if self.is_foreign && *outcome == TurnOutcome::Cancelled => true,
            None if self.is_stopped_by_denial => {
                matches!(outcome, TurnOutcome::Denied { .. } | TurnOutcome::Failed { .. })
            }
            None => match (outcome, &self.last_stop) {
                (TurnOutcome::Done, Some(StopReason::MaxTokens)) => !ends_in_words,
                (TurnOutcome::Done, stop) => {
                    !matches!(stop, Some(StopReason::Refusal | StopReason::ContentFilter))
                }
                (TurnOutcome::Truncated, stop) => *stop == Some(StopReason::MaxTokens),
                (TurnOutcome::Refused, stop) => {
                    matches!(stop, Some(StopReason::Refusal | StopReason::ContentFilter))
                }
                // The interrupt itself may be torn off what was said until then.
                (TurnOutcome::Cancelled, stop) => *stop == Some(StopReason::Interrupted),
                (TurnOutcome::ProviderFailed { .. }, _) => self.attempt_failed || self.cannot_ask,
                (TurnOutcome::Failed { message }, _) => {
                    // What does not fit is looked at where the conversation is.
                    let others = ["nothing was said", super::context::CANNOT_FIT];
                    others.iter().any(|words| message.starts_with(words)) || self.is_given_up()
                }
                (TurnOutcome::Limit { limit }, _) => {
                    self.limits_moved || self.is_over(*limit, limits)
                }
                (TurnOutcome::Denied { .. }, _) => true,
            },
        };
        ensure(possible, Invariant::OutcomeIsTrue, || {
            format!("turn {} ends as {outcome:?} after {:?}", self.number, self.last_stop)
        })
    }

    /// As many processes as may died in one effect.
    fn is_given_up(&self) -> bool {
        let batch = self.batch.as_ref();
        self.deaths >= DEATHS_MAX || batch.is_some_and(|batch| batch.deaths() >= DEATHS_MAX)
    }

    /// Whether a limit that is said to be reached is; budgets are checked where they are reserved.
    fn is_over(&self, limit: LimitKind, limits: &Limits) -> bool {
        match limit {
            LimitKind::Rounds => limits.rounds != 0 && self.rounds >= limits.rounds,
            LimitKind::Calls => limits.calls != 0 && self.calls > limits.calls,
            LimitKind::Tokens => limits.tokens != 0,
            LimitKind::Cost => limits.cost != 0,
            LimitKind::Repeats => limits.repeats != 0,
            LimitKind::Wall => false,
        }
    }
}
