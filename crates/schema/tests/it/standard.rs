//! What the standard says of each keyword, as cases: a schema, what it accepts, and what it refuses.
//! Another validator has to say the same.

use heeler_schema::Schema;
use serde_json::{Value, json};

pub(crate) const D4: &str = "http://json-schema.org/draft-04/schema#";
const D6: &str = "http://json-schema.org/draft-06/schema";
pub(crate) const D7: &str = "http://json-schema.org/draft-07/schema#";
pub(crate) const D2019: &str = "https://json-schema.org/draft/2019-09/schema";

/// A schema, the values it accepts, and those it refuses.
pub(crate) type Case = (Value, Vec<Value>, Vec<Value>);

#[track_caller]
pub(crate) fn check(cases: impl IntoIterator<Item = Case>) {
    for (schema, good, bad) in cases {
        let ours = Schema::new(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        let theirs = jsonschema::options().should_validate_formats(false).build(&schema);
        let theirs = theirs.unwrap();
        for (values, is_valid) in [(good, true), (bad, false)] {
            for value in values {
                assert_eq!(ours.accepts(&value), is_valid, "{schema} {value}");
                assert_eq!(ours.problems(&value).is_empty(), is_valid, "{schema} {value}");
                assert_eq!(theirs.is_valid(&value), is_valid, "not by the other: {schema} {value}");
            }
        }
    }
}

#[test]
fn one_value() {
    check([
        (json!(true), vec![json!(null), json!([1])], vec![]),
        (json!(false), vec![], vec![json!(null), json!({})]),
        (json!({}), vec![json!(1), json!("a")], vec![]),
        (
            json!({"type": "integer"}),
            vec![json!(1), json!(1.0), json!(1e300)],
            vec![json!(1.5), json!("1")],
        ),
        (json!({"type": "number"}), vec![json!(1), json!(1.5)], vec![json!(null)]),
        (
            json!({"type": ["null", "array"]}),
            vec![json!(null), json!([])],
            vec![json!({}), json!(false)],
        ),
        (
            json!({"enum": [1, [2.0], {"a": null}]}),
            vec![json!(1.0), json!([2]), json!({"a": null})],
            vec![json!(2), json!({}), json!("1"), json!(true)],
        ),
        (
            json!({"const": {"a": 1, "b": 2}}),
            vec![json!({"b": 2, "a": 1.0})],
            vec![json!({"a": 1})],
        ),
        (json!({"const": 0}), vec![json!(0), json!(-0.0)], vec![json!(false), json!(null)]),
        (
            json!({"minimum": 1, "maximum": 2.5}),
            vec![json!(1.0), json!(2.5), json!("a")],
            vec![json!(0.9), json!(3)],
        ),
        (
            json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}),
            vec![json!(1.1)],
            vec![json!(1), json!(2.0)],
        ),
        (json!({"maximum": u64::MAX}), vec![json!(u64::MAX)], vec![json!(1e20)]),
        (json!({"minimum": i64::MIN}), vec![json!(i64::MIN)], vec![json!(-1e19)]),
        (
            json!({"minLength": 2, "maxLength": 3}),
            vec![json!("éé"), json!("💩💩💩"), json!(1)],
            vec![json!("é"), json!("abcd")],
        ),
        (json!({"maxLength": 2.0}), vec![json!("ab")], vec![json!("abc")]),
        (json!({"pattern": "b+"}), vec![json!("abc"), json!(1)], vec![json!("ac")]),
        (
            json!({"$comment": "a", "format": "email", "default": 7, "type": "string"}),
            vec![json!("x")],
            vec![json!(7)],
        ),
    ]);
}

#[test]
fn multiples() {
    check([
        (
            json!({"multipleOf": 2}),
            vec![json!(4), json!(-2.0), json!(0), json!("a")],
            vec![json!(7), json!(0.5)],
        ),
        (
            json!({"multipleOf": 0.01}),
            vec![json!(0.07), json!(4.35), json!(19.99)],
            vec![json!(0.075)],
        ),
        (json!({"multipleOf": 0.0001}), vec![json!(0.0075)], vec![json!(0.007_51)]),
        (json!({"multipleOf": 1.5}), vec![json!(4.5), json!(3)], vec![json!(35)]),
        (json!({"multipleOf": 1e-8}), vec![json!(12_391_239_123.0)], vec![]),
        (json!({"type": "integer", "multipleOf": 0.123_456_789}), vec![], vec![json!(1e300)]),
    ]);
}

