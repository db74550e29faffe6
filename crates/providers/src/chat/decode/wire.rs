//! An answer's chunks as they are on the wire, borrowed from its bytes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{count, list, object, or_nothing, place};

/// A string that is borrowed unless it has escapes, inside `Option` too.
#[derive(Deserialize, Debug, Default)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A text, or a number as text, of what stands beside the answer; anything else tells nothing.
#[derive(Debug, Default)]
pub(super) struct Word<'a>(pub(super) Option<Str<'a>>);

/// A number that may be written as text; anything else tells nothing.
#[derive(Debug, Default)]
pub(super) struct Place(pub(super) Option<u32>);

/// A chunk of a stream, or a whole answer.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) object: Word<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "object")]
    pub(super) usage: Option<WireUsage>,
    /// Groq's place for usage and failures.
    #[serde(borrow, default)]
    pub(super) x_groq: Option<Groq<'a>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
pub(super) struct Groq<'a> {
    #[serde(default, deserialize_with = "object")]
    pub(super) usage: Option<WireUsage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Place,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// A whole answer's.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Word<'a>,
    /// Moonshot's place.
    #[serde(default, deserialize_with = "object")]
    pub(super) usage: Option<WireUsage>,
    /// OpenRouter's.
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// What a chunk adds to the message.
#[derive(Default)]
pub(super) struct Delta<'a> {
    /// A string, or a list of parts.
    pub(super) content: Option<&'a RawValue>,
    pub(super) reasoning_content: Option<Str<'a>>,
    pub(super) reasoning: Option<Str<'a>>,
    pub(super) refusal: Option<Str<'a>>,
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    /// What there was before `tool_calls`.
    pub(super) function_call: Option<Function<'a>>,
    /// What this version does not know: names and values.
    pub(super) others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// What a chunk adds to calls.
#[derive(Deserialize)]
#[serde(transparent)]
struct Pieces<'a>(#[serde(borrow, deserialize_with = "list")] Option<Vec<CallDelta<'a>>>);

/// What a chunk adds to a call.
#[derive(Default)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u32>,
    pub(super) id: Option<Str<'a>>,
    pub(super) function: Option<Function<'a>>,
    pub(super) others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

#[derive(Deserialize, Default)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Str<'a>>,
    /// A string with JSON in it; some servers send the JSON itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "count")]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) completion_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) total_tokens: Option<u64>,
    #[serde(deserialize_with = "object")]
    pub(super) prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "object")]
    pub(super) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for what was read from the cache.
    #[serde(deserialize_with = "count")]
    pub(super) prompt_cache_hit_tokens: Option<u64>,
    /// Moonshot's.
    #[serde(deserialize_with = "count")]
    pub(super) cached_tokens: Option<u64>,
    /// OpenRouter's charge; others have other things under this name.
    #[serde(deserialize_with = "number")]
    pub(super) cost: Option<f64>,
    /// Whether OpenRouter asked the model's provider with the user's own key.
    #[serde(deserialize_with = "flag")]
    pub(super) is_byok: bool,
    /// What that provider takes.
    #[serde(rename = "cost_details", deserialize_with = "upstream_cost")]
    pub(super) upstream_cost: Option<f64>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct PromptDetails {
    #[serde(deserialize_with = "count")]
    pub(super) cached_tokens: Option<u64>,
    /// OpenRouter's.
    #[serde(deserialize_with = "count")]
    pub(super) cache_write_tokens: Option<u64>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct CompletionDetails {
    #[serde(deserialize_with = "count")]
    pub(super) reasoning_tokens: Option<u64>,
}

/// A part of a message that is a list.
#[derive(Deserialize, Default)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub(super) text: Option<Str<'a>>,
    /// Mistral's reasoning: a list of parts again.
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
}

/// A number, or nothing for anything else.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    or_nothing(deserializer)
}

/// Whether it is `true`.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    or_nothing(deserializer)
}

fn upstream_cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let details: Value = or_nothing(deserializer)?;
    Ok(details["upstream_inference_cost"].as_f64())
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        place(deserializer).map(Self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Word<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Word<'de>, E> {
                Ok(Word(Some(Str(Cow::Borrowed(text)))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Word<'de>, E> {
                Ok(Word(Some(Str(Cow::Owned(text.to_owned())))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Word<'de>, E> {
                Ok(Word(Some(Str(Cow::Owned(number.to_string())))))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Word<'de>, E> {
                Ok(Word(Some(Str(Cow::Owned(number.to_string())))))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Word<'de>, E> {
                Ok(Word(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Word<'de>, E> {
                Ok(Word(None))
            }

            fn visit_unit<E>(self) -> Result<Word<'de>, E> {
                Ok(Word(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Word<'de>, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Word(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Word<'de>, A::Error> {
                while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Word(None))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Delta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<'a>(Delta<'a>);
        impl<'de> Visitor<'de> for Members<'de> {
            type Value = Delta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Delta<'de>, A::Error> {
                while let Some(Str(name)) = map.next_key()? {
                    let delta = &mut self.0;
                    match &*name {
                        "content" => delta.content = map.next_value()?,
                        "reasoning_content" => {
                            delta.reasoning_content = map.next_value::<Word<'_>>()?.0
                        }
                        "reasoning" => delta.reasoning = map.next_value::<Word<'_>>()?.0,
                        "refusal" => delta.refusal = map.next_value::<Word<'_>>()?.0,
                        "tool_calls" => delta.tool_calls = map.next_value::<Pieces<'_>>()?.0,
                        "function_call" => delta.function_call = map.next_value()?,
                        "role" => {
                            map.next_value::<IgnoredAny>()?;
                        }
                        _ => delta.others.push((name, map.next_value()?)),
                    }
                }
                Ok(self.0)
            }
        }
        deserializer.deserialize_map(Members(Delta::default()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CallDelta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<'a>(CallDelta<'a>);
        impl<'de> Visitor<'de> for Members<'de> {
            type Value = CallDelta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a call")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
                while let Some(Str(name)) = map.next_key()? {
                    let delta = &mut self.0;
                    match &*name {
                        "index" => delta.index = map.next_value::<Place>()?.0,
                        "id" => delta.id = map.next_value::<Word<'_>>()?.0,
                        "function" => delta.function = map.next_value()?,
                        "type" => {
                            map.next_value::<IgnoredAny>()?;
                        }
                        _ => delta.others.push((name, map.next_value()?)),
                    }
                }
                Ok(self.0)
            }
        }
        deserializer.deserialize_map(Members(CallDelta::default()))
    }
}
