//! Checks a call's input against the tool's whole JSON Schema.
//!
//! Models err in a few harmless ways (a number in quotes, an object written as a string). Those
//! are put right and noted; everything else goes back to the model with the path and the reason.

mod same;

use heeler_core::{RawJson, truncate_chars};
use heeler_schema::{Problem, Schema, Types};
use serde_json::Value;

use crate::Toolset;
use crate::bugs::{Bug, is_on};

/// The most problems told at once.
const PROBLEMS_MAX: usize = 5;
/// The most characters of one problem.
const PROBLEM_CHARS_MAX: usize = 300;
/// The most characters of a value in a problem that would be too long with all of it.
const VALUE_CHARS_MAX: usize = 100;
/// The most values put right in one input.
const COERCIONS_MAX: usize = 16;

/// An input that fits its schema.
#[derive(Debug)]
pub(super) struct Validated {
    /// The input to use, when it differs from the model's.
    pub(super) input: Option<RawJson>,
    /// What was put right.
    pub(super) notes: Vec<String>,
}

pub(super) fn validate(tools: &Toolset, name: &str, raw: &RawJson) -> Result<Validated, String> {
    let mut input = raw.to_value().map_err(|error| wrong_input(name, &error.to_string()))?;
    let was_null = input.is_null();
    if was_null {
        input = Value::Object(serde_json::Map::new());
    }
    let mut changed = was_null;
    let whole = same::whole_numbers(&input);
    // Most inputs have none, and need no schema that is compiled.
    if !whole.is_empty()
        && let Some(Ok(schema)) = tools.schema(name)
    {
        changed |= same::write_integers(schema, &mut input, whole);
    }
    let accepted = is_on(Bug::UncheckedInput) || tools.accepts(name, &input);
    let notes = match accepted {
        true => Vec::new(),
        false => {
            let (without_nulls, notes) = decide(tools, name, raw, &mut input)?;
            changed |= without_nulls || !notes.is_empty();
            notes
        }
    };
    let input = changed.then(|| RawJson::parse(&input.to_string())).transpose();
    let input = input.map_err(|error| wrong_input(name, &error.to_string()))?;
    Ok(Validated { input, notes })
}

/// Puts right what can be, and says whether nulls were left out and what else was put right, or why
/// the input is not valid.
fn decide(
    tools: &Toolset,
    name: &str,
    raw: &RawJson,
    input: &mut Value,
) -> Result<(bool, Vec<String>), String> {
    let schema = match tools.schema(name) {
        Some(Ok(schema)) => schema,
        Some(Err(error)) => return Err(format!("the tool {name} has a broken schema: {error}")),
        None => return Err(super::unknown_tool(tools, name)),
    };
    let without_nulls = same::drop_nulls(schema, input);
    let notes = coerce(schema, raw.get(), input);
    let problems = problems(schema, input);
    if problems.is_empty() {
        return Ok((without_nulls, notes));
    }
    Err(wrong_input(name, &problems))
}

fn wrong_input(name: &str, why: &str) -> String {
    format!(
        "invalid input for {name}: {why}. Nothing was run; call it again with a corrected input"
    )
}

/// What is wrong with a value, each problem with its path; empty when it fits.
pub(super) fn problems(schema: &Schema, value: &Value) -> String {
    let told: Vec<String> = schema.problems(value).iter().take(PROBLEMS_MAX).map(tell).collect();
    told.join("; ")
}

fn tell(problem: &Problem<'_>) -> String {
    let path = problem.path();
    let place = if path.is_empty() { "the input".to_owned() } else { format!("`{path}`") };
    let whole = format!("{place}: {problem}");
    if whole.chars().count() <= PROBLEM_CHARS_MAX {
        return whole;
    }
    // The value stands before the reason, which is not to be cut off with it.
    let value = problem.value().to_string();
    let problem = problem.with_value(&truncate_chars(&value, VALUE_CHARS_MAX));
    truncate_chars(&format!("{place}: {problem}"), PROBLEM_CHARS_MAX).into_owned()
}

/// Puts values of an evidently meant type right, and says which.
fn coerce(schema: &Schema, raw: &str, input: &mut Value) -> Vec<String> {
    let mut notes = Vec::new();
    while notes.len() < COERCIONS_MAX {
        let found = schema.problems(input).iter().find_map(|it| reread_at(it, raw));
        let Some((path, value, as_what)) = found else { break };
        let Some(place) = input.pointer_mut(&path) else { break };
        *place = value;
        notes.push(format!("Note: `{path}` was read as {as_what}."));
    }
    notes
}

/// Where a value of another type was meant, and which. Of several ways to be valid, the first counts
/// by which one is.
fn reread_at(problem: &Problem<'_>, raw: &str) -> Option<(String, Value, &'static str)> {
    if let Some(wanted) = problem.wanted() {
        let (value, as_what) = reread(problem.value(), wanted, raw)?;
        return Some((problem.path().to_owned(), value, as_what));
    }
    problem.alternatives().find_map(|other| reread_at(other, raw))
}

/// The value the model evidently meant.
fn reread(value: &Value, wanted: Types, raw: &str) -> Option<(Value, &'static str)> {
    let wants = |name: &str| wanted.contain(name);
    match value {
        Value::String(text) => {
            let inner: Value = serde_json::from_str(text.trim()).ok()?;
            match &inner {
                Value::Number(n) if wants("integer") && (n.is_i64() || n.is_u64()) => {
                    Some((inner, "an integer"))
                }
                Value::Number(_) if wants("number") => Some((inner, "a number")),
                Value::Bool(_) if wants("boolean") => Some((inner, "a boolean")),
                Value::Array(_) if wants("array") => Some((inner, "an array")),
                Value::Object(_) if wants("object") => Some((inner, "an object")),
                _ => None,
            }
        }
        Value::Number(number) if wants("string") => {
            let text = number.to_string();
            is_written(&text, raw).then(|| (Value::String(text), "a string"))
        }
        _ => None,
    }
}

/// Whether the model wrote this very number. As a text, one that was read and written again may be
/// another: a long one loses digits, and of `3.10` is left `3.1`.
fn is_written(number: &str, raw: &str) -> bool {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    raw.match_indices(number).any(|(at, _)| {
        !raw[..at].ends_with(goes_on) && !raw[at + number.len()..].starts_with(goes_on)
    })
}

#[cfg(test)]
mod tests;
