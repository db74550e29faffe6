//! Messages and their blocks: what a model is shown and what it answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RawJson;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, a tool's result, or data delivered beside them.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
///
/// ```
/// use heeler_core::{Block, Message};
///
/// let answer = Message::assistant("Hello!");
/// assert_eq!(answer.text(), "Hello!");
/// assert!(matches!(&answer.blocks[..], [Block::Text(_)]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

// Each is shared: blocks are copied from place to place (a reply, its record, the history), and
// answers and results are long. `Arc::make_mut` changes one.
/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Plain text.
    Text(Arc<Text>),
    /// The model's reasoning, with the signature that lets it be sent back.
    Thinking(Arc<Thinking>),
    /// Reasoning that only the provider can read.
    RedactedThinking(Arc<RedactedThinking>),
    /// An image.
    Image(Arc<Image>),
    /// A document such as a PDF, as the provider's own JSON.
    Document(Arc<Opaque>),
    /// A call the model asks for.
    ToolUse(Arc<ToolUse>),
    /// The one result of a call.
    ToolResult(Arc<ToolResult>),
    /// A provider's own block, kept and sent back verbatim.
    Opaque(Arc<Opaque>),
}

/// Plain text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// The text; never empty in a request.
    pub text: String,
    /// Asks the provider to cache the prefix up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarker>,
    /// The provider's own bytes, where re-encoding would lose something (citations).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Box<ProviderItem>>,
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Thinking {
    /// The reasoning as far as the provider shows it.
    pub text: String,
    /// The provider's signature; thinking with neither signature nor `raw` is never sent back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// The provider's own bytes, where it reads its reasoning in another form than this. Then no
    /// other provider gets any of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Box<ProviderItem>>,
}

/// Encrypted reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RedactedThinking {
    /// The provider's opaque data.
    pub data: String,
}

/// An image, base64 or by address.
///
/// ```
/// use heeler_core::{Image, Message};
///
/// let picture = Image::from_bytes("image/png", b"...");
/// let linked = Image::from_url("https://example.com/a.png")?;
/// let question = Message::user_with_images("What differs?", [picture, linked]);
/// assert_eq!(question.blocks.len(), 3);
/// # Ok::<(), heeler_core::ImageError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// The media type, such as `image/png`; empty for an address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// Base64 data, or an `https` address when `media_type` is empty.
    pub data: String,
    /// Asks the provider to cache the prefix up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarker>,
}

/// A call the model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// The id on the wire; unique within a conversation once it stands in the history.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The input; `{}` when the model's text was not usable.
    pub input: RawJson,
    /// Why the call must not run, when its input was truncated or broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Asks the provider to cache the prefix up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarker>,
}

/// The one result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The [`ToolUse::id`] it answers.
    pub tool_use_id: String,
    /// Text and images.
    pub content: Vec<Block>,
    /// Whether the call failed, in words the model can act on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Asks the provider to cache the prefix up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarker>,
}

/// A provider's own block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opaque {
    /// The dialect that wrote it and alone may read it.
    pub provider: String,
    /// The block's bytes.
    pub raw: RawJson,
}

/// Bytes that only one provider reads: its own form of something that also has a canonical one, or
/// a tool that it runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderItem {
    /// The dialect it is written in, such as `anthropic`; it is sent to no other provider.
    pub provider: String,
    /// The bytes.
    pub json: RawJson,
}

impl ProviderItem {
    /// An item of this dialect.
    pub fn new(provider: impl Into<String>, json: RawJson) -> Self {
        Self { provider: provider.into(), json }
    }
}

/// How long a provider is asked to keep a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheMarker {
    /// Five minutes, the providers' default.
    FiveMinutes,
    /// One hour.
    OneHour,
}

impl Block {
    /// A plain text block.
    pub fn text(text: impl Into<String>) -> Self {
        Text { text: text.into(), cache: None, raw: None }.into()
    }

    /// The block's text, when it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// The block's call, when it is one.
    #[must_use]
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match self {
            Self::ToolUse(call) => Some(call),
            _ => None,
        }
    }

    /// The block with a cache marker: the provider is asked to cache the prefix up to here. Text,
    /// images, calls and results can carry one; any other block stays as it is.
    #[must_use]
    pub fn cached(mut self, marker: CacheMarker) -> Self {
        if let Some(cache) = self.cache_slot() {
            *cache = Some(marker);
        }
        self
    }

    fn cache_slot(&mut self) -> Option<&mut Option<CacheMarker>> {
        match self {
            Self::Text(text) => Some(&mut Arc::make_mut(text).cache),
            Self::Image(image) => Some(&mut Arc::make_mut(image).cache),
            Self::ToolUse(call) => Some(&mut Arc::make_mut(call).cache),
            Self::ToolResult(result) => Some(&mut Arc::make_mut(result).cache),
            Self::Thinking(_) | Self::RedactedThinking(_) | Self::Document(_) | Self::Opaque(_) => {
                None
            }
        }
    }

    /// Whether the block says nothing and would be refused by a provider: white space is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.text.trim().is_empty() && text.raw.is_none(),
            Self::Thinking(thinking) => thinking.signature.is_empty() && thinking.raw.is_none(),
            _ => false,
        }
    }
}

