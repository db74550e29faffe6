//! The events of a streamed answer as they are on the wire, borrowed from its bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{count, or_nothing, place};

/// A string that is borrowed unless it has escapes, inside `Option` and as a key too.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Deserialize)]
pub(super) struct MessageStart<'a> {
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) message: StartedMessage<'a>,
}

#[derive(Deserialize, Default)]
pub(super) struct StartedMessage<'a> {
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) container: Option<Container<'a>>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) usage: Option<WireUsage>,
}

/// Where the provider runs code.
#[derive(Deserialize)]
pub(super) struct Container<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
}

/// Counters are cumulative; one that is absent keeps its value.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "count")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) output_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "or_nothing")]
    pub(super) output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OutputDetails {
    #[serde(deserialize_with = "count")]
    pub(super) thinking_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct BlockStart<'a> {
    /// Some gateways leave it out, here and below.
    #[serde(default, deserialize_with = "place")]
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) content_block: &'a RawValue,
}

/// A block's fields, each as its bytes.
pub(super) type Fields<'a> = BTreeMap<Str<'a>, &'a RawValue>;

#[derive(Deserialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(default, deserialize_with = "place")]
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Delta<'a>,
}

#[derive(Deserialize, Default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) partial_json: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) signature: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) citation: Option<&'a RawValue>,
}

/// A delta of a kind this version does not know.
#[derive(Deserialize)]
pub(super) struct UnknownDelta<'a> {
    #[serde(default, deserialize_with = "place")]
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Fields<'a>,
}

#[derive(Deserialize)]
pub(super) struct BlockStop {
    #[serde(default, deserialize_with = "place")]
    pub(super) index: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct MessageDelta<'a> {
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) delta: Option<MessageChange<'a>>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize)]
pub(super) struct MessageChange<'a> {
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) stop_reason: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) stop_details: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) container: Option<Container<'a>>,
}

/// A whole answer of a server that does not stream.
#[derive(Deserialize)]
pub(super) struct Document<'a> {
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) content: Vec<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) container: Option<Container<'a>>,
    #[serde(borrow, default, deserialize_with = "or_nothing")]
    pub(super) stop_reason: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) stop_details: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) usage: Option<WireUsage>,
}

/// An event's type, for streams that name it in the data only.
#[derive(Deserialize)]
pub(super) struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Str<'a>,
}
