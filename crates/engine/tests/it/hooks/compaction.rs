//! Before a compaction.

use expect_test::{Expect, expect};
use heeler_core::{CompactionCause, HookEvent, HookMoment, HookOutcome, TurnOutcome};

use crate::common::{broken, denies, hook, nothing, stage_with, virtually};

/// A compaction by hand, when hooks say this: whether it worked, and what was told of it.
fn check(outcome: HookOutcome, summary: &str, expected: Expect) {
    let script = format!("[[reply]]\ntext = \"one\"\n{summary}");
    virtually(async {
        let stage = stage_with(&script, [], |parts| {
            parts.settings.compaction.keep_tail = 1;
            parts.hooks = Some(hook(HookEvent::PreCompact, move |moment| {
                assert_eq!(
                    moment,
                    HookMoment::PreCompact { cause: CompactionCause::Manual, focus: None }
                );
                std::future::ready(outcome.clone())
            }));
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let worked = stage.session.compact(None).await.unwrap();
        assert_eq!(stage.model.mismatches(), []);
        let lines = stage.close().await;
        let lines = lines.iter().filter(|line| line.contains("compact") || line.contains("hook"));
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        expected.assert_eq(&format!("{worked}\n{}\n", lines.join("\n")));
    });
}

const SUMMARY: &str = "[[reply]]\nfor = \"summary\"\ntext = \"The user said hi.\"";

#[test]
fn it_can_be_denied() {
    // The model is not asked, or it would have no answer.
    check(
        denies(),
        "",
        expect![[r#"
            false
            compacting Manual from 1 tokens
            hook PreCompact `guard`
            hook PreCompact `guard` after 0 ms: Denied
            compaction failed: the hook `guard` does not let it be compacted: not on Fridays
        "#]],
    );
}

#[test]
fn a_broken_hook_is_told_and_changes_nothing() {
    check(
        nothing(),
        SUMMARY,
        expect![[r#"
            true
            compacting Manual from 1 tokens
            hook PreCompact `guard`
            hook PreCompact `guard` after 0 ms: Continued
            compacted 1 messages to 38 tokens
        "#]],
    );
    check(
        broken(),
        SUMMARY,
        expect![[r#"
            true
            compacting Manual from 1 tokens
            hook PreCompact `guard`
            hook PreCompact `guard` after 0 ms: Broken { why: "it is out of order" }
            compacted 1 messages to 38 tokens
        "#]],
    );
}

#[test]
fn what_hooks_say_is_part_of_the_instruction() {
    let outcome = HookOutcome { context: vec!["Keep the names.".into()], ..nothing() };
    let summary = "[[reply]]\nfor = \"summary\"\nexpect = { last_user_contains = \"Keep the names.\" }\ntext = \"The user said hi.\"";
    check(
        outcome,
        summary,
        expect![[r#"
            true
            compacting Manual from 1 tokens
            hook PreCompact `guard`
            hook PreCompact `guard` after 0 ms: Continued
            compacted 1 messages to 38 tokens
        "#]],
    );
}
