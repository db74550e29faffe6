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
    /// Whether it was read from the cache.
    pub(super) was_read: bool,
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
        parts.push(Part {
            label,
            tokens: estimate.tokens(weight),
            is_cached: false,
            was_read: false,
        });
        if has_marker(block) {
            n_cached = parts.len();
        }
    };
    let named = |tool: &Value| match text(&tool["name"]) {
        "" => text(&tool["function"]["name"]).to_owned(),
        name => name.to_owned(),
    };
    for tool in items(&body["tools"]) {
        push(format!("tool {}", named(tool)), tool);
    }
    // Anthropic's, then that of Responses; in Chat Completions it is the first message.
    for block in items(&body["system"]) {
        push("system".to_owned(), block);
    }
    if body["instructions"].is_string() {
        push("system".to_owned(), &said_by(&body["instructions"]));
    }
    for message in items(&body["messages"]).iter().chain(items(&body["input"])) {
        let role = text(&message["role"]);
        if role.is_empty() {
            push(text(&message["type"]).to_owned(), message);
        }
        if message["content"].is_string() {
            push(format!("{role} text"), &said_by(&message["content"]));
        }
        for block in items(&message["content"]).iter().filter(|_| !role.is_empty()) {
            push(format!("{role} {}", text(&block["type"])), block);
        }
        for call in items(&message["tool_calls"]) {
            push(format!("{role} call {}", text(&call["function"]["name"])), &call["function"]);
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
        Some("text" | "input_text" | "output_text") => weighed(text(&block["text"]).to_owned()),
        Some("function_call") => {
            weighed(format!("{} {}", text(&block["name"]), text(&block["arguments"])))
        }
        Some("function_call_output") if block["output"].is_string() => {
            weighed(text(&block["output"]).to_owned())
        }
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
        Some("image" | "image_url" | "input_image") => {
            let image = Image { media_type: String::new(), data: String::new(), cache: None };
            (String::new(), weigh_blocks(estimate, &[Block::from(image)]))
        }
        // A tool, or a block of the provider's own.
        _ => {
            let text = text(&block["description"]).to_owned();
            (text, estimate.weigh(&block.to_string()))
        }
    }
}

/// A text that stands alone, as a block.
fn said_by(text: &Value) -> Value {
    serde_json::json!({ "type": "text", "text": text })
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
    fn bodies_of_other_dialects_have_parts_too() {
        check(
            json!({
                "tools": [{"type": "function", "function": {"name": "LS", "parameters": {}}}],
                "messages": [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": [{"type": "text", "text": "what is here?"}]},
                    {"role": "assistant", "tool_calls": [
                        {"function": {"name": "LS", "arguments": "{}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "a", "content": "nothing"},
                ],
            }),
            expect![[r#"
                -   60 tool LS
                -    8 system text: Be kind.
                -   13 user text: what is here?
                -   30 assistant call LS
                -    7 tool text: nothing
            "#]],
        );
        check(
            json!({
                "instructions": "Be kind.",
                "tools": [{"type": "function", "name": "LS"}],
                "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "what is here?"}]},
                    {"type": "reasoning", "encrypted_content": "x"},
                    {"type": "function_call", "name": "LS", "arguments": "{}"},
                    {"type": "function_call_output", "output": "nothing"},
                ],
            }),
            expect![[r#"
                -   31 tool LS
                -    8 system: Be kind.
                -   13 user input_text: what is here?
                -   44 reasoning
                -    5 function_call: LS {}
                -    7 function_call_output: nothing
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
                -   15
            "#]],
        );
    }
}
