//! heeler as a library: a toolkit for programs that talk to models, on an engine that loses nothing.
//!
//! At the top is the toolkit: a [`Client`] asks a model, a history is a list of [`Message`]s that you
//! own, tools are async functions, an [`Agent`] is a client with its tools. Nothing is kept between
//! two calls but what you keep.
//!
//! ```no_run
//! use heeler::providers::anthropic::{Anthropic, AnthropicSettings};
//! use heeler::{Agent, Client, Message, Toolset, models, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City {
//!     name: String,
//! }
//!
//! # async fn example(key: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Anthropic::new(&AnthropicSettings::with_api_key(key))?, models::SONNET)?;
//! let weather = tool("weather", "Tells the weather of a city", |_, city: City| async move {
//!     format!("It is sunny in {}.", city.name)
//! })?;
//! let agent = Agent::new(client).system("Be brief.").tools(Toolset::new([weather])?);
//! let result = agent.step([Message::user("Do I need an umbrella in Oslo?")]).await?;
//! println!("{}", result.final_text());
//! # Ok(())
//! # }
//! ```
//!
//! Below it is the [`engine`]: sessions that live in a journal, survive the death of their process,
//! are watched, steered and asked for permission. The agent `heeler` itself is built on it.
//!
//! A program whose agent starts commands calls [`launcher::init`] first in `main`.

pub use heeler_core::{
    AllowAll, Approver, Block, BoxFuture, CacheMarker, CancellationToken, Clock, Cost, Decision,
    DenyAll, Entropy, EventStream, Image, ImageError, LimitKind, Limits, Message, Mode, ModelEvent,
    ModelRequest, Opaque, OpenPermission, Parameters, Policy, Provider, ProviderError,
    ProviderErrorKind, ProviderItem, RawJson, Reply, Role, Rule, RuleEffect, StopReason, Text,
    Thinking, ThinkingSettings, Timestamp, Tool, ToolChoice, ToolContext, ToolDefinition,
    ToolError, ToolOutput, ToolResult, ToolUse, Usage,
};
/// What is taken out of results, for [`layers::redaction`].
pub use heeler_secrets::Secrets;
pub use heeler_sessions::{
    FanOutRecorder, FileSessions, JsonLinesRecorder, MemoryRecorder, MemorySessions,
    QueuedRecorder, RecordedEvent, RecordedEventKind, Recorder, Session, SessionError,
    SessionErrorKind, SessionRecorder, SessionStore, SessionVersion, StateError, StateErrorKind,
    TurnId, TurnIdError, load_or_new, save,
};
#[cfg(feature = "postgres")]
pub use heeler_sessions::{PostgresSessions, tokio_postgres};
pub use heeler_toolkit::*;
/// When a failed request is sent again, for [`Client::retry`].
pub use heeler_turn::retry::Policy as RetryPolicy;

/// Current models by short names; [`providers::catalogue`] knows more.
pub use heeler_providers::models;
/// Starts child processes.
pub use heeler_sandbox::launcher;

/// Checks any [`SessionStore`], yours included.
pub mod conformance {
    pub use heeler_sessions::conformance::*;
}

/// Who answers model requests.
pub mod providers {
    pub use heeler_providers::*;
}

/// Sessions that live in a journal: records, effects, events, the driver, and where journals are
/// kept.
pub mod engine {
    pub use heeler_core::*;
    pub use heeler_engine::*;
    pub use heeler_hooks as hooks;
    pub use heeler_store as stores;
    pub use heeler_turn::TokenEstimate;
}

/// The tools of the agent `heeler`.
pub mod tools {
    pub use heeler_tools::*;
}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/toolkit.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/replay.md")]
struct ReplayGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/provider.md")]
struct ProviderGuide;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/schemas.md")]
struct SchemasGuide;
