//! Commands, modes, and the list of sessions: what is asked of the window itself.

use expect_test::{Expect, expect};

use super::testing::*;
use super::*;
use crate::host::SessionRow;

fn check(play: &mut Play, screen: Expect) {
    screen.assert_eq(&play.shows());
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
                Remember ! `yolo` is no permission mode; use ask, accept-edits, plan or
                  allow-listed"#]],
        ),
        ("/MODE Plan<CR>", expect!["Remember Set "]),
        ("/mode acceptEdits<CR>", expect!["Remember Set "]),
        (
            "/mode BYPASS<CR>",
            expect![[r#"
            Remember ! the mode bypass is for the command line: heeler --permission-mode
              bypass"#]],
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
        (
            "/modle<CR>",
            expect!["Remember ! there is no command /modle; did you mean /model? /help lists them"],
        ),
        ("/etc/hosts is what?<CR>", expect!["Remember Say "]),
        (
            "/rewind<CR>",
            expect![
                "Remember ! there is no command /rewind; did you mean /fork N? /help lists them"
            ],
        ),
        (
            "/status<CR>",
            expect![
                "Remember ! there is no command /status; did you mean /context? /help lists them"
            ],
        ),
        ("/new<CR>", expect!["Remember Clear "]),
        ("/exit<CR>", expect!["Remember Quit "]),
        ("/quit<CR>", expect!["Remember Quit "]),
        (
            "!ls<CR>",
            expect!["Remember ! there are no shell lines here: Enter says this to the model"],
        ),
        // Who knows that means it.
        (
            "!ls<CR><CR>",
            expect![[
                r#"Remember Remember Say ! there are no shell lines here: Enter says this to the model"#
            ]],
        ),
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

/// Leaving cuts off what runs, and takes with it what waits.
#[test]
fn a_turn_that_runs_is_not_left_by_a_command() {
    let mut play = Play::new(70, 20);
    play.sees(begins()).sees(said("go")).sees(attempt()).sees(writes("Half an ans"));
    play.types("and more<CR>").asks();
    let is_left = |play: &mut Play| play.types("/quit<CR>").asks().contains("Quit");
    assert!(!is_left(&mut play));
    check(
        &mut play,
        expect![[r#"
        > go
        ────

        Half an ans

        ! a turn runs: Esc stops it, and then Ctrl-D leaves

        working 0 s · Esc stops
          waits: and more
        > ▏
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    // It is in the journal, which the next process reads.
    let id = play.app.queued[0].id.clone();
    play.happens(Happened::Steered(id, Ok(true)));
    play.sees(finishes(heeler_core::TurnOutcome::Cancelled));
    assert!(is_left(&mut play));
    // Who is a guest cuts off nothing.
    let mut play = Play::guest(70, 20);
    assert!(is_left(play.sees(begins())));
}

#[test]
fn words_behind_a_slip_of_a_command_are_written_again() {
    let long = format!("/compact {}", "many words ".repeat(200));
    for words in ["/fix the tests of the parser", long.trim()] {
        let mut play = Play::new(70, 20);
        play.happens(Happened::Pasted(words.into())).types("<CR>");
        assert!(!play.asks().contains("Compact("));
        assert_eq!(play.app.composer.text(), words);
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

/// What a guest cannot do is not offered to one, nor meant by a slip.
#[test]
fn a_guest_is_offered_what_a_guest_can_do() {
    let mut play = Play::guest(100, 60);
    play.shows();
    play.scrollback.clear();
    check(
        play.types("/help<CR>/mode<CR>/cler<CR>"),
        expect![[r#"

        · /help

        /help                  keys and commands
        /model                 which models can be asked
        /mode                  what runs without asking
        /compact [FOCUS|undo]  a summary for the beginning, looking at FOCUS; or take it back
        /init                  have an AGENTS.md written from the project
        /context               what fills the context
        /cost                  what this session used and cost
        /tools                 what the model can call
        /background            what runs in the background
        /rename NAME           name this session
        /export [FILE]         write this session to a file: .html, .md or .jsonl
        /theme [NAME]          how it looks: dark, light, plain, or a file of yours
        /doctor                what this machine can do, and what is missing
        /quit                  leave (Ctrl-D)

        Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R: history
        Esc stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back what waits
        Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied image · Ctrl-L: draw anew · Ctrl-Z:
        suspend

        · /mode

        the mode is ask; it is changed where this session is open (Shift-Tab there)

        ! there is no command /cler; /help lists them
        ────

        > ▏
        attached · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    check(
        play.types("/"),
        expect![[r#"

        · /help

        /help                  keys and commands
        /model                 which models can be asked
        /mode                  what runs without asking
        /compact [FOCUS|undo]  a summary for the beginning, looking at FOCUS; or take it back
        /init                  have an AGENTS.md written from the project
        /context               what fills the context
        /cost                  what this session used and cost
        /tools                 what the model can call
        /background            what runs in the background
        /rename NAME           name this session
        /export [FILE]         write this session to a file: .html, .md or .jsonl
        /theme [NAME]          how it looks: dark, light, plain, or a file of yours
        /doctor                what this machine can do, and what is missing
        /quit                  leave (Ctrl-D)

        Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R: history
        Esc stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back what waits
        Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied image · Ctrl-L: draw anew · Ctrl-Z:
        suspend

        · /mode

        the mode is ask; it is changed where this session is open (Shift-Tab there)

        ! there is no command /cler; /help lists them
        ────

        > /▏
        > /help                  keys and commands
          /model                 which models can be asked
          /mode                  what runs without asking
          /compact [FOCUS|undo]  a summary for the beginning, looking at FOCUS; or take it back
          /init                  have an AGENTS.md written from the project
          /context               what fills the context
          /cost                  what this session used and cost
          /tools                 what the model can call
        attached · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
}
