//! No Rust file lies in the tree without being compiled.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tree::{File, Tree, resolve};

pub(super) const WHY: &str = "a test file that is no target and no module is never run, and \
     nobody notices: it stays green for ever";

/// The folders whose files cargo makes targets of, with the key that switches it off.
const TARGETS: [(&str, &str); 4] = [
    ("src/bin", "autobins"),
    ("tests", "autotests"),
    ("examples", "autoexamples"),
    ("benches", "autobenches"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut folders: BTreeSet<&str> = tree.crates().map(|(folder, ..)| folder).collect();
    folders.extend(["bench", "examples", "loom", "xtask"]);
    folders.into_iter().flat_map(|folder| check_crate(tree, folder)).collect()
}

fn check_crate(tree: &Tree, folder: &str) -> Vec<Finding> {
    let manifest = tree.text(&format!("{folder}/Cargo.toml")).unwrap_or_default();
    let manifest: Table = manifest.parse().unwrap_or_default();
    let prefix = format!("{folder}/");
    let files: Vec<_> = tree.rust().filter(|(path, _)| path.starts_with(&prefix)).collect();

    let mut reached = BTreeSet::new();
    let mut ahead: Vec<(String, Place)> = files
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| is_target(&path[prefix.len()..], &manifest))
        .map(|path| (path.to_owned(), Place::Root))
        .collect();
    while let Some((path, place)) = ahead.pop() {
        let Some(file) = tree.file(&path) else { continue };
        if reached.insert(path.clone()) {
            ahead.extend(children(tree, &path, file, place));
        }
    }
    files
        .into_iter()
        .filter(|(path, _)| !reached.contains(*path))
        .map(|(path, _)| Finding::refused(path, 0, "no target and no `mod` leads to this file"))
        .collect()
}

/// Whether cargo compiles this file, given relative to its crate, on its own.
fn is_target(path: &str, manifest: &Table) -> bool {
    let named = ["lib", "bin", "test", "example", "bench"].into_iter().any(|kind| {
        let tables = manifest.get(kind).into_iter();
        let mut tables = tables.flat_map(|value| match value {
            Value::Array(tables) => tables.iter().collect(),
            table => vec![table],
        });
        tables.any(|table| table.get("path").and_then(Value::as_str) == Some(path))
    });
    let found = TARGETS.into_iter().any(|(folder, switch)| {
        let package = manifest.get("package");
        let off = package.and_then(|table| table.get(switch)) == Some(&Value::Boolean(false));
        let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        let own = |rest: &str| match rest.split_once('/') {
            None => true,
            Some((_, file)) => file == "main.rs",
        };
        !off && below.is_some_and(own)
    });
    named || found || ["src/lib.rs", "src/main.rs", "build.rs"].contains(&path)
}

/// How a file came to be compiled, which decides where its own modules lie.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Module,
}

/// The files that a file's `mod name;`, `#[path]` and `include!` lead to.
fn children(tree: &Tree, path: &str, file: &File, place: Place) -> Vec<(String, Place)> {
    let beside = place == Place::Root || path.ends_with("/mod.rs");
    let folder = match beside {
        true => resolve(path, ""),
        false => path.trim_end_matches(".rs").to_owned(),
    };
    let code = file.rust.code.as_str();
    let mut children = Vec::new();
    for (at, word) in file.rust.words() {
        let after = code[at + word.len()..].trim_start();
        if word == "mod" {
            let name = after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            let name = name.unwrap_or_default();
            if after[name.len()..].trim_start().starts_with(';') {
                children.extend(module(tree, &folder, name).map(|path| (path, Place::Module)));
            }
        }
        let literal = match word {
            "path" if code[..at].trim_end().ends_with("#[") => after.strip_prefix('='),
            "include" => after.strip_prefix("!("),
            _ => None,
        };
        if let Some(rest) = literal {
            let literal = file.text[code.len() - rest.len()..].split('"').nth(1);
            children.extend(literal.map(|to| (resolve(path, to), Place::Root)));
        }
    }
    children
}

/// The file of the module `name`, which may be declared inside an inline module of the file.
fn module(tree: &Tree, folder: &str, name: &str) -> Option<String> {
    let direct = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
    if let Some(path) = direct.into_iter().find(|path| tree.file(path).is_some()) {
        return Some(path);
    }
    let ends = [format!("/{name}.rs"), format!("/{name}/mod.rs")];
    let mut below = tree.below(folder).map(|(path, _)| path);
    below.find(|path| ends.iter().any(|end| path.ends_with(end))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_files(manifest: &str, files: &[(&str, &str)], expected: Expect) {
        let files = files.iter().map(|(path, text)| (format!("crates/a/{path}"), *text));
        let manifest = [("crates/a/Cargo.toml".to_owned(), manifest)];
        expected.assert_eq(&render(check(&Tree::of(manifest.into_iter().chain(files)))));
    }

    #[test]
    fn modules_and_targets_are_reached() {
        check_files(
            "[[test]]\nname = \"x\"\npath = \"tests/odd/x.rs\"",
            &[
                ("src/lib.rs", "mod a;\npub(crate) mod b;\n#[path = \"other/c.rs\"]\nmod renamed;"),
                ("src/a/mod.rs", "mod inner;"),
                ("src/a/inner.rs", ""),
                ("src/b.rs", "mod deep { mod deeper; }"),
                ("src/b/deep/deeper.rs", "include!(\"table.rs\");"),
                ("src/b/deep/table.rs", ""),
                ("src/other/c.rs", ""),
                ("src/bin/tool.rs", ""),
                ("tests/it/main.rs", "mod common;"),
                ("tests/it/common.rs", ""),
                ("tests/odd/x.rs", ""),
                ("examples/ask.rs", ""),
                ("build.rs", ""),
            ],
            expect![""],
        );
    }

    #[test]
    fn a_file_that_nothing_leads_to_is_refused() {
        check_files(
            "",
            &[
                ("src/lib.rs", "// mod a;\nconst X: &str = \"mod b;\"; mod c {}"),
                ("src/a.rs", ""),
                ("src/b.rs", ""),
                ("tests/it/main.rs", ""),
                ("tests/it/common.rs", ""),
                ("tests/deep/x.rs", ""),
            ],
            expect![[r#"
            crates/a/src/a.rs: no target and no `mod` leads to this file
            crates/a/src/b.rs: no target and no `mod` leads to this file
            crates/a/tests/deep/x.rs: no target and no `mod` leads to this file
            crates/a/tests/it/common.rs: no target and no `mod` leads to this file
        "#]],
        );
    }

    #[test]
    fn a_switched_off_folder_needs_names() {
        let manifest =
            "[package]\nautotests = false\n[[test]]\nname = \"a\"\npath = \"tests/a.rs\"";
        check_files(
            manifest,
            &[("tests/a.rs", ""), ("tests/b.rs", "")],
            expect![[r#"
            crates/a/tests/b.rs: no target and no `mod` leads to this file
        "#]],
        );
    }
}
