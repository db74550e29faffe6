//! One session with rows of every kind, as it stands in windows of four widths.

use expect_test::{Expect, expect};
use heeler_core::{AgentPath, LimitKind, ProviderErrorKind, Question, TurnOutcome};

use super::testing::*;
use super::*;

/// What was said, thought, done, refused and asked, and what waits.
fn check(width: u16, expected: Expect) {
    let mut play = Play::new(width, 60);
    play.sees(begins())
        .sees(said("Mend the parser, 日本語 included, and say what you did about it."));
    play.sees(attempt()).sees(thinks("The offset is in bytes.")).passes(2_000);
    play.sees(Event::Retry {
        attempt: 1,
        kind: ProviderErrorKind::Network,
        message: "the connection was cut".into(),
        wait_millis: Some(2_000),
    });
    let text = "# Plan\n\nThe **offset** counts bytes, `column` counts cells; that is why [the \
                page](https://example.com/a) shows it wrong.\n\n1. look\n2. mend\n   - with a test\n\n\
                > quoted\n\n```rust\nfn column(text: &str) -> usize { text.chars().count() }\n```\n\n\
                | what | cells |\n|---|---|\n| a | 1 |\n| 漢 | 2 |\n";
    let edit = r#"{"file_path":"src/column.rs","old_string":"a","new_string":"b"}"#;
    let todo = r#"{"todos":[{"content":"look","status":"completed"},{"content":"mend","status":"in_progress"}]}"#;
    let calls = [
        ("Read", r#"{"file_path":"src/column.rs"}"#),
        ("Edit", edit),
        ("Bash", r#"{"command":"cargo test --workspace --all-targets -- column offset bytes"}"#),
        ("TodoWrite", todo),
        ("Bash", r#"{"command":"sleep 60"}"#),
    ];
    play.sees(attempt()).sees(thinks("Cells, then.")).passes(1_000);
    play.sees(writes(text)).sees(replies(text, &calls));
    for (index, (name, summary)) in
        [("Read", "Read: src/column.rs"), ("Edit", "Edit: src/column.rs")].into_iter().enumerate()
    {
        let index = u32::try_from(index).unwrap();
        play.sees(starts(index, name, summary)).sees(ends(index, name, false, 3));
    }
    play.sees(starts(
        2,
        "Bash",
        "Bash: cargo test --workspace --all-targets -- column offset bytes",
    ));
    play.sees(ends(2, "Bash", true, 4_200));
    play.sees(results(&[
        ("text.chars().count()", false),
        ("Edited src/column.rs:\n     1  fn column(text: &str) -> usize {\n     2 -    text.len()\n     2 +    text.width()\n     3  }", false),
        ("test offset ... ok\ntest column ... FAILED, since a wide character takes two cells of a row", true),
        ("1 of 2 done", false),
        ("stopped", true),
    ]));
    play.sees(Event::Notice { text: "the model is slow today".into() });
    play.sees(replies("", &[("Bash", r#"{"command":"git push origin"}"#)]));
    play.sees(finishes(TurnOutcome::Limit { limit: LimitKind::Rounds }));
    play.sees(begins()).sees(said("go on")).types("and then this<CR>");
    play.sees(asked(
        0,
        "Bash",
        r#"{"command":"git push origin HEAD:refs/heads/column"}"#,
        Some("Bash(git push:*)"),
    ));
    let mut shown = play.shows();
    play.sees(Event::PermissionDecided {
        id: PermissionId::first(call_id(0)),
        decision: Decision::Once,
        by: "terminal".into(),
    });
    let question = Question {
        session: id(1),
        agent: AgentPath::default(),
        to: heeler_core::InputOrigin::default(),
        call: call_id(1),
        text: "Which branch is it to go to?".into(),
        choices: vec!["main".into(), "another one, with a rather long name".into()],
    };
    play.happens(Happened::Asked(1, Box::new(question)));
    let asked = play.shows();
    shown += asked.rsplit_once("\n────\n").map_or("", |(_, live)| live);
    expected.assert_eq(&shown);
}

#[test]
fn at_40_columns() {
    check(
        40,
        expect![[r#"
            > Mend the parser, 日本語 included, and
              say what you did about it.

            ! attempt 1: the connection was cut;
              again in 2.0 s

            ∴ thought for 1.0 s

            Plan

            The offset counts bytes, column counts
            cells; that is why the page
            (https://example.com/a) shows it wrong.

            1. look
            2. mend
               • with a test

            │ quoted

              rust
              fn column(text: &str) -> usize {
            ↪ text.chars().count() }

            what │ cells
            ─────┼──────
            a    │ 1
            漢   │ 2

            ✓ Read src/column.rs
            ✓ Edit src/column.rs
                   1  fn column(text: &str) -> usiz…
                   2 -    text.len()
                   2 +    text.width()
                   3  }
            ✗ Bash cargo test --workspace -… · 4.2 s
              test offset ... ok
              test column ... FAILED, since a wide
              character takes two cells of a row
            ✓ TodoWrite
              ☑ look
              ▸ mend
            ✗ Bash sleep 60
              stopped

            ! the model is slow today

            · Bash git push origin

            ! the turn ended at its limit of rounds;
              say `go on` to continue

            > go on
            ────

              waits: and then this
            ? Run this command?
              $ git push origin
              HEAD:refs/heads/column
              no rule speaks of it
              y  once
              s  for this session: Bash(git push:*)
              a  always in this folder: Bash(git
                 push:*)
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…

              waits: and then this
            ? The model asks
              Which branch is it to go to?
              1. main
              2. another one, with a rather long
                 name
            > ▏
            Enter: answer, or with nothing let the
            model decide · Esc: stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
        "#]],
    );
}

#[test]
fn at_80_columns() {
    check(
        80,
        expect![[r#"
            > Mend the parser, 日本語 included, and say what you did about it.

            ! attempt 1: the connection was cut; again in 2.0 s

            ∴ thought for 1.0 s

            Plan

            The offset counts bytes, column counts cells; that is why the page
            (https://example.com/a) shows it wrong.

            1. look
            2. mend
               • with a test

            │ quoted

              rust
              fn column(text: &str) -> usize { text.chars().count() }

            what │ cells
            ─────┼──────
            a    │ 1
            漢   │ 2

            ✓ Read src/column.rs
            ✓ Edit src/column.rs
                   1  fn column(text: &str) -> usize {
                   2 -    text.len()
                   2 +    text.width()
                   3  }
            ✗ Bash cargo test --workspace --all-targets -- column offset bytes · 4.2 s
              test offset ... ok
              test column ... FAILED, since a wide character takes two cells of a row
            ✓ TodoWrite
              ☑ look
              ▸ mend
            ✗ Bash sleep 60
              stopped

            ! the model is slow today

            · Bash git push origin

            ! the turn ended at its limit of rounds; say `go on` to continue

            > go on
            ────

              waits: and then this
            ? Run this command?
              $ git push origin HEAD:refs/heads/column
              no rule speaks of it
              y  once
              s  for this session: Bash(git push:*)
              a  always in this folder: Bash(git push:*)
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main

              waits: and then this
            ? The model asks
              Which branch is it to go to?
              1. main
              2. another one, with a rather long name
            > ▏
            Enter: answer, or with nothing let the model decide · Esc: stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn at_120_columns() {
    check(
        120,
        expect![[r#"
            > Mend the parser, 日本語 included, and say what you did about it.

            ! attempt 1: the connection was cut; again in 2.0 s

            ∴ thought for 1.0 s

            Plan

            The offset counts bytes, column counts cells; that is why the page (https://example.com/a) shows it wrong.

            1. look
            2. mend
               • with a test

            │ quoted

              rust
              fn column(text: &str) -> usize { text.chars().count() }

            what │ cells
            ─────┼──────
            a    │ 1
            漢   │ 2

            ✓ Read src/column.rs
            ✓ Edit src/column.rs
                   1  fn column(text: &str) -> usize {
                   2 -    text.len()
                   2 +    text.width()
                   3  }
            ✗ Bash cargo test --workspace --all-targets -- column offset bytes · 4.2 s
              test offset ... ok
              test column ... FAILED, since a wide character takes two cells of a row
            ✓ TodoWrite
              ☑ look
              ▸ mend
            ✗ Bash sleep 60
              stopped

            ! the model is slow today

            · Bash git push origin

            ! the turn ended at its limit of rounds; say `go on` to continue

            > go on
            ────

              waits: and then this
            ? Run this command?
              $ git push origin HEAD:refs/heads/column
              no rule speaks of it
              y  once
              s  for this session: Bash(git push:*)
              a  always in this folder: Bash(git push:*)
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main

              waits: and then this
            ? The model asks
              Which branch is it to go to?
              1. main
              2. another one, with a rather long name
            > ▏
            Enter: answer, or with nothing let the model decide · Esc: stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn at_200_columns() {
    check(
        200,
        expect![[r#"
            > Mend the parser, 日本語 included, and say what you did about it.

            ! attempt 1: the connection was cut; again in 2.0 s

            ∴ thought for 1.0 s

            Plan

            The offset counts bytes, column counts cells; that is why the page (https://example.com/a) shows it wrong.

            1. look
            2. mend
               • with a test

            │ quoted

              rust
              fn column(text: &str) -> usize { text.chars().count() }

            what │ cells
            ─────┼──────
            a    │ 1
            漢   │ 2

            ✓ Read src/column.rs
            ✓ Edit src/column.rs
                   1  fn column(text: &str) -> usize {
                   2 -    text.len()
                   2 +    text.width()
                   3  }
            ✗ Bash cargo test --workspace --all-targets -- column offset bytes · 4.2 s
              test offset ... ok
              test column ... FAILED, since a wide character takes two cells of a row
            ✓ TodoWrite
              ☑ look
              ▸ mend
            ✗ Bash sleep 60
              stopped

            ! the model is slow today

            · Bash git push origin

            ! the turn ended at its limit of rounds; say `go on` to continue

            > go on
            ────

              waits: and then this
            ? Run this command?
              $ git push origin HEAD:refs/heads/column
              no rule speaks of it
              y  once
              s  for this session: Bash(git push:*)
              a  always in this folder: Bash(git push:*)
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main

              waits: and then this
            ? The model asks
              Which branch is it to go to?
              1. main
              2. another one, with a rather long name
            > ▏
            Enter: answer, or with nothing let the model decide · Esc: stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}
