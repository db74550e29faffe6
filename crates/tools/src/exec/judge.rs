//! What calls touch: a session is judged as the one command line that would do the same.
//!
//! That line is the session's command with all that was written to it as its here-document, so what
//! is written to a shell is judged as a script: with the folder it went to before, the names it
//! gave, the quote it left open, and by the rules that hold for `Bash`. What is written to another
//! program is judged as that program; and since some of those start commands when they are told to
//! (`!` in a pager), each word of it counts as a command for rules that deny or ask.
//!
//! Where a line of a shell is edited by keys, nobody can say what it will be: then it is asked.

use heeler_core::{Concern, ConcernKind, ShellCommand, ShellLine};
use heeler_shell::Place;

use crate::bash::{quoted, read_line};

/// How much of what was written to a shell is judged again with each call.
pub(super) const SCRIPT_BYTES_MAX: usize = 32 * 1024;
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
    is_confined: bool,
    /// What was written: of a shell all, of others the last line.
    written: String,
    /// A line was edited, or there was too much to keep.
    is_unknown: bool,
}

impl Script {
    pub(super) fn new(setup: &Setup, command: &str, is_confined: bool, place: &Place<'_>) -> Self {
        let command = setup.before(command);
        let probe = heeler_shell::read(&fed(&command, PROBE), place);
        let is_probe = |command: &heeler_shell::Command| {
            command.words.first().is_some_and(|word| word == PROBE)
        };
        let reads_commands = probe.commands.iter().any(is_probe);
        let (written, is_unknown) = (String::new(), false);
        Self { command, reads_commands, is_confined, written, is_unknown }
    }

    /// What it does to write this as well.
    pub(super) fn line(&self, data: &str, place: &Place<'_>) -> ShellLine {
        let text = self.text_with(data);
        let mut line = read_line(&fed(&self.command, &text), place);
        // The first lines of a text are shown, and these are new.
        line.line = format!("{data}\n# is written to: {}", line.line);
        line.is_read_only = false;
        if self.reads_commands {
            if self.is_unknown || self.is_edited_by(data) || text.len() > SCRIPT_BYTES_MAX {
                let why = "it writes to a shell whose line cannot be told".to_owned();
                line.concerns.push(Concern { kind: ConcernKind::NotUnderstood, why });
            }
        } else {
            line.commands.extend(words_as_commands(&text));
        }
        if !self.is_confined {
            let why = "it writes to a program that runs outside of the sandbox".to_owned();
            line.concerns.push(Concern { kind: ConcernKind::Leaves, why });
        }
        line
    }

    /// Keeps what is written.
    pub(super) fn write(&mut self, data: &str) {
        self.is_unknown |= self.is_edited_by(data);
        let mut text = self.text_with(data);
        if !self.reads_commands {
            let begun = text.rfind('\n').map_or(0, |end| end + 1);
            text.drain(..begun);
        }
        if text.len() > SCRIPT_BYTES_MAX {
            text.clear();
            self.is_unknown = true;
        }
        self.written = text;
    }

    /// Whether the line that was begun is edited by this, or one behind it.
    fn is_edited_by(&self, data: &str) -> bool {
        let begun = self.written.rfind('\n').map_or(0, |end| end + 1);
        is_edited(&format!("{}{data}", &self.written[begun..]))
    }

    fn text_with(&self, data: &str) -> String {
        // These keys end a line in their own ways, and bring none back.
        let data = data.replace("\r\n", "\n").replace(['\r', '\x03', '\x04', '\x0c'], "\n");
        format!("{}{data}", self.written)
    }
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
    line.line = command;
    // Where it starts and what it sees is no program that a rule would have to allow.
    for setting in line.commands.iter_mut().take(setup.n_commands) {
        setting.is_wrapper = true;
    }
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
    let is_end = |c: char| matches!(c, '\n' | '\r' | '\x03' | '\x04' | '\x0c');
    let is_key = |c: char| c.is_control() && !is_end(c);
    // History: a `!` before a word brings an earlier line back. What follows the last one is open.
    let mut pairs = text.chars().zip(text.chars().skip(1));
    let brings_back = pairs.any(|(a, b)| a == '!' && !matches!(b, ' ' | '=' | '\n' | '('));
    // So does `^old^new` at the start of a line, with one text in the place of the other.
    let replaces = text.split(is_end).any(|line| line.trim_start().starts_with('^'));
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
mod tests {
    use super::*;

    const PLACE: Place<'_> =
        Place { workspace: "/space", home: Some("/home/user"), temp: Some("/tmp/x") };

    fn said(line: &ShellLine) -> String {
        let concerns: Vec<_> = line.concerns.iter().map(|concern| concern.why.as_str()).collect();
        let needed: Vec<_> = line
            .commands
            .iter()
            .filter(|command| !command.is_wrapper)
            .map(|command| command.words.join(" "))
            .collect();
        format!("{} | {}", needed.join("; "), concerns.join("; "))
    }

    /// What the last of these texts is judged as, written to this command one after the other.
    fn check(command: &str, written: &[&str], expected: &str) {
        let mut script = Script::new(&Setup::new(None, &[]), command, true, &PLACE);
        let (last, before) = written.split_last().unwrap();
        before.iter().for_each(|data| script.write(data));
        assert_eq!(said(&script.line(last, &PLACE)), expected, "{command} {written:?}");
    }

