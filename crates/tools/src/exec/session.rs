//! One command that runs on while calls come and go: a task of its own reads what it writes and
//! ends it when it is due.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{AgentPath, BoxFuture, Clock, Progress, SessionId, Timestamp, ToolContext};
use heeler_sandbox::{Bound, Child, InputStream, OutputStream, Terminal, TerminalSize};
use tokio::sync::watch;

use super::answer::{ExecAnswer, ExecStatus, code_of};
use super::judge::Script;
use super::screen::Screen;
use crate::bash::Capture;

/// How much of what nobody has read yet is kept, half from its beginning and half from its end.
pub const EXEC_OUTPUT_BYTES_MAX: usize = 32 * 1024;
/// How long a session lives that nobody uses.
pub const EXEC_IDLE_MILLIS_MAX: u64 = 30 * 60 * 1000;
/// How long one lives at most.
pub const EXEC_LIFE_MILLIS_MAX: u64 = 12 * 60 * 60 * 1000;

/// How long a command that is asked to end may take before it is killed.
pub(super) const END_MILLIS: u64 = 2_000;
/// How long output may still come after everything was killed.
const GRACE_MILLIS: u64 = 200;

/// Whose a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    session: SessionId,
    agent: AgentPath,
}

/// A session as calls see it. Dropping it kills what it runs.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) owner: Owner,
    pub(super) command: String,
    pub(super) started: Timestamp,
    pub(super) is_confined: bool,
    pub(super) input: tokio::sync::Mutex<Option<InputStream>>,
    terminal: Option<Terminal>,
    pub(super) shared: Arc<Shared>,
    /// Sends that it is to be killed, and how long it may take to end by itself before.
    kill: watch::Sender<u64>,
}

/// What calls and the task share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Counts what happened: output, the end, a use.
    pub(super) changes: watch::Sender<u64>,
}

/// How a session stands.
pub(super) struct State {
    pub(super) capture: Capture,
    screen: Option<Screen>,
    pub(super) status: ExecStatus,
    pub(super) exit_code: Option<i32>,
    pub(super) error: Option<String>,
    pub(super) used: Timestamp,
    pub(super) script: Script,
    /// What was judged: how much had been written before, and what was to be written.
    pub(super) judged: Vec<(usize, String)>,
    pub(super) n_writes: usize,
}

/// What a session is started with.
pub(super) struct Beginning {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) script: Script,
    pub(super) is_confined: bool,
    /// Says for as long as it runs that something runs on in the box.
    pub(super) in_box: Option<Arc<()>>,
    pub(super) timeout_millis: Option<u64>,
    pub(super) progress: Progress,
}

impl Owner {
    pub(super) fn of(context: &ToolContext) -> Self {
        Self { session: context.session.clone(), agent: context.agent.clone() }
    }

    /// Whether what this one owns is seen by another: itself, and who made it.
    pub(super) fn is_seen_by(&self, other: &Self) -> bool {
        self.session == other.session && self.agent.0.starts_with(&other.agent.0)
    }

    /// Whether both are of one conversation.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.session == other.session
    }
}

