//! What may change from request to request, written after the messages.

use bytes::Bytes;
use heeler_core::{
    ModelRequest, Parameters, ProviderError, ProviderErrorKind, ThinkingSettings, ToolChoice,
};
use serde_json::{Map, Value, json};

use crate::json::merge;

/// What an extra body may not set: these stand before the messages, where the cached prefix is, or
/// decide how the answer is read.
const RESERVED: [&str; 5] = ["model", "system", "tools", "messages", "stream"];

/// Ends the list of messages and writes the rest of the body.
pub(super) fn encode(request: &ModelRequest) -> Result<Bytes, ProviderError> {
    let mut fields = Value::Object(fields(request));
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

fn fields(request: &ModelRequest) -> Map<String, Value> {
    let parameters = &request.parameters;
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value);
        }
    };
    set("max_tokens", Some(json!(request.output_max)));
    // What is not a number has no form in JSON.
    let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map(Value::from);
    set("temperature", number(parameters.temperature));
    set("top_p", number(parameters.top_p));
    set("stop_sequences", (!parameters.stop.is_empty()).then(|| json!(parameters.stop)));
    match &parameters.thinking {
        Some(ThinkingSettings::Budget(tokens)) => {
            set("thinking", Some(json!({"type": "enabled", "budget_tokens": tokens})));
        }
        Some(ThinkingSettings::Effort(effort)) => {
            set("thinking", Some(json!({"type": "adaptive"})));
            set("output_config", Some(json!({"effort": effort})));
        }
        None => {}
    }
    // Without tools, the provider refuses a choice among them.
    if !request.tools.is_empty() || !request.provider_tools.is_empty() {
        set("tool_choice", tool_choice(parameters));
    }
    set("stream", Some(json!(true)));
    fields
}

fn tool_choice(parameters: &Parameters) -> Option<Value> {
    let mut choice = match (&parameters.tool_choice, parameters.parallel_calls) {
        (None, None) => return None,
        (Some(ToolChoice::None), _) => return Some(json!({"type": "none"})),
        (Some(ToolChoice::Auto) | None, _) => json!({"type": "auto"}),
        (Some(ToolChoice::Any), _) => json!({"type": "any"}),
        (Some(ToolChoice::Tool(name)), _) => json!({"type": "tool", "name": name}),
    };
    if let Some(parallel) = parameters.parallel_calls {
        choice["disable_parallel_tool_use"] = json!(!parallel);
    }
    Some(choice)
}

pub(super) fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}
