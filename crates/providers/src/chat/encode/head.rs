//! What stands before the messages: the model, the tools, and the system prompt as the first of
//! them.

use heeler_core::{ModelRequest, ProviderError, ProviderItem, ToolDefinition};

use super::super::Quirks;
use super::super::quirks::SystemRole;
use super::{marker, refused};
use crate::json::string;
use crate::parameters;

/// OpenAI's models from before `developer` took the place of `system`.
const SYSTEM_MODELS: [&str; 4] = ["gpt-3.5", "gpt-4", "chatgpt-4o", "ft:gpt-"];

/// Writes a request's body up to the first message of the conversation.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<Vec<u8>, ProviderError> {
    let mut out = br#"{"model":"#.to_vec();
    string(&mut out, &request.model);
    tools(&mut out, request, quirks)?;
    out.extend_from_slice(br#","messages":["#);
    if !request.system.is_empty() {
        out.extend_from_slice(match role(&request.model, quirks) {
            SystemRole::System => br#"{"role":"system","content":"#,
            SystemRole::ByModel => br#"{"role":"developer","content":"#,
        });
        let marker = marker(request.parameters.system_cache, quirks);
        if marker.is_empty() {
            string(&mut out, &request.system);
        } else {
            out.extend_from_slice(br#"[{"type":"text","text":"#);
            string(&mut out, &request.system);
            out.extend_from_slice(marker);
            out.extend_from_slice(b"}]");
        }
        out.push(b'}');
    }
    Ok(out)
}

fn role(model: &str, quirks: &Quirks) -> SystemRole {
    let is_old = SYSTEM_MODELS.iter().any(|old| model.starts_with(old));
    if is_old { SystemRole::System } else { quirks.system_role }
}

fn tools(out: &mut Vec<u8>, request: &ModelRequest, quirks: &Quirks) -> Result<(), ProviderError> {
    let mut separator: &[u8] = br#","tools":["#;
    for tool in request.tools.iter() {
        out.extend_from_slice(separator);
        match &tool.raw {
            Some(raw) => raw_tool(out, raw, &tool.name, quirks)?,
            None => definition(out, tool, quirks),
        }
        separator = b",";
    }
    for tool in request.provider_tools.iter() {
        let value = tool.json.value();
        let name = value["name"].as_str().or_else(|| value["type"].as_str());
        let name = name.unwrap_or("without a name");
        if !quirks.takes_provider_tools {
            return Err(refused(format!(
                "the tool {name} would be run by the provider, and `{}` runs none; leave it out",
                quirks.dialect
            )));
        }
        out.extend_from_slice(separator);
        raw_tool(out, tool, name, quirks)?;
        separator = b",";
    }
    if separator == b"," {
        out.push(b']');
    }
    Ok(())
}

pub(super) fn definition(out: &mut Vec<u8>, tool: &ToolDefinition, quirks: &Quirks) {
    out.extend_from_slice(br#"{"type":"function","function":{"name":"#);
    string(out, &tool.name);
    out.extend_from_slice(br#","description":"#);
    string(out, &tool.description);
    out.extend_from_slice(br#","parameters":"#);
    parameters::write(out, &tool.input_schema);
    out.push(b'}');
    out.extend_from_slice(marker(tool.cache, quirks));
    out.push(b'}');
}

/// A model that silently lacked a tool would answer something else, so this is an error.
fn raw_tool(
    out: &mut Vec<u8>,
    tool: &ProviderItem,
    name: &str,
    quirks: &Quirks,
) -> Result<(), ProviderError> {
    let Quirks { dialect, .. } = quirks;
    if tool.provider != *dialect {
        return Err(refused(format!(
            "the tool {name} is declared for `{}`, and this request goes to `{dialect}`; leave it \
             out or declare it for `{dialect}`",
            tool.provider
        )));
    }
    if !tool.json.is_object() {
        return Err(refused(format!("the declaration of the tool {name} is no JSON object")));
    }
    out.extend_from_slice(tool.json.get().as_bytes());
    Ok(())
}
