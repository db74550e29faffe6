//! A turn that an earlier process left, and one that is stopped: what goes on, and what is kept.

use expect_test::expect;
use heeler_core::{OpenPermission, TurnOutcome};

use super::testing::*;
use super::*;

/// What was asked for, a word each, without what is kept for later.
fn asks(play: &mut Play) -> String {
    let word = |line: &str| line.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let asks: Vec<String> = play.asks().lines().map(word).collect();
    asks.into_iter().filter(|ask| ask != "Remember").collect::<Vec<_>>().join(" ")
}

fn request() -> Vec<OpenPermission> {
    let Event::PermissionRequested(open) = asked(0, "Bash", r#"{"command":"ls"}"#, None) else {
        unreachable!("the event that was made")
    };
    vec![open]
}

#[test]
fn a_turn_that_goes_on_is_known_to_run_however_it_does() {
    for (keys, permissions, expected) in [
        ("<CR>", Vec::new(), expect!["Resume"]),
        ("and this<CR>", Vec::new(), expect!["Resume Steer"]),
        ("/init<CR>", Vec::new(), expect!["Resume Steer"]),
        ("y", request(), expect!["Resume Decide"]),
    ] {
        let mut play = Play::unfinished(60, 20, permissions);
        expected.assert_eq(&asks(play.types(keys)));
        if keys == "y" {
            let id = PermissionId::first(call_id(0));
            let (decision, by) = (Decision::Once, "terminal".into());
            play.sees(Event::PermissionDecided { id, decision, by });
        }
        play.passes(3_000);
        let shown = play.shows();
        assert!(shown.contains("working 3 s · Esc stops"), "{keys}: {shown}");
        assert_eq!(shown.contains("  waits: and this"), keys.starts_with("and"), "{shown}");
        // What cannot be while a turn runs is refused, and what is said waits.
        play.types("/clear<CR>/sessions<CR>/fork<CR>/model other<CR>more<CR>");
        assert_eq!(asks(&mut play), "Steer", "{keys}");
        assert_eq!(play.shows().matches("! a turn runs; stop it first (Esc)").count(), 4);
        assert!(asks(play.types("<Esc>")).ends_with("Cancel"), "{keys}");
        assert!(asks(play.types("<C-c>")).ends_with("Cancel"), "{keys}");
        play.sees(finishes(TurnOutcome::Failed { message: "the disk is full".into() }));
        let shown = play.shows();
        assert!(shown.contains("✗ the disk is full") && !shown.contains("working"), "{shown}");
    }
}

#[test]
fn a_command_leaves_the_unfinished_turn_as_it_is() {
    let mut play = Play::unfinished(60, 20, Vec::new());
    assert_eq!(asks(play.types("/cost<CR><CR>")), "Tell Resume");
    assert_eq!(asks(play.types("<CR>")), "", "it goes on once");
}

#[test]
fn an_unfinished_turn_that_is_ended_is_over() {
    let mut play = Play::unfinished(60, 20, Vec::new());
    assert_eq!(asks(play.types("<Esc>")), "Cancel");
    play.sees(finishes(TurnOutcome::Cancelled));
    assert!(play.shows().contains("! stopped; say what to do instead"));
    assert_eq!(asks(play.types("<CR>other<CR>")), "Say");
    // Somebody at another terminal may end it too.
    let mut play = Play::unfinished(60, 20, Vec::new());
    play.sees(finishes(TurnOutcome::Cancelled));
    assert_eq!(asks(play.types("<CR>")), "");
}

#[test]
fn an_input_that_hooks_hear_waits_and_is_written_again_when_it_is_stopped() {
    for stop in ["<Esc>", "<C-c>"] {
        let mut play = Play::new(60, 20);
        assert_eq!(asks(play.types("first<CR>")), "Say");
        assert!(!play.shows().contains("waits"), "nobody is told of what takes no time");
        assert!(asks(play.passes(1_000)).is_empty() && play.shows().contains("  waits: first"));
        assert_eq!(asks(play.types(stop)), "Cancel", "{stop}");
        play.happens(Happened::Said(1, TurnOutcome::Cancelled));
        assert_eq!(play.app.composer.text(), "first");
        assert!(!play.shows().contains("waits"));
    }
    // What is said behind it is said to its turn; what has begun is not written again.
    let mut play = Play::new(60, 20);
    assert_eq!(asks(play.types("first<CR>second<CR>")), "Say Steer");
    play.sees(begins()).sees(said("first"));
    assert_eq!(asks(play.types("<Esc>")), "TakeBack Cancel");
    play.happens(Happened::Said(1, TurnOutcome::Cancelled));
    assert!(play.app.composer.is_empty());
}

