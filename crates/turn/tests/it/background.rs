//! Work that goes on after its call has answered: delivered once, or told as lost.

use expect_test::expect;
use heeler_core::{Block, CallId, ForUser, Input, InputOrigin, Record, SteeringId, SteeringQueued};
use heeler_turn::words;

use crate::door::{Play, check, check_after};

/// A call whose work goes on.
const BEGUN: &str = "user go\nreply call bash build\nbegun 0 building";

#[test]
fn a_result_joins_the_running_turn_before_the_next_request() {
    check_after(
        BEGUN,
        "reply call read a
         landed 1.1.0 built
         landed 1.1.0 built once more
         done 0 A
         reply Good.",
        expect![[r#"
            reply call read a
              > run 0 read [mode bypass]
            landed 1.1.0 built
                queued background-1.1.0
              > run 0 read [mode bypass]
            landed 1.1.0 built once more
              > run 0 read [mode bypass]
            done 0 A
                delivered background-1.1.0
              > model 1.3.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: <w2 read {"path":"a"}>
            user: <w2 = A>
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn a_result_wakes_nobody_and_comes_with_the_next_words() {
    check_after(
        BEGUN,
        "reply Later.
         landed 1.1.0 built
         unsteer background-1.1.0
         user and now?
         reply Good.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            landed 1.1.0 built
                queued background-1.1.0
              > idle
            unsteer background-1.1.0
              > idle
            user and now?
                delivered background-1.1.0
              > model 2.1.1
            reply Good.
                turn 2 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: and now?
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn a_result_begins_a_turn_where_it_shall() {
    check(
        "wakes
         user go
         reply call bash build
         begun 0 building
         reply Later.
         landed 1.1.0 built
         reply Good.",
        expect![[r#"
            wakes
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash build
              > run 0 bash [mode bypass]
            begun 0 building
              > model 1.2.1
            reply Later.
                turn 1 ended done: Later.
              > idle
            landed 1.1.0 built
                queued background-1.1.0
                delivered background-1.1.0
              > model 2.1.1
            reply Good.
                turn 2 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: built
            model: Good.
        "#]],
    );
}

#[test]
fn what_comes_during_the_last_answer_waits_as_well() {
    check_after(
        BEGUN,
        "landed 1.1.0 built
         interrupt",
        expect![[r#"
            landed 1.1.0 built
                queued background-1.1.0
              > model 1.2.1
            interrupt
                turn 1 ended cancelled
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
        "#]],
    );
}

#[test]
fn what_a_process_leaves_is_lost_and_does_not_come_after_all() {
    check_after(
        BEGUN,
        "reply Later.
         crash
         landed 1.1.0 built
         crash
         user and now?
         reply Oh.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            crash
                queued background-1.1.0
              > idle
            landed 1.1.0 built
              > idle
            crash
              > idle
            user and now?
                delivered background-1.1.0
              > model 2.1.1
            reply Oh.
                turn 2 ended done: Oh.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            user: and now?
            user: [The background work of bash (call 1.1.0) was lost: the program ended before it was done. Whatever it ran has ended; ch…
            model: Oh.
        "#]],
    );
}

#[test]
fn a_failed_call_has_nothing_in_the_background() {
    check(
        "user go
         reply call bash build
         done 0 built
         landed 1.1.0 built
         reply Good.",
        expect![[r#"
            user go
                epoch 1 first
              > model 1.1.1
            reply call bash build
              > run 0 bash [mode bypass]
            done 0 built
              > model 1.2.1
            landed 1.1.0 built
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = built>
            model: Good.
            misfits: 1
        "#]],
    );
}

#[test]
fn what_it_has_for_the_user_comes_at_once_and_once() {
    check_after(
        BEGUN,
        "reply call read a
         shown 1.1.0 Built.
         shown 1.1.0 Built.
         done 0 A
         reply Built.",
        expect![[r#"
            reply call read a
              > run 0 read [mode bypass]
            shown 1.1.0 Built.
                for the user 1.1.0 Built.
                queued background-1.1.0
              > run 0 read [mode bypass]
            shown 1.1.0 Built.
              > run 0 read [mode bypass]
            done 0 A
                delivered background-1.1.0
              > model 1.3.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: <w2 read {"path":"a"}>
            user: <w2 = A>
            user: said
            model: Built.
        "#]],
    );
    check_after(
        BEGUN,
        "reply Later.
         shown 1.1.0 Built.
         shown 1.2.0 Nobody began this.",
        expect![[r#"
            reply Later.
                turn 1 ended done: Later.
              > idle
            shown 1.1.0 Built.
                for the user 1.1.0 Built.
                queued background-1.1.0
              > idle
            shown 1.2.0 Nobody began this.
              > idle
            ---
            user: go
            model: <w1 bash {"command":"build"}>
            user: <w1 = building>
            model: Later.
            misfits: 1
        "#]],
    );
}

#[test]
fn works_stand_in_the_order_of_their_calls() {
    for ended in ["begun 0 A\nbegun 1 B", "begun 1 B\nbegun 0 A"] {
        let state = Play::of(&format!("user go\nreply call bash a | call bash b\n{ended}")).state;
        let indexes: Vec<u32> = state.background.iter().map(|work| work.call.index).collect();
        assert_eq!(indexes, [0, 1], "{ended}");
    }
}

#[test]
fn what_was_lost_is_told_until_the_model_has_heard_it() {
    let lost = |script: &str| Play::of(&format!("{BEGUN}\n{script}")).state.lost_works().count();
    assert_eq!(lost("reply Later."), 0);
    assert_eq!(lost("reply Later.\ncrash"), 1);
    assert_eq!(lost("reply Later.\ncrash\nuser and now?"), 0);
    // What came to its end was not lost, whatever it says.
    let ended = words::background_finished("bash", CallId { turn: 1, round: 1, index: 0 }, false);
    assert_eq!(lost(&format!("reply Later.\nlanded 1.1.0 {ended}")), 0);
    assert_eq!(lost("reply Later.\nlanded 1.1.0 built"), 0);
    let wish = "was lost: the program ended before it was done";
    assert_eq!(lost(&format!("reply Later.\nlanded 1.1.0 It {wish}")), 0);
}

#[test]
fn whoever_spoke_last_is_answered_and_nobody_for_work_of_before() {
    let from = |chat: &str| InputOrigin { chat: Some(chat.into()), ..InputOrigin::default() };
    let input = |origin| Input { blocks: vec![Block::text("so")], origin };
    let said = |chat: &str| SteeringQueued::said(SteeringId("s".into()), input(from(chat)));
    let unknown = SteeringQueued::said(SteeringId("s".into()), Input::text("so"));
    let call = CallId { turn: 1, round: 1, index: 0 };
    let landed = SteeringQueued::of_background(call, input(from("other")));
    for (queued, expected) in [(said("other"), "other"), (unknown, "first"), (landed, "first")] {
        let mut play = Play::of("");
        play.write(Record::Input(Box::new(input(from("first")))));
        for line in ["tick 0", "reply call bash build", "begun 0 building"] {
            play.line(line);
        }
        play.write(Record::SteeringQueued(Box::new(queued)));
        for line in ["reply call read a", "done 0 A"] {
            play.line(line);
        }
        assert_eq!(play.state.turn.unwrap().origin, from(expected));
    }
}

#[test]
fn what_work_has_for_the_user_is_told_where_they_are() {
    let from = |chat: &str| InputOrigin { chat: Some(chat.into()), ..InputOrigin::default() };
    let input = |chat| Input { blocks: vec![Block::text("so")], origin: from(chat) };
    let call = CallId { turn: 1, round: 1, index: 0 };
    for (chat, is_told) in [("first", true), ("other", false)] {
        let mut play = Play::of("");
        play.write(Record::Input(Box::new(input("first"))));
        for line in ["tick 0", "reply call bash build", "begun 0 building"] {
            play.line(line);
        }
        let for_user = ForUser { text: "Built.".into(), ..ForUser::default() };
        let landed = SteeringQueued::of_background(call, input(chat)).with_for_user(Some(for_user));
        play.write(Record::SteeringQueued(Box::new(landed)));
        assert_eq!(play.state.turn.unwrap().told.holds("Built.", &[]), is_told, "{chat}");
    }
}
