//! Calls: planning, schedule, results.

use expect_test::expect;

use crate::door::check;

#[test]
fn results_stand_in_call_order_whatever_ended_first() {
    check(
        "user look
         reply call read a | call read b | call read c
         done 2 C
         error 0 gone
         done 1 B
         reply Seen.",
        expect![[r#"
            user look
                epoch 1 first
              > model 1.1.1
            reply call read a | call read b | call read c
              > run 0 read [mode bypass], run 1 read [mode bypass], run 2 read [mode bypass]
            done 2 C
              > run 0 read [mode bypass], run 1 read [mode bypass]
            error 0 gone
                call 0 failed: gone
              > run 1 read [mode bypass]
            done 1 B
              > model 1.2.1
            reply Seen.
                turn 1 ended done: Seen.
              > idle
            ---
            user: look
            model: <w1 read {"path":"a"}> + <w2 read {"path":"b"}> + <w3 read {"path":"c"}>
            user: <w1! = gone> + <w2 = B> + <w3 = C>
            model: Seen.
        "#]],
    );
}

#[test]
fn calls_on_one_file_run_in_call_order() {
    check(
        "user work
         reply call write a | call write b | call read a | call read a
         done 1 b written
         done 0 a written
         done 3 read again
         done 2 read
         reply Good.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call write a | call write b | call read a | call read a
              > run 0 write [mode bypass], run 1 write [mode bypass]
            done 1 b written
              > run 0 write [mode bypass]
            done 0 a written
              > run 2 read [mode bypass], run 3 read [mode bypass]
            done 3 read again
              > run 2 read [mode bypass]
            done 2 read
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: work
            model: <w1 write {"path":"a"}> + <w2 write {"path":"b"}> + <w3 read {"path":"a"}> + <w4 read {"path":"a"}>
            user: <w1 = a written> + <w2 = b written> + <w3 = read> + <w4 = read again>
            model: Good.
        "#]],
    );
}

#[test]
fn an_exclusive_call_runs_alone_and_holds_up_what_follows() {
    check(
        "user work
         reply call note a | call solo b | call note c
         done 0 a
         done 1 b
         done 2 c
         reply Good.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call note a | call solo b | call note c
              > run 0 note [mode bypass]
            done 0 a
              > run 1 solo [mode bypass]
            done 1 b
              > run 2 note [mode bypass]
            done 2 c
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: work
            model: <w1 note {"text":"a"}> + <w2 solo {"text":"b"}> + <w3 note {"text":"c"}>
            user: <w1 = a> + <w2 = b> + <w3 = c>
            model: Good.
        "#]],
    );
}

#[test]
fn at_most_so_many_calls_run_at_once() {
    check(
        "set at_once=2
         user work
         reply call note a | call note b | call note c
         done 1 b
         done 0 a
         done 2 c
         reply Good.",
        expect![[r#"
            set at_once=2
              > idle
            user work
                epoch 1 first
              > model 1.1.1
            reply call note a | call note b | call note c
              > run 0 note [mode bypass], run 1 note [mode bypass]
            done 1 b
              > run 0 note [mode bypass], run 2 note [mode bypass]
            done 0 a
              > run 2 note [mode bypass]
            done 2 c
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: work
            model: <w1 note {"text":"a"}> + <w2 note {"text":"b"}> + <w3 note {"text":"c"}>
            user: <w1 = a> + <w2 = b> + <w3 = c>
            model: Good.
        "#]],
    );
}

#[test]
fn an_unknown_tool_and_a_bad_input_are_answered_and_the_rest_runs() {
    check(
        "user work
         reply call jump high | call read bad | call read fixme
         done 0 nobody hears this
         done 2 text
         reply Hm.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call jump high | call read bad | call read fixme
                call 0 failed: there is no tool `jump`
                call 1 failed: the input does not fit the schema
              > run 2 read [mode bypass]
            done 0 nobody hears this
              > run 2 read [mode bypass]
            done 2 text
              > model 1.2.1
            reply Hm.
                turn 1 ended done: Hm.
              > idle
            ---
            user: work
            model: <w1 jump {"text":"high"}> + <w2 read {"path":"bad"}> + <w3 read {"path":"fixme"}>
            user: <w1! = there is no tool `jump`> + <w2! = the input does not fit the schema> + <w3 = text + \nThe input was read as `fixed`.>
            model: Hm.
            misfits: 1
        "#]],
    );
}

#[test]
fn a_call_that_is_not_planned_holds_up_what_comes_after_it() {
    check(
        "user work
         hold
         reply call write a | call write b
         step
         step
         step
         go
         done 0 a
         done 1 b
         reply Good.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            hold
              > model 1.1.1
            reply call write a | call write b
              > plan 0 write, plan 1 write
            step
              > run 0 write [mode bypass], plan 1 write
            step
              > run 0 write [mode bypass], plan 1 write
            step
              > run 0 write [mode bypass], run 1 write [mode bypass]
            go
              > run 0 write [mode bypass], run 1 write [mode bypass]
            done 0 a
              > run 1 write [mode bypass]
            done 1 b
              > model 1.2.1
            reply Good.
                turn 1 ended done: Good.
              > idle
            ---
            user: work
            model: <w1 write {"path":"a"}> + <w2 write {"path":"b"}>
            user: <w1 = a> + <w2 = b>
            model: Good.
        "#]],
    );
}

#[test]
fn the_values_after_a_batch_are_those_of_its_calls_in_call_order() {
    use heeler_core::{CallId, Record, ToolOutput};

    let output = |value: &str| {
        let output = ToolOutput::text("set").with_state("owner", &value);
        if value == "first" { output.with_state("only", &"first") } else { output }
    };
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut play =
            crate::door::Play::of("user go\nreply call note a | call note b | call note c");
        for index in order {
            let output = Box::new(output(["first", "second", "third"][index as usize]));
            let call = CallId { turn: 1, round: 1, index };
            play.write(Record::CallFinished { call, output, millis: 0, inner_calls: 0 });
        }
        assert_eq!(play.state.values().get::<String>("owner").unwrap(), "third", "{order:?}");
        assert_eq!(play.state.values().get::<String>("only").unwrap(), "first", "{order:?}");
    }
}

#[test]
fn what_a_tool_says_to_the_user_is_told_unless_it_is_silent() {
    use heeler_core::{CallId, Entry, Event, Record, ToolOutput};
    use heeler_turn::state::Announcer;

    for (for_user, silent, expected) in [
        ("Look!", false, Some("Look!")),
        ("Look!", true, None),
        ("", false, None),
        ("", true, None),
    ] {
        let mut state = crate::door::Play::of("user go\nreply call note a").state;
        let for_user = for_user.to_owned();
        let output = Box::new(ToolOutput { for_user, silent, ..ToolOutput::text("done") });
        let call = CallId { turn: 1, round: 1, index: 0 };
        let record = Record::CallFinished { call, output, millis: 0, inner_calls: 0 };
        let mut out = Announcer::collecting();
        state.apply_announcing(&Entry { seq: state.seq + 1, at: state.now, record }, &mut out);
        let told = out.into_events().into_iter().find_map(|event| match event {
            Event::ToolText { call: of, text, .. } if of == call => Some(text),
            _ => None,
        });
        assert_eq!(told.as_deref(), expected);
    }
}

#[test]
fn a_call_says_whether_it_may_run_twice() {
    use heeler_core::EffectKind;

    let play = crate::door::Play::of("user go\nreply call read a | call write b");
    let pending = play.state.pending();
    let runs: Vec<(&str, bool)> = pending
        .iter()
        .filter_map(|effect| match &effect.kind {
            EffectKind::RunCall { name, replay_safe, .. } => Some((name.as_str(), *replay_safe)),
            _ => None,
        })
        .collect();
    assert_eq!(runs, [("read", true), ("write", false)]);
}

#[test]
fn rounds_are_counted_over_all_turns_and_belong_to_the_answer_or_its_calls() {
    let mut play = crate::door::Play::of("");
    let steps = [
        ("user go", 1),
        ("reply call read a", 1),
        ("done 0 A", 2),
        ("reply Seen.", 2),
        ("user more", 3),
        ("reply Bye.", 3),
    ];
    assert_eq!(play.state.round(), 0);
    for (line, round) in steps {
        play.line(line);
        assert_eq!(play.state.round(), round, "{line}");
    }
}
