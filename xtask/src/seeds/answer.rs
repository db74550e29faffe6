//! One answer of `docs/seeds.md`: its grammar, and whether what it names is there.
//!
//! ```text
//! item: crates/core/src/raw.rs::RawJson, crates/turn::apply; test: core::keeps_bytes
//! replaced: why ours is different; item: ...; test: ...
//! later: Toolkit (what of it)
//! open
//! ```

use crate::rust_text::closing;
use crate::tree::{File, Tree};

/// The works that an answer may point to.
const WORKS: [&str; 9] = [
    "Proven and fast",
    "Safe",
    "Toolkit",
    "Providers",
    "Tools",
    "Terminal",
    "MCP",
    "Surfaces",
    "Teams",
];

/// Words that introduce the name of an item.
const KEYWORDS: [&str; 10] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules!", "union"];

/// What a row of the page says.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// Nobody answered yet.
    Open,
    /// A later work brings it.
    Later,
    /// Ours is different on purpose; where it can be shown, it is.
    Replaced { items: Vec<String>, tests: Vec<String> },
    /// Our item, and the test that shows it.
    Shown { items: Vec<String>, tests: Vec<String> },
}

impl Answer {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "open" {
            return Ok(Self::Open);
        }
        let mut reason = None;
        let (mut items, mut tests) = (Vec::new(), Vec::new());
        for part in parts(text) {
            let (key, value) = part.split_once(':').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim() {
                _ if value.is_empty() => return Err(format!("`{part}` says nothing")),
                "item" => items.extend(value.split(',').map(|name| name.trim().to_owned())),
                "test" => tests.extend(value.split(',').map(|name| name.trim().to_owned())),
                "replaced" => reason = Some(value),
                "later" => return later(value),
                _ => {
                    return Err(format!(
                        "`{part}` is none of `item:`, `test:`, `replaced:`, `later:`, `open`"
                    ));
                }
            }
        }
        match reason {
            Some(_) => Ok(Self::Replaced { items, tests }),
            None if items.is_empty() => Err("names no item".to_owned()),
            None if tests.is_empty() => Err("names no test".to_owned()),
            None => Ok(Self::Shown { items, tests }),
        }
    }

    /// What it names that is not there.
    pub(super) fn wrong(&self, tree: &Tree) -> Vec<String> {
        match self {
            Self::Open | Self::Later => Vec::new(),
            Self::Replaced { items, tests } | Self::Shown { items, tests } => {
                let items = items.iter().filter_map(|name| missing_item(tree, name));
                items.chain(tests.iter().filter_map(|name| missing_test(tree, name))).collect()
            }
        }
    }
}

/// An answer's parts. A reason may hold a semicolon, so only one before a known key divides.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices("; ") {
        if ["item:", "test:"].iter().any(|key| text[at + 2..].starts_with(key)) {
            parts.push(&text[start..at]);
            start = at + 2;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn later(value: &str) -> Result<Answer, String> {
    let work = value.split(" (").next().unwrap_or(value);
    match WORKS.contains(&work) {
        true => Ok(Answer::Later),
        false => Err(format!("`{work}` is no planned work; one of: {}", WORKS.join(", "))),
    }
}

/// `PATH::NAME` or `PATH::TYPE::NAME`, where the path is a file or a folder.
fn missing_item(tree: &Tree, text: &str) -> Option<String> {
    let Some((path, names)) = text.split_once("::") else {
        return Some(format!("`{text}` is no `path::item`"));
    };
    if !tree.has(path) {
        return Some(format!("no file or folder {path}"));
    }
    let files: Vec<&File> = match tree.file(path) {
        Some(file) => vec![file],
        None => rust_below(tree, path).map(|(_, file)| file).collect(),
    };
    let all = names.split("::");
    let missing = |name: &&str| !files.iter().any(|file| defines(&file.rust.code, name));
    all.into_iter().find(missing).map(|name| format!("no item `{name}` in {path}"))
}

/// Whether `name` is declared: behind a keyword, or as a field or variant at the start of a line.
fn defines(code: &str, name: &str) -> bool {
    code.lines().any(|line| {
        let line = line.trim();
        let behind_keyword = KEYWORDS.iter().any(|keyword| {
            let mut rest = line;
            while let Some((before, after)) = rest.split_once(keyword) {
                let starts = before.is_empty() || before.ends_with([' ', '(']);
                if starts && after.starts_with(' ') && begins_with_word(after.trim_start(), name) {
                    return true;
                }
                rest = after;
            }
            false
        });
        let bare = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
        let rest = bare.strip_prefix(name).map(str::trim_start);
        let field = rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with("::"));
        let variant = name.starts_with(char::is_uppercase)
            && rest.is_some_and(|rest| rest.starts_with([',', '(', '{']));
        behind_keyword || field || variant
    })
}

