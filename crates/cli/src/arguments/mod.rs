//! The command line.

mod config;
mod limits;
mod permission;
mod stage;
#[cfg(test)]
mod tests;
mod value;
mod words;

pub(crate) use config::{ConfigArguments, ConfigCommand};
pub(crate) use permission::{
    HereArguments, PermissionArguments, PermissionsArguments, PermissionsCommand,
};
pub(crate) use stage::{StageArguments, StageCommand};

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::{
    ArgGroup, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser,
};

use heeler_assembly::Permission;
use heeler_core::Mode;
use heeler_stage::Form;

use crate::exit::Exit;
use crate::say::{say, unwritten};
use crate::sessions::Format;
use crate::stage::AtEnd;
use value::{ModeName, Text, dollars, id, text};

const AFTER_HELP: &str = "\
Start here:
  heeler demo                              watch it work: a second or two, needs cargo, no key, no network
  export ANTHROPIC_API_KEY=...             then:
  heeler                                   a session in this terminal
  heeler exec 'explain this repository'    (or heeler -p) without one, for scripts
  heeler exec --permission-mode accept-edits --allow 'Bash(cargo test:*)' 'fix the failing test'

Exit codes of exec: 0 done, 1 failure or refusal, 2 usage or configuration, 3 ended by a denial,
4 a limit, 5 provider or network, 6 no answer that fits --output-schema, 130 cancelled.";

/// A coding agent that never loses a session and never runs what was not allowed.
#[derive(Parser)]
#[command(name = "heeler", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
struct CommandLine {
    #[command(flatten)]
    terminal: TerminalArguments,
    #[command(subcommand)]
    command: Option<Command>,
}

/// A line that begins with `exec`, without all other commands.
#[derive(Parser)]
#[command(name = "heeler")]
struct ExecLine {
    #[command(subcommand)]
    command: OnlyExec,
}

#[derive(Subcommand)]
enum OnlyExec {
    Exec(Box<ExecArguments>),
}

/// The line `heeler --version`, without all the rest.
#[derive(Parser)]
#[command(name = "heeler", version)]
struct VersionLine {}

/// The arguments of `heeler` without a command: a session in this terminal.
#[derive(Args)]
#[command(group = ArgGroup::new("shown").multiple(false))]
pub(crate) struct TerminalArguments {
    /// What to do first; without, heeler waits for what is written
    #[arg(value_parser = text())]
    pub(crate) prompt: Option<String>,
    /// Who answers: PROVIDER/NAME, a name the catalogue knows, or script:PATH
    #[arg(long, value_name = "MODEL", value_parser = text())]
    pub(crate) model: Option<String>,
    /// Who answers when that model cannot; may be given often
    #[arg(long, value_name = "MODEL", value_parser = text())]
    pub(crate) fallback_model: Vec<String>,
    /// Work in this folder instead of the current one; a continued session stays in its own
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// What runs without asking: ask, accept-edits, plan, allow-listed or bypass. Without, the
    /// settings say; else it is ask. A session that was left in plan mode goes on in it without
    #[arg(long, value_name = "MODE", value_parser = Text(ModeName), hide_possible_values = true)]
    pub(crate) permission_mode: Option<String>,
    #[command(flatten)]
    pub(crate) permission: PermissionArguments,
    /// Go on with this session: its id, the beginning of it, or its name
    #[arg(long, value_name = "ID", group = "shown", value_parser = id())]
    pub(crate) resume: Option<String>,
    /// Go on with the newest session of this folder
    #[arg(long = "continue", group = "shown")]
    pub(crate) continue_newest: bool,
    /// Leave that session as it is, and go on with a new one that begins with all it has
    #[arg(long, requires = "shown")]
    pub(crate) fork: bool,
}

