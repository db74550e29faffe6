//! `Bash`: one shell command, its output as it came, and nothing of it left running.

mod boxed;
mod capture;
mod commands;
mod environment;
mod gitlinks;
mod line;
mod progress;
mod spare;
mod temp;

use std::path::Path;
use std::sync::Arc;

use heeler_core::{
    BoxFuture, Clock, Facts, Metadata, Policy, ToolContext, ToolError, ToolOutput, TypedTool,
};
use heeler_sandbox::{
    Child, Confinement, Confines, Exit, Killed, Launcher, LauncherError, OutputStream,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use capture::Capture;
pub(crate) use commands::Commands;
use commands::only_looks;
pub use environment::allowed_environment;
pub(crate) use gitlinks::heed_gitlinks;
pub(crate) use line::{ask_to_leave, quoted, read as read_line};
use spare::Spare;
pub use temp::PrivateTemp;

/// How long a command may run when the model says nothing.
pub const BASH_TIMEOUT_MILLIS_DEFAULT: u64 = 120_000;
/// How long it may run at most.
pub const BASH_TIMEOUT_MILLIS_MAX: u64 = 600_000;
/// The longest command; Linux takes no longer argument.
pub const BASH_COMMAND_BYTES_MAX: usize = 128 * 1024 - 1;
/// How much output is kept, half from its beginning and half from its end. What of it the model
/// sees is bounded again, for every tool alike.
pub const BASH_OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long output may still come after the shell ended, or after everything was killed.
const GRACE_MILLIS: u64 = 200;
/// What stopping takes at most on top of a timeout.
const STOP_MILLIS_MAX: u64 = 10_000;

/// The tool.
pub struct Bash {
    commands: Arc<Commands>,
    spare: Spare,
    description: String,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashInput {
    /// Command line to run.
    pub command: String,
    /// Milliseconds after which it is stopped.
    pub timeout: Option<u64>,
    /// What it does, in a few words.
    pub description: Option<String>,
    /// Ask the user to let it run outside of the sandbox; only for what failed because of it.
    pub outside_sandbox: Option<bool>,
}

impl Bash {
    /// Runs commands through `launcher`, which see `environment` and no other, but for a setting of
    /// git by which it takes no folder for a repository that only looks like one.
    /// [`allowed_environment`] picks it from ours.
    #[must_use]
    pub fn new(launcher: Launcher, environment: Vec<(String, String)>) -> Self {
        Self {
            commands: Arc::new(Commands::new(launcher, environment)),
            spare: Spare::default(),
            description: format!(
                "Runs a command line in the workspace with bash (sh where there is none) and \
                 gives its standard output and error as they came, then the exit code unless it \
                 is 0. Each call is a new shell: directory and variables do not carry over. There \
                 is no input and no terminal. It is stopped after {BASH_TIMEOUT_MILLIS_DEFAULT} \
                 ms, or after timeout, at most {BASH_TIMEOUT_MILLIS_MAX} ms. What it leaves \
                 running in the background is stopped when it ends. Prefer the other tools to \
                 read, search and change files."
            ),
        }
    }

    /// Confines the commands that have to stay in a box, in this one. Its temporary folder is that
    /// of every command, and lives as long as the tool.
    #[must_use]
    pub fn confined_by(mut self, confines: Arc<Confines>, temp: PrivateTemp) -> Self {
        self.commands = Arc::new(self.commands.confined_by(confines, temp));
        self
    }

    /// How its commands start, for a tool that starts them in the same way.
    pub(crate) fn commands(&self) -> Arc<Commands> {
        Arc::clone(&self.commands)
    }

    /// Starts what the first call in this folder needs, so that it need not wait then. A failure is
    /// told by that call, which tries again.
    pub fn warm(&self, workspace: &Path) {
        self.warm_as(workspace, Confinement::None);
    }

    /// The same for a first call that has to stay in the box, as a run with this policy makes it.
    pub fn warm_in_box(&self, workspace: &Path, policy: &Policy) {
        let confinement = match only_looks(policy) {
            true => self.commands.confinement_to_look(),
            false => self.commands.confinement(workspace),
        };
        let confinement = confinement.unwrap_or_default();
        if let Confinement::Box(confines) = &confinement {
            self.commands.launcher.make_box_ahead(confines);
        }
        self.warm_as(workspace, confinement);
    }

    fn warm_as(&self, workspace: &Path, confinement: Confinement) {
        let command = self.commands.shell(workspace, confinement);
        self.spare.start(&self.commands.launcher, command);
    }

    async fn run(
        &self,
        context: ToolContext,
        input: BashInput,
        confinement: Confinement,
    ) -> Result<ToolOutput, ToolError> {
        let length = input.command.len();
        if length > BASH_COMMAND_BYTES_MAX {
            return Err(ToolError::ForModel(format!(
                "the command is {length} bytes long and at most {BASH_COMMAND_BYTES_MAX} fit; \
                 write it to a file and run that"
            )));
        }
        let timeout = timeout_millis(input.timeout);
        let deadline = context.clock.now().plus(timeout);
        let mut child = tokio::select! {
            child = self.start(&context.workspace, &input.command, confinement) => {
                child.map_err(for_model)?
            }
            () = context.cancel.cancelled() => {
                return Ok(ToolOutput::error("[cancelled as it was started: it was stopped]"));
            }
        };
        let mut output = child.take_output();
        let mut capture = Capture::new(BASH_OUTPUT_BYTES_MAX, context.progress.clone());
        let end = tokio::select! {
            exit = follow(&mut child, &mut output, &mut capture, &*context.clock) => {
                exit.map_or_else(End::Lost, End::Exited)
            }
            () = context.cancel.cancelled() => End::Cancelled,
            () = context.clock.sleep_until(deadline) => End::TimedOut { millis: timeout },
        };
        // Of a launcher that died nothing is left either.
        let killed = child.kill_tree().await.unwrap_or_default();
        drain(&mut output, &mut capture, &*context.clock).await;
        let lost = lost(capture.n_left_out());
        let text = capture.into_text();
        let about_box = context
            .confined
            .then(|| boxed::notes(&text, &end, &child, only_looks(&context.permission.policy)));
        let notes = lost.into_iter().chain(about_box.unwrap_or_default()).collect();
        Ok(report(text, &end, killed, notes))
    }

    async fn start(
        &self,
        workspace: &Path,
        line: &str,
        confinement: Confinement,
    ) -> Result<Child, LauncherError> {
        if let Some(child) = self.spare.run(workspace, line, &confinement).await {
            return Ok(child);
        }
        let command = self.commands.line(workspace, line, confinement);
        self.commands.launcher.run(&command).await
    }
}

impl TypedTool for Bash {
    type Input = BashInput;

    fn name(&self) -> &str {
        "Bash"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        // Past our own limit, which ends with what the command had.
        let timeout_millis = BASH_TIMEOUT_MILLIS_MAX + STOP_MILLIS_MAX;
        // The index of the repository is looked at.
        Metadata { timeout_millis, facts_change: true, ..Metadata::default() }
    }

    fn facts(&self, input: &Self::Input, workspace: &str) -> Facts {
        // Commands of one reply run side by side, but for git that looks at files.
        let line = self.commands.read(workspace, |place| line::judged(input, place));
        self.commands.facts(line, workspace)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: Self::Input,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let workspace = context.workspace.clone();
            let confinement = self.commands.confinement_of(&context)?;
            let output = self.run(context, input, confinement.clone()).await?;
            // Whoever calls once calls again, and mostly alike.
            self.warm_as(&workspace, confinement);
            Ok(output)
        })
    }
}

