//! What must hold of what a session wrote, asked and did, whatever struck it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};

use super::journal::{Call, Found};
use super::workload::{BOARD, EFFECTS, Workload};
use super::world::World;

/// What there is after a process, and what there was before it.
pub(super) struct After<'a> {
    /// The journal's whole lines, before and after.
    pub(super) written_before: &'a [u8],
    pub(super) written: &'a [u8],
    /// The number of the last record that is written, and of the last one that was shown.
    pub(super) last: u64,
    pub(super) shown: u64,
    /// How often the journal says that a model is asked, and how many requests came.
    pub(super) questions: usize,
    pub(super) requests: usize,
    /// What the server found wrong with them.
    pub(super) violations: &'a [String],
}

/// Nothing that was written or shown is lost, and nothing was asked that was not written, or that a
/// provider would refuse.
pub(super) fn process(after: &After<'_>) -> Result<()> {
    let After { written_before, written, last, shown, questions, requests, violations } = after;
    valid(violations)?;
    ensure!(
        written.starts_with(written_before),
        "the journal lost what was written: {} bytes, then {}",
        written_before.len(),
        written.len()
    );
    ensure!(shown <= last, "record {shown} was shown, and the last one written is {last}");
    ensure!(requests <= questions, "{requests} requests came, and {questions} were written before");
    Ok(())
}

/// No request is one that a provider would refuse.
pub(super) fn valid(violations: &[String]) -> Result<()> {
    ensure!(violations.is_empty(), "requests are invalid: {}", violations.join("; "));
    Ok(())
}

/// Checks every effect the session may have had against what its journal says of it.
pub(super) fn effects(world: &World, workload: &Workload, journal: &Found) -> Result<()> {
    let calls: Vec<Call> = journal.calls().into_values().collect();
    ended(&calls)?;
    appended(&world.worked(EFFECTS), workload, &calls)?;
    edited(&world.worked(BOARD), workload, &calls)?;
    for (name, content) in &workload.files {
        let found = world.worked(name);
        ensure!(
            found.is_empty() || found == *content,
            "{name} has {} of its {} bytes",
            found.len(),
            content.len()
        );
        happened("Write", name, usize::from(!found.is_empty()), &calls)?;
    }
    Ok(())
}

/// A call is one that the model made, and has one result at most.
fn ended(calls: &[Call]) -> Result<()> {
    for Call { tool, input, ends, .. } in calls {
        ensure!(!tool.is_empty(), "there is a call that no reply holds");
        ensure!(*ends <= 1, "{tool} {input} finished {ends} times");
    }
    Ok(())
}

/// Every line that commands append stands there as often as the journal says.
fn appended(text: &str, workload: &Workload, calls: &[Call]) -> Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        *counts.entry(line).or_default() += 1;
    }
    for token in &workload.tokens {
        let n = counts.remove(token.as_str()).unwrap_or_default();
        happened("Bash", token, n, calls)?;
    }
    match counts.keys().next() {
        Some(line) => bail!("{EFFECTS} has a line that no call appends: {line}"),
        None => Ok(()),
    }
}

/// The board has every line, and those that were edited are full.
fn edited(text: &str, workload: &Workload, calls: &[Call]) -> Result<()> {
    let mut lines = text.lines();
    for slot in &workload.slots {
        let line = lines.next().with_context(|| format!("{BOARD} ends before {slot}"))?;
        let n = match line.strip_prefix(&format!("{slot}: ")) {
            Some("empty") => 0,
            Some("full") => 1,
            _ => bail!("{BOARD} has {line:?} in place of {slot}"),
        };
        happened("Edit", &format!("{slot}: full"), n, calls)?;
    }
    ensure!(lines.next().is_none(), "{BOARD} has more lines than it began with");
    Ok(())
}

