//! Two ways to write the same that not every reader takes: a whole number with a point, and null for a
//! property that could be left out. They are put right without a word.

use std::collections::HashSet;

use heeler_schema::{Problem, Schema};
use serde_json::Value;

/// The most values of an input that are put right in each way, and problems that are looked at.
const CHANGES_MAX: usize = 10_000;
/// How often an input is looked at for integers: one that is found may decide about another.
const PASSES_MAX: usize = 3;
/// The most nulls that are tried one by one, each with a look at the whole input.
const SINGLES_MAX: usize = 16;
/// From this one on, a floating point number may not be the whole number that was written.
const WHOLE_END: f64 = 9_007_199_254_740_992.0;

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
    let (mut is_changed, mut left) = (false, whole);
    for _ in 0..PASSES_MAX {
        let integers = integers_among(schema, input, &left);
        if integers.is_empty() {
            break;
        }
        is_changed = true;
        left.retain(|(path, whole)| {
            let is_integer = integers.contains(path);
            if is_integer {
                put(input, path, as_integer(*whole));
            }
            !is_integer
        });
    }
    is_changed
}

/// The paths of those that are refused as soon as they are not whole, each only for that.
fn integers_among(schema: &Schema, input: &mut Value, whole: &[(String, f64)]) -> HashSet<String> {
    // All at once: a look at the whole input for each would take too long.
    for (path, whole) in whole {
        let point = whole.midpoint(whole + 1.0);
        // Half of a large number more may be that number again.
        put(input, path, Value::from(if point.fract() == 0.0 { 0.5 } else { point }));
    }
    let mut wanted = HashSet::new();
    for problem in schema.problems_up_to(input, CHANGES_MAX) {
        wants_integer(&problem, &mut wanted);
    }
    for (path, whole) in whole {
        put(input, path, Value::from(*whole));
    }
    let are: HashSet<&str> = whole.iter().map(|(path, _)| path.as_str()).collect();
    wanted.retain(|path| are.contains(path.as_str()));
    wanted
}

fn put(input: &mut Value, path: &str, value: Value) {
    if let Some(place) = input.pointer_mut(path) {
        *place = value;
    }
}

fn find_whole(value: &Value, path: &mut String, found: &mut Vec<(String, f64)>) {
    let length = path.len();
    match value {
        Value::Number(number) if number.is_f64() && found.len() < CHANGES_MAX => {
            let is_whole = |n: &f64| n.fract() == 0.0 && n.abs() < WHOLE_END;
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

/// Adds the places at which nothing but an integer is a number.
fn wants_integer(problem: &Problem<'_>, places: &mut HashSet<String>) {
    let wants =
        |wanted: heeler_schema::Types| wanted.contain("integer") && !wanted.contain("number");
    if problem.wanted().is_some_and(wants) {
        places.insert(problem.path().to_owned());
    }
    problem.alternatives().for_each(|other| wants_integer(other, places));
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
fn as_integer(whole: f64) -> Value {
    Value::from(whole as i64)
}

/// Leaves properties out that are null, where null is refused and nothing is not. Says whether there
/// was one.
pub(super) fn drop_nulls(schema: &Schema, input: &mut Value) -> bool {
    let mut is_changed = drop_all_nulls(schema, input);
    let mut refused: Vec<String> = Vec::new();
    for _ in 0..SINGLES_MAX {
        let problems = schema.problems_up_to(input, CHANGES_MAX);
        let found = problems.iter().find_map(|problem| null_of(problem, &refused));
        let Some(path) = found else { break };
        let before = problems.len();
        let mut without = input.clone();
        // One that is required would only be missing then.
        if remove(&mut without, &path)
            && schema.problems_up_to(&without, CHANGES_MAX).len() < before
        {
            *input = without;
            is_changed = true;
        } else {
            refused.push(path);
        }
    }
    is_changed
}

/// Leaves all of them out at once that are refused for themselves, but those of objects that would
/// then lack something.
fn drop_all_nulls(schema: &Schema, input: &mut Value) -> bool {
    let problems = schema.problems_up_to(input, CHANGES_MAX);
    let nulls = problems.iter().filter(|problem| problem.value().is_null());
    let mut nulls: Vec<String> = nulls.map(|problem| problem.path().to_owned()).collect();
    let places: HashSet<String> = problems.iter().map(|it| it.path().to_owned()).collect();
    let before = problems.len();
    // The second time, nothing should be missing any more.
    for _ in 0..2 {
        let mut without = input.clone();
        nulls.retain(|path| remove(&mut without, path));
        let after = schema.problems_up_to(&without, CHANGES_MAX);
        let lacking: HashSet<&str> =
            after.iter().map(Problem::path).filter(|path| !places.contains(*path)).collect();
        if lacking.is_empty() {
            let is_better = after.len() < before;
            if is_better {
                *input = without;
            }
            return is_better;
        }
        let fits = |path: &str| path.rsplit_once('/').is_none_or(|(of, _)| !lacking.contains(of));
        nulls.retain(|path| fits(path));
    }
    false
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
