//! A script as plain data: what a file says, checked.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::fields::{Pattern, list_of_named, named, named_or_null};
use crate::{BlockSpec, Expect};

/// The most replies a script may have.
pub(crate) const REPLIES_MAX: usize = 100_000;
/// The most blocks one reply may have.
pub(crate) const BLOCKS_MAX: usize = 1_000;
/// The most parts a block may be sent in.
pub(crate) const CHUNKS_MAX: usize = 1_000_000;

/// A scripted model: replies in the order they are given, and how to treat requests. What a script
/// may say is a text's business, which `docs/guide/scripted-models.md` describes; the parts that it
/// is read into may change.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The script's file name, for errors.
    pub name: String,
    /// What holds for the whole script.
    #[doc(hidden)]
    pub options: Options,
    /// The replies.
    #[doc(hidden)]
    pub replies: Vec<ReplySpec>,
    /// What it is written in, for the words of errors.
    #[doc(hidden)]
    pub format: Format,
}

/// What a script is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// TOML, with a `[[reply]]` for each reply.
    #[default]
    Toml,
    /// JSON Lines, with a line for each reply.
    Lines,
}

impl Script {
    /// A script made in code.
    #[doc(hidden)]
    pub fn of(replies: impl IntoIterator<Item = ReplySpec>) -> Self {
        let numbered = replies.into_iter().enumerate();
        let replies = numbered.map(|(i, reply)| ReplySpec { line: i + 1, ..reply }).collect();
        Self { name: "script".into(), replies, ..Self::default() }
    }

    /// Repeats the last reply for as long as requests come.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.options.repeat_last = true;
        self
    }
}

/// What holds for a whole script.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Whether the last reply is repeated for as long as requests come.
    #[serde(rename = "loop")]
    pub repeat_last: bool,
    /// Whether the system prompt, the tools or the model may change between requests that do not
    /// say which epoch they belong to.
    pub epoch: EpochRule,
    /// Whether all requests belong to one conversation.
    pub conversations: Conversations,
    /// A request whose last user text contains this asks for a summary; by default the words of
    /// heeler's own request.
    pub summary_contains: Option<String>,
    /// What replies without their own `usage` report.
    #[serde(deserialize_with = "named_or_null")]
    pub usage: Option<UsageSpec>,
}

/// Whether the head of a request may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum EpochRule {
    /// A changed head is a violation.
    #[default]
    #[serde(rename = "fixed")]
    Fixed,
    /// A changed head begins a new epoch, and with it a new prefix.
    #[serde(rename = "may change")]
    MayChange,
}

/// How many conversations ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conversations {
    /// One: every request continues the one before.
    #[default]
    One,
    /// Several: a request continues the last one that begins with the same block.
    Many,
}

/// One reply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplySpec {
    /// The line of the script it stands on, from 1.
    #[serde(skip)]
    pub line: usize,
    /// The kind of request it is kept for.
    #[serde(rename = "for")]
    pub kind: For,
    /// The reply is passed over when the request does not fit.
    #[serde(deserialize_with = "named_or_null")]
    pub when: Option<Expect>,
    /// The request is refused when it does not fit.
    #[serde(deserialize_with = "named")]
    pub expect: Expect,
    /// Texts taken from the request: a name and the expression that finds the value.
    pub capture: Capture,
    /// Whether `{{...}}` is ordinary text in this reply.
    pub verbatim: bool,
    /// A text block before `blocks`.
    pub text: Option<String>,
    /// What the model says, in order.
    #[serde(deserialize_with = "list_of_named")]
    pub blocks: Vec<BlockSpec>,
    /// Why it stops; by default `tool_use` when there are calls, else `end_turn`.
    pub stop: Option<String>,
    /// Tokens reported; by default the script's, else an estimate from the sizes.
    #[serde(deserialize_with = "named_or_null")]
    pub usage: Option<UsageSpec>,
    /// Milliseconds before the reply begins.
    pub delay_ms: u64,
    /// In how many parts each block is sent; 0 and 1 mean whole.
    pub chunks: usize,
    /// The reply is a failure, or ends in one.
    #[serde(deserialize_with = "named_or_null")]
    pub error: Option<ErrorSpec>,
    /// The stream ends here, without its end marker.
    #[serde(deserialize_with = "named_or_null")]
    pub cut: Option<After>,
    /// Nothing more is sent from here on.
    #[serde(deserialize_with = "named_or_null")]
    pub stall: Option<After>,
    /// HTTP headers of the response; only the mock server sends them.
    pub headers: BTreeMap<String, String>,
    /// How often the reply is given; absent means once.
    pub repeat: Option<u64>,
}

impl ReplySpec {
    /// A reply of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A reply of these blocks.
    pub fn blocks(blocks: impl IntoIterator<Item = BlockSpec>) -> Self {
        Self { blocks: blocks.into_iter().collect(), ..Self::default() }
    }

    /// A reply of one call.
    pub fn call(name: impl Into<String>, input: serde_json::Value) -> Self {
        Self::blocks([BlockSpec::call(name, input)])
    }

    /// A failure instead of a reply.
    pub fn error(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let error = ErrorSpec {
            status: Some(status),
            kind: kind.into(),
            message: message.into(),
            retry_after: None,
        };
        Self { error: Some(error), ..Self::default() }
    }

    /// The same reply for this kind of request.
    #[must_use]
    pub fn kept_for(mut self, kind: For) -> Self {
        self.kind = kind;
        self
    }

    /// The same reply with this usage.
    #[must_use]
    pub fn with_usage(mut self, usage: UsageSpec) -> Self {
        self.usage = Some(usage);
        self
    }
}

/// The kind of request a reply is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum For {
    /// The next request in order.
    #[default]
    Next,
    /// A request for a summary of the conversation, whenever it comes.
    Summary,
}

/// Named expressions, each with the value it takes from a request: its first group, or all it
/// matched when it has none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Capture(pub(crate) BTreeMap<String, Pattern>);

/// Tokens a reply reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageSpec {
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

/// A failure. With a `status` it comes instead of the reply, without one after its blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErrorSpec {
    /// The HTTP status; absent for a failure within the stream.
    pub status: Option<u16>,
    /// The provider's word for the failure, such as `overloaded_error`. `network` closes the
    /// connection without an answer.
    #[serde(rename = "type")]
    pub kind: String,
    /// The failure.
    pub message: String,
    /// Seconds the provider asks to wait.
    pub retry_after: Option<u64>,
}

/// The place in a stream where it ends or falls silent. Without a count: after the last block and
/// before the end marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct After {
    /// After this many events.
    pub events: Option<usize>,
    /// After this many bytes of the stream; the scripted provider counts bytes of content.
    pub bytes: Option<usize>,
    /// Whether the connection breaks instead of ending in order; means nothing to `stall`.
    pub hard: bool,
}
