//! What a request shows where there is little room.

use expect_test::expect;

use super::tests::{check, question};
use crate::app::testing::*;
use crate::app::*;

/// A command of twenty lines, in a window of this size.
fn long_command(width: u16, height: u16) -> Play {
    let lines: Vec<String> = (1..=20).map(|n| format!("echo {n}")).collect();
    let input = serde_json::json!({ "command": lines.join("\n") }).to_string();
    let mut play = Play::new(width, height);
    play.sees(begins()).sees(said("go"));
    play.sees(asked(0, "Bash", &input, Some("Bash(echo:*)")));
    play
}

#[test]
fn the_title_and_the_first_lines_stand_in_every_window() {
    for (width, height) in
        [(80, 24), (80, 40), (60, 10), (40, 16), (20, 8), (40, 6), (20, 6), (20, 5)]
    {
        let mut play = long_command(width, height);
        let shown = play.shows();
        let (_, live) = shown.split_once("────\n").unwrap();
        assert!(live.lines().count() < usize::from(height), "{width}x{height}:\n{live}");
        assert!(live.contains("? Run this command?"), "{width}x{height}:\n{live}");
        assert!(live.contains("more lines (") || height > 24, "{width}x{height}:\n{live}");
        // What does not stand there is allowed when it was looked at.
        let is_there = live.contains("$ echo 1\n") && live.contains("echo 20\n");
        assert!(is_there == (height > 6), "{width}x{height}:\n{live}");
        assert!(live.contains("Ctrl-T: look first") != is_there, "{width}x{height}:\n{live}");
        let answers = |play: &mut Play, key| play.types(key).asks();
        for key in ["y", "s", "a"] {
            let mut play = long_command(width, height);
            assert_eq!(answers(&mut play, key).contains("Decide"), is_there, "{width}x{height}");
            if !is_there {
                assert!(answers(play.types("<C-t>q"), key).contains("Decide"), "{width}x{height}");
            }
        }
        assert!(answers(&mut long_command(width, height), "d").contains("DenyAndStop"));
        // All of it is there for who wants it.
        play.types("<C-t>");
        let mut pages = String::new();
        for _ in 0..20 {
            pages = play.shows() + &pages;
            play.types("<PageUp>");
        }
        for n in 1..=20 {
            assert!(pages.contains(&format!("echo {n}\n")), "{n}:\n{pages}");
        }
        assert!(pages.contains("y  once") && pages.contains("Bash(echo:*)"), "{pages}");
    }
}

