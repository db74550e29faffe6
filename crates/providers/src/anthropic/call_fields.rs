//! What the provider says of a call beside its name and input, such as the code that made it: kept in
//! an opaque block behind the call, since it refuses the call's result without it.
//!
//! The block has no type, so it is never sent as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use heeler_core::{Block, ModelRequest, Opaque, RawJson, RawJsonError, Role};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::DIALECT;

/// What a call has a place for already.
const CALLS_OWN: [&str; 5] = ["type", "id", "name", "input", "cache_control"];
/// Who calls where nothing is said of it.
const CALLER: &str = "caller";
const CALLER_DEFAULT: &str = "direct";

/// Fields of a call: names, and raw JSON.
pub(super) type Fields = Vec<(String, String)>;

#[derive(Deserialize)]
struct Kept<'a> {
    #[serde(borrow)]
    tool_use: BTreeMap<String, &'a RawValue>,
    #[serde(default)]
    container: Option<String>,
}

impl<'a> Kept<'a> {
    fn of(block: &'a Block) -> Option<Self> {
        match block {
            Block::Opaque(opaque) if opaque.provider == DIALECT => {
                serde_json::from_str(opaque.raw.get()).ok()
            }
            _ => None,
        }
    }
}

/// Whether a field says what is nowhere else.
pub(super) fn is_kept(name: &str, raw: &str) -> bool {
    let is_default = || {
        let caller: Option<Value> = serde_json::from_str(raw).ok();
        caller.is_some_and(|caller| caller["type"] == CALLER_DEFAULT)
    };
    !CALLS_OWN.contains(&name) && raw != "null" && !(name == CALLER && is_default())
}

/// The block of these fields, and of the container that the calling code waits in.
pub(super) fn block(fields: &Fields, container: Option<&str>) -> Result<Block, RawJsonError> {
    let container = container.filter(|_| fields.iter().any(|(name, _)| name == CALLER));
    let fields = fields.iter().map(|(name, raw)| format!("{}:{raw}", Value::from(name.as_str())));
    let mut json = format!(r#"{{"tool_use":{{{}}}"#, fields.collect::<Vec<_>>().join(","));
    if let Some(container) = container {
        json.push_str(&format!(r#","container":{}"#, Value::from(container)));
    }
    json.push('}');
    let raw = RawJson::parse(&json)?;
    Ok(Block::Opaque(Arc::new(Opaque { provider: DIALECT.into(), raw })))
}

/// Writes what stands in the block behind a call, each with a comma before it.
pub(super) fn write(out: &mut Vec<u8>, behind: Option<&Block>) {
    let fields = behind.and_then(Kept::of).map(|kept| kept.tool_use).unwrap_or_default();
    for (name, raw) in fields.iter().filter(|(name, raw)| is_kept(name, raw.get())) {
        out.push(b',');
        crate::json::string(out, name);
        out.push(b':');
        out.extend_from_slice(raw.get().as_bytes());
    }
}

/// The container in which code waits for the results that the request ends with.
pub(super) fn container(request: &ModelRequest) -> Option<String> {
    let messages = &request.messages;
    let results = messages.last()?;
    let are_results = matches!(results.message.blocks.first(), Some(Block::ToolResult(_)));
    let calls = messages.get(messages.len().checked_sub(2)?).filter(|_| are_results)?;
    let kept = calls.message.blocks.iter().rev().find_map(Kept::of);
    kept.filter(|_| calls.message.role == Role::Assistant)?.container
}
