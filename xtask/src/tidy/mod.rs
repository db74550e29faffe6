//! The rules of the house that no compiler checks: one file a check, each with its reason.

mod dependencies;
mod floors;
mod forgotten;
mod functions;
mod leftovers;
mod links;
mod machine_paths;
mod markdown;
mod module_docs;
mod pages;
mod path;
mod raw_json;
mod second_loop;
mod sizes;
mod statics;

use std::process::ExitCode;

use crate::finding::{Finding, Weight};
use crate::seeds::{self, OpenRows};
use crate::tree::Tree;

/// A rule, why it is one, and the function that finds where it is broken.
struct Check {
    name: &'static str,
    why: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

/// In the order they are run and printed.
const CHECKS: [Check; 15] = [
    Check { name: "floors", why: floors::WHY, run: floors::check },
    Check { name: "module-docs", why: module_docs::WHY, run: module_docs::check },
    Check { name: "sizes", why: sizes::WHY, run: sizes::check },
    Check { name: "functions", why: functions::WHY, run: functions::check },
    Check { name: "raw-json", why: raw_json::WHY, run: raw_json::check },
    Check { name: "statics", why: statics::WHY, run: statics::check },
    Check { name: "second-loop", why: second_loop::WHY, run: second_loop::check },
    Check { name: "leftovers", why: leftovers::WHY, run: leftovers::check },
    Check { name: "forgotten", why: forgotten::WHY, run: forgotten::check },
    Check { name: "links", why: links::WHY, run: links::check },
    Check { name: "machine-paths", why: machine_paths::WHY, run: machine_paths::check },
    Check { name: "dependencies", why: dependencies::WHY, run: dependencies::check },
    Check { name: "pages", why: pages::WHY, run: pages::check },
    Check { name: "path", why: path::WHY, run: path::check },
    Check { name: "seeds", why: seeds::WHY, run: |tree| seeds::check(tree, SEEDS_OPEN_ROWS) },
];

/// Every row has an answer: what is shown, what is replaced, or the work that brings it.
const SEEDS_OPEN_ROWS: OpenRows = OpenRows::Refused;

/// Runs every check and prints what it found: notes first, since what fails should stand last.
pub(crate) fn run(tree: &Tree) -> ExitCode {
    let report = report(tree, &CHECKS);
    print!("{}{}", report.notes, report.refused);
    if report.n_refused > 0 {
        eprintln!("tidy: {} places to mend", report.n_refused);
        return ExitCode::FAILURE;
    }
    println!("tidy: {} checks, {} files, nothing to mend", CHECKS.len(), tree.all().count());
    ExitCode::SUCCESS
}

#[derive(Debug, Default)]
struct Report {
    notes: String,
    refused: String,
    n_refused: usize,
}

fn report(tree: &Tree, checks: &[Check]) -> Report {
    let mut report = Report::default();
    for check in checks {
        let mut findings = (check.run)(tree);
        findings.sort();
        let (refused, notes): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.weight == Weight::Refused);
        for note in &notes {
            report.notes.push_str(&format!("note [{}] {note}\n", check.name));
        }
        for finding in &refused {
            report.refused.push_str(&format!("[{}] {finding}\n", check.name));
        }
        if !refused.is_empty() {
            report.refused.push_str(&format!("    why: {}\n", check.why));
        }
        report.n_refused += refused.len();
    }
    report
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let report = report(&crate::workspace().unwrap(), &CHECKS);
        assert!(report.n_refused == 0, "\n{}", report.refused);
    }

    #[test]
    fn a_finding_names_its_check_its_place_and_the_reason() {
        let tree = Tree::of([("crates/a/src/lib.rs", "fn a() {}\n")]);
        let module_docs = CHECKS.iter().position(|check| check.name == "module-docs").unwrap();
        let report = report(&tree, &CHECKS[module_docs..=module_docs]);
        assert_eq!(report.n_refused, 1);
        expect![[r#"
            [module-docs] crates/a/src/lib.rs:1: the first line is not a `//!` sentence
                why: a file that cannot say in one line what it is for holds two things, or none
        "#]]
        .assert_eq(&report.refused);
    }
}
