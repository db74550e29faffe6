//! One message as bytes: encoded once, with a slot for a cache marker.

use std::borrow::Cow;

use heeler_core::{
    Block, CacheMarker, Image, Message, Opaque, RawJson, Role, Text, ToolResult, ToolUse,
};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::super::{DIALECT, call_fields};
use super::json::{marker_text, raw_marker};
use crate::call_digest::digest;
use crate::json::string;
use crate::placeholder;

/// What tool names and call ids may consist of, besides letters and digits.
const NAME_PUNCTUATION: [u8; 2] = [b'_', b'-'];
/// The longest tool name the provider takes.
const NAME_CHARS_MAX: usize = 128;
/// Stands in a failed result that has no text, where what it has follows.
const FOLLOWS: &str = "failed; what it gave follows the results";

/// Encodes a message, and says where a marker for its last block belongs.
pub(super) fn encode(message: &Message) -> (Vec<u8>, Option<usize>) {
    written(message.role, &apart(message))
        .or_else(|| written(message.role, &[Block::text(placeholder::of(message.role))]))
        .unwrap_or_default()
}

/// Encodes a message that an answer may go on with: nothing, if the provider takes nothing of it. A
/// placeholder would be what the answer begins with, which not every model lets others write.
pub(super) fn encode_unfinished(message: &Message) -> (Vec<u8>, Option<usize>) {
    match message.role {
        Role::User => encode(message),
        Role::Assistant => written(message.role, &message.blocks).unwrap_or_default(),
    }
}

/// The message of these blocks, if any of them is written.
fn written(role: Role, blocks: &[Block]) -> Option<(Vec<u8>, Option<usize>)> {
    let role = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut out = format!(r#"{{"role":"{role}","content":["#).into_bytes();
    let marker_at = match self::blocks(&mut out, blocks) {
        Slot::Nothing => return None,
        Slot::Open(at) => Some(at),
        Slot::Taken => None,
    };
    out.extend_from_slice(b"]}");
    Some((out, marker_at))
}

/// Whether thinking is the first of what is written.
pub(super) fn begins_with_thinking(message: &Message) -> bool {
    let is_written =
        |block: &&Block| !matches!(self::block(&mut Vec::new(), block, None), Slot::Nothing);
    let first = message.blocks.iter().find(is_written);
    matches!(first, Some(Block::Thinking(_) | Block::RedactedThinking(_)))
}

/// The markers that a message is written with, in order.
pub(super) fn markers(message: &Message, found: &mut impl FnMut(CacheMarker)) {
    block_markers(&apart(message), found);
}

/// The blocks as they are sent. Of a failed result the provider takes nothing but text: its images
/// and documents follow the last result, since none may stand between results.
fn apart(message: &Message) -> Cow<'_, [Block]> {
    let blocks = &message.blocks[..];
    let is_mixed = |block: &Block| match block {
        Block::ToolResult(result) => {
            result.is_error && result.content.iter().any(|part| part.as_text().is_none())
        }
        _ => false,
    };
    if message.role != Role::User || !blocks.iter().any(is_mixed) {
        return Cow::Borrowed(blocks);
    }
    let last = blocks.iter().rposition(|block| matches!(block, Block::ToolResult(_)));
    let (mut sent, mut moved) = (Vec::new(), Vec::new());
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::ToolResult(result) if is_mixed(block) => {
                let (mut texts, others): (Vec<Block>, Vec<Block>) =
                    result.content.iter().cloned().partition(|part| part.as_text().is_some());
                let before = moved.len();
                moved.extend(others.into_iter().filter(is_item));
                if moved.len() > before && texts.iter().all(Block::is_empty) {
                    texts.push(Block::text(FOLLOWS));
                }
                sent.push(ToolResult { content: texts, ..ToolResult::clone(result) }.into());
            }
            _ => sent.push(block.clone()),
        }
        if Some(at) == last {
            sent.append(&mut moved);
        }
    }
    Cow::Owned(sent)
}

/// Whether a user's message may hold the block, too.
fn is_item(block: &Block) -> bool {
    match block {
        Block::Image(_) => true,
        Block::Document(document) => document.provider == DIALECT,
        _ => false,
    }
}

