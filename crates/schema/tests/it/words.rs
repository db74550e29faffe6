//! The words for what is wrong with values and schemas.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use heeler_schema::Schema;
use serde_json::{Value, json};

/// What is wrong with values, each by a schema.
fn check(cases: impl IntoIterator<Item = (Value, Value)>, expected: Expect) {
    let mut text = String::new();
    for (schema, value) in cases {
        for problem in Schema::new(&schema).unwrap().problems(&value) {
            writeln!(text, "{:?} {problem}", problem.path()).unwrap();
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn values() {
    let wide: Vec<u32> = (0..30).collect();
    check(
        [
            (json!({"type": "integer"}), json!("a")),
            (json!({"enum": [1, "a", null, [2]]}), json!(3)),
            (json!({"enum": wide}), json!("a")),
            (json!({"items": {"properties": {"a/b": {"minimum": 2.5}}}}), json!([{}, {"a/b": 1}])),
            (json!({"additionalProperties": false}), json!({"a": 1, "b": 2})),
            (json!({"prefixItems": [true], "unevaluatedItems": false}), json!([1, "b", 3])),
            (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2, 1])),
            (json!({"uniqueItems": true}), json!([1, 2, 1])),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1})),
            (json!({"propertyNames": {"pattern": "^x"}}), json!({"a": 1})),
            (json!({"properties": {"a": false}}), json!({"a": 1})),
            (json!({"required": ["a", "b"], "maxProperties": 0, "type": "array"}), json!({"c": 1})),
        ],
        expect![[r#"
            "" "a" is not of type "integer"
            "" 3 is not one of 1, "a", null or [2]
            "" "a" is not one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 or 14 more
            "/1/a~1b" 1 is less than the minimum of 2.5
            "" Additional properties are not allowed ('a' and 'b' were unexpected)
            "" Unevaluated items are not allowed ('"b"' and '3' were unexpected)
            "" [1,2,1] has 2 items that fit 'contains' instead of at most 1
            "" [1,2,1] has non-unique elements, of which item 2 repeats one before it
            "" "b" is a required property where "a" is given
            "" "a" does not match "^x"
            "/a" 1 is not allowed here
            "" "a" is a required property
            "" "b" is a required property
            "" {"c":1} has more than 0 properties
            "" {"c":1} is not of type "array"
        "#]],
    );
}

#[test]
fn ways_to_fit_tell_why_each_does_not() {
    let schema = json!({"anyOf": [{"type": "integer"}, {"required": ["a"]}], "oneOf": [{"type": ["null", "array"]}]});
    let problems = Schema::new(&schema).unwrap();
    let value = json!({"b": 1});
    let problems = problems.problems(&value);
    let mut text = String::new();
    for problem in &problems {
        writeln!(text, "{problem}").unwrap();
        for way in problem.alternatives() {
            writeln!(text, "  {way} {:?}", way.wanted().map(|types| types.contain("array")))
                .unwrap();
        }
    }
    expect![[r#"
        {"b":1} is not valid under any of the schemas listed in the 'anyOf' keyword: is not of type "integer"; or "a" is a required property
          {"b":1} is not of type "integer" Some(false)
          "a" is a required property None
        {"b":1} is not valid under any of the schemas listed in the 'oneOf' keyword: is not of types "null", "array"
          {"b":1} is not of types "null", "array" Some(true)
    "#]]
    .assert_eq(&text);
}

#[test]
fn schemas() {
    let mut text = String::new();
    for schema in [
        json!(1),
        json!({"$schema": "https://example.com/own"}),
        json!({"type": "text"}),
        json!({"type": ["null", "null"]}),
        json!({"properties": {"a": 1}}),
        json!({"properties": []}),
        json!({"items": {"required": "a"}}),
        json!({"items": {"required": ["a", 1]}}),
        json!({"enum": 1}),
        json!({"minLength": -1}),
        json!({"maximum": "1"}),
        json!({"multipleOf": 0}),
        json!({"anyOf": []}),
        json!({"allOf": {}}),
        json!({"uniqueItems": 1}),
        json!({"title": 1}),
        json!({"examples": {}}),
        json!({"$anchor": "a b"}),
        json!({"$id": 1}),
        json!({"$id": "a#b"}),
        json!({"$ref": 1}),
        json!({"$ref": "#/$defs/a", "$defs": {"b": {}}}),
        json!({"$defs": {"a": {"$id": "a"}, "b": {"$id": "a"}}}),
        json!({"$defs": {"a": {"$anchor": "a"}, "b": {"$anchor": "a"}}}),
        json!({"$vocabulary": {"a": 1}}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "a"}),
        json!({"dependencies": {"a": 1}}),
        json!({"pattern": "("}),
    ] {
        writeln!(text, "{}", Schema::new(&schema).unwrap_err()).unwrap();
    }
    expect![[r##"
        1 is no schema: it has to be an object or a boolean
        at `/$schema`: "https://example.com/own" is no draft of JSON Schema that is known here
        at `/type`: "text" is no type of a JSON value
        at `/type`: ["null","null"] has a name twice
        at `/properties/a`: 1 is no schema: it has to be an object or a boolean
        at `/properties`: [] is no object with schemas
        at `/items/required`: "a" is no list
        at `/items/required`: ["a",1] is no list of names
        at `/enum`: 1 is no list
        at `/minLength`: -1 is no whole number of things
        at `/maximum`: "1" is no number
        at `/multipleOf`: 0 is not above zero
        at `/anyOf`: [] has to have a schema
        at `/allOf`: {} is no list of schemas
        at `/uniqueItems`: 1 is neither true nor false
        at `/title`: 1 is no text
        at `/examples`: {} is no list
        at `/$anchor`: "a b" is no name of letters, digits, `-`, `.` and `_`
        the id 1 is no text
        the id "a#b" has a fragment, for which there is `$anchor`
        at `/$ref`: 1 is no text
        at `/$ref`: the reference "#/$defs/a" leads to nothing
        at `/$defs/b`: the id "a" is that of another schema, too
        at `/$defs/b`: another schema has the anchor "a", too
        at `/$vocabulary`: {"a":1} has to say true or false of each
        at `/$recursiveRef`: "a" is no reference that is known here but `#`
        at `/dependencies/a`: 1 is no schema: it has to be an object or a boolean
        at `/pattern`: the pattern "(" cannot be used: Parsing error at position 1: Opening parenthesis without closing parenthesis
    "##]].assert_eq(&text);
}
