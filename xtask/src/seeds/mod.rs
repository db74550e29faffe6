//! `docs/seeds.md`: every item of the seeds has an answer, and the answer holds.

mod answer;

use std::collections::BTreeMap;
use std::process::ExitCode;

use crate::finding::{Finding, Weight};
use crate::tree::Tree;

use self::answer::Answer;

pub(crate) const WHY: &str = "the seeds say what was asked for; an item nobody answers, or an \
     answer whose test is gone, is a promise that was dropped silently";

const PAGE: &str = "docs/seeds.md";

/// The items as they were given, `ID<tab>STATEMENT`: what the page may neither lose nor reword.
const ITEMS: &str = "xtask/seed-items.tsv";

/// What a row that says `open` counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenRows {
    /// A number is printed.
    Counted,
    /// Each is a finding.
    Refused,
}

/// Prints how many rows are answered how, and what does not hold.
pub(crate) fn run(tree: &Tree, open: OpenRows) -> ExitCode {
    let findings = check(tree, open);
    for finding in findings.iter().filter(|finding| finding.weight == Weight::Refused) {
        println!("{finding}");
    }
    println!("{}", summary(tree));
    match findings.iter().any(|finding| finding.weight == Weight::Refused) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

pub(crate) fn check(tree: &Tree, open: OpenRows) -> Vec<Finding> {
    let Some(items) = tree.text(ITEMS) else { return Vec::new() };
    let page = tree.text(PAGE).unwrap_or_default();
    let mut findings = Vec::new();
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    let mut n_open = 0;
    for row in page.lines().enumerate().filter_map(|(index, line)| Row::parse(index + 1, line)) {
        match Answer::parse(&row.answer) {
            Ok(Answer::Open) if open == OpenRows::Refused => {
                findings.push(Finding::refused(PAGE, row.line, format!("{} is open", row.id)));
            }
            Ok(Answer::Open) => n_open += 1,
            Ok(answer) => findings.extend(
                answer
                    .wrong(tree)
                    .into_iter()
                    .map(|wrong| Finding::refused(PAGE, row.line, format!("{}: {wrong}", row.id))),
            ),
            Err(wrong) => {
                findings.push(Finding::refused(PAGE, row.line, format!("{}: {wrong}", row.id)));
            }
        }
        if let Some(first) = rows.get(row.id) {
            let message = format!("{} stands in line {} already", row.id, first.line);
            findings.push(Finding::refused(PAGE, row.line, message));
        }
        rows.insert(row.id, row);
    }
    findings.extend(compare(items, &rows));
    if n_open > 0 {
        let message = format!("{n_open} of {} rows are open", rows.len());
        findings.push(Finding::note(PAGE, 0, message));
    }
    findings
}

/// Compares the page with the items: none missing, none reworded, none made up.
fn compare(items: &str, rows: &BTreeMap<&str, Row<'_>>) -> Vec<Finding> {
    let items: BTreeMap<&str, (usize, &str)> = items
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let (id, statement) = line.split_once('\t')?;
            Some((id, (index + 1, statement)))
        })
        .collect();
    let mut findings = Vec::new();
    for (id, (line, statement)) in &items {
        match rows.get(id) {
            None => {
                let message = format!("{id} has no row in {PAGE}: {statement}");
                findings.push(Finding::refused(ITEMS, *line, message));
            }
            Some(row) if row.statement != *statement => {
                let message = format!("{id} is reworded; the seed says: {statement}");
                findings.push(Finding::refused(PAGE, row.line, message));
            }
            Some(_) => {}
        }
    }
    for (id, row) in rows {
        if !items.contains_key(id) {
            let message = format!("{id} is no item of the seeds");
            findings.push(Finding::refused(PAGE, row.line, message));
        }
    }
    findings
}

fn summary(tree: &Tree) -> String {
    let (mut n_shown, mut n_replaced, mut n_later, mut n_open) = (0, 0, 0, 0);
    let page = tree.text(PAGE).unwrap_or_default();
    for row in page.lines().filter_map(|line| Row::parse(0, line)) {
        match Answer::parse(&row.answer) {
            Ok(Answer::Shown { .. }) => n_shown += 1,
            Ok(Answer::Replaced { .. }) => n_replaced += 1,
            Ok(Answer::Later) => n_later += 1,
            Ok(Answer::Open) | Err(_) => n_open += 1,
        }
    }
    format!("seeds: {n_shown} shown, {n_replaced} replaced, {n_later} later, {n_open} open")
}

