//! What an answer used when its server tells nothing of it: as much as the engine held it to be.
//!
//! Limits on tokens and money, and what a session says it has used, would count such answers as nothing.

use heeler_core::{ModelRequest, Reply, Usage};
use heeler_turn::estimate::{self, CharacterEstimate, TokenEstimate as _};

/// The usage that was told, or an estimate where that is nothing: no model reads and writes nothing.
pub(crate) fn usage(request: &ModelRequest, reply: &Reply) -> Usage {
    if reply.usage.total() > 0 {
        return reply.usage;
    }
    let by_characters = CharacterEstimate::new(0);
    let said = request.messages.iter();
    let said = said.map(|message| estimate::weigh_message(&by_characters, &message.message));
    let tools = estimate::weigh_tools(&by_characters, &request.tools, &request.provider_tools);
    let read = by_characters.weigh(&request.system) + tools + said.sum::<u64>();
    let written = estimate::weigh_blocks(&by_characters, &reply.blocks);
    Usage {
        input: by_characters.tokens(read).max(1),
        output: by_characters.tokens(written).max(u64::from(written > 0)),
        ..reply.usage
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use heeler_core::{
        Block, Cost, Message, Parameters, RawJson, RequestMessage, RequestMessages, StopReason,
        ToolDefinition,
    };

    use super::*;

    fn check(answer: &str, told: Usage, expected: (u64, u64)) {
        let mut messages = RequestMessages::default();
        messages.push(Arc::new(RequestMessage::new(Message::user("0123456789".repeat(4)))));
        let schema = RawJson::parse("{\"type\": \"object\"}").unwrap();
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
        let blocks = vec![Block::text(answer)];
        let reply = Reply { blocks, stop: StopReason::EndTurn, usage: told, provider_id: None };
        let usage = usage(&request, &reply);
        assert_eq!((usage.input_total(), usage.output), expected, "{answer} {told:?}");
        assert_eq!(usage.charged, told.charged);
    }

    #[test]
    fn where_nothing_is_told_it_is_estimated() {
        let none = Usage::default();
        // 11 characters of the prompt, 28 of the tool, 40 of the message.
        check("I say so.", none, (19, 2));
        check("Hi", none, (19, 1));
        check("", none, (19, 0));
        check("I say so.", Usage { output: 7, ..none }, (0, 7));
        check("I say so.", Usage { cache_read: 5, ..none }, (5, 0));
        check("I say so.", Usage { input: 5, output: 7, ..none }, (5, 7));
        let charged = Some(Cost(3));
        check("I say so.", Usage { charged, ..none }, (19, 2));
    }
}
