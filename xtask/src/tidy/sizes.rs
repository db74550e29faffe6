//! Files stay short enough to be read in one sitting.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::tree::Tree;

pub(super) const WHY: &str = "a long file holds more than one thing; ask which two live in it. \
     An old one may stand in xtask/sizes.txt, whose figures only ever go down";

const LINES_AIM: usize = 400;
const LINES_MAX: usize = 800;
const RATCHET: &str = "xtask/sizes.txt";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (ratchet, mut findings) = ratchet(tree);
    for (path, file) in tree.rust() {
        let lines = file.text.lines().count();
        match ratchet.get(path) {
            Some((row, allowed)) => findings.extend(compare(path, lines, *row, *allowed)),
            None if lines > LINES_MAX => {
                let message = format!("{lines} lines; more than {LINES_MAX} are refused");
                findings.push(Finding::refused(path, 0, message));
            }
            None if lines > LINES_AIM => {
                let message = format!("{lines} lines; aim at {LINES_AIM}");
                findings.push(Finding::note(path, 0, message));
            }
            None => {}
        }
    }
    for (path, (row, _)) in &ratchet {
        if !tree.has(path) {
            findings.push(Finding::refused(RATCHET, *row, format!("{path} does not exist")));
        }
    }
    findings
}

/// What is wrong with a file that the ratchet names.
fn compare(path: &str, lines: usize, row: usize, allowed: usize) -> Option<Finding> {
    if lines > allowed {
        let message = format!("{lines} lines; {RATCHET} allows {allowed} and never more");
        return Some(Finding::refused(path, 0, message));
    }
    if lines <= LINES_MAX {
        let message = format!("{path} has {lines} lines now: remove this row");
        return Some(Finding::refused(RATCHET, row, message));
    }
    (lines < allowed).then(|| {
        let message = format!("{path} has {lines} lines now: lower its figure to that");
        Finding::refused(RATCHET, row, message)
    })
}

type Ratchet<'a> = BTreeMap<&'a str, (usize, usize)>;

/// The rows of the ratchet file, `LINES PATH`: by path, the row's own line and its figure.
fn ratchet(tree: &Tree) -> (Ratchet<'_>, Vec<Finding>) {
    let mut rows = Ratchet::new();
    let mut findings = Vec::new();
    let text = tree.text(RATCHET).unwrap_or_default();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parsed = line.split_once(' ').and_then(|(n, path)| Some((n.parse().ok()?, path)));
        match parsed {
            Some((n, path)) => {
                rows.insert(path, (index + 1, n));
            }
            None => findings.push(Finding::refused(RATCHET, index + 1, "expected `LINES PATH`")),
        }
    }
    (rows, findings)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_sizes(lines: usize, ratchet: &str, expected: Expect) {
        let text = "//! A.\n".repeat(lines);
        let tree = Tree::of([("crates/a/src/lib.rs", text.as_str()), (RATCHET, ratchet)]);
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn the_aim_is_a_note_and_the_limit_is_refused() {
        check_sizes(400, "", expect![""]);
        check_sizes(
            401,
            "",
            expect![[r#"
            note crates/a/src/lib.rs: 401 lines; aim at 400
        "#]],
        );
        check_sizes(
            800,
            "",
            expect![[r#"
            note crates/a/src/lib.rs: 800 lines; aim at 400
        "#]],
        );
        check_sizes(
            801,
            "",
            expect![[r#"
            crates/a/src/lib.rs: 801 lines; more than 800 are refused
        "#]],
        );
    }

    #[test]
    fn the_ratchet_only_goes_down() {
        check_sizes(900, "# old\n900 crates/a/src/lib.rs", expect![""]);
        check_sizes(
            901,
            "900 crates/a/src/lib.rs",
            expect![[r#"
            crates/a/src/lib.rs: 901 lines; xtask/sizes.txt allows 900 and never more
        "#]],
        );
        check_sizes(
            850,
            "900 crates/a/src/lib.rs",
            expect![[r#"
            xtask/sizes.txt:1: crates/a/src/lib.rs has 850 lines now: lower its figure to that
        "#]],
        );
        check_sizes(
            800,
            "900 crates/a/src/lib.rs",
            expect![[r#"
            xtask/sizes.txt:1: crates/a/src/lib.rs has 800 lines now: remove this row
        "#]],
        );
        check_sizes(
            1,
            "900 crates/a/src/gone.rs\nnonsense",
            expect![[r#"
            xtask/sizes.txt:1: crates/a/src/gone.rs does not exist
            xtask/sizes.txt:2: expected `LINES PATH`
        "#]],
        );
    }
}
