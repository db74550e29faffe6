//! The pages a newcomer reads stay short, and the changelog has a place for the next change.

use crate::finding::Finding;
use crate::tree::Tree;

pub(super) const WHY: &str = "a newcomer reads these pages whole, or not at all";

/// The most lines each page may have.
const LINES_MAX: [(&str, usize); 3] =
    [("README.md", 150), ("ARCHITECTURE.md", 300), ("AGENTS.md", 80)];

const CHANGELOG: &str = "CHANGELOG.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines_max) in LINES_MAX {
        let lines = tree.text(path).unwrap_or_default().lines().count();
        if lines > lines_max {
            let message = format!("{lines} lines; at most {lines_max}");
            findings.push(Finding::refused(path, 0, message));
        }
    }
    let unreleased = |text: &str| text.lines().any(|line| line == "## Unreleased");
    if tree.text(CHANGELOG).is_some_and(|text| !unreleased(text)) {
        findings.push(Finding::refused(CHANGELOG, 0, "no section `## Unreleased`"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_page(path: &str, text: &str, expected: Expect) {
        expected.assert_eq(&render(check(&Tree::of([(path, text)]))));
    }

    #[test]
    fn each_page_has_its_limit() {
        for (path, lines_max) in LINES_MAX {
            check_page(path, &"x\n".repeat(lines_max), expect![""]);
            let findings = check(&Tree::of([(path, "x\n".repeat(lines_max + 1))]));
            assert_eq!(render(findings).lines().count(), 1, "{path}");
        }
    }

    #[test]
    fn the_changelog_is_open() {
        check_page(CHANGELOG, "# Changes\n\n## Unreleased\n", expect![""]);
        check_page(
            CHANGELOG,
            "# Changes\n\n## 1.0.0\n",
            expect![[r#"
            CHANGELOG.md: no section `## Unreleased`
        "#]],
        );
    }
}
