//! How `git` is started, so that nothing a repository brings along runs with it.
//!
//! A repository's own settings may name programs: a file system monitor, hooks, a pager, filters,
//! programs that show differences, signatures to check, and with a missing object a remote to fetch
//! it from. Whoever looks at a repository asked for none of these. The settings given here hold
//! before all files; filters have names of the repository's choice, so these are looked up first.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use heeler_core::{Timestamp, ToolContext, ToolError};
use heeler_sandbox::{Child, Command, Confinement, Exit, OutputStream, Streams};

use crate::bash::Commands;
use crate::text::cut_at_end;

/// How much of what git says is kept.
pub(super) const OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How much of its complaints.
const ERRORS_BYTES_MAX: usize = 8 * 1024;
/// How long one start of git may take.
const RUN_MILLIS_MAX: u64 = 120_000;
/// How long output may still come after git has ended.
const GRACE_MILLIS: u64 = 200;

/// Settings that hold whatever the files say.
const SETTINGS: &[&str] = &[
    "advice.addIgnoredFile=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=:",
    "core.quotePath=false",
    "core.splitIndex=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "color.ui=false",
    "credential.helper=",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Variables that say what no setting can.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_EDITOR", ":"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C.UTF-8"),
];

/// What of the settings and variables hooks of the user would see and could not work with.
const HOOKED_SETTINGS: &[&str] = &["core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"];
const HOOKED_VARIABLES: &[(&str, &str)] = &[("GIT_EDITOR", ":"), ("GIT_TERMINAL_PROMPT", "0")];

/// The program, and how it starts.
pub(super) struct Git {
    pub(super) commands: Arc<Commands>,
    program: OnceLock<Option<PathBuf>>,
}

/// What one start of git is to do.
#[derive(Default)]
pub(super) struct Ask<'a> {
    /// Its arguments.
    pub(super) args: Vec<&'a str>,
    /// Paths, which come last, behind dashes.
    pub(super) paths: &'a [String],
    /// Settings besides those that always hold.
    pub(super) settings: &'a [String],
    /// Variables besides those that always hold.
    pub(super) variables: &'a [(String, String)],
    /// Whether it runs hooks, which work as they do for the user.
    pub(super) hooks: Hooks,
}

/// Whether hooks run.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Hooks {
    #[default]
    None,
    Run,
}

/// What came of one start.
pub(super) struct Ran {
    pub(super) exit: Exit,
    /// What it said, [`OUTPUT_BYTES_MAX`] at most.
    pub(super) output: Vec<u8>,
    pub(super) is_cut: bool,
    /// Why it did not, in its own words.
    pub(super) errors: String,
}

impl Ran {
    pub(super) fn is_success(&self) -> bool {
        self.exit.is_success()
    }

    /// What it said as one text without the line's end.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.output);
        match self.is_cut {
            true => cut_at_end(&text),
            false => text.trim_end_matches('\n').to_owned(),
        }
    }

    /// An error, unless it ended well.
    pub(super) fn or_refused(self, what: &str) -> Result<Self, ToolError> {
        if self.is_success() {
            return Ok(self);
        }
        Err(ToolError::for_model(self.refusal(what)))
    }

    /// What went wrong, after what was tried.
    pub(super) fn refusal(&self, what: &str) -> String {
        let said = [self.errors.trim(), &self.text()].join("\n");
        let said = said.trim();
        let said = if said.is_empty() { "it said nothing" } else { said };
        format!("git could not {what} ({}): {said}", self.exit)
    }
}

impl Git {
    pub(super) fn new(commands: Arc<Commands>) -> Self {
        Self { commands, program: OnceLock::new() }
    }

    /// Runs git in the workspace of the call.
    pub(super) async fn run(&self, context: &ToolContext, ask: Ask<'_>) -> Result<Ran, ToolError> {
        let command = self.command(context, ask)?;
        run(&self.commands, context, command, RUN_MILLIS_MAX).await
    }