/// Where the other goes by what a double holds.
#[test]
fn multiples_of_numbers_with_many_digits() {
    let accepts =
        |of: Value, value: Value| Schema::new(&json!({"multipleOf": of})).unwrap().accepts(&value);
    assert!(accepts(json!(2.5), json!(9_007_199_254_740_995_u64)));
    assert!(!accepts(json!(2.5), json!(9_007_199_254_740_994_u64)));
    assert!(!accepts(json!(2), json!(u64::MAX)) && accepts(json!(5), json!(u64::MAX)));
    assert!(accepts(json!(10), json!(1e23)) && !accepts(json!(7), json!(1e23)));
}

#[test]
fn lists() {
    let tail = json!({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}});
    let old = json!({"$schema": D7, "items": [{"type": "integer"}], "additionalItems": {"type": "string"}});
    check([
        (
            json!({"minItems": 1, "maxItems": 2}),
            vec![json!([1]), json!({})],
            vec![json!([]), json!([1, 2, 3])],
        ),
        (
            json!({"items": {"type": "integer"}}),
            vec![json!([1, 2]), json!([]), json!({"0": "a"})],
            vec![json!([1, "a"])],
        ),
        (json!({"items": false}), vec![json!([])], vec![json!([null])]),
        (tail, vec![json!([]), json!([1]), json!([1, "a"])], vec![json!(["a"]), json!([1, 2])]),
        (old, vec![json!([]), json!([1, "a"])], vec![json!(["a"]), json!([1, 2])]),
        (
            json!({"$schema": D2019, "items": [true], "additionalItems": false}),
            vec![json!([1])],
            vec![json!([1, 2])],
        ),
        (
            json!({"$schema": D7, "items": {}, "additionalItems": false}),
            vec![json!([1, 2])],
            vec![],
        ),
        (
            json!({"contains": {"const": 1}}),
            vec![json!([2, 1]), json!("a")],
            vec![json!([]), json!([2])],
        ),
        (
            json!({"contains": {"const": 1}, "minContains": 2, "maxContains": 3}),
            vec![json!([1, 0, 1]), json!([1, 1, 1])],
            vec![json!([1]), json!([1, 1, 1, 1])],
        ),
        (
            json!({"contains": {"const": 1}, "minContains": 0}),
            vec![json!([]), json!([1, 1])],
            vec![],
        ),
        (
            json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}),
            vec![json!([])],
            vec![json!([1, 1])],
        ),
        (json!({"minContains": 2, "maxContains": 0}), vec![json!([1])], vec![]),
        (
            json!({"$schema": D7, "contains": {"const": 1}, "minContains": 2}),
            vec![json!([1])],
            vec![json!([])],
        ),
        (json!({"$schema": D4, "contains": {"const": 1}}), vec![json!([])], vec![]),
        (
            json!({"uniqueItems": true}),
            vec![
                json!([1, "1", true, null, "null", [1], ["1"], {"a": 1}, {"a": "1"}, 1.5]),
                json!([]),
            ],
            vec![json!([1, 1.0]), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]), json!([[1], [1]])],
        ),
        (json!({"uniqueItems": false}), vec![json!([1, 1])], vec![]),
    ]);
}

