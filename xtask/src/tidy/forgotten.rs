//! No Rust file lies in the tree without being compiled, and no test without being run.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::rust_text::{closing, words};
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
    let is_held = |path: &str| {
        folders.iter().any(|folder| path.strip_prefix(folder).is_some_and(|p| p.starts_with('/')))
    };
    let homeless = tree.rust().filter(|(path, _)| !is_held(path));
    let mut findings: Vec<Finding> = homeless
        .map(|(path, _)| Finding::refused(path, 0, "no crate of ours holds this file"))
        .collect();
    findings.extend(folders.into_iter().flat_map(|folder| check_crate(tree, folder)));
    findings
}

fn check_crate(tree: &Tree, folder: &str) -> Vec<Finding> {
    let manifest = tree.text(&format!("{folder}/Cargo.toml")).unwrap_or_default();
    let manifest: Table = manifest.parse().unwrap_or_default();
    let prefix = format!("{folder}/");
    let files: Vec<_> = tree.rust().filter(|(path, _)| path.starts_with(&prefix)).collect();
    let paths = files.iter().map(|(path, _)| *path);
    let targets: Vec<&str> =
        paths.filter(|path| is_target(&path[prefix.len()..], &manifest)).collect();
    let is_tested = |path: &&&str| runs_tests(&path[prefix.len()..], &manifest);
    let reached = reach(tree, targets.iter().copied());
    let tested = reach(tree, targets.iter().filter(is_tested).copied());

    let mut findings = Vec::new();
    for (path, file) in files {
        if !reached.contains(path) {
            let message = "no target and no `mod` leads to this file";
            findings.push(Finding::refused(path, 0, message));
        } else if !tested.contains(path) && has_tests(&file.rust.code) {
            let message =
                "its tests are never run: what leads to this file is no target that runs any";
            findings.push(Finding::refused(path, 0, message));
        }
    }
    let both = reached.iter().filter(|path| tree.is_data(path));
    findings.extend(both.map(|path| {
        Finding::refused(path, 0, "is read as text, too, and so no check looks at its code")
    }));
    findings
}

/// The files that these targets lead to.
fn reach<'a>(tree: &Tree, targets: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<_> = targets.map(|path| (path.to_owned(), Place::Root)).collect();
    while let Some((path, place)) = ahead.pop() {
        let Some(file) = tree.file(&path) else { continue };
        if reached.insert(path.clone()) {
            ahead.extend(children(tree, &path, file, place));
        }
    }
    reached
}

/// Whether `cargo test` runs the tests of this target as Rust collects them.
fn runs_tests(path: &str, manifest: &Table) -> bool {
    let kinds =
        [("lib", "src/lib.rs"), ("bin", "src/"), ("test", "tests/"), ("example", "examples/")];
    let parts = path.trim_end_matches(".rs").trim_end_matches("/main");
    let name = parts.rsplit('/').next().unwrap_or(parts);
    let of = |kind: &str, folder: &str, table: &Value| match table.get("path") {
        Some(named) => named.as_str() == Some(path),
        // What has no path lies where cargo looks for it.
        None => {
            path.starts_with(folder)
                && (kind == "lib" || table.get("name").and_then(Value::as_str) == Some(name))
        }
    };
    let says = |table: &Value, key: &str, value| table.get(key) == Some(&Value::Boolean(value));
    let is_off = |table: &Value| says(table, "test", false) || says(table, "harness", false);
    // These are built, and run when somebody says so.
    if path.starts_with("examples/") || path.starts_with("benches/") {
        let described =
            ["example", "bench"].map(|kind| tables(manifest, kind)).into_iter().flatten();
        let mut own = described.filter(|table| of("", "", table));
        return own.any(|table| says(table, "test", true) && !is_off(table));
    }
    !kinds.into_iter().any(|(kind, folder)| {
        tables(manifest, kind).into_iter().any(|table| of(kind, folder, table) && is_off(table))
    })
}

/// The targets of this kind that a manifest describes.
fn tables<'a>(manifest: &'a Table, kind: &str) -> Vec<&'a Value> {
    match manifest.get(kind) {
        Some(Value::Array(tables)) => tables.iter().collect(),
        table => table.into_iter().collect(),
    }
}

/// Whether there is a `#[test]`, or another macro's of that name.
fn has_tests(code: &str) -> bool {
    words(code).filter(|(_, word)| *word == "test").any(|(at, word)| {
        let path = code[..at].trim_end_matches(|c: char| c.is_alphanumeric() || "_:".contains(c));
        path.ends_with("#[") && code[at + word.len()..].starts_with([']', '('])
    })
}

