//! The promise of hooks: what they are told at which moment, and what they can answer.
//!
//! A denial and a broken hook are different things, and both are different from having nothing to
//! say. Where a hook guards a call, a broken one blocks it, and everybody is told that it was not
//! a denial.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Access, AgentPath, BoxFuture, CallId, Clock, CompactionCause, Event, Mode, PermissionReason,
    RawJson, SessionId, ToolOutput,
};

mod about;

pub use about::{HookRule, matches_no_tool};

/// Somebody who is told of moments of a session and may have a word in them.
///
/// The driver asks `matches` often and runs nothing when it says no; when it says yes, it calls
/// `run` once for the moment, in a task that is dropped when nobody wants the answer any more.
/// What several hooks of one moment say is [joined](HookOutcome::join) by the implementation. It
/// keeps its own time: a hook that takes too long is [`HookVerdict::Broken`]. A panic counts as
/// broken, too.
pub trait Hooks: Send + Sync + 'static {
    /// Whether `run` would do anything at such a moment. `subject` is what matchers look at, see
    /// [`HookMoment::subject`]. Must be quick and do no I/O.
    fn matches(&self, event: HookEvent, subject: &str) -> bool;

    /// Tells the hooks of a moment, and gives what they say.
    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome>;
}

/// The moments hooks are told of, by the names they have in settings files and the journal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum HookEvent {
    /// A process took a session over and is about to take the first input.
    SessionStart,
    /// Somebody said something, and the model has not seen it yet.
    UserPromptSubmit,
    /// A call is valid and about to be judged.
    PreToolUse,
    /// Somebody would be asked about a call.
    PermissionRequest,
    /// A call succeeded.
    PostToolUse,
    /// A call ran and failed.
    PostToolUseFailure,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The turn is about to end with its answer.
    Stop,
    /// A sub-agent is about to begin.
    SubagentStart,
    /// A sub-agent is about to end with its answer.
    SubagentStop,
    /// The session is being closed.
    SessionEnd,
}

impl HookEvent {
    /// All of them, in the order of a session.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PreCompact,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::SessionEnd,
    ];

    /// Whether it is about a call, which a rule can speak of.
    #[must_use]
    pub fn is_of_call(self) -> bool {
        use HookEvent::{PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse};
        matches!(self, PreToolUse | PermissionRequest | PostToolUse | PostToolUseFailure)
    }

    /// Whether what it is about waits to be let through, so that a broken hook blocks it.
    #[must_use]
    pub fn guards(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }

    /// The name in settings files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PreCompact => "PreCompact",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no hook event; the events are {}", HookEvent::ALL.map(HookEvent::name).join(", "))]
pub struct UnknownHookEvent {
    text: String,
}

impl FromStr for HookEvent {
    type Err = UnknownHookEvent;

    fn from_str(text: &str) -> Result<Self, UnknownHookEvent> {
        let found = Self::ALL.into_iter().find(|event| event.name() == text);
        found.ok_or_else(|| UnknownHookEvent { text: text.to_owned() })
    }
}