/// How a command came to its end.
enum End {
    Exited(Exit),
    TimedOut { millis: u64 },
    Cancelled,
    Lost(LauncherError),
}

/// A model that writes 0 means no limit of its own.
fn timeout_millis(asked: Option<u64>) -> u64 {
    let asked = asked.filter(|millis| *millis > 0).unwrap_or(BASH_TIMEOUT_MILLIS_DEFAULT);
    asked.min(BASH_TIMEOUT_MILLIS_MAX)
}

/// Reads until the shell ended and the output too; a background process that keeps the output
/// open is given a moment only.
async fn follow(
    child: &mut Child,
    output: &mut Option<OutputStream>,
    capture: &mut Capture,
    clock: &dyn Clock,
) -> Result<Exit, LauncherError> {
    let exit = loop {
        tokio::select! {
            exit = child.wait() => break exit?,
            () = read(output, capture), if output.is_some() => {}
        }
    };
    drain(output, capture, clock).await;
    Ok(exit)
}

/// Reads what is left, for a moment at most.
async fn drain(output: &mut Option<OutputStream>, capture: &mut Capture, clock: &dyn Clock) {
    let deadline = clock.now().plus(GRACE_MILLIS);
    let read_all = async {
        while output.is_some() {
            read(output, capture).await;
        }
    };
    tokio::select! {
        // First, so that what is there is read even where time does not pass.
        biased;
        () = read_all => {}
        () = clock.sleep_until(deadline) => {}
    }
}