/// Another terminal, or work in the background, begins a turn while hooks hear what was said here.
#[test]
fn an_input_that_waits_for_the_turn_of_others_is_written_again_when_that_is_stopped() {
    let mut play = Play::new(60, 20);
    play.types("mine<CR>").asks();
    play.sees(begins()).sees(Event::SteeringDelivered { id: SteeringId("other".into()) });
    play.sees(said("theirs")).passes(1_000);
    assert!(play.shows().contains("  waits: mine"));
    assert_eq!(asks(play.types("<Up>")), "", "the turn of others goes on");
    play.types("<C-c>");
    play.happens(Happened::Said(1, TurnOutcome::Cancelled));
    assert_eq!(play.app.composer.text(), "mine");
}

/// Each: how the turn of an input ended that nobody saw begin.
#[test]
fn an_input_that_was_not_said_is_written_again_however_it_ended() {
    let why = || "the disk is full".to_owned();
    for (outcome, written, told) in [
        (TurnOutcome::Denied { reason: why() }, "mine", 0),
        (TurnOutcome::Failed { message: why() }, "mine", 1),
        (TurnOutcome::Done, "", 0),
    ] {
        let mut play = Play::new(60, 20);
        play.types("mine<CR>").happens(Happened::Said(1, outcome));
        assert_eq!(play.app.composer.text(), written);
        assert_eq!(play.shows().matches("the disk is full").count(), told);
    }
    // Of what was missed it is known that it was said.
    let mut play = Play::new(60, 20);
    let mut view = View::default();
    [begins(), said("mine"), finishes(TurnOutcome::Cancelled)].iter().for_each(|it| view.apply(it));
    play.types("mine<CR>").happens(Happened::Seen(Seen::Resync(Box::new(view))));
    play.happens(Happened::Said(1, TurnOutcome::Cancelled));
    assert!(play.app.composer.is_empty());
}

#[test]
fn who_said_what_is_not_taken_in_yet_does_not_leave_it_behind() {
    let leaves = "/clear<CR>/fork<CR>/resume x<CR>/sessions<CR>/model other<CR>/quit<CR><C-d>";
    let heard = |play: &mut Play| {
        play.types("mine<CR>");
    };
    let steered = |play: &mut Play| {
        play.sees(begins()).sees(said("go")).types("mine<CR>").sees(finishes(TurnOutcome::Done));
    };
    for begin in [heard as fn(&mut Play), steered] {
        let mut play = Play::new(60, 20);
        begin(&mut play);
        asks(&mut play);
        assert_eq!(asks(play.types(leaves)), "");
        assert_eq!(play.shows().matches("! what you said is not taken in yet").count(), 7);
        // Nor does who asked for the list before.
        let picked = Picked::Session(id(2));
        assert!(play.app.picked(picked).is_empty());
        assert!(asks(play.types("<C-c><C-c>")).ends_with("Cancel"));
        // If it comes to that all the same, it is written there.
        let opened = Opened {
            id: id(2),
            view: View::default(),
            settings: Settings::default(),
            waiting: Vec::new(),
            tokens: 0,
            is_unfinished: false,
            new_fork: None,
        };
        play.happens(Happened::Opened(Box::new(opened)));
        assert_eq!(play.app.composer.text(), "mine");
    }
    // A guest has an owner that may be suspended.
    let mut play = Play::guest(60, 20);
    play.types("mine<CR>").asks();
    assert_eq!(asks(play.types("<C-d>")), "");
    assert_eq!(asks(play.types("<C-c><C-c>")), "Quit");
}

#[test]
fn what_hooks_hear_is_taken_back_by_up_and_said_once() {
    let mut play = Play::new(60, 20);
    play.types("mine<CR>").asks();
    assert_eq!(asks(play.types("<Up>")), "Cancel");
    play.happens(Happened::Said(1, TurnOutcome::Cancelled));
    assert_eq!(play.app.composer.text(), "mine");
}

