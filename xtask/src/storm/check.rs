//! What must hold of a session's effects, whatever struck it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};

use super::journal::{Call, Found};
use super::workload::{BOARD, EFFECTS, Workload};
use super::world::World;

/// Checks every effect the session may have had against what its journal says of it.
pub(super) fn effects(world: &World, workload: &Workload, journal: &Found) -> Result<()> {
    let calls: Vec<Call> = journal.calls().into_values().collect();
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

    fn check(n: usize, starts: usize, is_error: Option<bool>, expected: &str) {
        let (tool, input) = ("Bash".to_owned(), "echo a".to_owned());
        let call = Call { tool, input, starts, is_error };
        let found = happened("Bash", "a", n, &[call]).map_err(|error| error.to_string());
        assert_eq!(found.err().unwrap_or_default(), expected);
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
}
