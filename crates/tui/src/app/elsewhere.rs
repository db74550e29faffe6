//! What others do to a session while somebody writes: they answer, they wait, they go.

use heeler_core::{Decision, PermissionId, Question, TurnOutcome};

use super::testing::*;
use super::*;

fn question() -> Box<Question> {
    Box::new(Question {
        session: id(1),
        agent: Default::default(),
        call: call_id(0),
        to: Default::default(),
        text: "Which port?".into(),
        choices: Vec::new(),
    })
}

fn decided(decision: Decision) -> Event {
    let (id, by) = (PermissionId::first(call_id(0)), "attached terminal".into());
    Event::PermissionDecided { id, decision, by }
}

/// A request about the first call, and a window whose keys take their time.
fn asked_here() -> Play {
    let mut play = Play::quick(70, 24);
    play.sees(begins()).sees(asked(0, "Bash", r#"{"command":"ls"}"#, None)).passes(1_000);
    play
}

/// Each: what is asked is answered elsewhere in the middle of these words.
#[test]
fn what_is_written_about_what_others_answered_is_kept_and_not_sent() {
    for (opens, keys, expected) in [
        ("n", "because it ", "because it is so"),
        ("e", " -l; it ", "ls -l; it is so"),
        ("n", "", "is so"),
    ] {
        let mut play = asked_here();
        play.types(opens).passes(1_000).types_with_pauses(keys, 50);
        play.sees(decided(Decision::Once)).passes(50).types_with_pauses("is so<CR>", 50);
        assert_eq!(play.asks(), "", "{keys}");
        assert_eq!(play.app.composer.text(), expected);
        assert!(play.shows().contains("allowed once, by attached terminal"));
        // Enter pressed again and again is one; one after a while sends it.
        assert_eq!(play.passes(600).types("<CR>").asks(), "");
        assert!(play.passes(800).types("<CR>").asks().contains("Steer("), "{keys}");
    }
}

/// Each: whose answer counts, and what becomes of the reason that was sent here.
#[test]
fn a_reason_that_came_too_late_is_written_again() {
    for (by, expected) in [("terminal", ""), ("attached terminal", "because")] {
        let mut play = asked_here();
        assert!(play.types("nbecause<CR>").asks().contains("because"));
        let (id, by) = (PermissionId::first(call_id(0)), by.into());
        play.sees(Event::PermissionDecided { id, decision: Decision::Once, by });
        assert_eq!(play.app.composer.text(), expected);
    }
}

#[test]
fn an_answer_that_comes_too_late_stands_behind_the_draft() {
    let mut play = Play::quick(70, 24);
    play.sees(begins()).types("a draft").passes(3_000);
    play.happens(Happened::Asked(1, question())).passes(1_000).types_with_pauses("my own", 50);
    play.sees(ends(0, "ask_user", false, 1));
    assert_eq!(play.passes(50).types_with_pauses(" words<CR>", 50).asks(), "");
    assert_eq!(play.app.composer.text(), "a draft\nmy own words");
    let shown = play.shows();
    assert!(shown.contains("answered elsewhere"), "{shown}");
    assert!(shown.contains("! this is not asked any more: what you wrote about it"), "{shown}");
}

#[test]
fn what_was_there_to_be_edited_is_not_what_somebody_wrote() {
    let mut play = asked_here();
    play.types("e").passes(1_000).sees(decided(Decision::Once));
    assert!(play.app.composer.is_empty());
    assert!(!play.shows().contains("not asked any more"));
}

/// What was missed is not what is asked: the reason for a no is written on.
#[test]
fn who_missed_something_writes_on_at_the_request_that_is_still_open() {
    let mut play = asked_here();
    play.types("nbecause").passes(1_000);
    let mut view = View::default();
    [begins(), asked(0, "Bash", r#"{"command":"ls"}"#, None)].iter().for_each(|it| view.apply(it));
    play.happens(Happened::Seen(Seen::Resync(Box::new(view))));
    let asks = play.types(" of it<CR>").asks();
    assert!(asks.contains(r#"Deny { reason: Some("because of it") }"#), "{asks}");
}

#[test]
fn words_of_others_that_wait_are_shown_and_go_back_to_them_with_a_stop() {
    let steering = SteeringId("attached-1-1".into());
    for (keys, last) in [("<Esc>", "Cancel\n"), ("<C-c>", "Cancel\n"), ("d", "DenyAndStop")] {
        let mut play = Play::new(70, 24);
        play.sees(begins()).sees(said("go")).sees(Event::SteeringQueued { id: steering.clone() });
        assert_eq!(play.asks(), "AskWaiting\n");
        assert!(!play.shows().contains("waits"), "nobody knows yet what it says");
        let waiting = vec![(steering.clone(), "drop it all".to_owned())];
        play.happens(Happened::Waiting(waiting));
        assert!(play.shows().contains("  waits, from elsewhere: drop it all"));
        play.sees(asked(0, "Bash", r#"{"command":"ls"}"#, None)).asks();
        let asks = play.types(keys).asks();
        assert!(asks.starts_with(r#"TakeBack(SteeringId("attached-1-1"))"#), "{keys}: {asks}");
        assert!(asks.contains(last), "{keys}: {asks}");
        play.sees(Event::SteeringTakenBack { id: steering.clone() });
        play.sees(finishes(TurnOutcome::Cancelled));
        let shown = play.shows();
        assert!(shown.contains("said elsewhere, and taken back: drop it all"), "{shown}");
        assert!(!shown.contains("waits") && play.app.composer.is_empty(), "{shown}");
    }
    // What became of it meanwhile takes it away, whoever asks late.
    let mut play = Play::new(70, 24);
    play.sees(begins()).sees(Event::SteeringQueued { id: steering.clone() });
    play.sees(Event::SteeringDelivered { id: steering.clone() });
    play.happens(Happened::Waiting(vec![(steering, "drop it all".to_owned())]));
    assert!(!play.shows().contains("waits"));
}

/// After a process that was killed, most likely one's own.
#[test]
fn what_waited_before_the_session_was_opened_is_not_said_to_come_from_elsewhere() {
    let steering = SteeringId("terminal-1-1".into());
    let view = || {
        let mut view = View::default();
        view.apply(&Event::SteeringQueued { id: steering.clone() });
        view
    };
    for (mut play, expected) in [
        (Play::new(70, 24), "  waits: the first thing"),
        (Play::guest(70, 24), "  waits, from elsewhere: the first thing"),
    ] {
        let opened = Opened {
            id: id(2),
            view: view(),
            settings: Settings::default(),
            waiting: vec![(steering.clone(), "the first thing".to_owned())],
            tokens: 0,
            is_unfinished: false,
            new_fork: None,
        };
        play.happens(Happened::Opened(Box::new(opened)));
        assert!(play.shows().contains(expected), "{}", play.shows());
        // Also when something was missed since.
        play.happens(Happened::Seen(Seen::Resync(Box::new(view()))));
        play.happens(Happened::Waiting(vec![(steering.clone(), "the first thing".to_owned())]));
        assert!(play.shows().contains(expected), "{}", play.shows());
    }
}

/// The name of the only word that was sent.
fn sent(play: &Play) -> SteeringId {
    play.app.queued.last().unwrap().id.clone()
}

#[test]
fn what_a_guest_sends_is_shown_until_somebody_takes_it() {
    let mut play = Play::guest(70, 24);
    // Also without a turn: only what has a name is known to be taken.
    assert!(play.types("important<CR>").asks().contains("Steer("));
    assert!(play.shows().contains("  waits: important"));
    assert!(play.passes(1_000).shows().contains("  not taken yet: important"));
    let id = sent(&play);
    play.sees(Event::SteeringQueued { id: id.clone() }).sees(begins());
    play.happens(Happened::Steered(id.clone(), Ok(true)));
    assert!(play.passes(5_000).shows().contains("  waits: important"));
    play.sees(Event::SteeringDelivered { id });
    assert!(!play.shows().contains("waits"));
    // A hook keeps one away: it waits for nothing.
    play.types("secret<CR>");
    play.happens(Happened::Steered(sent(&play), Ok(false)));
    assert!(!play.shows().contains("secret"));
    // One that cannot be said is written again.
    play.types("with @gone<CR>");
    play.happens(Happened::Steered(sent(&play), Err("no such file".into())));
    let shown = play.shows();
    assert!(shown.contains("no such file") && shown.contains("> with @gone"), "{shown}");
}

#[test]
fn a_session_that_ends_leaves_nobodys_words_to_the_shell() {
    // Nobody wrote: the window goes at once.
    let mut play = Play::guest(70, 24);
    assert_eq!(play.happens(Happened::Ended).asks(), "Quit\n");
    // Somebody does, and goes on; Enter ends the words, and not the window.
    let mut play = Play::guest(70, 24);
    play.types("look at ").asks();
    assert_eq!(play.happens(Happened::Ended).asks().matches("Remember").count(), 1);
    assert!(play.shows().contains("! the session was closed where it was open; what you wrote"));
    assert_eq!(play.types_with_pauses("the tests; rm it<CR>", 100).asks(), "");
    assert_eq!(play.app.composer.text(), "look at the tests; rm it");
    assert_eq!(play.passes(60_000).asks(), "");
    let asks = play.types("<CR>").asks();
    assert!(asks.contains("the tests; rm it") && asks.ends_with("Quit\n"), "{asks}");
    // Who pressed a key just now, and wrote nothing, is waited for.
    let mut play = Play::guest(70, 24);
    play.types("x<BS>");
    assert_eq!(play.happens(Happened::Ended).asks(), "");
    assert!(play.app.wakes_at(play.now).is_some());
    assert_eq!(play.passes(1_999).asks(), "");
    assert_eq!(play.passes(1).asks(), "Quit\n");
    let mut play = Play::guest(70, 24);
    play.types("x");
    play.happens(Happened::Ended).asks();
    assert_eq!(play.types("<C-d>").asks(), "Quit\n", "it was kept before");
}

#[test]
fn what_the_history_does_not_keep_is_not_said_to_be_there() {
    let mut play = Play::guest(100, 24);
    play.happens(Happened::Pasted("many\n".repeat(4_000))).happens(Happened::Ended);
    assert!(play.shows().contains("goes with this window"), "{}", play.shows());
}

/// The terminal goes, or the program is told to end.
#[test]
fn what_is_written_and_said_nowhere_else_is_for_the_history() {
    let unsaid = |play: &mut Play| -> Vec<String> {
        let now = play.now;
        play.app.unsaid(now).iter().map(|draft| draft.text()).collect()
    };
    // What was sent is there already, and so is what was recalled; what that covers is not.
    let mut play = Play::new(70, 24);
    play.types("sent<CR>");
    assert!(unsaid(&mut play).is_empty());
    assert_eq!(unsaid(play.types("a draft")), ["a draft"]);
    assert_eq!(unsaid(play.types("<Home><Up>")), ["a draft"]);
    // What the command line said is in none.
    let mut play = Play::new(70, 24);
    play.happens(Happened::Given(Box::new(Draft::from("at once").into())));
    assert_eq!(unsaid(&mut play), ["at once"]);
    // An answer beside a draft, and the letter that would have answered.
    let mut play = Play::quick(70, 24);
    play.sees(begins()).types("a draft").passes(3_000);
    play.happens(Happened::Asked(1, question())).passes(1_000).types("8080");
    assert_eq!(unsaid(&mut play), ["8080", "a draft"]);
    assert_eq!(unsaid(asked_here().types("y")), ["y"]);
    // What is kept is kept once.
    let mut play = Play::guest(70, 24);
    play.types("a draft").happens(Happened::Ended);
    assert!(unsaid(&mut play).is_empty());
}

#[test]
fn an_answer_that_nobody_waits_for_any_more_is_written_again() {
    let mut play = Play::quick(70, 24);
    play.sees(begins()).types("a draft").happens(Happened::Unheard("port 8080".into()));
    assert_eq!(play.app.composer.text(), "a draft\nport 8080");
    assert!(play.shows().contains("! this is not asked any more"));
}

#[test]
fn what_nobody_took_when_the_session_ends_is_written_again() {
    let mut play = Play::guest(70, 24);
    play.sees(begins()).types("taken<CR>");
    play.sees(Event::SteeringQueued { id: sent(&play) });
    play.types("first<CR>second<CR>").passes(60_000).asks();
    let asks = play.happens(Happened::Ended).asks();
    assert!(asks.contains("Remember"), "{asks}");
    assert_eq!(play.app.composer.text(), "first\nsecond");
    assert!(!play.shows().contains("working"));
    // An answer that was being written, too.
    let mut play = Play::guest(70, 24);
    play.sees(begins());
    play.happens(Happened::Asked(1, question())).passes(1_000).types("8080");
    play.passes(60_000).happens(Happened::Ended);
    assert_eq!(play.app.composer.text(), "8080");
}
