//! The window: keys and events in, a screen and wishes out.

use expect_test::{Expect, expect};
use heeler_core::{CompactionCause, Cost, Message, ProviderErrorKind, Reread, TurnOutcome, Usage};

use super::testing::*;
use super::*;
use crate::host::SessionRow;

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
        Say(Submission { text: "hello", images: [], shown: "hello", draft: Draft { parts: [Text("hello")] } })
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
        (TurnOutcome::Refused, expect!["✗ the model refused to answer"]),
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
}

#[test]
fn commands_are_taken_and_paths_are_said() {
    for (line, expected) in [
        ("/plan<CR>", expect!["Remember Set "]),
        (
            "/mode bypass<CR>",
            expect![[r#"
            Remember ! the mode bypass is for the command line: heeler --permission-mode
              bypass"#]],
        ),
        (
            "/mode yolo<CR>",
            expect![[r#"
            Remember ! `yolo` is no permission mode; use ask, accept-edits, plan,
              allow-listed or bypass"#]],
        ),
        ("/compact<CR>", expect!["Remember Compact "]),
        ("/compact the tests<CR>", expect!["Remember Compact "]),
        ("/compact undo<CR>", expect!["Remember UndoCompaction "]),
        ("/COMPACT Undo<CR>", expect!["Remember UndoCompaction "]),
        ("/Plan<CR>", expect!["Remember Set "]),
        (
            "/New_session<CR>",
            expect!["Remember ! there is no command /new_session; /help lists them"],
        ),
        ("// a comment<CR>", expect!["Remember Say "]),
        ("/nonsense<CR>", expect!["Remember ! there is no command /nonsense; /help lists them"]),
        ("/etc/hosts is what?<CR>", expect!["Remember Say "]),
        ("/quit<CR>", expect!["Remember Quit "]),
    ] {
        let mut play = Play::new(70, 20);
        play.types(line);
        play.shows();
        let asked: Vec<String> = play
            .asks()
            .lines()
            .map(|line| line.split(['(', '{']).next().unwrap_or_default().trim().to_owned())
            .collect();
        expected.assert_eq(&format!("{} {}", asked.join(" "), play.scrollback.join("\n")));
    }
}

#[test]
fn what_waits_for_the_pause_of_a_turn_says_so() {
    let mut play = Play::new(76, 20);
    play.sees(begins()).sees(said("go")).types("/compact the tests<CR>/compact undo<CR>");
    check(
        &mut play,
        expect![[r#"
        > go

        · the conversation is summarized at the next pause, between two rounds of
          this turn

        · what was replaced is put back at the next pause, between two rounds of
          this turn
        ────

        working 0 s · Esc stops
        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
}

/// What a command tells in two columns has one below the other where there is no room.
#[test]
fn help_can_be_read_in_every_window() {
    let help = |width| {
        let mut play = Play::new(width, 60);
        play.types("/help<CR>").shows();
        let rows = |command: &str| {
            let at = play.scrollback.iter().position(|line| line.starts_with(command));
            play.scrollback[at.unwrap()..][..4].join("\n")
        };
        format!("{}\n...\n{}", rows("/mode"), rows("/fork"))
    };
    expect![[r#"
        /model [NAME]
          which models can be asked; have
          another one answer
        /mode [MODE]
        ...
        /fork [N]
          go on in a new session: with all of
          this one, or what comes before input N
        /export [FILE]"#]]
    .assert_eq(&help(40));
    expect![[r#"
        /model [NAME]          which models can be asked; have another one answer
        /mode [MODE]           what runs without asking: ask, accept-edits, plan
                               (Shift-Tab)
        /plan                  only look until a plan is agreed on
        ...
        /fork [N]              go on in a new session: with all of this one, or what
                               comes before input N
        /export [FILE]         write this session to a file: .html, .md or .jsonl
        /theme [NAME]          how it looks: dark, light, plain, or a file of yours"#]]
    .assert_eq(&help(76));
}

#[test]
fn shift_tab_comes_back_to_the_mode_that_the_session_was_in() {
    let modes = |play: &mut Play| {
        let mut modes = Vec::new();
        for _ in 0..5 {
            play.types("<S-Tab>");
            modes.push(play.app.settings.policy.mode.to_string());
        }
        modes.join(" ")
    };
    for (begun, expected) in [
        (Mode::Ask, expect!["accept-edits plan ask accept-edits plan"]),
        (Mode::AllowListed, expect!["ask accept-edits plan allow-listed ask"]),
        (Mode::Bypass, expect!["ask accept-edits plan bypass ask"]),
    ] {
        let mut play = Play::in_mode(begun);
        expected.assert_eq(&modes(&mut play));
    }
    // One that is chosen meanwhile, too; and bypass comes from the command line alone.
    let mut play = Play::in_mode(Mode::Ask);
    play.types("/mode allow-listed<CR>/mode bypass<CR>");
    expect!["ask accept-edits plan allow-listed ask"].assert_eq(&modes(&mut play));
    // A file of settings that has another one counts.
    let mut play = Play::in_mode(Mode::Bypass);
    let mut settings = play.app.settings.clone();
    settings.policy.mode = Mode::Ask;
    play.app.set(&settings);
    expect!["accept-edits plan ask accept-edits plan"].assert_eq(&modes(&mut play));
}

#[test]
fn a_mode_that_is_left_by_an_answer_is_not_shown_any_more() {
    let mut play = Play::in_mode(Mode::Plan);
    let (id, by) = (PermissionId::first(call_id(0)), "terminal".into());
    let decision = Decision::LeavePlan { mode: Mode::AcceptEdits };
    play.sees(begins()).sees(Event::PermissionDecided { id, decision, by });
    assert!(play.shows().contains("· accept-edits ·"), "{}", play.shows());
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

/// A stored session of so many seconds ago.
fn row(n: u64, name: &str, title: &str, seconds: u64) -> SessionRow {
    SessionRow {
        id: id(n),
        changed: Timestamp(1_000_000 - seconds * 1000),
        title: title.to_owned(),
        name: name.parse().ok(),
        is_fork: n == 3,
    }
}

#[test]
fn the_list_of_sessions_is_narrowed_and_looked_into() {
    let mut play = Play::new(60, 30);
    let rows = vec![
        row(1, "", "this one", 1),
        row(2, "orchard", "about \u{1b}[2Jpears", 60),
        row(3, "", "about apples", 900),
    ];
    play.happens(Happened::Sessions(rows));
    // Each is looked at once, when it is chosen.
    expect![[r#"
        Glance(SessionId("01900000-0000-7000-8000-000000000001"))
        Glance(SessionId("01900000-0000-7000-8000-000000000002"))
        Glance(SessionId("01900000-0000-7000-8000-000000000003"))
    "#]]
    .assert_eq(&play.types("orch<BS><BS><BS><BS><Down><Down>").asks());
    let glance = |asked: &str, answered: &str| {
        Ok(crate::host::Glance { asked: asked.to_owned(), answered: answered.to_owned() })
    };
    let long = "a line of the answer \u{1b}]0;x\u{7} that is wider than the window\n\n".repeat(9);
    play.happens(Happened::Glanced(id(3), glance("red\nor green?", &long)));
    play.happens(Happened::Glanced(id(2), Err("it cannot be read".to_owned())));
    check(
        &mut play,
        expect![[r#"
            ────

            Go on with which session? ▏
                 1 s  this one (this one)
               1 min  orchard about ␛[2Jpears
            ▸ 15 min  about apples · fork
            ────────────────────────────────────────
              > red
              or green?
              a line of the answer ␛]0;x␇ that is wider than the window
              a line of the answer ␛]0;x␇ that is wider than the window
              a line of the answer ␛]0;x␇ that is wider than the window
              a line of the answer ␛]0;x␇ that is wider than the window
              3 of 3 · Enter: go on · Esc: back
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    check(
        play.types("PEARS"),
        expect![[r#"
            ────

            Go on with which session? PEARS▏
            ▸ 1 min  orchard about ␛[2Jpears
            ────────────────────────────────────────
              it cannot be read
              1 of 3 · Enter: go on · Esc: back
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    expect![[r#"
        Open(SessionId("01900000-0000-7000-8000-000000000002"))
    "#]]
    .assert_eq(&play.types("<CR>").asks());
}

#[test]
fn commands_name_fork_and_write_the_session() {
    let mut play = Play::new(80, 20);
    let lines = [
        "/rename  the parser<CR>",
        "/rename<CR>",
        "/fork<CR>",
        "/fork 2<CR>",
        "/fork 0<CR>",
        "/export<CR>",
        "/export a.md<CR>",
        "/resume the parser<CR>",
    ];
    let asks: String = lines.iter().map(|line| play.types(line).asks()).collect();
    let asks: String =
        asks.split_inclusive('\n').filter(|line| !line.starts_with("Remember")).collect();
    expect![[r#"
        Rename(SessionName("the parser"))
        Fork(None)
        Fork(Some(2))
        Export(None)
        Export(Some("a.md"))
        OpenMeant("the parser")
    "#]]
    .assert_eq(&asks);
    check(
        &mut play,
        expect![[r#"
        ! /rename NAME: the name is empty; give it at least one letter

        ! /fork N: the number of the input that is to be said anew, from 1
        ────

        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
}

#[test]
fn a_guest_stops_by_escape_leaves_what_runs_and_changes_nothing_of_the_owners() {
    let mut play = Play::guest(76, 20);
    play.sees(begins()).sees(said("go"));
    let keys = "<C-c><Esc><C-c><C-c><S-Tab>/model other<CR>/clear<CR>";
    expect![[r#"
        Cancel
        Quit
        Remember(Draft { parts: [Text("/model other")] })
        Remember(Draft { parts: [Text("/clear")] })
    "#]]
    .assert_eq(&play.types(keys).asks());
    check(
        &mut play,
        expect![[r#"
            · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
              Ctrl-D leaves, and it goes on

            > go

            ! the mode is changed where this session is open (Shift-Tab there), not from
              an attached terminal; here you can answer what is asked

            ! that is for the terminal that has this session open

            ! that is for the terminal that has this session open
            ────

            working 0 s · Esc stops
            > ▏
            attached · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
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
        .sees(Event::Usage { usage, cost: None, total: usage, total_cost, reread });
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
