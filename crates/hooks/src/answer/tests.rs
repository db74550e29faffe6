//! What each event makes of exit codes and answers.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// What a hook means that exits with `code` and writes this.
fn check(event: HookEvent, code: i32, output: &str, errors: &str, expected: Expect) {
    let said = Said { exit: Exit::Code(code), output, errors, is_cut: false, is_text: true };
    let HookOutcome { verdict, input, context, notices } = read(event, "h", said);
    let mut text = match verdict {
        HookVerdict::Continue => "continue".to_owned(),
        other => format!("{other:?}"),
    };
    if let Some(input) = input {
        text.push_str(&format!(", input {}", input.get()));
    }
    context.iter().for_each(|one| text.push_str(&format!(", context {one:?}")));
    notices.iter().for_each(|one| text.push_str(&format!(", notice {one:?}")));
    expected.assert_eq(&text);
}

fn before(output: &str, expected: Expect) {
    check(HookEvent::PreToolUse, 0, output, "", expected);
}

#[test]
fn code_2_blocks_what_can_be_blocked() {
    for event in HookEvent::ALL {
        let outcome = read(
            event,
            "h",
            Said { exit: Exit::Code(2), output: "", errors: " no\n", is_cut: false, is_text: true },
        );
        let denied =
            outcome.verdict == HookVerdict::Deny { by: "h".to_owned(), reason: "no".to_owned() };
        let told = outcome.notices == ["the hook `h`: no"];
        assert_eq!((denied, told), (can_block(event), !can_block(event)), "{event}");
    }
    check(
        HookEvent::Stop,
        2,
        "{}",
        "",
        expect![[r#"Deny { by: "h", reason: "it gave no reason" }"#]],
    );
}

#[test]
fn every_other_code_is_broken() {
    check(
        HookEvent::PreToolUse,
        1,
        "",
        "jq: not found",
        expect![[r#"Broken { by: "h", why: "it ended with exit code 1: jq: not found" }"#]],
    );
    check(
        HookEvent::PreToolUse,
        127,
        "only output",
        "",
        expect![[r#"Broken { by: "h", why: "it ended with exit code 127: only output" }"#]],
    );
    check(
        HookEvent::Stop,
        3,
        r#"{"decision":"block"}"#,
        "",
        expect![[
            r#"Broken { by: "h", why: "it ended with exit code 3: {\"decision\":\"block\"}" }"#
        ]],
    );
    let said =
        Said { exit: Exit::Signal(11), output: "", errors: "", is_cut: false, is_text: true };
    let HookVerdict::Broken { why, .. } = read(HookEvent::Stop, "h", said).verdict else {
        panic!()
    };
    assert_eq!(why, "it ended with signal 11");
    let said = Said {
        exit: Exit::Code(1),
        output: "",
        errors: &"x".repeat(1000),
        is_cut: false,
        is_text: true,
    };
    let HookVerdict::Broken { why, .. } = read(HookEvent::Stop, "h", said).verdict else {
        panic!()
    };
    assert_eq!(why.chars().count(), "it ended with exit code 1: ".len() + COMPLAINT_CHARS_MAX);
}

#[test]
fn plain_text_is_context_where_it_counts() {
    for event in HookEvent::ALL {
        let said = Said {
            exit: Exit::Code(0),
            output: "\nIt is Friday.\n",
            errors: "warning",
            is_cut: false,
            is_text: true,
        };
        let outcome = read(event, "h", said);
        let context: &[&str] = if text_counts(event) { &["It is Friday."] } else { &[] };
        assert_eq!(
            (outcome.verdict, outcome.context),
            (HookVerdict::Continue, context.iter().map(|s| (*s).to_owned()).collect()),
            "{event}"
        );
    }
    check(
        HookEvent::UserPromptSubmit,
        0,
        "{ braces }",
        "",
        expect![[r#"continue, context "{ braces }""#]],
    );
    check(HookEvent::UserPromptSubmit, 0, " ", "", expect!["continue"]);
}

#[test]
fn broken_json_is_broken() {
    before(
        r#"{"hookSpecificOutput": {"permissionDecision": "den"#,
        expect![[
            r#"Broken { by: "h", why: "its output cannot be read as an answer: EOF while parsing a string at line 1 column 50" }"#
        ]],
    );
    before(
        r#"{"decision": 7}"#,
        expect![[
            r#"Broken { by: "h", why: "its output cannot be read as an answer: invalid type: integer `7`, expected a string at line 1 column 14" }"#
        ]],
    );
    check(
        HookEvent::Stop,
        0,
        "{",
        "",
        expect![[
            r#"Broken { by: "h", why: "its output cannot be read as an answer: EOF while parsing an object at line 1 column 1" }"#
        ]],
    );
}

#[test]
fn an_answer_that_is_not_alone_does_not_let_a_call_pass() {
    let deny = r#"{"decision":"block","reason":"no"}"#;
    before(&format!("\u{feff}{deny}"), expect![[r#"Deny { by: "h", reason: "no" }"#]]);
    for output in [
        format!("loading\n{deny}"),
        format!("loading\n  {deny}\nloaded"),
        format!("\0{deny}"),
        format!("[{deny}]"),
        "[\"deny\"]".to_owned(),
        format!("\u{1b}[0m{deny}"),
        format!("INFO: {deny}"),
        "INFO: {\n  \"hookSpecificOutput\": {}}".to_owned(),
        r#""{\"decision\":\"block\"}""#.to_owned(),
        "would say {'decision': 'block'}".to_owned(),
    ] {
        before(
            &output,
            expect![[
                r#"Broken { by: "h", why: "its output is no answer, and holds what looks like one" }"#
            ]],
        );
    }
    before("[info] nothing { to } say", expect!["continue"]);
    before("looked at {\"command\":\"ls\"}, my decision: continue", expect!["continue"]);
    let loading = format!("loading\n{deny}");
    check(HookEvent::PostToolUse, 0, &loading, "", expect!["continue"]);
    for event in HookEvent::ALL {
        let said =
            Said { exit: Exit::Code(0), output: "fine", errors: "", is_cut: true, is_text: true };
        let is_broken = matches!(read(event, "h", said).verdict, HookVerdict::Broken { .. });
        assert_eq!(is_broken, event.guards(), "{event}");
    }
}

#[test]
fn json_is_no_text() {
    for output in [r#"{"decision":"block","reason":5}"#, r#"{ "decision":"blo"#, r#"{"a":1} and"#] {
        let said = Said { exit: Exit::Code(0), output, errors: "", is_cut: false, is_text: true };
        let outcome = read(HookEvent::UserPromptSubmit, "h", said);
        assert!(matches!(outcome.verdict, HookVerdict::Broken { .. }), "{outcome:?}");
        assert_eq!(outcome.context, [""; 0]);
    }
    for output in ["{{name}} is new", "{ braces }", "[1] a"] {
        let said = Said { exit: Exit::Code(0), output, errors: "", is_cut: false, is_text: true };
        assert_eq!(read(HookEvent::UserPromptSubmit, "h", said).context, [output]);
    }
}

#[test]
fn of_two_decisions_the_stricter_one_counts() {
    before(
        r#"{"decision":"block","reason":"no","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
        expect![[r#"Deny { by: "h", reason: "no" }"#]],
    );
    before(
        r#"{"decision":"approve","hookSpecificOutput":{"permissionDecision":"ask"}}"#,
        expect![[r#"Ask { by: "h", reason: None }"#]],
    );
    check(
        HookEvent::PermissionRequest,
        0,
        r#"{"decision":"block","reason":"no","hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#,
        "",
        expect![[r#"Deny { by: "h", reason: "no" }"#]],
    );
}

#[test]
fn before_a_call() {
    before("{}", expect!["continue"]);
    before(
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}"#,
        expect![[r#"Allow { by: "h", reason: Some("fine") }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        expect![[r#"Deny { by: "h", reason: "no" }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        expect![[r#"Deny { by: "h", reason: "it gave no reason" }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#,
        expect![[r#"Ask { by: "h", reason: None }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"defer"}}"#,
        expect![[r#"Ask { by: "h", reason: None }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"Deny"}}"#,
        expect![[r#"Broken { by: "h", why: "its permissionDecision `Deny` means nothing" }"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}"#,
        expect![[
            r#"Broken { by: "h", why: "it answered about PostToolUse, and was asked about PreToolUse" }"#
        ]],
    );
    before(
        r#"{"decision":"approve","reason":"fine"}"#,
        expect![[r#"Allow { by: "h", reason: Some("fine") }"#]],
    );
    before(r#"{"decision":"block","reason":"no"}"#, expect![[r#"Deny { by: "h", reason: "no" }"#]]);
    before(
        r#"{"decision":"perhaps"}"#,
        expect![[r#"Broken { by: "h", why: "its decision `perhaps` means nothing" }"#]],
    );
}

#[test]
fn an_input_is_an_object() {
    before(
        r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"b":1,"a":2}}}"#,
        expect![[r#"Allow { by: "h", reason: None }, input {"b":1,"a":2}"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"updatedInput":{"a":1}}}"#,
        expect![[r#"continue, input {"a":1}"#]],
    );
    before(
        r#"{"hookSpecificOutput":{"updatedInput":"ls"}}"#,
        expect![[r#"Broken { by: "h", why: "the input it wants is no object" }"#]],
    );
    check(
        HookEvent::PostToolUse,
        0,
        r#"{"hookSpecificOutput":{"updatedInput":"ls"}}"#,
        "",
        expect!["continue"],
    );
}

#[test]
fn texts_and_the_end_of_everything() {
    before(
        r#"{"systemMessage":"look","suppressOutput":true,"hookSpecificOutput":{"additionalContext":"more"}}"#,
        expect![[r#"continue, context "more", notice "look""#]],
    );
    before(
        r#"{"continue":false,"stopReason":"enough","decision":"approve"}"#,
        expect![[r#"Stop { by: "h", reason: "enough" }"#]],
    );
    before(r#"{"continue":true}"#, expect!["continue"]);
    check(
        HookEvent::PostToolUse,
        0,
        r#"{"continue":false}"#,
        "",
        expect![[r#"Stop { by: "h", reason: "it gave no reason" }"#]],
    );
    for event in HookEvent::ALL {
        let output = r#"{"continue":false}"#;
        let said = Said { exit: Exit::Code(0), output, errors: "", is_cut: false, is_text: true };
        let stops = matches!(read(event, "h", said).verdict, HookVerdict::Stop { .. });
        assert_eq!(stops, can_block(event), "{event}");
    }
}

#[test]
fn a_request() {
    let asked = |output, expected| check(HookEvent::PermissionRequest, 0, output, "", expected);
    asked(
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        expect![[r#"Allow { by: "h", reason: None }"#]],
    );
    asked(
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no"}}}"#,
        expect![[r#"Deny { by: "h", reason: "no" }"#]],
    );
    asked(
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true}}}"#,
        expect![[r#"Stop { by: "h", reason: "it gave no reason" }"#]],
    );
    asked(
        r#"{"hookSpecificOutput":{"decision":{"behavior":"maybe"}}}"#,
        expect![[r#"Broken { by: "h", why: "its behavior `maybe` means nothing" }"#]],
    );
    asked(
        r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{}}}}"#,
        expect![[
            r#"Broken { by: "h", why: "it changes the input, which only hooks before a call can" }"#
        ]],
    );
    asked(r#"{"decision":"approve"}"#, expect![[r#"Allow { by: "h", reason: None }"#]]);
    asked("plain", expect!["continue"]);
}

#[test]
fn everything_else() {
    let block = r#"{"decision":"block","reason":"no"}"#;
    check(
        HookEvent::UserPromptSubmit,
        0,
        block,
        "",
        expect![[r#"Deny { by: "h", reason: "no" }"#]],
    );
    check(HookEvent::PostToolUse, 0, block, "", expect![[r#"Deny { by: "h", reason: "no" }"#]]);
    check(
        HookEvent::Stop,
        0,
        r#"{"decision":"block"}"#,
        "",
        expect![[r#"Deny { by: "h", reason: "it gave no reason" }"#]],
    );
    check(HookEvent::PreCompact, 0, block, "", expect![[r#"Deny { by: "h", reason: "no" }"#]]);
    check(HookEvent::SessionStart, 0, block, "", expect!["continue"]);
    check(
        HookEvent::Stop,
        0,
        r#"{"decision":"stay"}"#,
        "",
        expect![[r#"Broken { by: "h", why: "its decision `stay` means nothing" }"#]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a guard writes, only words that mean so let a call pass unasked.
    #[test]
    fn a_guard_allows_only_in_so_many_words(
        output in "\\{.{0,40}\\}|.{0,40}|\\{\"(decision|continue|hookSpecificOutput)\": ?.{0,20}",
        code in 0..4,
    ) {
        let said = Said { exit: Exit::Code(code), output: &output, errors: "", is_cut: false, is_text: true };
        for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest] {
            let verdict = read(event, "h", said).verdict;
            let allows = matches!(verdict, HookVerdict::Allow { .. });
            let says = output.contains("allow") || output.contains("approve");
            prop_assert!(!allows || (code == 0 && says), "{:?}", verdict);
            let is_plain = code == 0 && !output.trim().starts_with('{');
            let denies = matches!(verdict, HookVerdict::Deny { .. });
            let is_broken = matches!(verdict, HookVerdict::Broken { .. });
            prop_assert!(code != 2 || denies);
            prop_assert!(code == 0 || code == 2 || is_broken);
            prop_assert!(!is_plain || is_broken || verdict == HookVerdict::Continue);
        }
    }
}

#[test]
fn what_is_no_text_of_ours_is_broken_where_a_call_hangs_on_it() {
    for event in HookEvent::ALL {
        let output = "{\"decision\":\"block\"}".replace('"', "\0\"");
        let said = Said {
            exit: Exit::Code(0),
            output: &output,
            errors: "",
            is_cut: false,
            is_text: false,
        };
        let is_broken = matches!(read(event, "h", said).verdict, HookVerdict::Broken { .. });
        assert!(is_broken || !event.guards(), "{event}");
    }
    before(
        "\u{feff}{\"decision\":\"block\"}",
        expect![[r#"Deny { by: "h", reason: "it gave no reason" }"#]],
    );
}
