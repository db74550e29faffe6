//! What is added to the input of a tool for guards that know another: they read `command` and
//! `file_path`, and have to see every line and every path.

use std::path::Path;

use heeler_core::{Access, HookOutcome, HookedCall, RawJson};
use serde_json::{Map, Value};

use crate::answer::broken;
use crate::matcher::{Matcher, stands_for};

/// The most lines and paths of one call that one hook is asked about.
pub(crate) const ASKS_MAX: usize = 64;
/// The tool whose guards read a command line. Those of the others read a path.
const SHELL: &str = "Bash";

/// A field that the tool itself does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) field: &'static str,
    pub(crate) value: String,
}

/// What a hook is asked about one after the other, where `None` is the call's own input; empty where
/// that says it all.
///
/// # Errors
/// When there is more than any hook is asked about.
pub(crate) fn added(matcher: &Matcher, call: &HookedCall) -> Result<Vec<Option<Added>>, String> {
    let others = stands_for(&call.tool);
    if others.is_empty() || matcher.names(&call.tool) {
        return Ok(Vec::new());
    }
    let field = if others.contains(&SHELL) { "command" } else { "file_path" };
    let input = call.input.value();
    let own = input.get(field).and_then(Value::as_str);
    let value = |access: &Access| match access {
        Access::Command(line) if field == "command" => Some(line.clone()),
        Access::Shell(line) if field == "command" => Some(line.line.clone()),
        Access::Read(path) | Access::Write(path) if field == "file_path" => Some(path.clone()),
        _ => None,
    };
    let values = call.accesses.iter().filter_map(value);
    let added: Vec<_> = values.map(|value| Some(Added { field, value })).collect();
    // A field of this name may be about something else than what the call does.
    let is_said = |own: &str| added.iter().flatten().all(|added| added.says(own));
    let own = match own {
        Some(own) if is_said(own) => return Ok(Vec::new()),
        Some(_) => vec![None],
        None => Vec::new(),
    };
    match added.len() {
        n if n > ASKS_MAX => {
            Err(format!("the call has {n} paths, and a hook is asked about {ASKS_MAX} at most"))
        }
        _ => Ok(own.into_iter().chain(added).collect()),
    }
}

impl Added {
    /// Whether a field with this value says as much: the same path from the workspace, the same line,
    /// or that behind the lines that say where it starts and with which variables.
    fn says(&self, own: &str) -> bool {
        match self.field {
            "file_path" => {
                let own = Path::new(own).strip_prefix(".").unwrap_or(Path::new(own));
                own.file_name().is_some() && Path::new(&self.value).ends_with(own)
            }
            _ => self.value.strip_suffix(own).is_some_and(|before| {
                !own.is_empty() && (before.is_empty() || before.ends_with('\n'))
            }),
        }
    }