/// What is to be done.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run one turn without a terminal: the answer goes to stdout, progress to stderr
    Exec(Box<ExecArguments>),
    /// Watch a session that runs elsewhere, say something to it, and answer what it asks
    Attach(AttachArguments),
    /// Stop the turn of a session that runs elsewhere
    Stop {
        /// The session's id, the beginning of it, or its name
        #[arg(value_parser = id())]
        id: String,
    },
    /// Watch the agent fix a failing test: needs cargo, but no key and no network
    Demo,
    /// List, name, fork, export or delete the stored sessions
    Sessions(SessionsArguments),
    /// Show a session: what was said, what was run, what it cost
    Show(ShowArguments),
    /// Check a session's journal, and list what was done and what allowed it
    Audit(AuditArguments),
    /// Play a session again and show where it comes out otherwise; nothing is run
    Replay(ReplayArguments),
    /// Say what may run here and why, and trust this folder's own settings
    Permissions(PermissionsArguments),
    /// List, explain or edit the settings
    Config(ConfigArguments),
    /// List, show, apply or discard what exec --stage kept
    Stage(StageArguments),
    /// Print the JSON Schema of what programs read and write
    Schema {
        /// Of a line that exec --json prints, of a line that exec --stream-input reads, or of a file of
        /// settings
        #[arg(default_value = "events")]
        of: PublishedSchema,
    },
    /// List the models that can be asked here, and what they cost
    Models {
        /// Print one JSON object instead
        #[arg(long)]
        json: bool,
    },
    /// Keep a provider's key, read from a hidden prompt or a pipe; a variable that is set wins
    Login(LoginArguments),
    /// Forget a provider's key
    Logout {
        /// Whose key
        #[arg(value_parser = text())]
        provider: String,
    },
    /// Look at this machine: what confines commands here, and what is missing
    Doctor {
        /// Print one JSON object instead
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell, such as for `source <(heeler completions bash)`
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// A schema that is published.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PublishedSchema {
    Events,
    Input,
    Settings,
}

/// How a stage is made.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StageForm {
    Overlay,
    Copy,
}

/// A shell that completes commands.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The arguments of `exec`.
#[derive(Args)]
#[command(group = ArgGroup::new("session").multiple(false))]
pub(crate) struct ExecArguments {
    /// What to do; `-` reads it from stdin, and so does a pipe when there is no prompt. What is piped
    /// in beside a prompt is added to it
    #[arg(value_parser = text())]
    pub(crate) prompt: Option<String>,
    /// Who answers: PROVIDER/NAME, a name the catalogue knows, or script:PATH
    #[arg(long, value_name = "MODEL", value_parser = text())]
    pub(crate) model: Option<String>,
    /// Who answers when that model cannot (busy, limited, unpaid, gone), and then this one, in the
    /// order they are given
    #[arg(long, value_name = "MODEL", value_parser = text())]
    pub(crate) fallback_model: Vec<String>,
    /// Print one JSON event a line instead of the answer
    #[arg(long)]
    pub(crate) json: bool,
    /// Read messages from stdin, one JSON object a line, while it works, and print events as --json
    /// does: see `heeler schema input`. The end of stdin ends it when all is done
    #[arg(long)]
    pub(crate) stream_input: bool,
    /// Answer with JSON that fits the JSON Schema in this file, and nothing else; an answer that does
    /// not goes back to the model with the reason, five times at most
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Say only what went wrong on stderr: neither progress nor tokens
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more on stderr: model calls with their tokens, what the model thinks, what each call gave
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Work in this folder instead of the current one; a continued session stays in its own
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// What runs without a rule: ask, accept-edits, plan, allow-listed or bypass. Nobody can be
    /// asked here, so ask means deny; with --detach, what asks waits for `heeler attach`, and with
    /// --stream-input it is asked on stdout. Without, the settings say; else it is allow-listed, and
    /// with --detach ask. A session that was left in plan mode goes on in it without
    #[arg(long, value_name = "MODE", value_parser = Text(ModeName), hide_possible_values = true)]
    pub(crate) permission_mode: Option<String>,
    #[command(flatten)]
    pub(crate) permission: PermissionArguments,
    /// End the turn after this many model calls; 0 for no limit. Without, the settings say; else it
    /// is 50
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = Text(value_parser!(u32)))]
    pub(crate) max_rounds: Option<u32>,
    /// End the turn before it uses more tokens than this, input and output; 0 for no limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = Text(value_parser!(u64)))]
    pub(crate) max_tokens: Option<u64>,
    /// End the turn before it costs more than this; 0 for no limit
    #[arg(long, value_name = "USD", value_parser = Text(dollars), allow_negative_numbers = true)]
    pub(crate) max_cost: Option<f64>,
    /// End the turn after this many seconds; 0 for no limit
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[arg(value_parser = Text(value_parser!(u64)))]
    pub(crate) timeout: Option<u64>,
    /// Continue this session (its id, the beginning of it, or its name): first what is pending, then
    /// the prompt if there is one
    #[arg(long, value_name = "ID", group = "session", value_parser = id())]
    pub(crate) resume: Option<String>,
    /// Continue the newest session of this folder
    #[arg(long = "continue", group = "session")]
    pub(crate) continue_newest: bool,
    /// Leave that session as it is, and continue in a new one that begins with all it has
    #[arg(long, requires = "session")]
    pub(crate) fork: bool,
    /// Let all changes happen beside the folder, in a stage, where edits and confined commands need no
    /// rule, and nothing else runs. At the end each hunk is asked about at a terminal; else they are
    /// shown and kept for `heeler stage`. Or all is applied, kept or discarded, as this says
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "ask", conflicts_with = "session")]
    pub(crate) stage: Option<AtEnd>,
    /// How a stage is made: as an overlay over the folder, or as a copy. Without, as a copy where the
    /// system has no overlay for us
    #[arg(long, value_name = "FORM", requires = "stage")]
    pub(crate) stage_form: Option<StageForm>,
    /// Return at once and let it run on its own: prints the session's id. What has to be asked about
    /// waits until somebody answers by `heeler attach`
    #[arg(long, conflicts_with_all = ["json", "stream_input", "stage"])]
    pub(crate) detach: bool,
    // Of the process that goes on.
    #[arg(long, hide = true, requires = "detach")]
    pub(crate) detached: bool,
    /// Write the terminal event to this file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) result_json: Option<PathBuf>,
}

