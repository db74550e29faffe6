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

#[test]
fn what_hooks_say_is_cut_where_the_request_would_not_fit() {
    let outcome = HookOutcome { context: vec!["n".repeat(100_000), "more".into()], ..nothing() };
    virtually(async {
        let script = format!("[[reply]]\ntext = \"one\"\n{SUMMARY}");
        let stage = stage_with(&script, [], |parts| {
            parts.settings.compaction.keep_tail = 1;
            parts.settings.estimate.context_limit = Some(5_000);
            let heard = outcome.clone();
            let hears = move |_| std::future::ready(heard.clone());
            parts.hooks = Some(hook(HookEvent::PreCompact, hears));
        })
        .await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.session.compact(None).await, Ok(true));
        let asked = stage.model.requests().pop().unwrap();
        let last = asked.messages.last().unwrap();
        let text = format!("{:?}", last.blocks.last().map(|block| &block.content));
        let said = text.chars().filter(|c| *c == 'n').count();
        // Four characters a token, and half of the room.
        assert!((5_000..10_000).contains(&said), "{said}");
        assert!(text.contains("n…"), "{text}");
        stage.close().await;
    });
}
