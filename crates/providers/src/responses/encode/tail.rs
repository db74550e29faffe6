//! What may change from request to request, written after the input.

use bytes::Bytes;
use heeler_core::{ModelRequest, ProviderError, ThinkingSettings, ToolChoice};
use serde_json::{Map, Value, json};

use super::{Keeping, Reasoning, refused};
use crate::json::merge;

/// What an extra body may not set: these stand before the tail, where the cached prefix is, or
/// decide how the answer is read.
const RESERVED: [&str; 5] = ["model", "instructions", "tools", "input", "stream"];

/// Budgets of reasoning up to these many tokens are low and medium effort; a larger one is high.
const LOW_EFFORT_TOKENS_MAX: u64 = 4096;
const MEDIUM_EFFORT_TOKENS_MAX: u64 = 16_384;

/// What the names of OpenAI's models begin or end with that do not reason. They refuse to be asked
/// for encrypted reasoning, and to be given any.
const NOT_REASONING_STARTS: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-", "ft:gpt-"];
const NOT_REASONING_END: &str = "-chat-latest";

/// Ends the list of input items and writes the rest of the body.
pub(super) fn encode(
    request: &ModelRequest,
    keeping: Keeping,
    asks: Reasoning,
) -> Result<Bytes, ProviderError> {
    if !request.parameters.stop.is_empty() {
        return Err(refused(
            "OpenAI's Responses know no stop sequences; remove them, or use a model by \
             openai-chat/NAME"
                .to_owned(),
        ));
    }
    let mut fields = Value::Object(fields(request, keeping, asks));
    if let Some(extra) = &request.parameters.extra_body {
        let Value::Object(extra) = extra.value() else {
            return Err(refused("the extra request body is not a JSON object".to_owned()));
        };
        if let Some(key) = RESERVED.iter().find(|key| extra.contains_key(**key)) {
            return Err(refused(format!("the extra request body may not set `{key}`; remove it")));
        }
        merge(&mut fields, Value::Object(extra));
    }
    let fields = fields.to_string();
    // The object's own opening brace becomes the comma after the list.
    Ok(Bytes::from(format!("],{}", &fields[1..])))
}

fn fields(request: &ModelRequest, keeping: Keeping, asks: Reasoning) -> Map<String, Value> {
    let parameters = &request.parameters;
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value);
        }
    };
    set("max_output_tokens", Some(json!(request.output_max)));
    // What is not a number has no form in JSON.
    let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map(Value::from);
    set("temperature", number(parameters.temperature));
    set("top_p", number(parameters.top_p));
    set("reasoning", parameters.thinking.as_ref().map(reasoning));
    if !request.tools.is_empty() || !request.provider_tools.is_empty() {
        set("tool_choice", parameters.tool_choice.as_ref().map(|c| tool_choice(c, request)));
        set("parallel_tool_calls", parameters.parallel_calls.map(Value::from));
    }
    if asks == Reasoning::Sent {
        set("include", Some(json!(["reasoning.encrypted_content"])));
    }
    set("background", (keeping == Keeping::Keeps).then_some(json!(true)));
    set("store", Some(json!(keeping == Keeping::Keeps)));
    set("stream", Some(json!(true)));
    fields
}

fn reasoning(thinking: &ThinkingSettings) -> Value {
    let effort = match thinking {
        ThinkingSettings::Effort(effort) => effort.as_str(),
        ThinkingSettings::Budget(0..=LOW_EFFORT_TOKENS_MAX) => "low",
        ThinkingSettings::Budget(0..=MEDIUM_EFFORT_TOKENS_MAX) => "medium",
        ThinkingSettings::Budget(_) => "high",
    };
    match effort {
        "none" => json!({"effort": effort}),
        _ => json!({"effort": effort, "summary": "auto"}),
    }
}

fn tool_choice(choice: &ToolChoice, request: &ModelRequest) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Any => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Tool(name) => {
            let is_hosted = |tool: &Value| tool["type"] == name.as_str();
            let is_hosted = request.provider_tools.iter().any(|tool| is_hosted(&tool.json.value()));
            if is_hosted {
                json!({"type": name})
            } else {
                json!({"type": "function", "name": name})
            }
        }
    }
}

/// Whether a model may reason, by its name; a gateway's has the vendor's before it.
pub(super) fn may_reason(model: &str) -> bool {
    let model = model.rsplit_once('/').map_or(model, |(_, model)| model);
    let is_known_not_to = NOT_REASONING_STARTS.iter().any(|start| model.starts_with(start))
        || model.ends_with(NOT_REASONING_END);
    !is_known_not_to
}
