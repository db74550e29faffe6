//! The code that ships: a file without the parts that only tests are made of.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::rust_text::{body, closing, words};
use crate::tree::{File, Tree, resolve};

/// What stands before an item that only tests see.
const TEST_ONLY: &str = "#[cfg(test)]";

/// A file that ships, and where in it tests stand.
pub(crate) struct Shipped<'a> {
    pub(crate) path: &'a str,
    pub(crate) file: &'a File,
    tests: Vec<Range<usize>>,
}

impl Shipped<'_> {
    /// The words of its code with the byte where each begins.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        self.file.rust.words().filter(|(at, _)| self.ships(*at))
    }

    /// Whether the byte at `at` belongs to no test.
    pub(crate) fn ships(&self, at: usize) -> bool {
        !self.tests.iter().any(|test| test.contains(&at))
    }
}

/// The files that ship: no test targets, and no modules that only tests have.
pub(crate) fn shipped(tree: &Tree) -> Vec<Shipped<'_>> {
    let mut modules = BTreeSet::new();
    let mut files = Vec::new();
    for (path, file) in tree.rust() {
        let (tests, names) = tests(&file.rust.code);
        modules.extend(names.into_iter().map(|name| module(path, name)));
        if !is_of_test_target(path) {
            files.push(Shipped { path, file, tests });
        }
    }
    let is_module = |path: &str| {
        let below = |module: &String| {
            path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        modules.iter().any(below)
    };
    files.retain(|shipped| !is_module(shipped.path));
    files
}

/// Whether a file lies in the folder of its crate's test targets. A module that is called `tests` ships
/// unless it says that only tests see it.
fn is_of_test_target(path: &str) -> bool {
    let in_crate = path.strip_prefix("crates/").unwrap_or(path);
    in_crate.split('/').nth(1) == Some("tests")
}

/// Where the items that only tests see stand, and the names of those that are other files.
fn tests(code: &str) -> (Vec<Range<usize>>, Vec<&str>) {
    let (mut ranges, mut names) = (Vec::new(), Vec::new());
    for (start, _) in code.match_indices(TEST_ONLY) {
        let mut at = start + TEST_ONLY.len();
        // Other attributes may stand between it and the item.
        while code[at..].trim_start().starts_with('#') {
            let open = at + code[at..].find('[').unwrap_or(0);
            at = closing(code, open).map_or(code.len(), |end| end + 1);
        }
        let end = match body(code, at) {
            Some(open) => closing(code, open).unwrap_or(code.len()),
            None => {
                let end = code[at..].find(';').map_or(code.len(), |length| at + length);
                let mut item = words(&code[at..end]).map(|(_, word)| word);
                if item.any(|word| word == "mod") {
                    names.extend(item.next());
                }
                end
            }
        };
        ranges.push(start..end);
    }
    (ranges, names)
}

/// The path of a module that the file `from` declares, without its ending.
fn module(from: &str, name: &str) -> String {
    let stem = from.rsplit('/').next().unwrap_or(from).trim_end_matches(".rs");
    let beside = ["lib", "main", "mod"].contains(&stem) || from.contains("/src/bin/");
    resolve(from, &if beside { name.to_owned() } else { format!("{stem}/{name}") })
}

#[cfg(test)]
mod checks {
    use expect_test::{Expect, expect};

    use super::*;

    /// Which words of which files ship.
    fn check(files: &[(&str, &str)], expected: Expect) {
        let tree = Tree::of(files.iter().copied());
        let mut lines = String::new();
        for file in shipped(&tree) {
            let words: Vec<&str> = file.words().map(|(_, word)| word).collect();
            lines += &format!("{}: {}\n", file.path, words.join(" "));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn tests_do_not_ship() {
        check(
            &[
                ("crates/a/src/lib.rs", "mod one;\n#[cfg(test)]\nmod same;\nfn last() {}"),
                ("crates/a/src/one.rs", "#[cfg(test)]\n#[path = \"x\"]\nmod tests { fn x() {} }"),
                ("crates/a/src/same.rs", "mod deep;"),
                ("crates/a/src/same/deep.rs", "fn x() {}"),
                ("crates/a/src/two/mod.rs", "#[cfg(test)] fn x(y: [u8; 2]) { z() }\nfn two() {}"),
                ("crates/a/src/two/three.rs", "#[cfg(test)]\nmod four;"),
                ("crates/a/src/two/three/four.rs", "fn x() {}"),
                ("crates/a/src/two/four.rs", "#[cfg(test)] use x::y;\nfn four() {}"),
                ("crates/a/tests/it/main.rs", "fn x() {}"),
                ("crates/a/src/tests/mod.rs", "fn shipped() {}"),
                ("crates/a/src/five/mod.rs", "#[cfg(test)]\nmod tests;"),
                ("crates/a/src/five/tests/mod.rs", "fn x() {}"),
                ("xtask/tests/it.rs", "fn x() {}"),
            ],
            expect![[r#"
                crates/a/src/five/mod.rs: 
                crates/a/src/lib.rs: mod one fn last
                crates/a/src/one.rs: 
                crates/a/src/tests/mod.rs: fn shipped
                crates/a/src/two/four.rs: fn four
                crates/a/src/two/mod.rs: fn two
                crates/a/src/two/three.rs: 
            "#]],
        );
    }

    #[test]
    fn a_text_that_ends_early_ends_the_test() {
        for text in
            ["#[cfg(test)]", "#[cfg(test)] mod x {", "#[cfg(test)] #[a", "#[cfg(test)] use x"]
        {
            check(&[("crates/a/src/lib.rs", text)], expect!["crates/a/src/lib.rs: \n"]);
        }
    }
}
