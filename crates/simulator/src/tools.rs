//! The tools of a simulated session: what each call touches and how it ends.

use heeler_core::{
    Access, Block, CallId, CallPlan, Facts, RawJson, Resource, ToolDefinition, ToolOutput,
};

use crate::chance::Chance;

/// The folder the session works in.
pub(crate) const WORKSPACE: &str = "/w";

/// Names a model may write; the last two are no tools.
pub(crate) const NAMES: [&str; 12] = [
    "read", "write", "bash", "fetch", "note", "solo", "finish", "tell", "opaque", LATER, "nothing",
    "",
];

/// The tool whose work goes on after its call.
pub(crate) const LATER: &str = "later";

/// The folder that some policies close.
pub(crate) const SECRET: &str = "/w/secret";
const PATHS: [&str; 5] = ["/w/src/a", "/w/src/b", "/w/secret/c", "/w/.git/d", "/etc/e"];
const LINES: [&str; 5] = ["git status", "git push now", "rm x", "ls; rm x", "cargo test"];
const HOSTS: [&str; 3] = ["example.com", "a.example.com", "other.org"];

/// The input that means the `n`-th thing a tool can touch.
pub(crate) fn input(n: u32) -> RawJson {
    RawJson::from_value(&serde_json::json!({ "n": n }))
}

/// An input that says no such thing; only a tool with a schema minds.
pub(crate) fn broken_input() -> RawJson {
    RawJson::from_value(&serde_json::json!({ "n": "none" }))
}

/// The tool that declares a schema: one whose calls may begin before their answer is whole.
const STRICT: &str = "read";
/// What its inputs are.
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

/// Whether an input is one that the tool takes, said here without any schema.
pub(crate) fn fits(name: &str, input: &RawJson) -> bool {
    name != STRICT || input.value().get("n").is_some_and(serde_json::Value::is_u64)
}

/// What a call of a tool does, as its own code would say; `None` for no such tool.
pub(crate) fn facts(name: &str, input: &RawJson) -> Option<Facts> {
    let n = input.value().get("n").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let nth =
        |items: &[&str]| items[usize::try_from(n).unwrap_or_default() % items.len()].to_owned();
    let resource = |write| vec![Resource { key: nth(&PATHS), write }];
    let facts = match name {
        "read" => Facts {
            accesses: vec![Access::Read(nth(&PATHS))],
            resources: resource(false),
            replay_safe: true,
            ..Facts::default()
        },
        "write" => Facts {
            accesses: vec![Access::Write(nth(&PATHS))],
            resources: resource(true),
            ..Facts::default()
        },
        "bash" => Facts { accesses: vec![Access::Command(nth(&LINES))], ..Facts::default() },
        "fetch" => Facts {
            accesses: vec![Access::Host(nth(&HOSTS))],
            replay_safe: true,
            ..Facts::default()
        },
        "note" => Facts { replay_safe: true, ..Facts::default() },
        "solo" => Facts {
            accesses: vec![Access::Read("/w/src/a".into())],
            exclusive: true,
            ..Facts::default()
        },
        "finish" => Facts { terminal: true, replay_safe: true, ..Facts::default() },
        "tell" | LATER => Facts::default(),
        "opaque" => Facts { accesses: vec![Access::Opaque("x".into())], ..Facts::default() },
        _ => return None,
    };
    Some(facts)
}

/// Whether a call of a tool may touch something else by the time it starts.
pub(crate) fn facts_change(name: &str) -> bool {
    matches!(name, "write" | "bash" | "fetch")
}

/// What a call does once the world has changed so many times.
pub(crate) fn facts_after(name: &str, said: &RawJson, changes: u32) -> Option<Facts> {
    if !facts_change(name) {
        return facts(name, said);
    }
    let n = said.value().get("n").and_then(serde_json::Value::as_u64).unwrap_or_default();
    facts(name, &input(u32::try_from(n).unwrap_or_default().wrapping_add(changes)))
}

/// Whether calls of a tool only look, so that they may begin before anybody wants their result.
pub(crate) fn is_read_only(name: &str) -> bool {
    name == "read"
}

/// What looking a call up finds.
pub(crate) fn plan(name: &str, input: &RawJson, chance: &mut Chance) -> CallPlan {
    match facts(name, input) {
        None => CallPlan::Invalid { error: format!("there is no tool `{name}`") },
        Some(_) if !fits(name, input) || chance.percent(4) => {
            CallPlan::Invalid { error: "`n` is no number".into() }
        }
        Some(facts) => {
            let note = chance.percent(5).then(|| "`n` was repaired".into());
            let notes = note.into_iter().collect();
            CallPlan::Ready { facts, input: None, notes, hook: None }
        }
    }
}

/// What calls come to: so many percent fail, and so many are long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Results {
    pub(crate) fail: u32,
    pub(crate) bulky: u32,
    /// Of the longest.
    pub(crate) lines_max: usize,
}

/// How a call ends and how many milliseconds it takes.
pub(crate) fn end(
    name: &str,
    call: &str,
    results: Results,
    chance: &mut Chance,
) -> (ToolOutput, u64) {
    let millis = chance.pick(&[1, 1, 2, 10, 10, 300, 5000]);
    if chance.percent(results.fail) {
        let text = chance.pick(&["it failed", "the call crashed: index out of bounds", ""]);
        let millis = if chance.percent(15) { HANGS_MILLIS } else { millis };
        let output = ToolOutput::error(format!("{call}: {text}"));
        return (output, millis);
    }
    let mut output = ToolOutput::text(format!("{call}: done{}", bulk(results, chance)));
    match name {
        "note" => output = output.with_state(chance.pick(&["a", "b"]), &call),
        LATER => output.is_background = true,
        "tell" => {
            output.response_handled = true;
            output.for_user = format!("{call} says hello");
        }
        "fetch" if chance.percent(20) => output.content = vec![Block::text(" ")],
        _ => {}
    }
    (output, millis)
}

/// What makes some results long: a few of them fill a small context.
fn bulk(results: Results, chance: &mut Chance) -> String {
    match chance.percent(results.bulky) {
        true => "\nand one more line".repeat(results.lines_max * chance.pick(&[2, 4, 7, 10]) / 10),
        false => String::new(),
    }
}

/// What work in the background will come to, and after how many milliseconds; `None` for never.
pub(crate) fn work(call: CallId, chance: &mut Chance) -> (Option<u64>, ToolOutput) {
    let millis = chance.pick(&[Some(5), None, Some(300), Some(700), Some(20_000), None]);
    let output = match chance.below(4) {
        3 => ToolOutput::error(format!("{call}: it broke later")),
        _ => ToolOutput::text(format!("{call}: worked")),
    };
    (millis, output)
}

/// When a call that hangs is cancelled.
const HANGS_MILLIS: u64 = 660_000;

/// What the model is told of the tools; `version` changes it.
pub(crate) fn definitions(version: u32) -> Vec<ToolDefinition> {
    NAMES[..NAMES.len() - 2]
        .iter()
        .map(|name| {
            let strict = if *name == STRICT { RawJson::parse(SCHEMA).ok() } else { None };
            let schema = strict.unwrap_or_else(RawJson::empty_object);
            ToolDefinition::new(*name, format!("version {version}"), schema)
        })
        .collect()
}
