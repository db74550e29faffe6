//! The sugar for tools with a typed input.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    BoxFuture, Facts, Metadata, RawJson, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
};

/// A tool whose input is a Rust type. The schema is derived from it; its doc comments are the
/// model's words for each field.
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
    /// See [`Tool::facts`].
    fn facts(&self, input: &Self::Input, workspace: &str) -> Facts;
    /// See [`Tool::call`].
    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: Self::Input,
    ) -> BoxFuture<Result<ToolOutput, ToolError>>;
}

impl<T: TypedTool> Tool for T {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            input_schema: tool_schema::<T::Input>(),
        }
    }

    fn metadata(&self) -> Metadata {
        TypedTool::metadata(self)
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        match serde_json::from_str(input.get()) {
            Ok(input) => TypedTool::facts(self, &input, workspace),
            // The call will fail with the same error; until then it counts as anything.
            Err(error) => Facts {
                accesses: vec![crate::Access::Opaque(error.to_string())],
                exclusive: true,
                ..Facts::default()
            },
        }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        match serde_json::from_str(input.get()) {
            Ok(input) => TypedTool::call(self, context, input),
            Err(error) => {
                let text = format!("invalid input for {}: {error}", self.name());
                Box::pin(std::future::ready(Err(ToolError::ForModel(text))))
            }
        }
    }
}

/// The schema of `T` in the few words a model needs: no `$schema`, titles, number formats, or
/// `null` beside an optional field's type.
#[must_use]
pub fn tool_schema<T: JsonSchema>() -> RawJson {
    let generator = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    if let Value::Object(map) = &mut schema {
        // The input type's own words are for readers of the code; the tool has a description.
        map.shift_remove("description");
    }
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
    /// Not for the model.
    #[derive(schemars::JsonSchema, serde::Deserialize)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// Where.
        path: String,
        /// How many.
        limit: Option<u32>,
    }

    #[test]
    fn a_schema_says_only_what_a_model_needs() {
        assert_eq!(
            super::tool_schema::<Input>().get(),
            r#"{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":"integer","minimum":0,"description":"How many."}},"required":["path"]}"#
        );
    }
}