    /// The input as this hook reads it.
    pub(crate) fn to(&self, input: Value) -> Value {
        let mut fields = match input {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.insert(self.field.to_owned(), self.value.clone().into());
        Value::Object(fields)
    }

    /// An answer without the field, which the tool would not know.
    pub(crate) fn out_of(
        &self,
        by: &str,
        call: &HookedCall,
        mut outcome: HookOutcome,
    ) -> HookOutcome {
        let Some(input) = outcome.input.take() else { return outcome };
        let Value::Object(mut fields) = input.value() else { return outcome };
        if fields.remove(self.field).is_some_and(|value| value != *self.value) {
            let why = format!("it changed `{}`, which is no input of {}", self.field, call.tool);
            return outcome.join(broken(by, why));
        }
        if let Some(own) = call.input.value().get(self.field) {
            fields.insert(self.field.to_owned(), own.clone());
        }
        let changed = Value::Object(fields);
        let is_changed = changed != call.input.value();
        outcome.input = is_changed.then(|| RawJson::from_value(&changed));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::{CallId, ShellLine};
    use serde_json::json;

    use super::*;

    fn call(tool: &str, input: Value, accesses: Vec<Access>) -> HookedCall {
        let id = CallId { turn: 1, round: 1, index: 0 };
        HookedCall { id, tool: tool.into(), input: RawJson::from_value(&input), accesses }
    }

    fn writes(paths: &[&str]) -> Vec<Access> {
        paths.iter().map(|path| Access::Write((*path).to_owned())).collect()
    }

    fn check(matcher: &str, call: &HookedCall, expected: &[&str]) {
        let added = added(&Matcher::of_tools(matcher), call).unwrap();
        let told = |it: &Option<Added>| match it {
            Some(it) => format!("{}={}", it.field, it.value),
            None => "its own".to_owned(),
        };
        let added: Vec<String> = added.iter().map(told).collect();
        assert_eq!(added, expected, "{matcher}");
    }

    #[test]
    fn a_guard_of_another_tool_sees_every_line_and_every_path() {
        let patch = call("apply_patch", json!({ "input": "*** Begin" }), writes(&["/a", "/b"]));
        check("Edit|Write", &patch, &["file_path=/a", "file_path=/b"]);
        check("", &patch, &["file_path=/a", "file_path=/b"]);
        check("Edit|apply_patch", &patch, &[]);
        let line = ShellLine { line: "touch evil".into(), ..ShellLine::default() };
        let shell = || vec![Access::Shell(Box::new(line.clone()))];
        let typed = json!({ "action": "write", "data": "touch evil\n" });
        check("Bash", &call("exec", typed, shell()), &["command=touch evil"]);
        let runs = json!({ "action": "run", "command": "touch evil" });
        check("Bash", &call("exec", runs, shell()), &[]);
        check("Bash", &call("git_commit", json!({}), shell()), &["command=touch evil"]);
        check("Bash", &call("exec", json!({ "action": "list" }), Vec::new()), &[]);
        let shows = vec![Access::Read("/a".into())];
        let viewed = json!({ "command": "view", "path": "a" });
        check("Read", &call("str_replace_based_edit_tool", viewed, shows), &["file_path=/a"]);
        check("", &call("Write", json!({ "file_path": "/a" }), writes(&["/a"])), &[]);
    }

    #[test]
    fn a_field_that_is_about_something_else_hides_nothing() {
        let lines = |lines: &[&str]| -> Vec<Access> {
            let line = |line: &&str| ShellLine { line: (*line).into(), ..ShellLine::default() };
            lines.iter().map(|it| Access::Shell(Box::new(line(it)))).collect()
        };
        let decoy = json!({ "action": "write", "data": "touch evil\n", "command": "ls" });
        let decoy = call("exec", decoy, lines(&["touch evil"]));
        check("Bash", &decoy, &["its own", "command=touch evil"]);
        let empty = call("exec", json!({ "command": "" }), lines(&["touch evil"]));
        check("Bash", &empty, &["its own", "command=touch evil"]);
        let elsewhere = json!({ "action": "run", "command": "ls", "cwd": "a" });
        check("Bash", &call("exec", elsewhere, lines(&["cd 'a'\nls"])), &[]);
        let edits = |path: &str| call("MultiEdit", json!({ "file_path": path }), writes(&["/w/a"]));
        for path in ["/w/a", "a", "./a"] {
            check("Edit", &edits(path), &[]);
        }
        check("Edit", &edits("."), &["its own", "file_path=/w/a"]);
        check("Edit", &edits("b"), &["its own", "file_path=/w/a"]);
        let added = Added { field: "command", value: "touch evil".into() };
        let told = added.to(decoy.input.value());
        assert_eq!(told["command"], "touch evil");
        let input = Some(RawJson::from_value(&told));
        let outcome = added.out_of("h", &decoy, HookOutcome { input, ..HookOutcome::default() });
        assert_eq!(outcome, HookOutcome::default());
    }

    #[test]
    fn more_than_a_hook_is_asked_about_is_broken() {
        let paths = |n: usize| {
            let paths = (0..n).map(|n| Access::Write(format!("/{n}"))).collect();
            added(&Matcher::All, &call("apply_patch", json!({}), paths))
        };
        assert_eq!(paths(ASKS_MAX).unwrap().len(), ASKS_MAX);
        assert!(paths(ASKS_MAX + 1).unwrap_err().contains("65 paths"));
    }

    #[test]
    fn an_answer_loses_what_was_added() {
        let call = call("exec", json!({ "data": "x" }), Vec::new());
        let added = Added { field: "command", value: "x".into() };
        let answer = |input: Value| {
            let input = Some(RawJson::from_value(&input));
            added.out_of("h", &call, HookOutcome { input, ..HookOutcome::default() })
        };
        let told = added.to(call.input.value());
        assert_eq!(told, json!({ "data": "x", "command": "x" }));
        assert_eq!(answer(told), HookOutcome::default());
        let changed = answer(json!({ "data": "y", "command": "x" })).input.unwrap();
        assert_eq!(changed.value(), json!({ "data": "y" }));
        let lost = answer(json!({ "data": "x", "command": "y" }));
        assert_eq!(lost, broken("h", "it changed `command`, which is no input of exec".into()));
    }
}
