//! The window: keys and events in, a screen and wishes out.

use expect_test::{Expect, expect};
use heeler_core::{CompactionCause, Cost, Message, ProviderErrorKind, Reread, TurnOutcome, Usage};

use super::testing::*;
use super::*;

fn check(play: &mut Play, screen: Expect) {
    screen.assert_eq(&play.shows());
}

#[test]
fn an_empty_window_waits_for_what_is_written() {
    let mut play = Play::new(60, 20);
    check(
        &mut play,
        expect![[r#"
        ────

        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    check(
        play.types("hello"),
        expect![[r#"
        ────

        > hello▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    expect![[r#"
        Remember(Draft { parts: [Text("hello")] })
        Say(1, Submission { text: "hello", images: [], shown: "hello", draft: Draft { parts: [Text("hello")] } })
    "#]].assert_eq(&play.types("<CR>").asks());
    check(
        &mut play,
        expect![[r#"
        ────

        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
}

#[test]
fn a_turn_goes_up_line_by_line_as_it_is_done() {
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(said("fix the test")).sees(attempt());
    play.sees(thinks("Which test?\nThe one in a.rs")).passes(3_000);
    check(
        &mut play,
        expect![[r#"
            > fix the test
            ────

            ∴ thinking 3.0 s  The one in a.rs

            working 3 s · Esc stops
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    play.sees(writes("I look at **the test**.\n\nThen I")).passes(1_000);
    check(
        &mut play,
        expect![[r#"
            > fix the test

            ∴ thought for 3.0 s

            I look at the test.
            ────

            Then I

            working 4 s · Esc stops
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    let read = ("Read", r#"{"file_path":"a.rs"}"#);
    let bash = ("Bash", r#"{"command":"cargo test"}"#);
    play.sees(replies("I look at **the test**.\n\nThen I run it.", &[read, bash]));
    play.sees(starts(0, "Read", "Read: a.rs")).sees(starts(1, "Bash", "Bash: cargo test"));
    play.sees(ends(0, "Read", false, 3)).passes(12_000);
    let progress = Event::CallProgress { call: call_id(1), text: "running 2 tests\n".into() };
    check(
        play.sees(progress),
        expect![[r#"
            > fix the test

            ∴ thought for 3.0 s

            I look at the test.

            Then I run it.
            ────

            ✓ Read a.rs
            ⠋ Bash cargo test · 12 s
              │ running 2 tests

            working 16 s · Esc stops
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    play.sees(ends(1, "Bash", true, 12_000));
    play.sees(results(&[("fn a() {}", false), ("test a ... FAILED\nexit code 101", true)]));
    play.sees(attempt()).sees(replies("It fails.", &[])).sees(finishes(TurnOutcome::Done));
    check(
        &mut play,
        expect![[r#"
            > fix the test

            ∴ thought for 3.0 s

            I look at the test.

            Then I run it.

            ✓ Read a.rs
            ✗ Bash cargo test · 12 s
              test a ... FAILED
              exit code 101

            It fails.

            · 16 s, 2 calls
            ────

            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn changes_output_and_steps_stand_under_their_rows() {
    let mut play = Play::new(60, 30);
    play.sees(begins());
    let edit = ("Edit", r#"{"file_path":"a.rs","old_string":"1","new_string":"2"}"#);
    let bash = ("Bash", r#"{"command":"make"}"#);
    let todo = (
        "TodoWrite",
        r#"{"todos":[{"content":"look","status":"completed"},{"content":"mend","status":"in_progress"},{"content":"test","status":"pending"}]}"#,
    );
    play.sees(replies("", &[edit, bash, todo]));
    play.sees(results(&[
        ("Edited a.rs:\n     1  fn a() {\n     2 -    1\n     2 +    2\n     3  }", false),
        ("1\n2\n3\n4\n5\n6\n7\n8", false),
        ("1 of 3 done", false),
    ]));
    check(
        &mut play,
        expect![[r#"
            ✓ Edit a.rs
                   1  fn a() {
                   2 -    1
                   2 +    2
                   3  }
            ✓ Bash make
              │ … 3 lines above (Ctrl-T)
              │ 4
              │ 5
              │ 6
              │ 7
              │ 8
            ✓ TodoWrite
              ☑ look
              ▸ mend
              ☐ test
            ────

            working 0 s · Esc stops
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn what_is_said_meanwhile_waits_and_can_be_taken_back() {
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(said("go"));
    expect![[r#"
        Remember(Draft { parts: [Text("also this")] })
        Steer(SteeringId("terminal-1000000-1"), Submission { text: "also this", images: [], shown: "also this", draft: Draft { parts: [Text("also this")] } })
        Remember(Draft { parts: [Text("and that")] })
        Steer(SteeringId("terminal-1000000-2"), Submission { text: "and that", images: [], shown: "and that", draft: Draft { parts: [Text("and that")] } })
    "#]].assert_eq(&play.types("also this<CR>and that<CR>").asks());
    check(
        &mut play,
        expect![[r#"
            > go
            ────

            working 0 s · Esc stops
              waits: also this
              waits: and that
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    expect![[r#"
        TakeBack(SteeringId("terminal-1000000-2"))
    "#]]
    .assert_eq(&play.types("<Up>").asks());
    let id = play.app.queued.last().unwrap().id.clone();
    play.happens(Happened::TakenBack(id, true));
    check(
        &mut play,
        expect![[r#"
            > go
            ────

            working 0 s · Esc stops
              waits: also this
            > and that▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn where_nothing_is_waited_for_a_retry_says_so() {
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(attempt());
    play.sees(Event::Retry {
        attempt: 1,
        kind: ProviderErrorKind::Billing,
        message: "no credit. Check the account.".into(),
        wait_millis: Some(0),
    });
    check(
        &mut play,
        expect![[r#"
        ! attempt 1: no credit. Check the account; again at once
        ────

        working 0 s · Esc stops
        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
}

#[test]
fn a_retry_marks_what_was_shown() {
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(attempt()).sees(writes("A whole paragraph.\n\nand a"));
    play.shows();
    play.sees(Event::Retry {
        attempt: 1,
        kind: ProviderErrorKind::Network,
        message: "the connection was cut".into(),
        wait_millis: Some(2_000),
    });
    check(
        &mut play,
        expect![[r#"
            A whole paragraph.

            · the answer above was cut off and does not count

            ! attempt 1: the connection was cut; again in 2.0 s
            ────

            working 0 s · Esc stops
            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn each_end_says_what_to_do() {
    let failed = |message: &str| TurnOutcome::Failed { message: message.into() };
    for (outcome, expected) in [
        (TurnOutcome::Cancelled, expect!["! stopped; say what to do instead"]),
        (
            TurnOutcome::Truncated,
            expect!["! the answer was cut at the model's output limit; say `go on`"],
        ),
        (
            TurnOutcome::Refused,
            expect!["✗ the model refused to answer; `/clear` begins without that"],
        ),
        (failed("the disk is full; make room"), expect!["✗ the disk is full; make room"]),
        (
            TurnOutcome::Limit { limit: heeler_core::LimitKind::Rounds },
            expect!["! the turn ended at its limit of rounds; say `go on` to continue"],
        ),
    ] {
        let mut play = Play::new(70, 20);
        play.sees(begins()).sees(finishes(outcome));
        play.shows();
        expected.assert_eq(&play.scrollback.join("\n"));
    }
    let answer = heeler_core::FinalAnswer::default();
    let later = Event::TurnFinished { turn: 2, outcome: TurnOutcome::Refused, answer };
    let mut play = Play::new(70, 20);
    play.sees(begins()).sees(later);
    play.shows();
    expect!["✗ the model refused to answer; `/fork 2` goes on without that"]
        .assert_eq(&play.scrollback.join("\n"));
}

#[test]
fn a_failure_is_said_once() {
    let failed = || Event::Retry {
        attempt: 3,
        kind: ProviderErrorKind::Auth,
        message: "the key is not known".into(),
        wait_millis: None,
    };
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(attempt()).sees(failed());
    let (kind, message) = (ProviderErrorKind::Auth, "the key is not known".to_owned());
    play.sees(finishes(TurnOutcome::ProviderFailed { kind, message }));
    play.shows();
    assert_eq!(play.scrollback.join("\n"), "✗ the key is not known");
}

#[test]
fn control_c_clears_then_asks_then_leaves() {
    let mut play = Play::new(60, 20);
    play.types("draft<C-c>");
    assert_eq!(play.asks(), "");
    play.types("<C-c>");
    assert!(play.shows().contains("Ctrl-C once more leaves"));
    play.passes(3_000).types("<C-c>");
    assert_eq!(play.asks(), "", "too late is once again the first");
    assert_eq!(play.types("<C-c>").asks(), "Quit\n");
}

/// A window in which nothing happens is not woken.
#[test]
fn what_was_waited_for_in_vain_wakes_nobody() {
    let mut play = Play::new(60, 20);
    play.types("<C-c>");
    assert_eq!(play.app.wakes_at(play.now), Some(play.now.plus(LEAVE_MILLIS)));
    play.passes(LEAVE_MILLIS);
    assert_eq!(play.app.wakes_at(play.now), None);
    assert!(!play.shows().contains("once more leaves"));
}

#[test]
fn news_of_a_call_that_nobody_knows_is_no_row() {
    let mut play = Play::new(60, 20);
    play.sees(begins());
    play.sees(Event::CallProgress { call: call_id(7), text: "on it".into() });
    assert!(!play.shows().contains("on it"));
}

/// After a change of size the rows of a batch stand together, as before.
#[test]
fn the_tail_is_what_went_up() {
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(said("go"));
    play.sees(replies("First.", &[("Read", r#"{"file_path":"a"}"#), ("LS", r#"{"path":"b"}"#)]));
    play.sees(results(&[("x", false), ("y", false)]));
    play.shows();
    let tail: Vec<String> = play.app.tail(play.now).iter().map(text).collect();
    assert_eq!(tail, play.scrollback);
}

#[test]
fn the_pager_shows_everything_and_finds() {
    let mut play = Play::new(40, 8);
    for n in 1..=12 {
        play.sees(said(&format!("question {n}")));
    }
    play.shows();
    play.types("<C-t>");
    check(
        &mut play,
        expect![[r#"
        > question 9

        > question 10

        > question 11

        > question 12
        23 of 23 · q: back · ↑↓ PgUp PgDn Home …
    "#]],
    );
    check(
        play.types("/question 3<CR>"),
        expect![[r#"
        > question 1

        > question 2

        > question 3

        > question 4
        7 of 23 · q: back · ↑↓ PgUp PgDn Home E…
    "#]],
    );
    check(
        play.types("<Home>"),
        expect![[r#"
        > question 1

        > question 2

        > question 3

        > question 4
        7 of 23 · q: back · ↑↓ PgUp PgDn Home E…
    "#]],
    );
    play.types("q");
    assert!(play.shows().contains("────"));
}

#[test]
fn escape_sequences_of_a_model_are_shown() {
    let mut play = Play::new(60, 20);
    play.sees(begins())
        .sees(replies("\u{1b}[2Jgone\u{7}", &[("Bash", r#"{"command":"\u001b[31m"}"#)]));
    let shown = play.shows();
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    assert!(shown.contains("gone"), "{shown}");
}

#[test]
fn every_width_holds_every_row() {
    for width in [1, 2, 5, 20, 40, 80, 120, 200] {
        let mut play = Play::new(width, 24);
        play.sees(begins()).sees(said("漢字 and a rather long line of text that has to be broken"));
        play.sees(replies("# Head\n\n- list\n\n```rust\nfn main() {}\n```\n", &[("Bash", "{}")]));
        play.sees(asked(0, "Bash", r#"{"command":"a long command line --with=flags"}"#, None));
        let frame = play.app.frame(play.now);
        for line in frame.finished.iter().chain(&frame.live) {
            let cells = crate::text::width(&text(line));
            assert!(cells <= usize::from(width), "{cells} cells of {width}: {}", text(line));
        }
    }
}

#[test]
fn what_a_summary_and_the_new_beginning_cost_is_told() {
    let mut play = Play::new(76, 20);
    let message = Arc::new(Message::user("A summary:\n\nThere was talk of a roof."));
    let cost = Some(Cost(21_300_000));
    let reread = Some(Reread { tokens: 3_000, cost: Some(Cost(9_000_000)) });
    let (usage, total_cost) = (Usage::default(), Cost(0));
    play.sees(Event::CompactionStarted { cause: CompactionCause::Manual, tokens_before: 90_000 })
        .sees(Event::Compacted { cut: 4, message, tokens_after: 3_000, cost })
        .sees(Event::Usage {
            usage,
            cost: None,
            total: usage,
            total_cost,
            cost_is_partial: false,
            reread,
        });
    check(
        &mut play,
        expect![[r#"
        · summarizing the conversation (about 90000 tokens)

        · summarized for $0.0213: about 3000 tokens are left; Ctrl-T has the summary
          and everything before it, /compact undo puts it back, if it fits

        · the cached beginning could not be used: 3000 tokens were read again,
          $0.0090 more
        ────

        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · cache 5 min · ⎇ main
    "#]],
    );
}

/// A window that is dragged larger has many sizes on the way.
#[test]
fn the_screen_is_written_for_the_last_of_many_sizes() {
    let mut play = Play::new(70, 20);
    let redraws = |play: &mut Play, what: Happened| -> usize {
        play.app.happen(what, play.now).iter().filter(|it| matches!(it, Action::Redraw)).count()
    };
    for n in 0..30 {
        play.now = play.now.plus(60);
        assert_eq!(redraws(&mut play, Happened::Resized(40 + n, 20)), 0);
    }
    let due = play.app.resized_at().unwrap();
    assert_eq!(due, play.now.plus(RESIZED_MILLIS));
    play.now = due;
    assert_eq!(redraws(&mut play, Happened::Ticked), 1);
    play.app.resized(69, 20, due);
    assert_eq!(redraws(&mut play, Happened::Ticked), 0);
}
