//! Commands that begin with a slash: they are the window's own, and work while a turn runs.

use heeler_core::{Mode, Timestamp};
use heeler_turn::compact::FOCUS_CHARS_MAX;

use super::{Action, App, Topic};
use crate::composer::{Command, Draft, Submission};
use crate::transcript::{Note, TableRow};

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What may follow it.
    pub argument: &'static str,
    /// What it does.
    pub about: &'static str,
}

impl SlashCommand {
    /// As the composer offers it.
    pub(super) fn offered(&self) -> Command {
        let (name, hint) = (self.name.to_owned(), self.argument.to_owned());
        Command { name, hint, about: self.about.to_owned() }
    }
}

const fn command(name: &'static str, argument: &'static str, about: &'static str) -> SlashCommand {
    SlashCommand { name, argument, about }
}

/// Every command, as the help shows them.
pub const COMMANDS: &[SlashCommand] = &[
    command("help", "", "keys and commands"),
    command("model", "[NAME]", "which models can be asked; have another one answer"),
    command("mode", "[MODE]", "what runs without asking: ask, accept-edits, plan (Shift-Tab)"),
    command("plan", "", "only look until a plan is agreed on"),
    command(
        "compact",
        "[FOCUS|undo]",
        "a summary for the beginning, looking at FOCUS; or take it back",
    ),
    command("clear", "", "begin a new session; this one is kept"),
    command("init", "", "have an AGENTS.md written from the project"),
    command("diff", "", "what differs from the last commit"),
    command("context", "", "what fills the context"),
    command("cost", "", "what this session used and cost"),
    command("permissions", "", "what may run here, and which rule says so"),
    command("tools", "", "what the model can call"),
    command("background", "[stop N]", "what runs in the background; or end one of it"),
    command("sessions", "", "choose among the stored sessions"),
    command("resume", "[ID]", "go on with a stored session, by its id or name"),
    command("rename", "NAME", "name this session"),
    command(
        "fork",
        "[N]",
        "go on in a new session: with all of this one, or what comes before input N",
    ),
    command("export", "[FILE]", "write this session to a file: .html, .md or .jsonl"),
    command("theme", "[NAME]", "how it looks: dark, light, plain, or a file of yours"),
    command("doctor", "", "what this machine can do, and what is missing"),
    command("bug", "[WORDS]", "write a report of something that went wrong"),
    command("quit", "", "leave (Ctrl-D)"),
];

/// Those of which a guest can use a part.
const GUEST_COMMANDS: &[SlashCommand] = &[
    command("model", "", "which models can be asked"),
    command("mode", "", "what runs without asking"),
    command("background", "", "what runs in the background"),
];

/// What is less like a command than that is not taken for a slip of one.
const LIKENESS_MIN: f64 = 0.6;

/// Said of what a guest cannot do.
const OWNERS: &str = "that is for the terminal that has this session open";
pub(super) const OWNERS_MODE: &str = "\
the mode is changed where this session is open (Shift-Tab there), not from an attached terminal; here you can \
answer what is asked";

const KEYS: &str = "\
Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R: history
Esc or Ctrl-C stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back what waits
Shift-Tab: mode · Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied image · Ctrl-L: draw anew · Ctrl-Z: suspend";

/// Those of a guest: the mode is its owner's, and so is the turn but for Esc.
const GUEST_KEYS: &str = "\
Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R: history
Esc stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back what waits
Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied image · Ctrl-L: draw anew · Ctrl-Z: suspend";

/// What `/init` asks for.
const INIT: &str = "\
Write the file AGENTS.md at the root of this repository: what a coding agent has to know to work here, \
and cannot see at a glance. If there is one, mend what is wrong or missing in it and leave the rest.

Look first: the README, the files that say how it is built and tested, what continuous integration runs, \
notes for other agents (CLAUDE.md, .cursorrules, .github/copilot-instructions.md), and enough of the code \
to know its parts. Try the commands you name, where they may run.

Say, in at most 60 lines: what the project is, in a sentence or two; the commands that build it, check \
its style, and run all its tests and a single one; the parts and how they hang together; conventions \
and traps that would surprise somebody. No advice that holds for every project, nothing that is made \
up, and no list of files that one can see.";

