//! A run that waits for what its calls left in the background.

use std::ops::Sub;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::select_all;
use heeler_core::{CancellationToken, Clock, LimitKind, Limits, Timestamp, TurnOutcome};
use heeler_engine::{Session, SessionError, Turn};
use heeler_turn::State;

use super::journal::{Spent, Watch};

/// How long a [`tool_loop`](super::tool_loop()) waits for work in the background, when nobody says
/// otherwise.
pub const BACKGROUND_WAIT_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// What waiting needs to know.
pub(super) struct Wait {
    pub(super) session: Session,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) watch: Arc<Watch>,
    /// Of all turns together.
    pub(super) limits: Limits,
    pub(super) until: Timestamp,
    pub(super) cancel: CancellationToken,
}

impl Wait {
    /// The outcome of the last turn, once no work goes on and all that it came to is answered. All
    /// turns together keep to the limits.
    pub(super) async fn outlast(self, mut turn: Turn) -> TurnOutcome {
        loop {
            let outcome = (&mut turn).await;
            let next = match self.failed() {
                None if outcome == TurnOutcome::Done => self.next().await,
                failed => return failed.unwrap_or(outcome),
            };
            match next {
                Ok(Some(Next::Turn(next))) => turn = next,
                Ok(Some(Next::Over(outcome))) => return outcome,
                // A session that closed has told the turn's outcome.
                Ok(None) | Err(SessionError) => return self.failed().unwrap_or(outcome),
            }
        }
    }

    /// How a turn ended that was not done, also one that was over before anybody waited for it.
    fn failed(&self) -> Option<TurnOutcome> {
        self.watch.seen().failed.clone()
    }

    /// What comes after a turn that is done; `None` for nothing.
    async fn next(&self) -> Result<Option<Next>, SessionError> {
        loop {
            let state = match self.limited().await? {
                Ok(state) => state,
                Err(limit) => return Ok(Some(Next::Over(TurnOutcome::Limit { limit }))),
            };
            // A turn that was woken may be over already.
            if let Some(outcome) = self.failed() {
                return Ok(Some(Next::Over(outcome)));
            }
            if state.turn.is_some() {
                break;
            }
            if state.background.is_empty() {
                return Ok(None);
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Some(Next::Over(TurnOutcome::Cancelled))),
                ended = self.first_of(&state) => ended?,
                () = self.clock.sleep_until(self.until) => {
                    for work in &state.background {
                        self.session.cancel_background(work.call).await?;
                    }
                }
            }
        }
        let turn = self.session.resume();
        // Another may have begun meanwhile, which is then the one that is waited for.
        Ok(Some(match self.limited().await? {
            Ok(_) => Next::Turn(turn),
            Err(limit) => Next::Over(TurnOutcome::Limit { limit }),
        }))
    }

    /// The state, once its limits are what the turns before leave, or the limit that leaves nothing.
    async fn limited(&self) -> Result<Result<State, LimitKind>, SessionError> {
        loop {
            let mut state = self.session.state().await?;
            let goes_on = state.turn.is_some() || !state.background.is_empty();
            match self.left(&state) {
                Err(limit) if goes_on => return Ok(Err(limit)),
                Ok(limits) if goes_on && limits != state.settings.limits => {
                    state.settings.limits = limits;
                    self.session.set_settings(state.settings.clone()).await?;
                }
                _ => return Ok(Ok(state)),
            }
        }
    }

    /// Until the first of the works has ended, which begins a turn: others that end meanwhile wait for
    /// the end of that one, and for what it leaves of the limits.
    async fn first_of(&self, state: &State) -> Result<(), SessionError> {
        let ends =
            state.background.iter().map(|work| self.session.wait_for_background(work.call).boxed());
        select_all(ends).await.0
    }

    /// What the turns before leave for the next one, or for the one that runs already; the limit that
    /// leaves it nothing.
    fn left(&self, state: &State) -> Result<Limits, LimitKind> {
        let running = state.turn.as_ref();
        // More may have happened since that state was told, so each turn has its own sum.
        let next = running.map_or(state.turns.saturating_add(1), |turn| turn.number);
        let Spent { rounds, calls, wall_millis } = self.watch.seen().spent_before(next);
        let tokens =
            state.usage.total().saturating_sub(running.map_or(0, |turn| turn.tokens_spent));
        let cost = state.cost.0.saturating_sub(running.map_or(0, |turn| turn.cost_spent.0));
        Ok(Limits {
            rounds: left(self.limits.rounds, rounds, LimitKind::Rounds)?,
            calls: left(self.limits.calls, calls, LimitKind::Calls)?,
            tokens: left(self.limits.tokens, tokens, LimitKind::Tokens)?,
            cost: left(self.limits.cost, cost, LimitKind::Cost)?,
            wall_millis: left(self.limits.wall_millis, wall_millis, LimitKind::Wall)?,
            ..self.limits
        })
    }
}

/// What is left of a limit, of which 0 is none.
fn left<N: Copy + PartialOrd + Sub<Output = N> + Default>(
    limit: N,
    spent: N,
    kind: LimitKind,
) -> Result<N, LimitKind> {
    match limit == N::default() {
        true => Ok(limit),
        false if spent < limit => Ok(limit - spent),
        false => Err(kind),
    }
}

/// What comes after a turn.
enum Next {
    /// What work came to began another one.
    Turn(Turn),
    /// The run ends so.
    Over(TurnOutcome),
}
