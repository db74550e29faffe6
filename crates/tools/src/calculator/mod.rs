//! `Calculator`: an expression's value, exact wherever there is an exact one.

mod number;
mod parse;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use heeler_core::{BoxFuture, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::blocking;

/// Bytes of an expression. Each is looked at once, and with what a number may hold this bounds the
/// time.
const EXPRESSION_BYTES_MAX: usize = 1_000;
/// Characters of an expression that an error shows from its place on.
const SHOWN_CHARS_MAX: usize = 20;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calculator {}

/// What the model gives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalculatorInput {
    /// Such as `2^64 / 3 + sqrt(2)`.
    pub expression: String,
}

/// What is wrong with an expression, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wrong {
    at: usize,
    why: String,
}

impl Wrong {
    fn new(at: usize, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }

    fn shown(&self, expression: &str) -> String {
        let at = expression.floor_char_boundary(self.at);
        let (before, rest) = expression.split_at(at);
        let place = before.chars().count() + 1;
        let rest: String =
            rest.chars().filter(|char| !char.is_control()).take(SHOWN_CHARS_MAX).collect();
        match &*rest {
            "" => format!("character {place}, the end: {}", self.why),
            rest => format!("character {place}, at `{rest}`: {}", self.why),
        }
    }
}

impl TypedTool for Calculator {
    type Input = CalculatorInput;

    fn name(&self) -> &str {
        "Calculator"
    }

    fn description(&self) -> &str {
        "Calculates with numbers of any size, exactly: + - * / % (sign of the dividend) ^ ! ( ), abs, \
         floor, ceil, round, min, max, gcd, sqrt. Also ln, log2, log10, exp, sin, cos, tan (radians), \
         pi, e. A value that is not exact begins with ~."
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, _: &CalculatorInput, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: CalculatorInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |_| {
            calculated(&input.expression).map(ToolOutput::text).map_err(ToolError::for_model)
        })
    }
}

fn calculated(expression: &str) -> Result<String, String> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(format!("an expression has at most {EXPRESSION_BYTES_MAX} bytes; split it"));
    }
    let value = parse::value(expression).map_err(|wrong| wrong.shown(expression))?;
    Ok(value.to_string())
}
