//! One block of an answer while it grows.

use std::sync::Arc;

use heeler_core::{
    Block, ProviderItem, RawJson, RawJsonError, RedactedThinking, Text, Thinking, ToolUse,
    push_text,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::{DIALECT, call_fields};
use super::opaque::GrowingOpaque;
use super::plain::PlainKind;
use super::wire::{Delta, Fields, Str};
use crate::input::{CUT, parse_input};
use crate::json;

/// A block that grows.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) content: Content,
    /// Bytes of its text or input that were handed on.
    pub(super) published_bytes: usize,
}

#[derive(Debug)]
pub(super) enum Content {
    Text(GrowingText),
    Thinking(Thinking),
    Redacted(RedactedThinking),
    Call(GrowingCall),
    Opaque(GrowingOpaque),
}

#[derive(Debug, Default)]
pub(super) struct GrowingText {
    text: String,
    /// Raw JSON, each.
    citations: Vec<String>,
    /// Fields this version does not know: names, and raw JSON.
    others: Vec<(String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct GrowingCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The input the block started with; replaced by the deltas when there are any.
    start_input: Option<String>,
    input: String,
    /// What else was said of it.
    pub(super) fields: call_fields::Fields,
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The provider said so.
    Stopped,
    /// The answer ended before it.
    Cut,
}

impl Growing {
    /// Starts a block from the provider's own form of it.
    pub(super) fn start(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let mut fields: Fields<'_> = serde_json::from_str(raw.get())?;
        // Some servers number their calls.
        let id = fields.get(&Str("id".into())).map(|raw| json::value_in(raw.get()));
        let mut string = |name: &'static str| -> Result<String, serde_json::Error> {
            let value = fields.remove(&Str(name.into()));
            Ok(value
                .map(|raw| serde_json::from_str::<Option<String>>(raw.get()))
                .transpose()?
                .flatten()
                .unwrap_or_default())
        };
        let content = match string("type")?.as_str() {
            "text" => {
                let text = string("text")?;
                Content::Text(GrowingText::start(text, fields))
            }
            "thinking" => Content::Thinking(Thinking {
                text: string("thinking")?,
                signature: string("signature")?,
                raw: None,
            }),
            "redacted_thinking" => Content::Redacted(RedactedThinking { data: string("data")? }),
            "tool_use" => Content::Call(GrowingCall {
                id: id.map(|id| json::text(&id)).unwrap_or_default(),
                name: string("name")?,
                start_input: fields.get(&Str("input".into())).map(|raw| raw.get().to_owned()),
                input: String::new(),
                fields: other_fields(&fields),
            }),
            _ => Content::Opaque(GrowingOpaque::new(raw.get())),
        };
        Ok(Self { content, published_bytes: 0 })
    }

    /// Applies a delta of a known kind. Text that does not fit the block is given back; all else that
    /// does not is ignored, as the provider asks of unknown things.
    pub(super) fn apply<'d>(&mut self, delta: &'d Delta<'_>) -> Option<&'d str> {
        match (&mut self.content, delta) {
            (Content::Text(text), Delta { text: Some(more), .. }) => {
                push_text(&mut text.text, &more.0)
            }
            (Content::Text(text), Delta { citation: Some(citation), .. }) => {
                text.citations.push(citation.get().to_owned());
            }
            (Content::Thinking(thinking), Delta { thinking: Some(more), .. }) => {
                push_text(&mut thinking.text, &more.0);
            }
            (Content::Thinking(thinking), Delta { signature: Some(more), .. }) => {
                thinking.signature.push_str(&more.0);
            }
            (Content::Call(call), Delta { partial_json: Some(more), .. }) => {
                push_text(&mut call.input, &more.0);
            }
            (Content::Opaque(opaque), _) => opaque.apply(delta),
            (_, Delta { text: Some(text), kind, .. }) if kind.0 == "text_delta" => {
                return Some(&text.0);
            }
            _ => {}
        }
        None
    }

