//! Words that are no command as they stand: what they ask for, and what was meant by them.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _, Error};

use super::CommandLine;

/// From here on a word is taken for a command that was mistyped.
const LIKENESS_MIN: f64 = 0.8;
const NEEDS_QUOTES: &str = "a prompt of several words needs quotes: 'fix the failing test'";

const NEEDS_DASHES: &str = "a prompt that begins with - stands behind --";

/// Words that are no commands, and the options that do what they say.
const STAND_FOR: [(&str, &str); 2] = [("help", "--help"), ("version", "--version")];

/// How other agents call the mode in which nothing is asked.
const NEVER_ASK: [&str; 2] = ["--dangerously-skip-permissions", "--yolo"];

/// The line that `help`, alone or with a command, and `version` stand for: people know them from
/// other programs, and a model would be paid for answering.
pub(super) fn flagged(line: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let (program, words) = match &line[..] {
        [program, only] if only == "version" => {
            return Ok(vec![program.clone(), "--version".into()]);
        }
        [program, first, words @ ..] if first == "help" => (program, words),
        [program, words @ .., last] if last == "help" && is_open(words) => (program, words),
        _ => return Ok(line),
    };
    let mut command = CommandLine::command();
    for word in words {
        let Some(inner) = command.find_subcommand(word) else {
            let word = word.to_string_lossy();
            let quotes = || format!("\n\n  tip: {NEEDS_QUOTES}");
            let tip = meant(&command, &word).map_or_else(quotes, |meant| similar(&word, &meant));
            return Err(unrecognized(&word, &tip));
        };
        command = inner.clone();
    }
    let words = words.iter().cloned();
    Ok([program.clone()].into_iter().chain(words).chain(["--help".into()]).collect())
}

/// Whether nothing else than a question for help can be meant by `help` behind these words: an id
/// or a name may be spelled like it.
fn is_open(words: &[OsString]) -> bool {
    let [word] = words else { return false };
    let command = CommandLine::command();
    word == "exec" || command.find_subcommand(word).is_some_and(Command::has_subcommands)
}

/// The command that a prompt of one word was meant to be: a session is not begun by a typing error.
pub(super) fn mistyped(prompt: &str) -> Option<Error> {
    if let Some((_, option)) = STAND_FOR.iter().find(|(word, _)| *word == prompt) {
        let message = format!("'{prompt}' stands alone\n\n  tip: here it is '{option}'");
        return Some(CommandLine::command().error(ErrorKind::InvalidSubcommand, message));
    }
    let meant = meant(&CommandLine::command(), prompt)?;
    let tip = similar(prompt, &meant);
    let else_needs = "a prompt of one word that is like a subcommand needs another word";
    Some(unrecognized(prompt, &format!("{tip}; {else_needs}")))
}

/// What the parser says of a line, in words that fit what was done. It takes the first word for a
/// prompt, and each further one for a command.
pub(super) fn told(error: Error, line: &[OsString]) -> Error {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let whole = CommandLine::command();
            let word = named(ContextKind::InvalidSubcommand);
            let Some(word) = word.filter(|word| whole.find_subcommand(word).is_none()) else {
                return error;
            };
            let first = prompt(line).unwrap_or_default();
            if let Some(meant) = meant(&whole, &first) {
                return unrecognized(&first, &similar(&first, &meant));
            }
            let message = format!("unexpected argument '{word}' found\n\n  tip: {NEEDS_QUOTES}");
            CommandLine::command().error(ErrorKind::UnknownArgument, message)
        }
        ErrorKind::UnknownArgument if is_prompt_with_dash(named(ContextKind::InvalidArg), line) => {
            let is_exec = line.get(1).is_some_and(|first| first == "exec" || first == "-p");
            let command = if is_exec { "heeler exec" } else { "heeler" };
            with_tip(error, format!("{NEEDS_DASHES}: {command} -- '- a list'"))
        }
        ErrorKind::UnknownArgument => {
            let word = named(ContextKind::InvalidArg).unwrap_or_default();
            let is_exec = line.get(1).is_some_and(|first| first == "exec");
            match &*word {
                word if NEVER_ASK.contains(&word) => {
                    with_tip(error, "here it is '--permission-mode bypass'".to_owned())
                }
                word if is_exec && !word.starts_with('-') => {
                    with_tip(error, NEEDS_QUOTES.to_owned())
                }
                _ => error,
            }
        }
        _ => error,
    }
}

/// An error with this tip instead of the parser's own.
fn with_tip(mut error: Error, tip: String) -> Error {
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Whether what is no flag of a line that takes a prompt is a sentence that begins like one.
fn is_prompt_with_dash(unknown: Option<String>, line: &[OsString]) -> bool {
    let commands = CommandLine::command();
    let takes_prompt = line.get(1).is_none_or(|first| {
        first == "exec" || first == "-p" || commands.find_subcommand(first).is_none()
    });
    let Some(unknown) = unknown.filter(|_| takes_prompt) else { return false };
    // Of short flags only the dash and the one that is none are named, wherever that stands in its word.
    let flags: Vec<char> = unknown.chars().collect();
    let has_flag = |word: &str| match flags[..] {
        ['-', flag] => word.strip_prefix('-').is_some_and(|rest| rest.contains(flag)),
        _ => false,
    };
    let words = line.iter().skip(1).filter_map(|word| word.to_str());
    words
        .filter(|word| word.contains(char::is_whitespace))
        .any(|word| word == unknown || has_flag(word))
}

/// What was taken for the prompt of a line that could not be read.
fn prompt(line: &[OsString]) -> Option<String> {
    let matches = CommandLine::command().ignore_errors(true).try_get_matches_from(line).ok()?;
    matches.try_get_one::<String>("prompt").ok()?.cloned()
}

fn unrecognized(word: &str, tip: &str) -> Error {
    let message = format!("unrecognized subcommand '{word}'{tip}");
    CommandLine::command().error(ErrorKind::InvalidSubcommand, message)
}

fn similar(word: &str, meant: &str) -> String {
    match word == meant {
        // It was taken for a prompt, since it stands behind two dashes.
        true => format!("\n\n  tip: '{meant}' is one without the -- before it"),
        false => format!("\n\n  tip: a similar subcommand exists: '{meant}'"),
    }
}

fn meant(command: &Command, word: &str) -> Option<String> {
    if word.contains(char::is_whitespace) {
        return None;
    }
    let names = command.get_subcommands().map(|command| command.get_name());
    let like = names.map(|name| (strsim::jaro_winkler(word, name), name));
    let (likeness, name) = like.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness > LIKENESS_MIN).then(|| name.to_owned())
}
