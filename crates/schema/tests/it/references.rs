//! Where references lead, and what was looked at on the ways there: cases as in `standard`.

use serde_json::json;

use crate::standard::{D4, D7, D2019, check};

#[test]
fn references() {
    let tree = json!({"$id": "https://example.com/tree", "type": "object", "required": ["value"],
        "properties": {"value": {"type": "integer"}, "children": {"items": {"$ref": "#"}}}});
    let named = json!({"$id": "https://example.com/a/top.json", "$ref": "other.json#/$defs/c",
        "$defs": {"b": {"$id": "other.json", "$defs": {"c": {"$ref": "#d"}, "d": {"$anchor": "d", "const": 1}}}}});
    // One place, by a reference and from within another.
    let twice = json!({"properties": {"a": {"$ref": "#/x"}, "b": {"$ref": "#/x/properties/y"}},
        "x": {"properties": {"y": {"$anchor": "k", "const": 1}}}});
    check([
        (
            twice,
            vec![json!({"a": {"y": 1}, "b": 1})],
            vec![json!({"a": {"y": 2}}), json!({"b": 2})],
        ),
        (
            tree,
            vec![json!({"value": 1, "children": [{"value": 2, "children": []}]})],
            vec![json!({"value": 1, "children": [{"children": []}]})],
        ),
        (named, vec![json!(1)], vec![json!(2)]),
        (
            json!({"$ref": "#/$defs/a~1b%25~0c", "$defs": {"a/b%~c": {"type": "null"}}}),
            vec![json!(null)],
            vec![json!(1)],
        ),
        (
            json!({"properties": {"a": {"$ref": "#/properties/b/items"}, "b": {"items": {"const": 1}}}}),
            vec![json!({"a": 1})],
            vec![json!({"a": 2})],
        ),
        (
            json!({"prefixItems": [{"const": 1}, {"$ref": "#/prefixItems/0"}]}),
            vec![json!([1, 1])],
            vec![json!([1, 2])],
        ),
        (
            json!({"$ref": "#/components/schemas/a", "components": {"schemas": {"a": {"$ref": "#/components/schemas/b"}, "b": {"type": "null"}}}}),
            vec![json!(null)],
            vec![json!(1)],
        ),
        (
            json!({"$ref": "#/$defs/a", "maximum": 2, "$defs": {"a": {"minimum": 1}}}),
            vec![json!(1)],
            vec![json!(0), json!(3)],
        ),
        (
            json!({"$schema": D7, "properties": {"a": {"$ref": "#/definitions/a", "maximum": 2}}, "definitions": {"a": {"minimum": 1}}}),
            vec![json!({"a": 3})],
            vec![json!({"a": 0})],
        ),
        (
            json!({"$schema": D7, "$ref": "#/definitions/a", "definitions": {"a": {"minimum": 1}}}),
            vec![json!(3)],
            vec![json!(0)],
        ),
        (
            json!({"$schema": D7, "items": {"$ref": "#x"}, "definitions": {"a": {"$id": "#x", "const": 1}}}),
            vec![json!([1])],
            vec![json!([2])],
        ),
        (
            json!({"$schema": D4, "items": {"$ref": "x.json"}, "id": "http://example.com/", "definitions": {"a": {"id": "x.json", "enum": [1]}}}),
            vec![json!([1])],
            vec![json!([2])],
        ),
        (
            json!({"$id": "urn:uuid:deadbeef-1234-00ff-ff00-4321feebdaed", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"const": 1}}}),
            vec![json!([1])],
            vec![json!([2])],
        ),
        (
            json!({"properties": {"$ref": {"type": "string"}}}),
            vec![json!({"$ref": "a"})],
            vec![json!({"$ref": 1})],
        ),
        (
            json!({"enum": [{"$ref": "#/nowhere"}]}),
            vec![json!({"$ref": "#/nowhere"})],
            vec![json!({})],
        ),
    ]);
}