/// Reads once; forgets the output at its end.
async fn read(output: &mut Option<OutputStream>, capture: &mut Capture) {
    let Some(stream) = output else { return };
    match stream.chunk().await {
        Ok(Some(bytes)) => capture.push(&bytes),
        // A pipe that cannot be read has nothing more for us.
        Ok(None) | Err(_) => *output = None,
    }
}

/// What is said of an output that was not kept whole: at its end, where it is seen also when all of it
/// is in a file and only a part is shown.
fn lost(n_left_out: usize) -> Option<String> {
    let half_mib = BASH_OUTPUT_BYTES_MAX / 2 / (1024 * 1024);
    (n_left_out > 0).then(|| {
        format!(
            "[only the first and last {half_mib} MiB of the output were kept: the {n_left_out} bytes \
             between them are in no file]"
        )
    })
}

/// The output, then a line for each thing the model should know about the end.
fn report(output: String, end: &End, killed: Killed, notes: Vec<String>) -> ToolOutput {
    let mut lines = Vec::new();
    let is_empty = output.is_empty();
    match end {
        End::Exited(_) if is_empty => lines.push("(no output)".to_owned()),
        _ if is_empty => {}
        _ => lines.push(output),
    }
    match end {
        End::Exited(_) if killed.n_killed > 0 => {
            lines.push(
                "[background processes were stopped when the command ended; with exec, where there is one, they go on]"
                    .into(),
            );
        }
        End::Exited(_) => {}
        End::TimedOut { millis } => lines.push(format!(
            "[timed out after {millis} ms: the command and everything it started were stopped; \
             timeout may be up to {BASH_TIMEOUT_MILLIS_MAX} ms; what runs longer goes on in the \
             background with exec, where there is one]"
        )),
        End::Cancelled => {
            lines.push("[cancelled: the command and everything it started were stopped]".into());
        }
        End::Lost(error) => lines.push(format!("[{error}]")),
    }
    if killed.n_survivors > 0 {
        lines.push(format!("[{} processes could not be stopped]", killed.n_survivors));
    }
    lines.extend(notes);
    match end {
        End::Exited(Exit::Code(0)) => return ToolOutput::text(lines.join("\n")),
        End::Exited(Exit::Code(code)) => lines.push(format!("exit code: {code}")),
        // The code is the one that a shell gives for a program it waited for: whether it did, or
        // became the program itself, is no business of the reader.
        End::Exited(Exit::Signal(signal)) => {
            lines.push(format!("exit code: {} (signal {signal})", 128 + signal));
        }
        End::TimedOut { .. } | End::Cancelled | End::Lost(_) => {}
    }
    ToolOutput::error(lines.join("\n"))
}

