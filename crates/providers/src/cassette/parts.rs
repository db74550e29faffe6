//! What a request asks, made of parts that requests have in common.

use std::collections::HashMap;
use std::sync::Arc;

use heeler_core::{
    Difference, Message, ModelRequest, Parameters, ProviderItem, RequestMessage, ToolDefinition,
};
use heeler_secrets::Secrets;
use serde_json::{Value, json};

use super::clean;

/// What a request asks, without secrets. Where its cache markers belong, which the provider decides,
/// is no part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The model's name without the provider's.
    pub model: String,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools.
    pub tools: Arc<[ToolDefinition]>,
    /// Tools that the provider runs itself.
    pub provider_tools: Vec<ProviderItem>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
    /// The output limit, in tokens.
    pub output_max: u64,
    /// What else is sent.
    pub parameters: Parameters,
}

/// Makes [`Asked`] of requests, each message once: the messages of one request are mostly those of
/// the request before.
#[derive(Default)]
pub(super) struct Asker {
    seen: Vec<(Arc<RequestMessage>, Arc<Message>)>,
}

impl Asker {
    pub(super) fn asked(&mut self, request: &ModelRequest, secrets: &Secrets) -> Asked {
        let pairs = self.seen.iter().zip(request.messages.iter());
        let same = pairs.take_while(|((seen, _), said)| Arc::ptr_eq(seen, said)).count();
        self.seen.truncate(same);
        for said in request.messages.iter().skip(same) {
            let message = Arc::new(clean::message(&said.message, secrets));
            self.seen.push((Arc::clone(said), message));
        }
        let mut parameters = request.parameters.clone();
        let clean_tool = |tool: &ProviderItem| {
            ProviderItem::new(tool.provider.as_str(), clean::json(&tool.json, secrets))
        };
        parameters.extra_body = parameters.extra_body.map(|body| clean::json(&body, secrets));
        Asked {
            model: request.model.to_string(),
            system: clean::text(&request.system, secrets).into(),
            tools: Arc::clone(&request.tools),
            provider_tools: request.provider_tools.iter().map(clean_tool).collect(),
            messages: self.seen.iter().map(|(_, message)| Arc::clone(message)).collect(),
            output_max: request.output_max,
            parameters,
        }
    }
}

impl Asked {
    /// What a request asks.
    #[must_use]
    pub fn new(request: &ModelRequest, secrets: &Secrets) -> Self {
        Asker::default().asked(request, secrets)
    }

    /// Where another request first differs from this one.
    #[must_use]
    pub fn difference(&self, found: &Self) -> Option<Difference> {
        if self == found {
            return None;
        }
        Difference::first(&self.value(), &found.value())
    }

    /// How near another request is: how many messages at the beginning are the same, then what else.
    pub(super) fn nearness(&self, other: &Self) -> (usize, bool, bool, bool) {
        let pairs = self.messages.iter().zip(&other.messages);
        let same = pairs.take_while(|(one, other)| one == other).count();
        let Self { model, system, tools, provider_tools, .. } = self;
        let same_tools = *tools == other.tools && *provider_tools == other.provider_tools;
        (same, same_tools, *system == other.system, *model == other.model)
    }

    /// The request as a person reads it, what decides most first.
    fn value(&self) -> Value {
        let Self { model, system, tools, provider_tools, messages, output_max, parameters } = self;
        let messages: Vec<&Message> = messages.iter().map(|message| &**message).collect();
        json!({
            "model": model,
            "system": &**system,
            "tools": &**tools,
            "provider_tools": provider_tools,
            "messages": messages,
            "output_max": output_max,
            "parameters": parameters,
        })
    }
}

/// Numbers parts by what they say, from 1.
#[derive(Default)]
pub(super) struct Numbers(HashMap<String, u32>);

impl Numbers {
    /// The number of a part, and whether it is new.
    pub(super) fn of(&mut self, json: String) -> (u32, bool) {
        let next = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
        let number = *self.0.entry(json).or_insert(next);
        (number, number == next)
    }
}
