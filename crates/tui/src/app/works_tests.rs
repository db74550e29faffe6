//! What runs in the background, as the window shows it.

use expect_test::expect;
use heeler_core::{CallId, Input, SteeringQueued};
use heeler_engine::BackgroundWork;

use super::testing::*;
use super::*;

fn work(index: u32) -> BackgroundWork {
    BackgroundWork { call: call_id(index), tool: "exec".into(), origin: Default::default() }
}

fn ends_of(call: CallId) -> Event {
    let input = Input { blocks: Vec::new(), origin: Default::default() };
    Event::SteeringQueued { id: SteeringQueued::of_background(call, input).id }
}

/// A window in whose turn three programs were started, two of them alike, and the session lists all.
fn started(mut play: Play) -> Play {
    let calls = [("exec", r#"{"command":"x"}"#); 3];
    play.sees(begins()).sees(said("go")).sees(attempt()).sees(replies("", &calls));
    for (index, does) in ["exec: sleep 500", "make \u{1b}[2J watch", "sleep 500"].iter().enumerate()
    {
        let index = u32::try_from(index).unwrap();
        play.sees(starts(index, "exec", does)).sees(ends(index, "exec", false, 5));
    }
    play.asks();
    play.sees(results(&[("runs", false), ("runs", false), ("runs", false)]));
    assert_eq!(play.asks(), "AskBackground\n");
    play.happens(Happened::Background(vec![work(0), work(1), work(2)]));
    play.sees(finishes(heeler_core::TurnOutcome::Done)).shows();
    play.scrollback.clear();
    play
}

#[test]
fn what_runs_is_counted_listed_and_ended_by_its_number() {
    let mut play = started(Play::new(76, 20));
    play.passes(65_000).types("/background<CR>");
    // What ended leaves the others their numbers; a list that was made before brings nothing back.
    play.sees(ends_of(call_id(0))).happens(Happened::Background(vec![work(0), work(1), work(2)]));
    play.asks();
    play.types(
        "/background stop 3<CR>/background stop 1<CR>/background stop<CR>/background all<CR>",
    );
    expect![[r#"
        StopBackground(CallId { turn: 1, round: 1, index: 2 })
    "#]]
    .assert_eq(&stops(&mut play));
    expect![[r#"

        · /background

        1  sleep 500 · exec (call 1.1.0), for 1 min 5 s
        2  make ␛[2J watch · exec (call 1.1.1), for 1 min 5 s
        3  sleep 500 · exec (call 1.1.2), for 1 min 5 s
        /background stop N ends one; leaving ends all

        · ended in the background: sleep 500, after 1 min 5 s; the model hears of it
          with what is said next

        ! /background stop N: the number that /background shows

        ! /background stop N: the number that /background shows

        ! /background lists what runs; /background stop N ends one of it
        ────

        > ▏
        2 in the background · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]]
    .assert_eq(&play.shows());
}

/// What was asked for, but what is kept of what was written.
fn stops(play: &mut Play) -> String {
    let asks = play.asks();
    asks.split_inclusive('\n').filter(|line| !line.starts_with("Remember")).collect()
}

#[test]
fn a_guest_sees_what_runs_and_leaves_its_end_to_the_owner() {
    let mut play = Play::guest(76, 20);
    play.happens(Happened::Background(vec![work(0)]));
    play.types("/background<CR>/background stop 1<CR>");
    expect![[r#""#]].assert_eq(&stops(&mut play));
    expect![[r#"
        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        · /background

        1  exec (call 1.1.0)
        it is ended where this session is open (/background stop N there)

        ! that is for the terminal that has this session open
        ────

        > ▏
        attached · 1 in the background · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ …
    "#]]
    .assert_eq(&play.shows());
}

/// Each: the session that is shown next, what it lists, and what is told.
#[test]
fn what_ends_with_its_session_is_told() {
    for (next, listed, expected) in [
        (
            2,
            vec![],
            expect![[r#"
            ! ended with the session before, in the background: sleep 500 (x2), make
              ␛[2J watch
            ────

            > ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
        ),
        (
            1,
            vec![],
            expect![[r#"

                · anthropic/claude-sonnet-5-5 answers from here on

                · ended in the background: sleep 500 (x2), make ␛[2J watch; the model hears
                  of it with what is said next
                ────

                > ▏
                claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
            "#]],
        ),
        (
            1,
            vec![work(0), work(1), work(2)],
            expect![[r#"

            · anthropic/claude-sonnet-5-5 answers from here on
            ────

            > ▏
            3 in the background · claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
        ),
    ] {
        let mut play = started(Play::new(76, 20));
        let opened = Opened {
            id: id(next),
            view: View::default(),
            settings: play.app.settings.clone(),
            waiting: Vec::new(),
            tokens: 0,
            is_unfinished: false,
            new_fork: None,
        };
        play.happens(Happened::Opened(Box::new(opened)));
        assert!(play.asks().contains("AskBackground"));
        play.happens(Happened::Background(listed));
        expected.assert_eq(&play.shows());
    }
}

#[test]
fn what_ends_with_the_window_is_named() {
    let play = started(Play::new(76, 20));
    let other = BackgroundWork { tool: "watch".into(), ..work(9) };
    let named = |works: &[BackgroundWork]| play.app.ends_with_it(works).unwrap_or_default();
    expect!["sleep 500 (x2), make ␛[2J watch, watch (call 1.1.9)"].assert_eq(&named(&[
        work(0),
        work(1),
        work(2),
        other,
    ]));
    assert_eq!(named(&[]), "");
}
