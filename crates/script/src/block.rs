//! One block of a reply, as a script says it.

use serde::Deserialize;
use serde_json::Value;

/// One block of a reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "BlockFields")]
pub enum BlockSpec {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning.
    Thinking {
        /// The reasoning.
        text: String,
        /// Its signature.
        signature: String,
    },
    /// Reasoning only the provider can read.
    Redacted {
        /// The provider's data.
        data: String,
    },
    /// A call.
    Call {
        /// The tool's name.
        name: String,
        /// The id; `None` mints one. Empty and repeated ids are sent as they are.
        id: Option<String>,
        /// The input.
        input: InputSpec,
    },
    /// A provider's own block.
    Opaque {
        /// The block; an object.
        value: Value,
    },
}

/// A call's input.
#[derive(Debug, Clone, PartialEq)]
pub enum InputSpec {
    /// No input is sent at all.
    Absent,
    /// A JSON value.
    Json(Value),
    /// The text of the input as it is sent, which may be broken JSON.
    Raw(String),
}

impl BlockSpec {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A signed thinking block.
    pub fn thinking(text: impl Into<String>, signature: impl Into<String>) -> Self {
        Self::Thinking { text: text.into(), signature: signature.into() }
    }

    /// A call whose id is minted.
    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self::Call { name: name.into(), id: None, input: InputSpec::Json(input) }
    }

    /// A call whose input is sent as this text.
    pub fn call_raw(name: impl Into<String>, input: impl Into<String>) -> Self {
        Self::Call { name: name.into(), id: None, input: InputSpec::Raw(input.into()) }
    }

    /// The same call with this id; other blocks stay as they are.
    #[must_use]
    pub fn with_id(mut self, new: impl Into<String>) -> Self {
        if let Self::Call { id, .. } = &mut self {
            *id = Some(new.into());
        }
        self
    }
}

/// A block as it is written: one of the first five fields, and what belongs to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BlockFields {
    text: Option<String>,
    thinking: Option<String>,
    redacted: Option<String>,
    call: Option<String>,
    opaque: Option<Value>,
    signature: Option<String>,
    id: Option<String>,
    input: Option<Value>,
    input_raw: Option<String>,
}

impl TryFrom<BlockFields> for BlockSpec {
    type Error = String;

    fn try_from(fields: BlockFields) -> Result<Self, String> {
        let kinds = [
            ("text", fields.text.is_some()),
            ("thinking", fields.thinking.is_some()),
            ("redacted", fields.redacted.is_some()),
            ("call", fields.call.is_some()),
            ("opaque", fields.opaque.is_some()),
        ];
        let given: Vec<&str> = kinds.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let &[kind] = given.as_slice() else {
            let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
            return Err(format!(
                "a block needs exactly one of `text`, `thinking`, `redacted`, `call`, `opaque`; \
                 found {found}"
            ));
        };
        refuse_strangers(kind, &fields)?;
        let BlockFields { text, thinking, redacted, call, opaque, signature, id, .. } = fields;
        Ok(match (text, thinking, redacted, call, opaque) {
            (Some(text), ..) => Self::Text { text },
            (_, Some(text), ..) => {
                Self::Thinking { text, signature: signature.unwrap_or_default() }
            }
            (_, _, Some(data), ..) => Self::Redacted { data },
            (_, _, _, Some(name), _) => {
                Self::Call { name, id, input: input(fields.input, fields.input_raw)? }
            }
            (.., opaque) => Self::Opaque { value: opaque_object(opaque)? },
        })
    }
}

/// Refuses a field that belongs to another kind of block.
fn refuse_strangers(kind: &str, fields: &BlockFields) -> Result<(), String> {
    let companions = [
        ("signature", fields.signature.is_some(), "thinking"),
        ("id", fields.id.is_some(), "call"),
        ("input", fields.input.is_some(), "call"),
        ("input_raw", fields.input_raw.is_some(), "call"),
    ];
    match companions.iter().find(|(_, given, owner)| *given && *owner != kind) {
        Some((name, _, owner)) => {
            Err(format!("`{name}` belongs to a `{owner}` block, this is a `{kind}` block"))
        }
        None => Ok(()),
    }
}

fn input(json: Option<Value>, raw: Option<String>) -> Result<InputSpec, String> {
    match (json, raw) {
        (None, None) => Ok(InputSpec::Absent),
        (None, Some(text)) => Ok(InputSpec::Raw(text)),
        (Some(value), None) => Ok(InputSpec::Json(value)),
        (Some(_), Some(_)) => Err("`input` and `input_raw` exclude each other".into()),
    }
}

fn opaque_object(value: Option<Value>) -> Result<Value, String> {
    match value {
        Some(value @ Value::Object(_)) => Ok(value),
        _ => Err("`opaque` needs an object, the block as the provider writes it".into()),
    }
}
