//! A model request as the script's checks see it.

use std::sync::Arc;

use heeler_core::{Block, Message, ModelRequest, RequestMessage, Role, ToolDefinition};
use heeler_script::{BlockView, Content, MessageView, RequestView, ToolView};
use serde::Serialize;

/// Turns requests into views, each message once: the messages of one request are mostly those of
/// the request before.
#[derive(Default)]
pub(super) struct Views {
    seen: Vec<(Arc<RequestMessage>, Arc<MessageView>)>,
}

impl Views {
    pub(super) fn request(&mut self, request: &ModelRequest) -> RequestView {
        self.seen.truncate(self.shared_with(request));
        for message in request.messages.iter().skip(self.seen.len()) {
            let view = Arc::new(message_view(&message.message));
            self.seen.push((Arc::clone(message), view));
        }
        RequestView {
            model: request.model.to_string(),
            system: request.system.to_string(),
            tools: tools(request),
            head: String::new(),
            messages: self.seen.iter().map(|(_, view)| Arc::clone(view)).collect(),
            epoch: Some(request.epoch),
        }
    }

    /// How many messages at the start are the very ones of the request before.
    fn shared_with(&self, request: &ModelRequest) -> usize {
        let pairs = self.seen.iter().zip(request.messages.iter());
        pairs.take_while(|((seen, _), message)| Arc::ptr_eq(seen, message)).count()
    }
}

fn tools(request: &ModelRequest) -> Vec<ToolView> {
    let own = request.tools.iter().map(|tool| {
        let unmarked = ToolDefinition { cache: None, ..tool.clone() };
        ToolView { name: tool.name.clone(), raw: json(&unmarked) }
    });
    let of_provider = request.provider_tools.iter().map(|tool| {
        let name = tool.json.value()["name"].as_str().unwrap_or_default().to_owned();
        ToolView { name, raw: tool.json.get().to_owned() }
    });
    own.chain(of_provider).collect()
}

fn message_view(message: &Message) -> MessageView {
    let blocks = message.blocks.iter().map(block_view).collect();
    let role = match message.role {
        Role::User => heeler_script::Role::User,
        Role::Assistant => heeler_script::Role::Assistant,
    };
    MessageView { role, blocks }
}

fn block_view(block: &Block) -> BlockView {
    let content = match block {
        Block::Text(text) if text.raw.is_some() && text.text.is_empty() => Content::Opaque,
        Block::Text(text) => Content::Text(text.text.clone()),
        Block::Thinking(_) => Content::Thinking { signed: !block.is_empty() },
        Block::Image(_) => Content::Image,
        Block::ToolUse(call) => Content::ToolUse {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input.get().to_owned(),
        },
        Block::ToolResult(result) => Content::ToolResult {
            id: result.tool_use_id.clone(),
            is_error: result.is_error,
            text: result.content.iter().filter_map(Block::as_text).collect(),
        },
        Block::RedactedThinking(_) | Block::Document(_) | Block::Opaque(_) => Content::Opaque,
    };
    BlockView { content, raw: json(&without_marker(block)) }
}

/// The block as every request sends it, wherever its cache markers stand.
fn without_marker(block: &Block) -> Block {
    let mut block = block.clone();
    match &mut block {
        Block::Text(text) if text.cache.is_some() => Arc::make_mut(text).cache = None,
        Block::Image(image) if image.cache.is_some() => Arc::make_mut(image).cache = None,
        Block::ToolUse(call) if call.cache.is_some() => Arc::make_mut(call).cache = None,
        Block::ToolResult(result) if result.cache.is_some() => Arc::make_mut(result).cache = None,
        _ => {}
    }
    block
}

/// Plain data always has a JSON form.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
