//! Beside another validator, over schemas and values that are made up: what is a schema for the one
//! is one for the other, and both accept the same.

use std::cell::Cell;

use heeler_schema::Schema;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

const CASES: u32 = 6_000;
/// Of the values, at least these parts in a hundred are accepted, and refused.
const PERCENT_MIN: usize = 10;
const DRAFTS: [&str; 6] = [
    "",
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
];
/// What is refused here and not there.
const STRICTER: [&str; 3] = ["without end", "leads to no", "another schema has the anchor"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Small, so that schemas and values often meet. No whole number is written with a point: the oldest
/// draft calls such a one no integer, which is not done here.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        prop::sample::select(vec![json!(1.5), json!(0.3), json!(u64::MAX), json!(-1e300)]),
        prop::sample::select(vec!["", "a", "b", "éé", "abc", "a b", "1"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(name(), inner),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "d/e"]).prop_map(str::to_owned)
}

fn object(
    names: impl Strategy<Value = String>,
    values: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    prop::collection::vec((names, values), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

type Pair = BoxedStrategy<(String, Value)>;

fn keyword<V: Into<Value> + std::fmt::Debug>(
    names: &[&'static str],
    says: impl Strategy<Value = V> + 'static,
) -> Pair {
    let names = prop::sample::select(names.to_vec());
    (names, says).prop_map(|(name, says)| (name.to_owned(), says.into())).boxed()
}

/// Keywords without schemas in them.
fn flat() -> Pair {
    let number = prop_oneof![
        (-2i64..4).prop_map(Value::from),
        prop::sample::select(vec![json!(0.5), json!(0.1), json!(1.0), json!(u64::MAX)]),
    ];
    let pattern = prop::sample::select(vec!["^a", "b", "^[a-z]+$", r"^\w$", "^(?!a)", r"\S\s", ""]);
    let types = prop::collection::vec(prop::sample::select(TYPES.to_vec()), 0..4);
    let reference = prop::sample::select(vec![
        "#/$defs/a",
        "#/definitions/b",
        "#/$defs/d~1e",
        "#x",
        "other",
        "other#/$defs/a",
        "#/nowhere",
    ]);
    prop_oneof![
        6 => keyword(&["type"], prop::sample::select(TYPES.to_vec())),
        2 => keyword(&["type"], types),
        2 => keyword(&["enum"], prop::collection::vec(value(), 1..4)),
        1 => keyword(&["const"], value()),
        3 => keyword(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], number),
        3 => keyword(
            &["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
              "minContains", "maxContains"],
            0i64..4,
        ),
        2 => keyword(&["pattern"], pattern),
        1 => keyword(&["uniqueItems"], any::<bool>()),
        2 => keyword(&["required"], prop::collection::vec(name(), 1..3)),
        1 => keyword(&["dependentRequired", "dependencies"],
            object(name(), prop::collection::vec(name(), 0..3).prop_map(Value::from))),
        3 => keyword(&["$ref"], reference),
        1 => keyword(&["title", "format", "$comment"], prop::sample::select(vec!["t", "email"])),
        1 => keyword(&["unknown", "then", "$anchor", "examples", "deprecated", "minLength",
            "required", "properties", "allOf", "not", "if"], value()),
    ]
    .boxed()
}

fn schema_of(keyword: Pair, count: std::ops::Range<usize>) -> BoxedStrategy<Value> {
    prop::collection::vec(keyword, count)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        .boxed()
}

fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![9 => schema_of(flat(), 0..3), 1 => any::<bool>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        let named = || object(name(), inner.clone());
        let patterns = || prop::sample::select(vec!["^a", "b|c", "^.$"]).prop_map(str::to_owned);
        let nested = prop_oneof![
            4 => keyword(&["properties"], named()),
            2 => keyword(&["patternProperties"], object(patterns(), inner.clone())),
            2 => keyword(&["$defs", "definitions"], named()),
            1 => keyword(&["dependentSchemas", "dependencies"], named()),
            3 => keyword(&["allOf", "anyOf", "oneOf", "prefixItems"], list()),
            3 => keyword(&["items", "additionalProperties", "additionalItems", "not", "contains",
                "propertyNames", "if", "then", "else"], inner.clone()),
            3 => keyword(&["unevaluatedItems", "unevaluatedProperties"], inner.clone()),
        ];
        schema_of(prop_oneof![2 => flat(), 3 => nested].boxed(), 0..5)
    })
    .boxed()
}

/// A whole schema: of a draft, with what references may lead to.
fn document() -> impl Strategy<Value = Value> {
    let draft = prop::sample::select(DRAFTS.to_vec());
    (draft, schema(), schema(), schema()).prop_map(|(draft, mut top, a, b)| {
        let Some(keywords) = top.as_object_mut() else { return top };
        if !draft.is_empty() {
            keywords.insert("$schema".to_owned(), draft.into());
        }
        let is_old = draft.contains("draft-0");
        let id = if draft.contains("04") { "id" } else { "$id" };
        for holder in ["$defs", "definitions"] {
            let named = keywords.entry(holder).or_insert_with(|| json!({}));
            let Some(named) = named.as_object_mut() else { continue };
            named.entry("a").or_insert_with(|| a.clone());
            named.entry("b").or_insert_with(|| json!({"items": b}));
        }
        if is_old {
            // Nothing else counts beside a reference, and one word is not known.
            keywords.remove("$ref");
            keywords.remove("$defs");
        }
        if let Some(defs) = keywords[if is_old { "definitions" } else { "$defs" }].as_object_mut() {
            defs.insert("x".to_owned(), json!({"$anchor": "x", "minimum": 1}));
            let inner = if is_old { json!({}) } else { json!({"a": b}) };
            defs.insert("d/e".to_owned(), json!({id: "other", "$defs": inner, "type": "string"}));
        }
        top
    })
}

fn other(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().should_validate_formats(false).build(schema).ok()
}

#[test]
fn what_another_validator_accepts_is_accepted_and_nothing_else() {
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let values = prop::collection::vec(value(), 12);
    let outcome = runner.run(&(document(), values), |(schema, values)| {
        let (ours, theirs) = (Schema::new(&schema), other(&schema));
        if let Err(error) = &ours
            && STRICTER.iter().any(|words| error.reason().contains(words))
        {
            return Ok(());
        }
        let is_looser = ours.is_ok() && schema["$schema"] == DRAFTS[5];
        prop_assert!(is_looser || ours.is_ok() == theirs.is_some(), "{} {:?}", schema, ours);
        let (Ok(ours), Some(theirs)) = (ours, theirs) else { return Ok(()) };
        for value in &values {
            let is_valid = theirs.is_valid(value);
            prop_assert_eq!(ours.accepts(value), is_valid, "{} {}", schema, value);
            prop_assert_eq!(ours.problems(value).is_empty(), is_valid, "{} {}", schema, value);
            let count = if is_valid { &accepted } else { &refused };
            count.set(count.get() + 1);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let (accepted, refused) = (accepted.get(), refused.get());
    let least = (accepted + refused) * PERCENT_MIN / 100;
    assert!(accepted > least && refused > least, "{accepted} accepted, {refused} refused");
}
