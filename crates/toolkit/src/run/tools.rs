//! Where a run takes its tools from: a set that stands, or one that may change.

use std::sync::{Arc, PoisonError, RwLock};

use heeler_engine::Parts;

use crate::Toolset;

/// Where a run takes its tools from.
#[derive(Clone)]
pub enum ToolSource {
    /// A set that stands from the run's beginning to its end.
    Fixed(Toolset),
    /// Whatever the registry holds when a request is made.
    Registry(ToolRegistry),
}

/// Tools that may change while runs use them: a run sees a change with its next request, whose
/// cached prefix is new then. Clones are one registry.
///
/// ```
/// use heeler_toolkit::{Object, Run, ToolRegistry, Toolset, raw_tool};
///
/// let registry = ToolRegistry::new(Toolset::default());
/// let run = Run::say("What can you do?").tools(registry.clone());
/// // Also while it runs: the next request has it.
/// let clock = raw_tool("clock", "Tells the time", Object::new(), |_, _| async { "noon" });
/// registry.set(Toolset::new([clock])?);
/// assert_eq!(registry.tools().len(), 1);
/// # Ok::<(), heeler_toolkit::DuplicateTool>(())
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry(Arc<RwLock<Toolset>>);

impl ToolRegistry {
    /// A registry that holds these tools.
    #[must_use]
    pub fn new(tools: Toolset) -> Self {
        let registry = Self::default();
        registry.set(tools);
        registry
    }

    /// Replaces the tools.
    pub fn set(&self, tools: Toolset) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// The tools as they are now.
    #[must_use]
    pub fn tools(&self) -> Toolset {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ToolSource {
    /// The tools as they are now.
    pub(crate) fn now(&self) -> Toolset {
        match self {
            Self::Fixed(tools) => tools.clone(),
            Self::Registry(registry) => registry.tools(),
        }
    }

    /// Gives the parts of a session its tools.
    pub(crate) fn fill(&self, parts: &mut Parts) {
        match self {
            Self::Fixed(tools) => parts.tools = tools.for_engine(),
            Self::Registry(registry) => {
                let registry = registry.clone();
                parts.tool_source = Some(Arc::new(move || registry.tools().for_engine()));
            }
        }
    }
}

impl Default for ToolSource {
    fn default() -> Self {
        Self::Fixed(Toolset::default())
    }
}

impl From<Toolset> for ToolSource {
    fn from(tools: Toolset) -> Self {
        Self::Fixed(tools)
    }
}

impl From<&Toolset> for ToolSource {
    fn from(tools: &Toolset) -> Self {
        Self::Fixed(tools.clone())
    }
}

impl From<ToolRegistry> for ToolSource {
    fn from(registry: ToolRegistry) -> Self {
        Self::Registry(registry)
    }
}
