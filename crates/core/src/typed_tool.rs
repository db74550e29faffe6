//! The sugar for tools with a typed input.

use std::sync::Arc;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    BoxFuture, Facts, Metadata, RawJson, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
    from_json,
};

/// A tool whose input is a Rust type. The schema is derived from it; its doc comments are the
/// model's words for each field.
///
/// ```
/// use std::sync::Arc;
/// use heeler_core::{BoxFuture, Facts, ToolContext, ToolError, ToolOutput, TypedTool};
///
/// struct Shout;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Words {
///     /// What to shout.
///     text: String,
/// }
///
/// impl TypedTool for Shout {
///     type Input = Words;
///
///     fn name(&self) -> &str {
///         "shout"
///     }
///
///     fn description(&self) -> &str {
///         "Says a text loudly"
///     }
///
///     fn facts(&self, _: &Words, _: &str) -> Facts {
///         // It touches nothing outside of the process, so twice is as good as once.
///         Facts { replay_safe: true, ..Facts::default() }
///     }
///
///     fn call(
///         self: Arc<Self>,
///         _: ToolContext,
///         words: Words,
///     ) -> BoxFuture<Result<ToolOutput, ToolError>> {
///         Box::pin(async move { Ok(ToolOutput::text(words.text.to_uppercase())) })
///     }
/// }
/// ```
pub trait TypedTool: Send + Sync + 'static {
    /// The input, an object.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// The tool's name.
    fn name(&self) -> &str;
    /// Words for the model.
    fn description(&self) -> &str;
    /// See [`Tool::metadata`].
    fn metadata(&self) -> Metadata {
        Metadata::default()
    }
    /// See [`Tool::output_schema`]; [`tool_schema`] makes one of a type.
    fn output_schema(&self) -> Option<RawJson> {
        None
    }
    /// See [`Tool::facts`].
    fn facts(&self, input: &Self::Input, workspace: &str) -> Facts;
    /// See [`Tool::check`].
    fn check(
        self: Arc<Self>,
        _context: ToolContext,
        _input: Self::Input,
    ) -> BoxFuture<Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// See [`Tool::call`].
    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: Self::Input,
    ) -> BoxFuture<Result<ToolOutput, ToolError>>;
    /// See [`Tool::clean_up`].
    fn clean_up(
        self: Arc<Self>,
        _context: ToolContext,
        _input: Self::Input,
    ) -> BoxFuture<Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl<T: TypedTool> Tool for T {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.name(), self.description(), tool_schema::<T::Input>())
    }

    fn tool_name(&self) -> String {
        self.name().to_owned()
    }

    fn metadata(&self) -> Metadata {
        TypedTool::metadata(self)
    }

    fn output_schema(&self) -> Option<RawJson> {
        TypedTool::output_schema(self)
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        match from_json(input.get()) {
            Ok(input) => TypedTool::facts(self, &input, workspace),
            // The call will fail with the same error; until then it counts as anything.
            Err(error) => Facts {
                accesses: vec![crate::Access::Opaque(error.to_string())],
                exclusive: true,
                ..Facts::default()
            },
        }
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        match from_json(input.get()) {
            Ok(input) => TypedTool::check(self, context, input),
            Err(error) => Box::pin(std::future::ready(Err(invalid(self.name(), &error)))),
        }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        match from_json(input.get()) {
            Ok(input) => TypedTool::call(self, context, input),
            Err(error) => Box::pin(std::future::ready(Err(invalid(self.name(), &error)))),
        }
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        match from_json(input.get()) {
            Ok(input) => TypedTool::clean_up(self, context, input),
            // Such a call did nothing.
            Err(_) => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

fn invalid(name: &str, error: &serde_json::Error) -> ToolError {
    ToolError::ForModel(format!("invalid input for {name}: {error}"))
}

/// The schema of `T` in the few words a model needs: no `$schema`, titles, number formats, or
/// `null` beside an optional field's type.
#[must_use]
pub fn tool_schema<T: JsonSchema>() -> RawJson {
    in_few_words(T::json_schema)
}

/// What is the same for all types, so that it is in a program once.
fn in_few_words(json_schema: fn(&mut SchemaGenerator) -> Schema) -> RawJson {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    let mut schema = json_schema(&mut generator);
    schema.ensure_object();
    let mut schema = schema.to_value();
    // Of types that hold themselves; all others stand where they are used.
    let definitions = generator.take_definitions(true);
    if let Value::Object(map) = &mut schema {
        // The input type's own words are for readers of the code; the tool has a description.
        map.shift_remove("description");
        if !definitions.is_empty() {
            map.insert("$defs".into(), definitions.into());
        }
    }
    simplify(&mut schema);
    RawJson::from_value(&schema)
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for noise in ["$schema", "title", "format"] {
                // A property may have such a name; its value is then a schema, not a string.
                if map.get(noise).is_some_and(Value::is_string) {
                    map.shift_remove(noise);
                }
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".into(), only);
                }
            }
            map.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::Clock;

    /// Not for the model.
    #[derive(schemars::JsonSchema, serde::Deserialize)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// Where.
        path: String,
        /// How many.
        limit: Option<u32>,
    }

    /// Every place where the generator says more than a model needs.
    #[derive(schemars::JsonSchema, serde::Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Wordy {
        Named { title: String, format: Option<u8> },
        Many(Vec<Option<u32>>),
    }

    #[derive(schemars::JsonSchema, serde::Deserialize)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Nested {
        #[serde(default)]
        one: Option<Wordy>,
        #[serde(default)]
        count: u8,
    }

    #[test]
    fn a_schema_says_only_what_a_model_needs() {
        assert_eq!(
            tool_schema::<Input>().get(),
            r#"{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":"integer","minimum":0,"description":"How many."}},"required":["path"]}"#
        );
        assert_eq!(
            tool_schema::<Nested>().get(),
            r#"{"type":"object","properties":{"one":{"anyOf":[{"anyOf":[{"type":"object","properties":{"title":{"type":"string"},"format":{"type":"integer","minimum":0,"maximum":255}},"required":["title"]},{"type":"array","items":{"type":"integer","minimum":0}}],"description":"Every place where the generator says more than a model needs."},{"type":"null"}]},"count":{"type":"integer","minimum":0,"maximum":255,"default":0}}}"#
        );
    }

    #[test]
    fn a_type_that_holds_itself_is_defined_beside() {
        #[derive(schemars::JsonSchema, serde::Deserialize)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Tree {
            below: Vec<Tree>,
        }
        let schema = tool_schema::<Tree>().value();
        assert_eq!(schema["type"], "object");
        let name = schema.to_string();
        let (_, name) = name.split_once("#/$defs/").unwrap();
        let name = name.split('"').next().unwrap();
        assert_eq!(schema["$defs"][name]["type"], "object", "{schema}");
    }

    /// Repeats a text.
    struct Repeat;

    #[derive(schemars::JsonSchema, serde::Deserialize)]
    struct Text {
        text: String,
    }

    impl TypedTool for Repeat {
        type Input = Text;

        fn name(&self) -> &str {
            "repeat"
        }

        fn description(&self) -> &str {
            "Repeats."
        }

        fn metadata(&self) -> Metadata {
            Metadata { read_only: true, terminal: true, timeout_millis: 7, facts_change: true }
        }

        fn output_schema(&self) -> Option<RawJson> {
            Some(RawJson::empty_object())
        }

        fn facts(&self, input: &Text, workspace: &str) -> Facts {
            let path = format!("{workspace}/{}", input.text);
            Facts { accesses: vec![crate::Access::Read(path)], ..Facts::default() }
        }

        fn call(
            self: Arc<Self>,
            _: ToolContext,
            input: Text,
        ) -> BoxFuture<Result<ToolOutput, ToolError>> {
            Box::pin(async move { Ok(ToolOutput::text(input.text.repeat(2))) })
        }
    }

    struct NoTime;

    impl Clock for NoTime {
        fn now(&self) -> crate::Timestamp {
            crate::Timestamp(0)
        }

        fn sleep_until(&self, _: crate::Timestamp) -> BoxFuture<()> {
            Box::pin(std::future::ready(()))
        }
    }

    fn context() -> ToolContext {
        ToolContext::new("s".parse().unwrap(), "/space", Arc::new(NoTime))
    }

    /// What the tool's facts and its call say of an input.
    fn check(input: &str, facts: &Facts, said: Result<&str, &str>) {
        let (tool, input): (Arc<dyn Tool>, _) = (Arc::new(Repeat), RawJson::parse(input).unwrap());
        assert_eq!(&tool.facts(&input, "/space"), facts);
        let output = tool.call(context(), input).now_or_never().unwrap();
        let output = output.map(|output| output.text_content()).map_err(|error| error.to_string());
        assert_eq!(output.as_ref().map(String::as_str).map_err(String::as_str), said);
    }

    #[test]
    fn an_input_of_another_type_is_refused_and_counts_as_anything_until_then() {
        let facts = |access| Facts { accesses: vec![access], ..Facts::default() };
        let read = facts(crate::Access::Read("/space/ab".into()));
        check(r#"{"text":"ab"}"#, &read, Ok("abab"));
        let why = "missing field `text` at line 1 column 2";
        let opaque = Facts { exclusive: true, ..facts(crate::Access::Opaque(why.into())) };
        check("{}", &opaque, Err(&format!("invalid input for repeat: {why}")));
    }

    #[test]
    fn a_typed_tool_keeps_its_name_its_words_its_schemas_and_its_metadata() {
        let tool: &dyn Tool = &Repeat;
        let ToolDefinition { name, description, input_schema, .. } = tool.definition();
        assert_eq!((name.as_str(), description.as_str()), ("repeat", "Repeats."));
        assert_eq!(input_schema, tool_schema::<Text>());
        assert_eq!((tool.tool_name(), tool.output_schema()), (name, Some(RawJson::empty_object())));
        assert_eq!(
            tool.metadata(),
            Metadata { read_only: true, terminal: true, timeout_millis: 7, facts_change: true }
        );
    }
}