fn block_markers(blocks: &[Block], found: &mut impl FnMut(CacheMarker)) {
    let of_raw = |provider: &str, raw: &RawJson| match provider == DIALECT {
        true => Peek::at(raw).and_then(|peek| peek.marker()),
        false => None,
    };
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let marker = match block {
            Block::Text(text) => match &text.raw {
                Some(raw) if raw.provider == DIALECT => of_raw(DIALECT, &raw.json).or(text.cache),
                _ => text.cache.filter(|_| !text.text.is_empty()),
            },
            Block::Image(image) => image.cache,
            Block::ToolUse(call) => call.cache,
            Block::ToolResult(result) => {
                block_markers(&result.content, found);
                result.cache
            }
            Block::Document(item) | Block::Opaque(item) => of_raw(&item.provider, &item.raw),
            Block::Thinking(_) | Block::RedactedThinking(_) => None,
        };
        marker.into_iter().for_each(&mut *found);
    }
}

/// What follows a block for a marker.
enum Slot {
    /// No block was written.
    Nothing,
    /// A marker may be inserted at this offset.
    Open(usize),
    /// The block has a marker or cannot carry one.
    Taken,
}

/// Writes blocks with commas between; the slot is the last one's. The provider refuses thinking that
/// nothing follows, as an answer that was cut may leave it.
fn blocks(out: &mut Vec<u8>, blocks: &[Block]) -> Slot {
    let (mut last, start) = (Slot::Nothing, out.len());
    let mut followed_bytes = start;
    for (index, block) in blocks.iter().enumerate() {
        let before = out.len();
        if before > start {
            out.push(b',');
        }
        match self::block(out, block, blocks.get(index + 1)) {
            Slot::Nothing => out.truncate(before),
            _ if matches!(block, Block::Thinking(_) | Block::RedactedThinking(_)) => {}
            slot => (last, followed_bytes) = (slot, out.len()),
        }
    }
    out.truncate(followed_bytes);
    last
}

