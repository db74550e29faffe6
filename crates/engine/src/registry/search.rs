//! The tool by which a model finds hidden tools, and what unlocks them.
//!
//! What is unlocked is part of the session's typed state, one value a tool: the round up to which
//! it stays. So it is journalled with the result that brought it, survives a restart, and is
//! nobody else's. Each use puts the end off, since every change of what the model is told costs
//! the cached prefix.

use std::sync::{Arc, RwLock, Weak};

use heeler_core::{
    BoxFuture, Facts, InnerCall, Metadata, RawJson, Tool, ToolContext, ToolDefinition, ToolError,
    ToolOutput, from_json,
};
use serde::Deserialize;
use serde_json::json;

use super::{Held, ToolMoment, ToolQuery, ToolRegistry};

/// What the tool that finds tools is called.
pub const TOOL_SEARCH: &str = "ToolSearch";
/// Rounds for which a tool stays unlocked after it was found or used.
const ROUNDS: u64 = 20;
/// Tools that one search unlocks.
const FOUND_MAX: usize = 5;
/// Names that are told when nothing was found.
const NAMES_MAX: usize = 50;
/// Characters of a description that are shown; the definition has all of it.
const SHOWN_CHARS_MAX: usize = 200;

/// Finds hidden tools of a registry and unlocks what it finds for the session that asked.
pub struct ToolSearch {
    /// The registry holds this tool, so it is not held in turn: both would live for ever.
    registry: Weak<RwLock<Held>>,
    rounds: u64,
    found_max: usize,
}

impl ToolSearch {
    /// Over a registry, which it does not keep: once nobody else does, nothing is found.
    #[must_use]
    pub fn new(registry: &ToolRegistry) -> Self {
        Self { registry: Arc::downgrade(&registry.0), rounds: ROUNDS, found_max: FOUND_MAX }
    }

    /// For how many rounds a tool stays unlocked after it was found, and how many one search finds.
    #[must_use]
    pub fn with_limits(mut self, rounds: u64, found_max: usize) -> Self {
        (self.rounds, self.found_max) = (rounds.max(1), found_max.max(1));
        self
    }

    fn search(&self, context: &ToolContext, input: &RawJson) -> Result<ToolOutput, ToolError> {
        let Input { query, regex } = from_json(input.get())
            .map_err(|error| ToolError::for_model(format!("the input is wrong: {error}")))?;
        let query = if regex { ToolQuery::Pattern(query) } else { ToolQuery::Words(query) };
        let found = self.registry().search(&query);
        let found = found.map_err(|error| ToolError::for_model(error.to_string()))?;
        if found.is_empty() {
            return Ok(ToolOutput::text(self.nothing_found()));
        }
        let n_more = found.len().saturating_sub(self.found_max);
        let mut text = String::from("You can call these from your next answer on:\n");
        let mut output = ToolOutput::default();
        for one in found.into_iter().take(self.found_max) {
            text.push_str(&format!("- {}: {}\n", one.name, first_line(&one.description)));
            output = output.with_state(key(&one.name), &end(context, self.rounds));
        }
        if n_more > 0 {
            text.push_str(&format!("({n_more} more fit; say more exactly what you need)\n"));
        }
        output.content = ToolOutput::text(text).content;
        Ok(output)
    }

    fn registry(&self) -> ToolRegistry {
        self.registry.upgrade().map_or_else(ToolRegistry::default, ToolRegistry)
    }

    fn nothing_found(&self) -> String {
        let all = self.registry().search(&ToolQuery::Words(String::new())).unwrap_or_default();
        let names: Vec<&str> = all.iter().take(NAMES_MAX).map(|one| one.name.as_str()).collect();
        match (names.len(), all.len()) {
            (0, _) => "Nothing found: there are no more tools than those you have.".to_owned(),
            (shown, n) if shown < n => {
                format!("Nothing found. There are {n} tools, such as: {}", names.join(", "))
            }
            _ => format!("Nothing found. There are: {}", names.join(", ")),
        }
    }
}

#[derive(Deserialize)]
struct Input {
    query: String,
    #[serde(default)]
    regex: bool,
}

impl Tool for ToolSearch {
    fn definition(&self) -> ToolDefinition {
        let schema = RawJson::from_value(&json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words for what you need"},
                "regex": {"type": "boolean", "description": "query is a regular expression"},
            },
            "required": ["query"],
            "additionalProperties": false,
        }));
        let words = "Finds tools you are not told of and lets you call them.";
        ToolDefinition::new(TOOL_SEARCH, words, schema)
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.search(&context, &input) })
    }
}

/// Whether the hidden tool with this [`key`] is told to the model now.
pub(super) fn is_unlocked(key: &str, moment: &ToolMoment) -> bool {
    moment.state.get::<u64>(key).is_some_and(|end| moment.round <= end)
}

/// The tool, unlocked anew by each use that succeeds.
pub(super) fn renewed_by_use(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
    Arc::new(Renewed(tool))
}

struct Renewed(Arc<dyn Tool>);

impl Tool for Renewed {
    fn definition(&self) -> ToolDefinition {
        self.0.definition()
    }

    fn tool_name(&self) -> String {
        self.0.tool_name()
    }

    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn output_schema(&self) -> Option<RawJson> {
        self.0.output_schema()
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        self.0.facts(input, workspace)
    }

    fn inner_calls(&self, input: &RawJson) -> Vec<InnerCall> {
        self.0.inner_calls(input)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Arc::clone(&self.0).check(context, input)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let key = key(&self.0.tool_name());
            // A search may have put it off further.
            let end = end(&context, ROUNDS).max(context.state.get(&key).unwrap_or(0));
            let output = Arc::clone(&self.0).call(context, input).await?;
            Ok(output.with_state(key, &end))
        })
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Arc::clone(&self.0).clean_up(context, input)
    }
}

/// The last round of the session in which a tool that is unlocked now is told to the model.
fn end(context: &ToolContext, rounds: u64) -> u64 {
    context.round.saturating_add(rounds)
}

/// The session's value that says how long a hidden tool is unlocked.
pub(super) fn key(name: &str) -> String {
    format!("{TOOL_SEARCH}/{name}")
}

fn first_line(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}
