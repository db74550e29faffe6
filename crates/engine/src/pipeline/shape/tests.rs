//! What a shape accepts, and that it never accepts what the whole schema would not.

use heeler_schema::Schema;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, json};

use super::*;

const CASES: u32 = 4_000;
/// Of the cases, at least these have a shape, and an input it accepts.
const ACCEPTED_MIN: usize = 400;

fn raw(schema: &Value) -> RawJson {
    RawJson::from_value(schema)
}

/// Each input, by whether it is surely valid.
fn check(schema: &Value, accepted: &[Value], left_open: &[Value]) {
    let shape = Shape::of(&raw(schema)).unwrap_or_else(|| panic!("no shape: {schema}"));
    let whole = Schema::new(schema).unwrap();
    for input in accepted {
        assert!(shape.accepts(input) && whole.accepts(input), "{schema}: {input}");
    }
    for input in left_open {
        assert!(!shape.accepts(input), "{schema}: {input}");
    }
}

#[test]
fn each_keyword_is_read() {
    let (at, min) = (json!({"type": "integer"}), json!({"minimum": 1, "exclusiveMinimum": 1}));
    for (schema, accepted, left_open) in [
        (json!({}), vec![json!(null), json!({"a": 1.5})], vec![]),
        (json!({"type": "null"}), vec![json!(null)], vec![json!(false)]),
        (json!({"type": "boolean"}), vec![json!(false)], vec![json!(0)]),
        (
            json!({"type": "integer"}),
            vec![json!(-7), json!(u64::MAX)],
            vec![json!(1.5), json!("1")],
        ),
        (json!({"type": "number"}), vec![json!(-7), json!(1.5)], vec![json!("1")]),
        (json!({"type": "string"}), vec![json!("")], vec![json!(1)]),
        (json!({"type": "array"}), vec![json!([1])], vec![json!({})]),
        (json!({"type": "object"}), vec![json!({})], vec![json!([])]),
        (json!({"type": ["string", "null"]}), vec![json!(""), json!(null)], vec![json!(1)]),
        (json!({"enum": ["a", 1]}), vec![json!("a"), json!(1)], vec![json!("b"), json!(1.0)]),
        (json!({"const": null}), vec![json!(null)], vec![json!(0)]),
        (json!({"anyOf": [at, {"const": "a"}]}), vec![json!(1), json!("a")], vec![json!("b")]),
        (min, vec![json!(2), json!("1")], vec![json!(1), json!(1.5), json!(u64::MAX)]),
        (json!({"maximum": 3, "exclusiveMaximum": 9}), vec![json!(3)], vec![json!(4), json!(8)]),
        (json!({"exclusiveMaximum": 3}), vec![json!(2), json!(i64::MIN)], vec![json!(3)]),
        (json!({"minLength": 2}), vec![json!("éé"), json!(1)], vec![json!("é")]),
        (json!({"maxLength": 2}), vec![json!("éé")], vec![json!("ééé")]),
        (json!({"minItems": 1, "maxItems": 1}), vec![json!([1])], vec![json!([]), json!([1, 1])]),
        (json!({"items": at}), vec![json!([1, 2]), json!("a")], vec![json!([1, "a"])]),
        (json!({"items": false}), vec![json!([])], vec![json!([1])]),
        (json!({"required": ["a"]}), vec![json!({"a": null}), json!(1)], vec![json!({"b": 1})]),
        (json!({"properties": {"a": at}}), vec![json!({"a": 1, "b": ""})], vec![json!({"a": ""})]),
        (json!({"additionalProperties": at}), vec![json!({"b": 1})], vec![json!({"b": ""})]),
        (
            json!({"properties": {"a": true}, "additionalProperties": false}),
            vec![json!({"a": 1}), json!({})],
            vec![json!({"b": 1}), json!({"a": 1, "b": 1})],
        ),
    ] {
        check(&schema, &accepted, &left_open);
    }
}

#[test]
fn words_for_people_ask_nothing() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "t", "description": "d",
        "$comment": "c", "default": {"$ref": "#/nowhere"}, "examples": [1], "deprecated": true,
        "readOnly": false, "writeOnly": false, "format": "uint32",
    });
    check(&schema, &[json!(-1.5), json!("a")], &[]);
}

