//! The schema of a tool's input: derived from a Rust type, built by hand, or written as JSON.

use std::ops::{Bound, RangeBounds};

use heeler_core::{RawJson, tool_schema};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The schema of a tool's input: a JSON Schema (2020-12) whose top type is `object`.
///
/// ```
/// use heeler_toolkit::{InputSchema, Object, Schema};
///
/// let built: InputSchema = Object::new()
///     .required("city", Schema::string("The city's name"))
///     .optional("days", Schema::integer("How many days ahead").range(1.0..=14.0))
///     .into();
/// let written = InputSchema::parse(r#"{"type": "object", "properties": {}}"#)?;
/// # assert!(built != written);
/// # Ok::<(), heeler_toolkit::SchemaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSchema(RawJson);

/// Why something is no schema of a tool's input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON.
    #[error("the schema is no JSON: {0}")]
    NotJson(String),
    /// Its top type is another one, or none.
    #[error("the schema's top type is {0}, and a tool's input is an object; wrap it in one")]
    NotAnObject(String),
    /// A type is not written as an object.
    #[error(
        "`{name}` is no input of a tool, nor a value to extract: its schema's top type is {top}, not \
         object; make it a field of a struct{}",
        hint(top)
    )]
    TypeNotAnObject {
        /// The type.
        name: String,
        /// What stands at the top of its schema.
        top: String,
    },
    /// It is no JSON Schema.
    #[error("the schema is no JSON Schema: {0}")]
    Invalid(String),
}

/// Why a type whose fields all have names may be no object.
fn hint(top: &str) -> &'static str {
    match top {
        MISSING => " (an enum has none, even if each of its variants has fields)",
        _ => "",
    }
}

/// What stands at the top of a schema without a type.
const MISSING: &str = "missing";

impl InputSchema {
    /// The schema of a type; the doc comments of its fields are the model's words for them.
    ///
    /// # Errors
    /// When the type is not written as an object. An enum is not, even if each of its variants has
    /// fields: make it a field of a struct.
    pub fn of<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::checked(tool_schema::<T>()).map_err(of_type::<T>)
    }

    /// As [`InputSchema::of`], with whether the type says nothing, as `()` does: an object without
    /// properties to the model.
    pub(crate) fn of_input<T: JsonSchema>() -> Result<(Self, bool), SchemaError> {
        let json = tool_schema::<T>();
        if json.value().get("type").is_some_and(|name| name == "null") {
            return Ok((Object::new().into(), true));
        }
        Ok((Self::checked(json).map_err(of_type::<T>)?, false))
    }

    /// A schema as JSON, taken as it is.
    ///
    /// # Errors
    /// When it is no JSON, no JSON Schema, or not that of an object.
    pub fn parse(json: &str) -> Result<Self, SchemaError> {
        Self::checked(
            RawJson::parse(json).map_err(|error| SchemaError::NotJson(error.to_string()))?,
        )
    }

    /// The schema as JSON.
    #[must_use]
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }

    /// The schema as JSON.
    #[must_use]
    pub fn into_json(self) -> RawJson {
        self.0
    }

    fn checked(json: RawJson) -> Result<Self, SchemaError> {
        let value = json.value();
        match value.get("type") {
            Some(Value::String(name)) if name == "object" => {}
            Some(other) => return Err(SchemaError::NotAnObject(other.to_string())),
            None => return Err(SchemaError::NotAnObject(MISSING.to_owned())),
        }
        compile(&value).map(|_| Self(json))
    }

    /// What says whether a value fits.
    pub(crate) fn compile(&self) -> Result<heeler_schema::Schema, SchemaError> {
        compile(&self.0.value())
    }
}

/// What is wrong with a value, for the model; the first of it is enough to try again.
pub(crate) fn first_problem(schema: &heeler_schema::Schema, value: &Value) -> Option<String> {
    let problems = schema.problems(value);
    problems.first().map(|problem| format!("`{}`: {problem}", problem.path()))
}

/// The same failure as one of the type.
fn of_type<T>(error: SchemaError) -> SchemaError {
    match error {
        SchemaError::NotAnObject(top) => {
            SchemaError::TypeNotAnObject { name: std::any::type_name::<T>().to_owned(), top }
        }
        other => other,
    }
}

fn compile(schema: &Value) -> Result<heeler_schema::Schema, SchemaError> {
    heeler_schema::Schema::new(schema).map_err(|error| SchemaError::Invalid(error.to_string()))
}

impl From<Object> for InputSchema {
    fn from(object: Object) -> Self {
        Self(RawJson::from_value(&Value::Object(object.into_map())))
    }
}

/// The properties of an object, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    properties: Map<String, Value>,
    required: Vec<Value>,
    is_closed: bool,
}

