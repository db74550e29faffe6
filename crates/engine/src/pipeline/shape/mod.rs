//! Plain schemas, by which ordinary inputs are accepted without compiling anything.
//!
//! Compiling a schema costs more than the rest of a first round, and most schemas are plain and
//! most inputs right. A [`Shape`] says "surely valid" or nothing: a schema it cannot read whole,
//! and an input it does not accept, are for [`heeler_schema`] to decide and to find words for.
//!
//! Invariant: a schema that has a shape compiles, and accepts whatever its shape accepts.

use std::collections::{HashMap, HashSet};

use heeler_core::RawJson;
use serde_json::Value;

/// The drafts in which all that is read here means the same; 2020-12 is that of a schema that
/// names none.
const DRAFTS: [&str; 3] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];
/// Formats that say how wide a number is: schemars writes them, no draft checks them.
const WIDTHS: [&str; 12] = [
    "int8", "int16", "int32", "int64", "int", "uint8", "uint16", "uint32", "uint64", "uint",
    "float", "double",
];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// What a value must be like; the default accepts all.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    types: Option<Vec<String>>,
    values: Option<Vec<Value>>,
    constant: Option<Value>,
    any_of: Option<Vec<Shape>>,
    number: Bounds,
    chars: Bounds,
    items_count: Bounds,
    items: Option<Box<Shape>>,
    required: Vec<String>,
    properties: HashMap<String, Shape>,
    other_properties: Option<Box<Shape>>,
}

/// Whole numbers that are allowed, both ends included.
#[derive(Debug, Default)]
struct Bounds {
    min: Option<i64>,
    max: Option<i64>,
}

impl Shape {
    /// The shape of a schema that says nothing but what is known here.
    pub(crate) fn of(schema: &RawJson) -> Option<Self> {
        let mut schema = schema.value();
        if let Some(draft) = schema.as_object_mut()?.shift_remove("$schema")
            && !DRAFTS.contains(&draft.as_str()?)
        {
            return None;
        }
        Self::read(&schema)
    }

    fn read(schema: &Value) -> Option<Self> {
        let mut shape = Self::default();
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => shape.values = Some(Vec::new()),
            Value::Object(keywords) => {
                for (keyword, says) in keywords {
                    shape.add(keyword, says)?;
                }
            }
            _ => return None,
        }
        Some(shape)
    }

    /// `None` for what is unknown, malformed, or not worth knowing.
    fn add(&mut self, keyword: &str, says: &Value) -> Option<()> {
        match keyword {
            "default" => {}
            "examples" => drop(says.as_array()?),
            "title" | "description" | "$comment" => drop(says.as_str()?),
            "deprecated" | "readOnly" | "writeOnly" => drop(says.as_bool()?),
            "format" if WIDTHS.contains(&says.as_str()?) => {}
            "type" => self.types = Some(types(says)?),
            "enum" => self.values = Some(says.as_array()?.clone()),
            "const" => self.constant = Some(says.clone()),
            "anyOf" => self.any_of = Some(shapes(says)?),
            "minimum" => self.number.narrow(Some(says.as_i64()?), None),
            "maximum" => self.number.narrow(None, Some(says.as_i64()?)),
            "exclusiveMinimum" => self.number.narrow(Some(says.as_i64()?.checked_add(1)?), None),
            "exclusiveMaximum" => self.number.narrow(None, Some(says.as_i64()?.checked_sub(1)?)),
            "minLength" => self.chars.narrow(Some(count(says)?), None),
            "maxLength" => self.chars.narrow(None, Some(count(says)?)),
            "minItems" => self.items_count.narrow(Some(count(says)?), None),
            "maxItems" => self.items_count.narrow(None, Some(count(says)?)),
            "items" => self.items = Some(Box::new(Self::read(says)?)),
            "required" => self.required = names(says)?,
            "properties" => {
                let read = |(name, schema)| Some((String::clone(name), Self::read(schema)?));
                self.properties = says.as_object()?.iter().map(read).collect::<Option<_>>()?;
            }
            "additionalProperties" => self.other_properties = Some(Box::new(Self::read(says)?)),
            _ => return None,
        }
        Some(())
    }

    /// Whether a value is surely valid.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        let all_of_it = match value {
            Value::Number(number) => self.number.allow(|| number.as_i64()),
            Value::String(text) => self.chars.allow(|| text.chars().count().try_into().ok()),
            Value::Array(items) => {
                self.items_count.allow(|| items.len().try_into().ok())
                    && self
                        .items
                        .as_ref()
                        .is_none_or(|each| items.iter().all(|it| each.accepts(it)))
            }
            Value::Object(fields) => {
                self.required.iter().all(|name| fields.contains_key(name))
                    && fields.iter().all(|(name, field)| {
                        let own = self.properties.get(name);
                        own.or(self.other_properties.as_deref()).is_none_or(|it| it.accepts(field))
                    })
            }
            Value::Null | Value::Bool(_) => true,
        };
        all_of_it
            && self.types.as_ref().is_none_or(|types| types.iter().any(|name| is(name, value)))
            && self.values.as_ref().is_none_or(|values| values.contains(value))
            && self.constant.as_ref().is_none_or(|constant| constant == value)
            && self.any_of.as_ref().is_none_or(|shapes| shapes.iter().any(|it| it.accepts(value)))
    }
}

impl Bounds {
    fn narrow(&mut self, min: Option<i64>, max: Option<i64>) {
        self.min = self.min.max(min);
        self.max = [self.max, max].into_iter().flatten().min();
    }

    /// `number` is asked for when it matters; one that is not whole is beyond us.
    fn allow(&self, number: impl FnOnce() -> Option<i64>) -> bool {
        (self.min.is_none() && self.max.is_none())
            || number().is_some_and(|number| {
                self.min.is_none_or(|min| min <= number) && self.max.is_none_or(|max| number <= max)
            })
    }
}

fn is(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && !number.is_f64()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn types(says: &Value) -> Option<Vec<String>> {
    let types = match says {
        Value::String(one) => vec![one.clone()],
        several => names(several).filter(|names| !names.is_empty())?,
    };
    types.iter().all(|name| TYPES.contains(&name.as_str())).then_some(types)
}

/// Names that differ, as the schema of schemas demands.
fn names(says: &Value) -> Option<Vec<String>> {
    let names: Option<Vec<String>> =
        says.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    names.filter(|names| names.iter().collect::<HashSet<_>>().len() == names.len())
}

fn shapes(says: &Value) -> Option<Vec<Shape>> {
    let shapes = says.as_array()?.iter().map(Shape::read).collect::<Option<Vec<_>>>()?;
    Some(shapes).filter(|shapes| !shapes.is_empty())
}

fn count(says: &Value) -> Option<i64> {
    says.as_i64().filter(|count| *count >= 0)
}

#[cfg(test)]
mod tests;
