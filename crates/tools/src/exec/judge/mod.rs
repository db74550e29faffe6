//! What calls touch: a session is judged as the one command line that would do the same.
//!
//! That line is the session's command with all that was written to it as its here-document, so what
//! is written to a shell is judged as a script: with the folder it went to before, the names it
//! gave, the quote it left open, and by the rules that hold for `Bash`. What is written to another
//! program is judged as that program; and since some of those start commands when they are told to
//! (`!` in a pager), each word of it counts as a command for rules that deny or ask.
//!
//! Where a line of a shell is edited by keys, nobody can say what it will be: then it is asked. And
//! where a program takes lines that were meant for the shell, the shell begins in the midst of what
//! was one command: what it would run then counts, too.

use heeler_core::{Concern, ConcernKind, ShellCommand, ShellLine};
use heeler_shell::Place;

use crate::bash::{heed_gitlinks, quoted, read_line};

/// How much of what was written to a shell is judged again with each call.
pub(super) const SCRIPT_BYTES_MAX: usize = 32 * 1024;
/// How much is read to find out where else a shell may begin in that.
const APART_BYTES_MAX: usize = 256 * 1024;
/// How many lines a command within another one may have to be known.
const APART_LINES_MAX: usize = 8;
/// How many lines the first command may have that nobody can have taken a line of.
const FIRST_LINES_MAX: usize = 64;
/// Variables whose value a shell at a terminal runs before it reads a line, or a further one, or runs it.
const PROMPTS: [&str; 5] = ["PS0", "PS1", "PS2", "PS3", "PS4"];
/// What `stty` says or sets that edits no line.
const STTY_SHOWS: [&str; 6] = ["-a", "-g", "size", "sane", "echo", "-echo"];
/// A terminal that hands whole lines on forgets what is behind 4,095 bytes of one.
const TERMINAL_LINE_BYTES_MAX: usize = 4_000;
/// How many keys that end a line a text may hold before nobody follows it any more.
const KEYS_MAX: usize = 16;
/// A command that a shell would run, and no system has.
const PROBE: &str = "heeler-reads-commands";
/// How many words of a text may be commands.
const WORDS_MAX: usize = 500;

/// What is known of a session's command, and of what was written to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// What sets its folder and variables, then its command line.
    command: String,
    reads_commands: bool,
    /// Nothing but a shell runs, so that nobody takes the first of what is written.
    is_alone: bool,
    runs: Runs,
    /// What was written: of a shell all, of others the last line.
    written: String,
    /// A line was edited, some of it did not arrive, or there was too much to keep.
    is_unknown: bool,
    /// What was written last has not arrived yet.
    is_arriving: bool,
}

impl Script {
    pub(super) fn new(setup: &Setup, command: &str, runs: Runs, place: &Place<'_>) -> Self {
        let command = setup.before(command);
        let read = heeler_shell::read(&fed(&command, PROBE), place);
        let reads_commands = runs_probe(&read);
        let n_commands = read.commands.iter().filter(|command| !command.is_wrapper).count();
        let is_alone = n_commands == setup.n_commands + 2;
        let (written, is_unknown, is_arriving) = (String::new(), false, false);
        Self { command, reads_commands, is_alone, runs, written, is_unknown, is_arriving }
    }

    /// What it does to write this as well.
    pub(super) fn line(&self, data: &str, place: &Place<'_>) -> ShellLine {
        let (text, is_told) = self.with(data, place);
        let mut line = read_fed(&self.command, &text, place);
        heed_gitlinks(&mut line, place);
        // The first lines of a text are shown, and these are new.
        line.line = format!("{data}\n# is written to: {}", line.line);
        line.is_read_only = false;
        if self.reads_commands {
            let is_told = is_told
                && !reads_otherwise(&line.commands, &text)
                && self.add_apart(&mut line, &text, place);
            if !is_told || text.len() > SCRIPT_BYTES_MAX {
                let why = "it writes to a shell whose line cannot be told".to_owned();
                line.concerns.push(Concern { kind: ConcernKind::NotUnderstood, why });
            }
        } else {
            line.commands.extend(words_as_commands(&text));
        }
        if !self.runs.is_confined {
            let why = "it writes to a program that runs outside of the sandbox".to_owned();
            line.concerns.push(Concern { kind: ConcernKind::Leaves, why });
        }
        line
    }

    /// Keeps what is written; [`Script::arrived`] says when it has.
    pub(super) fn write(&mut self, data: &str, place: &Place<'_>) {
        let (mut text, is_told) = self.with(data, place);
        if !self.reads_commands {
            let begun = text.rfind('\n').map_or(0, |end| end + 1);
            text.drain(..begun);
        }
        self.is_unknown = !is_told;
        if text.len() > SCRIPT_BYTES_MAX {
            text.clear();
            self.is_unknown = true;
        }
        self.written = text;
        self.is_arriving = true;
    }

