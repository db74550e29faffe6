//! One message as bytes. One of ours may be several on the wire: each result is one, and stands
//! before what else was said.

use heeler_core::{Block, CacheMarker, Image, Message, Opaque, Role, Text, ToolResult, ToolUse};

use super::super::Quirks;
use super::super::extras::{CALL_MEMBER, Extras, REASONING_MEMBER};
use super::{call_id, marker};
use crate::json::string;
use crate::placeholder;

/// Between the texts of a person, which are one string on the wire.
const PARAGRAPH: &str = "\n\n";
/// What a result without text says.
const NOTHING: &str = "(no output)";
const IMAGES: &str = "(images, which follow)";
const FAILED: &str = "failed without a message";
/// What tells the model that a call failed: there is no other place for it.
const ERROR: &str = "Error: ";

/// Encodes a message.
pub(super) fn encode(message: &Message, quirks: &Quirks) -> Vec<u8> {
    let mut out = Vec::new();
    match message.role {
        Role::User => user(&mut out, &message.blocks, quirks),
        Role::Assistant => assistant(&mut out, &message.blocks, quirks),
    }
    out
}

fn user(out: &mut Vec<u8>, blocks: &[Block], quirks: &Quirks) {
    let mut parts = Parts::default();
    for block in blocks {
        if let Block::ToolResult(result) = block {
            tool(out, result, quirks);
            parts.images_of(result, quirks);
        }
    }
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        match block {
            Block::Text(text) => parts.text(text),
            Block::Image(image) => parts.image(image),
            Block::Document(opaque) => parts.opaque(opaque, quirks),
            _ => {}
        }
    }
    if out.is_empty() && parts.0.is_empty() {
        let text = placeholder::of(Role::User).into();
        parts.0.push(Part::Text { text, cache: None });
    }
    if quirks.answers_results && !out.is_empty() && !parts.0.is_empty() {
        begin(out, br#"{"role":"assistant","content":"#);
        string(out, placeholder::of(Role::Assistant));
        out.push(b'}');
    }
    parts.write(out, quirks);
}

/// A call's result: text only, so images follow in the next message.
fn tool(out: &mut Vec<u8>, result: &ToolResult, quirks: &Quirks) {
    begin(out, br#"{"role":"tool","tool_call_id":"#);
    string(out, &call_id::id(&result.tool_use_id, quirks.call_ids));
    out.extend_from_slice(br#","content":"#);
    let mut text = result.text_content();
    if text.trim().is_empty() {
        let has_images = result.content.iter().any(|block| matches!(block, Block::Image(_)));
        text = match (result.is_error, has_images) {
            (true, _) => FAILED,
            (false, true) => IMAGES,
            (false, false) => NOTHING,
        }
        .to_owned();
    }
    if result.is_error && !begins_with_error(&text) {
        text.insert_str(0, ERROR);
    }
    let inner = result.content.iter().rev().find_map(|block| match block {
        Block::Text(text) => text.cache,
        _ => None,
    });
    content(out, &text, marker(result.cache.or(inner), quirks));
    out.push(b'}');
}

fn begins_with_error(text: &str) -> bool {
    text.as_bytes().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"error"))
}

/// A text as a string, or as a typed part where it has a marker.
fn content(out: &mut Vec<u8>, text: &str, marker: &[u8]) {
    if marker.is_empty() {
        return string(out, text);
    }
    out.extend_from_slice(br#"[{"type":"text","text":"#);
    string(out, text);
    out.extend_from_slice(marker);
    out.extend_from_slice(b"}]");
}

/// What a person says, apart from results.
#[derive(Default)]
struct Parts<'a>(Vec<Part<'a>>);

