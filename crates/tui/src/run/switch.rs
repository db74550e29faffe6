//! From one session to another: what is said meanwhile is meant for the one that comes.

use std::io;
use std::sync::Arc;

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use heeler_core::{Block, CallId, Event, Mode, SessionId, SteeringId, TurnOutcome, truncate_chars};
use heeler_engine::{BackgroundWork, Cursor, Seen, Session};
use heeler_turn::State;
use heeler_turn::state::QueuedInput;

use super::{Done, Flow, Running};
use crate::app::{Happened, Opened};
use crate::composer::Submission;
use crate::host::ModeOnward;

/// The most characters of an input that waits; a line shows fewer.
const WAITING_CHARS_MAX: usize = 500;

/// How far the change to another session is.
#[derive(Default)]
pub(super) struct Switching {
    /// What was said since another session was asked for, while it is not there.
    held: Option<Vec<Submission>>,
    /// Whether the session that is shown is closed already.
    pub(super) is_closed: bool,
    /// The model that was asked for, and the calls whose work would end with the change to it, as somebody
    /// was told.
    warned: Option<(String, Vec<CallId>)>,
}

impl Switching {
    /// Keeps what is said on the way to another session; gives it back otherwise.
    pub(super) fn pass(&mut self, submission: Submission) -> Option<Submission> {
        match &mut self.held {
            Some(held) => {
                held.push(submission);
                None
            }
            None => Some(submission),
        }
    }

    /// Whether it could begin: there is one change at a time.
    fn begin(&mut self) -> bool {
        let begins = self.held.is_none();
        self.held.get_or_insert_default();
        begins
    }

    /// Whether somebody was told that all of this ends with the change to this model, and asks for it all
    /// the same.
    fn is_warned(&mut self, model: &str, works: &[BackgroundWork]) -> bool {
        let is_warned = self.warned.take().is_some_and(|(named, calls)| {
            named == model && works.iter().all(|work| calls.contains(&work.call))
        });
        if !is_warned {
            let calls = works.iter().map(|work| work.call).collect();
            self.warned = Some((model.to_owned(), calls));
        }
        is_warned
    }
}

impl Running {
    pub(super) fn begin_another(&mut self) {
        if self.leaves() {
            let (host, mode) = (Arc::clone(&self.host), self.mode());
            self.task(async move { switched(host.create(mode.await).await) });
        }
    }

    pub(super) fn open_another(&mut self, id: SessionId) {
        if id == *self.session.id() {
            self.tell(Ok("this is that session".into()));
        } else if self.leaves() {
            let (host, mode) = (Arc::clone(&self.host), self.mode());
            self.task(async move {
                let mode = ModeOnward::WindowOrPlan(mode.await);
                switched(host.open(id, None, mode).await)
            });
        }
    }

    /// Opens the session that a person calls so.
    pub(super) fn open_meant(&mut self, text: String) {
        if self.leaves() {
            let (host, shown) = (Arc::clone(&self.host), self.session.id().clone());
            let mode = self.mode();
            self.task(async move {
                let mode = ModeOnward::WindowOrPlan(mode.await);
                match host.find(text).await {
                    Ok(id) if id == shown => Done::Stayed("this is that session".into()),
                    Ok(id) => switched(host.open(id, None, mode).await),
                    Err(why) => Done::Stayed(why),
                }
            });
        }
    }

    /// Goes on with a new session that begins with what this one has.
    pub(super) fn fork(&mut self, at: Option<u32>) {
        if self.leaves() {
            let (host, shown) = (Arc::clone(&self.host), self.session.id().clone());
            let mode = self.mode();
            self.task(async move {
                let mode = ModeOnward::Window(mode.await);
                match host.fork(shown, at).await {
                    Ok(id) => switched(host.open(id, None, mode).await),
                    Err(why) => Done::Stayed(why),
                }
            });
        }
    }