    /// All that was written is with the program.
    pub(super) fn arrived(&mut self) {
        self.is_arriving = false;
    }

    /// What was written and this, as the lines that a shell reads, and whether they can be told.
    fn with(&self, data: &str, place: &Place<'_>) -> (String, bool) {
        let mut text = self.written.clone();
        let mut is_told = !self.is_unknown && !self.is_arriving;
        if !self.runs.has_terminal && data == "\x04" {
            // The end of its input.
            return (text, is_told);
        }
        let begun = text.rfind('\n').map_or(0, |end| end + 1);
        let mut n_keys = 0;
        for c in data.chars() {
            match c {
                '\r' if self.runs.has_terminal => text.push('\n'),
                // At the start of a line, when nothing is open, these change nothing that a shell
                // knows. Elsewhere they drop what is begun, or end it, or do nothing.
                '\x03' | '\x04' | '\x0c' if self.runs.has_terminal => {
                    n_keys += 1;
                    is_told &= n_keys <= KEYS_MAX
                        && (text.is_empty() || text.ends_with('\n'))
                        && !(self.reads_commands && self.is_open(&text, place));
                    text.push('\n');
                }
                c => text.push(c),
            }
        }
        let new = &text[begun..];
        let is_long = |line: &str| self.runs.has_terminal && line.len() > TERMINAL_LINE_BYTES_MAX;
        is_told &= !is_edited(new) && !new.split('\n').any(is_long);
        (text, is_told)
    }

    /// Whether the line behind this text may be no command of its own.
    fn is_open(&self, text: &str, place: &Place<'_>) -> bool {
        let ended = text.strip_suffix('\n').unwrap_or(text);
        let mut read = heeler_shell::read(&fed(&self.command, &format!("{ended}\n{PROBE}")), place);
        read.concerns.retain(|concern| concern.why != heeler_shell::LINES_TAKEN);
        // What is not complete is read as far as it goes.
        !runs_probe(&read)
            || read.concerns.iter().any(|it| it.kind == heeler_shell::ConcernKind::NotUnderstood)
    }

    /// Adds what a shell would run that began at another line of a text than one that begins a command,
    /// since a program before it (`read x`) took the lines above. Returns whether all was looked at.
    fn add_apart(&self, line: &mut ShellLine, text: &str, place: &Place<'_>) -> bool {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut n_left = APART_BYTES_MAX;
        let mut is_complete = |unit: &str| {
            n_left = n_left.checked_sub(unit.len())?;
            Some(!self.is_open(unit, place))
        };
        let mut at = 0;
        // Before the first command nobody stands but what the session was started with. Its end is looked
        // for line by line: what is behind it has the command before it.
        let n_first = if self.is_alone { lines.len().min(FIRST_LINES_MAX) } else { 0 };
        for n_lines in 1..=n_first {
            let Some(is_complete) = is_complete(&lines[..n_lines].concat()) else { return false };
            if is_complete || n_lines == lines.len() {
                at = n_lines;
                break;
            }
        }
        // A text from a line on that is complete, or the longest that is looked at: one line, two, four ...
        let mut unit = |from: usize, n_max: usize| {
            let n_there = n_max.min(lines.len() - from);
            let mut n_lines = 1;
            loop {
                let unit = lines[from..from + n_lines].concat();
                if is_complete(&unit)? || n_lines == n_there {
                    return Some((unit, n_lines));
                }
                n_lines = (n_lines * 2).min(n_there);
            }
        };
        while at < lines.len() {
            let Some((_, n_lines)) = unit(at, lines.len()) else { return false };
            let end = at + n_lines;
            for (inner, first) in lines.iter().enumerate().take(end).skip(at + 1) {
                let Some((unit, _)) = unit(inner, APART_LINES_MAX) else { return false };
                let read = read_fed(&self.command, &unit, place);
                let is_odd = |concern: &Concern| concern.kind == ConcernKind::NotUnderstood;
                // The end of a construct alone is not understood, and does nothing. A word in two
                // lines is something else.
                if first.ends_with("\\\n") && read.concerns.iter().any(is_odd) {
                    return false;
                }
                let doubtful =
                    |command| ShellCommand { is_doubtful: true, is_wrapper: true, ..command };
                line.commands.extend(read.commands.into_iter().map(doubtful));
                let is_new =
                    |concern: &Concern| !is_odd(concern) && !line.concerns.contains(concern);
                let concerns: Vec<Concern> = read.concerns.into_iter().filter(is_new).collect();
                line.concerns.extend(concerns);
            }
            at = end;
        }
        true
    }
}

