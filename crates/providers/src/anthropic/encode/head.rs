//! What stands before the messages: the model, the system prompt, the tools.

use heeler_core::{CacheMarker, ModelRequest, ProviderError, ProviderItem, ToolDefinition};
use serde::Deserialize;
use serde_json::Value;

use super::super::DIALECT;
use super::HeadMarkers;
use super::json::{marker_text, raw_marker};
use super::tail::refused;
use crate::json::string;

/// Writes a request's body up to its list of messages.
pub(super) fn encode(
    request: &ModelRequest,
    markers: HeadMarkers,
) -> Result<Vec<u8>, ProviderError> {
    let mut out = br#"{"model":"#.to_vec();
    string(&mut out, &request.model);
    if !request.system.is_empty() {
        out.extend_from_slice(br#","system":[{"type":"text","text":"#);
        string(&mut out, &request.system);
        out.extend_from_slice(markers.system.map_or(b"", marker_text));
        out.extend_from_slice(b"}]");
    }
    tools(&mut out, request, markers.tools)?;
    out.extend_from_slice(br#","messages":["#);
    Ok(out)
}

/// The tool that carries our own marker: the last that is not sent as the provider's own bytes.
pub(super) fn marked_tool(request: &ModelRequest) -> Option<usize> {
    request.tools.iter().rposition(|tool| tool.raw.is_none())
}

/// The markers that users set on tools, in order.
pub(super) fn tool_markers(request: &ModelRequest, found: &mut impl FnMut(CacheMarker)) {
    let own = request.tools.iter().map(|tool| match &tool.raw {
        Some(raw) => own_marker(raw),
        None => tool.cache,
    });
    own.chain(request.provider_tools.iter().map(own_marker)).flatten().for_each(found);
}

fn own_marker(item: &ProviderItem) -> Option<CacheMarker> {
    #[derive(Deserialize)]
    struct Peek {
        cache_control: Option<Value>,
    }
    let peek: Peek = serde_json::from_str(item.json.get()).ok()?;
    peek.cache_control.as_ref().and_then(raw_marker)
}

fn tools(
    out: &mut Vec<u8>,
    request: &ModelRequest,
    marker: Option<CacheMarker>,
) -> Result<(), ProviderError> {
    let marked = marked_tool(request);
    let mut separator: &[u8] = br#","tools":["#;
    for (index, tool) in request.tools.iter().enumerate() {
        out.extend_from_slice(separator);
        match &tool.raw {
            Some(raw) => raw_tool(out, raw, &tool.name)?,
            None => {
                let ours = marker.filter(|_| marked == Some(index));
                definition(out, tool, tool.cache.or(ours));
            }
        }
        separator = b",";
    }
    for tool in request.provider_tools.iter() {
        out.extend_from_slice(separator);
        raw_tool(out, tool, &name(tool))?;
        separator = b",";
    }
    if separator == b"," {
        out.push(b']');
    }
    Ok(())
}

/// What a declaration calls its tool: its name, else its type.
fn name(tool: &ProviderItem) -> String {
    let value = tool.json.value();
    let name = value["name"].as_str().or_else(|| value["type"].as_str());
    name.unwrap_or("without a name").to_owned()
}

pub(super) fn definition(out: &mut Vec<u8>, tool: &ToolDefinition, marker: Option<CacheMarker>) {
    out.extend_from_slice(br#"{"name":"#);
    string(out, &tool.name);
    out.extend_from_slice(br#","description":"#);
    string(out, &tool.description);
    out.extend_from_slice(br#","input_schema":"#);
    out.extend_from_slice(tool.input_schema.get().as_bytes());
    out.extend_from_slice(marker.map_or(b"", marker_text));
    out.push(b'}');
}

/// A model that silently lacked a tool would answer something else, so this is an error.
fn raw_tool(out: &mut Vec<u8>, tool: &ProviderItem, name: &str) -> Result<(), ProviderError> {
    if tool.provider != DIALECT {
        return Err(refused(format!(
            "the tool {name} is declared for `{}`, and this request goes to `{DIALECT}`; leave it \
             out or declare it for `{DIALECT}`",
            tool.provider
        )));
    }
    if !tool.json.is_object() {
        return Err(refused(format!("the declaration of the tool {name} is no JSON object")));
    }
    out.extend_from_slice(tool.json.get().as_bytes());
    Ok(())
}