    /// Looks first whether there is such a model: until then the session stays as it is.
    pub(super) fn ask_for_model(&mut self, name: String) {
        if self.leaves() {
            let named = self.host.model(name);
            self.task(named.map(|named| match named {
                Ok(model) => Done::Named(model),
                Err(why) => Done::Stayed(why),
            }));
        }
    }

    /// The mode that was chosen in this window, for another session: that plan mode was left by an answer
    /// was for this one alone.
    fn mode(&self) -> impl Future<Output = Mode> + Send + 'static {
        let (session, mode) = (self.session.clone(), self.app.settings().policy.mode);
        async move {
            let left = session.state().await.ok().and_then(|state| state.left_plan);
            if left == Some(mode) { Mode::Plan } else { mode }
        }
    }

    fn leaves(&mut self) -> bool {
        let begins = self.switching.begin();
        self.app.switches(true);
        if !begins {
            self.tell(Err("another session is being opened".into()));
        }
        begins
    }

    /// Opens the session that is shown once more, for another model.
    pub(super) async fn reopen(&mut self, model: String) -> io::Result<Flow> {
        if self.app.is_busy() {
            return self.stay("a turn runs; stop it first (Esc)".into()).await;
        }
        self.hear_outcomes().await?;
        if self.answers(&model).await {
            self.tell(Ok(format!("{model} answers already")));
            return self.stay_quietly().await;
        }
        let works = self.session.background().await.unwrap_or_default();
        if let Some(ends) = self.app.ends_with_it(&works)
            && !self.switching.is_warned(&model, &works)
        {
            let why = format!(
                "this would end what runs in the background: {ends}; the same once more does it"
            );
            return self.stay(why).await;
        }
        self.switching.is_closed = true;
        let (host, session) = (Arc::clone(&self.host), self.session.clone());
        // The session stays the same, and with it every answer that was given in it.
        let mode = ModeOnward::Window(self.app.settings().policy.mode);
        self.task(async move {
            let id = session.id().clone();
            // Its owner alone opens a session, so the one before has to let go of it.
            session.close().await;
            match host.open(id, Some(model), mode).await {
                Ok(session) => Done::Switched(session),
                Err(why) => Done::Lost(why),
            }
        });
        Ok(Flow::Stays)
    }

    /// What became of the turns whose end was seen: a turn's outcome comes a moment after its last event.
    async fn hear_outcomes(&mut self) -> io::Result<()> {
        while let Some(said) = self.turns.next().await {
            if let Some(said) = said {
                self.happen_boxed(said).await?;
            }
        }
        Ok(())
    }

    /// Whether this model was chosen, and none stands in for it.
    async fn answers(&self, model: &str) -> bool {
        let state = self.session.state().await;
        self.app.settings().model.name == model
            && state.is_ok_and(|state| state.settings.model.name == model)
    }

    /// Shows another session and closes the one before.
    pub(super) async fn switch(&mut self, session: Session) -> io::Result<Flow> {
        let (opened, cursor) = match opened(&session, !self.is_guest).await {
            Ok(opened) => opened,
            Err(error) => return self.stay(error.to_string()).await,
        };
        self.broke = None;
        self.switching.warned = None;
        let before = std::mem::replace(&mut self.session, session);
        self.cursor = cursor;
        self.turns = FuturesUnordered::new();
        self.asked.clear();
        before.close().await;
        let flow = self.happen(Happened::Opened(Box::new(opened))).await?;
        self.arrive().await?;
        Ok(flow)
    }

    /// There is no other session: this one goes on, unless it is closed.
    pub(super) async fn stay(&mut self, why: String) -> io::Result<Flow> {
        if self.switching.is_closed {
            return self.lose(why).await;
        }
        self.tell(Err(why));
        self.stay_quietly().await
    }

    async fn stay_quietly(&mut self) -> io::Result<Flow> {
        self.app.switches(false);
        self.arrive().await?;
        Ok(Flow::Stays)
    }

    /// The session that is shown is closed, and no other comes in its place.
    pub(super) async fn lose(&mut self, why: String) -> io::Result<Flow> {
        self.happen_boxed(Happened::Answered(Err(why.clone()))).await?;
        self.broke.get_or_insert(why);
        self.end().await
    }

    /// The session ended by itself: its journal cannot be written, or nobody knows why.
    pub(super) async fn break_off(&mut self) -> io::Result<Flow> {
        self.switching.is_closed = true;
        let mut why = self.app.failure().map(str::to_owned);
        // What became of all that was said is known by now.
        while let Some(said) = self.turns.next().await {
            let Some(said) = said else { continue };
            if let Happened::Said(_, TurnOutcome::Failed { message }) = &said {
                why.get_or_insert_with(|| message.clone());
            }
            self.happen_boxed(said).await?;
        }
        let is_told = why.is_some();
        let why = why.or_else(|| self.session.broke_off());
        let why = why.unwrap_or_else(|| "the session ended by itself".to_owned());
        match (self.switching.held.is_some(), is_told) {
            // Who goes to another session needs this one no more.
            (true, _) => Ok(Flow::Stays),
            (false, true) => {
                self.broke = Some(why);
                self.end().await
            }
            (false, false) => self.lose(why).await,
        }
    }

    /// There is no session any more: whoever writes goes on writing, also what was for the next one.
    pub(super) async fn end(&mut self) -> io::Result<Flow> {
        self.switching.is_closed = true;
        for submission in self.switching.held.take().into_iter().flatten().rev() {
            self.app.write_again(submission.draft);
        }
        // Its last words are not on the screen yet.
        self.draw()?;
        self.happen_boxed(Happened::Ended).await
    }

    async fn arrive(&mut self) -> io::Result<()> {
        self.switching.is_closed = false;
        for submission in self.switching.held.take().into_iter().flatten() {
            self.happen_boxed(Happened::Given(Box::new(submission))).await?;
        }
        Ok(())
    }
}

