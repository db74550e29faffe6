//! What may change from request to request, written after the messages.

use bytes::Bytes;
use heeler_core::{
    Block, ModelRequest, Parameters, ProviderError, ProviderErrorKind, RawJson, Role,
    ThinkingSettings, ToolChoice,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::call_fields;
use super::message;
use crate::catalogue::undated;
use crate::json::merge;

/// What an extra body may not set: these stand before the messages, where the cached prefix is, or
/// decide how the answer is read.
const RESERVED: [&str; 5] = ["model", "system", "tools", "messages", "stream"];

/// What stands behind the messages, in this order.
#[derive(Serialize)]
struct Tail<'r> {
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled {
        budget_tokens: u64,
    },
    /// Newer models leave the text of their thinking out unless it is asked for.
    Adaptive {
        display: &'static str,
    },
    Disabled,
    /// Notes between calls, and nothing else.
    BetweenTools,
}

/// The effort that stands for none.
const NO_EFFORT: &str = "none";

#[derive(Serialize)]
struct OutputConfig<'r> {
    effort: &'r str,
}

#[derive(Serialize)]
struct Choice<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

/// Ends the list of messages and writes the rest of the body.
pub(super) fn encode(request: &ModelRequest) -> Result<Bytes, ProviderError> {
    let tail = Tail::of(request);
    let mut bytes = b"]".to_vec();
    let written = match &request.parameters.extra_body {
        None => serde_json::to_writer(&mut bytes, &tail),
        Some(extra) => serde_json::to_writer(&mut bytes, &with_extra(&tail, extra)?),
    };
    written.map_err(|error| refused(format!("the request cannot be written: {error}")))?;
    // The object's own opening brace becomes the comma after the list.
    bytes[1] = b',';
    Ok(bytes.into())
}

fn with_extra(tail: &Tail<'_>, extra: &RawJson) -> Result<Value, ProviderError> {
    let Value::Object(extra) = extra.value() else {
        return Err(refused("the extra request body is not a JSON object".to_owned()));
    };
    if let Some(key) = RESERVED.iter().find(|key| extra.contains_key(**key)) {
        return Err(refused(format!("the extra request body may not set `{key}`; remove it")));
    }
    let mut fields = json!(tail);
    merge(&mut fields, Value::Object(extra));
    Ok(fields)
}

impl<'r> Tail<'r> {
    fn of(request: &'r ModelRequest) -> Self {
        let parameters = &request.parameters;
        // What is not a number has no form in JSON.
        let number = |value: Option<f64>| value.filter(|value| value.is_finite());
        let (thinking, effort) = match &parameters.thinking {
            Some(ThinkingSettings::Budget(tokens)) => {
                let enabled = Thinking::Enabled { budget_tokens: *tokens };
                (begins_with_thinking(request).then_some(enabled), None)
            }
            Some(ThinkingSettings::Effort(effort)) if effort == NO_EFFORT => {
                (no_thinking(&request.model), None)
            }
            Some(ThinkingSettings::Effort(effort)) => named(&request.model, effort),
            None => (None, None),
        };
        // Without tools, the provider refuses a choice among them.
        let has_tools = !request.tools.is_empty() || !request.provider_tools.is_empty();
        Self {
            max_tokens: request.output_max,
            temperature: number(parameters.temperature),
            top_p: number(parameters.top_p),
            stop_sequences: &parameters.stop,
            thinking,
            output_config: effort.map(|effort| OutputConfig { effort }),
            tool_choice: Choice::of(parameters).filter(|_| has_tools),
            container: call_fields::container(request),
            stream: true,
        }
    }
}

/// Thinking as much as a name says, which older models do not take, or not all of its kinds: they
/// refuse a request that has it, and may be asked in the place of one that takes it.
fn named<'r>(model: &str, effort: &'r str) -> (Option<Thinking>, Option<&'r str>) {
    let model = undated(model);
    if model.starts_with("claude-3") {
        return (None, None);
    }
    let effort = match (model, effort) {
        (_, "minimal") => "low",
        ("claude-opus-4-5", "xhigh" | "max") => "high",
        ("claude-opus-4-6" | "claude-sonnet-4-6", "xhigh") => "high",
        _ => effort,
    };
    let is_adaptive = model != "claude-opus-4-5";
    (is_adaptive.then_some(Thinking::Adaptive { display: "summarized" }), Some(effort))
}