impl Object {
    /// An object without properties.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a property that must be given.
    #[must_use]
    pub fn required(mut self, name: &str, schema: Schema) -> Self {
        if !self.required.iter().any(|required| required == name) {
            self.required.push(name.into());
        }
        self.with(name, schema)
    }

    /// With a property that may be left out.
    #[must_use]
    pub fn optional(mut self, name: &str, schema: Schema) -> Self {
        self.required.retain(|required| required != name);
        self.with(name, schema)
    }

    /// Refuses properties that are not named.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.is_closed = true;
        self
    }

    fn with(mut self, name: &str, schema: Schema) -> Self {
        self.properties.insert(name.to_owned(), Value::Object(schema.0));
        self
    }

    fn into_map(self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("type".into(), "object".into());
        map.insert("properties".into(), Value::Object(self.properties));
        if !self.required.is_empty() {
            map.insert("required".into(), Value::Array(self.required));
        }
        if self.is_closed {
            map.insert("additionalProperties".into(), false.into());
        }
        map
    }
}

/// The schema of one value: its type, words for the model, and what it may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema(Map<String, Value>);

impl Schema {
    /// A text.
    #[must_use]
    pub fn string(description: &str) -> Self {
        Self::of("string", description)
    }

    /// A number.
    #[must_use]
    pub fn number(description: &str) -> Self {
        Self::of("number", description)
    }

    /// A whole number.
    #[must_use]
    pub fn integer(description: &str) -> Self {
        Self::of("integer", description)
    }

    /// Yes or no.
    #[must_use]
    pub fn boolean(description: &str) -> Self {
        Self::of("boolean", description)
    }

    /// A list of values of one kind.
    #[must_use]
    pub fn array(description: &str, items: Self) -> Self {
        Self::of("array", description).with("items", Value::Object(items.0))
    }

    /// An object within the input.
    #[must_use]
    pub fn object(description: &str, object: Object) -> Self {
        let mut schema = Self(object.into_map());
        schema.describe(description);
        schema
    }

