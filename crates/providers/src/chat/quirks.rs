//! What servers that speak Chat Completions differ in, as plain data.

use heeler_core::RawJson;
use serde::Deserialize;

/// What one server does in its own way. The default is OpenAI itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The name that the server's own items carry, and that messages' bytes are remembered under:
    /// two servers that want messages in different bytes have different names.
    #[serde(skip)]
    pub dialect: &'static str,
    /// Who says the system prompt.
    pub system_role: SystemRole,
    /// How the output limit is called.
    pub output_limit: OutputLimit,
    /// Whether a stream tells what it used only when it is asked to.
    pub asks_for_usage: bool,
    /// What ids of calls may look like.
    pub call_ids: CallIds,
    /// Whether the model has to say something between results and a person: a word is put in its
    /// mouth where it said nothing.
    pub answers_results: bool,
    /// How a model is told to reason.
    pub reasoning: Reasoning,
    /// Whether reasoning is sent back with its message, as `reasoning_content`. A message that has none
    /// of this server's gets an empty one: those that call have to have one, and some servers want
    /// it of the answer behind them, too.
    pub reasoning_back: bool,
    /// The members of an answer's message that are sent back with it, besides text and calls.
    pub members_back: Vec<String>,
    /// The members of a call that are sent back with it, besides its id, name and arguments.
    pub call_members_back: Vec<String>,
    /// What the first call of a message gets where none of its calls has such members, as those of
    /// another provider's model have not: an object.
    #[serde(deserialize_with = "object")]
    pub unsigned_call: Option<RawJson>,
    /// Whether cache markers are sent; text that has one is then sent as a typed part.
    pub takes_markers: bool,
    /// The models, by how their names begin, that cache only what they are asked to: requests to them
    /// ask for all that was said.
    pub asks_to_cache: Vec<String>,
    /// Whether tools are taken that the server runs itself.
    pub takes_provider_tools: bool,
    /// Whether `cost`, beside the tokens, is what the server charges for an answer, in dollars.
    pub charges_in_dollars: bool,
    /// What every request has besides, an object; what a request says itself wins.
    #[serde(deserialize_with = "object")]
    pub body: Option<RawJson>,
}

/// Who says the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`, but `system` to models from before there was such a role.
    ByModel,
}

/// How the output limit is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    /// `max_completion_tokens`, the newer name: reasoning counts.
    MaxCompletionTokens,
    /// `max_tokens`.
    MaxTokens,
}

/// What ids of calls may look like. Others are replaced, the same by the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIds {
    /// Anything.
    Any,
    /// At most 40 characters.
    AtMost40,
    /// Nine letters and digits.
    Nine,
}

/// How a model is told to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// `reasoning_effort`; a budget is named by the nearest effort.
    Effort,
    /// An object `reasoning` with an effort or a budget.
    Object,
    /// `thinking` is switched on.
    Switch,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            dialect: super::DIALECT,
            system_role: SystemRole::ByModel,
            output_limit: OutputLimit::MaxCompletionTokens,
            asks_for_usage: true,
            call_ids: CallIds::AtMost40,
            answers_results: false,
            reasoning: Reasoning::Effort,
            reasoning_back: false,
            members_back: Vec::new(),
            call_members_back: Vec::new(),
            unsigned_call: None,
            takes_markers: false,
            asks_to_cache: Vec::new(),
            takes_provider_tools: false,
            charges_in_dollars: false,
            body: None,
        }
    }
}

/// An object written as JSON text.
fn object<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    let body = RawJson::deserialize(deserializer)?;
    if body.is_object() {
        Ok(Some(body))
    } else {
        Err(serde::de::Error::custom("a body is an object"))
    }
}