/// An effect happens at most once, never without a record of its start, and surely when its call
/// has finished well.
fn happened(tool: &str, what: &str, n: usize, calls: &[Call]) -> Result<()> {
    ensure!(n <= 1, "{what} happened {n} times");
    let is_of = |call: &&Call| call.tool == tool && call.input.contains(what);
    let call = calls.iter().find(is_of);
    let starts = call.map_or(0, |call| call.starts);
    // What is written twice looks as if it were written once.
    ensure!(starts <= 1, "{what} was begun {starts} times");
    ensure!(n == 0 || starts == 1, "{what} happened, and its call never started");
    let is_done = call.is_some_and(|call| call.is_error == Some(false));
    ensure!(n == 1 || !is_done, "{what} did not happen, and its call finished well");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found when this is changed of a process that went well.
    fn check_process<'a>(change: impl FnOnce(&mut After<'a>), expected: &str) {
        let mut after = After {
            written_before: b"a\nb\n",
            written: b"a\nb\nc\n",
            last: 3,
            shown: 3,
            questions: 2,
            requests: 2,
            violations: &[],
        };
        change(&mut after);
        let found = process(&after).map_err(|error| error.to_string());
        assert_eq!(found.err().unwrap_or_default(), expected);
    }

    #[test]
    fn what_was_written_shown_and_asked_fits() {
        let violations = &["no result".to_owned(), "no call".to_owned()];
        check_process(|_| {}, "");
        check_process(|after| after.shown = 0, "");
        check_process(|after| after.requests = 1, "");
        let lost = "the journal lost what was written: 4 bytes, then ";
        check_process(|after| after.written = b"a\n", &format!("{lost}2"));
        check_process(|after| after.written = b"a\nB\nc\n", &format!("{lost}6"));
        let shown = "record 4 was shown, and the last one written is 3";
        check_process(|after| after.shown = 4, shown);
        check_process(|after| after.requests = 3, "3 requests came, and 2 were written before");
        let invalid = "requests are invalid: no result; no call";
        check_process(|after| after.violations = violations, invalid);
    }

    fn check(n: usize, starts: usize, is_error: Option<bool>, expected: &str) {
        let found = happened("Bash", "a", n, &[call("echo a", starts, is_error)]);
        assert_eq!(found.map_err(|error| error.to_string()).err().unwrap_or_default(), expected);
    }

    fn call(input: &str, starts: usize, is_error: Option<bool>) -> Call {
        let ends = usize::from(is_error.is_some());
        Call { tool: "Bash".to_owned(), input: input.to_owned(), starts, ends, is_error }
    }

    #[test]
    fn an_effect_fits_what_the_journal_says() {
        check(0, 0, None, "");
        check(0, 1, None, "");
        check(1, 1, None, "");
        check(1, 1, Some(true), "");
        check(1, 1, Some(false), "");
        check(2, 1, Some(false), "a happened 2 times");
        check(1, 2, Some(false), "a was begun 2 times");
        check(1, 0, None, "a happened, and its call never started");
        check(0, 1, Some(false), "a did not happen, and its call finished well");
    }

    #[test]
    fn a_call_was_made_and_ends_once() {
        let check = |call: Call, expected: &str| {
            let found = ended(&[call]).map_err(|error| error.to_string());
            assert_eq!(found.err().unwrap_or_default(), expected);
        };
        check(call("{}", 1, Some(false)), "");
        check(call("{}", 0, None), "");
        check(Call { ends: 2, ..call("{}", 1, Some(false)) }, "Bash {} finished 2 times");
        check(Call::default(), "there is a call that no reply holds");
    }

    /// What is found wrong with two lines of commands and two slots of the board.
    fn check_files(effects: &str, board: &str, expected: &str) {
        let workload = Workload {
            tokens: vec!["token-0".to_owned(), "token-1".to_owned()],
            slots: vec!["slot-0".to_owned(), "slot-1".to_owned()],
            ..Workload::draw(&mut crate::dice::Dice::new(0), 0)
        };
        let edit = |slot: &str| Call { tool: "Edit".to_owned(), ..call(slot, 1, None) };
        let calls = [
            call("echo token-0", 1, None),
            call("echo token-1", 1, Some(false)),
            edit("slot-0: full"),
            edit("slot-1: full"),
        ];
        let found = appended(effects, &workload, &calls);
        let found = found.and_then(|()| edited(board, &workload, &calls));
        assert_eq!(found.map_err(|error| error.to_string()).err().unwrap_or_default(), expected);
    }

    #[test]
    fn files_hold_what_calls_put_there_and_nothing_else() {
        let board = "slot-0: empty\nslot-1: full\n";
        check_files("token-1\n", board, "");
        check_files("token-1\ntoken-0\n", board, "");
        check_files("token-1\ntoken-0\ntoken-1\n", board, "token-1 happened 2 times");
        check_files("", board, "token-1 did not happen, and its call finished well");
        let strange = "effects.txt has a line that no call appends: tok";
        check_files("token-1\ntok", board, strange);
        check_files("token-1\n", "slot-0: full\n", "board.txt ends before slot-1");
        let torn = "board.txt has \"slot-1: fu\" in place of slot-1";
        check_files("token-1\n", "slot-0: full\nslot-1: fu", torn);
        let more = "board.txt has more lines than it began with";
        check_files("token-1\n", &format!("{board}slot-1: full\n"), more);
    }
}