    /// Only these values: texts, numbers, or any [`serde_json::Value`].
    #[must_use]
    pub fn one_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.with("enum", values.into_iter().map(Into::into).collect())
    }

    /// Numbers from here to there: `1.0..=14.0`, `0.0..`, `..1.0`. A bound that is no finite number
    /// counts as none.
    #[must_use]
    pub fn range(self, range: impl RangeBounds<f64>) -> Self {
        let low = match range.start_bound() {
            Bound::Included(low) => Some(("minimum", *low)),
            Bound::Excluded(low) => Some(("exclusiveMinimum", *low)),
            Bound::Unbounded => None,
        };
        let high = match range.end_bound() {
            Bound::Included(high) => Some(("maximum", *high)),
            Bound::Excluded(high) => Some(("exclusiveMaximum", *high)),
            Bound::Unbounded => None,
        };
        [low, high]
            .into_iter()
            .flatten()
            .fold(self, |schema, (name, bound)| schema.with_if_some(name, number(bound)))
    }

    /// So many characters of a text, or items of a list: `1..=50`, `..=200`.
    #[must_use]
    pub fn length(self, range: impl RangeBounds<u64>) -> Self {
        let (least, most) = match self.0.get("type").and_then(Value::as_str) {
            Some("array") => ("minItems", "maxItems"),
            _ => ("minLength", "maxLength"),
        };
        let low = match range.start_bound() {
            Bound::Included(low) => Some(*low),
            Bound::Excluded(low) => Some(low.saturating_add(1)),
            Bound::Unbounded => None,
        };
        let high = match range.end_bound() {
            Bound::Included(high) => Some(*high),
            Bound::Excluded(high) => Some(high.saturating_sub(1)),
            Bound::Unbounded => None,
        };
        self.with_if_some(least, low.map(Value::from)).with_if_some(most, high.map(Value::from))
    }

    /// Only texts that this regular expression (ECMA 262) finds something in: `^` and `$` hold it to
    /// the whole text. One that is no expression makes every call of the tool an error that says so.
    #[must_use]
    pub fn pattern(self, pattern: &str) -> Self {
        self.with("pattern", pattern.into())
    }

    /// A text of a format that JSON Schema names, such as `date`; advice for the model.
    #[must_use]
    pub fn format(self, format: &str) -> Self {
        self.with("format", format.into())
    }

    /// What it is when it is left out; advice for the model.
    #[must_use]
    pub fn default_value(self, value: impl Into<Value>) -> Self {
        self.with("default", value.into())
    }

    fn of(name: &str, description: &str) -> Self {
        let mut schema = Self(Map::new());
        schema.0.insert("type".into(), name.into());
        schema.describe(description);
        schema
    }

    fn describe(&mut self, description: &str) {
        if !description.is_empty() {
            self.0.insert("description".into(), description.into());
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    fn with_if_some(self, name: &str, value: Option<Value>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// Whole numbers are written without a fraction, as people write them.
fn number(bound: f64) -> Option<Value> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if !bound.is_finite() {
        return None;
    }
    let is_whole = bound.fract() == 0.0 && bound.abs() <= EXACT_MAX;
    #[expect(clippy::cast_possible_truncation, reason = "whole, and small enough to be exact")]
    Some(if is_whole { json!(bound as i64) } else { json!(bound) })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(object: Object, expected: Expect) {
        let schema = InputSchema::from(object);
        expected.assert_eq(schema.as_json().get());
        assert_eq!(InputSchema::parse(schema.as_json().get()), Ok(schema));
    }

    #[test]
    fn every_kind_of_value_can_be_described() {
        let place = Object::new()
            .required("name", Schema::string("Its name").length(1..=50))
            .optional("kind", Schema::string("").one_of(["town", "village"]))
            .closed();
        check(Object::new(), expect![[r#"{"type":"object","properties":{}}"#]]);
        check(
            Object::new()
                .required("place", Schema::object("Where", place))
                .required("days", Schema::integer("How many").range(1.0..=14.0))
                .optional("share", Schema::number("Of all").range(..0.5).default_value(0.25))
                .optional("is_dry", Schema::boolean("Whether"))
                .optional("tags", Schema::array("All", Schema::string("One")).length(..3))
                .optional("on", Schema::string("Day").format("date").pattern("^2")),
            expect![[
                r#"{"type":"object","properties":{"place":{"type":"object","properties":{"name":{"type":"string","description":"Its name","minLength":1,"maxLength":50},"kind":{"type":"string","enum":["town","village"]}},"required":["name"],"additionalProperties":false,"description":"Where"},"days":{"type":"integer","description":"How many","minimum":1,"maximum":14},"share":{"type":"number","description":"Of all","exclusiveMaximum":0.5,"default":0.25},"is_dry":{"type":"boolean","description":"Whether"},"tags":{"type":"array","description":"All","items":{"type":"string","description":"One"},"maxItems":2},"on":{"type":"string","description":"Day","format":"date","pattern":"^2"}},"required":["place","days"]}"#
            ]],
        );
    }

    #[test]
    fn a_property_named_twice_is_what_it_was_last() {
        let twice = Object::new()
            .required("a", Schema::string(""))
            .required("a", Schema::boolean(""))
            .required("b", Schema::string(""))
            .optional("b", Schema::string(""));
        check(
            twice,
            expect![[
                r#"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"string"}},"required":["a"]}"#
            ]],
        );
    }

    #[test]
    fn what_is_no_schema_of_an_object_is_refused() {
        let refused = |json: &str, expected: Expect| {
            expected.assert_eq(&InputSchema::parse(json).unwrap_err().to_string());
        };
        refused(
            "{",
            expect![
                "the schema is no JSON: not valid JSON: EOF while parsing an object at line 1 column 1"
            ],
        );
        refused(
            r#"{"type": "string"}"#,
            expect![[
                r#"the schema's top type is "string", and a tool's input is an object; wrap it in one"#
            ]],
        );
        refused(
            r#"{"properties": {}}"#,
            expect![
                "the schema's top type is missing, and a tool's input is an object; wrap it in one"
            ],
        );
        refused(
            "[]",
            expect![
                "the schema's top type is missing, and a tool's input is an object; wrap it in one"
            ],
        );
        refused(
            r#"{"type": "object", "properties": {"a": {"type": "text"}}}"#,
            expect![[
                r#"the schema is no JSON Schema: at `/properties/a/type`: "text" is no type of a JSON value"#
            ]],
        );
        let error = InputSchema::of::<Vec<String>>().unwrap_err().to_string();
        assert!(error.contains("\"array\""), "{error}");
        #[derive(JsonSchema)]
        #[serde(tag = "kind")]
        #[expect(dead_code, reason = "only its schema is looked at")]
        enum Either {
            One { a: u32 },
            Other { b: u32 },
        }
        let error = InputSchema::of::<Either>().unwrap_err().to_string();
        assert!(error.contains("Either` is no input of a tool"), "{error}");
        assert!(error.ends_with("(an enum has none, even if each of its variants has fields)"));
    }

    #[test]
    fn bounds_that_are_no_numbers_are_none() {
        let schema = Schema::number("").range(f64::NEG_INFINITY..=f64::NAN);
        assert_eq!(schema, Schema::number(""));
        assert_eq!(number(1e300), Some(json!(1e300)));
        assert_eq!(number(-3.0), Some(json!(-3)));
    }
}
