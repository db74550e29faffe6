//! Every crate we depend on was chosen, and the page that says why is complete.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tree::Tree;

pub(super) const WHY: &str = "a dependency is code we answer for: docs/dependencies.md says why \
     each is here and what else was considered";

const ROOT: &str = "Cargo.toml";
const PAGE: &str = "docs/dependencies.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(root) = tree.text(ROOT) else { return Vec::new() };
    let manifest: Table = match root.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::refused(ROOT, 0, format!("{error}"))],
    };
    let declared = manifest.get("workspace").and_then(|table| table.get("dependencies"));
    let external: BTreeSet<&str> = declared
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.get("path").is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let rows = rows(tree.text(PAGE).unwrap_or_default());

    let mut findings = Vec::new();
    for name in &external {
        let line = root.lines().position(|line| line.starts_with(&format!("{name} =")));
        let line = line.map_or(0, |index| index + 1);
        if !rows.iter().any(|(_, row)| row == name) {
            let message = format!("`{name}` has no row in {PAGE}");
            findings.push(Finding::refused(ROOT, line, message));
        }
        if !used(tree, name) {
            let message = format!("`{name}` is declared and used by no crate");
            findings.push(Finding::note(ROOT, line, message));
        }
    }
    for (line, row) in rows {
        if !external.contains(row) {
            let message = format!("`{row}` is not in [workspace.dependencies]: remove its row");
            findings.push(Finding::refused(PAGE, line, message));
        }
    }
    findings
}

/// The crates that the page's tables name in their first column, with their lines.
fn rows(page: &str) -> Vec<(usize, &str)> {
    page.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let (name, _) = line.strip_prefix("| `")?.split_once("` |")?;
            Some((index + 1, name))
        })
        .collect()
}

fn used(tree: &Tree, name: &str) -> bool {
    tree.all().filter(|(path, _)| path.ends_with("/Cargo.toml")).any(|(_, file)| {
        file.text.lines().any(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
        })
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_page(page: &str, member: &str, expected: Expect) {
        let root = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\nserde = \"1\"\n";
        let tree = Tree::of([(ROOT, root), (PAGE, page), ("crates/a/Cargo.toml", member)]);
        expected.assert_eq(&render(check(&tree)));
    }

    const USES: &str = "[dependencies]\nserde.workspace = true\n";

    #[test]
    fn every_foreign_crate_has_its_row() {
        check_page("| crate | why |\n| `serde` | json |\n", USES, expect![""]);
        check_page(
            "| crate | why |\n",
            USES,
            expect![[r#"
            Cargo.toml:3: `serde` has no row in docs/dependencies.md
        "#]],
        );
    }

    #[test]
    fn a_row_for_a_crate_that_left_is_refused_and_an_unused_crate_is_noted() {
        check_page(
            "| `serde` | a |\n| `nom` | b |\n",
            "",
            expect![[r#"
            note Cargo.toml:3: `serde` is declared and used by no crate
            docs/dependencies.md:2: `nom` is not in [workspace.dependencies]: remove its row
        "#]],
        );
    }
}