fn block(out: &mut Vec<u8>, block: &Block, behind: Option<&Block>) -> Slot {
    match block {
        _ if block.is_empty() => Slot::Nothing,
        Block::Text(text) => self::text(out, text),
        Block::Thinking(thinking) => {
            if let Some(raw) = &thinking.raw {
                if raw.provider != DIALECT {
                    return Slot::Nothing;
                }
                return raw_object(out, &raw.json, false, None);
            }
            out.extend_from_slice(br#"{"type":"thinking","thinking":"#);
            string(out, &thinking.text);
            out.extend_from_slice(br#","signature":"#);
            string(out, &thinking.signature);
            out.push(b'}');
            Slot::Taken
        }
        Block::RedactedThinking(redacted) => {
            out.extend_from_slice(br#"{"type":"redacted_thinking","data":"#);
            string(out, &redacted.data);
            out.push(b'}');
            Slot::Taken
        }
        Block::Image(image) => self::image(out, image),
        Block::Document(opaque) => self::opaque(out, opaque, true),
        // Which of the provider's own blocks take a marker differs; none needs one.
        Block::Opaque(opaque) => self::opaque(out, opaque, false),
        Block::ToolUse(call) => tool_use(out, call, behind),
        Block::ToolResult(result) => tool_result(out, result),
    }
}

fn text(out: &mut Vec<u8>, text: &Text) -> Slot {
    match &text.raw {
        Some(raw) if raw.provider == DIALECT => {
            return raw_object(out, &raw.json, true, text.cache);
        }
        _ if text.text.is_empty() => return Slot::Nothing,
        _ => {}
    }
    out.extend_from_slice(br#"{"type":"text","text":"#);
    string(out, &text.text);
    close(out, text.cache)
}

fn image(out: &mut Vec<u8>, image: &Image) -> Slot {
    if image.media_type.is_empty() {
        out.extend_from_slice(br#"{"type":"image","source":{"type":"url","url":"#);
    } else {
        out.extend_from_slice(br#"{"type":"image","source":{"type":"base64","media_type":"#);
        string(out, &image.media_type);
        out.extend_from_slice(br#","data":"#);
    }
    string(out, &image.data);
    out.push(b'}');
    close(out, image.cache)
}

fn tool_use(out: &mut Vec<u8>, call: &ToolUse, behind: Option<&Block>) -> Slot {
    out.extend_from_slice(br#"{"type":"tool_use","id":"#);
    string(out, &id(&call.id));
    out.extend_from_slice(br#","name":"#);
    let name: String = name(&call.name).chars().take(NAME_CHARS_MAX).collect();
    string(out, &name);
    out.extend_from_slice(br#","input":"#);
    let usable = call.invalid.is_none() && call.input.is_object();
    out.extend_from_slice(if usable { call.input.get().as_bytes() } else { b"{}" });
    call_fields::write(out, behind);
    close(out, call.cache)
}

fn tool_result(out: &mut Vec<u8>, result: &ToolResult) -> Slot {
    out.extend_from_slice(br#"{"type":"tool_result","tool_use_id":"#);
    string(out, &id(&result.tool_use_id));
    if result.is_error {
        out.extend_from_slice(br#","is_error":true"#);
    }
    let before = out.len();
    out.extend_from_slice(br#","content":["#);
    match blocks(out, &result.content) {
        Slot::Nothing => {
            out.truncate(before);
            // An error without content is refused.
            if result.is_error {
                out.extend_from_slice(br#","content":"failed without a message""#);
            }
        }
        _ => out.push(b']'),
    }
    close(out, result.cache)
}

/// Another provider's blocks mean nothing here and are left out.
fn opaque(out: &mut Vec<u8>, opaque: &Opaque, markable: bool) -> Slot {
    if opaque.provider == DIALECT {
        raw_object(out, &opaque.raw, markable, None)
    } else {
        Slot::Nothing
    }
}

/// Writes a block as the provider wrote it.
fn raw_object(
    out: &mut Vec<u8>,
    raw: &RawJson,
    markable: bool,
    marker: Option<CacheMarker>,
) -> Slot {
    let Some(peek) = Peek::at(raw) else { return Slot::Nothing };
    out.extend_from_slice(raw.get().as_bytes());
    if !markable || peek.cache_control.is_some() {
        return Slot::Taken;
    }
    out.pop();
    close(out, marker)
}

/// What has to be known of a block in the provider's own form.
#[derive(Deserialize)]
struct Peek {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    /// `null` too: a second member of this name would be refused.
    #[serde(default, deserialize_with = "present")]
    cache_control: Option<Value>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Peek {
    /// `None` for what is no block.
    fn at(raw: &RawJson) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    fn marker(&self) -> Option<CacheMarker> {
        self.cache_control.as_ref().and_then(raw_marker)
    }
}

/// Ends a block that can carry a marker.
fn close(out: &mut Vec<u8>, marker: Option<CacheMarker>) -> Slot {
    let at = out.len();
    if let Some(marker) = marker {
        out.extend_from_slice(marker_text(marker));
    }
    out.push(b'}');
    if marker.is_some() { Slot::Taken } else { Slot::Open(at) }
}

/// An id in the characters the provider takes: a call from elsewhere may have others. Two that
/// differ stay two.
fn id(text: &str) -> Cow<'_, str> {
    let fitting = name(text);
    match fitting == text {
        true => fitting,
        false => format!("{fitting}_{}", digest(text)).into(),
    }
}

/// A name in the characters the provider takes.
fn name(text: &str) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || NAME_PUNCTUATION.contains(&byte);
    if text.is_empty() {
        "_".into()
    } else if text.bytes().all(fits) {
        text.into()
    } else {
        let fit = |c: char| if c.is_ascii() && fits(c as u8) { c } else { '_' };
        text.chars().map(fit).collect::<String>().into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_that_do_not_fit_stay_apart() {
        for text in ["toolu_01-A", "call_1"] {
            assert_eq!(id(text), text);
        }
        let others = ["a.b", "a:b", "a_b", "é", "ü", "", "_", "functions.Bash:0"];
        let made: BTreeSet<Cow<'_, str>> = others.map(id).into();
        assert_eq!(made.len(), others.len(), "{made:?}");
        assert!(made.iter().all(|made| name(made) == *made), "{made:?}");
        assert_eq!(id("a.b"), id("a.b"));
        assert_eq!(name("a.b"), "a_b");
    }
}
