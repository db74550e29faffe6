//! A binding as the engine takes it: what a call of it touches, and how it is called.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    Access, BoxFuture, Facts, InnerCall, Metadata, RawJson, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput,
};

use crate::{Binding, ToolMetadata, Toolset};

/// The tool as the engine takes it, for a session of `heeler-engine`.
///
/// ```
/// use std::sync::Arc;
/// use heeler_core::Tool;
/// use heeler_toolkit::{Object, raw_tool};
///
/// let clock = raw_tool("clock", "Tells the time", Object::new(), |_, _| async { "noon" });
/// let tools = heeler_engine::Toolset::new([Arc::<dyn Tool>::from(clock)])?;
/// # assert_eq!(tools.names().next(), Some("clock"));
/// # Ok::<(), heeler_engine::ToolsetError>(())
/// ```
impl From<Binding> for Arc<dyn Tool> {
    fn from(binding: Binding) -> Self {
        Arc::new(BoundTool(binding))
    }
}

/// The same tools in the same order, for a session of `heeler-engine`.
///
/// ```
/// use heeler_toolkit::{Object, Toolset, raw_tool};
///
/// let clock = raw_tool("clock", "Tells the time", Object::new(), |_, _| async { "noon" });
/// let tools = heeler_engine::Toolset::from(Toolset::new([clock])?);
/// # assert_eq!(tools.names().next(), Some("clock"));
/// # Ok::<(), heeler_toolkit::ToolsetError>(())
/// ```
impl From<Toolset> for heeler_engine::Toolset {
    fn from(tools: Toolset) -> Self {
        tools.for_engine()
    }
}

/// What a function touches that does not say it: nothing where it only looks, else something that no
/// policy lets run without a rule or a person. It names no resource, so such calls still run side by
/// side.
fn unsaid(binding: &Binding) -> Vec<Access> {
    let metadata = &binding.metadata;
    if metadata.read_only && !metadata.requires_confirmation {
        return Vec::new();
    }
    let words = [
        (metadata.destructive, "may destroy something"),
        (metadata.filesystem, "reads or writes files"),
        (metadata.shell, "starts commands"),
        (metadata.network, "talks to other machines"),
        (!metadata.safety_notes.is_empty(), &*metadata.safety_notes),
    ];
    let words: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    let name = &binding.definition.name;
    vec![Access::Opaque(match words.as_slice() {
        [] => name.clone(),
        words => format!("{name}: {}", words.join(", ")),
    })]
}

/// A binding as the engine calls it.
struct BoundTool(Binding);

impl Tool for BoundTool {
    fn definition(&self) -> ToolDefinition {
        self.0.definition.clone()
    }

    fn metadata(&self) -> Metadata {
        let ToolMetadata { read_only, terminal, timeout, .. } = self.0.metadata;
        // 0 would be the engine's own limit, and not a very short one.
        let millis =
            |timeout: Duration| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1);
        let facts_change = self.0.tool.as_ref().is_some_and(|tool| tool.metadata().facts_change);
        Metadata { read_only, terminal, timeout_millis: timeout.map_or(0, millis), facts_change }
    }

    fn output_schema(&self) -> Option<RawJson> {
        self.0.output.clone()
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        let Binding { metadata, touches, tool, .. } = &self.0;
        let told = match tool {
            Some(tool) => tool.facts(input, workspace),
            None => Facts { replay_safe: metadata.read_only, ..Facts::default() },
        };
        let is_told = touches.is_some() || tool.is_some();
        let mut accesses = match touches {
            Some(touches) => touches(input, workspace),
            None => told.accesses,
        };
        // What is told may be allowed by the mode alone.
        if !is_told || metadata.requires_confirmation {
            accesses.extend(unsaid(&self.0));
        }
        Facts { accesses, terminal: metadata.terminal, ..told }
    }

    fn inner_calls(&self, input: &RawJson) -> Vec<InnerCall> {
        self.0.tool.as_ref().map(|tool| tool.inner_calls(input)).unwrap_or_default()
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        (self.0.function)(context, input)
    }

    // Without `check`: a layer may make another call of this one.

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        match &self.0.tool {
            Some(tool) => Arc::clone(tool).clean_up(context, input),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
}
