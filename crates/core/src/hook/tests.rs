//! Moments and what hooks say of them.

use expect_test::expect;

use super::*;

#[test]
fn events_are_read_by_the_names_they_are_written_with() {
    for event in HookEvent::ALL {
        assert_eq!(event.to_string().parse(), Ok(event));
        assert_eq!(serde_json::to_value(event).unwrap(), event.name());
    }
    let error = "preToolUse".parse::<HookEvent>().unwrap_err().to_string();
    assert!(error.starts_with("`preToolUse` is no hook event; the events are Ses"), "{error}");
}

fn outcome(word: &str) -> HookOutcome {
    let (by, reason) = (word.to_owned(), "r".to_owned());
    let verdict = match word {
        "allow" => HookVerdict::Allow { by, reason: None },
        "ask" => HookVerdict::Ask { by, reason: None },
        "broken" => HookVerdict::Broken { by, why: reason },
        "deny" => HookVerdict::Deny { by, reason },
        "stop" => HookVerdict::Stop { by, reason },
        _ => HookVerdict::Continue,
    };
    let input = word.strip_prefix("edit").map(|n| RawJson::parse(n).unwrap());
    HookOutcome { verdict, input, context: vec![word.into()], notices: Vec::new() }
}

/// What hooks that say these words come to, in whatever order they are joined.
fn check(words: &str, by: Option<&str>, input: Option<&str>) {
    let words: Vec<&str> = words.split(' ').collect();
    for words in [words.clone(), words.into_iter().rev().collect()] {
        let joined = words.iter().map(|word| outcome(word)).reduce(HookOutcome::join).unwrap();
        let got = (joined.verdict.by(), joined.input.as_ref().map(RawJson::get));
        assert_eq!(got, (by, input), "{words:?}");
        assert_eq!(joined.context, words);
    }
}

#[test]
fn the_strictest_hook_wins() {
    check("nothing nothing", None, None);
    check("nothing allow", Some("allow"), None);
    check("allow ask nothing", Some("ask"), None);
    check("allow broken ask", Some("broken"), None);
    check("broken deny allow", Some("deny"), None);
    check("deny stop broken", Some("stop"), None);
}

#[test]
fn inputs_that_differ_are_broken_unless_something_is_denied() {
    check("edit1 allow nothing", Some("allow"), Some("1"));
    check("edit1 edit1", None, Some("1"));
    check("edit1 edit2 allow", Some("hooks"), None);
    check("edit1 deny edit2", Some("deny"), None);
}

#[test]
fn of_hooks_that_are_as_strict_the_first_speaks() {
    let denies = |by: &str| {
        HookOutcome::of(HookVerdict::Deny { by: by.into(), reason: format!("{by} says no") })
    };
    let joined = denies("one").join(denies("two")).verdict;
    assert_eq!(joined, HookVerdict::Deny { by: "one".into(), reason: "one says no".into() });
}

fn call() -> HookedCall {
    let id = CallId { turn: 1, round: 1, index: 0 };
    HookedCall { id, tool: "Bash".into(), input: RawJson::empty_object(), accesses: Vec::new() }
}

#[test]
fn a_moment_says_which_it_is_what_matchers_look_at_and_its_call() {
    let ends = |output| HookMoment::PostToolUse { call: call(), output: Box::new(output) };
    let compacts = |cause| HookMoment::PreCompact { cause, focus: None };
    let (answer, kind, again) = ("a".to_owned(), "looks".to_owned(), false);
    let moments = [
        HookMoment::SessionStart { resumed: false },
        HookMoment::SessionStart { resumed: true },
        HookMoment::UserPromptSubmit { prompt: "p".into() },
        HookMoment::PreToolUse(call()),
        HookMoment::PermissionRequest { call: call(), reason: PermissionReason::Repeated(5) },
        ends(ToolOutput::text("a")),
        ends(ToolOutput::error("a")),
        compacts(CompactionCause::Manual),
        compacts(CompactionCause::Automatic),
        HookMoment::Stop { turn: 1, again, answer: answer.clone() },
        HookMoment::SubagentStart { kind: kind.clone() },
        HookMoment::SubagentStop { kind, again, answer },
        HookMoment::SessionEnd,
    ];
    let lines = moments.iter().map(|moment| {
        let call = moment.call().map(|call| format!(" {}", call.id)).unwrap_or_default();
        format!("{} `{}`{call}\n", moment.event(), moment.subject())
    });
    expect![[r#"
        SessionStart `startup`
        SessionStart `resume`
        UserPromptSubmit ``
        PreToolUse `Bash` 1.1.0
        PermissionRequest `Bash` 1.1.0
        PostToolUse `Bash` 1.1.0
        PostToolUseFailure `Bash` 1.1.0
        PreCompact `manual`
        PreCompact `auto`
        Stop ``
        SubagentStart `looks`
        SubagentStop `looks`
        SessionEnd `other`
    "#]]
    .assert_eq(&lines.collect::<String>());
}

#[test]
fn watchers_are_told_of_a_hook_with_its_moment_and_its_call() {
    let (sender, told) = std::sync::mpsc::channel();
    for moment in [HookMoment::SessionEnd, HookMoment::PreToolUse(call())] {
        let sender = sender.clone();
        let watch = HookWatch::new(&moment, move |event| sender.send(event).unwrap());
        watch.started("lint");
        watch.finished("lint", 7, HookEnd::TimedOut);
    }
    let lines = told.try_iter().map(|event| serde_json::to_string(&event).unwrap() + "\n");
    expect![[r#"
        {"type":"hook_started","event":"SessionEnd","hook":"lint"}
        {"type":"hook_finished","event":"SessionEnd","hook":"lint","millis":7,"end":"timed_out"}
        {"type":"hook_started","event":"PreToolUse","hook":"lint","call":"1.1.0"}
        {"type":"hook_finished","event":"PreToolUse","hook":"lint","call":"1.1.0","millis":7,"end":"timed_out"}
    "#]].assert_eq(&lines.collect::<String>());
}