/// What hooks are told.
#[derive(Clone)]
pub struct HookRequest {
    /// The session.
    pub session: SessionId,
    /// The agent within the session; empty for the main one.
    pub agent: AgentPath,
    /// The folder relative paths start from, absolute.
    pub workspace: PathBuf,
    /// The mode calls are judged in.
    pub mode: Mode,
    /// What happens.
    pub moment: HookMoment,
    /// Tells watchers which hooks run.
    pub watch: HookWatch,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// One moment, with what there is to know about it.
#[derive(Debug, Clone, PartialEq)]
pub enum HookMoment {
    /// See [`HookEvent::SessionStart`].
    SessionStart {
        /// Whether the session has had turns before.
        resumed: bool,
    },
    /// See [`HookEvent::UserPromptSubmit`].
    UserPromptSubmit {
        /// The text that was said.
        prompt: String,
    },
    /// See [`HookEvent::PreToolUse`].
    PreToolUse(HookedCall),
    /// See [`HookEvent::PermissionRequest`].
    PermissionRequest {
        /// The call.
        call: HookedCall,
        /// Why somebody would be asked.
        reason: PermissionReason,
    },
    /// See [`HookEvent::PostToolUse`] and [`HookEvent::PostToolUseFailure`].
    PostToolUse {
        /// The call.
        call: HookedCall,
        /// What it gave, before anything is cut off.
        output: Box<ToolOutput>,
    },
    /// See [`HookEvent::PreCompact`].
    PreCompact {
        /// Why.
        cause: CompactionCause,
        /// What the summary is to look at above all.
        focus: Option<Box<str>>,
    },
    /// See [`HookEvent::Stop`].
    Stop {
        /// The turn, from 1.
        turn: u32,
        /// The turn went on already because a hook wanted it to.
        again: bool,
        /// The model's last message.
        answer: String,
    },
    /// See [`HookEvent::SubagentStart`].
    SubagentStart {
        /// What kind of agent.
        kind: String,
    },
    /// See [`HookEvent::SubagentStop`].
    SubagentStop {
        /// What kind of agent.
        kind: String,
        /// It went on already because a hook wanted it to.
        again: bool,
        /// The model's last message.
        answer: String,
    },
    /// See [`HookEvent::SessionEnd`].
    SessionEnd,
}

/// A call as hooks see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookedCall {
    /// The call.
    pub id: CallId,
    /// The tool's name.
    pub tool: String,
    /// The input it would run, or ran, with.
    pub input: RawJson,
    /// What it touches, as rules see it.
    pub accesses: Vec<Access>,
}

impl HookMoment {
    /// Which moment it is.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PermissionRequest { .. } => HookEvent::PermissionRequest,
            Self::PostToolUse { output, .. } if output.is_error => HookEvent::PostToolUseFailure,
            Self::PostToolUse { .. } => HookEvent::PostToolUse,
            Self::PreCompact { .. } => HookEvent::PreCompact,
            Self::Stop { .. } => HookEvent::Stop,
            Self::SubagentStart { .. } => HookEvent::SubagentStart,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::SessionEnd => HookEvent::SessionEnd,
        }
    }

    /// What matchers look at: a tool's name, how a session started, why it is compacted, what
    /// kind of agent; empty where there is nothing to tell apart.
    #[must_use]
    pub fn subject(&self) -> &str {
        match self {
            Self::SessionStart { resumed: true } => "resume",
            Self::SessionStart { resumed: false } => "startup",
            Self::PreToolUse(call)
            | Self::PermissionRequest { call, .. }
            | Self::PostToolUse { call, .. } => &call.tool,
            Self::PreCompact { cause: CompactionCause::Manual, .. } => "manual",
            Self::PreCompact { cause: CompactionCause::Automatic, .. } => "auto",
            Self::SubagentStart { kind } | Self::SubagentStop { kind, .. } => kind,
            Self::UserPromptSubmit { .. } | Self::Stop { .. } => "",
            Self::SessionEnd => "other",
        }
    }

    /// The call it is about.
    #[must_use]
    pub fn call(&self) -> Option<&HookedCall> {
        match self {
            Self::PreToolUse(call)
            | Self::PermissionRequest { call, .. }
            | Self::PostToolUse { call, .. } => Some(call),
            _ => None,
        }
    }
}

/// What hooks said of a moment, together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HookOutcome {
    /// The strictest verdict of any.
    pub verdict: HookVerdict,
    /// What a call shall run with instead; only [`HookEvent::PreToolUse`] heeds it.
    pub input: Option<RawJson>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the user.
    pub notices: Vec<String>,
}

