//! The tools of all tests: what planning finds for a name and an input.

use heeler_core::{Access, CallPlan, Facts, HookVerdict, RawJson, Resource};

/// The workspace of all tests.
pub(crate) const WORKSPACE: &str = "/w";

/// The input `NAME ARGUMENT` stands for: one string under the name a reader expects.
pub(crate) fn input(name: &str, argument: &str) -> RawJson {
    let field = match name {
        "read" | "write" => "path",
        "bash" => "command",
        _ => "text",
    };
    if argument.is_empty() {
        return RawJson::empty_object();
    }
    RawJson::from_value(&serde_json::json!({ field: argument }))
}

/// The one string of an input.
pub(crate) fn argument(input: &RawJson) -> String {
    let value = input.value();
    let first = value.as_object().and_then(|object| object.values().next());
    first.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// What planning finds. An argument `bad` does not pass, `fixme` is changed on the way, and about
/// `hook-ask` and its like a hook has its say.
pub(crate) fn plan(name: &str, input: &RawJson) -> CallPlan {
    let argument = argument(input);
    let Some(facts) = facts(name, &argument) else {
        return CallPlan::Invalid { error: format!("there is no tool `{name}`") };
    };
    if argument == "bad" {
        return CallPlan::Invalid { error: "the input does not fit the schema".into() };
    }
    let fixed = argument == "fixme";
    CallPlan::Ready {
        facts,
        input: fixed.then(|| self::input(name, "fixed")),
        notes: fixed.then(|| "The input was read as `fixed`.".into()).into_iter().collect(),
        hook: argument.strip_prefix("hook-").map(hook).map(Box::new),
    }
}

/// What a hook says that wants this.
pub(crate) fn hook(wish: &str) -> HookVerdict {
    let (by, reason) = ("guard".to_owned(), "so it says".to_owned());
    match wish {
        "allow" => HookVerdict::Allow { by, reason: None },
        "ask" => HookVerdict::Ask { by, reason: Some(reason) },
        "broken" => HookVerdict::Broken { by, why: "it timed out".into() },
        "deny" => HookVerdict::Deny { by, reason },
        "stop" => HookVerdict::Stop { by, reason },
        _ => HookVerdict::Continue,
    }
}

/// `read` and `write` touch a file, `bash` runs a command, `fetch` goes to a host, `solo` runs alone,
/// `finish` ends the turn, `note` touches nothing.
pub(crate) fn facts(name: &str, argument: &str) -> Option<Facts> {
    let path = format!("{WORKSPACE}/{argument}");
    let resource = |write| vec![Resource { key: format!("file:{path}"), write }];
    let facts = match name {
        "read" => Facts {
            accesses: vec![Access::Read(path.clone())],
            resources: resource(false),
            replay_safe: true,
            ..Facts::default()
        },
        "write" => Facts {
            accesses: vec![Access::Write(path.clone())],
            resources: resource(true),
            ..Facts::default()
        },
        "bash" => {
            Facts { accesses: vec![Access::Command(argument.to_owned())], ..Facts::default() }
        }
        "fetch" => Facts { accesses: vec![Access::Host(argument.to_owned())], ..Facts::default() },
        "solo" => Facts { exclusive: true, ..Facts::default() },
        "finish" => Facts { terminal: true, ..Facts::default() },
        "note" => Facts { replay_safe: true, ..Facts::default() },
        _ => return None,
    };
    Some(facts)
}