impl ExecArguments {
    /// How a stage is to be made.
    pub(crate) fn stage_form(&self) -> Option<Form> {
        self.stage_form.map(|form| match form {
            StageForm::Overlay => Form::Overlay,
            StageForm::Copy => Form::Copy,
        })
    }

    /// What the flags say.
    pub(crate) fn permission(&self) -> Result<Permission> {
        let permission =
            self.permission.read("--permission-mode", self.permission_mode.as_deref())?;
        // Who writes to stdin can answer, and so can whoever attaches.
        let interactive = self.stream_input || self.detach;
        let mode_default = if self.detach { Mode::Ask } else { permission.mode_default };
        Ok(Permission { values: limits::values(self), interactive, mode_default, ..permission })
    }

    /// Whether an earlier session goes on.
    pub(crate) fn continues(&self) -> bool {
        self.resume.is_some() || self.continue_newest
    }
}

/// The arguments of `attach`.
#[derive(Args)]
pub(crate) struct AttachArguments {
    /// The session's id, the beginning of it, or its name; without, the newest of this folder that runs
    #[arg(value_parser = id())]
    pub(crate) id: Option<String>,
    /// Print one JSON event a line instead of showing it
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `login`.
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true))]
pub(crate) struct LoginArguments {
    /// Whose key, such as anthropic or openai
    #[arg(value_parser = text(), group = "what")]
    pub(crate) provider: Option<String>,
    // A key that is given here anyway must not be repeated by an error of the parser's.
    #[arg(hide = true, requires = "provider")]
    pub(crate) misplaced: Vec<OsString>,
    /// Say where each provider's key is instead
    #[arg(long, group = "what")]
    pub(crate) status: bool,
    /// Ask the provider first whether it takes the key: one short answer, which it charges
    #[arg(long, requires = "provider")]
    pub(crate) check: bool,
    /// Keep the key in a file of heeler's, not in the system's keyring
    #[arg(long, requires = "provider")]
    pub(crate) file: bool,
}

