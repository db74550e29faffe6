//! What may change from request to request, written after the messages.

use bytes::Bytes;
use heeler_core::{ModelRequest, Parameters, ProviderError, ThinkingSettings, ToolChoice};
use serde_json::{Map, Value, json};

use super::super::Quirks;
use super::super::quirks::{OutputLimit, Reasoning};
use super::refused;
use crate::json::merge;

/// What an extra body may not set: these stand before the messages, where the cached prefix is, or
/// decide how the answer is read.
const RESERVED: [&str; 4] = ["model", "messages", "tools", "stream"];
/// The most tokens of reasoning that are asked for as `low`, and as `medium`.
const LOW_TOKENS_MAX: u64 = 4096;
const MEDIUM_TOKENS_MAX: u64 = 16_384;

/// Ends the list of messages and writes the rest of the body.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<Bytes, ProviderError> {
    let own = quirks.body.as_ref().map(|body| body.value());
    let mut fields = own.filter(Value::is_object).unwrap_or_else(|| json!({}));
    merge(&mut fields, Value::Object(self::fields(request, quirks)));
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

fn fields(request: &ModelRequest, quirks: &Quirks) -> Map<String, Value> {
    let parameters = &request.parameters;
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value);
        }
    };
    let output_max = match quirks.output_limit {
        OutputLimit::MaxCompletionTokens => "max_completion_tokens",
        OutputLimit::MaxTokens => "max_tokens",
    };
    set(output_max, Some(json!(request.output_max)));
    // What is not a number has no form in JSON.
    let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map(Value::from);
    set("temperature", number(parameters.temperature));
    set("top_p", number(parameters.top_p));
    set("stop", (!parameters.stop.is_empty()).then(|| json!(parameters.stop)));
    if let Some(thinking) = &parameters.thinking {
        let (key, value) = reasoning(thinking, quirks.reasoning);
        set(key, Some(value));
    }
    // Without tools, a choice among them is refused.
    if !request.tools.is_empty() || !request.provider_tools.is_empty() {
        set("tool_choice", tool_choice(parameters));
        set("parallel_tool_calls", parameters.parallel_calls.map(Value::from));
    }
    let caches = quirks.asks_to_cache.iter().any(|begin| request.model.starts_with(begin));
    set("cache_control", caches.then(|| json!({"type": "ephemeral"})));
    set("stream", Some(json!(true)));
    set("stream_options", quirks.asks_for_usage.then(|| json!({"include_usage": true})));
    fields
}

fn reasoning(thinking: &ThinkingSettings, form: Reasoning) -> (&'static str, Value) {
    match (form, thinking) {
        (Reasoning::Effort, ThinkingSettings::Effort(effort)) => {
            ("reasoning_effort", json!(effort))
        }
        (Reasoning::Effort, ThinkingSettings::Budget(tokens)) => {
            ("reasoning_effort", json!(effort(*tokens)))
        }
        (Reasoning::Object, ThinkingSettings::Effort(effort)) => {
            ("reasoning", json!({"effort": effort}))
        }
        (Reasoning::Object, ThinkingSettings::Budget(tokens)) => {
            ("reasoning", json!({"max_tokens": tokens}))
        }
        (Reasoning::Switch, ThinkingSettings::Effort(effort)) if effort == "none" => {
            ("thinking", json!({"type": "disabled"}))
        }
        (Reasoning::Switch, _) => ("thinking", json!({"type": "enabled"})),
    }
}

/// The effort that comes nearest to a budget.
fn effort(tokens: u64) -> &'static str {
    if tokens <= LOW_TOKENS_MAX {
        "low"
    } else if tokens <= MEDIUM_TOKENS_MAX {
        "medium"
    } else {
        "high"
    }
}

fn tool_choice(parameters: &Parameters) -> Option<Value> {
    Some(match parameters.tool_choice.as_ref()? {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Any => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    })
}
