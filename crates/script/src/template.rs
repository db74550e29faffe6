//! Fills captured values into a reply: `{{name}}`, and `{{name:number}}` for a JSON number.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::block::InputSpec;
use crate::{BlockSpec, ReplySpec};

/// The longest text a template may become, in bytes.
pub(crate) const FILLED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Captured values by name.
pub(crate) type Values = BTreeMap<String, String>;

/// The names a reply's templates refer to.
pub(crate) fn names_used(reply: &ReplySpec) -> Vec<String> {
    let mut names = Vec::new();
    let mut look = |text: &str| names.extend(references(text).map(|r| r.name.to_owned()));
    reply.text.iter().for_each(|text| look(text));
    for block in &reply.blocks {
        match block {
            BlockSpec::Text { text } | BlockSpec::Thinking { text, .. } => look(text),
            BlockSpec::Call { input: InputSpec::Raw(text), .. } => look(text),
            BlockSpec::Call { input: InputSpec::Json(value), .. } => each_string(value, &mut look),
            BlockSpec::Call { .. } | BlockSpec::Redacted { .. } | BlockSpec::Opaque { .. } => {}
        }
    }
    names
}

/// The text with its references replaced.
pub(crate) fn fill(text: &str, values: &Values) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut copied = 0;
    for reference in references(text) {
        filled.push_str(&text[copied..reference.start]);
        filled.push_str(value_of(&reference, values)?);
        copied = reference.end;
        if filled.len() > FILLED_BYTES_MAX {
            return Err(format!("a text became longer than {FILLED_BYTES_MAX} bytes"));
        }
    }
    filled.push_str(&text[copied..]);
    Ok(filled)
}

/// The value with the references in its strings replaced; a string that is one `:number` reference
/// becomes a number.
pub(crate) fn fill_value(value: &Value, values: &Values) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match whole_number(text) {
            Some(reference) => {
                let found = value_of(&reference, values)?;
                let number = found.trim().parse::<serde_json::Number>();
                let refuse = |_| format!("`{}` is {found:?}, no number", reference.name);
                Value::Number(number.map_err(refuse)?)
            }
            None => Value::String(fill(text, values)?),
        },
        Value::Array(items) => Value::Array(
            items.iter().map(|item| fill_value(item, values)).collect::<Result<_, _>>()?,
        ),
        Value::Object(map) => {
            let filled = map.iter().map(|(k, v)| Ok((k.clone(), fill_value(v, values)?)));
            Value::Object(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// One `{{name}}` within a text.
struct Reference<'t> {
    name: &'t str,
    is_number: bool,
    start: usize,
    end: usize,
}

/// All references in a text, in order; other braces are text.
fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find("{{")?;
            let inner = start + 2;
            from = inner;
            let length = text.get(inner..)?.find("}}")?;
            let (name, is_number) = match text[inner..inner + length].split_once(':') {
                Some((name, "number")) => (name, true),
                _ => (&text[inner..inner + length], false),
            };
            if is_name(name) {
                from = inner + length + 2;
                return Some(Reference { name, is_number, start, end: from });
            }
            // `{{{x}}` holds a reference one character further on.
            from = start + 1;
        }
    })
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn whole_number(text: &str) -> Option<Reference<'_>> {
    let reference = references(text).next()?;
    (reference.is_number && reference.start == 0 && reference.end == text.len())
        .then_some(reference)
}

fn value_of<'v>(reference: &Reference<'_>, values: &'v Values) -> Result<&'v str, String> {
    values.get(reference.name).map(String::as_str).ok_or_else(|| {
        format!(
            "`{{{{{0}}}}}` has no value: the reply that captures `{0}` was not given",
            reference.name
        )
    })
}

fn each_string(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, look)),
        Value::Object(map) => map.values().for_each(|item| each_string(item, look)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        [("a", "1"), ("b_2", "x\"y")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    }

    #[test]
    fn replaces_names_and_leaves_other_braces() {
        let cases = [
            ("{{a}}+{{b_2}}", "1+x\"y"),
            ("{{ a }} {{}} {{a", "{{ a }} {{}} {{a"),
            ("{{{a}}}", "{1}"),
            ("{\"k\": {\"l\": {{a}}}}", "{\"k\": {\"l\": 1}}"),
        ];
        for (text, expected) in cases {
            assert_eq!(fill(text, &values()).unwrap(), expected, "{text}");
        }
        assert!(fill("{{gone}}", &values()).unwrap_err().contains("`{{gone}}` has no value"));
    }

    #[test]
    fn numbers_keep_their_type() {
        let value = serde_json::json!({"n": "{{a:number}}", "s": ["{{a}}", "{{a:number}}!"]});
        let expected = serde_json::json!({"n": 1, "s": ["1", "1!"]});
        assert_eq!(fill_value(&value, &values()).unwrap(), expected);
        let wrong = serde_json::json!("{{b_2:number}}");
        assert_eq!(fill_value(&wrong, &values()).unwrap_err(), "`b_2` is \"x\\\"y\", no number");
    }

    #[test]
    fn a_text_cannot_grow_without_bound() {
        let values = [("a".to_owned(), "x".repeat(1024 * 1024))].into();
        let error = fill(&"{{a}}".repeat(17), &values).unwrap_err();
        assert_eq!(error, format!("a text became longer than {FILLED_BYTES_MAX} bytes"));
    }
}
