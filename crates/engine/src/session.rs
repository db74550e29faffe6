//! The handle to a session and the awaitable turn.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use heeler_core::{
    BoxFuture, CallId, Decision, Input, PermissionId, SessionHeader, SessionId, SessionName,
    Settings, SteeringId, StoreError, StoreErrorKind, TurnOutcome, View, truncate_chars,
};
use heeler_turn::State;
use heeler_turn::compact::FOCUS_CHARS_MAX;
use heeler_turn::state::BackgroundWork;
use tokio::sync::{mpsc, oneshot};

use crate::driver::{Command, Driver, Watched};
use crate::log::{CLOSED, Cursor, EventLog};
use crate::{Parts, Toolset};

/// The most commands that wait for the session's task; senders wait beyond it.
const COMMANDS_MAX: usize = 256;

/// A handle to one session; cheap to clone. When the last one is gone the session is closed: what
/// runs is cancelled and the lease given back. That takes a moment, in which nobody can open it: who
/// means to awaits [`Session::close`], which other handles do not keep from its end.
///
/// ```
/// # use std::sync::Arc;
/// # use heeler_core::{Input, Provider, TurnOutcome};
/// # use heeler_engine::{Parts, Session};
/// # async fn example(provider: Arc<dyn Provider>) -> Result<(), Box<dyn std::error::Error>> {
/// use heeler_store::FileStore;
///
/// let parts = Parts::new(provider, Arc::new(FileStore::open("/space/sessions")?));
/// let session = Session::create(parts, "/space/project").await?;
/// println!("{}", session.id());
/// let outcome = session.turn(Input::text("What is in this folder?")).await;
/// if outcome == TurnOutcome::Done {
///     let (view, _) = session.subscribe();
///     println!("{}", view.messages.last().map(|last| last.text()).unwrap_or_default());
/// }
/// session.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    /// Boxed, since a channel keeps room for many commands from the start.
    commands: mpsc::Sender<Box<Command>>,
    log: Arc<EventLog>,
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpenError(#[from] StoreError);

impl OpenError {
    /// Whether somebody owns the session: another process, or a handle of this one, also one that was
    /// dropped a moment ago. [`Session::close`] waits until it can be opened again.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.is_busy()
    }

    /// Whether there is no such session.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.is_not_found()
    }
}

/// The session's task is gone: it was closed, or ended by itself; [`Session::broke_off`] says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session is closed")]
pub struct SessionError;

/// Why a decision did not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// There is no such open request: somebody decided first, or the call is gone.
    #[error("there is no open request {0}: somebody decided it already, or its call ended")]
    NotOpen(PermissionId),
    /// It is none that this request can be answered with; the request stays open.
    #[error("the decision about {0} cannot be used: {1}; the request stays open")]
    Unusable(PermissionId, String),
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
}

impl Session {
    /// Makes a new session that works in `workspace`, an absolute path. It needs a tokio runtime with time
    /// (`enable_all`, or `enable_time`), in which its task runs.
    ///
    /// # Errors
    /// When the path is not absolute, or the store refuses.
    pub fn create(
        parts: Parts,
        workspace: &str,
    ) -> impl Future<Output = Result<Self, OpenError>> + Send + use<> {
        let created = parts.clock.now();
        let id = SessionId::mint(created, parts.entropy.as_ref());
        Self::create_with_id(parts, id, workspace)
    }

    /// As [`Session::create`], under an id of the caller's.
    ///
    /// # Errors
    /// When the path is not absolute, or the store refuses, for example because the id is taken.
    pub fn create_with_id(
        parts: Parts,
        id: SessionId,
        workspace: &str,
    ) -> impl Future<Output = Result<Self, OpenError>> + Send + use<> {
        let header = SessionHeader {
            id: id.clone(),
            created: parts.clock.now(),
            workspace: workspace.to_owned(),
        };
        // Tools and rules go by it, whatever folder the process is in later.
        let is_absolute = std::path::Path::new(workspace).has_root();
        let created = is_absolute.then(|| parts.store.create(header)).ok_or_else(|| {
            let text = format!("a session works in an absolute folder, and `{workspace}` is none");
            StoreError::new(StoreErrorKind::Io, text)
        });
        // Before it is asked for, or whoever awaits it keeps room for the parts as long as it runs.
        let opened = Self::open(parts, id);
        async move {
            created?.await?;
            opened.await
        }
    }

    /// Takes a session over: reads its journal, applies the crash rules, and waits for what comes.
    /// Nothing of an unfinished turn runs before [`Session::resume`] or [`Session::turn`].
    ///
    /// # Errors
    /// When it does not exist, another process owns it, or the store refuses.
    pub fn open(
        parts: Parts,
        id: SessionId,
    ) -> impl Future<Output = Result<Self, OpenError>> + Send + use<> {
        let (sender, receiver) = mpsc::channel(COMMANDS_MAX);
        // Boxed, so that whoever awaits this does not keep room for a driver and its journal.
        let opening = Box::pin(Driver::open(parts, id.clone(), receiver));
        async move {
            let driver = opening.await?;
            let log = driver.log();
            tokio::spawn(Box::pin(driver.run()) as BoxFuture<()>);
            Ok(Self { id, commands: sender, log })
        }
    }

