//! One message as bytes: encoded once, with a slot for a cache marker.

use heeler_core::{
    Block, CacheMarker, Image, Message, Opaque, RawJson, Role, Text, ToolResult, ToolUse,
};

use super::super::DIALECT;
use super::json::{marker_text, string};

/// What tool names and call ids may consist of, besides letters and digits.
const NAME_PUNCTUATION: [u8; 2] = [b'_', b'-'];
/// The longest tool name the provider takes.
const NAME_CHARS_MAX: usize = 128;

/// Whether the markers a user set on blocks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnMarkers {
    Written,
    LeftOut,
}

/// Encodes a message, and says where a marker for its last block belongs. A message of which
/// nothing may be sent has no bytes.
pub(super) fn encode(message: &Message, own_markers: OwnMarkers) -> (Vec<u8>, Option<usize>) {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut out = format!(r#"{{"role":"{role}","content":["#).into_bytes();
    let slot = blocks(&mut out, &message.blocks, own_markers);
    match slot {
        Slot::Nothing => (Vec::new(), None),
        Slot::Open(at) => {
            out.extend_from_slice(b"]}");
            (out, Some(at))
        }
        Slot::Taken => {
            out.extend_from_slice(b"]}");
            (out, None)
        }
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

/// Writes blocks with commas between; the slot is the last one's.
fn blocks(out: &mut Vec<u8>, blocks: &[Block], own_markers: OwnMarkers) -> Slot {
    let mut last = Slot::Nothing;
    for block in blocks {
        let before = out.len();
        if !matches!(last, Slot::Nothing) {
            out.push(b',');
        }
        match self::block(out, block, own_markers) {
            Slot::Nothing => out.truncate(before),
            slot => last = slot,
        }
    }
    last
}

fn block(out: &mut Vec<u8>, block: &Block, own_markers: OwnMarkers) -> Slot {
    let own = |marker: Option<CacheMarker>| match own_markers {
        OwnMarkers::Written => marker,
        OwnMarkers::LeftOut => None,
    };
    match block {
        _ if block.is_empty() => Slot::Nothing,
        Block::Text(text) => self::text(out, text, own(text.cache)),
        Block::Thinking(thinking) => {
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
        Block::Image(image) => self::image(out, image, own(image.cache)),
        Block::Document(opaque) => self::opaque(out, opaque, true),
        // Which of the provider's own blocks take a marker differs; none needs one.
        Block::Opaque(opaque) => self::opaque(out, opaque, false),
        Block::ToolUse(call) => tool_use(out, call, own(call.cache)),
        Block::ToolResult(result) => tool_result(out, result, own(result.cache), own_markers),
    }
}

fn text(out: &mut Vec<u8>, text: &Text, marker: Option<CacheMarker>) -> Slot {
    match &text.raw {
        Some(raw) if raw.provider == DIALECT => {
            return raw_object(out, &raw.json, true, marker);
        }
        _ if text.text.is_empty() => return Slot::Nothing,
        _ => {}
    }
    out.extend_from_slice(br#"{"type":"text","text":"#);
    string(out, &text.text);
    close(out, marker)
}

fn image(out: &mut Vec<u8>, image: &Image, marker: Option<CacheMarker>) -> Slot {
    if image.media_type.is_empty() {
        out.extend_from_slice(br#"{"type":"image","source":{"type":"url","url":"#);
    } else {
        out.extend_from_slice(br#"{"type":"image","source":{"type":"base64","media_type":"#);
        string(out, &image.media_type);
        out.extend_from_slice(br#","data":"#);
    }
    string(out, &image.data);
    out.push(b'}');
    close(out, marker)
}

fn tool_use(out: &mut Vec<u8>, call: &ToolUse, marker: Option<CacheMarker>) -> Slot {
    out.extend_from_slice(br#"{"type":"tool_use","id":"#);
    string(out, &id(&call.id));
    out.extend_from_slice(br#","name":"#);
    let name: String = id(&call.name).chars().take(NAME_CHARS_MAX).collect();
    string(out, &name);
    out.extend_from_slice(br#","input":"#);
    let usable = call.invalid.is_none() && call.input.is_object();
    out.extend_from_slice(if usable { call.input.get().as_bytes() } else { b"{}" });
    close(out, marker)
}

fn tool_result(
    out: &mut Vec<u8>,
    result: &ToolResult,
    marker: Option<CacheMarker>,
    own_markers: OwnMarkers,
) -> Slot {
    out.extend_from_slice(br#"{"type":"tool_result","tool_use_id":"#);
    string(out, &id(&result.tool_use_id));
    if result.is_error {
        out.extend_from_slice(br#","is_error":true"#);
    }
    let before = out.len();
    out.extend_from_slice(br#","content":["#);
    match blocks(out, &result.content, own_markers) {
        Slot::Nothing => {
            out.truncate(before);
            // An error without content is refused.
            if result.is_error {
                out.extend_from_slice(br#","content":"failed without a message""#);
            }
        }
        _ => out.push(b']'),
    }
    close(out, marker)
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
    #[derive(serde::Deserialize)]
    struct Peek {
        #[serde(rename = "type")]
        _kind: serde::de::IgnoredAny,
        #[serde(default)]
        cache_control: Option<serde::de::IgnoredAny>,
    }
    let Ok(peek) = serde_json::from_str::<Peek>(raw.get()) else { return Slot::Nothing };
    out.extend_from_slice(raw.get().as_bytes());
    if !markable || peek.cache_control.is_some() {
        return Slot::Taken;
    }
    out.pop();
    close(out, marker)
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

/// An id or name in the characters the provider takes: a call from elsewhere may have others.
fn id(text: &str) -> std::borrow::Cow<'_, str> {
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
