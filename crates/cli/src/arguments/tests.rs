//! Any command line at all, made of the flags there are: read, or refused with words that name
//! what is wrong.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clap::{Arg, ArgAction, Command, CommandFactory};
use proptest::prelude::*;
use proptest::sample::select;

use super::{ExecLine, command_line, read};

/// Values at the edge of what flags take.
const ODD: [&str; 43] = [
    "",
    " ",
    "-",
    "--",
    "---",
    "=",
    "-1",
    "-0",
    "0",
    "1",
    "007",
    "+1",
    "1e308",
    "1e999",
    "NaN",
    "inf",
    "-inf",
    "0x10",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "é\u{301}",
    "\u{202e}",
    "a\tb\nc",
    "\u{1b}[31m",
    ".",
    "/",
    "absent/absent",
    "script:",
    "script:absent.toml",
    "anthropic/",
    "Bash",
    "Bash(rm:*)",
    "Bash(rm",
    "ask",
    "bypass",
    "yolo",
    "bash",
    "exec",
    "help",
    "-h",
    "-V",
];

/// A word of a line.
fn word() -> impl Strategy<Value = OsString> {
    prop_oneof![
        4 => select(&ODD[..]).prop_map(OsString::from),
        2 => select(names()).prop_map(OsString::from),
        1 => "(?s).{0,12}".prop_map(OsString::from),
        1 => prop::collection::vec(1u8..=255, 0..8).prop_map(OsString::from_vec),
        1 => (1usize..5).prop_map(|n| OsString::from("x".repeat(n * 20_000))),
    ]
}

/// Every command and every flag, alone and with a value.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for (commands, command) in commands() {
        names.extend(commands);
        let flags = command.get_arguments().filter_map(Arg::get_long);
        names.extend(flags.flat_map(|flag| [format!("--{flag}"), format!("--{flag}=1")]));
    }
    names
}

/// Every command that does something, with the words that lead to it.
fn commands() -> Vec<(Vec<String>, Command)> {
    let mut found = Vec::new();
    let mut whole = command_line();
    whole.build();
    let mut ahead = vec![(Vec::new(), whole)];
    while let Some((words, command)) = ahead.pop() {
        if !command.has_subcommands() {
            found.push((words, command));
            continue;
        }
        for inner in command.get_subcommands() {
            let words = words.iter().cloned().chain([inner.get_name().to_owned()]).collect();
            ahead.push((words, inner.clone()));
        }
    }
    found
}

/// A command's words and one of its arguments that take a value, with a name for it.
fn valued() -> Vec<(Vec<String>, Arg)> {
    // What is hidden is only taken to be refused, whatever it is.
    let takes_value = |arg: &Arg| {
        matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !arg.is_hide_set()
    };
    let arguments = commands().into_iter().flat_map(|(words, command)| {
        let arguments = command.get_arguments().filter(|arg| takes_value(arg)).cloned();
        arguments.map(|arg| (words.clone(), arg)).collect::<Vec<_>>()
    });
    arguments.collect()
}

/// Reads a line; a refusal is for people, says what to do next, and is told on stderr.
fn refusal(words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let error = read(std::iter::once("heeler".into()).chain(words)).err()?;
    let text = error.to_string();
    if error.use_stderr() && !text.contains("Usage: heeler") {
        assert!(text.contains("try '--help'"), "{text}");
    }
    assert!(!text.trim().is_empty());
    Some(text)
}

#[test]
fn the_command_line_is_sound() {
    command_line().debug_assert();
}

#[test]
fn every_argument_that_takes_a_value_is_tried() {
    let names: Vec<String> = valued().iter().map(|(_, arg)| arg.to_string()).collect();
    for name in ["--model <MODEL>", "--deny <RULE>", "--request <N>", "<ID>", "<ID>...", "<SHELL>"]
    {
        assert!(names.iter().any(|tried| tried == name), "{name} is not in {names:?}");
    }
    // A value that no flag takes is refused by each of them, and each says its own name.
    for (mut words, arg) in valued() {
        let mut bytes = OsString::from_vec(vec![b'a', 0xff]);
        match arg.get_long() {
            Some(long) if arg.is_require_equals_set() => {
                let mut flag = OsString::from(format!("--{long}="));
                flag.push(&bytes);
                bytes = flag;
            }
            long => words.extend(long.map(|long| format!("--{long}"))),
        }
        let line = words.into_iter().map(OsString::from).chain([bytes]);
        let paths = ["cwd", "output_schema", "result_json", "settings"];
        let is_path = paths.contains(&arg.get_id().as_str());
        match refusal(line) {
            Some(text) => assert!(text.contains(&arg.to_string()), "{arg}: {text}"),
            None => assert!(is_path, "{arg} takes what is no text"),
        }
    }
}

#[test]
fn an_empty_id_is_no_session() {
    for line in [&["show", ""][..], &["audit", " "], &["sessions", "delete", "a", ""]] {
        let text = refusal(line.iter().map(OsString::from)).unwrap();
        assert!(text.contains("there is no session without an id"), "{text}");
    }
    let text = refusal(["exec", "--resume", "", "go on"].map(OsString::from)).unwrap();
    assert!(text.contains("'--resume <ID>'"), "{text}");
}

proptest! {
    #[test]
    fn no_line_makes_the_parser_panic(words in prop::collection::vec(word(), 0..9)) {
        let _ = refusal(words);
    }

    /// Lines that begin with a command reach further.
    #[test]
    fn no_line_of_a_command_makes_the_parser_panic(
        (commands, _) in select(commands()),
        words in prop::collection::vec(word(), 0..9),
    ) {
        let _ = refusal(commands.into_iter().map(OsString::from).chain(words));
    }

    /// What `exec` reads by itself is what the whole command line reads.
    #[test]
    fn exec_alone_reads_what_the_whole_reads(
        (words, arg) in select(valued()),
        before in prop::collection::vec(word(), 0..2),
        value in word(),
        after in prop::collection::vec(word(), 0..4),
    ) {
        let flag = arg.get_long().filter(|_| words[0] == "exec").unwrap_or("model");
        let mut flag = OsString::from(format!("--{flag}="));
        flag.push(&value);
        let line = ["heeler", "exec"].map(OsString::from).into_iter().chain(before);
        let line: Vec<OsString> = line.chain([flag]).chain(after).collect();
        let (alone, whole) = (ExecLine::command(), command_line());
        if let Ok(alone) = alone.try_get_matches_from(&line) {
            let whole = whole.try_get_matches_from(&line).unwrap();
            prop_assert_eq!(alone.subcommand(), whole.subcommand());
        }
    }

    /// One flag, twice with the same value: whatever is refused names the flag.
    #[test]
    fn a_refused_value_names_its_flag(
        (words, arg) in select(valued()),
        value in word(),
        again in any::<bool>(),
    ) {
        let Some(long) = arg.get_long() else { return Ok(()) };
        let mut flag = OsString::from(format!("--{long}="));
        flag.push(&value);
        let id = (words[0] == "show").then(|| OsString::from("id"));
        let twice = again.then(|| flag.clone());
        let line = words.into_iter().map(OsString::from).chain(id).chain([flag]).chain(twice);
        if let Some(text) = refusal(line) {
            prop_assert!(text.contains(&format!("--{long}")), "{}", text);
        }
    }
}