    /// A handle whose commands go to somebody else than a driver.
    pub(crate) fn handle(
        id: SessionId,
        log: Arc<EventLog>,
    ) -> (Self, mpsc::Receiver<Box<Command>>) {
        let (commands, receiver) = mpsc::channel(COMMANDS_MAX);
        (Self { id, commands, log }, receiver)
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Starts a turn with this input; while one runs, the input waits for its end. The turn runs
    /// whether or not the result is polled, and is cancelled when it is dropped.
    #[must_use = "dropping a turn cancels it"]
    pub fn turn(&self, input: Input) -> Turn {
        self.start(Some(input))
    }

    /// Finishes the turn that an earlier process left, if there is one: the outcome is then its,
    /// else that of the last turn, `Done` when there never was one. A session that was given a
    /// conversation in which the user spoke last begins its first turn with that.
    #[must_use = "dropping a turn cancels it"]
    pub fn resume(&self) -> Turn {
        self.start(None)
    }

    fn start(&self, input: Option<Input>) -> Turn {
        let (done, end) = oneshot::channel();
        let command = Box::new(Command::Turn { input, done });
        let commands = self.commands.clone();
        // Sent from a task, so that starting a turn needs no await and never blocks.
        match commands.try_send(command) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(command)) => {
                let sending: BoxFuture<()> = Box::pin(async move {
                    // A session that has ended takes no turn, and says so where it is waited for.
                    let _ = commands.send(command).await;
                });
                tokio::spawn(sending);
            }
        }
        Turn { end, number: None }
    }

    /// Says something to the running turn: it is delivered before the next model call. With no turn
    /// running it starts one. `false` when something was said by this id before, in whatever process, or
    /// the input says nothing: then nothing is said. What is taken back while hooks hear it was said, and
    /// nothing of it is written; [`Event::SteeringTakenBack`](heeler_core::Event) tells of it.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn steer(&self, id: SteeringId, input: Input) -> Result<bool, SessionError> {
        self.ask(|done| Command::Steer { id, input, done }).await
    }

    /// Takes a steering input back. `false` when it was delivered already, or never queued.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn take_back(&self, id: SteeringId) -> Result<bool, SessionError> {
        self.ask(|done| Command::TakeBack { id, done }).await
    }

    /// The works of calls that go on in the background, oldest first.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn background(&self) -> Result<Vec<BackgroundWork>, SessionError> {
        Ok(self.state().await?.background)
    }

    /// Waits until the work of a call has ended and what it came to is written; returns at once when
    /// it does not run.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn wait_for_background(&self, call: CallId) -> Result<(), SessionError> {
        self.ask(|done| Command::AwaitBackground { call, done }).await
    }

    /// Cancels the work of a call: it is told, and the model is told that it was cancelled. `false`
    /// when it does not run.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn cancel_background(&self, call: CallId) -> Result<bool, SessionError> {
        self.ask(|done| Command::CancelBackground { call, done }).await
    }

    /// Answers a permission request; the first answer wins. `by` is written into the journal. A request
    /// waits, whether or not anybody watches, until it is decided here, by an approver or by
    /// [`Parts::permission_expiry_millis`], or its call is cancelled; those that are open stand in the
    /// view's `permissions`.
    ///
    /// # Errors
    /// When the request is not open any more, the decision cannot be used (an edited input that does
    /// not fit its tool), or the session is closed.
    pub async fn decide(
        &self,
        id: PermissionId,
        decision: Decision,
        by: &str,
    ) -> Result<(), DecideError> {
        let by = by.to_owned();
        self.ask(|done| Command::Decide { id, decision, by, done })
            .await
            .unwrap_or(Err(DecideError::Closed))
    }

    /// Stops the running turn. Its awaitable ends with `Cancelled`. What waits to be said begins the
    /// next one; see [`Session::stop`].
    pub async fn cancel(&self) {
        // A closed session has nothing left to cancel.
        let _ = self.ask(|done| Command::Cancel { done }).await;
    }

    /// Stops the running turn for a process that is about to end, and lets nothing begin any more: what
    /// waits is the next process's, as after [`Session::close`]. Until then the session answers: a turn
    /// ends at once as `Cancelled`, and words are refused as by a closed session.
    pub async fn halt(&self) {
        // A closed session has nothing left to stop.
        let _ = self.ask(|done| Command::Halt { done }).await;
    }

    /// Stops the running turn for a person who wants nothing more to happen: as [`Session::cancel`], and
    /// what waits to be said is taken back, whoever said it. Turns that wait for this one begin. `false`
    /// when there was nothing: no turn, nor one whose input hooks still hear, no compaction, no words.
    ///
    /// # Errors
    /// When the session is closed, or was before anything was stopped.
    pub async fn stop(&self) -> Result<bool, SessionError> {
        self.ask(|done| Command::Stop { done }).await
    }

    /// Replaces the conversation's head by a summary, as soon as no model call runs. `focus` is what
    /// the summary is to look at above all, in words of a person; of more than
    /// [`FOCUS_CHARS_MAX`] characters the beginning counts. A summary that is being made serves whoever
    /// has none; with one, another is made after it. `false` when there is too little to summarize, it
    /// failed, or was cancelled; the events say why.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn compact(&self, focus: Option<&str>) -> Result<bool, SessionError> {
        let focus = focus.map(str::trim).filter(|focus| !focus.is_empty());
        let focus = focus.map(|focus| truncate_chars(focus, FOCUS_CHARS_MAX).into());
        self.ask(|done| Command::Compact { focus, done }).await
    }

    /// Puts back what the last summary, cut or pruning replaced, before all that was said since.
    /// Waits for the end of the model call, batch or compaction that runs. `false` when there is
    /// nothing to put back or it does not fit; a notice says why.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn undo_compaction(&self) -> Result<bool, SessionError> {
        self.ask(|done| Command::UndoCompaction { done }).await
    }

    /// Replaces the system prompt from the next model call on.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn set_system(&self, system: impl Into<String>) -> Result<(), SessionError> {
        let system = system.into();
        self.ask(|done| Command::SetSystem { system, done }).await
    }

    /// Replaces the tools from the next model call on.
    ///
    /// # Errors
    /// When the session is closed.
    pub async fn set_tools(&self, tools: Toolset) -> Result<(), SessionError> {
        self.ask(|done| Command::SetTools { tools, done }).await
    }

    /// Replaces the settings from here on. While a [`Fallback`](crate::Fallback) answers, to name it
    /// or the chosen model changes neither which of them answers nor which is the chosen one.
    ///
    /// # Errors
    /// When the session is closed or the journal cannot be written.
    pub async fn set_settings(&self, settings: Settings) -> Result<(), SessionError> {
        self.ask(|done| Command::SetSettings { settings: Box::new(settings), done }).await
    }

    /// Names the session for whoever looks for it, or takes its name away.
    ///
    /// # Errors
    /// When the session is closed or the journal cannot be written.
    pub async fn rename(&self, name: Option<SessionName>) -> Result<(), SessionError> {
        self.ask(|done| Command::Rename { name, done }).await
    }

    /// The view now and a cursor to follow it from there.
    #[must_use]
    pub fn subscribe(&self) -> (View, Cursor) {
        self.log.subscribe()
    }

    /// A snapshot of the machine's whole state; copies pointers only. For what is built beside the
    /// engine: others look at the [`View`] of [`Session::subscribe`], which is a promise.
    ///
    /// # Errors
    /// When the session is closed.
    #[doc(hidden)]
    pub async fn state(&self) -> Result<State, SessionError> {
        Ok(*self.ask(|done| Command::State { done }).await?)
    }

    /// The view after the last record, which record that is, and a cursor from there. For what shows
    /// the session in another process; others use [`Session::subscribe`].
    ///
    /// # Errors
    /// When the session is closed.
    #[doc(hidden)]
    pub async fn watch(&self) -> Result<Watched, SessionError> {
        self.ask(|done| Command::Watch { done }).await
    }

    /// Resolves once the session is closed and its lease given back.
    #[doc(hidden)]
    pub async fn closed(&self) {
        self.commands.closed().await;
    }

    /// Why the session ended by itself, once it has: its journal could not be written, something that was
    /// handed to it crashed, or its runtime was shut down.
    #[must_use]
    pub fn broke_off(&self) -> Option<String> {
        self.log.broke()
    }

    /// Closes the session, whoever else has a handle: cancels what runs, syncs the journal and gives the
    /// lease back. Then it can be opened again.
    pub async fn close(self) {
        let _ = self.ask(|done| Command::Close { done }).await;
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, SessionError> {
        let (done, answer) = oneshot::channel();
        self.commands.send(Box::new(command(done))).await.map_err(|_| SessionError)?;
        answer.await.map_err(|_| SessionError)
    }
}

/// A running turn: resolves to its outcome, the same that its terminal event carries. Dropping it
/// cancels the turn.
pub struct Turn {
    /// The task sees that it is dropped.
    end: oneshot::Receiver<TurnEnd>,
    number: Option<u32>,
}

/// How a turn ended, and its number where one was begun.
#[doc(hidden)]
pub struct TurnEnd {
    pub outcome: TurnOutcome,
    pub number: Option<u32>,
}

impl From<TurnOutcome> for TurnEnd {
    fn from(outcome: TurnOutcome) -> Self {
        Self { outcome, number: None }
    }
}

impl Turn {
    /// Which turn of the session it was, once that has ended: `None` where the input came to no turn,
    /// as one that a hook refused or that was cancelled while it waited, and for a guest of the session.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.number
    }
}

impl Future for Turn {
    type Output = TurnOutcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<TurnOutcome> {
        Pin::new(&mut self.end).poll(context).map(|end| {
            let closed = |_| TurnOutcome::Failed { message: CLOSED.into() };
            let TurnEnd { outcome, number } = end.unwrap_or_else(|gone| closed(gone).into());
            self.number = number;
            outcome
        })
    }
}
