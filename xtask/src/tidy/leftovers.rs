//! Nothing is left for later in the code: no stubs, no markers, no tests that do not test.

use crate::finding::Finding;
use crate::rust_text::{line_at, words};
use crate::tree::Tree;

pub(super) const WHY: &str = "what is missing belongs into an issue, where somebody will see it; \
     in the code it is only believed to be there";

/// Macros that stand for code that is not there.
const STUBS: [&str; 2] = [concat!("to", "do"), concat!("unimpl", "emented")];

/// Words that mark unfinished work in a comment.
const MARKERS: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX"), concat!("HA", "CK")];

/// Code that can only pass, spaces removed.
const IDLE: [(&str, &str); 6] = [
    (concat!("#[ig", "nore]"), "an ignored test says why: `#[ignore = \"...\"]`"),
    (concat!("#[cfg(any", "())]"), "code that is never compiled is not there"),
    (concat!("#[cfg(fal", "se)]"), "code that is never compiled is not there"),
    (concat!("assert!", "(true)"), "a test that cannot fail tests nothing"),
    (concat!("assert!", "(true,"), "a test that cannot fail tests nothing"),
    (concat!("assert_eq!", "(1,1)"), "a test that cannot fail tests nothing"),
];

/// An ignored test with an empty reason: as code, which has no strings, and as text.
const UNREASONED: (&str, &str) = (concat!("#[ig", "nore=]"), concat!("#[ig", "nore=\"\"]"));

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in tree.rust() {
        for (at, word) in file.rust.words() {
            if STUBS.contains(&word) && file.rust.code[at + word.len()..].starts_with('!') {
                let message = format!("`{word}!` stands for code that is not there");
                findings.push(Finding::refused(path, line_at(&file.text, at), message));
            }
        }
        findings.extend(markers(path, &file.rust.comments));
        let lines = file.rust.code.lines().zip(file.text.lines());
        for (index, (code, text)) in lines.enumerate() {
            let (bare, whole) = (dense(code), dense(text));
            if bare.contains(UNREASONED.0) && whole.contains(UNREASONED.1) {
                findings.push(Finding::refused(path, index + 1, IDLE[0].1));
            }
            for (idle, message) in IDLE {
                if bare.contains(idle) {
                    findings.push(Finding::refused(path, index + 1, message));
                }
            }
        }
    }
    findings.extend(tree.markdown().flat_map(|(path, file)| markers(path, &file.text)));
    findings
}

fn dense(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

fn markers(path: &str, text: &str) -> Vec<Finding> {
    words(text)
        .filter(|(_, word)| MARKERS.contains(word))
        .map(|(at, word)| {
            Finding::refused(path, line_at(text, at), format!("`{word}` marks unfinished work"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_text(path: &str, text: &str, expected: Expect) {
        expected.assert_eq(&render(check(&Tree::of([(path, text)]))));
    }

    #[test]
    fn stubs_and_markers_are_refused() {
        let text = format!("fn a() {{\n    {}!()\n}}\n// {}: b\n", STUBS[0], MARKERS[1]);
        let rendered = render(check(&Tree::of([("crates/a/src/lib.rs", text)])));
        let expected = format!(
            "crates/a/src/lib.rs:2: `{}!` stands for code that is not there\n\
             crates/a/src/lib.rs:4: `{}` marks unfinished work\n",
            STUBS[0], MARKERS[1]
        );
        assert_eq!(rendered, expected);
        let page = format!("# A\n{} later\n", MARKERS[0]);
        assert_eq!(check(&Tree::of([("docs/a.md", page)])).len(), 1);
    }

    #[test]
    fn tests_that_do_not_test_are_refused() {
        // In pieces, so that nobody who looks for such tests finds these.
        let [equal, holds] =
            [["assert_eq!", "(1, 1);"], ["assert!", "( true );"]].map(|p| p.concat());
        let holds_and_says = holds.replace(" )", ", \"so it is\")");
        let text = format!(
            "{}\n{equal}\n{holds}\n{holds_and_says}\n{}\n{}\n{}\n",
            IDLE[0].0, IDLE[1].0, IDLE[2].0, UNREASONED.1
        );
        check_text(
            "crates/a/src/lib.rs",
            &text,
            expect![[r#"
                crates/a/src/lib.rs:1: an ignored test says why: `#[ignore = "..."]`
                crates/a/src/lib.rs:2: a test that cannot fail tests nothing
                crates/a/src/lib.rs:3: a test that cannot fail tests nothing
                crates/a/src/lib.rs:4: a test that cannot fail tests nothing
                crates/a/src/lib.rs:5: code that is never compiled is not there
                crates/a/src/lib.rs:6: code that is never compiled is not there
                crates/a/src/lib.rs:7: an ignored test says why: `#[ignore = "..."]`
            "#]],
        );
    }

    #[test]
    fn words_for_people_are_fine() {
        let text = format!(
            "#[ignore = \"needs a terminal\"]\nfn todo_list() {{}}\nlet x = \"{}!()\";\n",
            STUBS[0]
        );
        check_text("crates/a/src/lib.rs", &text, expect![""]);
        check_text(
            "crates/a/src/todo.rs",
            "//! The todo tool: a list the model keeps.",
            expect![""],
        );
    }
}
