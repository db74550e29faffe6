//! One item of an answer: while it grows, and as the block it becomes.

use std::sync::Arc;

use heeler_core::{
    Block, Opaque, ProviderItem, RawJson, RawJsonError, Text, Thinking, ToolUse, push_text,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::DIALECT;
use crate::input::{CUT, parse_input};

/// What stands between the parts of a summary.
const PART_BREAK: &str = "\n\n";

/// An item that grows: what is shown of it before it is whole.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) kind: Kind,
    /// What came of its text or input.
    pub(super) text: String,
    /// Bytes of `text` that were handed on.
    pub(super) published_bytes: usize,
    /// Which part of a summary grows.
    summary_index: u32,
    id: String,
    name: String,
    /// It grows, and nobody said that it begins.
    pub(super) is_early: bool,
}

/// What becomes of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Call,
    Opaque,
}

/// What all items have, and what calls have. Items of other kinds have other things under these
/// names: no answer is lost for one.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Growing {
    /// Starts an item from the provider's own form of it.
    pub(super) fn start(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let head: Head<'_> = serde_json::from_str(raw.get())?;
        let (kind, id, name) = (head.kind(), head.id(), text(head.name));
        Ok(Self { id, name, is_early: false, ..Self::early(kind) })
    }

    /// An item that grows before its start was told.
    pub(super) fn early(kind: Kind) -> Self {
        let [text, id, name] = [const { String::new() }; 3];
        Self { kind, text, published_bytes: 0, summary_index: 0, id, name, is_early: true }
    }

    /// Has what came before its start was told.
    pub(super) fn go_on(&mut self, early: &mut Self) {
        if self.kind == early.kind {
            self.text = std::mem::take(&mut early.text);
            self.published_bytes = early.published_bytes;
            self.summary_index = early.summary_index;
        }
    }

    /// The name of the tool that a call calls.
    pub(super) fn called(&self) -> Option<&str> {
        (self.kind == Kind::Call).then_some(&self.name)
    }

    /// Appends to what is shown, if the item is of the kind that grows so.
    pub(super) fn push(&mut self, kind: Kind, more: &str) {
        if self.kind == kind {
            push_text(&mut self.text, more);
        }
    }

    /// As [`Growing::push`], of a summary's part.
    pub(super) fn push_summary(&mut self, index: u32, more: &str) {
        if index != self.summary_index && !self.text.is_empty() {
            self.push(Kind::Thinking, PART_BREAK);
        }
        self.summary_index = index;
        self.push(Kind::Thinking, more);
    }

    /// What is left of an item that the provider never called done. What it only began to write
    /// for itself it could not read again.
    pub(super) fn cut(self) -> Option<Block> {
        let Self { kind, text, id, name, .. } = self;
        Some(match kind {
            Kind::Text => Block::text(text),
            Kind::Thinking => Block::from(Thinking { text, ..Thinking::default() }),
            Kind::Call => Block::from(call(id, name, Err(CUT.to_owned()))),
            Kind::Opaque => return None,
        })
    }
}

impl Head<'_> {
    fn kind(&self) -> Kind {
        match self.kind.as_str() {
            "message" => Kind::Text,
            "reasoning" => Kind::Thinking,
            "function_call" => Kind::Call,
            _ => Kind::Opaque,
        }
    }

    /// What an item is called by; a call, by what its result names.
    fn id(&self) -> String {
        text(self.call_id.or(self.id))
    }
}