    fn command(&self, context: &ToolContext, ask: Ask<'_>) -> Result<Command, ToolError> {
        let program = self.program.get_or_init(|| self.commands.program(&["git"]));
        let program = program.as_ref().ok_or_else(|| {
            ToolError::for_model("there is no git in the PATH of commands; do without, or ask the user to install it")
        })?;
        let (settings, variables) = match ask.hooks {
            Hooks::None => (SETTINGS, VARIABLES),
            Hooks::Run => (HOOKED_SETTINGS, HOOKED_VARIABLES),
        };
        let settings = settings.iter().copied().chain(ask.settings.iter().map(String::as_str));
        let mut args = vec!["--no-pager"];
        args.extend(settings.flat_map(|setting| ["-c", setting]));
        args.extend(ask.args);
        if !ask.paths.is_empty() {
            args.push("--");
            args.extend(ask.paths.iter().map(String::as_str));
        }
        let confinement: Confinement = self.commands.confinement_of(context)?;
        let mut command = self.commands.command(program, &context.workspace, confinement);
        command.env.retain(|(name, _)| is_kept(name));
        let own = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        command.env.extend(own.chain(ask.variables.iter().cloned()));
        Ok(command.args(args).streams(Streams::Separate))
    }
}

/// Variables that a person may have set for git: who commits, and nothing that moves a repository.
fn is_kept(name: &str) -> bool {
    let is_of_git = name.starts_with("GIT_") || name == "LC_ALL";
    !is_of_git || name.starts_with("GIT_AUTHOR_") || name.starts_with("GIT_COMMITTER_")
}

/// Runs a command whose outputs are two, and waits for its end.
pub(super) async fn run(
    commands: &Commands,
    context: &ToolContext,
    command: Command,
    millis_max: u64,
) -> Result<Ran, ToolError> {
    let deadline = context.clock.now().plus(millis_max);
    let mut child = tokio::select! {
        child = commands.launcher.run(&command) => {
            child.map_err(|error| ToolError::for_model(error.to_string()))?
        }
        () = context.cancel.cancelled() => return Err(ToolError::for_model("cancelled as it was started: it was stopped")),
    };
    let ended = tokio::select! {
        ended = follow(context, &mut child) => ended,
        () = context.cancel.cancelled() => Err(ToolError::for_model("cancelled")),
        () = context.clock.sleep_until(deadline) => Err(ToolError::for_model(format!(
            "{} took longer than {millis_max} ms and was stopped", shown(&command.program)
        ))),
    };
    // Of a launcher that died nothing is left either.
    let _ = child.kill_tree().await;
    let mut ran = ended?;
    if let Some(bound) = child.bound() {
        ran.errors += &format!("\n[sandbox: {bound}]");
    }
    Ok(ran)
}

fn shown(program: &Path) -> String {
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

async fn follow(context: &ToolContext, child: &mut Child) -> Result<Ran, ToolError> {
    let mut output = Kept::new(child.take_output(), OUTPUT_BYTES_MAX);
    let mut errors = Kept::new(child.take_errors(), ERRORS_BYTES_MAX);
    let exit = loop {
        tokio::select! {
            exit = child.wait() => break exit.map_err(|error| ToolError::for_model(error.to_string()))?,
            () = output.read(), if output.is_open() => {}
            () = errors.read(), if errors.is_open() => {}
        }
    };
    let grace: Timestamp = context.clock.now().plus(GRACE_MILLIS);
    let rest = async {
        while output.is_open() {
            output.read().await;
        }
        while errors.is_open() {
            errors.read().await;
        }
    };
    tokio::select! {
        // First, so that what is there is read even where time does not pass.
        biased;
        () = rest => {}
        () = context.clock.sleep_until(grace) => {}
    }
    let is_cut = output.is_cut;
    let said = String::from_utf8_lossy(&errors.bytes);
    let errors = if errors.is_cut { cut_at_end(&said) } else { said.into_owned() };
    Ok(Ran { exit, output: output.bytes, is_cut, errors })
}

/// The beginning of what a command writes; all of it is read, so that it can go on.
struct Kept {
    stream: Option<OutputStream>,
    bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
}

impl Kept {
    fn new(stream: Option<OutputStream>, bytes_max: usize) -> Self {
        Self { stream, bytes: Vec::new(), bytes_max, is_cut: false }
    }

    fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    async fn read(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        match stream.chunk().await {
            Ok(Some(bytes)) => {
                let room = self.bytes_max - self.bytes.len();
                self.is_cut |= bytes.len() > room;
                self.bytes.extend(bytes.iter().take(room));
            }
            // A pipe that cannot be read has nothing more for us.
            Ok(None) | Err(_) => self.stream = None,
        }
    }
}
