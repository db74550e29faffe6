//! OpenRouter: Chat Completions with its own reasoning, comments and errors.

use std::sync::Arc;

use heeler_providers::Chat;
use heeler_providers::openrouter::OpenRouterSettings;
use serde_json::json;

use super::{Dialect, chat};
use crate::conformance::scenario::Scenario;

pub(crate) const DIALECT: Dialect = Dialect {
    name: "openrouter",
    provider: |url, idle_timeout| {
        let base_url = url.into();
        let settings =
            OpenRouterSettings { base_url, idle_timeout, ..OpenRouterSettings::with_api_key("k") };
        Arc::new(Chat::new(&settings.chat()).unwrap())
    },
    stream: |scenario: &Scenario| {
        let comment = ": OPENROUTER PROCESSING\n\n";
        comment.to_owned() + &own((chat::DIALECT.stream)(scenario))
    },
    document: |scenario| own((chat::DIALECT.document)(scenario)),
    overloaded: "data: {\"id\":\"gen-1\",\"object\":\"chat.completion.chunk\",\"error\":{\"code\":503,\
                 \"message\":\"Overloaded\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\
                 \"finish_reason\":\"error\"}]}\n\n",
    refusal: |_, message| json!({"error": {"message": message, "code": 500}}).to_string(),
    stops: chat::DIALECT.stops,
    unknown: chat::DIALECT.unknown,
};

/// Reasoning is called otherwise than elsewhere.
fn own(chat: String) -> String {
    chat.replace("\"reasoning_content\"", "\"reasoning\"")
}
