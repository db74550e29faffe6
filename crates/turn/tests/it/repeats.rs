//! Identical failing calls: pointed out, asked about, ended.

use expect_test::expect;

use crate::door::{check, check_after};

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
fn what_is_asked_about_anyway_says_so_at_the_fifth_failure_too() {
    check(
        "set mode=ask
         user build
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            error 0 no rule
                call 0 failed: no rule
              > model 1.2.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            error 0 no rule
                call 0 failed: no rule
              > model 1.3.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            error 0 no rule
                call 0 failed: no rule
              > model 1.4.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            error 0 no rule
                call 0 failed: no rule
              > model 1.5.1
            reply call bash make
              > ask 0 bash (the same call failed 4 times in a row; it runs the command `make`)
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
        "#]],
    );
}

#[test]
fn a_rule_given_for_one_call_does_not_let_another_run_that_failed_too_often() {
    check_after(
        "set mode=ask repeats=2
         user build
         reply call bash make
         allow 0
         error 0 no rule
         reply call bash make | call bash make",
        "session 0 bash(make)",
        expect![[r#"
            session 0 bash(make)
              > run 0 bash [decision of person], ask 1 bash (the same call failed once; it runs the command `make`)
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = no rule>
            model: <w2 bash {"command":"make"}> + <w3 bash {"command":"make"}>
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
fn inputs_that_are_broken_in_different_ways_are_not_the_same_call() {
    check(
        "set repeats=3
         user break
         reply broken read no colon
         reply broken read no comma
         reply broken read no comma
         reply Enough.",
        expect![[r#"
            set repeats=3
              > idle
            user break
                epoch 1 first
              > model 1.1.1
            reply broken read no colon
                call 0 failed: The call was not run: no colon. Send the whole input again.
              > model 1.2.1
            reply broken read no comma
                call 0 failed: The call was not run: no comma. Send the whole input again.
              > model 1.3.1
            reply broken read no comma
                call 0 failed: The call was not run: no comma. Send the whole input again.
              > model 1.4.1
            reply Enough.
                turn 1 ended done: Enough.
              > idle
            ---
            user: break
            model: <w1 read {}>
            user: <w1! = The call was not run: no colon. Send the whole input again.>
            model: <w2 read {}>
            user: <w2! = The call was not run: no comma. Send the whole input again.>
            model: <w3 read {}>
            user: <w3! = The call was not run: no comma. Send the whole input again. + Note: this exact call has failed 2 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: Enough.
        "#]],
    );
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

#[test]
fn at_a_limit_of_two_the_second_failure_is_the_end_and_no_warning() {
    let script = "set repeats=2 asks=no\nuser go\nreply call note a\nerror 0 no\nreply call note a";
    let play = crate::door::Play::of(script);
    let results: Vec<String> = play
        .state
        .history
        .messages()
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            heeler_core::Block::ToolResult(result) => Some(&result.content),
            _ => None,
        })
        .map(|content| content.iter().filter_map(heeler_core::Block::as_text).collect())
        .collect();
    assert_eq!(results, ["no", "Not run: this exact call failed once. The turn ends here."]);
}
