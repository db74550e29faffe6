//! The parts of a request's body in the order a provider caches them, each with its weight.

use heeler_core::{Block, Image, truncate_chars};
use heeler_turn::estimate::weigh_blocks;
use heeler_turn::{CharacterEstimate, TokenEstimate};
use serde_json::Value;

/// The most characters of a part that are shown.
const EXCERPT_CHARS_MAX: usize = 48;

/// A tool, the system prompt, or a block of a message.
pub(super) struct Part {
    /// What it is, and how it begins.
    pub(super) label: String,
    /// Estimated.
    pub(super) tokens: u64,
    /// Whether it stands before the last cache marker.
    pub(super) is_cached: bool,
}

/// The parts of a body: tools, system prompt, messages.
pub(super) fn parts(body: &Value, estimate: &CharacterEstimate) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut n_cached = 0;
    let mut push = |what: String, block: &Value| {
        let (text, weight) = said(block, estimate);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let label = match truncate_chars(&text, EXCERPT_CHARS_MAX) {
            text if text.is_empty() => what,
            text => format!("{what}: {text}"),
        };
        parts.push(Part { label, tokens: estimate.tokens(weight), is_cached: false });
        if has_marker(block) {
            n_cached = parts.len();
        }
    };
    for tool in items(&body["tools"]) {
        push(format!("tool {}", text(&tool["name"])), tool);
    }
    for block in items(&body["system"]) {
        push("system".to_owned(), block);
    }
    for message in items(&body["messages"]) {
        for block in items(&message["content"]) {
            push(format!("{} {}", text(&message["role"]), text(&block["type"])), block);
        }
    }
    parts.iter_mut().take(n_cached).for_each(|part| part.is_cached = true);
    parts
}

/// What a part says, and what that weighs: the same as the engine's own estimate.
fn said(block: &Value, estimate: &CharacterEstimate) -> (String, u64) {
    let weighed = |text: String| {
        let weight = estimate.weigh(&text);
        (text, weight)
    };
    match block["type"].as_str() {
        Some("text") => weighed(text(&block["text"]).to_owned()),
        Some("thinking") => weighed(text(&block["thinking"]).to_owned()),
        Some("tool_use") => weighed(format!("{} {}", text(&block["name"]), block["input"])),
        Some("tool_result") => match &block["content"] {
            Value::String(text) => weighed(text.clone()),
            content => items(content)
                .iter()
                .map(|block| said(block, estimate))
                .fold((String::new(), 0), |(text, weight), (more, more_weight)| {
                    (text + &more, weight + more_weight)
                }),
        },
        Some("image") => {
            let image = Image { media_type: String::new(), data: String::new(), cache: None };
            (String::new(), weigh_blocks(estimate, &[Block::Image(image)]))
        }
        // A tool, or a block of the provider's own.
        _ => {
            let text = text(&block["description"]).to_owned();
            (text, estimate.weigh(&block.to_string()))
        }
    }
}

/// Whether the provider is asked to keep what stands up to here.
fn has_marker(block: &Value) -> bool {
    let is_result = block["type"] == "tool_result";
    !block["cache_control"].is_null()
        || (is_result && items(&block["content"]).iter().any(has_marker))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(body: Value, expected: Expect) {
        let shown = parts(&body, &CharacterEstimate::new(1)).into_iter().map(|part| {
            let mark = if part.is_cached { '=' } else { '-' };
            format!("{mark} {:4} {}", part.tokens, part.label).trim_end().to_owned() + "\n"
        });
        expected.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn what_stands_before_the_last_marker_is_cached() {
        let marker = json!({"type": "ephemeral"});
        check(
            json!({
                "system": [{"type": "text", "text": "Be kind."}],
                "tools": [{"name": "LS", "description": "Lists.", "input_schema": {}}],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "what\nis here?"}]},
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "long and unread"},
                        {"type": "tool_use", "id": "a", "name": "LS", "input": {"path": "."}},
                        {"type": "server_tool_use", "id": "b"},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": [
                            {"type": "text", "text": "nothing"},
                            {"type": "image", "source": {}, "cache_control": marker},
                        ]},
                        {"type": "tool_result", "tool_use_id": "c", "content": "failed"},
                        {"type": "text", "text": "\"cache_control\" ".repeat(10)},
                    ]},
                ],
            }),
            expect![[r#"
                =   54 tool LS: Lists.
                =    8 system: Be kind.
                =   13 user text: what is here?
                =    2 assistant thinking: hm
                =   15 assistant tool_use: LS {"path":"."}
                =   35 assistant server_tool_use
                = 1607 user tool_result: nothing
                -    6 user tool_result: failed
                -  160 user text: "cache_control" "cache_control" "cache_control"…
            "#]],
        );
    }

    #[test]
    fn any_body_has_parts_or_none() {
        check(json!([]), expect![[""]]);
        check(
            json!({"tools": {}, "system": "x", "messages": [7, {"content": [8]}]}),
            expect![[r#"
                -    1
            "#]],
        );
    }
}