/// One row of the page: `| E-001 | what the seed states | our answer |`.
#[derive(Debug)]
struct Row<'a> {
    line: usize,
    id: &'a str,
    statement: &'a str,
    answer: String,
}

impl<'a> Row<'a> {
    fn parse(line: usize, text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix("| ")?.strip_suffix('|')?;
        let (id, rest) = inner.split_once(" | ")?;
        let (kind, number) = id.split_once('-')?;
        let is_id = ["E", "T", "M", "P"].contains(&kind)
            && number.len() == 3
            && number.bytes().all(|byte| byte.is_ascii_digit());
        let (statement, answer) = rest.rsplit_once(" |")?;
        is_id.then(|| Self { line, id, statement, answer: answer.trim().replace('`', "") })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    const TWO_ITEMS: &str = "E-001\tone thing\nT-002\ta | b\n";

    fn check_page(open: OpenRows, page: &str, expected: Expect) {
        let tree = Tree::of([
            (ITEMS, TWO_ITEMS),
            (PAGE, page),
            ("crates/a/Cargo.toml", "[package]\nname = \"heeler-a\"\n"),
            ("crates/a/src/lib.rs", "//! A.\npub fn one() {}\n#[test]\nfn one_works() {}\n"),
        ]);
        expected.assert_eq(&render(check(&tree, open)));
    }

    #[test]
    fn a_whole_page_is_fine() {
        let page = "| id | the seed states | our answer |\n|---|---|---|\n\
             | E-001 | one thing | item: `crates/a/src/lib.rs::one`; test: `a::one_works` |\n\
             | T-002 | a | b | later: Toolkit |\n";
        check_page(OpenRows::Refused, page, expect![""]);
    }

    #[test]
    fn rows_that_are_missing_reworded_doubled_or_made_up_are_refused() {
        check_page(
            OpenRows::Counted,
            "| E-001 | another thing | open |\n",
            expect![[r#"
                note docs/seeds.md: 1 of 1 rows are open
                docs/seeds.md:1: E-001 is reworded; the seed says: one thing
                xtask/seed-items.tsv:2: T-002 has no row in docs/seeds.md: a | b
            "#]],
        );
        let page = "| E-001 | one thing | open |\n| T-002 | a | b | open |\n\
             | E-001 | one thing | open |\n| M-009 | x | open |\n";
        check_page(
            OpenRows::Counted,
            page,
            expect![[r#"
            note docs/seeds.md: 4 of 3 rows are open
            docs/seeds.md:3: E-001 stands in line 1 already
            docs/seeds.md:4: M-009 is no item of the seeds
        "#]],
        );
    }

    #[test]
    fn an_open_row_is_refused_once_the_page_is_closed() {
        let page = "| E-001 | one thing | open |\n| T-002 | a | b | replaced: not needed |\n";
        check_page(
            OpenRows::Counted,
            page,
            expect![[r#"
            note docs/seeds.md: 1 of 2 rows are open
        "#]],
        );
        check_page(
            OpenRows::Refused,
            page,
            expect![[r#"
            docs/seeds.md:1: E-001 is open
        "#]],
        );
    }

    #[test]
    fn an_answer_that_does_not_hold_is_refused() {
        let page = "| E-001 | one thing | item: crates/a/src/lib.rs::two; test: a::gone |\n\
             | T-002 | a | b | later: some day |\n";
        check_page(
            OpenRows::Counted,
            page,
            expect![[r#"
            docs/seeds.md:1: E-001: no item `two` in crates/a/src/lib.rs
            docs/seeds.md:1: E-001: no test `gone` in crates/a
            docs/seeds.md:2: T-002: `some day` is no planned work; one of: Proven and fast, Safe, Toolkit, Providers, Tools, Terminal, MCP, Surfaces, Teams
        "#]],
        );
    }
}
