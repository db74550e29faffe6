//! Where two JSON documents part, in words for a person.

use std::fmt;

use serde_json::Value;

/// The most characters of a value that are shown.
const SHOWN_CHARS_MAX: usize = 80;
/// How many characters before the first different one are shown.
const BEFORE_CHARS: usize = 20;
/// Stands for what one of the documents does not have.
const NOTHING: &str = "nothing";

/// The first place where two JSON documents differ.
///
/// ```
/// use heeler_core::Difference;
/// use serde_json::json;
///
/// let (expected, found) = (json!({"a": [1, {"b": "x"}]}), json!({"a": [1, {"b": "y"}]}));
/// let difference = Difference::first(&expected, &found).ok_or("they are the same")?;
/// assert_eq!(difference.to_string(), r#"at a[1].b: expected "x", found "y""#);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, such as `messages[2].role`; empty for the documents themselves.
    pub path: String,
    /// What was expected there, shortened.
    pub expected: String,
    /// What is there, shortened.
    pub found: String,
}

impl Difference {
    /// The first difference, in the order of what is expected; `None` for equal documents. The order
    /// of an object's fields is none.
    #[must_use]
    pub fn first(expected: &Value, found: &Value) -> Option<Self> {
        let mut path = Vec::new();
        let (expected, found) = part(&mut path, Some(expected), Some(found))?;
        Some(Self { path: written(&path), expected, found })
    }

    /// The same difference within a larger document, where the two stand at `place`.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{place}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, found } = self;
        match path.as_str() {
            "" => write!(f, "expected {expected}, found {found}"),
            path => write!(f, "at {path}: expected {expected}, found {found}"),
        }
    }
}

enum Step {
    Field(String),
    Item(usize),
}

/// Goes to the first place that differs, and says what stands there in both.
fn part(
    path: &mut Vec<Step>,
    expected: Option<&Value>,
    found: Option<&Value>,
) -> Option<(String, String)> {
    match (expected, found) {
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for at in 0..expected.len().max(found.len()) {
                path.push(Step::Item(at));
                let parted = part(path, expected.get(at), found.get(at));
                if parted.is_some() {
                    return parted;
                }
                path.pop();
            }
            None
        }
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let more = found.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(more) {
                path.push(Step::Field(key.clone()));
                let parted = part(path, expected.get(key), found.get(key));
                if parted.is_some() {
                    return parted;
                }
                path.pop();
            }
            None
        }
        (Some(Value::String(expected)), Some(Value::String(found))) => texts(expected, found),
        (expected, found) if expected == found => None,
        (expected, found) => Some((shown(expected), shown(found))),
    }
}

/// Two texts from a little before their first difference.
fn texts(expected: &str, found: &str) -> Option<(String, String)> {
    if expected == found {
        return None;
    }
    let same = expected.chars().zip(found.chars()).take_while(|(one, other)| one == other).count();
    let skip = match expected.chars().count().max(found.chars().count()) > SHOWN_CHARS_MAX {
        true => same.saturating_sub(BEFORE_CHARS),
        false => 0,
    };
    let piece = |text: &str| {
        let begins = if skip > 0 { "…" } else { "" };
        let rest: String = text.chars().skip(skip).collect();
        Value::from(format!("{begins}{}", cut(&rest))).to_string()
    };
    Some((piece(expected), piece(found)))
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| cut(&value.to_string()))
}

fn cut(text: &str) -> String {
    crate::truncate_chars(text, SHOWN_CHARS_MAX).into_owned()
}

fn written(path: &[Step]) -> String {
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    path.iter().fold(String::new(), |path, step| match step {
        Step::Item(at) => format!("{path}[{at}]"),
        Step::Field(name) if !plain(name) => format!("{path}[{}]", Value::from(name.as_str())),
        Step::Field(name) if path.is_empty() => name.clone(),
        Step::Field(name) => format!("{path}.{name}"),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(expected: Value, found: Value, told: Expect) {
        told.assert_eq(&Difference::first(&expected, &found).unwrap().to_string());
    }

    #[test]
    fn the_first_place_is_told_with_what_stands_there() {
        check(json!(1), json!("1"), expect![[r#"expected 1, found "1""#]]);
        check(
            json!({"b": 1, "a": [{"c d": true}]}),
            json!({"a": [{"c d": false}], "b": 1}),
            expect![[r#"at a[0]["c d"]: expected true, found false"#]],
        );
        check(json!([1, 2]), json!([1]), expect!["at [1]: expected 2, found nothing"]);
        check(
            json!({"a": {}}),
            json!({"a": {"x": null}}),
            expect!["at a.x: expected nothing, found null"],
        );
        check(json!([[]]), json!([{}]), expect!["at [0]: expected [], found {}"]);
    }

    #[test]
    fn what_is_long_is_shown_from_a_little_before() {
        let long = |end: &str| format!("{}{end}{}", "é".repeat(500), "z".repeat(500));
        check(
            json!({"text": long("one")}),
            json!({"text": long("other")}),
            expect![[
                r#"at text: expected "…éééééééééééééééééééonezzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…", found "…éééééééééééééééééééotherzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…""#
            ]],
        );
        check(json!([1]), json!(vec![1; 100]), expect!["at [1]: expected nothing, found 1"]);
        check(
            json!(null),
            json!(vec![1; 100]),
            expect![
                "expected null, found [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,…"
            ],
        );
    }

    #[test]
    fn a_text_that_can_be_shown_whole_is() {
        check(json!("x"), json!("y"), expect![[r#"expected "x", found "y""#]]);
        let text = |n: usize, end: &str| json!(format!("{}{end}", "a".repeat(n - 1)));
        check(
            text(80, "x"),
            text(80, "y"),
            expect![[
                r#"expected "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax", found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay""#
            ]],
        );
        check(
            text(81, "x"),
            text(80, "y"),
            expect![[r#"expected "…aaaaaaaaaaaaaaaaaaaaax", found "…aaaaaaaaaaaaaaaaaaaay""#]],
        );
    }

    #[test]
    fn a_difference_can_stand_within_something_larger() {
        let first = |expected: Value, found: Value| Difference::first(&expected, &found).unwrap();
        let at = |difference: Difference| difference.within("a[0]").path;
        assert_eq!(at(first(json!(1), json!(2))), "a[0]");
        assert_eq!(at(first(json!([1]), json!([2]))), "a[0][0]");
        assert_eq!(at(first(json!({"b": 1}), json!({"b": 2}))), "a[0].b");
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![any::<bool>().prop_map(Value::from), "[ab]{0,3}".prop_map(Value::from)];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[ab]", inner, 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn there_is_one_exactly_when_they_differ(expected in value(), found in value()) {
            prop_assert_eq!(Difference::first(&expected, &found).is_none(), expected == found);
            prop_assert_eq!(Difference::first(&expected, &expected.clone()), None);
        }
    }
}
