//! A model request in a shape that belongs to no provider.

use std::sync::Arc;

/// A request as the checks see it.
///
/// Messages are shared, so that a caller who keeps them makes the comparison of two long requests
/// cheap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestView {
    /// The model's name.
    pub model: String,
    /// The system prompt's text.
    pub system: String,
    /// The tools, in order.
    pub tools: Vec<ToolView>,
    /// Every byte that stands before the messages, without cache markers; empty when the request
    /// has no wire form.
    pub head: String,
    /// The conversation.
    pub messages: Vec<Arc<MessageView>>,
    /// The epoch, where the sender tells.
    pub epoch: Option<u32>,
}

/// A tool as it is offered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolView {
    /// The name.
    pub name: String,
    /// Its bytes without cache markers.
    pub raw: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person, or results.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageView {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub blocks: Vec<BlockView>,
}

/// One block: what it is, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockView {
    /// What it is.
    pub content: Content,
    /// Its bytes without cache markers.
    pub raw: String,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Reasoning.
    Thinking {
        /// Whether it carries a signature.
        signed: bool,
    },
    /// An image.
    Image,
    /// A call.
    ToolUse {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// The input's bytes.
        input: String,
    },
    /// The result of a call.
    ToolResult {
        /// The call's id.
        id: String,
        /// Whether it failed.
        is_error: bool,
        /// Its text blocks, concatenated.
        text: String,
    },
    /// A block only the provider reads.
    Opaque,
}

impl Role {
    /// The role in words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl BlockView {
    /// A text block whose bytes are its text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { raw: text.clone(), content: Content::Text(text) }
    }

    /// A call whose bytes are made of its parts.
    pub fn tool_use(id: &str, name: &str, input: &str) -> Self {
        let content =
            Content::ToolUse { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() };
        Self { content, raw: format!("call {id} {name} {input}") }
    }

    /// A successful result whose bytes are made of its parts.
    pub fn tool_result(id: &str, text: &str) -> Self {
        let content =
            Content::ToolResult { id: id.to_owned(), is_error: false, text: text.to_owned() };
        Self { content, raw: format!("result {id} {text}") }
    }
}

impl MessageView {
    /// A user message of these blocks.
    pub fn user(blocks: impl IntoIterator<Item = BlockView>) -> Self {
        Self { role: Role::User, blocks: blocks.into_iter().collect() }
    }

    /// An assistant message of these blocks.
    pub fn assistant(blocks: impl IntoIterator<Item = BlockView>) -> Self {
        Self { role: Role::Assistant, blocks: blocks.into_iter().collect() }
    }

    /// All text blocks, a line break between them.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match &block.content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.raw.len()).sum()
    }
}

impl RequestView {
    /// A request of these messages, without a system prompt or tools.
    pub fn of(messages: impl IntoIterator<Item = MessageView>) -> Self {
        Self { messages: messages.into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    /// The text of the last block, when that is a text of the user.
    #[must_use]
    pub fn last_user_text(&self) -> Option<&str> {
        let last = self.messages.last().filter(|message| message.role == Role::User)?;
        match &last.blocks.last()?.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of the last message: its results in call order, then what is said beside them.
    #[must_use]
    pub fn last_texts(&self) -> Vec<&str> {
        let blocks = self.messages.last().map(|m| m.blocks.as_slice()).unwrap_or_default();
        let results = blocks.iter().filter_map(|block| match &block.content {
            Content::ToolResult { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let texts = blocks.iter().filter_map(|block| match &block.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        results.chain(texts).collect()
    }

    /// The text the conversation begins with.
    #[must_use]
    pub fn first_text(&self) -> Option<&str> {
        match &self.messages.first()?.blocks.first()?.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Bytes of the system prompt, the tools and all blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let tools: usize = self.tools.iter().map(|tool| tool.raw.len()).sum();
        let messages: usize = self.messages.iter().map(|message| message.bytes()).sum();
        self.system.len() + tools + messages
    }
}
