//! The turns of an `exec`, in a session of their own or one that goes on.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use heeler_attach::{OwnerKind, Questions, serve};
use heeler_core::{Input, Mode, SessionId, TurnOutcome};
use heeler_engine::{Cursor, Parts, Session};
use heeler_stage::Stage;
use heeler_store::FileStore;
use heeler_turn::State;

use super::ends::Ends;
use super::finish::Finish;
use super::signals::Signals;
use super::stream::{self, Surroundings};
use super::wanted::Wanted;
use super::watch::Watch;
use super::{NOT_WRITTEN, Printer, detach};
use crate::say::say;

/// Said once, where there is no box.
const NOT_CONFINED: &str =
    "heeler: commands are not confined; what a rule allows runs with your own rights";

/// Said where nobody asked for plan mode in this run.
const STILL_PLANS: &str = "heeler: the session was left in plan mode and goes on in it; `--permission-mode` \
                           names another";

/// What is to be done.
pub(super) struct Run<'a> {
    /// The session that goes on; `None` for a new one.
    pub(super) id: Option<SessionId>,
    /// First what an earlier process left.
    pub(super) continues: bool,
    pub(super) prompt: Option<Input>,
    /// What the answer has to be.
    pub(super) wanted: Option<&'a mut Wanted>,
    /// More inputs come from stdin, and with them rules to keep.
    pub(super) stream: Option<Surroundings>,
    /// Where it works, if that is a stage.
    pub(super) stage: Option<&'a mut Stage>,
    /// By which others come in.
    pub(super) door: Door,
    /// Whether nobody else can answer or watch.
    pub(super) is_detached: bool,
}

/// What it takes to let others watch.
pub(super) struct Door {
    pub(super) store: FileStore,
    pub(super) questions: Questions,
}

