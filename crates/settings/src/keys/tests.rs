//! One source of truth: the reader, the schema, the template and the page name the same keys.

use std::collections::BTreeSet;

use expect_test::expect_file;
use serde_json::Value;

use super::*;
use crate::layer::Layer;
use crate::source::{Context, Place, Source};

const PAGE: &str = include_str!("../../../../docs/settings.md");

fn read(text: &str) -> Result<Layer, crate::SettingsError> {
    let source = Source {
        place: Place::User,
        path: "s.toml".into(),
        name: "FILE".into(),
        content: text.into(),
        trusted: BTreeSet::new(),
    };
    let tools = ["Bash", "Read"].map(str::to_owned).into();
    let context = Context { workspace: "/space".into(), homes: vec!["/home/me".into()], tools };
    Layer::read(&source, &context)
}

/// The keys that the reader asks for in this table, in its own words.
fn asked(table: &str) -> BTreeSet<String> {
    let head = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
    let told = match read(&format!("{head}qqqqqqqqqqqqqqqq = 1\n")) {
        Err(error) => error.to_string(),
        Ok(layer) => layer.problems[0].to_string(),
    };
    let (_, names) = told.split_once("; there are ").unwrap_or_else(|| panic!("{told}"));
    names.split(", ").map(str::to_owned).collect()
}

fn in_schema(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let properties = schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    properties.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_reader_and_the_schema_know_the_same_keys() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(in_schema(&schema, "/properties"), asked(""));
    let tables: BTreeSet<&str> = KEYS.into_iter().map(|key| key.place().0).collect();
    // Names of models are anybody's.
    for table in tables.into_iter().filter(|table| !matches!(*table, "" | "models")) {
        let pointer = format!("/properties/{table}/properties");
        assert_eq!(in_schema(&schema, &pointer), asked(table), "{table}");
    }
    let model = in_schema(&schema, "/$defs/model/properties");
    assert_eq!(model, asked("models.\"a/b\""));
}

#[test]
fn the_page_and_the_table_know_the_same_keys() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let mut on_page: Vec<&str> = rows.map(|(first, _)| first).collect();
    // One row for the three kinds of rules; a second name behind the first.
    on_page.retain(|path| !path.starts_with("permissions."));
    // Other tables of the page are about files, rules and sections.
    let is_key = |path: &&str| {
        Key::named(path).is_some()
            || path.contains('.') && path.starts_with(char::is_lowercase) && !path.contains('(')
    };
    let on_page: BTreeSet<&str> = on_page.into_iter().filter(is_key).collect();
    let known = KEYS.into_iter().map(|key| key.path).filter(|p| !p.starts_with("permissions."));
    assert_eq!(on_page, known.collect());
    for key in KEYS.into_iter().filter(|key| key.path.starts_with("permissions.")) {
        assert!(PAGE.contains(&format!("`{}`", key.path)), "{}", key.path);
    }
    for key in KEYS {
        for variable in key.variables {
            assert!(PAGE.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}

#[test]
fn the_committed_schema_is_this_one() {
    expect_file!["../../../../docs/settings.schema.json"].assert_eq(&schema());
}

#[test]
fn the_template_says_nothing_and_every_line_of_it_can_be_taken() {
    let template = template();
    let layer = read(&template).unwrap();
    assert_eq!(layer, Layer::empty(Place::User));
    let taken: String = template
        .lines()
        .map(|line| match line.strip_prefix("# ").filter(|rest| is_setting(rest)) {
            Some(rest) => format!("{}\n", rest.replace("PROVIDER/NAME", "a/b")),
            None => format!("{line}\n"),
        })
        .collect();
    let layer = read(&taken).unwrap();
    assert_eq!(layer.problems, []);
    let said: BTreeSet<&str> = layer.values.iter().map(|(key, _)| key.path).collect();
    let own = KEYS.into_iter().filter(|key| !matches!(key.kind, Kind::Outside(_)));
    assert_eq!(said, own.map(|key| key.path).collect());
    assert_eq!((layer.rules.len(), layer.hooks.len(), layer.models.len()), (3, 1, 1));
}

fn is_setting(line: &str) -> bool {
    line.split_once(" = ")
        .is_some_and(|(key, _)| KEYS.into_iter().any(|known| known.place().1 == key))
}

/// Each key changes what the agent is told, so none is read for nothing.
#[test]
fn every_key_of_the_table_changes_the_preferences() {
    let others = [
        ("model.default", "'a/b'"),
        ("model.thinking", "'low'"),
        ("context.result_chars", "10_000"),
        ("context.auto_compact", "false"),
        ("notes.enabled", "false"),
        ("notes.names", "['A.md']"),
        ("attribution", "false"),
        ("tui.theme", "'dark'"),
        ("tui.keys", "'vim'"),
        ("tui.plain", "true"),
        ("tui.bell", "false"),
        ("tui.status", "[]"),
    ];
    let preferences = |text: &str| crate::merge(vec![read(text).unwrap()]).unwrap().preferences();
    let nothing = preferences("");
    for key in KEYS.into_iter().filter(|key| !matches!(key.kind, Kind::Outside(_))) {
        let other = others.iter().find(|(path, _)| *path == key.path);
        let value = other.map_or("7", |(_, value)| value);
        assert_ne!(preferences(&format!("{} = {value}", key.path)), nothing, "{}", key.path);
    }
}
