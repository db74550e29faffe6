//! The files that the calls of a conversation touched, as far as names and inputs of calls say.
//!
//! Part of the fold: what it makes of the same messages never changes; the tests hold it.

use std::sync::Arc;

use heeler_core::{Block, Message, ToolUse};
use serde::Deserialize;

/// A longer path is no help to anybody.
const PATH_CHARS_MAX: usize = 300;
/// The lines of a patch that name a file.
const PATCHED: [&str; 4] =
    ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// A file that a call touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    /// As the call said it.
    pub(crate) path: String,
    /// It was written, not only read.
    pub(crate) is_changed: bool,
}

/// Adds what calls that succeeded touched, the latest last, each file once.
pub(crate) fn add<'a>(messages: impl Iterator<Item = &'a Arc<Message>>, files: &mut Vec<Touched>) {
    let mut calls: Vec<&ToolUse> = Vec::new();
    for message in messages {
        for call in calls.drain(..).filter(|call| has_succeeded(call, message)) {
            touched_by(call).into_iter().for_each(|touched| join(files, touched));
        }
        calls.extend(message.tool_uses());
    }
}

/// Adds one file at the end, wherever it stood before.
pub(crate) fn join(files: &mut Vec<Touched>, mut touched: Touched) {
    if let Some(at) = files.iter().position(|earlier| earlier.path == touched.path) {
        touched.is_changed |= files.remove(at).is_changed;
    }
    files.push(touched);
}

fn has_succeeded(call: &ToolUse, results: &Message) -> bool {
    results.blocks.iter().any(|block| match block {
        Block::ToolResult(result) => result.tool_use_id == call.id && !result.is_error,
        _ => false,
    })
}

fn touched_by(call: &ToolUse) -> Vec<Touched> {
    /// What of an input says which file.
    #[derive(Deserialize, Default)]
    struct Named {
        file_path: Option<String>,
        path: Option<String>,
        command: Option<String>,
        input: Option<String>,
    }
    let is_changed = match call.name.as_str() {
        "Read" => false,
        "Edit" | "Write" | "MultiEdit" | "apply_patch" | "str_replace_based_edit_tool" => true,
        _ => return Vec::new(),
    };
    let named: Named = serde_json::from_str(call.input.get()).unwrap_or_default();
    let is_changed = is_changed && named.command.as_deref() != Some("view");
    let patch = named.input.filter(|_| call.name == "apply_patch").unwrap_or_default();
    let patched = patch.lines().filter_map(|line| {
        let path = PATCHED.iter().find_map(|word| line.strip_prefix(word))?;
        Some(path.trim().to_owned())
    });
    let paths = named.file_path.or(named.path).into_iter().chain(patched);
    let is_path = |path: &String| {
        let is_long = path.chars().count() > PATH_CHARS_MAX;
        !path.is_empty() && !is_long && !path.chars().any(char::is_control)
    };
    paths.filter(is_path).map(|path| Touched { path, is_changed }).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{RawJson, Role, ToolResult};

    use super::*;

    /// What calls touched; one that begins with `!` failed, `-` has no result.
    #[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
    fn check(calls: &[(&str, &str)], expected: Expect) {
        let mut messages = Vec::new();
        for (n, (name, input)) in calls.iter().enumerate() {
            let id = format!("c{n}");
            let call = ToolUse {
                id: id.clone(),
                name: name.trim_start_matches(['!', '-']).to_owned(),
                input: RawJson::parse(input).unwrap(),
                invalid: None,
                cache: None,
            };
            let result = ToolResult {
                tool_use_id: if name.starts_with('-') { "other".into() } else { id },
                content: vec![Block::text("ok")],
                is_error: name.starts_with('!'),
                cache: None,
            };
            let message = |role, block| Arc::new(Message { role, blocks: vec![block] });
            messages.push(message(Role::Assistant, Block::from(call)));
            messages.push(message(Role::User, Block::from(result)));
        }
        let mut files = Vec::new();
        add(messages.iter(), &mut files);
        let shown = |file: &Touched| {
            format!("{} {}\n", if file.is_changed { "changed" } else { "read" }, file.path)
        };
        expected.assert_eq(&files.iter().map(shown).collect::<String>());
    }

    #[test]
    fn calls_name_their_files_and_the_latest_stands_last() {
        let patch = r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n*** Add File: c.rs\n*** Delete File: d.rs\n*** End Patch"}"#;
        check(
            &[
                ("Read", r#"{"file_path":"x.rs","offset":3}"#),
                ("Read", r#"{"file_path":"y.rs"}"#),
                ("Edit", r#"{"file_path":"x.rs","old_string":"a","new_string":"b"}"#),
                ("apply_patch", patch),
                ("str_replace_based_edit_tool", r#"{"command":"view","path":"v"}"#),
                ("str_replace_based_edit_tool", r#"{"command":"create","path":"w"}"#),
                ("Read", r#"{"file_path":"x.rs"}"#),
            ],
            expect![[r#"
                read y.rs
                changed a.rs
                changed b.rs
                changed c.rs
                changed d.rs
                read v
                changed w
                changed x.rs
            "#]],
        );
    }

    #[test]
    fn what_failed_or_says_nothing_touched_nothing() {
        let long = format!(r#"{{"file_path":"{}"}}"#, "é".repeat(301));
        let fits = format!(r#"{{"file_path":"{}"}}"#, "e".repeat(300));
        check(
            &[
                ("!Edit", r#"{"file_path":"a"}"#),
                ("-Edit", r#"{"file_path":"b"}"#),
                ("Grep", r#"{"path":"c"}"#),
                ("Write", r#"{"file_path":7}"#),
                ("Write", r#"{"file_path":"two\nlines"}"#),
                ("Write", r#"{"file_path":""}"#),
                ("Read", r#"{"input":"*** Add File: d"}"#),
                ("Read", &long),
            ],
            expect![""],
        );
        check(
            &[("Write", &fits)],
            expect![[r#"
            changed eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
        "#]],
        );
    }
}