/// Whether cargo compiles this file, given relative to its crate, on its own.
fn is_target(path: &str, manifest: &Table) -> bool {
    let named = ["lib", "bin", "test", "example", "bench"].into_iter().any(|kind| {
        let is_it = |table: &Value| table.get("path").and_then(Value::as_str) == Some(path);
        tables(manifest, kind).into_iter().any(is_it)
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
    let inline = inline(code);
    let mut children = Vec::new();
    for (at, word) in file.rust.words() {
        let after = code[at + word.len()..].trim_start();
        if word == "mod" {
            let name = first_word(after);
            if after[name.len()..].trim_start().starts_with(';') {
                let around = inline.iter().filter(|(_, body)| body.contains(&at));
                let parts: Vec<&str> = around.map(|(name, _)| *name).chain([name]).collect();
                let path = format!("{folder}/{}", parts.join("/"));
                children.extend(module(tree, &path).map(|path| (path, Place::Module)));
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

/// The modules that a file itself holds, the outer ones first.
fn inline(code: &str) -> Vec<(&str, Range<usize>)> {
    let found = words(code).filter(|(_, word)| *word == "mod").filter_map(|(at, word)| {
        let after = code[at + word.len()..].trim_start();
        let name = first_word(after);
        let body = after[name.len()..].trim_start();
        let open = code.len() - body.len();
        body.starts_with('{').then_some((name, open..closing(code, open)?))
    });
    found.collect()
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// The file of a module, whose path has no ending yet.
fn module(tree: &Tree, path: &str) -> Option<String> {
    let files = [format!("{path}.rs"), format!("{path}/mod.rs")];
    files.into_iter().find(|path| tree.file(path).is_some())
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
                ("src/lib.rs", "// mod a;\nconst X: &str = \"mod b;\"; mod c { mod a; }"),
                ("src/a.rs", ""),
                ("src/c/a.rs", ""),
                ("src/d/c/a.rs", ""),
                ("src/b.rs", ""),
                ("tests/it/main.rs", ""),
                ("tests/it/common.rs", ""),
                ("tests/deep/x.rs", ""),
            ],
            expect![[r#"
                crates/a/src/a.rs: no target and no `mod` leads to this file
                crates/a/src/b.rs: no target and no `mod` leads to this file
                crates/a/src/d/c/a.rs: no target and no `mod` leads to this file
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

    #[test]
    fn tests_in_a_target_that_runs_none_are_refused() {
        let manifest = "[lib]\ntest = false\n[[test]]\nname = \"own\"\nharness = false\n\
                        [[test]]\nname = \"it\"\n[[bin]]\nname = \"tool\"\ntest = false";
        check_files(
            manifest,
            &[
                ("src/lib.rs", "mod a;\nmod shared;"),
                ("src/a.rs", "#[cfg(test)]\nmod tests { #[test] fn x() {} }"),
                ("src/shared.rs", "#[test] fn x() {}"),
                ("src/bin/tool.rs", "#[tokio::test(flavor = \"x\")] async fn x() {}"),
                ("src/bin/other.rs", "#[path = \"../shared.rs\"] mod shared; #[test] fn x() {}"),
                ("tests/own/main.rs", "#[cfg(test)] mod y { /* #[test] */ }"),
                ("tests/it/main.rs", "#[test] fn x() {}"),
                ("examples/show.rs", "#[test] fn x() {}"),
                ("benches/speed.rs", "#[test] fn x() {}"),
            ],
            expect![[r#"
                crates/a/benches/speed.rs: its tests are never run: what leads to this file is no target that runs any
                crates/a/examples/show.rs: its tests are never run: what leads to this file is no target that runs any
                crates/a/src/a.rs: its tests are never run: what leads to this file is no target that runs any
                crates/a/src/bin/tool.rs: its tests are never run: what leads to this file is no target that runs any
            "#]],
        );
    }

    #[test]
    fn a_file_of_no_crate_is_refused() {
        let paths =
            ["crates/lost/src/lib.rs", "crates/x.rs", "scripts/y.rs", "patches/z/src/lib.rs"];
        let tree = Tree::of(paths.map(|path| (path, "")));
        expect![[r#"
            crates/lost/src/lib.rs: no crate of ours holds this file
            crates/x.rs: no crate of ours holds this file
            scripts/y.rs: no crate of ours holds this file
        "#]]
        .assert_eq(&render(check(&tree)));
    }

    #[test]
    fn code_that_is_read_as_text_is_not_hidden() {
        check_files(
            "",
            &[
                ("src/lib.rs", "mod a;"),
                ("src/a.rs", ""),
                ("tests/it.rs", "const A: &str = include_str!(\"../src/a.rs\");"),
            ],
            expect![[r#"
                crates/a/src/a.rs: is read as text, too, and so no check looks at its code
            "#]],
        );
    }
}