/// The arguments of `sessions`.
#[derive(Args)]
pub(crate) struct SessionsArguments {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

/// What to do with the stored sessions.
#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    /// List them, the newest last
    List {
        /// Only those of this folder
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
        /// Print one JSON object instead
        #[arg(long)]
        json: bool,
    },
    /// Name a session, so that it is found by its name
    Rename {
        /// The session's id, the beginning of it, or its name
        #[arg(value_parser = id())]
        id: String,
        /// The new name; an empty one takes the name away
        #[arg(value_parser = text())]
        name: String,
    },
    /// Make a new session that begins with what another one has
    Fork {
        /// The session's id, the beginning of it, or its name
        #[arg(value_parser = id())]
        id: String,
        /// Take only what comes before its N-th input, as `heeler show` counts them
        #[arg(long, value_name = "N", value_parser = Text(value_parser!(u32).range(1..)))]
        at: Option<u32>,
        /// The folder it works in; without, that of the other session
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
    },
    /// Write a session: its journal as it is stored, or as Markdown or a page to read
    Export {
        /// The session's id, the beginning of it, or its name
        #[arg(value_parser = id())]
        id: String,
        /// What to write; without, the file's name says, and else it is jsonl
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// Write to this file instead of stdout, whole or not at all; one that is there stays
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file if it is there
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Remove sessions with all they hold; what an owner has open stays
    Delete {
        /// The whole ids: what is gone is gone
        #[arg(value_name = "ID", required = true, value_parser = id())]
        ids: Vec<String>,
    },
}

/// The arguments of `show`.
#[derive(Args)]
pub(crate) struct ShowArguments {
    /// The session's id, the beginning of it, or its name
    #[arg(value_parser = id())]
    pub(crate) id: String,
    /// Print the body of the session's N-th model request, and where its tokens are
    #[arg(long, value_name = "N", value_parser = Text(value_parser!(u64).range(1..)))]
    pub(crate) request: Option<u64>,
    /// Print it byte for byte as it was sent, and nothing else
    #[arg(long, requires = "request")]
    pub(crate) raw: bool,
}

/// The arguments of `audit`.
#[derive(Args)]
#[command(
    after_help = "Exit code: 0 when the journal is as it was written, 1 when it is damaged.\n\
                        With --secrets: 0 when none is found, else 1."
)]
pub(crate) struct AuditArguments {
    /// The session's id, the beginning of it, or its name
    #[arg(value_parser = id())]
    pub(crate) id: String,
    /// Look for keys and passwords in all that is stored of the session instead
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `replay`.
#[derive(Args)]
#[command(
    after_help = "Without --model its recorded answers are given, and what heeler decides has to come out as\n\
                  it is recorded. With one, each request is made again and sent to it (which costs what it\n\
                  costs): it may use other words, but not other calls. Results of calls come from the\n\
                  journal. The session stays as it is.\n\n\
                  Exit code: 0 when all comes again, 1 where it does not, 2 when it cannot be played,\n\
                  5 when the model cannot be reached."
)]
pub(crate) struct ReplayArguments {
    /// The session's id, the beginning of it, or its name
    #[arg(value_parser = id())]
    pub(crate) id: String,
    /// Begin with this record; those before it are taken as they are
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    #[arg(value_parser = Text(value_parser!(u64).range(1..)))]
    pub(crate) from: u64,
    /// Ask this model: PROVIDER/NAME, a name the catalogue knows, or script:PATH
    #[arg(long, value_name = "MODEL", value_parser = text())]
    pub(crate) model: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// A command, or nothing left to do.
pub(crate) enum Parsed {
    Command(Command),
    /// None: a session in the terminal.
    Terminal(Box<TerminalArguments>),
    Exit(Exit),
}

/// Reads the command line; prints help, version and errors itself.
pub(crate) fn parse() -> Parsed {
    match read(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => {
            // It repeats words of the line, which are shown, never obeyed.
            say(error.render().to_string().trim_end());
            Parsed::Exit(Exit::Usage)
        }
        Err(error) => Parsed::Exit(match error.print() {
            // A closed stdout leaves nobody to tell.
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                say(format_args!("heeler: {}", unwritten(&error)));
                Exit::Usage
            }
            _ => Exit::Done,
        }),
    }
}

/// What a line asks for, or what to print instead. `heeler -p` is `heeler exec`, as people know it
/// from other agents.
pub(crate) fn read(line: impl IntoIterator<Item = OsString>) -> Result<Parsed, clap::Error> {
    let mut line = words::flagged(line.into_iter().collect())?;
    if let Some(first) = line.get_mut(1).filter(|first| *first == "-p" || *first == "--print") {
        *first = "exec".into();
    }
    // What scripts run most comes without the other commands, which take most of the time to make.
    // Help, and what is wrong with a line, is told by the whole.
    if let [_, only] = &line[..]
        && (only == "--version" || only == "-V")
    {
        VersionLine::try_parse_from(&line)?;
    }
    if line.get(1).is_some_and(|first| first == "exec")
        && let Ok(ExecLine { command: OnlyExec::Exec(arguments) }) = ExecLine::try_parse_from(&line)
    {
        return Ok(Parsed::Command(Command::Exec(arguments)));
    }
    let matches = CommandLine::command().try_get_matches_from(&line);
    let matches = matches.map_err(|error| words::told(error, &line))?;
    let CommandLine { terminal, command } = CommandLine::from_arg_matches(&matches)?;
    if let (None, Some(prompt)) = (&command, terminal.prompt.as_deref())
        && let Some(error) = words::mistyped(prompt)
    {
        return Err(error);
    }
    Ok(command.map_or(Parsed::Terminal(Box::new(terminal)), Parsed::Command))
}

/// The whole command line, for whoever describes it.
pub(crate) fn command_line() -> clap::Command {
    CommandLine::command()
}