#[test]
fn references_that_are_taken_over() {
    let strict = json!({"$id": "https://example.com/strict", "$dynamicAnchor": "node", "$ref": "tree",
        "unevaluatedProperties": false, "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node",
        "type": "object", "properties": {"data": true, "children": {"items": {"$dynamicRef": "#node"}}}}}});
    let list = json!({"$id": "https://example.com/strings", "$ref": "list", "$defs": {
        "item": {"$dynamicAnchor": "items", "type": "string"},
        "list": {"$id": "list", "items": {"$dynamicRef": "#items"}, "$defs": {"any": {"$dynamicAnchor": "items"}}}}});
    let fixed = json!({"$id": "https://example.com/strings", "$ref": "list", "$defs": {
        "item": {"$dynamicAnchor": "items", "type": "string"},
        "list": {"$id": "list", "items": {"$dynamicRef": "#items"}, "$defs": {"any": {"$anchor": "items"}}}}});
    let recursive = json!({"$schema": D2019, "$id": "https://example.com/strict", "$recursiveAnchor": true,
        "$ref": "tree", "unevaluatedProperties": false, "$defs": {"tree": {"$id": "tree", "$recursiveAnchor": true,
        "properties": {"data": true, "children": {"items": {"$recursiveRef": "#"}}}}}});
    // What does not say so itself is not taken over.
    let plain = json!({"$schema": D2019, "$id": "https://example.com/strict", "$recursiveAnchor": true,
        "$ref": "tree", "required": ["a"], "$defs": {"tree": {"$id": "tree",
        "properties": {"children": {"items": {"$recursiveRef": "#"}}}}}});
    let good = || vec![json!({"children": [{"data": 1}]})];
    let bad = || vec![json!({"children": [{"daat": 1}]}), json!({"daat": 1})];
    check([
        (strict, good(), bad()),
        (recursive, good(), bad()),
        (plain, vec![json!({"a": 1, "children": [{}]})], vec![json!({})]),
        (list, vec![json!(["a"])], vec![json!([1])]),
        (fixed, vec![json!(["a"]), json!([1])], vec![]),
    ]);
}

#[test]
fn what_nothing_else_looked_at() {
    let or = json!({"anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": true}, "required": ["b"]}],
        "unevaluatedProperties": false});
    let branch = json!({"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"a": true}},
        "else": {"properties": {"b": true}}, "unevaluatedProperties": false});
    check([
        (
            json!({"properties": {"a": true}, "unevaluatedProperties": false}),
            vec![json!({"a": 1}), json!([])],
            vec![json!({"b": 1})],
        ),
        (
            json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": {"type": "null"}}),
            vec![json!({"a": 1, "b": null})],
            vec![json!({"b": 1})],
        ),
        (
            or,
            vec![json!({"a": 1}), json!({"a": 1, "b": 1})],
            vec![json!({"a": 2, "b": 1}), json!({"a": 1, "c": 1})],
        ),
        (
            branch,
            vec![json!({"k": 1, "a": 1}), json!({"b": 1})],
            vec![json!({"k": 1, "b": 1}), json!({"k": 2})],
        ),
        (
            json!({"not": {"properties": {"a": true}, "required": ["b"]}, "unevaluatedProperties": false}),
            vec![json!({})],
            vec![json!({"a": 1})],
        ),
        (
            json!({"$ref": "#/$defs/a", "unevaluatedProperties": false, "$defs": {"a": {"properties": {"a": true}}}}),
            vec![json!({"a": 1})],
            vec![json!({"b": 1})],
        ),
        (
            json!({"dependentSchemas": {"a": {"properties": {"a": true, "b": true}}}, "unevaluatedProperties": false}),
            vec![json!({"a": 1, "b": 1})],
            vec![json!({"b": 1})],
        ),
        (
            json!({"allOf": [{"unevaluatedProperties": true}], "unevaluatedProperties": false}),
            vec![json!({"a": 1})],
            vec![],
        ),
        (
            json!({"allOf": [{"additionalProperties": true}], "unevaluatedProperties": false}),
            vec![json!({"a": 1})],
            vec![],
        ),
        (
            json!({"properties": {"a": {"properties": {"b": true}}}, "unevaluatedProperties": false}),
            vec![json!({"a": {"c": 1}})],
            vec![json!({"b": 1})],
        ),
        (
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            vec![json!([1])],
            vec![json!([1, 2])],
        ),
        (
            json!({"contains": {"const": 1}, "unevaluatedItems": {"const": 2}}),
            vec![json!([1, 2, 1])],
            vec![json!([1, 3])],
        ),
        (
            json!({"$schema": D2019, "items": [true], "contains": {"const": 1}, "unevaluatedItems": false}),
            vec![json!([2, 1])],
            vec![json!([1, 2])],
        ),
        (
            json!({"anyOf": [{"items": true}], "unevaluatedItems": false}),
            vec![json!([1, 2])],
            vec![],
        ),
    ]);
}
