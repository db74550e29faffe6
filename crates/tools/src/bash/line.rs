//! What a command line touches: the shell crate's reading of it, in the words of facts.

use heeler_core::{Concern, ConcernKind, ShellCommand, ShellLine};
use heeler_shell::Place;

use super::BashInput;
use super::gitlinks::heed_gitlinks;

/// What somebody is told who has to let a command leave the box because the model asks for it.
const ASKS_TO_LEAVE: &str = "it asks to run outside of the sandbox";

/// What the input's line may do in this place.
pub(super) fn judged(input: &BashInput, place: &Place<'_>) -> ShellLine {
    let mut line = read(&input.command, place);
    heed_gitlinks(&mut line, place);
    if input.outside_sandbox == Some(true) {
        ask_to_leave(&mut line);
    }
    line
}

/// What a line may do in this place, in the words of facts.
pub(crate) fn read(text: &str, place: &Place<'_>) -> ShellLine {
    let line = heeler_shell::read(text, place);
    ShellLine {
        line: text.to_owned(),
        commands: line.commands.into_iter().map(command).collect(),
        writes: line.writes,
        reads: line.reads,
        concerns: line.concerns.into_iter().map(concern).collect(),
        is_open_ended: line.is_open_ended,
        asks_to_leave: false,
        is_read_only: line.is_read_only,
    }
}

/// A word that a shell takes as it is.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The call asks to run outside of the box.
pub(crate) fn ask_to_leave(line: &mut ShellLine) {
    line.asks_to_leave = true;
    line.concerns.push(Concern { kind: ConcernKind::Leaves, why: ASKS_TO_LEAVE.to_owned() });
}

fn command(command: heeler_shell::Command) -> ShellCommand {
    let is_doubtful = !command.is_certain();
    let heeler_shell::Command { words, plain, is_wrapper, made, .. } = command;
    let plain = if plain == words { Vec::new() } else { plain };
    ShellCommand { words, plain, is_doubtful, is_wrapper, made }
}

fn concern(concern: heeler_shell::Concern) -> Concern {
    let kind = match concern.kind {
        heeler_shell::ConcernKind::NotUnderstood => ConcernKind::NotUnderstood,
        heeler_shell::ConcernKind::Irreversible => ConcernKind::Irreversible,
        heeler_shell::ConcernKind::Leaves => ConcernKind::Leaves,
        heeler_shell::ConcernKind::Environment => ConcernKind::Environment,
    };
    Concern { kind, why: concern.why }
}

#[cfg(test)]
mod tests {
    use heeler_core::PROTECTED;
    use heeler_shell::PROTECTED_NAMES;

    #[test]
    fn command_lines_and_tools_of_files_protect_the_same_names() {
        let named: Vec<&str> =
            PROTECTED.into_iter().filter(|place| !place.starts_with(".git/")).collect();
        assert_eq!(named, PROTECTED_NAMES);
    }
}