impl From<Text> for Block {
    fn from(text: Text) -> Self {
        Self::Text(Arc::new(text))
    }
}

impl From<Thinking> for Block {
    fn from(thinking: Thinking) -> Self {
        Self::Thinking(Arc::new(thinking))
    }
}

impl From<RedactedThinking> for Block {
    fn from(thinking: RedactedThinking) -> Self {
        Self::RedactedThinking(Arc::new(thinking))
    }
}

impl From<Image> for Block {
    fn from(image: Image) -> Self {
        Self::Image(Arc::new(image))
    }
}

impl From<ToolUse> for Block {
    fn from(call: ToolUse) -> Self {
        Self::ToolUse(Arc::new(call))
    }
}

impl From<ToolResult> for Block {
    fn from(result: ToolResult) -> Self {
        Self::ToolResult(Arc::new(result))
    }
}

impl Message {
    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::text(text)] }
    }

    /// An assistant message of one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, blocks: vec![Block::text(text)] }
    }

    /// The message with a cache marker on the last block that can carry one: the provider is asked
    /// to cache the conversation up to here.
    #[must_use]
    pub fn cached(mut self, marker: CacheMarker) -> Self {
        if let Some(cache) = self.blocks.iter_mut().rev().find_map(Block::cache_slot) {
            *cache = Some(marker);
        }
        self
    }

    /// The calls of the message, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks.iter().filter_map(Block::as_tool_use)
    }

    /// All text of the message, concatenated.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_unsigned_thinking_say_nothing() {
        let thinking = |signature: &str, raw: Option<&ProviderItem>| {
            let signature = signature.to_owned();
            Block::from(Thinking { text: "hm".into(), signature, raw: raw.cloned().map(Box::new) })
        };
        let raw = ProviderItem { provider: "p".into(), json: RawJson::empty_object() };
        assert!(Block::text(" \n\t").is_empty() && thinking("", None).is_empty());
        assert!(!Block::text(" a ").is_empty() && !thinking("s", None).is_empty());
        assert!(!thinking("", Some(&raw)).is_empty());
        let kept = Text { text: String::new(), cache: None, raw: Some(Box::new(raw)) };
        assert!(!Block::from(kept).is_empty());
        let hidden = RedactedThinking { data: String::new() };
        assert!(!Block::from(hidden).is_empty());
    }

    fn call(id: &str) -> Block {
        Block::from(ToolUse {
            id: id.into(),
            name: "Read".into(),
            input: RawJson::empty_object(),
            invalid: None,
            cache: None,
        })
    }

    #[test]
    fn a_marker_stands_on_the_last_block_that_can_carry_one() {
        let thinking =
            || Block::from(Thinking { text: "hm".into(), signature: "s".into(), raw: None });
        let blocks = vec![Block::text("a"), call("1"), thinking()];
        let message = Message { role: Role::Assistant, blocks }.cached(CacheMarker::OneHour);
        let marked = call("1").cached(CacheMarker::OneHour);
        assert_ne!(marked, call("1"));
        assert_eq!(message.blocks, [Block::text("a"), marked, thinking()]);
        assert_eq!(thinking().cached(CacheMarker::OneHour), thinking());
        let empty = Message { role: Role::User, blocks: Vec::new() };
        assert_eq!(empty.clone().cached(CacheMarker::FiveMinutes), empty);
    }

    #[test]
    fn a_message_tells_its_text_and_its_calls_in_order() {
        let blocks = vec![Block::text("a"), call("1"), Block::text("b"), call("2")];
        let message = Message { role: Role::Assistant, blocks };
        let ids: Vec<&str> = message.tool_uses().map(|call| call.id.as_str()).collect();
        assert_eq!((message.text().as_str(), ids), ("ab", vec!["1", "2"]));
        let user = Message { role: Role::User, blocks: vec![Block::text("hi")] };
        assert_eq!(Message::user("hi"), user);
        assert_eq!(Message::assistant("hi"), Message { role: Role::Assistant, ..user });
    }
}