    #[test]
    fn what_is_written_to_a_shell_is_a_script() {
        check("bash", &["git status\n"], "bash; git status | ");
        check(
            "env bash -i",
            &["git push\n"],
            "bash -i; git push | git push talks to another repository",
        );
        check("bash", &["rm -", "rf build", "\n"], "bash; rm -rf build | removes build for good");
        check(
            "bash",
            &["cd ..\n", "rm x\n"],
            "bash; cd ..; rm x | writes to /x, which is outside of the workspace",
        );
        check("bash", &["X=rm\n", "$X x\n"], "bash; $X x | which command runs is computed: $X");
        check("bash", &["echo 'a\n", "rm x'\n"], "bash; echo a\nrm x | ");
    }

    #[test]
    fn a_line_that_keys_made_is_asked_about() {
        let unknown = "it writes to a shell whose line cannot be told";
        check(
            "bash",
            &["ls\n", "\x1b[A"],
            &format!(
                "bash; ls; \x1b[A | it holds control characters; the name of a command holds unusual characters; {unknown}"
            ),
        );
        check("bash", &["ls\t", "\x03", "ls\n"], &format!("bash; ls; ls | {unknown}"));
        check("bash", &["!rm\n"], &format!("bash; !rm | {unknown}"));
        check(
            "bash",
            &["echo rm x\n", "!", "echo\n"],
            &format!("bash; echo rm x; !echo | {unknown}"),
        );
        check("bash", &["ls !"], &format!("bash; ls ! | {unknown}"));
        check("bash", &["ls x\n", "^ls^rm\n"], &format!("bash; ls x; ^ls^rm | {unknown}"));
        check("bash", &["ls x\n", "^", "ls^rm\n"], &format!("bash; ls x; ^ls^rm | {unknown}"));
        check("bash", &["ls x\r^ls^rm\r"], &format!("bash; ls x; ^ls^rm | {unknown}"));
        check("bash", &["grep ", "^a b\n"], "bash; grep ^a b | ");
        check("bash", &["ls\x03", "pwd\r"], "bash; ls; pwd | ");
        check("bash", &[&"#".repeat(SCRIPT_BYTES_MAX + 1)], &format!("bash | {unknown}"));
        check(
            "bash",
            &[&"#".repeat(SCRIPT_BYTES_MAX + 1), "ls\n"],
            &format!("bash; ls | {unknown}"),
        );
    }

    #[test]
    fn what_is_written_to_another_program_is_that_program_and_its_words() {
        check("python3", &["import os\n", "print(1)\n"], "python3 | ");
        let script = Script::new(&Setup::new(None, &[]), "less a", true, &PLACE);
        let line = script.line("!/bin/rm -rf x\n", &PLACE);
        assert_eq!(said(&line), "less a | ");
        assert!(line.commands.iter().any(|command| command.words == ["rm", "-rf", "x"]));
        assert!(!line.is_read_only);
        let begun = {
            let mut script = script;
            script.write("old\n!r");
            script
        };
        assert!(begun.line("m x", &PLACE).commands.iter().any(|it| it.words == ["rm", "x"]));
    }

    #[test]
    fn who_runs_outside_leaves_the_box_with_each_word() {
        let script = Script::new(&Setup::new(None, &[]), "python3", false, &PLACE);
        let line = script.line("1\n", &PLACE);
        assert_eq!(
            said(&line),
            "python3 | it writes to a program that runs outside of the sandbox"
        );
    }

    /// What has to be allowed of a command that starts in a folder with variables.
    fn check_start(
        folder: Option<&str>,
        variables: &[(&str, &str)],
        command: &str,
        expected: &str,
    ) {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let line = start(&Setup::new(folder, &variables), command, true, &PLACE);
        assert_eq!(said(&line), expected, "{folder:?} {variables:?} {command}");
    }

    #[test]
    fn a_start_is_its_command_with_folder_and_variables() {
        let variables = [("A".to_owned(), "it's".to_owned())];
        let setup = Setup::new(Some("sub dir"), &variables);
        assert_eq!(setup.text, "cd 'sub dir'\nexport A='it'\\''s'\n");
        check_start(Some("sub dir"), &[("A", "it's")], "ls", "ls | ");
        check_start(None, &[], "bash", "bash | ");
        let none = Setup::new(None, &[]);
        let reads = "bash | a shell runs what it reads";
        assert_eq!(said(&start(&none, "bash", false, &PLACE)), reads);
        check_start(None, &[("PATH", "/x")], "ls", "ls | PATH decides what runs");
        let up = "rm x | writes to /x, which is outside of the workspace";
        check_start(Some(".."), &[], "rm x", up);
    }

    #[test]
    fn a_line_break_in_a_setting_lets_no_command_off() {
        check_start(None, &[("A", "1\n2")], "id; ls", "id; ls | ");
        check_start(None, &[("A", "\n\n\n"), ("B", "'\n'")], "id; ls; pwd", "id; ls; pwd | ");
        check_start(Some("a\nb\n"), &[("A", "1")], "id; ls", "id; ls | ");
        check_start(Some("a\n\nb"), &[], "cd c; export D=1; ls", "cd c; export D=1; ls | ");
    }
}
