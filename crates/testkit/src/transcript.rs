//! A conversation as text, one compact line a block, for snapshots.

use heeler_core::{Block, Message, Role, ToolResult};

/// The longest line of a transcript, in characters; what is cut ends in `...`.
const LINE_CHARS_MAX: usize = 400;

/// Writes a conversation, one line a block: `user: hello`, `assistant: call read {"path":"a"}`,
/// `result ok: ...`. Line breaks are written as `\n`.
pub fn transcript<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut lines = String::new();
    for message in messages {
        for block in &message.blocks {
            lines.push_str(&one_line(&line(message.role, block)));
            lines.push('\n');
        }
        if message.blocks.is_empty() {
            lines.push_str(&format!("{}: (nothing)\n", speaker(message.role)));
        }
    }
    lines
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn line(role: Role, block: &Block) -> String {
    let who = speaker(role);
    match block {
        Block::Text(text) => format!("{who}: {}", text.text),
        Block::Thinking(thinking) if thinking.signature.is_empty() => {
            format!("{who}: thinking (unsigned) {}", thinking.text)
        }
        Block::Thinking(thinking) => format!("{who}: thinking {}", thinking.text),
        Block::RedactedThinking(_) => format!("{who}: redacted thinking"),
        Block::Image(image) => format!("{who}: {}", picture(&image.media_type)),
        Block::Document(_) => format!("{who}: document"),
        Block::Opaque(opaque) => format!("{who}: {} block {}", opaque.provider, opaque.raw.get()),
        Block::ToolUse(call) => match &call.invalid {
            Some(reason) => format!("{who}: invalid call {}: {reason}", call.name),
            None => format!("{who}: call {} {}", call.name, call.input.get()),
        },
        Block::ToolResult(result) => result_line(result),
    }
}

fn result_line(result: &ToolResult) -> String {
    let state = if result.is_error { "error" } else { "ok" };
    let parts: Vec<String> = result
        .content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.text.clone(),
            Block::Image(image) => picture(&image.media_type),
            _ => "(other)".to_owned(),
        })
        .collect();
    format!("result {state}: {}", parts.join(" "))
}

fn picture(media_type: &str) -> String {
    format!("[{}]", if media_type.is_empty() { "image by address" } else { media_type })
}

fn one_line(text: &str) -> String {
    let text = text.replace('\r', "\\r").replace('\n', "\\n");
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::{RawJson, ToolUse};

    use super::*;

    #[test]
    fn each_block_is_one_line() {
        let call = |invalid: Option<&str>| {
            Block::from(ToolUse {
                id: "1".into(),
                name: "read".into(),
                input: RawJson::parse(r#"{"path": "a"}"#).unwrap(),
                invalid: invalid.map(str::to_owned),
                cache: None,
            })
        };
        let result = |is_error, text: &str| {
            Block::from(ToolResult {
                tool_use_id: "1".into(),
                content: vec![Block::text(text)],
                is_error,
                cache: None,
            })
        };
        let messages = [
            Message::user("hello\nthere"),
            Message { role: Role::Assistant, blocks: vec![call(None), call(Some("cut"))] },
            Message { role: Role::User, blocks: vec![result(false, "a\nb"), result(true, "no")] },
            Message { role: Role::Assistant, blocks: vec![] },
            Message::assistant("x".repeat(500)),
        ];
        let text = transcript(&messages);
        let (short, long) = text.rsplit_once("assistant: x").unwrap();
        assert_eq!(long.chars().count(), LINE_CHARS_MAX + "...\n".len() - "assistant: x".len());
        expect![[r#"
            user: hello\nthere
            assistant: call read {"path": "a"}
            assistant: invalid call read: cut
            result ok: a\nb
            result error: no
            assistant: (nothing)
        "#]]
        .assert_eq(short);
    }
}