enum Part<'a> {
    Text { text: std::borrow::Cow<'a, str>, cache: Option<CacheMarker> },
    Image(&'a Image),
    Raw(&'a str),
}

impl<'a> Parts<'a> {
    fn text(&mut self, text: &'a Text) {
        if !text.text.trim().is_empty() {
            self.0.push(Part::Text { text: text.text.as_str().into(), cache: text.cache });
        }
    }

    fn image(&mut self, image: &'a Image) {
        self.0.push(Part::Image(image));
    }

    /// A part in the server's own form; another one's means nothing to it.
    fn opaque(&mut self, opaque: &'a Opaque, quirks: &Quirks) {
        if opaque.provider == quirks.dialect && opaque.raw.is_object() {
            self.0.push(Part::Raw(opaque.raw.get()));
        }
    }

    /// The images of a result, and which call they are of.
    fn images_of(&mut self, result: &'a ToolResult, quirks: &Quirks) {
        let images = result.content.iter().filter_map(|block| match block {
            Block::Image(image) => Some(image),
            _ => None,
        });
        for (index, image) in images.enumerate() {
            if index == 0 {
                let id = call_id::id(&result.tool_use_id, quirks.call_ids);
                let text = format!("Images of the result of call {id}:").into();
                self.0.push(Part::Text { text, cache: None });
            }
            self.image(image);
        }
    }

    fn write(&self, out: &mut Vec<u8>, quirks: &Quirks) {
        if self.0.is_empty() {
            return;
        }
        begin(out, br#"{"role":"user","content":"#);
        match self.plain_text(quirks) {
            Some(text) => string(out, &text),
            None => self.typed(out, quirks),
        }
        out.push(b'}');
    }

    /// The text, when there is nothing else and no part has a marker to send.
    fn plain_text(&self, quirks: &Quirks) -> Option<String> {
        let texts = self.0.iter().map(|part| match part {
            Part::Text { text, cache } if marker(*cache, quirks).is_empty() => Some(&**text),
            _ => None,
        });
        Some(texts.collect::<Option<Vec<_>>>()?.join(PARAGRAPH))
    }

    fn typed(&self, out: &mut Vec<u8>, quirks: &Quirks) {
        for (index, part) in self.0.iter().enumerate() {
            out.push(if index == 0 { b'[' } else { b',' });
            match part {
                Part::Text { text, cache } => {
                    out.extend_from_slice(br#"{"type":"text","text":"#);
                    string(out, text);
                    out.extend_from_slice(marker(*cache, quirks));
                    out.push(b'}');
                }
                Part::Image(image) => self::image(out, image, quirks),
                Part::Raw(raw) => out.extend_from_slice(raw.as_bytes()),
            }
        }
        out.push(b']');
    }
}

fn image(out: &mut Vec<u8>, image: &Image, quirks: &Quirks) {
    out.extend_from_slice(br#"{"type":"image_url","image_url":{"url":"#);
    if image.media_type.is_empty() {
        string(out, &image.data);
    } else {
        string(out, &format!("data:{};base64,{}", image.media_type, image.data));
    }
    out.push(b'}');
    out.extend_from_slice(marker(image.cache, quirks));
    out.push(b'}');
}

/// What the model said. Another provider's reasoning and items mean nothing here.
fn assistant(out: &mut Vec<u8>, blocks: &[Block], quirks: &Quirks) {
    let texts = || {
        blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        })
    };
    let mut text: String = texts().map(|text| text.text.as_str()).collect();
    let cache = texts().filter_map(|text| text.cache).next_back();
    let has_calls = blocks.iter().any(|block| block.as_tool_use().is_some());
    let extras = extras(blocks, quirks);
    // Those who take reasoning back refuse a message that has nothing beside it, in whatever member.
    if text.trim().is_empty() && !has_calls {
        placeholder::of(Role::Assistant).clone_into(&mut text);
    }
    begin(out, br#"{"role":"assistant","content":"#);
    match (text.trim().is_empty(), has_calls) {
        (true, true) => out.extend_from_slice(b"null"),
        _ => content(out, &text, marker(cache, quirks)),
    }
    extras.write_members(out);
    if quirks.reasoning_back && !extras.has(REASONING_MEMBER) {
        out.extend_from_slice(br#","reasoning_content":"""#);
    }
    let is_signed = || blocks.iter().any(|block| !call_extras(block, quirks).is_empty());
    let mut unsigned = quirks.unsigned_call.as_ref().filter(|_| has_calls && !is_signed());
    let mut separator: &[u8] = br#","tool_calls":["#;
    for (index, block) in blocks.iter().enumerate() {
        if let Block::ToolUse(call) = block {
            out.extend_from_slice(separator);
            let behind = blocks.get(index + 1);
            let mut extras = behind.map(|next| call_extras(next, quirks)).unwrap_or_default();
            if let Some(members) = unsigned.take() {
                extras.extend(members.get(), |_| true);
            }
            self::call(out, call, &extras, quirks);
            separator = b",";
        }
    }
    out.extend_from_slice(if has_calls { b"]}" } else { b"}" });
}

/// The members that go back with the message, of all its items of this dialect.
fn extras(blocks: &[Block], quirks: &Quirks) -> Extras {
    let is_back = |member: &str| match member {
        REASONING_MEMBER => quirks.reasoning_back,
        member => quirks.members_back.iter().any(|back| back == member),
    };
    let mut all = Extras::default();
    for block in blocks {
        let (provider, raw) = match block {
            Block::Opaque(opaque) => (&opaque.provider, &opaque.raw),
            Block::Thinking(thinking) if let Some(item) = &thinking.raw => {
                (&item.provider, &item.json)
            }
            _ => continue,
        };
        if provider == quirks.dialect {
            all.extend(raw.get(), is_back);
        }
    }
    all
}

/// What the server added to a call and gets back with it: it stands in the block behind the call.
fn call_extras(block: &Block, quirks: &Quirks) -> Extras {
    let mut extras = Extras::default();
    if let Block::Opaque(opaque) = block
        && opaque.provider == quirks.dialect
        && let Some(raw) = Extras::member_of(opaque.raw.get(), CALL_MEMBER)
    {
        extras.extend(&raw, |member| quirks.call_members_back.iter().any(|back| back == member));
    }
    extras
}

fn call(out: &mut Vec<u8>, call: &ToolUse, extras: &Extras, quirks: &Quirks) {
    out.extend_from_slice(br#"{"id":"#);
    string(out, &call_id::id(&call.id, quirks.call_ids));
    out.extend_from_slice(br#","type":"function","function":{"name":"#);
    string(out, &call_id::name(&call.name));
    out.extend_from_slice(br#","arguments":"#);
    let usable = call.invalid.is_none() && call.input.is_object();
    string(out, if usable { call.input.get() } else { "{}" });
    out.push(b'}');
    extras.write_members(out);
    out.push(b'}');
}

/// Begins a message, with the comma after the one before it.
fn begin(out: &mut Vec<u8>, start: &[u8]) {
    if !out.is_empty() {
        out.push(b',');
    }
    out.extend_from_slice(start);
}
