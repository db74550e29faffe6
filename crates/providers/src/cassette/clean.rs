//! Takes secrets out of requests and answers, before they are written or compared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use heeler_core::{
    Block, Image, Message, ModelEvent, Opaque, RawJson, Reply, Text, Thinking, ToolResult, ToolUse,
};
use heeler_secrets::Secrets;
use serde_json::Value;

use super::ExchangeEnd;

pub(super) fn message(message: &Message, secrets: &Secrets) -> Message {
    Message { role: message.role, blocks: blocks(&message.blocks, secrets) }
}

/// A JSON document without secrets; one without any stays as its bytes are.
pub(super) fn json(raw: &RawJson, secrets: &Secrets) -> RawJson {
    // A secret with characters that JSON escapes is seen in a text only.
    let cleaned = raw.to_value().ok().and_then(|mut value| {
        clean_value(&mut value, secrets).then(|| RawJson::from_value(&value))
    });
    let cleaned = cleaned.unwrap_or_else(|| raw.clone());
    // The names of fields, numbers, and a document that no value can hold.
    match secrets.redact(cleaned.get()) {
        Cow::Borrowed(_) => cleaned,
        Cow::Owned(clean) => RawJson::parse(&clean).unwrap_or_else(|_| RawJson::empty_object()),
    }
}

/// An answer without secrets.
///
/// One may lie across several pieces of a streamed block. Such a block is told in one piece, where
/// its first one was; all others stay as they came.
pub(super) fn answer(
    events: Vec<ModelEvent>,
    end: ExchangeEnd,
    secrets: &Secrets,
) -> (Vec<ModelEvent>, ExchangeEnd) {
    let mut streamed: BTreeMap<(u32, Piece), String> = BTreeMap::new();
    for event in &events {
        if let Some((block, piece, text)) = piece(event) {
            streamed.entry((block, piece)).or_default().push_str(text);
        }
    }
    streamed.retain(|(_, piece), text| match clean_piece(*piece, text, secrets) {
        Some(clean) => {
            *text = clean;
            true
        }
        None => false,
    });
    let mut told = Vec::new();
    let event = |event: ModelEvent| {
        let key = piece(&event).map(|(block, piece, _)| (block, piece));
        match key.and_then(|key| Some((key, streamed.get(&key)?))) {
            Some((key, _)) if told.contains(&key) => None,
            Some((key, clean)) => {
                told.push(key);
                Some(with_text(event, clean.clone()))
            }
            None => Some(whole(event, secrets)),
        }
    };
    let events = events.into_iter().filter_map(event).collect();
    let end = match end {
        ExchangeEnd::Finished(said) => ExchangeEnd::Finished(Box::new(reply(*said, secrets))),
        ExchangeEnd::Failed(mut error) => {
            error.message = text(&error.message, secrets);
            ExchangeEnd::Failed(error)
        }
        ExchangeEnd::Cut => ExchangeEnd::Cut,
    };
    (events, end)
}

/// What a piece is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Text,
    Thinking,
    Input,
}

fn piece(event: &ModelEvent) -> Option<(u32, Piece, &str)> {
    match event {
        ModelEvent::TextDelta { block, text } => Some((*block, Piece::Text, text)),
        ModelEvent::ThinkingDelta { block, text } => Some((*block, Piece::Thinking, text)),
        ModelEvent::ToolInputDelta { block, text } => Some((*block, Piece::Input, text)),
        _ => None,
    }
}

/// What is streamed without its secrets, when it has any.
fn clean_piece(piece: Piece, text: &str, secrets: &Secrets) -> Option<String> {
    if let Some(raw) = (piece == Piece::Input).then(|| RawJson::parse(text).ok()).flatten() {
        let clean = json(&raw, secrets);
        return (clean != raw).then(|| clean.get().to_owned());
    }
    match secrets.redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(clean),
    }
}

fn with_text(event: ModelEvent, text: String) -> ModelEvent {
    match event {
        ModelEvent::TextDelta { block, .. } => ModelEvent::TextDelta { block, text },
        ModelEvent::ThinkingDelta { block, .. } => ModelEvent::ThinkingDelta { block, text },
        ModelEvent::ToolInputDelta { block, .. } => ModelEvent::ToolInputDelta { block, text },
        other => other,
    }
}

fn whole(event: ModelEvent, secrets: &Secrets) -> ModelEvent {
    match event {
        ModelEvent::BlockFinished { block, content } => {
            ModelEvent::BlockFinished { block, content: clean_block(&content, secrets) }
        }
        ModelEvent::Finished(said) => ModelEvent::Finished(reply(said, secrets)),
        other => other,
    }
}

fn reply(mut said: Reply, secrets: &Secrets) -> Reply {
    said.blocks = blocks(&said.blocks, secrets);
    said
}

fn blocks(blocks: &[Block], secrets: &Secrets) -> Vec<Block> {
    blocks.iter().map(|block| clean_block(block, secrets)).collect()
}

fn clean_block(block: &Block, secrets: &Secrets) -> Block {
    match block {
        Block::Text(said) => {
            let mut raw = said.raw.clone();
            if let Some(raw) = &mut raw {
                raw.json = json(&raw.json, secrets);
            }
            Text { text: text(&said.text, secrets), cache: said.cache, raw }.into()
        }
        Block::Thinking(thinking) => {
            let mut thinking = Thinking::clone(thinking);
            thinking.text = text(&thinking.text, secrets);
            if let Some(raw) = &mut thinking.raw {
                raw.json = json(&raw.json, secrets);
            }
            Block::from(thinking)
        }
        Block::Image(image) => {
            let mut image = Image::clone(image);
            // An address may hold a key; base64 that looks like one is none.
            if image.media_type.is_empty() {
                image.data = text(&image.data, secrets);
            }
            Block::from(image)
        }
        Block::ToolUse(call) => Block::from(ToolUse {
            input: json(&call.input, secrets),
            invalid: call.invalid.as_deref().map(|why| text(why, secrets)),
            ..ToolUse::clone(call)
        }),
        Block::ToolResult(result) => Block::from(ToolResult {
            content: blocks(&result.content, secrets),
            ..ToolResult::clone(result)
        }),
        Block::Document(item) => {
            let mut item = Opaque::clone(item);
            item.raw = json(&item.raw, secrets);
            Block::Document(Arc::new(item))
        }
        Block::Opaque(item) => {
            let mut item = Opaque::clone(item);
            item.raw = json(&item.raw, secrets);
            Block::Opaque(Arc::new(item))
        }
        Block::RedactedThinking(hidden) => Block::RedactedThinking(hidden.clone()),
    }
}

pub(super) fn text(text: &str, secrets: &Secrets) -> String {
    secrets.redact(text).into_owned()
}

/// Cleans all texts of a value; whether there was anything to clean.
fn clean_value(value: &mut Value, secrets: &Secrets) -> bool {
    match value {
        Value::String(text) => match secrets.redact(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        },
        Value::Array(items) => clean_all(items.iter_mut(), secrets),
        Value::Object(fields) => clean_all(fields.values_mut(), secrets),
        _ => false,
    }
}

fn clean_all<'a>(values: impl Iterator<Item = &'a mut Value>, secrets: &Secrets) -> bool {
    let mut any = false;
    for value in values {
        any |= clean_value(value, secrets);
    }
    any
}
