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
            user: <w1! = there is no tool `jump`> + <w2! = the input does not fit the schema> + <w3 = text + The input was read as `fixed`.>
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
fn an_identical_failing_call_is_pointed_out_at_the_third_and_asked_about_at_the_fifth() {
    check(
        "user build
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make
         deny 0
         reply call read Makefile
         done 0 nothing in it
         reply call bash make
         done 0 built
         reply Built.",
        expect![[r#"
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.2.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.3.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.4.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.5.1
            reply call bash make
              > ask 0 bash (failed 4 times)
            allow 0
              > run 0 bash [decision of person]
            error 0 no rule
                call 0 failed: no rule
              > model 1.6.1
            reply call bash make
              > ask 0 bash (failed 5 times)
            deny 0
                call 0 failed: The user denied this call.
              > model 1.7.1
            reply call read Makefile
              > run 0 read [mode bypass]
            done 0 nothing in it
              > model 1.8.1
            reply call bash make
              > run 0 bash [mode bypass]
            done 0 built
              > model 1.9.1
            reply Built.
                turn 1 ended done: Built.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = no rule>
            model: <w2 bash {"command":"make"}>
            user: <w2! = no rule>
            model: <w3 bash {"command":"make"}>
            user: <w3! = no rule + Note: this exact call has failed 3 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w4 bash {"command":"make"}>
            user: <w4! = no rule>
            model: <w5 bash {"command":"make"}>
            user: <w5! = no rule>
            model: <w6 bash {"command":"make"}>
            user: <w6! = The user denied this call.>
            model: <w7 read {"path":"Makefile"}>
            user: <w7 = nothing in it>
            model: <w8 bash {"command":"make"}>
            user: <w8 = built>
            model: Built.
        "#]],
    );
}

#[test]
fn with_nobody_to_ask_the_fifth_identical_failure_ends_the_turn() {
    check(
        "set asks=no
         user build
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make
         error 0 no rule
         reply call bash make | call read a
         done 1 text",
        expect![[r#"
            set asks=no
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.2.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.3.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.4.1
            reply call bash make
              > run 0 bash [mode bypass]
            error 0 no rule
                call 0 failed: no rule
              > model 1.5.1
            reply call bash make | call read a
                call 0 failed: Not run: this exact call failed 4 times in a row. The turn ends here.
              > run 1 read [mode bypass]
            done 1 text
                turn 1 ended at its limit of repeated failing calls
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = no rule>
            model: <w2 bash {"command":"make"}>
            user: <w2! = no rule>
            model: <w3 bash {"command":"make"}>
            user: <w3! = no rule + Note: this exact call has failed 3 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w4 bash {"command":"make"}>
            user: <w4! = no rule>
            model: <w5 bash {"command":"make"}> + <w6 read {"path":"a"}>
            user: <w5! = Not run: this exact call failed 4 times in a row. The turn ends here.> + <w6 = text>
        "#]],
    );
}

#[test]
fn a_call_nobody_can_be_asked_about_ends_the_turn_at_the_fifth_failure() {
    check(
        "set repeats=3
         user jump
         reply call jump high
         reply call jump high
         reply call jump high
         user break
         reply broken read
         reply broken read
         reply broken read | call read a
         done 1 text",
        expect![[r#"
            set repeats=3
              > idle
            user jump
                epoch 1 first
              > model 1.1.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.2.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.3.1
            reply call jump high
                call 0 failed: there is no tool `jump`
                turn 1 ended at its limit of repeated failing calls
              > idle
            user break
              > model 2.1.1
            reply broken read
                call 0 failed: The call was not run: its input was cut off. Send the whole input again.
              > model 2.2.1
            reply broken read
                call 0 failed: The call was not run: its input was cut off. Send the whole input again.
              > model 2.3.1
            reply broken read | call read a
                call 0 failed: The call was not run: its input was cut off. Send the whole input again.
              > run 1 read [mode bypass]
            done 1 text
                turn 2 ended at its limit of repeated failing calls
              > idle
            ---
            user: jump
            model: <w1 jump {"text":"high"}>
            user: <w1! = there is no tool `jump`>
            model: <w2 jump {"text":"high"}>
            user: <w2! = there is no tool `jump` + Note: this exact call has failed 2 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w3 jump {"text":"high"}>
            user: <w3! = there is no tool `jump`>
            user: break
            model: <w4 read {}>
            user: <w4! = The call was not run: its input was cut off. Send the whole input again.>
            model: <w5 read {}>
            user: <w5! = The call was not run: its input was cut off. Send the whole input again. + Note: this exact call has failed 2 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w6 read {}> + <w7 read {"path":"a"}>
            user: <w6! = The call was not run: its input was cut off. Send the whole input again.> + <w7 = text>
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
            play.write(Record::CallFinished { call, output, millis: 0 });
        }
        assert_eq!(play.state.values().get::<String>("owner").unwrap(), "third", "{order:?}");
        assert_eq!(play.state.values().get::<String>("only").unwrap(), "first", "{order:?}");
    }
}

#[test]
fn repeats_without_a_limit_are_nobodys_concern() {
    check(
        "set repeats=0
         user build
         reply call jump high
         reply call jump high
         reply call jump high
         reply call jump high
         reply call jump high
         reply call jump high
         reply Enough.",
        expect![[r#"
            set repeats=0
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.2.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.3.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.4.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.5.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.6.1
            reply call jump high
                call 0 failed: there is no tool `jump`
              > model 1.7.1
            reply Enough.
                turn 1 ended done: Enough.
              > idle
            ---
            user: build
            model: <w1 jump {"text":"high"}>
            user: <w1! = there is no tool `jump`>
            model: <w2 jump {"text":"high"}>
            user: <w2! = there is no tool `jump`>
            model: <w3 jump {"text":"high"}>
            user: <w3! = there is no tool `jump`>
            model: <w4 jump {"text":"high"}>
            user: <w4! = there is no tool `jump`>
            model: <w5 jump {"text":"high"}>
            user: <w5! = there is no tool `jump`>
            model: <w6 jump {"text":"high"}>
            user: <w6! = there is no tool `jump`>
            model: Enough.
        "#]],
    );
}
