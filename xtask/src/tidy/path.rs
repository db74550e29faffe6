//! The way into the code that ARCHITECTURE.md promises is as long as it says.

use crate::finding::Finding;
use crate::tree::{Tree, resolve};

pub(super) const WHY: &str = "who is promised half an hour gives half an hour: files grow, names \
     go, and a way that has become an afternoon is not walked to its end";

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## The thirty-minute path";
/// How long all of it may take.
const MINUTES_MAX: usize = 30;
/// How fast code is read that is new; blank lines and imports are not counted.
const LINES_IN_MINUTE: usize = 40;
/// Names only the documentation at the top of a file.
const FRONT_PAGE: &str = "front page";
/// What stands between the first and the last name of a stretch.
const TO_THE_END_OF: &str = "to the end of";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut sum = 0;
    for (line, step) in steps(text) {
        let refused = |message: String| Finding::refused(PAGE, line, message);
        let Some(minutes) = minutes(&step) else { continue };
        sum += minutes;
        let lines: Result<Vec<usize>, String> = readings(&step)
            .into_iter()
            .map(|(file, extent)| n_lines(tree, &resolve(PAGE, file), extent))
            .collect();
        match lines.map(|lines| lines.iter().sum::<usize>()) {
            Err(message) => findings.push(refused(message)),
            Ok(0) => {}
            Ok(n) if n.div_ceil(LINES_IN_MINUTE).abs_diff(minutes) <= 1 => {}
            Ok(n) => findings.push(refused(format!(
                "{n} lines are no {minutes} minutes at {LINES_IN_MINUTE} a minute; \
                 say how many they are, or lead elsewhere"
            ))),
        }
    }
    if sum > MINUTES_MAX {
        let message = format!("the path takes {sum} minutes, and promises {MINUTES_MAX}");
        findings.push(Finding::refused(PAGE, 0, message));
    }
    findings
}

/// The introduction and each numbered step, as one line, with the number of its first.
fn steps(text: &str) -> Vec<(usize, String)> {
    let mut steps: Vec<(usize, String)> = Vec::new();
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    let is_step = |line: &str| line.starts_with(|first: char| first.is_ascii_digit());
    // It ends with the first paragraph behind the steps.
    for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
        match steps.last_mut() {
            Some((_, step)) if !is_step(line) && (line.starts_with(' ') || !is_step(step)) => {
                step.push(' ');
                step.push_str(line.trim());
            }
            Some(_) if !is_step(line) => break,
            _ => steps.push((index + 1, line.to_owned())),
        }
    }
    steps
}

/// The minutes that `(3 min)` or `(3 minutes)` says.
fn minutes(step: &str) -> Option<usize> {
    let before = &step[..step.find(" min")?];
    before.rsplit('(').next()?.parse().ok()
}

/// The files that a step links to, each with what is said of it up to the next.
fn readings(step: &str) -> Vec<(&str, &str)> {
    step.split("](").skip(1).filter_map(|rest| rest.split_once(')')).collect()
}

/// How many lines are to be read of a file: all of it, its front page, or the items that are named,
/// alone or from one to the end of another.
fn n_lines(tree: &Tree, path: &str, extent: &str) -> Result<usize, String> {
    let text = tree.text(path).ok_or_else(|| format!("{path} does not exist"))?;
    let own = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines: Vec<&str> = own.lines().collect();
    if extent.contains(FRONT_PAGE) {
        return Ok(lines.iter().take_while(|line| line.starts_with("//!")).count());
    }
    // What is behind a colon tells what is found there.
    let extent = extent.split(':').next().unwrap_or(extent);
    let place = |name: &str| {
        let found = lines.iter().position(|line| declares(line, name));
        found.ok_or_else(|| format!("{path} has no `{name}`"))
    };
    let mut n = 0;
    let mut start = None;
    let parts: Vec<&str> = extent.split('`').collect();
    for named in parts.chunks(2) {
        let [before, name] = named else { break };
        let at = place(name)?;
        if before.contains(TO_THE_END_OF) {
            n += counted(&lines[start.take().unwrap_or(0)..=end_of(&lines, at)]);
            continue;
        }
        n += start.map_or(0, |start| counted(&lines[start..=end_of(&lines, start)]));
        start = Some(at);
    }
    n += start.map_or(0, |start| counted(&lines[start..=end_of(&lines, start)]));
    Ok(if n == 0 { counted(&lines) } else { n })
}

