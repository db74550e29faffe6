//! No path of somebody's machine stands in the tree.

use crate::finding::Finding;
use crate::rust_text::line_at;
use crate::tree::Tree;

pub(super) const WHY: &str =
    "a path of one machine works on that machine only, and tells strangers about it";

/// Where people's own folders lie.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// People who do not exist, for examples and tests.
const NOBODY: [&str; 8] = ["ada", "alice", "bob", "me", "nobody", "u", "user", "you"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.all().flat_map(|(path, file)| check_file(path, &file.text, &tree.root)).collect()
}

fn check_file(path: &str, text: &str, root: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for home in HOMES {
        for at in places(text, home) {
            let owner = first_word(&text[at + home.len()..]);
            if !owner.is_empty() && !NOBODY.contains(&owner) {
                let message = format!("`{home}{owner}`; write it as `{home}user` or a parameter");
                findings.push(Finding::refused(path, line_at(text, at), message));
            }
        }
    }
    // A root of one part, such as `/src`, is too common a word to mean this machine.
    if root.matches('/').count() >= 2 {
        for at in places(text, root) {
            if first_word(&text[at + root.len()..]).is_empty() {
                let message = format!("`{root}` is where this checkout lies");
                findings.push(Finding::refused(path, line_at(text, at), message));
            }
        }
    }
    findings
}

/// Where `needle` begins a path: not in the middle of a longer one.
fn places<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(needle).map(|(at, _)| at).filter(|at| {
        let before = text[..*at].chars().next_back().unwrap_or(' ');
        !(before.is_alphanumeric() || "._-~/}".contains(before))
    })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_text(text: &str, expected: Expect) {
        let mut tree = Tree::of([("a.toml", text)]);
        tree.root = "/build/heeler".to_owned();
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn a_persons_folder_and_this_checkout_are_refused() {
        let person = format!("x = 1\ny = \"{}karla/src\"", HOMES[0]);
        let expected =
            format!("a.toml:2: `{0}karla`; write it as `{0}user` or a parameter\n", HOMES[0]);
        assert_eq!(render(check(&Tree::of([("a.toml", person)]))), expected);
        check_text(
            "see /build/heeler/docs",
            expect![[r#"
            a.toml:1: `/build/heeler` is where this checkout lies
        "#]],
        );
    }

    #[test]
    fn examples_and_urls_are_fine() {
        check_text("/home/user/x /Users/me /home/ docs/home/page", expect![""]);
        check_text("/build/heeler-2 x/build/heeler", expect![""]);
    }
}
