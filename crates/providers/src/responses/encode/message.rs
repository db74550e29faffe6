//! One message as input items: calls and results stand beside messages, not in them.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use heeler_core::{Block, Image, Message, RawJson, Role, Text, ToolResult, ToolUse};
use serde::Deserialize;

use super::super::DIALECT;
use super::Reasoning;
use crate::json::string;
use crate::placeholder;

/// The longest tool name the provider takes.
const NAME_CHARS_MAX: usize = 128;
/// The longest call id the provider takes.
const CALL_ID_BYTES_MAX: usize = 64;
/// What raw parts of a message begin their type with; all else that is raw is an item.
const PART: &str = "input_";
/// Calls that somebody here would have to run and nobody does: the provider refuses one for ever
/// whose output does not follow.
const UNANSWERED: [&str; 4] =
    ["custom_tool_call", "local_shell_call", "apply_patch_call", "computer_call"];

/// Encodes a message as items with commas between.
///
/// The provider refuses reasoning that nothing follows, as an answer that was cut may leave it.
pub(super) fn encode(message: &Message, reasoning: Reasoning) -> Vec<u8> {
    let mut items = Items { role: message.role, out: Vec::new(), message_is_open: false };
    let mut followed_bytes = 0;
    let is_sent = |block: &&Block| {
        let is_left_out = reasoning == Reasoning::LeftOut && matches!(block, Block::Thinking(_));
        !is_left_out && !block.is_empty()
    };
    for block in message.blocks.iter().filter(is_sent) {
        let before = items.out.len();
        items.block(block);
        if items.out.len() > before && !matches!(block, Block::Thinking(_)) {
            followed_bytes = items.out.len();
        }
    }
    items.out.truncate(followed_bytes);
    if followed_bytes == 0 {
        items.block(&Block::text(placeholder::of(message.role)));
    }
    items.close_message();
    items.out
}

/// Input items so far.
struct Items {
    role: Role,
    out: Vec<u8>,
    /// The last item is a user's message that takes more parts.
    message_is_open: bool,
}

impl Items {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.text(text),
            Block::Thinking(thinking)
                if self.role == Role::Assistant
                    && let Some(raw) = &thinking.raw =>
            {
                self.raw(&raw.provider, &raw.json);
            }
            // Reasoning of another provider means nothing here.
            Block::Thinking(_) | Block::RedactedThinking(_) => {}
            Block::Image(picture) if self.role == Role::User => image(self.part(), picture),
            // No item of the model's own has a place for a picture.
            Block::Image(_) => {}
            Block::Document(item) | Block::Opaque(item) => self.raw(&item.provider, &item.raw),
            Block::ToolUse(call) => function_call(self.item(), call),
            Block::ToolResult(result) => function_call_output(self.item(), result),
        }
    }

    fn text(&mut self, text: &Text) {
        match &text.raw {
            Some(raw) if raw.provider == DIALECT => self.raw(DIALECT, &raw.json),
            _ if text.text.is_empty() => {}
            _ if self.role == Role::User => input_text(self.part(), &text.text),
            _ => {
                let out = self.item();
                out.extend_from_slice(br#"{"type":"message","role":"assistant","content":"#);
                string(out, &text.text);
                out.push(b'}');
            }
        }
    }

    /// Adds what the provider wrote, as it wrote it. Another provider's items mean nothing here, and
    /// calls that nobody answers are left out.
    fn raw(&mut self, provider: &str, raw: &RawJson) {
        #[derive(Deserialize)]
        struct Peek<'a> {
            #[serde(borrow, rename = "type")]
            kind: Cow<'a, str>,
        }
        if provider != DIALECT {
            return;
        }
        let Ok(Peek { kind }) = serde_json::from_str(raw.get()) else { return };
        if UNANSWERED.contains(&&*kind) {
            return;
        }
        let out = match (kind.starts_with(PART), self.role) {
            (false, _) => self.item(),
            (true, Role::User) => self.part(),
            (true, Role::Assistant) => return,
        };
        out.extend_from_slice(raw.get().as_bytes());
    }

    /// Where the next item is written.
    fn item(&mut self) -> &mut Vec<u8> {
        self.close_message();
        if !self.out.is_empty() {
            self.out.push(b',');
        }
        &mut self.out
    }

    /// Where the next part of a user's message is written.
    fn part(&mut self) -> &mut Vec<u8> {
        if self.message_is_open {
            self.out.push(b',');
        } else {
            self.item().extend_from_slice(br#"{"type":"message","role":"user","content":["#);
            self.message_is_open = true;
        }
        &mut self.out
    }

    fn close_message(&mut self) {
        if std::mem::take(&mut self.message_is_open) {
            self.out.extend_from_slice(b"]}");
        }
    }
}

fn input_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"type":"input_text","text":"#);
    string(out, text);
    out.push(b'}');
}

fn image(out: &mut Vec<u8>, image: &Image) {
    out.extend_from_slice(br#"{"type":"input_image","image_url":"#);
    if image.media_type.is_empty() {
        string(out, &image.data);
    } else {
        string(out, &format!("data:{};base64,{}", image.media_type, image.data));
    }
    out.extend_from_slice(br#","detail":"auto"}"#);
}

fn function_call(out: &mut Vec<u8>, call: &ToolUse) {
    out.extend_from_slice(br#"{"type":"function_call","call_id":"#);
    string(out, &call_id(&call.id));
    out.extend_from_slice(br#","name":"#);
    string(out, &name(&call.name));
    out.extend_from_slice(br#","arguments":"#);
    let usable = call.invalid.is_none() && call.input.is_object();
    string(out, if usable { call.input.get() } else { "{}" });
    out.push(b'}');
}

fn function_call_output(out: &mut Vec<u8>, result: &ToolResult) {
    out.extend_from_slice(br#"{"type":"function_call_output","call_id":"#);
    string(out, &call_id(&result.tool_use_id));
    out.extend_from_slice(br#","output":"#);
    let sent = |block: &&Block| match block {
        Block::Text(text) => !text.text.is_empty(),
        Block::Image(_) => true,
        // Whatever else a tool gives, this place takes none of it.
        _ => false,
    };
    let sent: Vec<&Block> = result.content.iter().filter(sent).collect();
    match sent[..] {
        // The provider knows no failed results, so nothing may look like all went well.
        [] if result.is_error => string(out, "failed without a message"),
        [] => string(out, ""),
        [Block::Text(text)] => string(out, &text.text),
        _ => {
            for (index, block) in sent.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                match block {
                    Block::Text(text) => input_text(out, &text.text),
                    Block::Image(picture) => image(out, picture),
                    _ => {}
                }
            }
            out.push(b']');
        }
    }
    out.push(b'}');
}

/// The id itself where it fits, else one that is made of it: the same for a call and its result.
fn call_id(id: &str) -> Cow<'_, str> {
    if (1..=CALL_ID_BYTES_MAX).contains(&id.len()) {
        return id.into();
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("call_{:016x}", hasher.finish()).into()
}

/// A tool's name in the characters and the length the provider takes.
fn name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = if name.is_empty() { "_" } else { name };
    name.chars().take(NAME_CHARS_MAX).map(|c| if fits(c) { c } else { '_' }).collect()
}
