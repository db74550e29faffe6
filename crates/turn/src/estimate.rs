//! How many tokens a text probably has.

use std::sync::Arc;

use heeler_core::{Block, Message, ModelRequest, ProviderItem, ToolDefinition, Usage};

/// What an image weighs, in tokens: providers charge about this for a full-sized one.
const IMAGE_TOKENS: u64 = 1600;

/// Estimates tokens. Weights are additive, so a conversation's estimate is kept up to date by
/// adding what is new; a real tokenizer implements the same three functions.
///
/// Must be deterministic: the estimate decides what a fold over the journal does.
pub trait TokenEstimate: Send + Sync + 'static {
    /// What a text weighs, in a unit of the implementation's own.
    fn weigh(&self, text: &str) -> u64;
    /// How many tokens a weight is.
    fn tokens(&self, weight: u64) -> u64;
    /// The weight of so many tokens.
    fn weight(&self, tokens: u64) -> u64;
}

/// Counts Unicode characters and divides: 4 a token unless configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacterEstimate {
    chars_per_token: u64,
}

impl CharacterEstimate {
    /// Accepts 1 to 32 characters a token; anything else means the default of 4.
    #[must_use]
    pub fn new(chars_per_token: u32) -> Self {
        let fits = (1..=32).contains(&chars_per_token);
        Self { chars_per_token: if fits { u64::from(chars_per_token) } else { 4 } }
    }
}

impl TokenEstimate for CharacterEstimate {
    fn weigh(&self, text: &str) -> u64 {
        text.chars().count() as u64
    }

    fn tokens(&self, weight: u64) -> u64 {
        weight / self.chars_per_token
    }

    fn weight(&self, tokens: u64) -> u64 {
        tokens.saturating_mul(self.chars_per_token)
    }
}

/// The estimate of a session whose settings are not known yet.
pub(crate) fn by_characters() -> Arc<dyn TokenEstimate> {
    Arc::new(CharacterEstimate::new(0))
}

/// Where a conversation's tokens are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breakdown {
    /// The system prompt.
    pub system: u64,
    /// The tools.
    pub tools: u64,
    /// All messages.
    pub messages: u64,
    /// The part of `messages` that is the last message of the user: typed text.
    pub last_user_text: u64,
    /// The part of `messages` that is the last message of the user: tool results.
    pub last_user_results: u64,
}

impl Breakdown {
    /// Everything a request would send.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.messages
    }
}

/// What a message weighs.
#[must_use]
pub fn weigh_message(estimate: &dyn TokenEstimate, message: &Message) -> u64 {
    weigh_blocks(estimate, &message.blocks)
}

/// What blocks weigh.
#[must_use]
pub fn weigh_blocks(estimate: &dyn TokenEstimate, blocks: &[Block]) -> u64 {
    let weigh = |block: &Block| match block {
        Block::Text(text) => estimate.weigh(&text.text),
        Block::Thinking(thinking) => estimate.weigh(&thinking.text),
        Block::RedactedThinking(thinking) => estimate.weigh(&thinking.data),
        Block::Image(_) => estimate.weight(IMAGE_TOKENS),
        Block::Document(item) | Block::Opaque(item) => estimate.weigh(item.raw.get()),
        Block::ToolUse(call) => estimate.weigh(&call.name) + estimate.weigh(call.input.get()),
        Block::ToolResult(result) => weigh_blocks(estimate, &result.content),
    };
    blocks.iter().map(weigh).sum()
}

/// What the definitions of tools weigh, and those of tools that the provider runs.
#[must_use]
pub fn weigh_tools(
    estimate: &dyn TokenEstimate,
    tools: &[ToolDefinition],
    provider_tools: &[ProviderItem],
) -> u64 {
    let weigh_tool = |tool: &ToolDefinition| -> u64 {
        if let Some(raw) = &tool.raw {
            return estimate.weigh(raw.json.get());
        }
        let texts = [tool.name.as_str(), &tool.description, tool.input_schema.get()];
        texts.iter().map(|text| estimate.weigh(text)).sum()
    };
    let own: u64 = tools.iter().map(weigh_tool).sum();
    own + provider_tools.iter().map(|item| estimate.weigh(item.json.get())).sum::<u64>()
}

/// What a request and its answer used: what was told of it, and an estimate where that is nothing.
/// Limits on tokens and money would count it as nothing, too.
#[must_use]
pub fn usage(
    estimate: &dyn TokenEstimate,
    told: Usage,
    request: &ModelRequest,
    answer: &[Block],
) -> Usage {
    let read = || {
        let said = request.messages.iter();
        let said = said.map(|message| weigh_message(estimate, &message.message));
        let tools = weigh_tools(estimate, &request.tools, &request.provider_tools);
        estimate.tokens(estimate.weigh(&request.system) + tools + said.sum::<u64>())
    };
    fill_in(told, read, || estimate.tokens(weigh_blocks(estimate, answer)))
}

/// The same of an answer that was stopped or broke off.
#[must_use]
pub fn usage_of_part(
    estimate: &dyn TokenEstimate,
    told: Usage,
    request: &ModelRequest,
    part: &[Block],
) -> Usage {
    let written = estimate.tokens(weigh_blocks(estimate, part));
    at_least_written(usage(estimate, told, request, part), written)
}

