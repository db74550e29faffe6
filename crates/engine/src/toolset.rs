//! An ordered set of tools with distinct names.

use std::sync::{Arc, OnceLock};

use heeler_core::{ProviderItem, RawJson, Tool, ToolDefinition};
use heeler_schema::Schema;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pipeline::Shape;

/// Tools in the order the model is told of them; cheap to clone.
#[derive(Clone, Default)]
pub struct Toolset {
    entries: Arc<[Arc<Entry>]>,
    provider_tools: Arc<[ProviderItem]>,
    hash: Arc<str>,
}

/// A tool and what is known of it; sets of one registry share it.
pub(crate) struct Entry {
    name: String,
    /// Made when somebody is told of the tool: hidden ones mostly never are.
    definition: OnceLock<ToolDefinition>,
    tool: Arc<dyn Tool>,
    /// Read when the tool is first called: most tools of a session never are.
    shape: OnceLock<Option<Shape>>,
    /// Compiled when an input comes that the shape does not accept.
    schema: OnceLock<Result<Schema, String>>,
    /// Compiled when a call ends whose tool declares what it gives.
    output: OnceLock<Option<Result<Schema, String>>>,
}

/// Two tools have one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called `{0}`; give one of them another name")]
pub struct DuplicateTool(pub String);

/// The most characters of a tool's name that every provider takes.
const NAME_CHARS_MAX: usize = 64;

/// Why tools are no set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// Two have one name.
    #[error(transparent)]
    Duplicate(#[from] DuplicateTool),
    /// Providers would refuse every request with a tool of this name.
    #[error(
        "no tool can be called `{0}`: a name has 1 to 64 letters of a to z, digits, `_` and `-`; one of a \
         server is usually called mcp__SERVER__TOOL"
    )]
    Name(String),
}

/// Whether every provider takes a tool of this name.
#[doc(hidden)]
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(fits)
}

impl Toolset {
    /// Puts tools in order.
    ///
    /// # Errors
    /// When two have one name, or a name is one that providers refuse: they take letters, digits, `_`
    /// and `-`, 64 at most.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, ToolsetError> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for tool in tools {
            let entry = Entry::new(tool);
            if !is_tool_name(entry.name()) {
                return Err(ToolsetError::Name(entry.name));
            }
            if entries.iter().any(|other| other.name() == entry.name()) {
                return Err(DuplicateTool(entry.name).into());
            }
            entries.push(Arc::new(entry));
        }
        Ok(Self::of(entries.into(), [].into()))
    }

    /// Of tools whose names are known to be distinct.
    pub(crate) fn of(entries: Arc<[Arc<Entry>]>, provider_tools: Arc<[ProviderItem]>) -> Self {
        let hash = hash(&entries, &provider_tools).into();
        Self { entries, provider_tools, hash }
    }

    /// With these tools, which the provider runs itself, behind those it has. They are told to the
    /// model as they are; no call of theirs ever comes here.
    #[must_use]
    pub fn with_provider_tools(self, tools: impl IntoIterator<Item = ProviderItem>) -> Self {
        let provider_tools = self.provider_tools.iter().cloned().chain(tools).collect();
        Self::of(self.entries, provider_tools)
    }

    /// The tools that the provider runs itself, in order.
    #[must_use]
    pub fn provider_tools(&self) -> &[ProviderItem] {
        &self.provider_tools
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        Some(&self.entry(name)?.tool)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name())
    }

    /// What the model is told, in order.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.entries.iter().map(|entry| entry.definition().clone()).collect()
    }

    /// A hash of what the model is told; empty for no tools.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether an input surely fits the schema of a tool, as far as that is simple to say.
    pub(crate) fn accepts(&self, name: &str, input: &Value) -> bool {
        let Some(entry) = self.entry(name) else { return false };
        let shape = entry.shape.get_or_init(|| Shape::of(&entry.definition().input_schema));
        shape.as_ref().is_some_and(|shape| shape.accepts(input))
    }

    /// The compiled schema of a tool.
    pub(crate) fn schema(&self, name: &str) -> Option<Result<&Schema, &str>> {
        let entry = self.entry(name)?;
        let compiled = entry.schema.get_or_init(|| compile(&entry.definition().input_schema));
        Some(compiled.as_ref().map_err(String::as_str))
    }

    /// The compiled schema of what a tool gives, where it declares one.
    pub(crate) fn output_schema(&self, name: &str) -> Option<Result<&Schema, &str>> {
        let entry = self.entry(name)?;
        let compile = || entry.tool.output_schema().map(|schema| compile(&schema));
        let compiled = entry.output.get_or_init(compile).as_ref()?;
        Some(compiled.as_ref().map_err(String::as_str))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        Some(self.entries.iter().find(|entry| entry.name() == name)?)
    }
}

impl Entry {
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Self {
        let (shape, schema, output) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (name, definition) = (tool.tool_name(), OnceLock::new());
        Self { name, definition, tool, shape, schema, output }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn definition(&self) -> &ToolDefinition {
        self.definition.get_or_init(|| self.tool.definition())
    }

    pub(crate) fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }
}

