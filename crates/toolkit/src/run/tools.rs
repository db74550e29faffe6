//! Where a run takes its tools from: a set that stands, or one that may change.

use heeler_engine::{Parts, ToolRegistry, is_tool_name};

use crate::{Binding, Layer, Toolset};

/// Where a run takes its tools from.
#[derive(Clone)]
pub enum ToolSource {
    /// A set that stands from the run's beginning to its end.
    Fixed(Toolset),
    /// Whatever the registry holds when a request is made.
    Registry(ToolRegistry),
}

impl ToolSource {
    /// The same tools, each in this layer.
    pub(crate) fn wrap(&self, layer: &dyn Layer) -> Self {
        match self {
            Self::Fixed(tools) => Self::Fixed(tools.wrap(&[layer])),
            Self::Registry(registry) => Self::Registry(
                registry.fork_wrapping(|tool| Binding::from(tool).wrap(layer).into()),
            ),
        }
    }

    /// A tool of a name that providers refuse; a set has none.
    pub(super) fn misnamed(&self) -> Option<String> {
        match self {
            Self::Fixed(_) => None,
            Self::Registry(registry) => {
                registry.names().into_iter().find(|name| !is_tool_name(name))
            }
        }
    }

    /// Gives the parts of a session its tools.
    pub(crate) fn fill(&self, parts: &mut Parts) {
        match self {
            Self::Fixed(tools) => parts.tools = tools.for_engine(),
            Self::Registry(registry) => parts.tool_source = Some(registry.clone()),
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