impl Run<'_> {
    /// Runs it, and closes the session.
    pub(super) async fn session(
        mut self,
        workspace: &Path,
        parts: Parts,
        printer: &mut dyn Printer,
    ) -> Result<Finish> {
        let model = parts.settings.model.name.clone();
        let is_confined = parts.settings.policy.has_box;
        let mode = parts.settings.policy.mode;
        parts.provider.prewarm();
        // So that it and the launcher's start go on in their threads while the session is made here.
        tokio::task::yield_now().await;
        if self.is_detached {
            detach::leave()?;
        }
        let session = match self.id.take() {
            Some(id) => Session::open(parts, id).await?,
            None => Session::create(parts, &workspace.to_string_lossy()).await?,
        };
        let path = self.door.store.door_path(session.id());
        let served = serve(&session, path, OwnerKind::Run, self.door.questions.clone());
        if self.is_detached {
            served.context("nobody could attach to this session, so it was not begun")?;
        }
        if let Some(stage) = self.stage.take() {
            stage.set_session(session.id().as_str())?;
        }
        let signals = Signals::listen(session.id().clone()).context("cannot listen to signals")?;
        if !is_confined {
            say(NOT_CONFINED);
        }
        if let Ok(state) = session.state().await {
            tell_left(&state, mode);
        }
        printer.begin(&session, &model)?;
        let mut turn = 0;
        let outcome = match self.turns(&session, signals, printer, &mut turn).await {
            Ok(outcome) => outcome,
            // Nobody can watch any more, so nothing goes on.
            Err(error) if error.is::<std::io::Error>() => {
                session.halt().await;
                Some(TurnOutcome::Failed { message: format!("{NOT_WRITTEN}: {error}") })
            }
            Err(error) => {
                let broke = session.broke_off();
                // Nothing that is wrong with printing is worse than this.
                let (_, cursor) = session.subscribe();
                let _ = close(session, cursor, printer).await;
                return Err(broke.map_or(error, |why| anyhow!(why)));
            }
        };
        end_background(&session).await;
        let state = session.state().await.ok();
        let id = session.id().clone();
        let (view, cursor) = session.subscribe();
        // Who cannot be told that is not told the end either, which says so.
        let _ = close(session, cursor, printer).await;
        // Who said nothing was answered nothing.
        let is_idle = outcome.is_none();
        let outcome = outcome.unwrap_or(TurnOutcome::Done);
        let finish = Finish::of(id, outcome, state.as_ref(), &view);
        // A session that broke off tells nothing any more, but what was seen of it.
        let finish = if state.is_none() { Finish { turn, ..finish } } else { finish };
        Ok(match &self.wanted {
            Some(wanted) if !is_idle => finish.structured(wanted),
            _ => finish,
        })
    }

    async fn turns(
        &mut self,
        session: &Session,
        signals: Signals,
        printer: &mut dyn Printer,
        turn: &mut u32,
    ) -> Result<Option<TurnOutcome>> {
        let pending = self.continues && session.state().await?.turn.is_some();
        let has_more = self.prompt.is_some() || self.stream.is_some();
        if self.continues && !pending && !has_more {
            bail!("session {} has nothing left to finish; give a prompt to go on", session.id());
        }
        if let (Some(wanted), true) = (&mut self.wanted, pending) {
            wanted.recall(session).await;
        }
        let (_, cursor) = session.subscribe();
        let wanted = self.wanted.as_deref_mut();
        let mut watch = Watch { session, cursor, signals, printer, wanted, turn };
        if let Some(around) = self.stream.take() {
            let pending = pending.then(|| session.resume());
            let first = self.prompt.take().map(|prompt| session.turn(prompt));
            let first = pending.into_iter().chain(first);
            let ends = Ends::new(&self.door.store, session).await;
            return stream::converse(&mut watch, ends, first, around).await;
        }
        if pending && self.is_detached {
            return detach::go_on(&mut watch, self.prompt.take()).await;
        }
        let mut outcome = None;
        if pending {
            let ended = watch.until_done(session.resume()).await?;
            outcome = Some(ended);
        }
        // A turn that an earlier process was told to stop ends as cancelled here too; only who stops
        // this process does not want the prompt either.
        match self.prompt.take() {
            Some(_) if watch.signals.came() => outcome = Some(TurnOutcome::Cancelled),
            // The session broke off in that turn, whose outcome says why.
            Some(_) if outcome.is_some() && session.state().await.is_err() => {}
            Some(prompt) => {
                let turn = session.turn(prompt);
                let mut ended = watch.until_done(turn).await?;
                // What somebody else said too late for that turn has begun another. Who stops the turn
                // stops this run.
                while ended != TurnOutcome::Cancelled
                    && !watch.signals.came()
                    && detach::is_in_turn(session).await
                {
                    ended = watch.until_done(session.resume()).await?;
                }
                outcome = Some(ended);
            }
            None => {}
        }
        outcome.context("there is no prompt").map(Some)
    }
}

/// Closes a session, and prints what is seen of it from here on: hooks hear of the end, and may be broken.
async fn close(
    session: Session,
    mut cursor: Cursor,
    printer: &mut dyn Printer,
) -> std::io::Result<()> {
    session.close().await;
    while let Some(seen) = cursor.try_next() {
        printer.print(&seen)?;
    }
    printer.flush()
}

/// Tells what an earlier process left that nobody asked for in this run, which begins in this mode.
fn tell_left(state: &State, mode: Mode) {
    if state.settings.policy.mode == Mode::Plan && mode != Mode::Plan {
        say(STILL_PLANS);
    }
    state.lost_works().for_each(|told| say(told.trim_matches(['[', ']'])));
}

/// Ends what calls left in the background: nobody is there who would hear of it. The model is told so
/// when the session goes on.
async fn end_background(session: &Session) {
    let Ok(works) = session.background().await else { return };
    let mut ended = Vec::new();
    for work in works {
        if session.cancel_background(work.call).await.unwrap_or_default() {
            ended.push(format!("{} (call {})", work.tool, work.call));
        }
    }
    if !ended.is_empty() {
        say(format!("heeler: ended with this run: background work of {}", ended.join(", ")));
    }
}