/// `CRATE::MODULE::TEST`: the crate's folder or package name, any modules, the function.
fn missing_test(tree: &Tree, text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split("::").collect();
    let ([first, modules @ .., name], true) = (parts.as_slice(), parts.len() > 1) else {
        return Some(format!("`{text}` is no `crate::path::test`"));
    };
    let Some(folder) = crate_folder(tree, first) else {
        return Some(format!("no crate `{first}`"));
    };
    let found = rust_below(tree, &folder).any(|(path, file)| {
        let leads = |module: &&str| {
            *module == "tests"
                || path.split(['/', '.']).any(|part| part == *module)
                || file.rust.code.contains(&format!("mod {module} "))
        };
        modules.iter().all(leads) && has_test(&file.rust.code, name)
    });
    let modules: String = modules.iter().map(|module| format!("::{module}")).collect();
    (!found).then(|| format!("no test `{name}` in {folder}{modules}"))
}

/// `core`, `heeler-core` and `heeler_core` are `crates/core`; a path is itself.
fn crate_folder(tree: &Tree, name: &str) -> Option<String> {
    if tree.has(name) {
        return Some(name.to_owned());
    }
    let short = name.strip_prefix("heeler_").or(name.strip_prefix("heeler-")).unwrap_or(name);
    [name, short].into_iter().map(|name| format!("crates/{name}")).find(|path| tree.has(path))
}

fn rust_below<'a>(tree: &'a Tree, path: &'a str) -> impl Iterator<Item = (&'a str, &'a File)> {
    let prefix = format!("{path}/");
    tree.rust().filter(move |(file, _)| *file == path || file.starts_with(&prefix))
}

/// Whether `fn name` carries a test attribute and is not ignored.
fn has_test(code: &str, name: &str) -> bool {
    code.match_indices("fn ").any(|(at, _)| {
        begins_with_word(code[at + 3..].trim_start(), name) && is_test(attributes_before(code, at))
    })
}

/// What stands between the end of the item before and the function at `at`.
fn attributes_before(code: &str, at: usize) -> &str {
    let start = code[..at].rfind(['}', ';']).map_or(0, |end| end + 1);
    &code[start..at]
}

fn is_test(before: &str) -> bool {
    let mut attributes = before.match_indices("#[").filter_map(|(at, _)| {
        let inner = before.get(at + 2..closing(before, at + 1)?)?;
        let path = inner.split(['(', '=', ' ']).next()?;
        Some(path.rsplit("::").next().unwrap_or(path))
    });
    let mut tested = false;
    let ignored = attributes.any(|name| {
        tested |= name == "test";
        name == "ignore"
    });
    tested && !ignored
}

fn begins_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const CODE: &str = "//! A.
pub(crate) async fn one() {}
pub struct Point {
    pub x_axis: u8,
}
enum Kind {
    Alpha,
    Beta(u8),
}
mod tests {
    #[test]
    fn plain() { let a = 1; }
    #[tokio::test(start_paused = true)]
    async fn paused() {}
    proptest! {
        #[test]
        fn holds(x in 0..9) {}
    }
    #[test]
    #[ignore = \"slow\"]
    fn slow() {}
    #[cfg(test)]
    fn helper() {}
}
";

    fn check(answer: &str, expected: Expect) {
        let tree = Tree::of([("crates/core/src/lib.rs", CODE), ("crates/core/tests/it.rs", CODE)]);
        let wrong = match Answer::parse(answer) {
            Ok(answer) => answer.wrong(&tree),
            Err(error) => vec![format!("not an answer: {error}")],
        };
        expected.assert_eq(&wrong.join("\n"));
    }

    #[test]
    fn items_of_every_kind_are_found() {
        for item in ["one", "Point", "Point::x_axis", "Kind::Alpha", "Kind::Beta", "Kind"] {
            check(&format!("item: crates/core/src/lib.rs::{item}; test: core::plain"), expect![""]);
            check(&format!("item: crates/core::{item}; test: core::plain"), expect![""]);
        }
    }

    #[test]
    fn tests_of_every_kind_are_found() {
        for test in ["core::plain", "heeler_core::tests::paused", "heeler-core::it::holds"] {
            check(&format!("item: crates/core::one; test: {test}"), expect![""]);
        }
        check("replaced: a; b; item: crates/core::one; test: core::plain", expect![""]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        check(
            "item: crates/core::gone, crates/no::a; test: core::gone, no::a",
            expect![[r#"
            no item `gone` in crates/core
            no file or folder crates/no
            no test `gone` in crates/core
            no crate `no`"#]],
        );
        check(
            "item: crates/core::Kind::Gamma; test: core::elsewhere::plain",
            expect![[r#"
            no item `Gamma` in crates/core
            no test `plain` in crates/core::elsewhere"#]],
        );
    }

    #[test]
    fn a_helper_or_an_ignored_test_shows_nothing() {
        check(
            "item: crates/core::one; test: core::slow, core::helper",
            expect![[r#"
            no test `slow` in crates/core
            no test `helper` in crates/core"#]],
        );
    }

    #[test]
    fn answers_outside_the_grammar_are_refused() {
        check("item: crates/core::one", expect!["not an answer: names no test"]);
        check("test: core::plain", expect!["not an answer: names no item"]);
        check("replaced:", expect!["not an answer: `replaced:` says nothing"]);
        check("done", expect!["not an answer: `done` says nothing"]);
        check(
            "done: yes",
            expect![
                "not an answer: `done: yes` is none of `item:`, `test:`, `replaced:`, `later:`, `open`"
            ],
        );
        check("later: Safe (expiry)", expect![""]);
    }
}
