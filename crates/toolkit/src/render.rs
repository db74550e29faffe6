//! A conversation as flat text, for whoever summarises it.

use std::fmt::Write;

use heeler_core::{Block, Message, Role};

/// How many characters of a call's input and of its result are rendered, unless another number is
/// asked for.
pub const RENDERED_CHARS_DEFAULT: usize = 400;

/// Stands where something was cut.
const MARKER: &str = "...[truncated]";

/// The conversation as lines of text, for a model that summarises it: `USER:`, `ASSISTANT:`, `ASSISTANT_TOOL_USE name(input)`,
/// `TOOL_RESULT (id):` and `TOOL_ERROR (id):`. Inputs and results are cut to `tool_chars_max`
/// characters (0 for [`RENDERED_CHARS_DEFAULT`]) and then end with `...[truncated]`; what people and
/// the model said is whole. Images are named, not shown; reasoning is left out.
///
/// ```
/// use heeler_core::Message;
/// use heeler_toolkit::{RENDERED_CHARS_DEFAULT, render_for_summary};
///
/// let history = [Message::user("Hi."), Message::assistant("Hello!")];
/// let text = render_for_summary(&history, RENDERED_CHARS_DEFAULT);
/// assert!(text.contains("Hello!"));
/// ```
#[must_use]
pub fn render_for_summary(messages: &[Message], tool_chars_max: usize) -> String {
    let chars_max = if tool_chars_max == 0 { RENDERED_CHARS_DEFAULT } else { tool_chars_max };
    let mut text = String::new();
    for message in messages {
        for block in &message.blocks {
            render(&mut text, message.role, block, chars_max);
        }
    }
    text
}

fn render(text: &mut String, role: Role, block: &Block, chars_max: usize) {
    let label = if role == Role::User { "USER" } else { "ASSISTANT" };
    // Writing to a string cannot fail.
    let _ = match block {
        Block::Text(said) => writeln!(text, "{label}: {}", said.text),
        Block::Image(_) | Block::Document(_) => writeln!(text, "{label}: [attachment]"),
        Block::ToolUse(call) => {
            let input = cut(call.input.get(), chars_max);
            writeln!(text, "ASSISTANT_TOOL_USE {}({input})", call.name)
        }
        Block::ToolResult(result) => {
            let label = if result.is_error { "TOOL_ERROR" } else { "TOOL_RESULT" };
            let said: String = result.content.iter().filter_map(Block::as_text).collect();
            writeln!(text, "{label} ({}): {}", result.tool_use_id, cut(&said, chars_max))
        }
        Block::Thinking(_) | Block::RedactedThinking(_) | Block::Opaque(_) => Ok(()),
    };
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{MARKER}", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::{Image, RawJson, ToolResult, ToolUse};

    use super::*;

    #[test]
    fn a_conversation_is_lines_with_labels_and_no_character_is_cut() {
        let call = |input: &str| {
            Block::from(ToolUse {
                id: "c1".into(),
                name: "Read".into(),
                input: RawJson::parse(input).unwrap(),
                invalid: None,
                cache: None,
            })
        };
        let result = |text: &str, is_error| {
            let content = vec![Block::text(text)];
            Block::from(ToolResult { tool_use_id: "c1".into(), content, is_error, cache: None })
        };
        let image = Image { media_type: "image/png".into(), data: String::new(), cache: None };
        let messages = [
            Message { role: Role::User, blocks: vec![Block::text("hi"), Block::from(image)] },
            Message {
                role: Role::Assistant,
                blocks: vec![Block::text("ok"), call(r#"{"a":"éééééé"}"#)],
            },
            Message {
                role: Role::User,
                blocks: vec![result("éééééééééé", false), result("no", true), Block::text("go on")],
            },
        ];
        expect![[r#"
            USER: hi
            USER: [attachment]
            ASSISTANT: ok
            ASSISTANT_TOOL_USE Read({"a":"éé...[truncated])
            TOOL_RESULT (c1): éééééééé...[truncated]
            TOOL_ERROR (c1): no
            USER: go on
        "#]]
        .assert_eq(&render_for_summary(&messages, 8));
        let long = [Message { role: Role::User, blocks: vec![result(&"x".repeat(500), false)] }];
        assert_eq!(
            render_for_summary(&long, 0),
            format!("TOOL_RESULT (c1): {}...[truncated]\n", "x".repeat(400))
        );
        assert_eq!(
            render_for_summary(&long, 500),
            format!("TOOL_RESULT (c1): {}\n", "x".repeat(500))
        );
        assert_eq!(render_for_summary(&[], 0), "");
    }
}
