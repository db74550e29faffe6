//! Two ways to write the same that not every reader takes: a whole number with a point, and null for a
//! property that could be left out. They are put right without a word.

use heeler_schema::{Problem, Schema};
use serde_json::Value;

/// The most values of an input that are put right in each way.
const CHANGES_MAX: usize = 64;
/// Whole numbers above this one may not be what a floating point number was meant to be.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The whole numbers that are written with a point (`3.0`), with their paths.
pub(super) fn whole_numbers(input: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    find_whole(input, &mut String::new(), &mut found);
    found
}

/// Writes such numbers, which a schema takes for integers and most readers do not, as integers, where
/// the schema wants no other number. Says whether there was one.
pub(super) fn write_integers(
    schema: &Schema,
    input: &mut Value,
    whole: Vec<(String, f64)>,
) -> bool {
    let mut is_changed = false;
    for (path, whole) in whole {
        let Some(place) = input.pointer_mut(&path) else { continue };
        // What is refused of half a number more is an integer's place.
        let point = std::mem::replace(place, Value::from(whole.midpoint(whole + 1.0)));
        let is_integers =
            schema.problems(input).iter().any(|problem| wants_integer(problem, &path));
        if let Some(place) = input.pointer_mut(&path) {
            *place = if is_integers { as_integer(whole) } else { point };
            is_changed |= is_integers;
        }
    }
    is_changed
}

fn find_whole(value: &Value, path: &mut String, found: &mut Vec<(String, f64)>) {
    let length = path.len();
    match value {
        Value::Number(number) if number.is_f64() && found.len() < CHANGES_MAX => {
            let is_whole = |n: &f64| n.fract() == 0.0 && n.abs() <= WHOLE_MAX;
            found.extend(number.as_f64().filter(is_whole).map(|whole| (path.clone(), whole)));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push_str(&format!("/{at}"));
                find_whole(item, path, found);
                path.truncate(length);
            }
        }
        Value::Object(properties) => {
            for (name, property) in properties {
                path.push('/');
                path.push_str(&heeler_schema::escaped(name));
                find_whole(property, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn wants_integer(problem: &Problem<'_>, path: &str) -> bool {
    let wants =
        |wanted: heeler_schema::Types| wanted.contain("integer") && !wanted.contain("number");
    (problem.path() == path && problem.wanted().is_some_and(wants))
        || problem.alternatives().any(|other| wants_integer(other, path))
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
fn as_integer(whole: f64) -> Value {
    Value::from(whole as i64)
}

/// Leaves properties out that are null, where null is refused and nothing is not. Says whether there
/// was one.
pub(super) fn drop_nulls(schema: &Schema, input: &mut Value) -> bool {
    let mut is_changed = false;
    let mut refused: Vec<String> = Vec::new();
    for _ in 0..CHANGES_MAX {
        let problems = schema.problems(input);
        let found = problems.iter().find_map(|problem| null_of(problem, &refused));
        let Some(path) = found else { break };
        let before = problems.len();
        let mut without = input.clone();
        // One that is required would only be missing then.
        if remove(&mut without, &path) && schema.problems(&without).len() < before {
            *input = without;
            is_changed = true;
        } else {
            refused.push(path);
        }
    }
    is_changed
}

/// The path of a null that is a problem.
fn null_of(problem: &Problem<'_>, but: &[String]) -> Option<String> {
    let is_new = || !but.iter().any(|path| path == problem.path());
    if problem.value().is_null() && is_new() {
        return Some(problem.path().to_owned());
    }
    problem.alternatives().find_map(|other| null_of(other, but))
}

/// Takes a property out of its object.
fn remove(input: &mut Value, path: &str) -> bool {
    let Some((parent, name)) = path.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    let object = input.pointer_mut(parent).and_then(Value::as_object_mut);
    object.is_some_and(|object| object.remove(&name).is_some())
}