/// What hooks want to become of a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookVerdict {
    /// Nothing: it goes on as without them.
    #[default]
    Continue,
    /// A call needs no prompt. Rules that deny or ask hold all the same.
    Allow {
        /// Which hook.
        by: String,
        /// Why, if it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody is to be asked about a call.
    Ask {
        /// Which hook.
        by: String,
        /// Why, if it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A hook gave no answer that can be heeded: it could not start, took too long, or crashed.
    Broken {
        /// Which hook.
        by: String,
        /// What is wrong with it.
        why: String,
    },
    /// It shall not happen: the call, the prompt, the compaction, the end of the turn.
    Deny {
        /// Which hook.
        by: String,
        /// Why, in words for the model.
        reason: String,
    },
    /// It shall not happen, and the turn ends.
    Stop {
        /// Which hook.
        by: String,
        /// Why, in words for the user.
        reason: String,
    },
}

impl HookVerdict {
    /// The hook that gave it; none when there is nothing to give.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        match self {
            Self::Continue => None,
            Self::Allow { by, .. }
            | Self::Ask { by, .. }
            | Self::Broken { by, .. }
            | Self::Deny { by, .. }
            | Self::Stop { by, .. } => Some(by),
        }
    }

    /// How little it lets through.
    fn strictness(&self) -> u8 {
        match self {
            Self::Continue => 0,
            Self::Allow { .. } => 1,
            Self::Ask { .. } => 2,
            Self::Broken { .. } => 3,
            Self::Deny { .. } => 4,
            Self::Stop { .. } => 5,
        }
    }
}

impl HookOutcome {
    /// An outcome that is nothing but this.
    #[must_use]
    pub fn of(verdict: HookVerdict) -> Self {
        Self { verdict, ..Self::default() }
    }

    /// What two hooks of one moment say together: the stricter verdict, of two that are as strict the
    /// first, and all texts. Two inputs that differ are no answer that could be heeded.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        let clash = matches!((&self.input, &other.input), (Some(a), Some(b)) if a != b);
        if other.verdict.strictness() > self.verdict.strictness() {
            self.verdict = other.verdict;
        }
        self.input = self.input.or(other.input);
        self.context.extend(other.context);
        self.notices.extend(other.notices);
        if clash {
            self.input = None;
            let why = "two hooks changed the input in different ways".to_owned();
            return self.join(Self::of(HookVerdict::Broken { by: "hooks".into(), why }));
        }
        self
    }
}

/// How one hook ended, for watchers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookEnd {
    /// It had nothing against it.
    Continued,
    /// It allowed a call.
    Allowed,
    /// It wants somebody to be asked.
    Asked,
    /// It denied, or stopped the turn.
    Denied,
    /// It took too long and was killed.
    TimedOut,
    /// It gave no answer that can be heeded.
    Broken {
        /// What is wrong with it.
        why: String,
    },
}

impl From<&HookVerdict> for HookEnd {
    fn from(verdict: &HookVerdict) -> Self {
        match verdict {
            HookVerdict::Continue => Self::Continued,
            HookVerdict::Allow { .. } => Self::Allowed,
            HookVerdict::Ask { .. } => Self::Asked,
            HookVerdict::Broken { why, .. } => Self::Broken { why: why.clone() },
            HookVerdict::Deny { .. } | HookVerdict::Stop { .. } => Self::Denied,
        }
    }
}

/// Tells watchers which hooks run at a moment and how they end.
#[derive(Clone)]
pub struct HookWatch {
    event: HookEvent,
    call: Option<CallId>,
    tell: Arc<dyn Fn(Event) + Send + Sync>,
}

impl HookWatch {
    /// Tells of hooks of this moment through `tell`, which must return at once.
    pub fn new(moment: &HookMoment, tell: impl Fn(Event) + Send + Sync + 'static) -> Self {
        let call = moment.call().map(|call| call.id);
        Self { event: moment.event(), call, tell: Arc::new(tell) }
    }

    /// A hook was started.
    pub fn started(&self, hook: &str) {
        let hook = hook.to_owned();
        (self.tell)(Event::HookStarted { event: self.event, hook, call: self.call });
    }

    /// It ended.
    pub fn finished(&self, hook: &str, millis: u64, end: HookEnd) {
        let hook = hook.to_owned();
        let (event, call) = (self.event, self.call);
        (self.tell)(Event::HookFinished { event, hook, call, millis, end });
    }
}

#[cfg(test)]
mod tests;
