//! Every keyword of JSON Schema 2020-12, and what is put right.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{BoxFuture, Facts, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};

use super::*;

/// A tool of this schema.
struct Of(&'static str);

impl Tool for Of {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("it", "", RawJson::parse(self.0).unwrap())
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts::default()
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(std::future::pending())
    }
}

/// What becomes of an input: itself, what it was changed to with notes, or why it is refused.
fn said(schema: &'static str, input: &str) -> String {
    let tools = Toolset::new([Arc::new(Of(schema)) as Arc<dyn Tool>]).unwrap();
    match validate(&tools, "it", &RawJson::parse(input).unwrap()) {
        Ok(Validated { input: None, .. }) => "valid".to_owned(),
        Ok(Validated { input: Some(input), notes }) => format!("{} {notes:?}", input.get()),
        Err(why) => why
            .trim_start_matches("invalid input for it: ")
            .trim_end_matches(". Nothing was run; call it again with a corrected input")
            .to_owned(),
    }
}

/// A keyword, an input that fits, and what is said of one that does not.
#[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
fn check(cases: &[(&'static str, &str, &str)], expected: Expect) {
    let mut text = String::new();
    for (schema, good, bad) in cases {
        assert_eq!(said(schema, good), "valid", "{schema} {good}");
        writeln!(text, "{}", said(schema, bad)).unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn whole_numbers_with_a_point_are_integers_where_no_other_number_is_wanted() {
    let schema = r#"{"properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "any": {},
        "list": {"items": {"type": "integer"}}, "a/b": {"type": "integer"},
        "may": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "both": {"type": ["integer", "number"]}, "low": {"type": "integer", "maximum": 3}
    }}"#;
    let mut text = String::new();
    for input in [
        r#"{"n": 3.0}"#,
        r#"{"n": -1e2}"#,
        r#"{"n": 3.5}"#,
        r#"{"n": 1e300}"#,
        r#"{"n": 4503599627370497.0}"#,
        r#"{"n": 9007199254740991.0}"#,
        r#"{"n": 9007199254740993.0}"#,
        r#"{"x": 3.0}"#,
        r#"{"any": 3.0}"#,
        r#"{"both": 3.0}"#,
        r#"{"list": [1, 2.0, 3.0]}"#,
        r#"{"a/b": 2.0}"#,
        r#"{"may": 2.0}"#,
        r#"{"low": 3.0}"#,
        r#"{"low": 4.0}"#,
        r#"{"n": "3.0"}"#,
    ] {
        writeln!(text, "{input}: {}", said(schema, input)).unwrap();
    }
    expect![[r#"
        {"n": 3.0}: {"n":3} []
        {"n": -1e2}: {"n":-100} []
        {"n": 3.5}: `/n`: 3.5 is not of type "integer"
        {"n": 1e300}: valid
        {"n": 4503599627370497.0}: {"n":4503599627370497} []
        {"n": 9007199254740991.0}: {"n":9007199254740991} []
        {"n": 9007199254740993.0}: valid
        {"x": 3.0}: valid
        {"any": 3.0}: valid
        {"both": 3.0}: valid
        {"list": [1, 2.0, 3.0]}: {"list":[1,2,3]} []
        {"a/b": 2.0}: {"a/b":2} []
        {"may": 2.0}: {"may":2} []
        {"low": 3.0}: {"low":3} []
        {"low": 4.0}: `/low`: 4 is greater than the maximum of 3
        {"n": "3.0"}: `/n`: "3.0" is not of type "integer"
    "#]]
    .assert_eq(&text);
}

#[test]
fn however_many_there_are_all_are_put_right_with_few_looks() {
    let schema = r#"{"properties": {
        "numbers": {"items": {"type": "integer"}},
        "items": {"items": {"properties": {"a": {"type": "string"}}}}
    }}"#;
    let many = |one: &str, count: usize| vec![one; count].join(",");
    for count in [70, 3000] {
        let input = format!(r#"{{"numbers":[{}]}}"#, many("2.0", count));
        let fits = format!(r#"{{"numbers":[{}]}} []"#, many("2", count));
        assert_eq!(said(schema, &input), fits);
        let input = format!(r#"{{"items":[{}]}}"#, many(r#"{"a":null}"#, count));
        assert_eq!(said(schema, &input), format!(r#"{{"items":[{}]}} []"#, many("{}", count)));
    }
    // What is required stays, wherever else nulls are left out.
    let schema = r#"{"items": {"properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["b"]}}"#;
    let seen = said(schema, r#"[{"a": null, "b": "b"}, {"a": null, "b": null}]"#);
    assert_eq!(seen, r#"`/1/b`: null is not of type "string""#);
}

#[test]
fn a_number_becomes_a_text_only_as_the_model_wrote_it() {
    let schema = r#"{"properties": {"id": {"type": "string"}}}"#;
    let mut text = String::new();
    for id in ["7", "-7", "3.1", "3.10", "1e2", "12345678901234567890", "12345678901234567890123"] {
        let seen = said(schema, &format!(r#"{{"id": {id}}}"#));
        writeln!(text, "{id}: {seen}").unwrap();
    }
    expect![[r#"
        7: {"id":"7"} ["Note: `/id` was read as a string."]
        -7: {"id":"-7"} ["Note: `/id` was read as a string."]
        3.1: {"id":"3.1"} ["Note: `/id` was read as a string."]
        3.10: `/id`: 3.1 is not of type "string"
        1e2: `/id`: 100.0 is not of type "string"
        12345678901234567890: {"id":"12345678901234567890"} ["Note: `/id` was read as a string."]
        12345678901234567890123: `/id`: 1.2345678901234568e+22 is not of type "string"
    "#]]
    .assert_eq(&text);
}

#[test]
fn null_is_nothing_where_nothing_is_fine() {
    let schema = r#"{"properties": {
        "n": {"type": "integer"}, "must": {"type": "string"}, "may": {"type": ["string", "null"]},
        "inner": {"type": "object", "properties": {"e": {"enum": ["a"]}}},
        "list": {"items": {"type": "integer"}}, "any": {"anyOf": [
            {"properties": {"k": {"type": "integer"}}, "required": ["k"]},
            {"properties": {"l": {"type": "integer"}}}
        ]}
    }, "required": ["must"]}"#;
    let mut text = String::new();
    for input in [
        r#"{"must": "a", "n": null}"#,
        r#"{"must": "a", "n": null, "inner": {"e": null}, "may": null}"#,
        r#"{"must": "a", "inner": null}"#,
        r#"{"must": null, "n": null}"#,
        r#"{"must": "a", "list": [null]}"#,
        r#"{"must": "a", "any": {"k": null, "l": null}}"#,
        r#"{"must": 1, "n": null}"#,
    ] {
        writeln!(text, "{input}: {}", said(schema, input)).unwrap();
    }
    expect![[r#"
        {"must": "a", "n": null}: {"must":"a"} []
        {"must": "a", "n": null, "inner": {"e": null}, "may": null}: {"must":"a","may":null,"inner":{}} []
        {"must": "a", "inner": null}: {"must":"a"} []
        {"must": null, "n": null}: `/must`: null is not of type "string"
        {"must": "a", "list": [null]}: `/list/0`: null is not of type "integer"
        {"must": "a", "any": {"k": null, "l": null}}: {"must":"a","any":{"k":null}} []
        {"must": 1, "n": null}: {"must":"1"} ["Note: `/must` was read as a string."]
    "#]].assert_eq(&text);
}

#[test]
fn every_keyword_about_one_value_counts() {
    check(
        &[
            (
                r#"{"properties":{"a":{"type":["integer","null"]}}}"#,
                r#"{"a":null}"#,
                r#"{"a":"x"}"#,
            ),
            (r#"{"properties":{"a":{"enum":[1,"b",null]}}}"#, r#"{"a":"b"}"#, r#"{"a":"c"}"#),
            (r#"{"properties":{"a":{"const":{"b":1}}}}"#, r#"{"a":{"b":1.0}}"#, r#"{"a":{}}"#),
            (r#"{"properties":{"a":{"multipleOf":0.5}}}"#, r#"{"a":1.5}"#, r#"{"a":1.3}"#),
            (r#"{"properties":{"a":{"maximum":2}}}"#, r#"{"a":2}"#, r#"{"a":2.1}"#),
            (r#"{"properties":{"a":{"exclusiveMaximum":2}}}"#, r#"{"a":1.9}"#, r#"{"a":2}"#),
            (r#"{"properties":{"a":{"minimum":2}}}"#, r#"{"a":2}"#, r#"{"a":1}"#),
            (r#"{"properties":{"a":{"exclusiveMinimum":2}}}"#, r#"{"a":2.1}"#, r#"{"a":2}"#),
            (r#"{"properties":{"a":{"maxLength":2}}}"#, r#"{"a":"éé"}"#, r#"{"a":"abc"}"#),
            (r#"{"properties":{"a":{"minLength":2}}}"#, r#"{"a":"ab"}"#, r#"{"a":"é"}"#),
            (r#"{"properties":{"a":{"pattern":"^\\p{L}+$"}}}"#, r#"{"a":"é"}"#, r#"{"a":"1"}"#),
            // A format is a remark in this draft.
            (r#"{"properties":{"a":{"format":"email"}}}"#, r#"{"a":"x"}"#, r"[]"),
        ],
        expect![[r#"
            `/a`: "x" is not of types "null", "integer"
            `/a`: "c" is not one of 1, "b" or null
            `/a`: {"b":1} was expected
            `/a`: 1.3 is not a multiple of 0.5
            `/a`: 2.1 is greater than the maximum of 2
            `/a`: 2 is greater than or equal to the maximum of 2
            `/a`: 1 is less than the minimum of 2
            `/a`: 2 is less than or equal to the minimum of 2
            `/a`: "abc" is longer than 2 characters
            `/a`: "é" is shorter than 2 characters
            `/a`: "1" does not match "^\p{L}+$"
            valid
        "#]],
    );
}

#[test]
fn every_keyword_about_lists_counts() {
    check(
        &[
            (
                r#"{"properties":{"a":{"items":{"type":"integer"}}}}"#,
                r#"{"a":[1]}"#,
                r#"{"a":[1,[]]}"#,
            ),
            (
                r#"{"properties":{"a":{"prefixItems":[true,{"const":1}]}}}"#,
                r#"{"a":[0,1,2]}"#,
                r#"{"a":[0,0]}"#,
            ),
            (
                r#"{"properties":{"a":{"prefixItems":[true],"items":false}}}"#,
                r#"{"a":[0]}"#,
                r#"{"a":[0,1]}"#,
            ),
            (r#"{"properties":{"a":{"contains":{"const":1}}}}"#, r#"{"a":[0,1]}"#, r#"{"a":[0]}"#),
            (
                r#"{"properties":{"a":{"contains":{"const":1},"minContains":2}}}"#,
                r#"{"a":[1,1]}"#,
                r#"{"a":[1]}"#,
            ),
            (
                r#"{"properties":{"a":{"contains":{"const":1},"maxContains":1}}}"#,
                r#"{"a":[1]}"#,
                r#"{"a":[1,1]}"#,
            ),
            (r#"{"properties":{"a":{"maxItems":1}}}"#, r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            (r#"{"properties":{"a":{"minItems":1}}}"#, r#"{"a":[1]}"#, r#"{"a":[]}"#),
            (
                r#"{"properties":{"a":{"uniqueItems":true}}}"#,
                r#"{"a":[1,"1"]}"#,
                r#"{"a":[1,1.0]}"#,
            ),
            (
                r#"{"properties":{"a":{"anyOf":[{"prefixItems":[true]}],"unevaluatedItems":false}}}"#,
                r#"{"a":[1]}"#,
                r#"{"a":[1,2]}"#,
            ),
        ],
        expect![[r#"
            `/a/1`: [] is not of type "integer"
            `/a/1`: 1 was expected
            `/a/1`: 1 is not allowed here
            `/a`: [0] has 0 items that fit 'contains' instead of at least 1
            `/a`: [1] has 1 items that fit 'contains' instead of at least 2
            `/a`: [1,1] has 2 items that fit 'contains' instead of at most 1
            `/a`: [1,2] has more than 1 item
            `/a`: [] has less than 1 item
            `/a`: [1,1.0] has non-unique elements, of which item 1 repeats one before it
            `/a`: Unevaluated items are not allowed ('2' was unexpected)
        "#]],
    );
}

#[test]
fn every_keyword_about_objects_counts() {
    check(
        &[
            (r#"{"maxProperties":1}"#, r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
            (r#"{"minProperties":1}"#, r#"{"a":1}"#, r"{}"),
            (r#"{"required":["a"]}"#, r#"{"a":null}"#, r"{}"),
            (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"b":1}"#, r#"{"a":1}"#),
            (r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#, r#"{"a":1,"b":1}"#, r#"{"a":1}"#),
            (r#"{"properties":{"a":false}}"#, r#"{"b":1}"#, r#"{"a":1}"#),
            (
                r#"{"patternProperties":{"^x-":{"type":"integer"}}}"#,
                r#"{"x-a":1,"y":[]}"#,
                r#"{"x-a":[]}"#,
            ),
            (r#"{"propertyNames":{"maxLength":1}}"#, r#"{"a":1}"#, r#"{"ab":1}"#),
            // Unknown properties are as the schema says: welcome, of a kind, or refused.
            (r#"{"properties":{"a":true}}"#, r#"{"b":1}"#, r"7"),
            (r#"{"additionalProperties":{"type":"integer"}}"#, r#"{"b":1}"#, r#"{"b":[]}"#),
            (
                r#"{"properties":{"a":true},"additionalProperties":false}"#,
                r#"{"a":1}"#,
                r#"{"b":1}"#,
            ),
            (
                r#"{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}"#,
                r#"{"a":1}"#,
                r#"{"a":1,"b":1}"#,
            ),
        ],
        // An input that is no object is the type's business, which these schemas leave open.
        expect![[r#"
            the input: {"a":1,"b":2} has more than 1 property
            the input: {} has less than 1 property
            the input: "a" is a required property
            the input: "b" is a required property where "a" is given
            the input: "b" is a required property
            `/a`: 1 is not allowed here
            `/x-a`: [] is not of type "integer"
            the input: "ab" is longer than 1 character
            valid
            `/b`: [] is not of type "integer"
            the input: Additional properties are not allowed ('b' was unexpected)
            the input: Unevaluated properties are not allowed ('b' was unexpected)
        "#]],
    );
}

#[test]
fn schemas_of_schemas_and_references_count() {
    check(
        &[
            (
                r#"{"allOf":[{"required":["a"]},{"required":["b"]}]}"#,
                r#"{"a":1,"b":1}"#,
                r#"{"a":1}"#,
            ),
            (r#"{"anyOf":[{"required":["a"]},{"required":["b"]}]}"#, r#"{"a":1,"b":1}"#, r"{}"),
            (
                r#"{"oneOf":[{"required":["a"]},{"required":["b"]}]}"#,
                r#"{"a":1}"#,
                r#"{"a":1,"b":1}"#,
            ),
            (r#"{"not":{"required":["a"]}}"#, r"{}", r#"{"a":1}"#),
            (
                r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}"#,
                r#"{"c":1}"#,
                r#"{"a":1}"#,
            ),
            (
                r##"{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"integer"}}}"##,
                r#"{"a":1}"#,
                r#"{"a":[]}"#,
            ),
            (
                r##"{"properties":{"a":{"$ref":"#b"}},"$defs":{"b":{"$anchor":"b","const":1}}}"##,
                r#"{"a":1}"#,
                r#"{"a":2}"#,
            ),
            (
                r##"{"$dynamicAnchor":"t","properties":{"a":{"$dynamicRef":"#t"}},"required":["b"]}"##,
                r#"{"a":{"b":1},"b":1}"#,
                r#"{"a":{},"b":1}"#,
            ),
        ],
        expect![[r#"
            the input: "b" is a required property
            the input: {} is not valid under any of the schemas listed in the 'anyOf' keyword: "a" is a required property; or "b" is a required property
            the input: {"a":1,"b":1} is valid under more than one of the schemas listed in the 'oneOf' keyword
            the input: {"required":["a"]} is not allowed for {"a":1}
            the input: "b" is a required property
            `/a`: [] is not of type "integer"
            `/a`: 1 was expected
            `/a`: "b" is a required property
        "#]],
    );
}

#[test]
fn what_was_evidently_meant_is_accepted_and_said() {
    let mut text = String::new();
    for (schema, input) in [
        (r#"{"properties":{"a":{"type":"boolean"}}}"#, r#"{"a":"true"}"#),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":" 3 "}"#),
        (r#"{"properties":{"a":{"type":"integer"}}}"#, r#"{"a":"3.5"}"#),
        (r#"{"properties":{"a":{"type":"number"}}}"#, r#"{"a":"3.5"}"#),
        (r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":7}"#),
        (r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":true}"#),
        (
            r#"{"properties":{"a":{"items":{"type":"integer"},"type":"array"}}}"#,
            r#"{"a":"[\"1\"]"}"#,
        ),
        (r#"{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#, r#"{"a":"3"}"#),
        (
            r#"{"properties":{"a":{"oneOf":[{"type":"boolean"},{"type":"array"}]}}}"#,
            r#"{"a":"[]"}"#,
        ),
        // It is valid as it is.
        (
            r#"{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}"#,
            r#"{"a":"3"}"#,
        ),
        (r#"{"properties":{"a":{"type":"integer","minimum":5}}}"#, r#"{"a":"3"}"#),
        (r#"{"type":"object"}"#, "null"),
        (r#"{"type":"object"}"#, r#""{}""#),
    ] {
        writeln!(text, "{}", said(schema, input)).unwrap();
    }
    expect![[r#"
        {"a":true} ["Note: `/a` was read as a boolean."]
        {"a":3} ["Note: `/a` was read as an integer."]
        `/a`: "3.5" is not of type "integer"
        {"a":3.5} ["Note: `/a` was read as a number."]
        {"a":"7"} ["Note: `/a` was read as a string."]
        `/a`: true is not of type "string"
        {"a":[1]} ["Note: `/a` was read as an array.", "Note: `/a/0` was read as an integer."]
        {"a":3} ["Note: `/a` was read as an integer."]
        {"a":[]} ["Note: `/a` was read as an array."]
        valid
        `/a`: 3 is less than the minimum of 5
        {} []
        {} ["Note: `` was read as an object."]
    "#]]
    .assert_eq(&text);
}

#[test]
fn limits_hold() {
    let schema = r#"{"items":{"type":"integer"}}"#;
    let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
    assert!(said(schema, &list("\"1\"", COERCIONS_MAX)).starts_with("[1,"));
    assert!(said(schema, &list("\"1\"", COERCIONS_MAX + 1)).contains("is not of type"));
    assert_eq!(said(schema, &list("{}", PROBLEMS_MAX + 1)).matches(';').count(), PROBLEMS_MAX - 1);
    // Of a value that is too long the beginning is told, and all of the reason.
    let long = format!("[{:?}]", "x".repeat(PROBLEM_CHARS_MAX));
    let cut = format!("\"{}", "x".repeat(VALUE_CHARS_MAX));
    let cut = truncate_chars(&cut, VALUE_CHARS_MAX);
    assert_eq!(said(schema, &long), format!("`/0`: {cut} is not of type \"integer\""));
    let many = list("\"é\"", PROBLEM_CHARS_MAX);
    let told = said(r#"{"maxItems":20}"#, &many);
    assert!(told.starts_with("the input: [\"é\",\"é\""), "{told}");
    assert!(told.ends_with(" has more than 20 items"), "{told}");
    // A reason that is too long itself is cut.
    let schema = format!(r#"{{"const":{:?}}}"#, "x".repeat(PROBLEM_CHARS_MAX)).leak();
    assert_eq!(said(schema, "1").chars().count(), PROBLEM_CHARS_MAX);
    assert!(said(r#"{"type":"nonsense"}"#, "{}").contains("the tool it has a broken schema"));
}

#[test]
fn what_describes_a_text_is_no_condition_and_a_vocabulary_changes_nothing() {
    // What a text holds is told and not asserted, as the standard has it: any text fits, and what is
    // no text is no concern of these.
    for schema in [
        r#"{"properties": {"a": {"contentEncoding": "base64"}}}"#,
        r#"{"properties": {"a": {"contentMediaType": "application/json"}}}"#,
        r#"{"properties": {"a": {"contentMediaType": "application/json",
            "contentSchema": {"type": "object"}, "contentEncoding": "base64"}}}"#,
    ] {
        for input in [r#"{"a": "%%% {"}"#, r#"{"a": 1}"#, r#"{"a": "W10="}"#] {
            assert_eq!(said(schema, input), "valid", "{schema} {input}");
        }
    }
    // Beside them other conditions hold as ever, and so they do under any vocabulary: which one there
    // is, is for schemas of schemas to say.
    check(
        &[
            (
                r#"{"properties": {"a": {"contentEncoding": "base64", "maxLength": 2}}}"#,
                r#"{"a": "ab"}"#,
                r#"{"a": "abc"}"#,
            ),
            (
                r#"{"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true},
                    "properties": {"a": {"type": "string"}}}"#,
                r#"{"a": "b"}"#,
                r#"{"a": {}}"#,
            ),
            (
                r#"{"$vocabulary": {"https://example.com/of-nobody": true}, "required": ["a"]}"#,
                r#"{"a": "b"}"#,
                r"{}",
            ),
        ],
        expect![[r#"
            `/a`: "abc" is longer than 2 characters
            `/a`: {} is not of type "string"
            the input: "a" is a required property
        "#]],
    );
}

#[test]
fn an_input_that_no_value_can_hold_is_not_taken_for_an_empty_one() {
    expect!["not valid JSON: number out of range at line 1 column 10"]
        .assert_eq(&said("{}", r#"{"a":1e400}"#));
    expect!["not valid JSON: unexpected end of hex escape at line 1 column 13"]
        .assert_eq(&said("{}", r#"{"a":"\ud800"}"#));
}
