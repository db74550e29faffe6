//! Chat Completions, with reasoning as the gateways have it that show it.

use std::sync::Arc;

use heeler_core::StopReason;
use heeler_providers::chat::{Chat, ChatSettings};
use serde_json::{Value, json};

use super::{Dialect, pieces};
use crate::conformance::scenario::{Said, Scenario};

pub(crate) const DIALECT: Dialect = Dialect {
    name: "openai-chat",
    provider: |url, idle_timeout| {
        let mut settings = ChatSettings::with_api_key("k");
        (settings.base_url, settings.idle_timeout) = (url.into(), idle_timeout);
        Arc::new(Chat::new(&settings).unwrap())
    },
    stream,
    document,
    overloaded: "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\",\"param\":null,\
                 \"code\":\"server_is_overloaded\"}}\n\n",
    refusal: |code, message| {
        json!({"error": {"message": message, "type": "error", "param": null, "code": code}})
            .to_string()
    },
    stops: &[
        "stop",
        "tool_calls",
        "function_call",
        "length",
        "content_filter",
        // A refusal ends as any text does; these are of gateways.
        "model_length",
        "stop_sequence",
        "refusal",
        "sensitive",
        "weather",
    ],
    unknown: "data: {\"id\":\"chatcmpl-1\",\"object\":\"weather\",\"choices\":[],\"sky\":[1]}\n\n",
};

fn stream(scenario: &Scenario) -> String {
    let mut out = chunk(json!({"role": "assistant", "content": null}), Value::Null);
    let mut calls = 0;
    for said in &scenario.said {
        match said {
            Said::Thinking(text) => {
                for piece in pieces(text) {
                    out += &chunk(json!({"reasoning_content": piece}), Value::Null);
                }
            }
            Said::Text(text) => {
                for piece in pieces(text) {
                    out += &chunk(json!({"content": piece}), Value::Null);
                }
            }
            Said::Refusal(text) => {
                for piece in pieces(text) {
                    out += &chunk(json!({"refusal": piece}), Value::Null);
                }
            }
            Said::Call { id, name, input } => {
                let begun = json!({
                    "index": calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""},
                });
                out += &chunk(json!({"tool_calls": [begun]}), Value::Null);
                for piece in pieces(input) {
                    let more = json!({"index": calls, "function": {"arguments": piece}});
                    out += &chunk(json!({"tool_calls": [more]}), Value::Null);
                }
                calls += 1;
            }
        }
    }
    out += &chunk(json!({}), json!(stop(scenario)));
    out += &data(head("chat.completion.chunk", json!([]), usage(scenario)));
    out + "data: [DONE]\n\n"
}

fn document(scenario: &Scenario) -> String {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut calls = Vec::new();
    for said in &scenario.said {
        match said {
            Said::Thinking(text) => message["reasoning_content"] = json!(text),
            Said::Text(text) => message["content"] = json!(text),
            Said::Refusal(text) => message["refusal"] = json!(text),
            Said::Call { id, name, input } => calls.push(json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": input},
            })),
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": stop(scenario),
    });
    head("chat.completion", json!([choice]), usage(scenario)).to_string()
}

fn chunk(delta: Value, finish_reason: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    data(head("chat.completion.chunk", json!([choice]), Value::Null))
}

fn head(object: &str, choices: Value, usage: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": object, "created": 1_700_000_000, "model": "m",
        "choices": choices, "usage": usage,
    })
}

fn stop(scenario: &Scenario) -> &'static str {
    match scenario.stop {
        _ if let Some(word) = scenario.word => word,
        StopReason::EndTurn | StopReason::Refusal => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        _ => panic!("no scenario stops so"),
    }
}

fn usage(scenario: &Scenario) -> Value {
    let usage = scenario.usage;
    json!({
        "prompt_tokens": usage.input + usage.cache_read, "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

fn data(value: Value) -> String {
    format!("data: {value}\n\n")
}
