//! What is shown of clients, agents, runs and tools for debugging: names and numbers, no key, no
//! function and nothing that was said.

use std::fmt::{Debug, Formatter, Result};

use crate::{
    Agent, AskStream, Binding, Client, Extract, Run, RunStream, Submission, ToolSource, Toolset,
};

impl Debug for Client {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Client").field("model", &self.model()).finish_non_exhaustive()
    }
}

impl Debug for Agent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Agent")
            .field("client", &self.client)
            .field("run", &self.template)
            .finish_non_exhaustive()
    }
}

impl Debug for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Run")
            .field("messages", &self.history.len())
            .field("tools", &self.tools)
            .field("limits", &self.limits)
            .field("workspace", &self.workspace)
            .field("context", &self.context)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Debug for ToolSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Fixed(tools) => tools.fmt(f),
            Self::Registry(_) => f.write_str("ToolRegistry(..)"),
        }
    }
}

impl Debug for Toolset {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Debug for Binding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Binding")
            .field("definition", &self.definition)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}

impl Debug for RunStream {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("RunStream").finish_non_exhaustive()
    }
}

impl Debug for AskStream {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("AskStream").finish_non_exhaustive()
    }
}

impl<T> Debug for Extract<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Extract").finish_non_exhaustive()
    }
}

impl Debug for Submission {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Submission").finish_non_exhaustive()
    }
}
