//! `exec`: programs that run on while the model does something else, and that it talks to.
//!
//! Read in this order: `answer` (what every action gives), this file, `session` (one program, and
//! the task that follows it), `sessions`, `wait` (for how long a call does), `background` (whose
//! end is told later), then `judge` (why what is written to a program is no way
//! around the rules), `screen` and `keys` (a terminal, from its other side).
//!
//! Programs start as those of `Bash` do, with the same launcher, environment and box, and end with
//! heeler, whatever ends that.

mod answer;
mod background;
mod judge;
mod keys;
mod screen;
mod session;
mod sessions;
mod wait;

use std::collections::BTreeMap;
use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, Progress, Resource, ShellLine, ToolContext, ToolError, ToolOutput,
    TypedTool,
};
use heeler_sandbox::{Command, Input, Streams, TerminalSize};
use heeler_shell::Place;
use schemars::JsonSchema;
use serde::Deserialize;

pub use answer::{ExecAnswer, ExecSessionInfo, ExecStatus};
pub use background::EXEC_TAIL_BYTES_MAX;
use judge::{Runs, Script, Setup};
use session::{Beginning, END_MILLIS, Owner, Session};
pub use session::{EXEC_IDLE_MILLIS_MAX, EXEC_LIFE_MILLIS_MAX, EXEC_OUTPUT_BYTES_MAX};
pub use sessions::EXEC_SESSIONS_MAX;
use sessions::Sessions;
use wait::{follow, until_end, until_quiet};

use crate::bash::{Bash, Commands, ask_to_leave};
use crate::{BASH_COMMAND_BYTES_MAX, BASH_TIMEOUT_MILLIS_DEFAULT, BASH_TIMEOUT_MILLIS_MAX};

/// How much is written at once.
pub const EXEC_DATA_BYTES_MAX: usize = 16 * 1024;
/// How many variables a command is given.
pub const EXEC_VARIABLES_MAX: usize = 64;
/// How long an answer waits for output when the model says nothing.
const WAIT_MILLIS_DEFAULT: u64 = 1_000;
/// What stopping takes at most on top of a timeout.
const STOP_MILLIS_MAX: u64 = 10_000;
/// How many judged inputs a session remembers.
const JUDGED_MAX: usize = 64;
/// How large a terminal is when the model says nothing.
const SIZE_DEFAULT: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// The tool.
pub struct Exec {
    commands: Arc<Commands>,
    sessions: Sessions,
    description: String,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ExecInput {
    /// What to do.
    pub action: ExecAction,
    /// run: the command line.
    pub command: Option<String>,
    /// The session; for all but run and list.
    pub session_id: Option<String>,
    /// write: text; end a line with \n.
    pub data: Option<String>,
    /// send-keys: names such as `up, enter, ctrl-c, f1, q`.
    pub keys: Option<String>,
    /// run: on a terminal.
    pub pty: Option<bool>,
    /// run: answer at once and go on.
    pub background: Option<bool>,
    /// Milliseconds. run: it is stopped then. Else: how long to wait for output, with poll for the end.
    pub timeout: Option<u64>,
    /// run: variables besides the usual ones.
    pub env: Option<BTreeMap<String, String>>,
    /// run: folder to start in.
    pub cwd: Option<String>,
    /// Rows of the terminal, from now on.
    pub rows: Option<u16>,
    /// Its columns, from now on.
    pub columns: Option<u16>,
    /// run: ask the user to let it run outside of the sandbox.
    #[serde(rename = "outside_sandbox")]
    pub outside_sandbox: Option<bool>,
}

/// What to do with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they are said in the description of the tool")]
pub enum ExecAction {
    Run,
    List,
    Poll,
    Read,
    Write,
    SendKeys,
    Kill,
}

impl Exec {
    /// Runs commands as `bash` does: with its launcher and environment, and in its box.
    #[must_use]
    pub fn new(bash: &Bash) -> Self {
        Self {
            commands: bash.commands(),
            sessions: Sessions::default(),
            description: format!(
                "Runs programs that you talk to or that go on in the background. run starts one: \
                 with background you are told of its end when it comes, without it waits for the \
                 end, at most {BASH_TIMEOUT_MILLIS_DEFAULT} ms unless timeout says otherwise; write \
                 and send-keys give it input and answer with what it says; read \
                 gives output not yet read, of much its beginning and end; poll tells how it is; \
                 list; kill. A session ends after {} minutes without use. For a command that just \
                 ends use Bash.",
                EXEC_IDLE_MILLIS_MAX / 60_000
            ),
        }
    }