/// What a string holds; empty for anything else.
fn text(raw: Option<&RawValue>) -> String {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// As [`Head::id`], where there is one.
pub(super) fn id(raw: &RawValue) -> Option<String> {
    let head: Head<'_> = serde_json::from_str(raw.get()).ok()?;
    Some(head.id()).filter(|id| !id.is_empty())
}

/// The block that a whole item is.
pub(super) fn block(raw: &RawValue) -> Result<Block, BadItem> {
    let head: Head<'_> = serde_json::from_str(raw.get())?;
    Ok(match head.kind() {
        Kind::Text => message(raw)?.into(),
        Kind::Thinking => Block::from(reasoning(raw)?),
        Kind::Call => {
            // A string with JSON in it; some servers send the JSON itself.
            let arguments = match head.arguments.map_or(r#""""#, RawValue::get) {
                quoted if quoted.starts_with('"') => serde_json::from_str(quoted)?,
                json => json.to_owned(),
            };
            let input = match arguments.as_str() {
                _ if text(head.status) == "incomplete" => Err(CUT.to_owned()),
                blank if blank.trim().is_empty() => Ok(RawJson::empty_object()),
                text => parse_input(text),
            };
            Block::from(call(head.id(), text(head.name), input))
        }
        Kind::Opaque => {
            Block::Opaque(Arc::new(Opaque { provider: DIALECT.into(), raw: own(raw)? }))
        }
    })
}

/// Whether a message holds a refusal.
pub(super) fn is_refusal(raw: &RawValue) -> bool {
    let Ok(message) = serde_json::from_str::<Message<'_>>(raw.get()) else { return false };
    Part::all(message.content).iter().any(|part| part.refusal.is_some())
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// A part of a message; one of a kind that is not known has no text.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

impl Part {
    /// A list of parts. Some servers say a text instead, of all or of one.
    fn all(raw: Option<&RawValue>) -> Vec<Self> {
        let Some(raw) = raw else { return Vec::new() };
        match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(parts) => parts.into_iter().map(Self::of).collect(),
            Err(_) => vec![Self::of(raw)],
        }
    }

    fn of(raw: &RawValue) -> Self {
        match serde_json::from_str(raw.get()) {
            Ok(text) => Self { text: Some(text), refusal: None },
            Err(_) => serde_json::from_str(raw.get()).unwrap_or_default(),
        }
    }
}

/// A message of which the text is all there is to keep.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainMessage {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    #[serde(default, rename = "id")]
    _id: IgnoredAny,
    #[serde(default, rename = "status")]
    _status: IgnoredAny,
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
    #[serde(rename = "content")]
    _content: [PlainPart; 1],
    /// `null` is as good as nothing, here and below.
    #[serde(default, rename = "phase")]
    _phase: Option<()>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainPart {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    #[serde(rename = "text")]
    _text: String,
    #[serde(default, rename = "annotations")]
    _annotations: Option<[IgnoredAny; 0]>,
    #[serde(default, rename = "logprobs")]
    _logprobs: Option<[IgnoredAny; 0]>,
}

/// A message's text; with its own bytes where the canonical form would lose something.
fn message(raw: &RawValue) -> Result<Text, BadItem> {
    let message: Message<'_> = serde_json::from_str(raw.get())?;
    let parts = Part::all(message.content);
    // One without parts would be refused, as it was written or not.
    let is_bare = parts.is_empty() || message.content.is_some_and(|raw| raw.get().starts_with('"'));
    let text = parts.into_iter().filter_map(|part| part.text.or(part.refusal)).collect();
    let is_plain = is_bare || serde_json::from_str::<PlainMessage>(raw.get()).is_ok();
    let raw = if is_plain { None } else { Some(Box::new(ProviderItem::new(DIALECT, own(raw)?))) };
    Ok(Text { text, cache: None, raw })
}

#[derive(Deserialize)]
struct Reasoning<'a> {
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
}

/// Reasoning; with its own bytes where the provider can read them again.
fn reasoning(raw: &RawValue) -> Result<Thinking, BadItem> {
    let reasoning: Reasoning<'_> = serde_json::from_str(raw.get())?;
    let texts = |parts: &[Part]| {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
        texts.join(PART_BREAK)
    };
    let summary = texts(&Part::all(reasoning.summary));
    let content = texts(&Part::all(reasoning.content));
    // Nothing is kept there, so an item that is only named would be one the provider does not know.
    let is_readable = !content.is_empty() || !text(reasoning.encrypted_content).is_empty();
    let raw =
        if is_readable { Some(Box::new(ProviderItem::new(DIALECT, own(raw)?))) } else { None };
    let text = if summary.is_empty() { content } else { summary };
    Ok(Thinking { text, signature: String::new(), raw })
}

fn call(id: String, name: String, input: Result<RawJson, String>) -> ToolUse {
    let (input, invalid) = match input {
        Ok(input) => (input, None),
        Err(reason) => (RawJson::empty_object(), Some(reason)),
    };
    ToolUse { id, name, input, invalid, cache: None }
}

fn own(raw: &RawValue) -> Result<RawJson, RawJsonError> {
    RawJson::parse(raw.get())
}

/// Why an item cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadItem {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Raw(#[from] RawJsonError),
}
