//! The events of a streamed answer, and the answer itself, as they are on the wire.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{count, object, or_nothing, place};

/// An event's type, for streams that name it in the data only.
#[derive(Deserialize)]
pub(super) struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

/// An event that begins or ends an item.
#[derive(Deserialize)]
pub(super) struct ItemEvent<'a> {
    /// Some servers leave it out.
    #[serde(default, deserialize_with = "place")]
    pub(super) output_index: Option<u32>,
    #[serde(borrow)]
    pub(super) item: &'a RawValue,
}

/// An event that adds to an item.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    /// Some servers leave it out, and tell all of it at the end.
    #[serde(default, deserialize_with = "place")]
    pub(super) output_index: Option<u32>,
    /// Which part of a summary grows.
    #[serde(default, deserialize_with = "place")]
    pub(super) summary_index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Cow<'a, str>,
}

/// An event that tells how far the answer is.
#[derive(Deserialize)]
pub(super) struct ResponseEvent<'a> {
    #[serde(borrow)]
    pub(super) response: &'a RawValue,
}

/// Of the answer, what says whose it is.
#[derive(Deserialize)]
pub(super) struct Begun {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) id: Option<String>,
}

/// The answer as it is told at its end, or without a stream.
#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) incomplete_details: Option<Incomplete>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "object")]
    pub(super) usage: Option<WireUsage>,
}

/// Why an answer is not whole.
#[derive(Deserialize)]
pub(super) struct Incomplete {
    pub(super) reason: Option<String>,
}

/// Tokens; `input_tokens` includes those of the cache.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "object")]
    pub(super) input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "count")]
    pub(super) output_tokens: Option<u64>,
    #[serde(deserialize_with = "object")]
    pub(super) output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct InputDetails {
    #[serde(deserialize_with = "count")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) cache_write_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OutputDetails {
    #[serde(deserialize_with = "count")]
    pub(super) reasoning_tokens: Option<u64>,
}
