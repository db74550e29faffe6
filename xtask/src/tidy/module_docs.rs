//! Every Rust file begins by saying what it is for.

use crate::finding::Finding;
use crate::tree::Tree;

pub(super) const WHY: &str =
    "a file that cannot say in one line what it is for holds two things, or none";

/// Files that may begin otherwise, each with the reason.
const EXEMPT: [(&str, &str); 0] = [];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|(path, _)| !EXEMPT.iter().any(|(exempt, _)| exempt == path))
        .filter(|(_, file)| {
            let first = file.text.lines().next().unwrap_or_default();
            first.strip_prefix("//!").is_none_or(|sentence| sentence.trim().is_empty())
        })
        .map(|(path, _)| Finding::refused(path, 1, "the first line is not a `//!` sentence"))
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::finding::render;

    #[test]
    fn the_first_line_is_a_sentence() {
        let tree = Tree::of([
            ("crates/a/src/lib.rs", "//! A room."),
            ("crates/a/src/empty.rs", ""),
            ("crates/a/src/late.rs", "\n//! Late."),
            ("crates/a/src/mute.rs", "//!\n//! Mute."),
            ("crates/a/tests/it.rs", "use a::b;"),
            ("xtask/build.rs", "fn main() {}"),
            ("crates/a/tests/fixtures/bug.rs", "fn bug() {}"),
        ]);
        expect![[r#"
            crates/a/src/empty.rs:1: the first line is not a `//!` sentence
            crates/a/src/late.rs:1: the first line is not a `//!` sentence
            crates/a/src/mute.rs:1: the first line is not a `//!` sentence
            crates/a/tests/it.rs:1: the first line is not a `//!` sentence
            xtask/build.rs:1: the first line is not a `//!` sentence
        "#]]
        .assert_eq(&render(check(&tree)));
    }
}