#[test]
fn what_is_unknown_or_malformed_has_no_shape() {
    for schema in [
        json!({"pattern": "a"}),
        json!({"$ref": "#"}),
        json!({"format": "date"}),
        json!({"multipleOf": 2}),
        json!({"properties": {"a": {"not": {}}}}),
        json!({"items": [{}]}),
        json!({"items": {"oneOf": [{}]}}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
        json!({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}),
        json!({"minimum": 0.5}),
        json!({"maximum": u64::MAX}),
        json!({"exclusiveMinimum": i64::MAX}),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"type": ["null", "null"]}),
        json!({"required": ["a", "a"]}),
        json!({"required": "a"}),
        json!({"anyOf": []}),
        json!({"minLength": -1}),
        json!({"properties": null}),
        json!({"description": 1}),
        json!(true),
        json!([]),
    ] {
        assert!(Shape::of(&raw(&schema)).is_none(), "{schema}");
    }
}

/// Small, so that schemas and inputs often meet.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        prop::sample::select(vec![json!(1.0), json!(0.5), json!(u64::MAX), json!(i64::MIN)]),
        prop::sample::select(vec!["", "a", "éé", "abc", "$ref", "string"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(name(), inner),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "$ref", "$id", "type"]).prop_map(str::to_owned)
}

fn object(
    names: impl Strategy<Value = String>,
    values: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    prop::collection::vec((names, values), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

/// Schemas of the known keywords, each with what it may say, or now and then with anything.
fn schema() -> impl Strategy<Value = Value> {
    let flat =
        object_of(prop_oneof![4 => plain_keyword().boxed(), 1 => odd_keyword().boxed()].boxed());
    flat.prop_recursive(3, 16, 3, |inner| {
        let schemas = || object(name(), inner.clone());
        let nested = prop_oneof![
            schemas().prop_map(|it| ("properties".to_owned(), it)),
            prop_oneof![inner.clone(), any::<bool>().prop_map(Value::from)]
                .prop_map(|it| ("additionalProperties".to_owned(), it)),
            inner.clone().prop_map(|it| ("items".to_owned(), it)),
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|it| ("anyOf".to_owned(), Value::from(it))),
        ];
        let keyword = prop_oneof![
            6 => plain_keyword().boxed(),
            6 => nested.boxed(),
            1 => odd_keyword().boxed(),
        ];
        object_of(keyword.boxed())
    })
}

fn object_of(keyword: BoxedStrategy<(String, Value)>) -> BoxedStrategy<Value> {
    prop::collection::vec(keyword, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        .boxed()
}

fn plain_keyword() -> impl Strategy<Value = (String, Value)> {
    let number = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let count = ["minLength", "maxLength", "minItems", "maxItems"];
    let types = prop::collection::vec(prop::sample::select(TYPES.to_vec()), 0..3);
    prop_oneof![
        prop::sample::select(TYPES.to_vec()).prop_map(|it| ("type".to_owned(), json!(it))),
        types.prop_map(|it| ("type".to_owned(), json!(it))),
        prop::collection::vec(name(), 0..3).prop_map(|it| ("required".to_owned(), json!(it))),
        prop::collection::vec(value(), 0..3).prop_map(|it| ("enum".to_owned(), json!(it))),
        value().prop_map(|it| ("const".to_owned(), it)),
        value().prop_map(|it| ("default".to_owned(), it)),
        (prop::sample::select(number.to_vec()), -2i64..4)
            .prop_map(|(name, it)| (name.to_owned(), json!(it))),
        (prop::sample::select(count.to_vec()), 0u64..4)
            .prop_map(|(name, it)| (name.to_owned(), json!(it))),
    ]
}

/// Any keyword, unknown ones too, saying anything.
fn odd_keyword() -> impl Strategy<Value = (String, Value)> {
    let names = "\\$schema|\\$comment|title|deprecated|examples|format|type|enum|anyOf|minimum|\
                 exclusiveMaximum|maxLength|minItems|items|required|properties|\
                 additionalProperties|pattern|not|\\$ref|\\$id|uniqueItems|prefixItems";
    let draft = prop::sample::select(DRAFTS.to_vec()).prop_map(Value::from);
    let width = prop::sample::select(WIDTHS.to_vec()).prop_map(Value::from);
    (names, prop_oneof![4 => value().boxed(), 1 => draft.boxed(), 1 => width.boxed()])
}

#[test]
fn what_a_shape_accepts_is_valid() {
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let accepted = std::cell::Cell::new(0);
    let inputs = prop::collection::vec(value(), 8);
    let outcome = runner.run(&(schema(), inputs), |(schema, inputs)| {
        let Some(shape) = Shape::of(&raw(&schema)) else { return Ok(()) };
        let compiled = Schema::new(&schema);
        let whole = compiled.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut some = false;
        for input in inputs.iter().filter(|input| shape.accepts(input)) {
            prop_assert!(whole.accepts(input), "{schema} does not accept {input}");
            some = true;
        }
        accepted.set(accepted.get() + usize::from(some));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(accepted.get() >= ACCEPTED_MIN, "only {} of {CASES} say anything", accepted.get());
}
