//! Holds a result as JSON to the schema that its tool declares for it.

use heeler_core::{Block, RawJson, ToolOutput};

use super::validate::problems;
use crate::Toolset;

/// Where the tool declares what it gives: reads the text as JSON, unless the JSON stands beside it
/// already, and makes the output a failure when it is not what was declared. The text stays.
pub(super) fn check(tools: &Toolset, name: &str, output: &mut ToolOutput) {
    let Some(schema) = tools.output_schema(name) else { return };
    // What failed or has yet to come is described by words alone.
    if output.is_error || output.is_background {
        return;
    }
    let why = match schema {
        Err(error) => format!("its output schema is broken: {error}"),
        Ok(schema) => match structured(output).and_then(|json| Ok((json.to_value()?, json))) {
            Err(error) => format!("its result is no JSON: {error}"),
            Ok((value, json)) => {
                let problems = problems(schema, &value);
                output.structured = Some(json);
                if problems.is_empty() {
                    return;
                }
                format!("its result does not fit its output schema: {problems}")
            }
        },
    };
    output.structured = None;
    output.is_error = true;
    let said = if output.content.iter().all(Block::is_empty) { "" } else { "\n" };
    output.content.push(Block::text(format!("{said}The tool {name} ran, but {why}")));
}

/// Whether this is what the tool declares of its results, if it does.
pub(super) fn fits(tools: &Toolset, name: &str, json: &RawJson) -> bool {
    match tools.output_schema(name) {
        None => true,
        Some(schema) => {
            schema.is_ok_and(|schema| json.to_value().is_ok_and(|value| schema.accepts(&value)))
        }
    }
}

fn structured(output: &ToolOutput) -> Result<RawJson, heeler_core::RawJsonError> {
    match &output.structured {
        Some(json) => Ok(json.clone()),
        None => RawJson::parse(output.text_content().trim()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use heeler_core::{BoxFuture, Facts, Tool, ToolContext, ToolDefinition, ToolError};

    use super::*;

    /// A tool that declares this of its results.
    struct Declares(&'static str);

    impl Tool for Declares {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition::new("it", "", RawJson::empty_object())
        }

        fn output_schema(&self) -> Option<RawJson> {
            Some(RawJson::parse(self.0).unwrap())
        }

        fn facts(&self, _: &RawJson, _: &str) -> Facts {
            Facts::default()
        }

        fn call(
            self: Arc<Self>,
            _: ToolContext,
            _: RawJson,
        ) -> BoxFuture<Result<ToolOutput, ToolError>> {
            Box::pin(std::future::pending())
        }
    }

    /// What becomes of a text under a schema, a line each.
    fn check_said(cases: &[(&'static str, &str)], expected: Expect) {
        let mut said = String::new();
        for (schema, text) in cases {
            let tools = Toolset::new([Arc::new(Declares(schema)) as Arc<dyn Tool>]).unwrap();
            let mut output = ToolOutput::text(*text);
            check(&tools, "it", &mut output);
            let json = output.structured.as_ref().map_or("none", RawJson::get);
            let told = output.text_content().replace('\n', " | ");
            said.push_str(&format!("{} {json}: {told}\n", output.is_error));
        }
        expected.assert_eq(&said);
    }

    #[test]
    fn a_result_fits_what_was_declared_or_says_where_it_does_not() {
        let number = r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#;
        check_said(
            &[
                (number, r#" {"n": 1}"#),
                (number, r#"{"n": "1"}"#),
                (number, "one"),
                (number, ""),
                ("{}", "1e400"),
            ],
            expect![[r#"
                false {"n": 1}:  {"n": 1}
                true none: {"n": "1"} | The tool it ran, but its result does not fit its output schema: `/n`: "1" is not of type "integer"
                true none: one | The tool it ran, but its result is no JSON: not valid JSON: expected value at line 1 column 1
                true none: The tool it ran, but its result is no JSON: not valid JSON: EOF while parsing a value at line 1 column 0
                true none: 1e400 | The tool it ran, but its result is no JSON: not valid JSON: number out of range at line 1 column 5
            "#]],
        );
    }

    #[test]
    fn what_failed_and_what_has_yet_to_come_is_not_what_was_declared() {
        let tools = Toolset::new([Arc::new(Declares("{}")) as Arc<dyn Tool>]).unwrap();
        for output in [ToolOutput::error("no"), ToolOutput::background("it runs")] {
            let mut checked = output.clone();
            check(&tools, "it", &mut checked);
            assert_eq!(checked, output);
        }
    }

    #[test]
    fn a_schema_that_is_broken_is_told_as_the_tools_own_fault() {
        check_said(
            &[
                (r#"{"type": "nothing"}"#, "{}"),
                (r#"{"pattern": "("}"#, "{}"),
                (r#"{"properties": 1}"#, "{}"),
                (r#"{"$ref": "https://example.com/schema"}"#, "{}"),
                (r##"{"$ref": "#/$defs/none"}"##, "{}"),
                (r#"{"$vocabulary": {"https://example.com/of-nobody": true}}"#, "{}"),
                (r#"{"contentMediaType": "application/json"}"#, r#""{""#),
                ("1", "{}"),
                ("false", "{}"),
            ],
            expect![[r##"
                true none: {} | The tool it ran, but its output schema is broken: at `/type`: "nothing" is no type of a JSON value
                true none: {} | The tool it ran, but its output schema is broken: at `/pattern`: the pattern "(" cannot be used: Parsing error at position 1: Opening parenthesis without closing parenthesis
                true none: {} | The tool it ran, but its output schema is broken: at `/properties`: 1 is no object with schemas
                true none: {} | The tool it ran, but its output schema is broken: at `/$ref`: the reference "https://example.com/schema" leads out of the schema, and nothing is fetched
                true none: {} | The tool it ran, but its output schema is broken: at `/$ref`: the reference "#/$defs/none" leads to nothing
                false {}: {}
                false "{": "{"
                true none: {} | The tool it ran, but its output schema is broken: 1 is no schema: it has to be an object or a boolean
                true none: {} | The tool it ran, but its result does not fit its output schema: the input: {} is not allowed here
            "##]],
        );
    }
}
