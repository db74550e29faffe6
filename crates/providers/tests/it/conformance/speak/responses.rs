//! OpenAI's Responses.

use std::sync::Arc;

use heeler_core::StopReason;
use heeler_providers::{Responses, ResponsesSettings};
use serde_json::{Value, json};

use super::{Dialect, pieces};
use crate::conformance::scenario::{Said, Scenario};

pub(crate) const DIALECT: Dialect = Dialect {
    name: "openai-responses",
    provider: |url, idle_timeout| {
        let base_url = url.into();
        let settings =
            ResponsesSettings { base_url, idle_timeout, ..ResponsesSettings::with_api_key("k") };
        Arc::new(Responses::new(&settings).unwrap())
    },
    stream,
    document,
    overloaded: "event: error\ndata: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\
                 \"message\":\"Overloaded\",\"param\":null,\"sequence_number\":9}\n\n",
    refusal: |code, message| {
        json!({"error": {"message": message, "type": "error", "param": null, "code": code}})
            .to_string()
    },
    stops: &["completed", "max_output_tokens", "content_filter", "weather"],
    unknown: "event: response.weather\ndata: {\"type\":\"response.weather\",\"sky\":[1],\
              \"sequence_number\":9}\n\n",
};

fn stream(scenario: &Scenario) -> String {
    let mut events = Vec::new();
    let begun = response("in_progress", json!([]), Value::Null, Value::Null);
    events.push(json!({"type": "response.created", "response": begun}));
    events.push(json!({"type": "response.in_progress", "response": begun}));
    for (index, said) in scenario.said.iter().enumerate() {
        events.extend(item_events(index, said));
    }
    let whole = whole(scenario);
    let kind = match incomplete(scenario) {
        Some(_) => "response.incomplete",
        None => "response.completed",
    };
    events.push(json!({"type": kind, "response": whole}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    });
    numbered.collect()
}

fn document(scenario: &Scenario) -> String {
    whole(scenario).to_string()
}

fn whole(scenario: &Scenario) -> Value {
    let items: Vec<Value> =
        scenario.said.iter().enumerate().map(|(index, said)| item(index, said, true)).collect();
    let usage = scenario.usage;
    let usage = json!({
        "input_tokens": usage.input + usage.cache_read,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total(),
    });
    match incomplete(scenario) {
        Some(reason) => response("incomplete", json!(items), json!({"reason": reason}), usage),
        None => response("completed", json!(items), Value::Null, usage),
    }
}

/// Why an answer is not whole.
fn incomplete(scenario: &Scenario) -> Option<&'static str> {
    let usual = (scenario.stop == StopReason::MaxTokens).then_some("max_output_tokens");
    scenario.word.or(usual).filter(|word| *word != "completed")
}

fn response(status: &str, output: Value, incomplete: Value, usage: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": status,
        "error": null, "incomplete_details": incomplete, "instructions": null, "metadata": {},
        "model": "m", "output": output, "parallel_tool_calls": true, "temperature": 1.0,
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage,
    })
}

/// An item as it begins, or as it is when it is whole.
fn item(index: usize, said: &Said, is_whole: bool) -> Value {
    let status = if is_whole { "completed" } else { "in_progress" };
    let text = |text: &'static str| if is_whole { text } else { "" };
    match said {
        Said::Thinking(thought) => {
            let summary = json!({"type": "summary_text", "text": thought});
            json!({
                "id": format!("rs_{index}"), "type": "reasoning", "encrypted_content": "ZW5j",
                "summary": if is_whole { json!([summary]) } else { json!([]) },
            })
        }
        Said::Text(words) => {
            let part = json!({"type": "output_text", "text": words, "annotations": []});
            json!({
                "id": format!("msg_{index}"), "type": "message", "role": "assistant",
                "status": status, "content": if is_whole { json!([part]) } else { json!([]) },
            })
        }
        Said::Refusal(words) => {
            let part = json!({"type": "refusal", "refusal": words});
            json!({
                "id": format!("msg_{index}"), "type": "message", "role": "assistant",
                "status": status, "content": if is_whole { json!([part]) } else { json!([]) },
            })
        }
        Said::Call { id, name, input } => json!({
            "id": format!("fc_{index}"), "type": "function_call", "status": status,
            "call_id": id, "name": name, "arguments": text(input),
        }),
    }
}

fn item_events(index: usize, said: &Said) -> Vec<Value> {
    let added = json!({
        "type": "response.output_item.added", "output_index": index,
        "item": item(index, said, false),
    });
    let done = json!({
        "type": "response.output_item.done", "output_index": index,
        "item": item(index, said, true),
    });
    let id = item(index, said, true)["id"].clone();
    let at = |kind: &str, place: &str| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": index});
        if !place.is_empty() {
            event[place] = json!(0);
        }
        event
    };
    let with = |mut event: Value, field: &str, value: Value| {
        event[field] = value;
        event
    };
    let mut events = vec![added];
    match said {
        Said::Thinking(text) => {
            let part = |text: &str| json!({"type": "summary_text", "text": text});
            let place = "summary_index";
            let begun = at("response.reasoning_summary_part.added", place);
            events.push(with(begun, "part", part("")));
            for piece in pieces(text) {
                let delta = at("response.reasoning_summary_text.delta", place);
                events.push(with(delta, "delta", json!(piece)));
            }
            let ended = at("response.reasoning_summary_text.done", place);
            events.push(with(ended, "text", json!(text)));
            let ended = at("response.reasoning_summary_part.done", place);
            events.push(with(ended, "part", part(text)));
        }
        Said::Text(text) => {
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
            let place = "content_index";
            let begun = at("response.content_part.added", place);
            events.push(with(begun, "part", part("")));
            for piece in pieces(text) {
                let delta = with(at("response.output_text.delta", place), "logprobs", json!([]));
                events.push(with(delta, "delta", json!(piece)));
            }
            let ended = with(at("response.output_text.done", place), "logprobs", json!([]));
            events.push(with(ended, "text", json!(text)));
            events.push(with(at("response.content_part.done", place), "part", part(text)));
        }
        Said::Refusal(text) => {
            let part = |text: &str| json!({"type": "refusal", "refusal": text});
            let place = "content_index";
            let begun = at("response.content_part.added", place);
            events.push(with(begun, "part", part("")));
            for piece in pieces(text) {
                let delta = at("response.refusal.delta", place);
                events.push(with(delta, "delta", json!(piece)));
            }
            let ended = at("response.refusal.done", place);
            events.push(with(ended, "refusal", json!(text)));
            events.push(with(at("response.content_part.done", place), "part", part(text)));
        }
        Said::Call { name, input, .. } => {
            for piece in pieces(input) {
                let delta = at("response.function_call_arguments.delta", "");
                events.push(with(delta, "delta", json!(piece)));
            }
            let ended = with(at("response.function_call_arguments.done", ""), "name", json!(name));
            events.push(with(ended, "arguments", json!(input)));
        }
    }
    events.push(done);
    events
}