fn switched(session: Result<Session, String>) -> Done {
    match session {
        Ok(session) => Done::Switched(session),
        Err(why) => Done::Stayed(why),
    }
}

/// What is true of a session, and where its events go on from there; `is_left` tells whether nobody goes
/// on with its turn, if it is in one.
pub(super) async fn opened(session: &Session, is_left: bool) -> io::Result<(Opened, Cursor)> {
    let (view, cursor) = session.subscribe();
    let state = session.state().await.map_err(io::Error::other)?;
    let opened = Opened {
        waiting: waiting(&state),
        id: session.id().clone(),
        view,
        tokens: state.estimate(),
        is_unfinished: state.turn.is_some() && is_left,
        new_fork: state.forked.clone().filter(|origin| origin.at > state.turns),
        settings: state.settings,
    };
    Ok((opened, cursor))
}

/// The settings of a session that runs elsewhere, whose changes no event tells.
pub(super) async fn settings(session: Session) -> Done {
    session.state().await.map_or(Done::Nothing, |state| Done::Set(Box::new(state.settings)))
}

/// Whether they may be others since the last time.
pub(super) fn may_change_settings(seen: &Seen) -> bool {
    match seen {
        Seen::Event(envelope) => {
            matches!(envelope.event, Event::TurnStarted { .. } | Event::Notice { .. })
        }
        Seen::Resync(_) => true,
    }
}

/// What somebody said that waits.
pub(super) fn waiting(state: &State) -> Vec<(SteeringId, String)> {
    let said = state.steering.iter().filter(|queued| !queued.is_background);
    let text = |queued: &QueuedInput| {
        let texts: Vec<&str> = queued.input.blocks.iter().filter_map(Block::as_text).collect();
        let text = texts.join(" ");
        (queued.id.clone(), truncate_chars(&text, WAITING_CHARS_MAX).into_owned())
    };
    said.map(text).collect()
}