fn for_model(error: LauncherError) -> ToolError {
    ToolError::ForModel(error.to_string())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Access, RawJson, Tool};

    use super::*;

    fn tool() -> Bash {
        Bash::new(Launcher::new(), Vec::new())
    }

    fn check(output: &str, end: End, killed: Killed, expected: Expect) {
        let output = report(output.to_owned(), &end, killed, Vec::new());
        expected.assert_eq(&format!("{}\nerror: {}", output.text_content(), output.is_error));
    }

    #[test]
    fn the_words_for_the_model_keep_what_the_limits_say() {
        expect![[r#"{"name":"Bash","description":"Runs a command line in the workspace with bash (sh where there is none) and gives its standard output and error as they came, then the exit code unless it is 0. Each call is a new shell: directory and variables do not carry over. There is no input and no terminal. It is stopped after 120000 ms, or after timeout, at most 600000 ms. What it leaves running in the background is stopped when it ends. Prefer the other tools to read, search and change files.","input_schema":"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"command\":{\"type\":\"string\",\"description\":\"Command line to run.\"},\"timeout\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"Milliseconds after which it is stopped.\"},\"description\":{\"type\":\"string\",\"description\":\"What it does, in a few words.\"},\"outside_sandbox\":{\"type\":\"boolean\",\"description\":\"Ask the user to let it run outside of the sandbox; only for what failed because of it.\"}},\"required\":[\"command\"]}"}"#]]
        .assert_eq(&serde_json::to_string(&tool().definition()).unwrap());
    }

    #[test]
    fn the_facts_are_the_command_and_nothing_that_orders_calls() {
        let input = RawJson::parse(r#"{"command":"cargo test"}"#).unwrap();
        let facts = Tool::facts(&tool(), &input, "/w");
        let [Access::Shell(line)] = facts.accesses.as_slice() else { panic!("{facts:?}") };
        assert_eq!((&*line.line, line.commands.len(), line.concerns.len()), ("cargo test", 1, 0));
        assert!(facts.resources.is_empty() && !facts.replay_safe);
        assert!(Tool::metadata(&tool()).timeout_millis > BASH_TIMEOUT_MILLIS_MAX);
    }

    #[test]
    fn a_timeout_is_within_its_limit() {
        let millis = [None, Some(0), Some(1), Some(600_000), Some(600_001)].map(timeout_millis);
        assert_eq!(millis, [120_000, 120_000, 1, 600_000, 600_000]);
    }

    #[test]
    fn every_end_is_told() {
        let none = Killed::default();
        let some = Killed { n_killed: 2, n_survivors: 1 };
        check(
            "a\nb",
            End::Exited(Exit::Code(0)),
            none,
            expect![[r#"
            a
            b
            error: false"#]],
        );
        check(
            "",
            End::Exited(Exit::Code(1)),
            none,
            expect![[r#"
            (no output)
            exit code: 1
            error: true"#]],
        );
        check(
            "a",
            End::Exited(Exit::Signal(11)),
            some,
            expect![[r#"
            a
            [background processes were stopped when the command ended; with exec, where there is one, they go on]
            [1 processes could not be stopped]
            exit code: 139 (signal 11)
            error: true"#]],
        );
        check(
            "a",
            End::TimedOut { millis: 5 },
            none,
            expect![[r#"
            a
            [timed out after 5 ms: the command and everything it started were stopped; timeout may be up to 600000 ms; what runs longer goes on in the background with exec, where there is one]
            error: true"#]],
        );
        check(
            "",
            End::Cancelled,
            none,
            expect![[r#"
            [cancelled: the command and everything it started were stopped]
            error: true"#]],
        );
        check(
            "a",
            End::Lost(LauncherError::Gone),
            none,
            expect![[r#"
            a
            [the launcher died while the command ran; whether it finished its work is unknown]
            error: true"#]],
        );
    }
}