/// Whether what was written has a shell read otherwise than line by line as it is written: by a command
/// that takes a piece of a line, by keys that mean something else, or by a prompt that runs something.
fn reads_otherwise(commands: &[ShellCommand], text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let sets_prompt = text.split(|c| !is_word(c)).any(|word| PROMPTS.contains(&word));
    sets_prompt
        || commands.iter().any(|command| {
            let Some((name, operands)) = command.words.split_first() else { return false };
            let has_letter = |letters: &[char]| {
                let mut options = operands.iter().filter(|word| word.starts_with('-'));
                options.any(|word| word.contains(letters))
            };
            match name.as_str() {
                "read" | "mapfile" | "readarray" => has_letter(&['n', 'N', 'd']),
                "head" => has_letter(&['c']),
                "dd" | "bind" => true,
                "stty" => operands.iter().any(|word| !STTY_SHOWS.contains(&word.as_str())),
                _ => false,
            }
        })
}

/// How a session's command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) is_confined: bool,
    pub(super) has_terminal: bool,
}

fn runs_probe(read: &heeler_shell::Line) -> bool {
    read.commands.iter().any(|command| command.words.first().is_some_and(|word| word == PROBE))
}

/// What sets the folder and the variables of a command.
#[derive(Debug)]
pub(super) struct Setup {
    text: String,
    /// How many commands that is. Not its lines: values may hold line breaks.
    n_commands: usize,
}

impl Setup {
    pub(super) fn new(folder: Option<&str>, variables: &[(String, String)]) -> Self {
        let folder = folder.map(|folder| format!("cd {}\n", quoted(folder)));
        let exports =
            variables.iter().map(|(name, value)| format!("export {name}={}\n", quoted(value)));
        let commands: Vec<String> = folder.into_iter().chain(exports).collect();
        Self { text: commands.concat(), n_commands: commands.len() }
    }

    fn before(&self, command: &str) -> String {
        format!("{}{command}", self.text)
    }
}

/// What a session of its own does: its command, which reads nothing yet. A shell that reads what is
/// written to it is no riddle, since that is judged when it is written.
pub(super) fn start(setup: &Setup, command: &str, has_input: bool, place: &Place<'_>) -> ShellLine {
    let command = setup.before(command);
    let mut line = read_line(&if has_input { fed(&command, "") } else { command.clone() }, place);
    heed_gitlinks(&mut line, place);
    line.line = command;
    // Where it starts and what it sees is no program that a rule would have to allow.
    for setting in line.commands.iter_mut().take(setup.n_commands) {
        setting.is_wrapper = true;
    }
    line
}

/// A command line with a text as its input. What its programs may take of the text is looked at line by
/// line, in [`Script::add_apart`].
fn read_fed(command: &str, text: &str, place: &Place<'_>) -> ShellLine {
    let mut line = read_line(&fed(command, text), place);
    line.concerns.retain(|concern| concern.why != heeler_shell::LINES_TAKEN);
    line
}

/// A command line with a text as its input.
fn fed(command: &str, text: &str) -> String {
    let mut end = "END_OF_INPUT".to_owned();
    while text.contains(&end) {
        end.push('_');
    }
    format!("{{ {command}\n}} <<'{end}'\n{text}\n{end}")
}

/// Whether a text, from the start of a line, changes a shell's line in another way than to add to
/// it or end it.
fn is_edited(text: &str) -> bool {
    let is_key = |c: char| c.is_control() && c != '\n';
    // History: a `!` before a word brings an earlier line back. What follows the last one is open.
    let mut pairs = text.chars().zip(text.chars().skip(1));
    let brings_back = pairs.any(|(a, b)| a == '!' && !matches!(b, ' ' | '=' | '\n' | '('));
    // So does `^old^new` at the start of a line, with one text in the place of the other.
    let replaces = text.lines().any(|line| line.trim_start().starts_with('^'));
    text.contains(is_key) || brings_back || replaces || text.ends_with('!')
}

/// Each word with what follows it in its line, as a command that no rule needs to allow.
fn words_as_commands(text: &str) -> Vec<ShellCommand> {
    let is_apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let lines = text.lines().flat_map(|line| {
        let words: Vec<String> = line
            .split(is_apart)
            .filter(|word| !word.is_empty())
            .map(|word| word.rsplit('/').next().unwrap_or(word).to_owned())
            .take(WORDS_MAX)
            .collect();
        (0..words.len()).map(move |from| words[from..].iter().take(8).cloned().collect())
    });
    let command = |words: Vec<String>| ShellCommand {
        words,
        is_doubtful: true,
        is_wrapper: true,
        ..ShellCommand::default()
    };
    lines.take(WORDS_MAX).map(command).collect()
}

#[cfg(test)]
mod tests;
