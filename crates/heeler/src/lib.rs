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
    AcceptedAnswer, Access, AllowAll, Approver, Background, Bill, Block, BoxFuture, CacheMarker,
    CallId, CancellationToken, Clock, Completion, Cost, Decision, Denied, DenyAll, Entropy,
    EventStream, Few, Image, ImageError, InputOrigin, LimitKind, Limits, LongPrices, Media,
    MediaItem, MediaLimits, MediaReference, MediaScope, MediaStore, Message, Mode, ModelEvent,
    ModelRequest, NewMedia, Opaque, OpenPermission, Outbound, OutboundMessage, Parameters,
    Permission, Person, Policy, Prices, Provider, ProviderError, ProviderErrorKind, ProviderItem,
    Question, RawJson, RawJsonError, Reach, RedactedThinking, Reply, RequestMessage,
    RequestMessages, Role, Rule, RuleEffect, StopReason, Text, Thinking, ThinkingSettings,
    Timestamp, Tool, ToolChoice, ToolContext, ToolDefinition, ToolError, ToolFault, ToolOutput,
    ToolResult, ToolUse, Usage,
};
/// Records what a model is asked and what it answers, and plays it again.
pub use heeler_providers::cassette::{Cassette, CassetteError};
/// What is taken out of results, for [`Cassette::secrets`] and [`layers::redaction`].
pub use heeler_secrets::Secrets;
pub use heeler_sessions::{
    FanOutRecorder, FileSessions, JsonLinesRecorder, MemoryRecorder, MemorySessions,
    QueuedRecorder, RecordedEvent, RecordedEventKind, Recorder, Session, SessionError,
    SessionErrorKind, SessionRecorder, SessionStore, SessionVersion, StateError, StateErrorKind,
    TurnId, TurnIdError, check_id, load_or_new, save,
};
#[cfg(feature = "postgres")]
pub use heeler_sessions::{PostgresSessions, tokio_postgres};
pub use heeler_toolkit::*;
/// When a failed request is sent again, for [`Client::retry`].
pub use heeler_turn::retry::Policy as RetryPolicy;

/// Current models by short names; [`providers::catalogue`] knows more.
pub use heeler_providers::models;
/// The door of the process that starts commands: its `init` comes first in `main` of a program whose
/// agent starts any.
pub mod launcher {
    pub use heeler_sandbox::launcher::init;
}

/// Checks any [`SessionStore`], yours included.
pub mod conformance {
    pub use heeler_sessions::conformance::*;
}

/// Who answers model requests, and what one's own provider may build on.
pub mod providers {
    pub use heeler_providers::{
        Anthropic, AnthropicSettings, Chat, ChatSettings, IDLE_TIMEOUT_DEFAULT, KnownProvider,
        NameError, NamedModel, Responses, ResponsesSettings, SettingsError, anthropic, catalogue,
        chat, openrouter, presets, probe, responses, sse,
    };
    pub use heeler_secrets::Secret;
}

/// What tests need: models that play a script, a call without a loop, recorded sessions.
pub mod testing {
    pub use heeler_script::{Script, ScriptError};
    pub use heeler_toolkit::testing::*;
}

/// Commands that one's own tools start, in a box if wanted; whatever they leave behind is killed.
pub mod sandbox {
    pub use heeler_sandbox::{
        Bound, Child, Command, Confinement, Confines, Exit, Input, InputStream, Killed, Launcher,
        LauncherError, Limits, Network, OutputStream, Probe, ProbeLine, Streams, Terminal,
        TerminalSize,
    };
}

/// Sessions that live in a journal: the driver, what watchers see, and the promises that a driver
/// is given. The nouns and promises that the toolkit shares stand at the top.
pub mod engine {
    /// The driver.
    pub use heeler_engine::{
        DecideError, DuplicateTool, Fallback, OpenError, OsEntropy, Parts, Session, SessionError,
        SystemClock, Toolset, ToolsetError, Turn,
    };
    /// How hidden tools are found.
    pub use heeler_engine::{
        SearchPatternError, TOOL_SEARCH, ToolFound, ToolMoment, ToolQuery, ToolRegistry, ToolSearch,
    };

    /// What it is set to.
    pub use heeler_core::{
        CompactionSettings, EstimateSettings, Input, LongPrices, ModelSettings, PermissionReason,
        Prices, Reread, RuleError, Settings,
    };
    /// How it counts what has not been sent yet.
    pub use heeler_turn::TokenEstimate;
    /// What goes on after its call.
    pub use heeler_turn::state::BackgroundWork;

    /// What watchers see.
    pub use heeler_core::{
        AgentPath, Bill, CallStatus, CallView, Changed, CompactionCause, Envelope, EpochCause,
        Event, FinalAnswer, Messages, TurnOutcome, TurnView, View,
    };
    pub use heeler_engine::{Cursor, Seen};

    /// Names of sessions, of their records and of what is in them.
    pub use heeler_core::{
        CallId, IdError, NameError, PermissionId, Seq, SessionId, SessionName, SteeringId,
    };

    /// The promise of a store, and what it keeps.
    pub use heeler_core::{
        Appended, Checkpoint, CheckpointDraft, Durability, EncodeState, Entry, ForkOrigin, Journal,
        JournalDamage, Latest, Lease, Resumed, SessionHeader, SessionStore, SessionSummary, Spill,
        StoreError, StoreErrorKind,
    };
    pub use heeler_store as stores;

    /// The records of a journal.
    pub use heeler_core::{
        CallPlan, CallPlanned, Compacted, CompactionFailed, CompactionStarted, EpochStarted,
        FactsChanged, ForUser, HookAnswered, InterruptCause, Kept, ModelAccepted, ModelFailed,
        ModelReplied, ModelStarted, Opened, PermissionAsked, PermissionDecided, Pruned, Record,
        Reserve, SteeringQueued, Trimmed,
    };

    /// What a tool tells of a call before it runs, and what it is given.
    pub use heeler_core::{
        Access, Concern, ConcernKind, Denied, Facts, IfCut, ImageSink, InnerCall, InnerCalls,
        Metadata, Progress, Reach, Resource, ShellCommand, ShellLine, StateChange, StateView,
        TypedTool, tool_schema,
    };

    /// The promise of hooks, and hooks that are commands.
    pub use heeler_core::{
        HookEnd, HookEvent, HookMoment, HookOutcome, HookRequest, HookRule, HookVerdict, HookWatch,
        HookedCall, Hooks, UnknownHookEvent,
    };
    pub use heeler_hooks as hooks;

    /// A session played again, its tools answered from the journal.
    pub use heeler_core::Difference;
    pub use heeler_engine::{ReplayError, ReplayModel, Replayed, replay};
    pub use heeler_turn::replay::Divergence;
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

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/engine.md")]
struct EngineGuide;