impl Session {
    pub(super) fn start(beginning: Beginning, mut child: Child, context: &ToolContext) -> Self {
        let Beginning { id, command, script, is_confined, in_box, timeout_millis, progress } =
            beginning;
        let started = context.clock.now();
        let terminal = child.terminal();
        let state = State {
            capture: Capture::new(EXEC_OUTPUT_BYTES_MAX, progress),
            screen: terminal.is_some().then(Screen::default),
            status: ExecStatus::Running,
            exit_code: None,
            error: None,
            used: started,
            script,
            judged: Vec::new(),
            n_writes: 0,
        };
        let changes = watch::Sender::new(0);
        let shared = Arc::new(Shared { state: Mutex::new(state), changes });
        let (kill, killed) = watch::channel(END_MILLIS);
        let input = tokio::sync::Mutex::new(child.take_input());
        let task = Task {
            output: child.take_output(),
            child,
            shared: Arc::clone(&shared),
            clock: Arc::clone(&context.clock),
            killed,
            _in_box: in_box,
            ends: started.plus(timeout_millis.unwrap_or(EXEC_LIFE_MILLIS_MAX)),
        };
        tokio::spawn(Box::pin(task.run()) as BoxFuture<()>);
        let owner = Owner::of(context);
        Self { id, owner, command, started, is_confined, input, terminal, shared, kill }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Notes that it is used now.
    pub(super) fn touch(&self, now: Timestamp) {
        self.state().used = now;
        self.shared.tell();
    }

    /// What happens from now on.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Has it killed if it does not end within so long when it is asked to; its status says when it
    /// has ended.
    pub(super) fn kill(&self, end_millis: u64) {
        self.kill.send_replace(end_millis);
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().status == ExecStatus::Running
    }

    /// Whether there is output that nobody was told.
    pub(super) fn has_output(&self) -> bool {
        !self.state().capture.is_empty()
    }

    pub(super) fn wants_application_keys(&self) -> bool {
        self.state().screen.as_ref().is_some_and(Screen::wants_application_keys)
    }

    pub(super) fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// The size of its terminal, if it has one.
    pub(super) fn size(&self) -> Option<TerminalSize> {
        self.terminal.as_ref()?.size().ok()
    }

    /// Changes the size of its terminal.
    pub(super) fn resize(&self, size: TerminalSize) -> Result<(), String> {
        let terminal = self.terminal.as_ref().ok_or_else(|| {
            format!("{} has no terminal; a session has one when run is called with pty", self.id)
        })?;
        terminal.resize(size).map_err(|error| format!("its terminal keeps its size: {error}"))
    }

    /// How it stands, without its output.
    pub(super) fn status(&self) -> ExecAnswer {
        let state = self.state();
        ExecAnswer {
            session_id: Some(self.id.clone()),
            status: Some(state.status),
            exit_code: state.exit_code,
            error: state.error.clone(),
            ..ExecAnswer::default()
        }
    }

    /// How it stands, and the output that nobody was told yet.
    pub(super) fn answer(&self) -> ExecAnswer {
        let answer = self.status();
        let mut state = self.state();
        let is_over = state.status != ExecStatus::Running;
        let output = if is_over { state.capture.take_rest() } else { state.capture.take() };
        ExecAnswer { output, ..answer }
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// Owns the command until its end.
struct Task {
    child: Child,
    output: Option<OutputStream>,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    killed: watch::Receiver<u64>,
    _in_box: Option<Arc<()>>,
    ends: Timestamp,
}

impl Task {
    async fn run(mut self) {
        let (status, exit_code, mut error) = self.follow().await;
        // Of a launcher that died nothing is left either.
        let killed = self.child.kill_tree().await.unwrap_or_default();
        self.drain().await;
        if killed.n_survivors > 0 {
            error = Some(format!("{} processes could not be stopped", killed.n_survivors));
        }
        let error = error.or_else(|| self.child.bound().map(Bound::to_string));
        let mut state = self.shared.state();
        (state.status, state.exit_code, state.error) = (status, exit_code, error);
        drop(state);
        self.shared.tell();
    }

    /// Reads until the command ends or has to.
    async fn follow(&mut self) -> (ExecStatus, Option<i32>, Option<String>) {
        let mut changes = self.shared.changes.subscribe();
        loop {
            let idle = self.shared.state().used.plus(EXEC_IDLE_MILLIS_MAX);
            tokio::select! {
                exit = self.child.wait() => {
                    self.drain().await;
                    return match exit {
                        Ok(exit) => (ExecStatus::Exited, Some(code_of(exit)), None),
                        Err(error) => (ExecStatus::Lost, None, Some(error.to_string())),
                    };
                }
                chunk = next(&mut self.output), if self.output.is_some() => self.keep(chunk),
                killed = self.killed.changed() => {
                    // Who dropped the session does not wait.
                    if killed.is_err() {
                        return (ExecStatus::Killed, None, None);
                    }
                    let millis = *self.killed.borrow_and_update();
                    return (ExecStatus::Killed, self.ask_to_end(millis).await, None);
                }
                () = self.clock.sleep_until(self.ends) => {
                    return (ExecStatus::TimedOut, self.ask_to_end(END_MILLIS).await, None);
                }
                () = self.clock.sleep_until(idle) => {
                    if self.shared.state().used.plus(EXEC_IDLE_MILLIS_MAX) <= self.clock.now() {
                        return (ExecStatus::Idle, self.ask_to_end(END_MILLIS).await, None);
                    }
                }
                _ = changes.changed() => {}
            }
        }
    }

    /// Gives the command a moment to end by itself, and reads what it says to that.
    async fn ask_to_end(&mut self, millis: u64) -> Option<i32> {
        self.child.ask_to_end();
        let mut deadline = self.clock.now().plus(millis);
        loop {
            tokio::select! {
                exit = self.child.wait() => return exit.ok().map(code_of),
                chunk = next(&mut self.output), if self.output.is_some() => self.keep(chunk),
                // Who waits for less now does not wait for what was begun before.
                Ok(()) = self.killed.changed() => {
                    let millis = *self.killed.borrow_and_update();
                    deadline = deadline.min(self.clock.now().plus(millis));
                }
                () = self.clock.sleep_until(deadline) => return None,
            }
        }
    }

    /// Reads what is left, for a moment at most.
    async fn drain(&mut self) {
        let deadline = self.clock.now().plus(GRACE_MILLIS);
        while self.output.is_some() {
            tokio::select! {
                biased;
                chunk = next(&mut self.output) => self.keep(chunk),
                () = self.clock.sleep_until(deadline) => return,
            }
        }
    }

    fn keep(&mut self, chunk: Option<Vec<u8>>) {
        // What cannot be read any more has nothing more for us.
        let Some(bytes) = chunk else { return self.output = None };
        let mut state = self.shared.state();
        match state.screen.as_mut().map(|screen| screen.read(&bytes)) {
            Some(text) if text.is_empty() => {}
            Some(text) => state.capture.push(&text),
            None => state.capture.push(&bytes),
        }
        drop(state);
        self.shared.tell();
    }
}

async fn next(output: &mut Option<OutputStream>) -> Option<Vec<u8>> {
    match output {
        Some(stream) => stream.chunk().await.ok().flatten(),
        None => None,
    }
}
