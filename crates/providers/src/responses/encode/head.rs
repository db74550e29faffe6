//! What stands before the input: the model, the system prompt, the tools.

use heeler_core::{ModelRequest, ProviderError, ProviderItem, ToolDefinition};

use super::super::DIALECT;
use super::refused;
use crate::json::string;
use crate::parameters;

/// Writes a request's body up to its list of input items.
pub(super) fn encode(request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
    let mut out = br#"{"model":"#.to_vec();
    string(&mut out, &request.model);
    if !request.system.is_empty() {
        out.extend_from_slice(br#","instructions":"#);
        string(&mut out, &request.system);
    }
    let mut separator: &[u8] = br#","tools":["#;
    for tool in request.tools.iter() {
        out.extend_from_slice(separator);
        match &tool.raw {
            Some(raw) => own_tool(&mut out, raw, &tool.name)?,
            None => function(&mut out, tool),
        }
        separator = b",";
    }
    for tool in request.provider_tools.iter() {
        out.extend_from_slice(separator);
        raw_tool(&mut out, tool, &name(tool))?;
        separator = b",";
    }
    if separator == b"," {
        out.push(b']');
    }
    out.extend_from_slice(br#","input":["#);
    Ok(out)
}

/// Without `strict`, the provider would demand a schema in which nothing is optional.
fn function(out: &mut Vec<u8>, tool: &ToolDefinition) {
    out.extend_from_slice(br#"{"type":"function","name":"#);
    string(out, &tool.name);
    out.extend_from_slice(br#","description":"#);
    string(out, &tool.description);
    out.extend_from_slice(br#","parameters":"#);
    parameters::write(out, &tool.input_schema);
    out.extend_from_slice(br#","strict":false}"#);
}

/// A tool that is run here: calls of any other kind would wait for a result for ever.
fn own_tool(out: &mut Vec<u8>, tool: &ProviderItem, name: &str) -> Result<(), ProviderError> {
    raw_tool(out, tool, name)?;
    match tool.json.value()["type"].as_str().unwrap_or("nothing") {
        "function" => Ok(()),
        kind => Err(refused(format!(
            "the tool {name} is declared as `{kind}`, and only calls of a `function` are run here; \
             declare it as one"
        ))),
    }
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

/// What a declaration calls its tool: its name, else its type.
fn name(tool: &ProviderItem) -> String {
    let value = tool.json.value();
    let name = value["name"].as_str().or_else(|| value["type"].as_str());
    name.unwrap_or("without a name").to_owned()
}
