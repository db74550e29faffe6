//! What a script expects of a request.

use serde::Deserialize;

use crate::{Content, OneOrMany, RequestView};

/// The longest part of a text that an error quotes, in characters.
const QUOTE_CHARS_MAX: usize = 200;

/// What a request has to show; every field left out is not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Each stands in the text of the last user message.
    pub last_user_contains: OneOrMany<String>,
    /// Each stands in the system prompt.
    pub system_contains: OneOrMany<String>,
    /// For each result of the last message, in call order, a part of its text.
    pub tool_result_contains: OneOrMany<String>,
    /// For each result of the last message, in call order, whether it is an error.
    pub tool_result_is_error: OneOrMany<bool>,
    /// How many messages the request has.
    pub messages_count: Option<usize>,
    /// Each is the name of a tool the model is offered.
    pub tools_contain: OneOrMany<String>,
    /// The model's name.
    pub model: Option<String>,
}

impl Expect {
    /// Says what of it the request does not show.
    pub(crate) fn problems(&self, request: &RequestView) -> Vec<String> {
        let mut problems = Vec::new();
        let last = request.messages.last();
        let user_text = last.map(|message| message.text()).unwrap_or_default();
        lacks(&mut problems, "last_user_contains", &self.last_user_contains, &user_text);
        lacks(&mut problems, "system_contains", &self.system_contains, &request.system);
        self.check_results(request, &mut problems);
        if let Some(expected) = self.messages_count
            && expected != request.messages.len()
        {
            let found = request.messages.len();
            problems.push(format!("`messages_count` expects {expected}, the request has {found}"));
        }
        for name in &self.tools_contain.0 {
            if !request.tools.iter().any(|tool| tool.name == *name) {
                let names: Vec<&str> = request.tools.iter().map(|t| t.name.as_str()).collect();
                let offered = names.join(", ");
                problems.push(format!("`tools_contain` expects `{name}`, offered are: {offered}"));
            }
        }
        if let Some(expected) = &self.model
            && *expected != request.model
        {
            let found = &request.model;
            problems.push(format!("`model` expects `{expected}`, the request is for `{found}`"));
        }
        problems
    }

    fn check_results(&self, request: &RequestView, problems: &mut Vec<String>) {
        let blocks = request.messages.last().map(|m| m.blocks.as_slice()).unwrap_or_default();
        let results: Vec<(&str, bool)> = blocks
            .iter()
            .filter_map(|block| match &block.content {
                Content::ToolResult { text, is_error, .. } => Some((text.as_str(), *is_error)),
                _ => None,
            })
            .collect();
        for (i, expected) in self.tool_result_contains.0.iter().enumerate() {
            match results.get(i) {
                Some((text, _)) if text.contains(expected.as_str()) => {}
                Some((text, _)) => problems.push(format!(
                    "`tool_result_contains` expects {expected:?} in result {}, which is {}",
                    i + 1,
                    quote(text)
                )),
                None => problems.push(format!(
                    "`tool_result_contains` expects {expected:?} in result {}, the last message \
                     has {} results",
                    i + 1,
                    results.len()
                )),
            }
        }
        for (i, expected) in self.tool_result_is_error.0.iter().enumerate() {
            let found = results.get(i);
            if found.map(|(_, is_error)| is_error) != Some(expected) {
                let text = found.map_or("absent".into(), |(text, _)| quote(text));
                problems.push(format!(
                    "`tool_result_is_error` expects {expected} of result {}, which is {text}",
                    i + 1
                ));
            }
        }
    }
}

fn lacks(problems: &mut Vec<String>, field: &str, expected: &OneOrMany<String>, text: &str) {
    for part in expected.0.iter().filter(|part| !text.contains(part.as_str())) {
        problems.push(format!("`{field}` expects {part:?}, found {}", quote(text)));
    }
}

/// The text as an error shows it: in quotes, cut where it is long.
pub(crate) fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((end, _)) => format!("{:?}... ({} bytes)", &text[..end], text.len()),
        None => format!("{text:?}"),
    }
}