    async fn act(&self, context: ToolContext, input: ExecInput) -> Result<ExecAnswer, String> {
        has_its_own_alone(&input)?;
        if input.action == ExecAction::Run {
            return self.run(context, input).await;
        }
        let owner = Owner::of(&context);
        if input.action == ExecAction::List {
            return Ok(self.list(&owner, &context));
        }
        let session = self.session(&owner, input.session_id.as_deref())?;
        session.touch(context.clock.now());
        if input.rows.is_some() || input.columns.is_some() {
            session.resize(size_of(&input, session.size().unwrap_or(SIZE_DEFAULT)))?;
        }
        let wait_millis =
            input.timeout.map_or(WAIT_MILLIS_DEFAULT, |asked| asked.min(BASH_TIMEOUT_MILLIS_MAX));
        match input.action {
            ExecAction::Poll => {
                if input.timeout.is_some() {
                    until_end(&session, &context, wait_millis).await;
                }
                Ok(session.status())
            }
            ExecAction::Kill => {
                session.kill(END_MILLIS);
                until_end(&session, &context, STOP_MILLIS_MAX).await;
                Ok(session.answer())
            }
            ExecAction::Write | ExecAction::SendKeys => {
                let data = data_of(&input, &session)?;
                let refused = self.send(&session, &context, &data, wait_millis).await?;
                until_quiet(&session, &context, wait_millis).await;
                let answer = session.answer();
                Ok(ExecAnswer { error: refused.or(answer.error), ..answer })
            }
            ExecAction::Run | ExecAction::List | ExecAction::Read => {
                until_quiet(&session, &context, wait_millis).await;
                Ok(session.answer())
            }
        }
    }

    /// Starts a command; in the foreground, follows it to its end.
    async fn run(&self, context: ToolContext, input: ExecInput) -> Result<ExecAnswer, String> {
        let command = input.command.as_deref().ok_or("run needs a command")?;
        if command.len() > BASH_COMMAND_BYTES_MAX {
            return Err(format!("the command is longer than {BASH_COMMAND_BYTES_MAX} bytes"));
        }
        let variables = variables(&input)?;
        let owner = Owner::of(&context);
        let is_background = input.background == Some(true);
        // Kept until it is filled: others begin beside this one.
        let place = match is_background {
            true => Some(self.sessions.reserve(&owner)?),
            false => self.sessions.has_room(&owner).map(|()| None)?,
        };
        let process = self.process(&context, &input, command, &variables)?;
        if context.cancel.is_cancelled() {
            return Err("cancelled before it started".to_owned());
        }
        // Not given up half-way: nobody could tell then whether it had begun.
        let child =
            self.commands.launcher.run(&process).await.map_err(|error| error.to_string())?;
        let setup = Setup::new(input.cwd.as_deref(), &variables);
        let has_terminal = input.pty == Some(true);
        let runs = Runs { is_confined: context.confined, has_terminal };
        let workspace = context.workspace.to_string_lossy();
        let script =
            self.commands.read(&workspace, |place| Script::new(&setup, command, runs, place));
        let timeout_millis = match (is_background, input.timeout.filter(|millis| *millis > 0)) {
            (true, asked) => asked.map(|millis| millis.min(EXEC_LIFE_MILLIS_MAX)),
            (false, asked) => {
                Some(asked.unwrap_or(BASH_TIMEOUT_MILLIS_DEFAULT).min(BASH_TIMEOUT_MILLIS_MAX))
            }
        };
        let progress = if is_background { Progress::nowhere() } else { context.progress.clone() };
        let beginning = Beginning {
            id: self.sessions.name(),
            command: command.to_owned(),
            script,
            is_confined: context.confined,
            in_box: context.confined.then(|| self.commands.in_box()),
            timeout_millis,
            progress,
        };
        let session = Arc::new(Session::start(beginning, child, &context));
        if let Some(place) = place {
            place.fill(Arc::clone(&session), context.clock.now());
            if let Some(completion) = context.background.take() {
                background::tell_end(&session, completion);
            }
            until_quiet(&session, &context, WAIT_MILLIS_DEFAULT).await;
            return Ok(session.answer());
        }
        Ok(follow(&session, &context).await)
    }