/// How a model is kept from thinking: older ones think only when they are asked to, some take no such
/// wish, and refuse the request that has it.
fn no_thinking(model: &str) -> Option<Thinking> {
    match undated(model) {
        "claude-opus-5" | "claude-sonnet-5" | "claude-haiku-5-5" => Some(Thinking::Disabled),
        "claude-sonnet-5-5" => Some(Thinking::BetweenTools),
        _ => None,
    }
}

/// Whether the turn that the request goes on with, if it does, began with thinking. Otherwise
/// another provider began it, and a number of tokens to think with is refused until it ends.
fn begins_with_thinking(request: &ModelRequest) -> bool {
    let mut first = None;
    for said in request.messages.iter().rev() {
        match (said.message.role, said.message.blocks.first()) {
            (Role::Assistant, _) => first = Some(&said.message),
            (Role::User, Some(Block::ToolResult(_))) => {}
            (Role::User, _) => break,
        }
    }
    first.is_none_or(|first| message::begins_with_thinking(first))
}

impl<'r> Choice<'r> {
    fn of(parameters: &'r Parameters) -> Option<Self> {
        let plain = |kind| (kind, None);
        let (kind, name) = match (&parameters.tool_choice, parameters.parallel_calls) {
            (None, None) => return None,
            (Some(ToolChoice::None), _) => plain("none"),
            (Some(ToolChoice::Auto) | None, _) => plain("auto"),
            (Some(ToolChoice::Any), _) => plain("any"),
            (Some(ToolChoice::Tool(name)), _) => ("tool", Some(name.as_str())),
        };
        let parallel = parameters.parallel_calls.filter(|_| kind != "none");
        Some(Self { kind, name, disable_parallel_tool_use: parallel.map(|parallel| !parallel) })
    }
}

pub(super) fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use heeler_core::Message;

    use super::*;

    #[test]
    fn an_effort_is_named_as_its_model_takes_it() {
        for (model, effort, expected) in [
            ("claude-sonnet-5", "high", "adaptive high"),
            ("claude-sonnet-5", "minimal", "adaptive low"),
            ("claude-opus-4-7", "xhigh", "adaptive xhigh"),
            ("claude-opus-4-6", "xhigh", "adaptive high"),
            ("claude-sonnet-4-6", "xhigh", "adaptive high"),
            ("claude-sonnet-4-6", "max", "adaptive max"),
            ("claude-opus-4-5", "medium", "- medium"),
            ("claude-opus-4-5-20251101", "max", "- high"),
            ("claude-3-haiku-20240307", "high", "- -"),
            ("another", "new", "adaptive new"),
            ("claude-haiku-5-5", "none", "disabled -"),
            ("claude-opus-5-20260724", "none", "disabled -"),
            ("claude-sonnet-5-5-latest", "none", "between_tools -"),
            ("claude-opus-5-5", "none", "- -"),
        ] {
            assert_eq!(asked(model, effort), expected, "{model} {effort}");
        }
    }

    fn asked(model: &str, effort: &str) -> String {
        let thinking = Some(ThinkingSettings::Effort(effort.into()));
        let request = ModelRequest {
            model: model.into(),
            system: "".into(),
            tools: [].into(),
            provider_tools: [].into(),
            messages: std::iter::once(Message::user("hi")).collect(),
            stable: 0,
            output_max: 100,
            parameters: Parameters { thinking, ..Parameters::default() },
            epoch: 0,
        };
        let tail = json!(Tail::of(&request));
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let [thinking, effort] =
            [&tail["thinking"]["type"], &tail["output_config"]["effort"]].map(text);
        format!("{thinking} {effort}")
    }
}
