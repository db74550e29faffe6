//! An ordered set of tools with distinct names.

use std::sync::{Arc, OnceLock};

use heeler_core::{RawJson, Tool, ToolDefinition};
use jsonschema::Validator;
use sha2::{Digest, Sha256};

/// Tools in the order the model is told of them; cheap to clone.
#[derive(Clone, Default)]
pub struct Toolset {
    entries: Arc<Vec<Entry>>,
    hash: Arc<str>,
}

struct Entry {
    definition: ToolDefinition,
    tool: Arc<dyn Tool>,
    /// Compiled when the tool is first called: most tools of a session never are.
    validator: OnceLock<Result<Validator, String>>,
}

/// Two tools have one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called `{0}`; give one of them another name")]
pub struct DuplicateTool(pub String);

impl Toolset {
    /// Puts tools in order.
    ///
    /// # Errors
    /// When two have one name.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, DuplicateTool> {
        let mut entries: Vec<Entry> = Vec::new();
        for tool in tools {
            let definition = tool.definition();
            if entries.iter().any(|entry| entry.definition.name == definition.name) {
                return Err(DuplicateTool(definition.name));
            }
            entries.push(Entry { definition, tool, validator: OnceLock::new() });
        }
        let hash = hash(&entries).into();
        Ok(Self { entries: Arc::new(entries), hash })
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        Some(&self.entry(name)?.tool)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.definition.name.as_str())
    }

    /// What the model is told, in order.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.entries.iter().map(|entry| entry.definition.clone()).collect()
    }

    /// A hash of what the model is told; empty for no tools.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The compiled schema of a tool.
    pub(crate) fn validator(&self, name: &str) -> Option<Result<&Validator, &str>> {
        let entry = self.entry(name)?;
        let compiled = entry.validator.get_or_init(|| compile(&entry.definition.input_schema));
        Some(compiled.as_ref().map_err(String::as_str))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.definition.name == name)
    }
}

fn hash(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    for Entry { definition, .. } in entries {
        let ToolDefinition { name, description, input_schema } = definition;
        for part in [name.as_str(), description, input_schema.get()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    short_hex(hash)
}

fn compile(schema: &RawJson) -> Result<Validator, String> {
    jsonschema::validator_for(&schema.value()).map_err(|error| error.to_string())
}

/// The first 16 hex digits of a hash: enough to tell two prompts apart.
pub(crate) fn short_hex(hash: Sha256) -> String {
    use std::fmt::Write;
    hash.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