    /// The process of a command, and what it reads and writes.
    fn process(
        &self,
        context: &ToolContext,
        input: &ExecInput,
        command: &str,
        variables: &[(String, String)],
    ) -> Result<Command, String> {
        let confinement =
            self.commands.confinement_of(context).map_err(|error| error.to_string())?;
        let folder = match &input.cwd {
            Some(folder) => context.workspace.join(folder),
            None => context.workspace.clone(),
        };
        let mut process = self.commands.line(&folder, command, confinement);
        if input.pty == Some(true) {
            process.env.retain(|(name, _)| name != "TERM");
            process.env.push(("TERM".into(), "xterm".into()));
            process = process.streams(Streams::Terminal(size_of(input, SIZE_DEFAULT)));
        } else if input.background == Some(true) {
            process = process.input(Input::Pipe);
        }
        process.env.extend(variables.iter().cloned());
        Ok(process)
    }

    fn list(&self, owner: &Owner, context: &ToolContext) -> ExecAnswer {
        let now = context.clock.now();
        let info = |session: Arc<Session>| ExecSessionInfo {
            session_id: session.id.clone(),
            command: session.command.clone(),
            status: session.state().status,
            age_millis: now.since(session.started),
        };
        ExecAnswer {
            sessions: self.sessions.seen_by(owner).map(info).collect(),
            ..ExecAnswer::default()
        }
    }

    /// The session of this name, if this owner may know of it.
    fn session(&self, owner: &Owner, id: Option<&str>) -> Result<Arc<Session>, String> {
        let id = id.ok_or("this action needs a sessionId; list tells which there are")?;
        let found = self.sessions.named(id).filter(|session| session.owner.is_seen_by(owner));
        found.ok_or_else(|| {
            format!("there is no session {id}: it was closed, or ended with an earlier heeler; list tells which there are")
        })
    }

    /// Writes what was judged; tells what was not taken.
    async fn send(
        &self,
        session: &Session,
        context: &ToolContext,
        data: &str,
        millis: u64,
    ) -> Result<Option<String>, String> {
        if context.confined && !session.is_confined {
            return Err("the session runs outside of the sandbox, and this call may not".to_owned());
        }
        let mut input = session.input.lock().await;
        {
            let mut state = session.state();
            let judged = (state.n_writes, data.to_owned());
            if !state.judged.contains(&judged) {
                return Err(
                    "other input was sent since this was asked for; send it again".to_owned()
                );
            }
            state.judged.clear();
            state.n_writes += 1;
            let workspace = context.workspace.to_string_lossy();
            self.commands.read(&workspace, |place| state.script.write(data, place));
        }
        let has_terminal = session.has_terminal();
        if !has_terminal && data == "\x04" {
            // On a pipe the key that ends input is its end.
            *input = None;
            session.state().script.arrived();
            return Ok(None);
        }
        let Some(stream) = input.as_mut().filter(|_| session.is_running()) else {
            return Err(format!("{} takes no input any more", session.id));
        };
        let deadline = context.clock.now().plus(millis.max(WAIT_MILLIS_DEFAULT));
        let mut left = data.as_bytes();
        while !left.is_empty() {
            let n_sent = tokio::select! {
                sent = stream.send_some(left) => sent.map_err(|error| format!("it takes no input: {error}"))?,
                () = context.clock.sleep_until(deadline) => {
                    return Ok(Some(format!(
                        "it does not read: {} of {} bytes were not taken",
                        left.len(),
                        data.len()
                    )));
                }
                () = context.cancel.cancelled() => return Err("cancelled".to_owned()),
            };
            left = left.get(n_sent..).unwrap_or_default();
        }
        session.state().script.arrived();
        Ok(None)
    }

    /// What the call would do, by the line that does the same at once.
    fn judged(&self, input: &ExecInput, place: &Place<'_>) -> Option<ShellLine> {
        if input.action == ExecAction::Run {
            let has_input = input.pty == Some(true) || input.background == Some(true);
            let setup = Setup::new(input.cwd.as_deref(), &variables(input).ok()?);
            let mut line = judge::start(&setup, input.command.as_deref()?, has_input, place);
            if input.outside_sandbox == Some(true) {
                ask_to_leave(&mut line);
            }
            return Some(line);
        }
        let session = self.sessions.named(input.session_id.as_deref()?)?;
        if !matches!(input.action, ExecAction::Write | ExecAction::SendKeys) {
            return None;
        }
        let data = data_of(input, &session).ok()?;
        let mut state = session.state();
        let line = state.script.line(&data, place);
        // What is written is only what was judged, after what it was judged after.
        let judged = (state.n_writes, data);
        state.judged.push(judged);
        let n_over = state.judged.len().saturating_sub(JUDGED_MAX);
        state.judged.drain(..n_over);
        Some(line)
    }
}

impl TypedTool for Exec {
    type Input = ExecInput;

