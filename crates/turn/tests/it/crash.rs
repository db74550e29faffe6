//! Crashes: `opened` alone says what becomes of what the dead process was doing.

use expect_test::expect;

use crate::door::{Play, check};

#[test]
fn a_sent_request_is_a_counted_attempt() {
    check(
        "user hi
         crash
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            crash
              > model 1.1.2
            reply Hi.
                turn 1 ended done: Hi.
              > idle
            ---
            user: hi
            model: Hi.
        "#]],
    );
}

#[test]
fn before_a_record_stands_nothing_happened() {
    check(
        "hold
         user hi
         crash
         step
         crash
         go
         hold
         reply call read a
         crash
         step
         crash
         go
         done 0 A
         hold
         reply Fine.
         crash
         go",
        expect![[r#"
            hold
              > idle
            user hi
              > epoch first
            crash
              > epoch first
            step
                epoch 1 first
              > model 1.1.1
            crash
              > model 1.1.1
            go
              > model 1.1.1
            hold
              > model 1.1.1
            reply call read a
              > plan 0 read
            crash
              > plan 0 read
            step
              > run 0 read [mode bypass]
            crash
              > run 0 read [mode bypass]
            go
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1
            hold
              > model 1.2.1
            reply Fine.
              > finish done
            crash
              > finish done
            go
                turn 1 ended done: Fine.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: Fine.
        "#]],
    );
}

#[test]
fn a_running_call_is_unknown_unless_it_may_run_twice() {
    check(
        "user work
         reply call read a | call write b | call note c
         done 2 noted
         crash
         done 0 A
         reply I will look at b.",
        expect![[r#"
            user work
                epoch 1 first
              > model 1.1.1
            reply call read a | call write b | call note c
              > run 0 read [mode bypass], run 1 write [mode bypass], run 2 note [mode bypass]
            done 2 noted
              > run 0 read [mode bypass], run 1 write [mode bypass]
            crash
                call 1 failed: The program died while this call was running, so its outcome is unknown. Check …
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1
            reply I will look at b.
                turn 1 ended done: I will look at b.
              > idle
            ---
            user: work
            model: <w1 read {"path":"a"}> + <w2 write {"path":"b"}> + <w3 note {"text":"c"}>
            user: <w1 = A> + <w2! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w3 = noted>
            model: I will look at b.
        "#]],
    );
}

#[test]
fn an_open_prompt_is_asked_again_under_its_id() {
    check(
        "set mode=ask
         user work
         reply call bash make
         crash
         allow 0
         crash
         reply Hm.",
        expect![[r#"
            set mode=ask
              > idle
            user work
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            crash
              > ask 0 bash (it runs the command `make`)
            allow 0
              > run 0 bash [decision of person]
            crash
                call 0 failed: The program died while this call was running, so its outcome is unknown. Check …
              > model 1.2.1
            reply Hm.
                turn 1 ended done: Hm.
              > idle
            ---
            user: work
            model: <w1 bash {"command":"make"}>
            user: <w1! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.>
            model: Hm.
        "#]],
    );
}

#[test]
fn a_retry_goes_on_waiting_and_a_due_one_is_sent_once() {
    check(
        "user hi
         lost overloaded 5000
         crash
         tick 5000
         crash
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            lost overloaded 5000
                attempt 1 failed overloaded, again in 5000
              > retry at 5000
            crash
              > retry at 5000
            tick 5000
              > model 1.1.2
            crash
              > model 1.1.3
            reply Hi.
                turn 1 ended done: Hi.
              > idle
            ---
            user: hi
            model: Hi.
        "#]],
    );
}

#[test]
fn three_deaths_in_a_request_end_the_turn() {
    check(
        "user hi
         crash
         crash
         crash
         user again
         crash
         reply Hi.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            crash
              > model 1.1.2
            crash
              > model 1.1.3
            crash
                turn 1 ended failed (the program died 3 times while asking the model; not tried …)
              > idle
            user again
              > model 2.1.1
            crash
              > model 2.1.2
            reply Hi.
                turn 2 ended done: Hi.
              > idle
            ---
            user: hi
            user: again
            model: Hi.
        "#]],
    );
}

#[test]
fn three_deaths_in_a_call_end_the_turn() {
    check(
        "user hi
         reply call read a | call solo b
         crash
         crash
         crash",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | call solo b
              > run 0 read [mode bypass]
            crash
              > run 0 read [mode bypass]
            crash
              > run 0 read [mode bypass]
            crash
                call 0 failed: The program died while this call was running, so its outcome is unknown. Check …
                call 1 failed: Cancelled before it started; nothing was done.
                turn 1 ended failed (the program died 3 times while running a tool call; not tri…)
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}> + <w2 solo {"text":"b"}>
            user: <w1! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w2! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn a_death_in_each_of_three_calls_is_no_reason_to_give_up() {
    check(
        "user hi
         reply call solo a | call solo b | call solo c | call read d
         crash
         crash
         crash
         done 3 D
         reply Three went wrong.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call solo a | call solo b | call solo c | call read d
              > run 0 solo [mode bypass]
            crash
                call 0 failed: The program died while this call was running, so its outcome is unknown. Check …
              > run 1 solo [mode bypass]
            crash
                call 1 failed: The program died while this call was running, so its outcome is unknown. Check …
              > run 2 solo [mode bypass]
            crash
                call 2 failed: The program died while this call was running, so its outcome is unknown. Check …
              > run 3 read [mode bypass]
            done 3 D
              > model 1.2.1
            reply Three went wrong.
                turn 1 ended done: Three went wrong.
              > idle
            ---
            user: hi
            model: <w1 solo {"text":"a"}> + <w2 solo {"text":"b"}> + <w3 solo {"text":"c"}> + <w4 read {"path":"d"}>
            user: <w1! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w2! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w3! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w4 = D>
            model: Three went wrong.
        "#]],
    );
}

#[test]
fn three_deaths_in_a_compaction_end_the_compaction() {
    check(
        "set keep=1 chars=1 context=2000
         large 1000
         reply two | read 0
         large 1000
         crash
         crash
         crash
         reply four",
        expect![[r#"
            set keep=1 chars=1 context=2000
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            large 1000
              > compact automatic cut 2
            crash
              > compact automatic cut 2
            crash
              > compact automatic cut 2
            crash
                compaction failed: the program died 3 times while compacting the conversation; not tried again. Look at what that step needs (memory, disk, a crashing command), then continue the session
                trimmed to 2: 2012 -> 1316
                epoch 2 compaction
              > model 2.1.1
            reply four
                turn 2 ended done: four
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            model: four
        "#]],
    );
}

#[test]
fn a_call_that_would_run_again_is_judged_by_the_rules_of_today() {
    check(
        "user hi
         reply call read a | call note b
         set deny=read
         crash
         done 1 noted
         reply No more.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | call note b
              > run 0 read [mode bypass], run 1 note [mode bypass]
            set deny=read
              > run 0 read [mode bypass], run 1 note [mode bypass]
            crash
                call 0 failed: Not allowed: the rule read (test) denies it.
              > run 1 note [mode bypass]
            done 1 noted
              > model 1.2.1
            reply No more.
                turn 1 ended done: No more.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}> + <w2 note {"text":"b"}>
            user: <w1! = Not allowed: the rule read (test) denies it.> + <w2 = noted>
            model: No more.
        "#]],
    );
}

#[test]
fn a_turn_with_a_hole_is_ended_and_none_of_its_calls_runs_again() {
    check(
        "user hi
         reply call read a | call solo b | call note c
         done 2 noted
         hole
         crash
         user again
         crash
         reply Better.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | call solo b | call note c
              > run 0 read [mode bypass]
            done 2 noted
              > run 0 read [mode bypass]
            hole
                notice: records of this session are missing; what could be read was kept, and permissions granted earlier are asked again
              > run 0 read [mode bypass]
            crash
                call 0 failed: The program died while this call was running, so its outcome is unknown. Check …
                call 1 failed: The program died while this call was running, so its outcome is unknown. Check …
                call 2 failed: The program died while this call was running, so its outcome is unknown. Check …
                turn 1 ended failed (records of this turn are missing from the journal, so nobod…)
              > idle
            user again
              > model 2.1.1
            crash
              > model 2.1.2
            reply Better.
                turn 2 ended done: Better.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}> + <w2 solo {"text":"b"}> + <w3 note {"text":"c"}>
            user: <w1! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w2! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.> + <w3! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.>
            user: again
            model: Better.
            misfits: 2
        "#]],
    );
    check(
        "user hi
         hole
         crash",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            hole
                notice: records of this session are missing; what could be read was kept, and permissions granted earlier are asked again
              > model 1.1.1
            crash
                turn 1 ended failed (records of this turn are missing from the journal, so nobod…)
              > idle
            ---
            user: hi
            misfits: 1
        "#]],
    );
}

#[test]
fn behind_a_hole_a_call_whose_start_is_missing_has_its_result_and_has_it_once() {
    check(
        "set mode=ask
         user hi
         reply call bash a | call bash b
         hole
         done 0 A
         done 0 B
         deny 1
         reply So be it.",
        expect![[r#"
            set mode=ask
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call bash a | call bash b
              > ask 0 bash (it runs the command `a`), ask 1 bash (it runs the command `b`)
            hole
                notice: records of this session are missing; what could be read was kept, and permissions granted earlier are asked again
              > ask 0 bash (it runs the command `a`), ask 1 bash (it runs the command `b`)
            done 0 A
              > ask 1 bash (it runs the command `b`)
            done 0 B
              > ask 1 bash (it runs the command `b`)
            deny 1
                call 1 failed: The user denied this call.
              > model 1.2.1
            reply So be it.
                turn 1 ended done: So be it.
              > idle
            ---
            user: hi
            model: <w1 bash {"command":"a"}> + <w2 bash {"command":"b"}>
            user: <w1 = A> + <w2! = The user denied this call.>
            model: So be it.
            misfits: 2
        "#]],
    );
}

/// The calls in the middle of which the process may have died after this.
#[track_caller]
fn check_cut_off(script: &str, expected: &[&str]) {
    let calls = Play::of(script).state.cut_off_calls();
    let shown: Vec<String> = calls
        .iter()
        .map(|call| format!("{} {} {}", call.id, call.name, call.input.get()))
        .collect();
    assert_eq!(shown, expected, "{script}");
}

#[test]
fn what_was_cut_off_is_known_until_a_process_opens_the_session() {
    let begun = "set mode=ask
         user hi
         reply call read a | call bash b | call bash c | call read d
         done 0 A
         allow 1";
    let bash = r#"1.1.1 bash {"command":"b"}"#;
    let read = r#"1.1.3 read {"path":"d"}"#;
    let ask = r#"1.1.2 bash {"command":"c"}"#;
    check_cut_off(begun, &[bash, read]);
    check_cut_off(&format!("{begun}\ndone 1 B"), &[read]);
    // Answered, but they may go on for a moment.
    check_cut_off(&format!("{begun}\ninterrupt"), &[bash, read]);
    check_cut_off(&format!("{begun}\ninterrupt\nuser on\nreply Yes."), &[bash, read]);
    check_cut_off(&format!("{begun}\ninterrupt\ncrash"), &[]);
    check_cut_off(&format!("{begun}\nhold\ncrash"), &[]);
    // It runs again.
    check_cut_off(&format!("{begun}\ncrash"), &[read]);
    // Who knows what is missing.
    check_cut_off(&format!("{begun}\nhole"), &[bash, ask, read]);
    check_cut_off(&format!("{begun}\nhole\ncrash"), &[]);
}

#[test]
fn who_names_a_session_spends_none_of_its_turns_time() {
    check(
        "set wall=5000
         user hi
         tick 1000
         name 9000
         crash 500
         tick 2000
         name 500
         tick 500
         reply Fine.",
        expect![[r#"
            set wall=5000
              > idle
            user hi
                epoch 1 first
              > wall at 5000, model 1.1.1
            tick 1000
              > wall at 5000, model 1.1.1
            name 9000
              > wall at 5000, model 1.1.1
            crash 500
              > wall at 14500, model 1.1.2
            tick 2000
              > wall at 14500, model 1.1.2
            name 500
              > wall at 14500, model 1.1.2
            tick 500
              > wall at 14500, model 1.1.2
            reply Fine.
                turn 1 ended done: Fine.
              > idle
            ---
            user: hi
            model: Fine.
        "#]],
    );
}