/// Whether a line begins an item of this name, or the implementation that the name is.
fn declares(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    if name.starts_with("impl ") {
        return line.starts_with(name);
    }
    ["fn ", "struct ", "enum ", "trait "].iter().any(|kind| {
        let behind = line.split_once(kind).map(|(before, rest)| (before, rest.strip_prefix(name)));
        behind.is_some_and(|(before, rest)| {
            let is_named = rest.is_some_and(|rest| rest.starts_with(['(', '<', ' ', ';', '{']));
            is_named && !before.starts_with("//")
        })
    })
}

/// The line that ends what begins here: the first as far in that closes something.
fn end_of(lines: &[&str], start: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = indent(lines[start]);
    let closes = |line: &&str| indent(line) == first && line.trim_start().starts_with('}');
    let length = lines[start..].iter().position(closes);
    length.map_or(start, |length| start + length)
}

/// Lines that are read: neither blank nor imports.
fn counted(lines: &[&str]) -> usize {
    let mut is_import = false;
    let read = lines.iter().filter(|line| {
        let begins = ["use ", "pub use ", "mod ", "pub mod "].iter().any(|it| line.starts_with(it));
        let was = begins || is_import;
        is_import = was && !line.ends_with(';');
        !was && !line.trim().is_empty()
    });
    read.count()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_steps(steps: &str, expected: Expect) {
        let body = "    let one = 1;\n".repeat(50);
        let code = format!(
            "//! A.\n\nuse a::{{\n    B,\n}};\n\nstruct A {{\n    b: u8,\n}}\n\n\
             fn first() {{\n{body}}}\n\nimpl C for A {{\n    fn last(&self) {{\n{body}    }}\n}}\n\n\
             #[cfg(test)]\nmod tests {{\n{body}}}\n"
        );
        let page = format!(
            "# A\n\n{HEADING}\n\nAfter the rest\n(3 minutes):\n\n{steps}\n\nFrom here on (99 min)\n"
        );
        let tree = Tree::of([(PAGE, page), ("a/lib.rs", code)]);
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn a_path_that_is_as_long_as_it_says_is_fine() {
        check_steps(
            "1. [a](a/lib.rs): all of it, `nothing` else\n   (3 min).\n\
             2. [a](a/lib.rs), its front page (1 min).\n\
             3. [a](a/lib.rs), its front page, then [b](a/lib.rs) `first` to the end of `last` (3 min).\n\
             4. [a](a/lib.rs) `A`, then `first` (1 min).\n\
             5. [a](a/lib.rs) to the end of `impl C` (3 min).\n",
            expect![""],
        );
    }

    #[test]
    fn what_is_longer_or_gone_is_refused() {
        check_steps(
            "1. [a](a/lib.rs) (1 min).\n2. [a](a/lib.rs) to the end of `gone` (1 min).\n\
             3. [a](a/gone.rs) (1 min).\n4. [a](a/lib.rs) `A` (40 min).\n",
            expect![[r#"
                ARCHITECTURE.md: the path takes 46 minutes, and promises 30
                ARCHITECTURE.md:8: 110 lines are no 1 minutes at 40 a minute; say how many they are, or lead elsewhere
                ARCHITECTURE.md:9: a/lib.rs has no `gone`
                ARCHITECTURE.md:10: a/gone.rs does not exist
                ARCHITECTURE.md:11: 3 lines are no 40 minutes at 40 a minute; say how many they are, or lead elsewhere
            "#]],
        );
    }
}
