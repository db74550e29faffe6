//! The toolkit: clients, agents and tools as plain data and plain functions.
//!
//! A [`Client`] asks a model. A history is a list of messages that the caller owns; nothing is kept
//! between two calls. A [`Toolset`] is a list of [`Binding`]s, each a function with its definition,
//! and a [`Layer`] wraps it in another one. An [`Agent`] is a client with its system prompt, its
//! tools and how its history is trimmed. Read in this order: `schema`, `function`, `toolset`,
//! `layers`, `run` (what a run is given, gives and tells), `client`, `context`, `agent`, `extract`,
//! `submission`.
//!
//! Invariant: holds no loop of its own; every run is a turn of `heeler-engine` over a journal in
//! memory.

mod agent;
mod bound;
mod caching;
mod client;
mod context;
mod debug;
mod extract;
mod function;
pub mod layers;
mod outbound;
mod parallel;
mod render;
mod run;
mod schema;
mod submission;
pub mod testing;
mod toolset;

pub use agent::{Agent, AgentHooks};
pub use client::{Answer, AskEvent, AskStream, Client, ClientError, RetryNotice};
pub use context::{ContextError, ContextManager, Fitted, Summary};
pub use extract::{Extract, ExtractError, Extracted, extract};
pub use function::{IntoToolOutput, IntoToolResult, Json, raw_tool, tool};
pub use layers::Layer;
pub use outbound::{JsonLinesOutbound, TerminalOutbound};
pub use parallel::{Parallel, StepError, parallel};
pub use render::{RENDERED_CHARS_DEFAULT, render_for_summary};
pub use run::{
    BACKGROUND_WAIT_DEFAULT, Run, RunError, RunErrorKind, RunEvent, RunResult, RunStream,
    ToolChoiceFor, ToolLoop, ToolLoopEnd, ToolSource, tool_loop,
};
pub use schema::{InputSchema, Object, Schema, SchemaError};
pub use submission::Submission;
pub use toolset::{Binding, DuplicateTool, ToolFunction, ToolMetadata, Toolset, ToolsetError};

/// What derives the schemas of inputs and values, in the version that [`tool`] and [`extract`] take:
/// `#[derive(schemars::JsonSchema)]` with a dependency of one's own, or with this one and
/// `#[schemars(crate = "heeler::schemars")]`.
pub use schemars;

/// Tools that may change or hide while runs use them, and the tool by which a model finds hidden ones.
pub use heeler_engine::{ToolRegistry, ToolSearch};
/// Records what a model is asked and what it answers, and plays it again.
pub use heeler_providers::cassette::{Cassette, CassetteError};
/// Knows what is secret, for [`Cassette::secrets`] and [`layers::redaction`].
pub use heeler_secrets::Secrets;
