//! Holds a result as JSON to the schema that its tool declares for it.

use heeler_core::{Block, RawJson, ToolOutput};

use super::validate::problems;
use crate::Toolset;

/// Where the tool declares what it gives: reads the text as JSON, unless the JSON stands beside it
/// already, and makes the output a failure when it is not what was declared. The text stays.
pub(super) fn check(tools: &Toolset, name: &str, output: &mut ToolOutput) {
    let Some(schema) = tools.output_validator(name) else { return };
    // What failed or has yet to come is described by words alone.
    if output.is_error || output.is_background {
        return;
    }
    let why = match schema {
        Err(error) => format!("its output schema is broken: {error}"),
        Ok(validator) => match structured(output) {
            Err(error) => format!("its result is no JSON: {error}"),
            Ok(json) => {
                let problems = problems(validator, &json.value());
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

fn structured(output: &ToolOutput) -> Result<RawJson, heeler_core::RawJsonError> {
    match &output.structured {
        Some(json) => Ok(json.clone()),
        None => RawJson::parse(output.text_content().trim()),
    }
}
