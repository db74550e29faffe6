//! The published schemas: every event that any test reads is held to them.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::World;

const EVENTS: &str = include_str!("../../../../docs/events.schema.json");
const INPUT: &str = include_str!("../../../../docs/input.schema.json");

/// The schema of events, with nothing let in that it does not name.
static CLOSED: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema: Value = serde_json::from_str(EVENTS).unwrap();
    for line in schema["oneOf"].as_array_mut().unwrap() {
        line["unevaluatedProperties"] = false.into();
    }
    jsonschema::validator_for(&schema).unwrap()
});

/// Fails unless this is an event as published.
#[track_caller]
pub(crate) fn check_event(event: &Value) {
    let branch = |line: &Value| line["properties"]["type"]["const"] == event["type"];
    if let Err(error) = CLOSED.validate(event) {
        let schema: Value = serde_json::from_str(EVENTS).unwrap();
        let line = schema["oneOf"].as_array().unwrap().iter().find(|line| branch(line));
        let line = line.map_or_else(|| "no such type".to_owned(), |line| format!("{line:#}"));
        panic!("{event}\nis no event as published: {error}\n{line}");
    }
}

#[test]
fn the_program_prints_the_committed_schemas() {
    let world = World::new();
    let print = |of: &[&str]| world.heeler(&[&["schema"], of].concat()).run().exits(0).stdout;
    assert_eq!(print(&[]), EVENTS);
    assert_eq!(print(&["events"]), EVENTS);
    assert_eq!(print(&["input"]), INPUT);
    assert_eq!(print(&["settings"]), include_str!("../../../../docs/settings.schema.json"));
}

#[test]
fn what_is_no_event_is_noticed() {
    let notice = json!({"v": 1, "type": "notice", "text": "x"});
    check_event(&notice);
    for (pointer, value) in [
        ("/v", json!(2)),
        ("/type", json!("notices")),
        ("/text", json!(1)),
        ("/also", json!(true)),
        ("/seq", json!("1")),
    ] {
        let mut event = notice.clone();
        event[&pointer[1..]] = value;
        assert!(!CLOSED.is_valid(&event), "{event}");
    }
}
