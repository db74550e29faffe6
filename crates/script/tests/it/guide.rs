//! The guide, the schema and the parser say the same.

use std::collections::BTreeSet;

use heeler_script::Script;
use serde_json::{Value, json};

const GUIDE: &str = include_str!("../../../../docs/guide/scripted-models.md");
const SCHEMA: &str = include_str!("../../schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap_or_else(|error| panic!("schema.json: {error}"))
}

/// The guide's code blocks in this language.
fn examples(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let blocks = GUIDE.split(fence.as_str()).skip(1);
    blocks.filter_map(|block| block.split("```").next()).collect()
}

/// A script in the shape the schema describes: that of TOML.
fn as_document(name: &str, text: &str) -> Value {
    if name.ends_with("toml") {
        return heeler_toml::read(text).unwrap_or_else(|error| panic!("{error:?}"));
    }
    let lines = text.lines().filter(|line| !line.is_empty());
    let mut lines: Vec<Value> =
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}"))).collect();
    match lines[0].get("script").cloned() {
        Some(options) => json!({"script": options, "reply": lines.split_off(1)}),
        None => json!({"reply": lines}),
    }
}

#[test]
fn every_example_is_a_script_and_fits_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let toml = examples("toml").into_iter().map(|text| ("a.toml", text));
    let lines = examples("jsonl").into_iter().map(|text| ("a.jsonl", text));
    let all: Vec<_> = toml.chain(lines).collect();
    assert_eq!(all.len(), 7);
    for (name, text) in all {
        Script::parse_named(name, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if let Err(error) = validator.validate(&as_document(name, text)) {
            panic!("{error}\n{text}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for line in [
        r#"{"txt": "a"}"#,
        r#"{"text": 1}"#,
        r#"{"repeat": 0}"#,
        r#"{"blocks": [{}]}"#,
        r#"{"blocks": [{"text": "a", "call": "b"}]}"#,
        r#"{"blocks": [{"text": "a", "id": "b"}]}"#,
        r#"{"blocks": [{"call": "a", "input": {}, "input_raw": ""}]}"#,
        r#"{"blocks": [{"opaque": 1}]}"#,
        r#"{"expect": {"tool_result_is_error": "yes"}}"#,
        r#"{"error": {"status": 200}}"#,
        r#"{"cut": {"events": 1, "bytes": 1}}"#,
        r#"{"for": "lunch"}"#,
        r#"{"delay_ms": -1}"#,
    ] {
        assert!(Script::parse_named("a.jsonl", line).is_err(), "the parser accepts {line}");
        let document = as_document("a.jsonl", line);
        assert!(!validator.is_valid(&document), "the schema accepts {line}");
    }
}

/// For each place of a script, a line with an unknown field there: the parser's refusal lists the
/// fields it knows.
#[test]
fn the_parser_the_schema_and_the_guide_know_the_same_fields() {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = GUIDE.split(|c| !is_part(c)).collect();
    for (definition, line) in [
        ("script", r#"{"script": {"?": 0}}"#),
        ("reply", r#"{"?": 0}"#),
        ("block", r#"{"blocks": [{"?": 0}]}"#),
        ("expect", r#"{"expect": {"?": 0}}"#),
        ("expect", r#"{"when": {"?": 0}}"#),
        ("usage", r#"{"usage": {"?": 0}}"#),
        ("error", r#"{"error": {"?": 0}}"#),
        ("after", r#"{"cut": {"?": 0}}"#),
        ("after", r#"{"stall": {"?": 0}}"#),
    ] {
        let error = Script::parse_named("a.jsonl", line).unwrap_err().to_string();
        let (_, listed) = error.split_once("expected").unwrap();
        let parser: BTreeSet<&str> = listed.split('`').skip(1).step_by(2).collect();
        let schema = schema();
        let properties = schema["$defs"][definition]["properties"].as_object().unwrap();
        let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(parser, known, "{definition}");
        for field in parser {
            let is_there = words.contains(field);
            assert!(is_there, "the guide does not mention {definition}.{field}");
        }
    }
}

#[test]
fn the_guide_names_the_limits() {
    for limit in ["16 MiB", "100,000 replies", "1,000 blocks", "1,000,000 `chunks`", "1 MiB"] {
        assert!(GUIDE.contains(limit), "{limit}");
    }
}