impl App {
    /// Takes what was written: a command, or something to say.
    pub(super) fn submitted(&mut self, submission: Submission, now: Timestamp) -> Vec<Action> {
        let text = submission.text.trim();
        if text.starts_with('!') && !std::mem::replace(&mut self.knows_no_shell, true) {
            // Elsewhere this runs a command; here it would be paid for.
            self.composer.take_back(submission.draft);
            return self.refuse("there are no shell lines here: Enter says this to the model");
        }
        let Some(line) = text.strip_prefix('/').filter(|line| is_command(line)) else {
            return self.say(submission, now);
        };
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, argument) = (name.to_ascii_lowercase(), argument.trim().to_owned());
        let name = match &*name {
            "exit" => "quit".to_owned(),
            "new" => "clear".to_owned(),
            _ => name,
        };
        let is_known = COMMANDS.iter().any(|command| command.name == name);
        let is_said = if is_known {
            name != "compact" || !is_too_long(&argument)
        } else {
            argument.is_empty()
        };
        if !is_said {
            // Words of somebody who made a slip.
            self.composer.take_back(submission.draft);
        }
        self.command(&name, &argument, now)
    }

    fn command(&mut self, name: &str, argument: &str, now: Timestamp) -> Vec<Action> {
        if self.is_guest && is_owners(name, argument) {
            let is_mode = matches!(name, "mode" | "plan");
            return self.refuse(if is_mode { OWNERS_MODE } else { OWNERS });
        }
        if wants_rest(name, argument)
            && let Some(why) = self.stays()
        {
            return self.refuse(why);
        }
        // What is answered on the screen stands below what was asked.
        if matches!(
            name,
            "help" | "diff" | "context" | "cost" | "permissions" | "tools" | "doctor" | "bug"
        ) || (matches!(name, "model" | "mode" | "background") && argument.is_empty())
        {
            self.transcript.note(Note::quiet(format!("/{name}")));
        }
        match name {
            "help" => {
                self.transcript.note(Note::table(help(self.is_guest)));
                Vec::new()
            }
            "model" if argument.is_empty() => vec![Action::Tell(Topic::Models)],
            "model" => vec![Action::Model(argument.to_owned())],
            "mode" => self.mode_command(argument),
            "plan" => self.set_mode(Mode::Plan),
            "compact" => self.compact(argument),
            "clear" => vec![Action::Clear],
            "context" => vec![Action::Tell(Topic::Context(self.status.last()))],
            "cost" => vec![Action::Tell(Topic::Cost)],
            "permissions" => vec![Action::Tell(Topic::Permissions)],
            "tools" => vec![Action::Tell(Topic::Tools)],
            "doctor" => vec![Action::Tell(Topic::Doctor)],
            "diff" => vec![Action::Tell(Topic::Difference)],
            "bug" => vec![Action::Tell(Topic::Bug(argument.to_owned()))],
            "background" => self.background_command(argument, now),
            "init" => self.say(Draft::from(INIT).into(), now),
            "resume" if !argument.is_empty() => vec![Action::OpenMeant(argument.to_owned())],
            "sessions" | "resume" => vec![Action::List],
            "rename" => match argument.parse() {
                Ok(name) => vec![Action::Rename(name)],
                Err(why) => self.refuse(&format!("/rename NAME: {why}")),
            },
            "fork" => self.fork_command(argument),
            "export" => {
                let file = Some(argument).filter(|file| !file.is_empty());
                vec![Action::Export(file.map(str::to_owned))]
            }
            "theme" if argument.is_empty() => {
                self.refuse("say which: /theme dark, light, plain, or a file of themes/")
            }
            "theme" => vec![Action::Theme(argument.to_owned())],
            "quit" => self.leave(),
            _ => {
                let meant = meant(name, self.is_guest).map(|it| format!("did you mean /{it}? "));
                let meant = meant.unwrap_or_default();
                self.refuse(&format!("there is no command /{name}; {meant}/help lists them"))
            }
        }
    }

    fn fork_command(&mut self, argument: &str) -> Vec<Action> {
        match argument.parse::<u32>() {
            _ if argument.is_empty() => vec![Action::Fork(None)],
            Ok(at) if at > 0 => vec![Action::Fork(Some(at))],
            _ => self.refuse("/fork N: the number of the input that is to be said anew, from 1"),
        }
    }

    fn mode_command(&mut self, argument: &str) -> Vec<Action> {
        if argument.is_empty() {
            let mode = self.settings.policy.mode;
            let by = match self.is_guest {
                true => "it is changed where this session is open (Shift-Tab there)",
                false => "Shift-Tab changes it",
            };
            self.transcript.note(Note::plain(format!("the mode is {mode}; {by}")));
            return Vec::new();
        }
        let mode = argument.parse::<Mode>().or_else(|_| argument.to_ascii_lowercase().parse());
        let has_bypass = self.mode_apart == Some(Mode::Bypass);
        match mode {
            Ok(Mode::Bypass) if !has_bypass => self
                .refuse("the mode bypass is for the command line: heeler --permission-mode bypass"),
            Ok(mode) => self.set_mode(mode),
            Err(_) => {
                // What would be refused is not on offer.
                let modes = match has_bypass {
                    true => "ask, accept-edits, plan, allow-listed or bypass",
                    false => "ask, accept-edits, plan or allow-listed",
                };
                self.refuse(&format!("`{argument}` is no permission mode; use {modes}"))
            }
        }
    }

    fn compact(&mut self, focus: &str) -> Vec<Action> {
        if focus.eq_ignore_ascii_case("undo") {
            return self.at_the_pause("what was replaced is put back", Action::UndoCompaction);
        }
        if is_too_long(focus) {
            let why =
                format!("what a summary is to look at has at most {FOCUS_CHARS_MAX} characters");
            return self.refuse(&why);
        }
        let focus = (!focus.is_empty()).then(|| focus.to_owned());
        self.at_the_pause("the conversation is summarized", Action::Compact(focus))
    }

    /// What is done between two rounds of a turn: while one runs, says that it waits.
    fn at_the_pause(&mut self, what: &str, action: Action) -> Vec<Action> {
        if self.is_busy() {
            let text = format!("{what} at the next pause, between two rounds of this turn");
            self.transcript.note(Note::quiet(text));
        }
        vec![action]
    }

    pub(super) fn refuse(&mut self, why: &str) -> Vec<Action> {
        self.transcript.note(Note::warning(why));
        Vec::new()
    }
}

