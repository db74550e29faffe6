//! Functions stay short enough to be seen whole.

use crate::finding::Finding;
use crate::rust_text::{body, closing, line_at};
use crate::tree::{File, Tree};

pub(super) const WHY: &str =
    "a function that does not fit a screen is read in pieces, and changed without the other pieces";

const LINES_AIM: usize = 70;
const LINES_MAX: usize = 150;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(|(path, file)| check_file(path, file)).collect()
}

fn check_file(path: &str, file: &File) -> Vec<Finding> {
    functions(file)
        .filter_map(|function| {
            let Function { name, line, lines } = function;
            match lines {
                0..=LINES_AIM => None,
                _ if lines <= LINES_MAX => {
                    let message = format!("fn {name} has {lines} lines; aim at {LINES_AIM}");
                    Some(Finding::note(path, line, message))
                }
                _ => {
                    let message =
                        format!("fn {name} has {lines} lines; more than {LINES_MAX} are refused");
                    Some(Finding::refused(path, line, message))
                }
            }
        })
        .collect()
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// The functions that have a body; `fn(...)` types have no name and are none.
fn functions(file: &File) -> impl Iterator<Item = Function<'_>> {
    let code = file.rust.code.as_str();
    let words: Vec<_> = file.rust.words().collect();
    let pairs: Vec<_> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().filter_map(move |((at, word), (name_at, name))| {
        let between = code.get(at + word.len()..name_at)?;
        if word != "fn" || !between.chars().all(char::is_whitespace) {
            return None;
        }
        let open = body(code, name_at + name.len())?;
        let (line, last) = (line_at(code, at), line_at(code, closing(code, open)?));
        Some(Function { name, line, lines: last - line + 1 - data_lines(file, line, last) })
    })
}

/// Lines from `first` to `last` that lie inside a string: a snapshot or a page of text is data,
/// and its length says nothing about the function around it.
fn data_lines(file: &File, first: usize, last: usize) -> usize {
    let texts = file.text.lines().zip(file.rust.code.lines().zip(file.rust.comments.lines()));
    texts
        .take(last)
        .skip(first)
        .filter(|(text, (code, comments))| {
            !text.trim().is_empty() && code.trim().is_empty() && comments.trim().is_empty()
        })
        .count()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_lines(signature: &str, lines: usize, expected: Expect) {
        let text = format!("//! A.\n{signature} {{\n{}}}\n", "    x();\n".repeat(lines - 2));
        expected.assert_eq(&render(check(&Tree::of([("crates/a/src/lib.rs", text)]))));
    }

    #[test]
    fn the_aim_is_a_note_and_the_limit_is_refused() {
        check_lines("fn a()", 70, expect![""]);
        check_lines(
            "fn a()",
            71,
            expect![[r#"
            note crates/a/src/lib.rs:2: fn a has 71 lines; aim at 70
        "#]],
        );
        check_lines(
            "fn a(x: [u8; 4]) -> fn(u8) -> [u8; 2]",
            151,
            expect![[r#"
            crates/a/src/lib.rs:2: fn a has 151 lines; more than 150 are refused
        "#]],
        );
    }

    #[test]
    fn text_inside_a_string_is_not_counted() {
        let text = format!("//! A.\nfn a() {{\n    x(r#\"\n{}\"#);\n}}\n", "data\n".repeat(200));
        expect![""].assert_eq(&render(check(&Tree::of([("crates/a/src/lib.rs", text)]))));
    }

    #[test]
    fn a_promise_without_a_body_is_not_measured() {
        check_lines("trait T { fn a(x: [u8; 4]); type F = fn(u8); } mod m", 151, expect![""]);
    }
}