#[test]
fn objects() {
    let kinds = json!({"properties": {"a": {"type": "integer"}, "x-b": true},
        "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "null"}});
    check([
        (
            json!({"minProperties": 1, "maxProperties": 1}),
            vec![json!({"a": 1}), json!([])],
            vec![json!({}), json!({"a": 1, "b": 1})],
        ),
        (
            json!({"required": ["a", "b"]}),
            vec![json!({"a": null, "b": 1, "c": 1}), json!([])],
            vec![json!({"a": 1})],
        ),
        (json!({"required": []}), vec![json!({})], vec![]),
        (
            json!({"properties": {"a": false, "b/c": {"const": 1}}}),
            vec![json!({"b/c": 1, "d": 2})],
            vec![json!({"a": 1}), json!({"b/c": 2})],
        ),
        (
            kinds,
            vec![json!({"a": 1, "x-a": "b", "x-b": "c", "d": null})],
            vec![json!({"a": "1"}), json!({"x-a": 1}), json!({"x-b": 1}), json!({"d": 1})],
        ),
        (json!({"additionalProperties": false}), vec![json!({}), json!(1)], vec![json!({"a": 1})]),
        (
            json!({"propertyNames": {"pattern": "^a", "maxLength": 2}}),
            vec![json!({"ab": 1}), json!({})],
            vec![json!({"b": 1}), json!({"abc": 1})],
        ),
        (json!({"propertyNames": false}), vec![json!({})], vec![json!({"": 1})]),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            vec![json!({"b": 1}), json!({"a": 1, "b": 1})],
            vec![json!({"a": 1})],
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}, "c": false}}),
            vec![json!({"b": 1}), json!({})],
            vec![json!({"a": 1}), json!({"c": 1})],
        ),
        (
            json!({"$schema": D7, "dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}),
            vec![json!({"a": 1, "b": 1}), json!({"c": 1})],
            vec![json!({"a": 1}), json!({"c": 1, "d": 1})],
        ),
        (
            json!({"$schema": D6, "dependencies": {"a": false}}),
            vec![json!({})],
            vec![json!({"a": 1})],
        ),
    ]);
}

#[test]
fn schemas_of_schemas() {
    let by_kind = json!({"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["a"]}, "else": {"required": ["b"]}});
    check([
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            vec![json!(1)],
            vec![json!(0), json!(3)],
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"minimum": 2}]}),
            vec![json!("a"), json!(2), json!(null)],
            vec![json!(1)],
        ),
        (
            json!({"oneOf": [{"minimum": 2}, {"multipleOf": 2}]}),
            vec![json!(3), json!(0)],
            vec![json!(4), json!(1)],
        ),
        (json!({"not": {"type": "integer"}}), vec![json!("a")], vec![json!(1)]),
        (json!({"not": {"not": {"type": "integer"}}}), vec![json!(1)], vec![json!("a")]),
        (
            by_kind.clone(),
            vec![json!({"k": 1, "a": 1}), json!({"k": 2, "b": 1})],
            vec![json!({"k": 1, "b": 1}), json!({"a": 1})],
        ),
        (json!({"if": false, "else": {"type": "null"}}), vec![json!(null)], vec![json!(1)]),
        (json!({"then": false, "else": false}), vec![json!(1)], vec![]),
        (json!({"$schema": D6, "if": true, "then": false}), vec![json!(1)], vec![]),
    ]);
}

#[test]
fn the_oldest_draft() {
    check([
        (
            json!({"$schema": D4, "minimum": 1, "exclusiveMinimum": true}),
            vec![json!(2)],
            vec![json!(1)],
        ),
        (
            json!({"$schema": D4, "maximum": 1, "exclusiveMaximum": false}),
            vec![json!(1)],
            vec![json!(2)],
        ),
        (
            json!({"$schema": D4, "const": 1, "if": true, "then": false, "propertyNames": false}),
            vec![json!({"a": 2})],
            vec![],
        ),
        (
            json!({"$schema": D4, "additionalProperties": false, "$id": 7}),
            vec![json!({})],
            vec![json!({"a": 1})],
        ),
    ]);
}

/// What differs, each with its reason in the first comment of the crate.
#[test]
fn what_is_told_otherwise() {
    let accepts = |schema: Value, value: Value| Schema::new(&schema).unwrap().accepts(&value);
    // Before the newest drafts `format` may be checked or not.
    assert!(accepts(json!({"$schema": D7, "format": "date"}), json!("tomorrow")));
    assert!(accepts(json!({"$schema": D7, "contentEncoding": "base64"}), json!("%")));
    // A list of items in a schema that does not name its draft.
    let pair = json!({"items": [{"const": 1}, {"const": 2}], "additionalItems": false});
    assert!(accepts(pair.clone(), json!([1, 2])) && !accepts(pair.clone(), json!([1, 2, 3])));
    assert!(!accepts(pair, json!([2])));
    // The oldest draft has its own idea of a whole number.
    assert!(accepts(json!({"$schema": D4, "type": "integer"}), json!(1.0)));
}
