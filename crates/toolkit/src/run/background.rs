//! A run that waits for what its calls left in the background.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{CancellationToken, Clock, LimitKind, Timestamp, TurnOutcome};
use heeler_engine::{Session, SessionError, Turn};

use super::journal::Watch;

/// How long a [`tool_loop`](super::tool_loop()) waits for work in the background, when nobody says
/// otherwise.
pub const BACKGROUND_WAIT_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// What waiting needs to know.
pub(super) struct Wait {
    pub(super) session: Session,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) watch: Arc<Watch>,
    /// Of all turns; 0 for no limit.
    pub(super) rounds_max: u32,
    pub(super) until: Timestamp,
    pub(super) cancel: CancellationToken,
}

impl Wait {
    /// The outcome of the last turn, once no work goes on and all that it came to is answered. All
    /// turns together keep to the limit of rounds.
    pub(super) async fn outlast(self, mut turn: Turn) -> TurnOutcome {
        loop {
            let outcome = (&mut turn).await;
            if outcome != TurnOutcome::Done {
                return outcome;
            }
            match self.next().await {
                Ok(Some(Next::Turn(next))) => turn = next,
                Ok(Some(Next::Over(outcome))) => return outcome,
                // A session that closed has told the turn's outcome.
                Ok(None) | Err(SessionError) => return outcome,
            }
        }
    }

    /// What comes after a turn that is done; `None` for nothing.
    async fn next(&self) -> Result<Option<Next>, SessionError> {
        let mut state = self.session.state().await?;
        let goes_on = state.turn.is_some() || !state.background.is_empty();
        if !goes_on {
            return Ok(None);
        }
        let limits = &mut state.settings.limits;
        if self.rounds_max != 0 {
            limits.rounds = self.rounds_max.saturating_sub(self.watch.seen().rounds);
            if limits.rounds == 0 {
                return Ok(Some(Next::Over(TurnOutcome::Limit { limit: LimitKind::Rounds })));
            }
            self.session.set_settings(state.settings.clone()).await?;
        }
        if state.turn.is_none()
            && let Some(work) = state.background.first()
        {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Some(Next::Over(TurnOutcome::Cancelled))),
                ended = self.session.wait_for_background(work.call) => ended?,
                () = self.clock.sleep_until(self.until) => {
                    for work in &state.background {
                        self.session.cancel_background(work.call).await?;
                    }
                }
            }
        }
        Ok(Some(Next::Turn(self.session.resume())))
    }
}

/// What comes after a turn.
enum Next {
    /// What work came to began another one.
    Turn(Turn),
    /// The run ends so.
    Over(TurnOutcome),
}
