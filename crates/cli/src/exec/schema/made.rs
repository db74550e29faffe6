//! The committed schemas are made from the very types.

use expect_test::expect_file;
use heeler_core::Envelope;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::exec::finish::{EVENTS_VERSION, TerminalEvent};
use crate::exec::json::Own;
use crate::exec::stream::Message;

/// The version of the messages; raised when one changes its meaning or goes away.
const INPUT_VERSION: u32 = 1;

#[test]
fn the_committed_schemas_are_those_of_this_version() {
    expect_file!["../../../../../docs/events.schema.json"].assert_eq(&events());
    expect_file!["../../../../../docs/input.schema.json"].assert_eq(&input());
}

/// The schema of one line that `--json` prints.
fn events() -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut lines = variants::<Own<'_>>(&mut generator);
    // The end of a turn is told by the terminal event instead.
    let of_session = variants::<Envelope>(&mut generator);
    lines.extend(of_session.into_iter().filter(|line| kind(line) != "turn_finished"));
    lines.push(TerminalEvent::json_schema(&mut generator).to_value());
    lines.iter_mut().for_each(versioned);
    text(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:heeler:exec:events:{EVENTS_VERSION}"),
        "title": format!("A line of `heeler exec --json`, version {EVENTS_VERSION}"),
        "oneOf": lines,
        "$defs": generator.take_definitions(true),
    }))
}

/// The schema of one line that `--stream-input` reads.
fn input() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Message>();
    schema.insert("$id".into(), format!("urn:heeler:exec:input:{INPUT_VERSION}").into());
    let title = format!("A line of stdin of `heeler exec --stream-input`, version {INPUT_VERSION}");
    schema.insert("title".into(), title.into());
    text(schema.to_value())
}

fn text(schema: Value) -> String {
    format!("{schema:#}\n")
}

/// The schemas of a type's variants, each with the properties that all of them have.
fn variants<T: JsonSchema>(generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut whole: Schema = T::json_schema(generator);
    let common = whole.remove("properties");
    let common = common.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    let Some(Value::Array(mut variants)) = whole.remove("oneOf") else { return Vec::new() };
    for properties in variants.iter_mut().filter_map(properties) {
        let own = std::mem::replace(properties, common.clone());
        properties.extend(own);
    }
    variants
}

fn properties(schema: &mut Value) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties")?.as_object_mut()
}

fn kind(line: &Value) -> &str {
    line["properties"]["type"]["const"].as_str().unwrap_or_default()
}

/// Each line says which version it is of.
fn versioned(line: &mut Value) {
    let version = json!({ "const": EVENTS_VERSION, "description": "The version of the events." });
    if let Some(properties) = properties(line) {
        properties.shift_insert(0, "v".into(), version);
    }
    if let Some(required) = line.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "v");
        required.insert(0, "v".into());
    }
}
