//! What passes means to bash what it means to us: `bash --pretty-print` runs nothing and writes a
//! script as its own parser has read it, and of that we must see the same commands.
#![expect(clippy::disallowed_methods, reason = "bash is asked from outside")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use heeler_shell::read;
use heeler_testkit::require;
use proptest::prelude::*;

use crate::PLACE;
use crate::corpus;
use crate::limits::pieces;

/// A line as bash has read it, if it has.
fn printed(line: &str) -> Option<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--pretty-print", "/dev/stdin"]);
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut bash = bash.spawn().ok()?;
    // It may stop reading at a mistake.
    let _ = bash.stdin.take()?.write_all(line.as_bytes());
    let output = bash.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn knows_bash() -> bool {
    let prints = printed("ls&&cat").is_some_and(|text| text.trim() == "ls && cat");
    require("bash 5.2 or newer", prints)
}

/// The words of each command, in one order. What is computed bash writes in another way; the
/// commands in it are among them.
fn commands(line: &str) -> Vec<Vec<String>> {
    let known = |word: String| word.split(['(', '$']).next().unwrap_or_default().to_owned();
    let commands = read(line, &PLACE).commands.into_iter();
    let mut commands: Vec<Vec<_>> =
        commands.map(|command| command.words.into_iter().map(known).collect()).collect();
    commands.sort();
    commands
}

fn passes(line: &str) -> bool {
    read(line, &PLACE).concerns.is_empty()
}

/// Whether bash writes a line as it has read it: of what follows the beginning of a document it loses
/// some, and of what is to be translated that it is.
fn printed_as_read(line: &str) -> bool {
    let begins = |line: &str| line.contains("<<") && !line.contains("<<<");
    let is_last =
        |line: &str| line.split(' ').next_back().is_some_and(|last| last.starts_with("<<"));
    !line.contains("$\"") && line.lines().all(|line| !begins(line) || is_last(line))
}

fn check(line: &str) -> Result<(), TestCaseError> {
    if !passes(line) {
        return Ok(());
    }
    let Some(text) = printed(line) else {
        return Err(TestCaseError::fail(format!("{line:?} passes, and bash does not take it")));
    };
    if !printed_as_read(line) {
        return Ok(());
    }
    prop_assert_eq!(commands(line), commands(&text), "{:?} is to bash\n{}", line, text);
    Ok(())
}

/// A line of a row, spoiled: something is put in, left out, or said twice.
fn spoiled() -> impl Strategy<Value = String> {
    let rows: Vec<String> = corpus::rows().into_iter().map(|row| row.command).collect();
    let put = prop::sample::select(vec![
        "", " ", "\n", ";", "|", "&", "(", ")", "{", "}", "$(", "`", "'", "\"", "\\", "<<", "<<<",
        "#", "\t", "\\\n", "=", "$", "!", ";;", " rm x ", "<(", "[", "]",
    ]);
    (prop::sample::select(rows), any::<prop::sample::Index>(), any::<prop::sample::Index>(), put)
        .prop_map(|(row, at, to, put)| {
            let chars: Vec<char> = row.chars().collect();
            let (at, to) = (at.index(chars.len()), to.index(chars.len()));
            let end = if to > at && to - at < 4 { to } else { at };
            let (before, after) = (&chars[..at], &chars[end..]);
            before.iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(after).collect()
        })
}

#[test]
fn each_row_that_passes_is_to_bash_what_it_is_to_us() {
    if knows_bash() {
        let rows = corpus::rows();
        let wrong: Vec<_> = rows.iter().filter_map(|row| check(&row.command).err()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn each_spoiled_row_that_passes_is_to_bash_what_it_is_to_us(line in spoiled()) {
        check(&line)?;
    }

    #[test]
    fn pieces_that_pass_are_to_bash_what_they_are_to_us(line in pieces()) {
        check(&line)?;
    }
}