    /// Appends text of this kind, if the block is of that kind too.
    pub(super) fn push(&mut self, kind: PlainKind, more: &str) -> bool {
        match (&mut self.content, kind) {
            (Content::Text(text), PlainKind::Text) => push_text(&mut text.text, more),
            (Content::Thinking(thinking), PlainKind::Thinking) => {
                push_text(&mut thinking.text, more)
            }
            _ => return false,
        }
        true
    }

    /// Applies a delta of an unknown kind: only a block that is kept raw can take it.
    pub(super) fn apply_unknown(&mut self, delta: Fields<'_>) {
        if let Content::Opaque(opaque) = &mut self.content {
            opaque.apply_unknown(delta);
        }
    }

    /// The text that grows in public, if the block has such a text.
    pub(super) fn published(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(&text.text),
            Content::Thinking(thinking) => Some(&thinking.text),
            Content::Call(call) => Some(&call.input),
            Content::Redacted(_) | Content::Opaque(_) => None,
        }
    }

    /// Ends the block. Of one that the provider only began to write for itself nothing is left: it
    /// would refuse it.
    pub(super) fn finish(self, end: End) -> Result<Option<Block>, RawJsonError> {
        Ok(Some(match self.content {
            Content::Text(text) => text.finish()?.into(),
            Content::Thinking(thinking) => Block::from(thinking),
            Content::Redacted(redacted) => Block::from(redacted),
            Content::Call(call) => Block::from(call.finish(end)),
            Content::Opaque(_) if end == End::Cut => return Ok(None),
            Content::Opaque(opaque) => Block::Opaque(Arc::new(opaque.finish()?)),
        }))
    }
}

impl GrowingText {
    fn start(text: String, fields: Fields<'_>) -> Self {
        let mut started = Self { text, ..Self::default() };
        for (name, raw) in fields.into_iter().filter(|(_, raw)| raw.get() != "null") {
            if name.0 == "citations" {
                let citations: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                started.citations = citations.iter().map(|raw| raw.get().to_owned()).collect();
            } else {
                started.others.push((name.0.into_owned(), raw.get().to_owned()));
            }
        }
        started
    }

    /// The block; with its own bytes where the canonical form would lose something.
    fn finish(self) -> Result<Text, RawJsonError> {
        let mut raw = None;
        if !self.citations.is_empty() || !self.others.is_empty() {
            let mut json = format!(r#"{{"type":"text","text":{}"#, Value::from(self.text.as_str()));
            if !self.citations.is_empty() {
                json.push_str(&format!(r#","citations":[{}]"#, self.citations.join(",")));
            }
            for (name, value) in &self.others {
                json.push_str(&format!(",{}:{value}", Value::from(name.as_str())));
            }
            json.push('}');
            raw = Some(Box::new(ProviderItem::new(DIALECT, RawJson::parse(&json)?)));
        }
        Ok(Text { text: self.text, cache: None, raw })
    }
}

/// What else was said of a call than has a place in it.
fn other_fields(fields: &Fields<'_>) -> call_fields::Fields {
    let fields = fields.iter().map(|(name, raw)| (name.0.as_ref(), raw.get()));
    let kept = fields.filter(|(name, raw)| call_fields::is_kept(name, raw));
    kept.map(|(name, raw)| (name.to_owned(), raw.to_owned())).collect()
}

impl GrowingCall {
    fn finish(self, end: End) -> ToolUse {
        let Self { id, name, start_input, input, fields: _ } = self;
        let checked = if end == End::Cut {
            Err(CUT.to_owned())
        } else if !input.trim().is_empty() {
            parse_input(&input)
        } else {
            parse_input(start_input.as_deref().unwrap_or("{}"))
        };
        let (input, invalid) = match checked {
            Ok(input) => (input, None),
            Err(reason) => (RawJson::empty_object(), Some(reason)),
        };
        ToolUse { id, name, input, invalid, cache: None }
    }
}
