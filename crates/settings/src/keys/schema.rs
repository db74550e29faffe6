//! The JSON schema of a settings file of ours: what editors complete and check.

use serde_json::{Map, Value, json};

use super::value::EFFORTS;
use super::{KEYS, Key, Kind};

/// Of what is used more than once, or has names of its own.
const DEFINITIONS: &str = r##"{
  "rule": {
    "oneOf": [
      {"type": "string"},
      {
        "type": "object",
        "properties": {
          "rule": {"type": "string"},
          "match": {"type": "array", "items": {"type": "string"}},
          "not_match": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["rule"],
        "additionalProperties": false
      }
    ]
  },
  "hooks": {
    "type": "object",
    "properties": {
      "matcher": {"type": "string"},
      "hooks": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "type": {"const": "command"},
            "command": {"type": "string"},
            "timeout": {"type": "integer", "minimum": 1, "maximum": 600}
          },
          "required": ["command"],
          "additionalProperties": false
        }
      }
    },
    "additionalProperties": false
  },
  "prices": {
    "type": "object",
    "properties": {
      "input": {"type": "number", "minimum": 0, "maximum": 1000000},
      "output": {"type": "number", "minimum": 0, "maximum": 1000000},
      "cache_write": {"type": "number", "minimum": 0, "maximum": 1000000},
      "cache_read": {"type": "number", "minimum": 0, "maximum": 1000000}
    },
    "required": ["input", "output"],
    "additionalProperties": false
  },
  "long": {
    "type": "object",
    "properties": {
      "over": {"type": "integer", "minimum": 1, "maximum": 1000000000},
      "input": {"type": "number", "minimum": 0, "maximum": 1000000},
      "output": {"type": "number", "minimum": 0, "maximum": 1000000},
      "cache_write": {"type": "number", "minimum": 0, "maximum": 1000000},
      "cache_read": {"type": "number", "minimum": 0, "maximum": 1000000}
    },
    "required": ["over", "input", "output"],
    "additionalProperties": false
  },
  "model": {
    "type": "object",
    "properties": {
      "window": {"type": "integer", "minimum": 1, "maximum": 1000000000},
      "output_max": {"type": "integer", "minimum": 1, "maximum": 1000000000},
      "prices": {"$ref": "#/$defs/prices"},
      "long": {"$ref": "#/$defs/long"}
    },
    "additionalProperties": false
  }
}"##;

/// The schema, as it is printed.
#[must_use]
pub fn schema() -> String {
    let mut properties = Map::new();
    for key in KEYS {
        let (table, name) = key.place();
        let described = described(key);
        if table.is_empty() {
            properties.insert(name.to_owned(), described);
            continue;
        }
        let table = properties.entry(table).or_insert_with(
            || json!({"type": "object", "properties": {}, "additionalProperties": false}),
        );
        // A name between quotes stands for any name.
        match name.starts_with('"') {
            true => table["additionalProperties"] = described,
            false => table["properties"][name] = described,
        }
        if key.path == "permissions.mode" {
            table["properties"]["defaultMode"] = json!({
                "$ref": "#/properties/permissions/properties/mode"
            });
        }
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of heeler",
        "description": "settings.toml of heeler's home folder, and .heeler/settings.toml of a folder",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": parsed(DEFINITIONS),
    });
    format!("{schema:#}\n")
}

/// What a key may hold, and what it means.
fn described(key: &Key) -> Value {
    let mut described = key.kind.schema();
    let mut words = key.words.to_owned();
    if !key.variables.is_empty() {
        words += &format!(" (variable: {})", key.variables.join(", or "));
    }
    // A reference takes nothing beside it in editors that follow older drafts.
    if described.get("$ref").is_some() {
        described = json!({"allOf": [described]});
    }
    described["description"] = json!(words);
    if let Some(default) = key.default_json() {
        described["default"] = default;
    }
    described
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Switch => json!({"type": "boolean"}),
            Self::Number { min, max, .. } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            Self::Limit { max, .. } => json!({"type": "integer", "minimum": 0, "maximum": max}),
            Self::Dollars => json!({"type": "number", "minimum": 0, "maximum": 1_000_000}),
            Self::Choice(names) => json!({"enum": names}),
            Self::Choices(names) => {
                json!({"type": "array", "items": {"enum": names}, "uniqueItems": true})
            }
            Self::Name { chars_max } => {
                json!({"type": "string", "minLength": 1, "maxLength": chars_max})
            }
            Self::Effort => json!({"oneOf": [
                {"enum": EFFORTS},
                {"type": "integer", "minimum": 1024, "maximum": 1_000_000},
            ]}),
            Self::SwitchOrText { chars_max } => json!({"oneOf": [
                {"type": "boolean"},
                {"type": "string", "minLength": 1, "maxLength": chars_max},
            ]}),
            Self::FileNames { count_max } => json!({
                "type": "array",
                "items": {"type": "string", "pattern": "^[^/]+$", "maxLength": 255},
                "maxItems": count_max,
                "uniqueItems": true,
            }),
            Self::Outside(schema) => parsed(schema),
        }
    }
}

impl Key {
    fn default_json(&self) -> Option<Value> {
        use super::KeyValue;
        Some(match self.default_value()? {
            KeyValue::Switch(on) => json!(on),
            KeyValue::Number(number) => json!(number),
            KeyValue::Text(text) => json!(text),
            KeyValue::List(list) => json!(list),
        })
    }
}

#[expect(clippy::expect_used, reason = "constants of this folder, which a test reads all of")]
fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).expect("a schema that stands in the program is JSON")
}
