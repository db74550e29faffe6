//! The second opinion: what tree-sitter sees in a line, to be compared with what was judged.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use crate::DEPTH_MAX;

/// How often the parser may report progress before it is stopped; it does so every hundred steps.
const PROGRESS_MAX: usize = 20_000;
/// How deep the tree may be in all; chains of `&&` are deep without being nested.
const TREE_DEPTH_MAX: usize = 20_000;

/// How often `<<` may stand in a text: this parser keeps all documents that are begun, at each step.
const DOCUMENTS_MAX: usize = 2_000;

/// What is between the words of a [`Seen`] command.
pub(crate) const BETWEEN: char = '\u{1f}';

/// Why there is no second opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not shell, as far as this parser can tell.
    Error,
    TooDeep,
    TooLong,
}

/// The source of each simple command's words, and of each redirection's target; sorted.
pub(crate) type Seen = Vec<String>;

/// What the parser sees.
pub(crate) fn seen(text: &str) -> Result<Seen, Trouble> {
    if text.matches("<<").count() > DOCUMENTS_MAX {
        return Err(Trouble::TooLong);
    }
    let tree = parse(text)?;
    if tree.root_node().has_error() {
        return Err(Trouble::Error);
    }
    let mut seen = Vec::new();
    let mut nested: Vec<bool> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let nests = nests(node.kind());
        let depth = nested.iter().filter(|nests| **nests).count() + usize::from(nests);
        if depth > DEPTH_MAX || nested.len() > TREE_DEPTH_MAX {
            return Err(Trouble::TooDeep);
        }
        note(node, text, &mut seen);
        if cursor.goto_first_child() {
            nested.push(nests);
            continue;
        }
        if !next(&mut cursor, &mut nested) {
            break;
        }
    }
    seen.sort();
    Ok(seen)
}

fn next(cursor: &mut TreeCursor<'_>, nested: &mut Vec<bool>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        nested.pop();
    }
    true
}

fn parse(text: &str) -> Result<Tree, Trouble> {
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    parser.set_language(&language).map_err(|_| Trouble::Error)?;
    let mut reports = 0;
    let mut progress = |_: &ParseState| {
        reports += 1;
        if reports > PROGRESS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let text = within_tables(text);
    let bytes = text.as_bytes();
    let mut read = |from: usize, _| bytes.get(from..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options)).ok_or(Trouble::TooLong)
}

/// The text with each character above U+00FF as letters of the same length: the grammar's scanner
/// asks C's table of digits about whatever stands behind `{`, and reads far outside of it for these.
/// To a shell they are parts of words like letters.
fn within_tables(text: &str) -> Cow<'_, str> {
    let is_outside = |char: char| u32::from(char) > 0xff;
    if !text.contains(is_outside) {
        return Cow::Borrowed(text);
    }
    let mut within = String::with_capacity(text.len());
    for char in text.chars() {
        match is_outside(char) {
            true => within.extend(std::iter::repeat_n('x', char.len_utf8())),
            false => within.push(char),
        }
    }
    Cow::Owned(within)
}

/// Whether a construct counts as a level.
fn nests(kind: &str) -> bool {
    matches!(
        kind,
        "subshell"
            | "compound_statement"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "expansion"
            | "if_statement"
            | "while_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "case_statement"
            | "parenthesized_expression"
            | "binary_expression"
            | "unary_expression"
            | "ternary_expression"
            | "string"
            | "negated_command"
            | "subscript"
    )
}

fn note(node: Node<'_>, text: &str, seen: &mut Seen) {
    match node.kind() {
        "command" => {
            let mut words = words(node, text);
            words.extend(stray_words(node, text));
            add(words, seen);
        }
        "declaration_command" | "unset_command" => {
            let mut cursor = node.walk();
            let children = node.children(&mut cursor);
            let mut words: Vec<&str> = children.map(|child| source(child, text)).collect();
            words.extend(stray_words(node, text));
            add(words, seen);
        }
        "file_redirect" => {
            let target = node.child_by_field_name("destination");
            let target = target.filter(|target| target.kind() != "process_substitution");
            let target = target.map(|target| source(target, text));
            seen.extend(target.and_then(redirection));
        }
        _ => {}
    }
}

/// How the target of a redirection is compared; descriptors are not.
pub(crate) fn redirection(target: &str) -> Option<String> {
    let is_descriptor = target.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    (!is_descriptor).then(|| format!(">{BETWEEN}{}", joined(target)))
}

/// How a command's words are compared. A lone dash is lost by this parser before `<<`.
pub(crate) fn command<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let words: Vec<String> = words.filter(|word| *word != "-").map(joined).collect();
    words.join(&BETWEEN.to_string())
}

fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

fn add(words: Vec<&str>, seen: &mut Seen) {
    let mut words = words.as_slice();
    // This parser takes the word `time` for a command.
    if let [first, rest @ ..] = words
        && *first == "time"
    {
        words = rest.strip_prefix(&["-p"]).unwrap_or(rest);
        while let [first, rest @ ..] = words
            && is_assignment(first)
        {
            words = rest;
        }
    }
    if !words.is_empty() {
        seen.push(command(words.iter().copied()));
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() < word.len() && !name.is_empty() && name.bytes().all(is_name)
}

fn words<'t>(command: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    for index in 0..command.child_count() {
        let field = command.field_name_for_child(index);
        if matches!(field, Some("name" | "argument"))
            && let Some(child) = command.child(index)
        {
            words.push(source(child, text));
        }
    }
    words
}

/// Words of a command that this parser hangs onto the redirections after it.
fn stray_words<'t>(command: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    let Some(parent) = command.parent().filter(|parent| parent.kind() == "redirected_statement")
    else {
        return words;
    };
    let mut cursor = parent.walk();
    for redirect in parent.children_by_field_name("redirect", &mut cursor) {
        of_redirect(redirect, text, &mut words);
    }
    words
}

fn of_redirect<'t>(redirect: Node<'_>, text: &'t str, words: &mut Vec<&'t str>) {
    let mut cursor = redirect.walk();
    match redirect.kind() {
        "file_redirect" => {
            let targets = redirect.children_by_field_name("destination", &mut cursor);
            words.extend(targets.skip(1).map(|word| source(word, text)));
        }
        "heredoc_redirect" => {
            let arguments = redirect.children_by_field_name("argument", &mut cursor);
            words.extend(arguments.map(|word| source(word, text)));
            let mut inner = redirect.walk();
            for next in redirect.children_by_field_name("redirect", &mut inner) {
                of_redirect(next, text, words);
            }
        }
        _ => {}
    }
}

/// The source of a word; what stands in a process substitution is compared by itself.
fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    if node.kind() == "process_substitution" {
        return "";
    }
    text.get(node.byte_range()).unwrap_or_default()
}
