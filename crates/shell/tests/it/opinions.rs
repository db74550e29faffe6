//! A line passes only where the second parser sees the same commands.

use heeler_shell::read;
use proptest::prelude::*;
use tree_sitter::{Node, Parser};

use crate::PLACE;
use crate::corpus;

/// The names of commands that tree-sitter sees, where they are plain text.
fn names(line: &str) -> Option<Vec<String>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    // The grammar's scanner may not be asked about characters outside of C's tables.
    let is_outside = |c: char| u32::from(c) > 0xff;
    let letters = |c: char| if is_outside(c) { "x".repeat(c.len_utf8()) } else { c.into() };
    let tree = parser.parse(line.chars().map(letters).collect::<String>(), None).unwrap();
    let mut names = Vec::new();
    collect(tree.root_node(), line, &mut names);
    (!tree.root_node().has_error()).then_some(names)
}

fn collect(node: Node<'_>, line: &str, names: &mut Vec<String>) {
    let text = &line[node.byte_range()];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if node.kind() == "command_name" && text.chars().all(is_plain) {
        names.push(text.to_owned());
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, line, names);
    }
}

fn check(line: &str) -> Result<(), TestCaseError> {
    let read = read(line, &PLACE);
    if !read.concerns.is_empty() {
        return Ok(());
    }
    let Some(names) = names(line) else {
        return Err(TestCaseError::fail(format!("{line:?} passes and does not parse")));
    };
    for name in names.into_iter().filter(|name| name != "time") {
        let is_seen = read.commands.iter().any(|command| command.words.first() == Some(&name));
        prop_assert!(is_seen, "{line:?} passes without {name}");
    }
    Ok(())
}

/// A line of a row, spoiled: something is put in, left out, or said twice.
fn spoiled() -> impl Strategy<Value = String> {
    let rows: Vec<String> = corpus::rows().into_iter().map(|row| row.command).collect();
    let put = prop::sample::select(vec![
        "", " ", "\n", ";", "|", "&", "(", ")", "{", "}", "$(", "`", "'", "\"", "\\", "<<", "<<<",
        "#", "\t", "\\\n", "=", "$", "!", ";;", " rm x ", "<(", "[", "]",
    ]);
    (prop::sample::select(rows), any::<prop::sample::Index>(), any::<prop::sample::Index>(), put)
        .prop_map(|(row, at, to, put)| {
            let chars: Vec<char> = row.chars().collect();
            let (at, to) = (at.index(chars.len()), to.index(chars.len()));
            let end = if to > at && to - at < 4 { to } else { at };
            let (before, after) = (&chars[..at], &chars[end..]);
            before.iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(after).collect()
        })
}

#[test]
fn no_row_passes_without_a_command_that_tree_sitter_sees() {
    for row in corpus::rows() {
        check(&row.command).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_spoiled_row_passes_without_a_command_that_tree_sitter_sees(line in spoiled()) {
        check(&line)?;
    }
}