/// Its own answer says that it is gone, before or after it is given back.
#[test]
fn what_was_taken_back_here_is_no_mistake() {
    for keys in ["<Esc>", "<Up>"] {
        let mut play = Play::new(60, 20);
        play.sees(begins()).sees(said("go")).types("mine<CR>");
        let id = play.app.queued[0].id.clone();
        play.types(keys).asks();
        play.happens(Happened::Steered(id.clone(), Err("this was taken back".into())));
        play.happens(Happened::TakenBack(id, true));
        assert_eq!(play.app.composer.text(), "mine");
        assert!(!play.shows().contains("this was taken back"));
    }
    // What others took back is told.
    let mut play = Play::new(60, 20);
    play.sees(begins()).sees(said("go")).types("mine<CR>");
    let id = play.app.queued[0].id.clone();
    play.happens(Happened::Steered(id, Err("this was taken back".into())));
    assert!(play.shows().contains("✗ this was taken back"));
}

#[test]
fn what_waits_for_a_turn_that_is_stopped_is_written_again() {
    for (keys, expected) in [
        ("<Esc>", "TakeBack TakeBack Cancel"),
        ("<C-c>", "TakeBack TakeBack Cancel"),
        ("d", "TakeBack TakeBack Decide"),
    ] {
        let mut play = Play::new(60, 20);
        play.sees(begins()).sees(said("go")).types("first<CR>second<CR>third");
        asks(&mut play);
        let ids: Vec<SteeringId> = play.app.queued.iter().map(|queued| queued.id.clone()).collect();
        if keys == "d" {
            // Who stopped writing answers.
            play.sees(asked(0, "Bash", r#"{"command":"ls"}"#, None)).passes(700);
        }
        assert_eq!(asks(play.types(keys)), expected);
        // The session tells it and the answer says it: it is written once. One was delivered.
        play.sees(Event::SteeringTakenBack { id: ids[1].clone() });
        play.happens(Happened::TakenBack(ids[1].clone(), true));
        play.happens(Happened::TakenBack(ids[0].clone(), false));
        play.sees(Event::SteeringDelivered { id: ids[0].clone() });
        play.sees(finishes(TurnOutcome::Cancelled));
        let shown = play.shows();
        assert!(shown.contains("> second"), "{shown}");
        assert!(shown.contains("  third"), "{shown}");
        assert!(!shown.contains("waits:") && !shown.contains("first"), "{shown}");
    }
}

/// Of what was missed, the view says how it ended.
#[test]
fn after_what_was_missed_it_is_known_whether_a_turn_runs() {
    let resync = |events: &[Event]| {
        let mut view = View::default();
        events.iter().for_each(|event| view.apply(event));
        Happened::Seen(Seen::Resync(Box::new(view)))
    };
    let mut play = Play::new(60, 20);
    play.sees(begins()).happens(resync(&[begins(), finishes(TurnOutcome::Done)]));
    assert!(!play.shows().contains("working"));
    play.happens(resync(&[begins()]));
    assert!(play.shows().contains("working"));
    // One that an earlier process left does not run by that.
    let mut play = Play::unfinished(60, 20, Vec::new());
    play.happens(resync(&[begins()]));
    assert!(!play.shows().contains("working"));
    assert_eq!(asks(play.types("<CR>")), "AskBackground Resume");
    let mut play = Play::unfinished(60, 20, Vec::new());
    play.happens(resync(&[begins(), finishes(TurnOutcome::Done)]));
    assert_eq!(asks(play.types("<CR>")), "AskBackground");
}

#[test]
fn what_is_said_on_the_way_to_another_session_is_not_for_this_one() {
    let mut play = Play::unfinished(60, 20, Vec::new());
    assert_eq!(asks(play.types("/clear<CR>")), "Clear");
    play.app.switches(true);
    assert_eq!(asks(play.types("<CR>hello<CR>")), "Say");
    // There is no other session after all.
    play.app.switches(false);
    assert_eq!(asks(play.types("<CR>")), "Resume");
}

#[test]
fn who_goes_on_with_it_elsewhere_is_seen_here() {
    for event in [attempt(), starts(0, "Bash", "Bash: ls"), writes("So")] {
        let mut play = Play::unfinished(60, 20, Vec::new());
        assert!(!play.shows().contains("working"));
        assert!(play.sees(event).shows().contains("working"));
        assert_eq!(asks(play.types("<CR>")), "", "it goes on already");
    }
}
