//! Nouns and promises of heeler.
//!
//! The nouns are plain data: messages, records, events, effects. The promises are the traits a
//! driver is given: [`Provider`], [`Tool`], [`SessionStore`], [`MediaStore`], [`Approver`], [`Hooks`],
//! [`Clock`], [`Entropy`]. Read in this order: `message`, `record`, `effect`, `event`, then the promises.
//!
//! Invariant: nothing here does I/O, reads a clock or needs a runtime.

mod access;
mod approver;
mod background;
mod by_name;
mod clock;
mod compaction;
mod conversation;
mod difference;
mod effect;
mod event;
mod few;
mod final_answer;
mod glob;
mod growing;
mod hook;
mod id;
mod image;
mod inner_call;
mod input;
mod json;
mod media;
mod media_store;
mod message;
mod name;
mod outbound;
mod outcome;
mod output;
mod panic;
mod permission;
mod person;
mod policy;
mod provider;
mod raw;
mod reach;
mod record;
mod settings;
mod sort;
mod stop;
mod store;
mod summary;
mod tool;
mod typed_tool;
mod upgrade;
mod usage;
mod view;

pub use access::{Access, Concern, ConcernKind, ShellCommand, ShellLine};
pub use approver::{AllowAll, Approver, DenyAll, ScriptedApprover};
pub use background::{Background, Completion};
pub use by_name::ByName;
pub use clock::{Clock, Entropy, Timestamp};
pub use compaction::{
    Compacted, CompactionCause, CompactionFailed, CompactionStarted, Kept, Pruned, Trimmed,
};
pub use conversation::{Encoded, RequestMessage, RequestMessages, Stretch};
pub use difference::Difference;
pub use effect::{Effect, EffectId, EffectKind, Outcome, WakeCause};
pub use event::{AgentPath, Changed, Envelope, Event};
pub use few::Few;
pub use final_answer::FinalAnswer;
pub use glob::is_bounded_glob;
pub use growing::push_text;
pub use hook::{
    HookEnd, HookEvent, HookMoment, HookOutcome, HookRequest, HookRule, HookVerdict, HookWatch,
    HookedCall, Hooks, UnknownHookEvent, matches_no_tool,
};
pub use id::{CallId, IdError, PermissionId, Seq, SessionId, SteeringId};
pub use image::ImageError;
pub use inner_call::{InnerCall, InnerCalls};
pub use input::{Input, InputOrigin};
pub use json::{from_json, from_json_bytes, json_depth};
pub use media::MediaReference;
pub use media_store::{Media, MediaItem, MediaLimits, MediaScope, MediaStore, NewMedia};
pub use message::{
    Block, CacheMarker, Image, Message, Opaque, ProviderItem, RedactedThinking, Role, Text,
    Thinking, ToolResult, ToolUse,
};
pub use name::{NameError, SessionName};
pub use outbound::{ForUser, Outbound, OutboundMessage};
pub use outcome::{LimitKind, TurnOutcome};
pub use output::{ToolFault, ToolOutput};
pub use panic::panic_text;
pub use permission::Permission;
pub use person::{Person, Question};
pub use policy::{
    Decision, Judgement, Mode, PermissionReason, Policy, Rule, RuleEffect, RuleError, Verdict,
};
pub use provider::{
    AcceptedAnswer, EventStream, ModelEvent, ModelRequest, Provider, ProviderError,
    ProviderErrorKind, Reply,
};
pub use raw::{RAW_BYTES_MAX, RAW_DEPTH_MAX, RawJson, RawJsonError};
pub use reach::{
    Denied, PROTECTED, READING_TOOLS, Reach, WRITING_TOOLS, is_protected, takes_paths,
};
pub use record::{
    CallPlan, CallPlanned, Entry, EpochCause, EpochStarted, FactsChanged, HookAnswered,
    InterruptCause, ModelAccepted, ModelFailed, ModelReplied, ModelStarted, Opened,
    PermissionAsked, PermissionDecided, Record, Reserve, SteeringQueued,
};
pub use settings::{
    CompactionSettings, EstimateSettings, Limits, ModelSettings, Parameters, Settings,
    ThinkingSettings, ToolChoice,
};
pub use sort::{gathered, sort, sort_by, sort_by_key};
pub use stop::StopReason;
pub use store::{
    Appended, Checkpoint, CheckpointDraft, Durability, EncodeState, ForkOrigin, Journal,
    JournalDamage, Latest, Lease, Resumed, SessionHeader, SessionStore, SessionSummary, Spill,
    StoreError, StoreErrorKind,
};
pub use summary::{input_summary, output_summary, truncate_chars};
pub use tool::{
    Facts, IfCut, ImageSink, Metadata, Progress, RESULT_CHARS_MAX, Resource, StateChange,
    StateView, Tool, ToolContext, ToolDefinition, ToolError,
};
pub use typed_tool::{TypedTool, tool_schema};
pub use upgrade::{RECORD_KINDS, RecordKind, Upgrade};
pub use usage::{Bill, Cost, LongPrices, Prices, Reread, Usage};
pub use view::{CallStatus, CallView, Messages, OpenPermission, TurnView, View};

/// A boxed future that owns everything it needs: it may be spawned, abandoned, started early.
pub type BoxFuture<T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Cancels work; cloned freely, cancelled once.
pub use tokio_util::sync::CancellationToken;