/// Servers tell what was written at the end of it, and before that no more than that something was.
pub(crate) fn at_least_written(mut usage: Usage, written: u64) -> Usage {
    if usage.output < written {
        (usage.output, usage.is_estimated) = (written, true);
    }
    usage
}

/// Estimates what was not told. No model reads nothing.
pub(crate) fn fill_in(
    told: Usage,
    read: impl FnOnce() -> u64,
    written: impl FnOnce() -> u64,
) -> Usage {
    let mut usage = told;
    if told.input_total() == 0 {
        usage.input = read().max(1);
        usage.is_estimated = true;
    }
    if told.output == 0 {
        usage.output = written();
        usage.is_estimated |= usage.output > 0;
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let estimate = CharacterEstimate::new(4);
        assert_eq!(estimate.tokens(estimate.weigh(&"é".repeat(40))), 10);
        assert_eq!(CharacterEstimate::new(0), CharacterEstimate::new(4));
        assert_eq!(CharacterEstimate::new(33), CharacterEstimate::new(4));
        assert_eq!(CharacterEstimate::new(1).tokens(100), 100);
    }

    #[test]
    fn everything_a_request_sends_weighs_something() {
        use heeler_core::{
            Image, Opaque, RawJson, RedactedThinking, Role, Thinking, ToolResult, ToolUse,
        };

        let json = || RawJson::parse("[1]").unwrap();
        let opaque = || Opaque { provider: "somebody".into(), raw: json() };
        let call = ToolUse {
            id: "not sent as text".into(),
            name: "read".into(),
            input: json(),
            invalid: None,
            cache: None,
        };
        let image = Image { media_type: "image/png".into(), data: "A".into(), cache: None };
        let result = ToolResult {
            tool_use_id: "x".into(),
            content: vec![Block::text("12345"), Block::from(image.clone())],
            is_error: false,
            cache: None,
        };
        let weigh = |block: Block| {
            let message = Message { role: Role::User, blocks: vec![block, Block::text("+")] };
            weigh_message(&CharacterEstimate::new(2), &message) - 1
        };
        for (block, expected) in [
            (Block::text("12345"), 5),
            (Block::from(Thinking { text: "1234".into(), signature: "s".into(), raw: None }), 4),
            (Block::from(RedactedThinking { data: "123".into() }), 3),
            (Block::from(image), 3200),
            (Block::Document(Arc::new(opaque())), 3),
            (Block::Opaque(Arc::new(opaque())), 3),
            (Block::from(call), 7),
            (Block::from(result), 3205),
        ] {
            assert_eq!(weigh(block.clone()), expected, "{block:?}");
        }
        let tool = ToolDefinition::new("read", "Reads.", json());
        let weigh = |tools: &[ToolDefinition], provider_tools: &[ProviderItem]| {
            weigh_tools(&CharacterEstimate::new(2), tools, provider_tools)
        };
        let item = ProviderItem::new("somebody", RawJson::parse(r#"{"a":1}"#).unwrap());
        let raw = ToolDefinition { raw: Some(item.clone()), ..tool.clone() };
        assert_eq!(weigh(std::slice::from_ref(&tool), &[]), 13);
        assert_eq!(weigh(&[raw, tool], &[item.clone(), item]), 7 + 13 + 14);
    }

    #[test]
    fn what_nobody_tells_is_estimated() {
        use heeler_core::{Cost, Parameters, RawJson, RequestMessage, RequestMessages};

        let mut messages = RequestMessages::default();
        messages.push(Arc::new(RequestMessage::new(Message::user("0123456789".repeat(4)))));
        let schema = RawJson::parse(r#"{"type": "object"}"#).unwrap();
        let request = ModelRequest {
            model: "m".into(),
            system: "You are it.".into(),
            tools: Arc::from([ToolDefinition::new("read", "Reads.", schema)]),
            provider_tools: Arc::default(),
            messages,
            stable: 0,
            output_max: 100,
            parameters: Parameters::default(),
            epoch: 1,
        };
        let none = Usage::default();
        // 11 characters of the prompt, 28 of the tool, 40 of the message.
        for (answer, told, expected) in [
            ("I say so.", none, (19, 2, true)),
            ("", none, (19, 0, true)),
            ("I say so.", Usage { output: 7, ..none }, (19, 7, true)),
            ("I say so.", Usage { cache_read: 5, ..none }, (5, 2, true)),
            ("", Usage { cache_read: 5, ..none }, (5, 0, false)),
            ("I say so.", Usage { input: 5, output: 7, ..none }, (5, 7, false)),
            ("I say so.", Usage { charged: Some(Cost(3)), ..none }, (19, 2, true)),
        ] {
            let blocks = [Block::text(answer)];
            let usage = usage(&CharacterEstimate::new(4), told, &request, &blocks);
            let seen = (usage.input_total(), usage.output, usage.is_estimated);
            assert_eq!((seen, usage.charged), (expected, told.charged), "{answer} {told:?}");
        }
    }
}
