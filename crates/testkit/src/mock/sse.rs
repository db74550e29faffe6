//! A reply in the Anthropic wire's own words.

use heeler_script::{ErrorSpec, Reply, ReplyBlock, Step, UsageSpec};
use serde_json::{Value, json};

/// The server-sent events of one step.
pub(super) fn events(reply: &Reply, step: &Step, model: &str) -> Vec<String> {
    match step {
        Step::Started => {
            let mut message = head(reply, model, &json!([]));
            message["usage"]["output_tokens"] = json!(1);
            vec![
                event(&json!({"type": "message_start", "message": message})),
                event(&json!({"type": "ping"})),
            ]
        }
        Step::BlockStarted { block } => {
            let content = reply.blocks.get(*block).map(opened).unwrap_or_default();
            let start = "content_block_start";
            vec![event(&json!({"type": start, "index": block, "content_block": content}))]
        }
        Step::Delta { block, text } => {
            vec![delta(*block, &delta_of(reply.blocks.get(*block), text))]
        }
        Step::Signature { block } => match reply.blocks.get(*block) {
            Some(ReplyBlock::Thinking { signature, .. }) => {
                vec![delta(*block, &json!({"type": "signature_delta", "signature": signature}))]
            }
            _ => Vec::new(),
        },
        Step::BlockFinished { block } => {
            vec![event(&json!({"type": "content_block_stop", "index": block}))]
        }
        Step::Finished => vec![
            event(&json!({
                "type": "message_delta",
                "delta": {"stop_reason": stop_reason(&reply.stop), "stop_sequence": null},
                "usage": {"output_tokens": reply.usage.output},
            })),
            event(&json!({"type": "message_stop"})),
        ],
        Step::Failed => vec![event(&error(&reply.error.clone().unwrap_or_default()))],
        Step::Cut { .. } | Step::Stall => Vec::new(),
    }
}

/// The reply as one message, for a request that does not ask for a stream.
pub(super) fn message(reply: &Reply, model: &str) -> Value {
    let blocks: Vec<Value> = reply.blocks.iter().map(whole).collect();
    let mut message = head(reply, model, &json!(blocks));
    message["stop_reason"] = json!(stop_reason(&reply.stop));
    message
}

/// The body of an error.
pub(super) fn error(error: &ErrorSpec) -> Value {
    let kind = if error.kind.is_empty() { "api_error" } else { &error.kind };
    let message = if error.message.is_empty() { kind } else { &error.message };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or("message"))
}

fn delta(block: usize, delta: &Value) -> String {
    event(&json!({"type": "content_block_delta", "index": block, "delta": delta}))
}

fn head(reply: &Reply, model: &str, content: &Value) -> Value {
    let UsageSpec { input, output, cache_read, cache_write } = reply.usage;
    json!({
        "id": format!("msg_{}", reply.request),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": input,
            "cache_creation_input_tokens": cache_write,
            "cache_read_input_tokens": cache_read,
            "output_tokens": output,
        },
    })
}

/// A block before its deltas.
fn opened(block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Text(_) => json!({"type": "text", "text": ""}),
        ReplyBlock::Thinking { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
        ReplyBlock::Call { id, name, .. } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
        ReplyBlock::Redacted(_) | ReplyBlock::Opaque(_) => whole(block),
    }
}

fn delta_of(block: Option<&ReplyBlock>, text: &str) -> Value {
    match block {
        Some(ReplyBlock::Thinking { .. }) => json!({"type": "thinking_delta", "thinking": text}),
        Some(ReplyBlock::Call { .. }) => json!({"type": "input_json_delta", "partial_json": text}),
        _ => json!({"type": "text_delta", "text": text}),
    }
}

/// A block without a stream.
fn whole(block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Text(text) => json!({"type": "text", "text": text}),
        ReplyBlock::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        ReplyBlock::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
        ReplyBlock::Call { id, name, input } => {
            let input: Option<Value> =
                input.as_deref().and_then(|text| serde_json::from_str(text).ok());
            let input = input.unwrap_or_else(|| json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        ReplyBlock::Opaque(raw) => serde_json::from_str(raw).unwrap_or_default(),
    }
}

/// The wire's word for a pause differs from the script's.
fn stop_reason(stop: &str) -> &str {
    if stop == "pause" { "pause_turn" } else { stop }
}
