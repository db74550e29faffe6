//! Anthropic's Messages.

use std::sync::Arc;

use heeler_core::StopReason;
use heeler_providers::{Anthropic, AnthropicSettings};
use serde_json::{Value, json};

use super::{Dialect, pieces};
use crate::conformance::scenario::{Said, Scenario};

pub(crate) const DIALECT: Dialect = Dialect {
    name: "anthropic",
    provider: |url, idle_timeout| {
        let base_url = url.into();
        let settings =
            AnthropicSettings { base_url, idle_timeout, ..AnthropicSettings::with_api_key("k") };
        Arc::new(Anthropic::new(&settings).unwrap())
    },
    stream,
    document,
    overloaded: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
                 \"message\":\"Overloaded\"}}\n\n",
    refusal: |code, message| {
        json!({"type": "error", "error": {"type": code, "message": message}}).to_string()
    },
    stops: &[
        "end_turn",
        "tool_use",
        "max_tokens",
        "model_context_window_exceeded",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "weather",
    ],
    unknown: "event: weather\ndata: {\"type\":\"weather\",\"sky\":[1]}\n\n",
};

fn stream(scenario: &Scenario) -> String {
    let mut start = message(scenario, &[]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut out = event(json!({"type": "message_start", "message": start}));
    out += &event(json!({"type": "ping"}));
    for (index, said) in scenario.said.iter().enumerate() {
        let (begun, deltas) = block_in_parts(said);
        out +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        for delta in deltas {
            out += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        out += &event(json!({"type": "content_block_stop", "index": index}));
    }
    out += &event(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop(scenario), "stop_sequence": null},
        "usage": usage(scenario),
    }));
    out + &event(json!({"type": "message_stop"}))
}

fn document(scenario: &Scenario) -> String {
    let blocks: Vec<Value> = scenario.said.iter().map(block).collect();
    message(scenario, &blocks).to_string()
}

fn message(scenario: &Scenario, blocks: &[Value]) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks,
        "stop_reason": stop(scenario), "stop_sequence": null, "usage": usage(scenario),
    })
}

fn block(said: &Said) -> Value {
    match said {
        Said::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2ln"}),
        Said::Text(text) | Said::Refusal(text) => json!({"type": "text", "text": text}),
        Said::Call { id, name, input } => {
            let input: Value = serde_json::from_str(input).unwrap();
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

fn block_in_parts(said: &Said) -> (Value, Vec<Value>) {
    match said {
        Said::Thinking(text) => {
            let delta = |piece| json!({"type": "thinking_delta", "thinking": piece});
            let mut deltas: Vec<Value> = pieces(text).into_iter().map(delta).collect();
            deltas.push(json!({"type": "signature_delta", "signature": "c2ln"}));
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        Said::Text(text) | Said::Refusal(text) => {
            let delta = |piece| json!({"type": "text_delta", "text": piece});
            (json!({"type": "text", "text": ""}), pieces(text).into_iter().map(delta).collect())
        }
        Said::Call { id, name, input } => {
            let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
            // A call without input has one empty delta.
            let input = if *input == "{}" { vec![String::new()] } else { pieces(input) };
            let begun = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            (begun, input.into_iter().map(delta).collect())
        }
    }
}

fn stop(scenario: &Scenario) -> &'static str {
    match scenario.stop {
        _ if let Some(word) = scenario.word => word,
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        _ => panic!("no scenario stops so"),
    }
}

fn usage(scenario: &Scenario) -> Value {
    let usage = scenario.usage;
    json!({
        "input_tokens": usage.input, "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    })
}

fn event(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}
