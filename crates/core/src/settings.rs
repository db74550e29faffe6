//! The settings a session runs under. They live in records, so that state reads nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CacheMarker, Policy, Prices, RawJson};

/// Everything the turn machine may depend on besides what happened.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The model and how it is called.
    pub model: ModelSettings,
    /// When a turn ends whatever the model wants.
    pub limits: Limits,
    /// How tokens are estimated.
    pub estimate: EstimateSettings,
    /// When and how the conversation is compacted.
    pub compaction: CompactionSettings,
    /// What may run.
    pub policy: Policy,
    /// Whether what work in the background gives begins a turn where none runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background_wakes: bool,
}

/// A model and how it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// The model's full name, `provider/model`.
    pub name: String,
    /// Input and output together, in tokens, when the catalogue knows the model.
    pub window: Option<u64>,
    /// The most the model can write in one reply, in tokens; a request asks for no more.
    pub output_max: u64,
    /// What it charges, when known.
    pub prices: Option<Prices>,
    /// What is sent with each request.
    pub parameters: Parameters,
}

impl Default for ModelSettings {
    /// A model of which nothing is known: 8,192 tokens a reply.
    fn default() -> Self {
        Self {
            name: String::new(),
            window: None,
            output_max: 8192,
            prices: None,
            parameters: Parameters::default(),
        }
    }
}

/// What is sent with each request beside the conversation; what is `None` or empty is left out, and
/// the provider decides.
///
/// ```
/// use heeler_core::{Parameters, ThinkingSettings};
///
/// let parameters = Parameters {
///     thinking: Some(ThinkingSettings::Budget(10_000)),
///     stop: vec!["END".into()],
///     ..Parameters::default()
/// };
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Randomness, from 0; some providers take at most 1, some 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: only the likeliest words that come to this share together, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Texts that end a reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether and how much the model reasons first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSettings>,
    /// Which tools the model may or must call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Whether several calls may come in one reply; the provider's default when `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// Asks the provider to keep the system prompt, and what stands before it, cached so long. A
    /// provider's dialect may mark it by itself; this says for how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_cache: Option<CacheMarker>,
    /// Merged over the request's body, an object, for what this version does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_body: Option<RawJson>,
}

/// How much the model reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingSettings {
    /// At most this many tokens.
    Budget(u64),
    /// The provider's own measure: low, medium, high.
    Effort(String),
}

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// Some tool must be called.
    Any,
    /// No tool may be called.
    None,
    /// This tool must be called.
    Tool(String),
}

/// When a turn ends whatever the model wants; 0 means no limit.
///
/// ```
/// use heeler_core::Limits;
///
/// // Half a dollar, two minutes, and 50 model calls, since nothing is said of these.
/// let limits = Limits { cost: 500_000_000, wall_millis: 120_000, ..Limits::default() };
/// assert_eq!(limits.rounds, 50);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Model calls of a turn.
    pub rounds: u32,
    /// Tool calls of a turn.
    pub calls: u32,
    /// Input and output tokens of a turn.
    pub tokens: u64,
    /// Money of a turn, in billionths of a dollar.
    pub cost: u64,
    /// Milliseconds a turn may take; the time in which no process has its session open is not counted.
    pub wall_millis: u64,
    /// Identical failing calls in a row after which somebody is asked, or the turn ends. The model
    /// is told two calls earlier.
    pub repeats: u32,
    /// Calls that run at the same time.
    pub calls_at_once: u32,
}

impl Default for Limits {
    /// The library's limits: 50 rounds, 5 repeats, 32 calls at once, nothing else.
    fn default() -> Self {
        Self {
            rounds: 50,
            calls: 0,
            tokens: 0,
            cost: 0,
            wall_millis: 0,
            repeats: 5,
            calls_at_once: 32,
        }
    }
}

/// How tokens are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EstimateSettings {
    /// Unicode characters per token, 1 to 32.
    pub chars_per_token: u32,
    /// The most estimated tokens a request may have; `None` derives it from the model's window.
    pub context_limit: Option<u64>,
}

impl Default for EstimateSettings {
    /// Four characters a token, and the window's own limit.
    fn default() -> Self {
        Self { chars_per_token: 4, context_limit: None }
    }
}

/// When and how the conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactionSettings {
    /// Whether a request that would not fit is preceded by a compaction.
    pub automatic: bool,
    /// How many of the newest messages stay as they are.
    pub keep_tail: u32,
}

impl Default for CompactionSettings {
    /// Automatic; eight messages stay.
    fn default() -> Self {
        Self { automatic: true, keep_tail: 8 }
    }
}