#[test]
fn in_an_ordinary_window_the_keys_stand_below_what_would_run() {
    check(
        &mut long_command(80, 24),
        expect![[r#"
            > go
            ────

            ? Run this command?
              $ echo 1
              echo 2
              echo 3
              echo 4
              echo 5
              echo 6
              echo 7
              echo 8
              … 8 more lines (Ctrl-T)
              echo 17
              echo 18
              echo 19
              echo 20
              no rule speaks of it
              y  once
              s  for this session: Bash(echo:*)
              a  always in this folder: Bash(echo:*)
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn in_a_small_window_the_keys_fold() {
    check(
        &mut long_command(60, 10),
        expect![[r#"
            > go
            ────

            ? Run this command?
              $ echo 1
              echo 2
              … 17 more lines (Ctrl-T)
              echo 20
              no rule speaks of it
              y s a n e d  (Ctrl-T says what they mean)
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    check(
        long_command(60, 10).types("n"),
        expect![[r#"
            > go
            ────

            ? Run this command?
              $ echo 1
              … 18 more lines (Ctrl-T)
              echo 20
              no rule speaks of it
            > ▏
            Enter: deny with this reason, or with none · Esc: back
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
}

#[test]
fn a_request_that_is_answered_is_no_more_in_the_pager() {
    let mut play = long_command(60, 30);
    assert!(play.types("<C-t>").shows().contains("Run this command?"));
    let (id, by) = (PermissionId::first(call_id(0)), "another window".into());
    play.sees(Event::PermissionDecided { id, decision: Decision::Once, by });
    assert!(!play.shows().contains("Run this command?"));
}

#[test]
fn a_rule_is_whole_in_a_narrow_window() {
    let mut play = Play::new(40, 24);
    play.sees(begins()).sees(asked(
        0,
        "Edit",
        r#"{"file_path":"/space/project/a.rs","old_string":"one","new_string":"two"}"#,
        Some("Edit(//space/project/crates/parser/src/column.rs)"),
    ));
    check(
        &mut play,
        expect![[r#"
        ────

        ? Make this change?
        /space/project/a.rs +1 -1
        1 - one
        1 + two
          no rule speaks of it
          y  once
          s  for this session:
             Edit(//space/project/crates/parser/
             src/column.rs)
          a  always in this folder:
             Edit(//space/project/crates/parser/
             src/column.rs)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
    "#]],
    );
    let mut play = Play::new(40, 24);
    let long = "another one, with a name that goes on";
    play.sees(begins()).happens(Happened::Asked(1, question(0, &["main", long])));
    check(
        &mut play,
        expect![[r#"
        ────

        ? The model asks
          question 0
          1. main
          2. another one, with a name that goes
             on
        > ▏
        Enter: answer, or with nothing let the
        model decide · Esc: stop the turn
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
    "#]],
    );
}

/// Nothing is allowed that does not stand there.
#[test]
fn a_window_that_is_too_low_for_a_request_takes_no_answer() {
    let mut play = long_command(60, 4);
    check(
        &mut play,
        expect![[r#"
        > go
        ────
          … 20 more lines (Ctrl-T)
          answer in a higher window
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    assert_eq!(play.types("yasnd<CR>").asks(), "");
    assert_eq!(long_command(60, 1).types("y").asks(), "");
    assert_eq!(long_command(60, 1).types("<Esc>").asks(), "Cancel\n");
    // It comes into sight now, and takes keys once it was seen.
    play.happens(Happened::Resized(60, 8));
    assert_eq!(play.types("y").asks(), "");
    play.passes(crate::app::RESIZED_MILLIS);
    assert_eq!(play.types("y<BS>").asks(), "");
    play.passes(700);
    assert!(play.types("y").asks().contains("Once"));
}

/// A patch whose line is longer than the window, and how the request shows it.
fn long_patch(width: u16, height: u16) -> Play {
    let long = format!("+let settings = read(); {}remove_all()", "let padding = 1; ".repeat(4));
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.rs\n@@\n-let settings = read();\n{long}\n@@\n-two\n+three\n\
         *** End Patch"
    );
    let input = serde_json::json!({ "patch": patch }).to_string();
    let mut play = Play::new(width, height);
    play.sees(begins()).sees(said("go")).sees(asked(0, "apply_patch", &input, None));
    play
}

#[test]
fn of_a_patch_the_ends_of_long_lines_stand_there_too() {
    check(
        &mut long_patch(60, 30),
        expect![[r#"
        > go
        ────

        ? Make this change?
          *** Begin Patch
          *** Update File: a.rs
          @@
          -let settings = read();
          +let settings = read(); let padding = 1; let padding = 1;
            let padding = 1; let padding = 1; remove_all()
          @@
          -two
          +three
          *** End Patch
          no rule speaks of it
          y  once
          n  no, with a reason
          e  edit it first
          h  choose among its 2 parts
          d  no, and stop the turn
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    // Where one looks back, and part by part.
    check(
        long_patch(60, 30).types("<C-t>"),
        expect![[r#"
        > go

        ? Make this change?
          *** Begin Patch
          *** Update File: a.rs
          @@
          -let settings = read();
          +let settings = read(); let padding = 1; let padding = 1;
            let padding = 1; let padding = 1; remove_all()
          @@
          -two
          +three
          *** End Patch
          no rule speaks of it
          y  once
          n  no, with a reason
          e  edit it first
          h  choose among its 2 parts
          d  no, and stop the turn










        19 of 19 · q: back · ↑↓ PgUp PgDn Home End · /: search · n …
    "#]],
    );
    check(
        long_patch(60, 30).types("h"),
        expect![[r#"
        > go
        ────

        ? Make this change?
          *** Update File: a.rs
          @@
          -let settings = read();
          +let settings = read(); let padding = 1; let padding = 1;
            let padding = 1; let padding = 1; remove_all()
          part 1 of 2
          y  take it
          n  leave it out
          a  take it and the rest
          d  leave it and the rest out
          Esc  back
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    let mut play = long_patch(60, 30);
    play.app.is_plain = true;
    assert!(play.shows().contains("remove_all()"));
    // And what differs is no less.
    let mut play = Play::new(40, 24);
    let long = format!("+{}the end", "a word ".repeat(10));
    play.happens(Happened::Answered(Ok(Told::Difference(long))));
    assert!(play.shows().contains("the\n    end\n"), "{}", play.shows());
}

#[test]
fn of_a_file_that_is_written_the_path_is_whole() {
    let input =
        r#"{"file_path":"/space/project/a/folder/that/goes/on/and/on/.bashrc","content":"x\n"}"#;
    let mut play = Play::new(40, 24);
    play.sees(begins()).sees(asked(0, "Write", input, None));
    check(
        &mut play,
        expect![[r#"
        ────

        ? Write this file?
        /space/project/a/folder/that/goes/on/and
          /on/.bashrc +1 -0
        1 + x
          no rule speaks of it
          y  once
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
    "#]],
    );
}

/// A request about this command, for this reason.
fn because(command: &str, why: &str, (width, height): (u16, u16)) -> Play {
    let input = serde_json::json!({ "command": command }).to_string();
    let Event::PermissionRequested(mut open) = asked(0, "Bash", &input, None) else {
        panic!("a request");
    };
    open.reason = heeler_core::PermissionReason::Policy(why.into());
    let mut play = Play::new(width, height);
    play.sees(begins()).sees(said("go")).sees(Event::PermissionRequested(open)).passes(500);
    play
}

#[test]
fn no_gap_hides_what_stands_behind_it() {
    let command = format!("curl http://x{}rm -rf ~/evil\n\n\nls", "\n".repeat(61));
    let why = format!("it runs the command `{command}` (curl talks to the network)");
    check(
        &mut because(&command, &why, (80, 24)),
        expect![[r#"
            > go
            ────

            ? Run this command?
              $ curl http://x
              … 60 empty lines
              rm -rf ~/evil
              … 2 empty lines
              ls
              it runs the command `curl http://x ⏎ rm -rf ~/evil ⏎ ls` (curl talks to the
              network)
              y  once
              n  no, with a reason
              e  edit it first
              d  no, and stop the turn
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    check(
        &mut because(&command, &why, (40, 10)),
        expect![[r#"
            > go
            ────

            ? Run this command?
              $ curl http://x
              … 3 more lines (Ctrl-T)
              ls
              it runs the command `curl http://x ⏎
              … 2 more lines (Ctrl-T)
              y n e d  (Ctrl-T says what they mean)
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
        "#]],
    );
    // A gap of spaces is none, and one before everything is no row of what would run.
    let command = format!("ls{}; rm -rf ~/evil", " ".repeat(3_000));
    assert!(because(&command, "why", (60, 10)).shows().contains("; rm -rf ~/evil"));
    let command = format!("{}rm -rf ~/evil", "\n".repeat(40));
    check(
        &mut because(&command, "why", (40, 6)),
        expect![[r#"
        > go
        ────
        ? Run this command?
          $
          … 2 more lines (Ctrl-T)
          Ctrl-T: look first
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% ·…
    "#]],
    );
    assert_eq!(because(&command, "why", (40, 6)).types("y").asks(), "");
}

#[test]
fn of_what_is_cut_the_end_stands_there_too() {
    let lines: Vec<String> = (1..=20).map(|n| format!("echo {n}")).collect();
    let command = format!("{}\nrm -rf ~/evil", lines.join("\n"));
    for (width, height) in [(80, 24), (60, 10), (40, 8)] {
        let shown = because(&command, "why", (width, height)).shows();
        assert!(shown.contains("$ echo 1\n"), "{shown}");
        assert!(shown.contains("rm -rf ~/evil\n"), "{shown}");
    }
    // What waits for the turn takes no room from it.
    let mut play = because(&command, "why", (60, 9));
    play.app.prompts.clear();
    for n in 0..6 {
        play.types(&format!("word {n}<CR>"));
    }
    play.sees(asked(0, "Bash", r#"{"command":"rm -rf ~/evil"}"#, None));
    assert!(play.shows().contains("$ rm -rf ~/evil"), "{}", play.shows());
}

/// A path says where something is changed, and a frame nothing: neither is what is allowed.
#[test]
fn a_change_of_which_only_the_name_stands_there_is_not_made() {
    let content = "line\n".repeat(20);
    let write = serde_json::json!({ "file_path": "a.rs", "content": content }).to_string();
    let data = serde_json::json!({ "a": { "deep": { "one": content } } }).to_string();
    for (tool, input) in [("Write", write), ("Odd", data)] {
        let mut play = Play::new(60, 6);
        play.sees(begins()).sees(asked(0, tool, &input, None));
        assert!(play.shows().contains("look first"), "{}", play.shows());
        assert_eq!(play.types("y").asks().matches("Decide").count(), 0, "{tool}");
        assert_eq!(play.types("<C-t>qy").asks().matches("Decide").count(), 1, "{tool}");
    }
}