/// The command that is most like this name, if one is like it.
fn meant(name: &str, is_guest: bool) -> Option<&'static str> {
    match name {
        "rewind" | "undo" if !is_guest => return Some("fork N"),
        "status" => return Some("context"),
        _ => {}
    }
    let like = |command: SlashCommand| {
        (strsim::normalized_damerau_levenshtein(name, command.name), command.name)
    };
    // Of two that are as like, the one that the help has first.
    let (likeness, name) =
        commands(is_guest).rev().map(like).max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness >= LIKENESS_MIN).then_some(name)
}

/// Whether only who has the session open can do that.
fn is_owners(name: &str, argument: &str) -> bool {
    match name {
        "model" | "mode" | "background" => !argument.is_empty(),
        "plan" | "clear" | "diff" | "permissions" | "sessions" | "resume" | "fork" | "bug" => true,
        _ => false,
    }
}

/// Whether a summary cannot look at all of this.
fn is_too_long(focus: &str) -> bool {
    focus.chars().count() > FOCUS_CHARS_MAX
}

/// Whether that is for a session in which nothing is under way: it leaves it, or begins a turn.
fn wants_rest(name: &str, argument: &str) -> bool {
    let is_other_model = name == "model" && !argument.is_empty();
    is_other_model || matches!(name, "clear" | "init" | "sessions" | "resume" | "fork")
}

/// Whether a line is meant as a command, in whatever case: a path such as `/etc/hosts` is not, nor a
/// comment (`//`, `/*`).
fn is_command(line: &str) -> bool {
    let name = line.split(char::is_whitespace).next().unwrap_or("");
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The commands that can be used: a guest is offered none that are its owner's alone.
pub(super) fn commands(is_guest: bool) -> impl DoubleEndedIterator<Item = SlashCommand> {
    let offered = move |command: &SlashCommand| match GUEST_COMMANDS
        .iter()
        .find(|guest| is_guest && guest.name == command.name)
    {
        _ if is_guest && is_owners(command.name, "") => None,
        Some(guest) => Some(*guest),
        None => Some(*command),
    };
    COMMANDS.iter().filter_map(offered)
}

/// What there is, and which keys.
fn help(is_guest: bool) -> Vec<TableRow> {
    let row = |command: SlashCommand| {
        let usage = match command.argument {
            "" => format!("/{}", command.name),
            argument => format!("/{} {argument}", command.name),
        };
        TableRow::new(usage, command.about)
    };
    let keys = if is_guest { GUEST_KEYS } else { KEYS };
    let keys = keys.lines().map(TableRow::line);
    commands(is_guest).map(row).chain([TableRow::default()]).chain(keys).collect()
}