fn hash(entries: &[Arc<Entry>], provider_tools: &[ProviderItem]) -> String {
    if entries.is_empty() && provider_tools.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    for entry in entries {
        let ToolDefinition { name, description, input_schema, cache, raw } = entry.definition();
        [name.as_str(), description, input_schema.get()].into_iter().for_each(&mut add);
        // What most tools do not have leaves the hash as it was before there was such a thing.
        if let Some(cache) = cache {
            add(&format!("cache {cache:?}"));
        }
        if let Some(raw) = raw {
            ["raw", raw.provider.as_str(), raw.json.get()].into_iter().for_each(&mut add);
        }
    }
    for tool in provider_tools {
        ["provider", tool.provider.as_str(), tool.json.get()].into_iter().for_each(&mut add);
    }
    short_hex(hash)
}

fn compile(schema: &RawJson) -> Result<Schema, String> {
    Schema::new(&schema.value()).map_err(|error| error.to_string())
}

/// The first 16 hex digits of a hash: enough to tell two prompts apart.
pub(crate) fn short_hex(hash: Sha256) -> String {
    use std::fmt::Write;
    hash.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use heeler_core::CallPlan;
    use heeler_sandbox::Launcher;
    use heeler_tools::Bash;

    use super::*;
    use crate::pipeline::plan;

    /// The schemas that were compiled for these calls of the built-in tools.
    fn compiled(calls: &[(&str, &str)]) -> Vec<String> {
        let bash: Arc<dyn Tool> = Arc::new(Bash::new(Launcher::with_program("/none"), Vec::new()));
        let tools = Toolset::new(heeler_tools::standard().into_iter().chain([bash])).unwrap();
        for (name, input) in calls {
            let planned = plan(&tools, "/space", name, &RawJson::parse(input).unwrap());
            assert!(matches!(planned, CallPlan::Ready { .. }), "{name} {input}: {planned:?}");
        }
        let compiled = tools.entries.iter().filter(|entry| entry.schema.get().is_some());
        compiled.map(|entry| entry.name.clone()).collect()
    }

    #[test]
    fn ordinary_inputs_compile_nothing() {
        let calls = [
            ("Read", r#"{"file_path": "a", "offset": 1, "limit": 20}"#),
            ("Write", r#"{"file_path": "a", "content": ""}"#),
            (
                "Edit",
                r#"{"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": true}"#,
            ),
            ("Glob", r#"{"pattern": "*.rs", "path": "src"}"#),
            (
                "Grep",
                r#"{"pattern": "a", "output_mode": "content", "-i": true, "-A": 2, "type": "rust"}"#,
            ),
            ("LS", r#"{"path": ".", "ignore": ["target"]}"#),
            ("Bash", r#"{"command": "ls", "timeout": 1000, "description": "Lists"}"#),
        ];
        let tools = heeler_tools::standard().len() + 1;
        assert_eq!((compiled(&calls), calls.len()), (Vec::new(), tools));
    }

    #[test]
    fn an_input_that_has_to_be_put_right_compiles_its_schema() {
        let calls = [("LS", r#"{"path": "."}"#), ("Read", r#"{"file_path": "a", "limit": "20"}"#)];
        assert_eq!(compiled(&calls), ["Read"]);
    }

    #[test]
    fn whatever_a_model_is_told_otherwise_changes_the_hash() {
        use heeler_core::CacheMarker::{FiveMinutes, OneHour};

        struct Named(ToolDefinition);
        impl Tool for Named {
            fn definition(&self) -> ToolDefinition {
                self.0.clone()
            }

            fn facts(&self, _: &RawJson, _: &str) -> heeler_core::Facts {
                heeler_core::Facts::default()
            }

            fn call(
                self: Arc<Self>,
                _: heeler_core::ToolContext,
                _: RawJson,
            ) -> heeler_core::BoxFuture<Result<heeler_core::ToolOutput, heeler_core::ToolError>>
            {
                Box::pin(std::future::pending())
            }
        }

        let plain = ToolDefinition::new("a", "b", RawJson::empty_object());
        let item = |provider: &str| ProviderItem::new(provider, RawJson::empty_object());
        let set = |definition: ToolDefinition| Toolset::new([Arc::new(Named(definition)) as _]);
        let sets = [
            Toolset::default(),
            Toolset::default().with_provider_tools([item("p")]),
            Toolset::default().with_provider_tools([item("q")]),
            Toolset::default().with_provider_tools([item("p")]).with_provider_tools([item("p")]),
            set(plain.clone()).unwrap(),
            set(plain.clone()).unwrap().with_provider_tools([item("p")]),
            set(ToolDefinition { cache: Some(FiveMinutes), ..plain.clone() }).unwrap(),
            set(ToolDefinition { cache: Some(OneHour), ..plain.clone() }).unwrap(),
            set(ToolDefinition { raw: Some(item("p")), ..plain.clone() }).unwrap(),
            set(ToolDefinition { raw: Some(item("q")), ..plain }).unwrap(),
        ];
        let hashes: std::collections::HashSet<&str> = sets.iter().map(Toolset::hash).collect();
        assert_eq!((hashes.len(), sets[0].hash()), (sets.len(), ""));
    }
}
