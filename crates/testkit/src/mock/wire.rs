//! An Anthropic request as the checks see it.

use std::borrow::Cow;
use std::sync::Arc;

use heeler_script::{
    BlockView, Content, Depth, MessageView, RequestView, Role, ToolView, elide_cache_markers,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most cache markers the provider takes.
pub const MARKERS_MAX: usize = 4;

/// Reads the body of a request.
///
/// # Errors
/// When the provider would refuse it whatever its history is; the text says why.
pub fn parse_request(body: &[u8]) -> Result<RequestView, String> {
    parse(body).map(|parsed| parsed.view)
}

/// A request and what else matters of it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) view: RequestView,
    pub(super) is_stream: bool,
}

pub(super) fn parse(body: &[u8]) -> Result<Parsed, String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("the body: {error}"))?;
    let wire: WireRequest<'_> =
        serde_json::from_str(text).map_err(|error| format!("the body: {error}"))?;
    if wire.max_tokens == 0 {
        return Err("max_tokens: must be at least 1".into());
    }
    let mut markers = 0;
    let tools = wire.tools.unwrap_or_default();
    let tools: Vec<ToolView> =
        tools.into_iter().map(|raw| tool(raw, &mut markers)).collect::<Result<_, _>>()?;
    let system = match wire.system {
        Some(raw) => texts("system", raw, &mut markers)?,
        None => String::new(),
    };
    let listed: Vec<WireMessage<'_>> =
        serde_json::from_str(wire.messages.get()).map_err(|error| format!("messages: {error}"))?;
    let mut messages = Vec::with_capacity(listed.len());
    for (i, wire) in listed.iter().enumerate() {
        let message = message(wire, &mut markers);
        messages.push(Arc::new(message.map_err(|error| format!("messages[{i}]{error}"))?));
    }
    if markers > MARKERS_MAX {
        return Err(format!("{markers} cache markers, the provider takes {MARKERS_MAX}"));
    }
    // The messages are a part of the text, so their place in it is a matter of addresses.
    let head_length = (wire.messages.get().as_ptr().addr()).saturating_sub(text.as_ptr().addr());
    let head = elide_cache_markers(text.get(..head_length).unwrap_or_default(), Depth::Any);
    let view = RequestView {
        model: wire.model.into_owned(),
        system,
        tools,
        head: head.into_owned(),
        messages,
        epoch: None,
    };
    Ok(Parsed { view, is_stream: wire.stream })
}

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    max_tokens: u64,
    #[serde(borrow, default)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(default)]
    stream: bool,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct WireTool {
    name: String,
}

#[derive(Deserialize)]
struct WireBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    signature: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

fn tool(raw: &RawValue, markers: &mut usize) -> Result<ToolView, String> {
    let WireTool { name } =
        serde_json::from_str(raw.get()).map_err(|error| format!("tools: {error}"))?;
    Ok(ToolView { name, raw: elide(raw, markers) })
}

fn message(wire: &WireMessage<'_>, markers: &mut usize) -> Result<MessageView, String> {
    let role = match wire.role.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => return Err(format!(".role: `{other}` is neither `user` nor `assistant`")),
    };
    let blocks = if wire.content.get().starts_with('"') {
        let text = serde_json::from_str(wire.content.get());
        let text: String = text.map_err(|error| format!(".content: {error}"))?;
        vec![BlockView { content: Content::Text(text), raw: wire.content.get().to_owned() }]
    } else {
        let listed: Vec<&RawValue> = serde_json::from_str(wire.content.get())
            .map_err(|error| format!(".content: {error}"))?;
        let mut blocks = Vec::with_capacity(listed.len());
        for (i, raw) in listed.into_iter().enumerate() {
            let block = block(raw, markers);
            blocks.push(block.map_err(|error| format!(".content[{i}]: {error}"))?);
        }
        blocks
    };
    Ok(MessageView { role, blocks })
}

fn block(raw: &RawValue, markers: &mut usize) -> Result<BlockView, String> {
    let wire: WireBlock<'_> = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
    let missing = |field: &str| format!("a `{}` block without `{field}`", wire.kind);
    let content = match wire.kind.as_str() {
        "text" => Content::Text(wire.text.clone().ok_or_else(|| missing("text"))?),
        "thinking" => {
            Content::Thinking { signed: wire.signature.as_ref().is_some_and(|s| !s.is_empty()) }
        }
        "image" => Content::Image,
        "tool_use" => Content::ToolUse {
            id: wire.id.clone().ok_or_else(|| missing("id"))?,
            name: wire.name.clone().ok_or_else(|| missing("name"))?,
            input: wire.input.ok_or_else(|| missing("input"))?.get().to_owned(),
        },
        "tool_result" => Content::ToolResult {
            id: wire.tool_use_id.clone().ok_or_else(|| missing("tool_use_id"))?,
            is_error: wire.is_error.unwrap_or(false),
            text: match wire.content {
                Some(content) => texts("content", content, markers)?,
                None => String::new(),
            },
        },
        _ => Content::Opaque,
    };
    // Inside a result there are blocks, which may be marked too; inside a call there is the tool's
    // own input, which nobody may touch.
    let raw = match content {
        Content::ToolResult { .. } => {
            *markers += usize::from(is_marked(raw));
            elide_cache_markers(raw.get(), Depth::Any).into_owned()
        }
        _ => elide(raw, markers),
    };
    Ok(BlockView { content, raw })
}

/// The text of a string or of a list of blocks.
fn texts(field: &str, raw: &RawValue, markers: &mut usize) -> Result<String, String> {
    let fail = |error: serde_json::Error| format!("{field}: {error}");
    if raw.get().starts_with('"') {
        return serde_json::from_str(raw.get()).map_err(fail);
    }
    let listed: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(fail)?;
    let mut all = String::new();
    for raw in listed {
        let wire: WireBlock<'_> = serde_json::from_str(raw.get()).map_err(fail)?;
        *markers += usize::from(is_marked(raw));
        match (wire.kind.as_str(), wire.text) {
            ("text", Some(text)) if text.is_empty() => {
                return Err(format!("{field}: a text block is empty"));
            }
            ("text", Some(text)) => all.push_str(&text),
            _ => {}
        }
    }
    Ok(all)
}

/// The item's bytes without its cache marker, which is counted.
fn elide(raw: &RawValue, markers: &mut usize) -> String {
    *markers += usize::from(is_marked(raw));
    elide_cache_markers(raw.get(), Depth::Outermost).into_owned()
}

/// Whether the item itself carries a cache marker.
fn is_marked(raw: &RawValue) -> bool {
    elide_cache_markers(raw.get(), Depth::Outermost).len() != raw.get().len()
}
