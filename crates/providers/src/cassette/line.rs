//! The lines of a cassette's file.
//!
//! The first says that it is one. A system prompt, a list of tools and a message are a line each when
//! they are first said, and numbers from then on: a conversation says all it said with each request.

use std::time::Duration;

use heeler_core::{
    Message, ModelEvent, Parameters, ProviderError, ProviderErrorKind, ProviderItem, Reply,
    ToolDefinition,
};
use serde::{Deserialize, Serialize};

use super::parts::Asked;

/// The version of the file that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The first.
    Cassette { version: u32, heeler: String },
    /// A system prompt.
    System { number: u32, text: String },
    /// The tools of a request.
    Tools { number: u32, tools: Vec<ToolDefinition> },
    /// A message.
    Message { number: u32, message: Message },
    /// A request and its answer.
    Exchange(Box<ExchangeLine>),
}

/// An exchange, in numbers of what it said.
#[derive(Serialize, Deserialize)]
pub(super) struct ExchangeLine {
    pub(super) number: u32,
    pub(super) model: String,
    pub(super) system: u32,
    pub(super) tools: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) provider_tools: Vec<ProviderItem>,
    pub(super) messages: Vec<u32>,
    pub(super) output_max: u64,
    pub(super) parameters: Parameters,
    pub(super) events: Vec<ModelEvent>,
    pub(super) end: EndLine,
}

/// How an answer ended.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndLine {
    Finished(Box<Reply>),
    Failed {
        kind: ProviderErrorKind,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_millis: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_type: Option<String>,
    },
    Cut,
}

/// A recorded request and what came of it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The request's place among all that were sent, from 1.
    pub number: u32,
    /// What was asked.
    pub asked: Asked,
    /// What came, the end left out.
    pub events: Vec<ModelEvent>,
    /// How it ended.
    pub end: ExchangeEnd,
}

/// How an answer ended.
#[derive(Debug, Clone)]
pub enum ExchangeEnd {
    /// With the whole answer.
    Finished(Box<Reply>),
    /// With an error.
    Failed(ProviderError),
    /// Nobody read it to its end, or it had none.
    Cut,
}

impl From<EndLine> for ExchangeEnd {
    fn from(line: EndLine) -> Self {
        match line {
            EndLine::Finished(reply) => Self::Finished(reply),
            EndLine::Failed { kind, message, retry_after_millis, status, provider_type } => {
                let retry_after = retry_after_millis.map(Duration::from_millis);
                Self::Failed(ProviderError { kind, message, retry_after, status, provider_type })
            }
            EndLine::Cut => Self::Cut,
        }
    }
}

impl From<ExchangeEnd> for EndLine {
    fn from(end: ExchangeEnd) -> Self {
        match end {
            ExchangeEnd::Finished(reply) => Self::Finished(reply),
            ExchangeEnd::Failed(error) => {
                let ProviderError { kind, message, retry_after, status, provider_type } = error;
                let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let retry_after_millis = retry_after.map(millis);
                Self::Failed { kind, message, retry_after_millis, status, provider_type }
            }
            ExchangeEnd::Cut => Self::Cut,
        }
    }
}