    fn name(&self) -> &str {
        "exec"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        let timeout_millis = BASH_TIMEOUT_MILLIS_MAX + 2 * STOP_MILLIS_MAX;
        // The index of the repository is looked at, and what was written before.
        Metadata { timeout_millis, facts_change: true, ..Metadata::default() }
    }

    fn facts(&self, input: &Self::Input, workspace: &str) -> Facts {
        let line = self.commands.read(workspace, |place| self.judged(input, place));
        let mut facts = line.map(|line| self.commands.facts(line, workspace)).unwrap_or_default();
        let key = input.session_id.as_ref().map(|id| format!("exec:{id}"));
        facts.resources.extend(key.map(|key| Resource { key, write: true }));
        facts.replay_safe = matches!(input.action, ExecAction::List | ExecAction::Poll);
        facts
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: Self::Input,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let is_followed = input.action == ExecAction::Run && input.background != Some(true);
            let session_id = input.session_id.clone();
            let background = context.background.clone();
            let answer = self.act(context, input).await.unwrap_or_else(|error| ExecAnswer {
                session_id,
                error: Some(error),
                ..ExecAnswer::default()
            });
            let is_failed = is_followed && answer.exit_code != Some(0);
            let goes_on = answer.status == Some(ExecStatus::Running) && background.is_taken();
            let mut output = answer.into_output();
            output.is_error |= is_failed;
            output.is_background = goes_on && !output.is_error;
            Ok(output)
        })
    }
}

/// Refuses what another action takes: who looks at the call would take it for what is done.
fn has_its_own_alone(input: &ExecInput) -> Result<(), String> {
    let fields = [
        ("command", "run", ExecAction::Run, &input.command),
        ("data", "write", ExecAction::Write, &input.data),
        ("keys", "send-keys", ExecAction::SendKeys, &input.keys),
    ];
    let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let misfit = fields.iter().find(|(.., action, text)| *action != input.action && is_given(text));
    misfit.map_or(Ok(()), |(field, action, ..)| {
        Err(format!("{field} is for {action} alone; leave it out, nothing was done"))
    })
}

/// What a call writes.
fn data_of(input: &ExecInput, session: &Session) -> Result<String, String> {
    let data = match input.action {
        ExecAction::SendKeys => {
            let names = input.keys.as_deref().ok_or("send-keys needs keys")?;
            let bytes = keys::keys(names, session.wants_application_keys())?;
            String::from_utf8(bytes).map_err(|error| error.to_string())?
        }
        _ => input.data.clone().ok_or("write needs data")?,
    };
    if data.is_empty() || data.len() > EXEC_DATA_BYTES_MAX {
        return Err(format!("{} bytes; give 1 to {EXEC_DATA_BYTES_MAX} at once", data.len()));
    }
    Ok(data)
}

/// The variables of a call, if their names are such.
fn variables(input: &ExecInput) -> Result<Vec<(String, String)>, String> {
    let Some(variables) = &input.env else { return Ok(Vec::new()) };
    if variables.len() > EXEC_VARIABLES_MAX {
        return Err(format!("env has {} variables; at most {EXEC_VARIABLES_MAX}", variables.len()));
    }
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some(name) = variables.keys().find(|name| !is_name(name)) {
        return Err(format!("`{name}` is no name of a variable"));
    }
    if let Some((name, _)) = variables.iter().find(|(_, value)| value.contains('\0')) {
        return Err(format!("the value of {name} holds a zero byte"));
    }
    Ok(variables.clone().into_iter().collect())
}

/// The size that a call asks for; what it leaves out is as in `size`.
fn size_of(input: &ExecInput, size: TerminalSize) -> TerminalSize {
    let (rows, columns) = (input.rows.unwrap_or(size.rows), input.columns.unwrap_or(size.columns));
    TerminalSize { rows: rows.max(1), columns: columns.max(1) }
}
