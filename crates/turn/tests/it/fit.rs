//! A request that would not fit, and the bounds of what is done about it.

use expect_test::expect;

use crate::door::{Play, check};

#[test]
fn an_input_too_large_by_itself_ends_its_turn_and_the_session_goes_on() {
    check(
        "set chars=1 context=2000
         large 3000
         user a smaller one
         reply Fine. | read 0",
        expect![[r#"
            set chars=1 context=2000
              > idle
            large 3000
                epoch 1 first
                turn 1 ended failed (the next request has about 3009 tokens and 2000 fit, and le…)
              > idle
            user a smaller one
                trimmed to 2: 3022 -> 1226
                epoch 2 compaction
              > model 2.1.1
            reply Fine. | read 0
                turn 2 ended done: Fine.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            user: a smaller one
            model: Fine.
        "#]],
    );
}

#[test]
fn a_prompt_too_large_for_anything_ends_every_turn_and_asks_nobody() {
    check(
        "set chars=1 context=8
         user hi
         user hello",
        expect![[r#"
            set chars=1 context=8
              > idle
            user hi
                epoch 1 first
                turn 1 ended failed (the next request has about 11 tokens and 8 fit, and leaving…)
              > idle
            user hello
                turn 2 ended failed (the next request has about 16 tokens and 8 fit, and leaving…)
              > idle
            ---
            user: hi
            user: hello
        "#]],
    );
}

#[test]
fn a_summary_that_gains_too_little_is_refused_and_paid() {
    check(
        "set chars=1 context=2000 keep=1 tokens=20000
         large 1200
         reply two | read 0
         large 900
         verbose 1100
         reply three | read 0",
        expect![[r#"
            set chars=1 context=2000 keep=1 tokens=20000
              > idle
            large 1200
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            large 900
              > compact automatic cut 2
            verbose 1100
                compaction failed: the summary gains too little: 2112 tokens before it, 2071 with it
                trimmed to 2: 2112 -> 1217
                epoch 2 compaction
              > model 2.1.1
            reply three | read 0
                turn 2 ended done: three
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            model: three
        "#]],
    );
}

#[test]
fn a_head_that_is_hardly_worth_a_summary_is_not_summarized() {
    check(
        "set chars=1 context=2000 keep=2
         user one
         reply call read a | read 0
         long 0 2500
         reply two | read 0",
        expect![[r#"
            set chars=1 context=2000 keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            long 0 2500
                trimmed to 3: 2528 -> 1232
                epoch 2 compaction
              > model 1.2.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: two
        "#]],
    );
}

#[test]
fn a_provider_that_finds_everything_too_long_is_asked_three_times() {
    check(
        "set chars=1 keep=1
         large 4000
         reply two | read 0
         large 4000
         reply three | read 0
         user four
         lost context_overflow
         verbose 3000
         lost context_overflow
         lost context_overflow
         user five
         reply six | read 0",
        expect![[r#"
            set chars=1 keep=1
              > idle
            large 4000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            large 4000
              > model 2.1.1
            reply three | read 0
                turn 2 ended done: three
              > idle
            user four
              > model 3.1.1
            lost context_overflow
                attempt 1 failed contextoverflow, again in 0
              > compact automatic cut 4
            verbose 3000
                compacted 4
                epoch 2 compaction
              > model 3.1.2
            lost context_overflow
                attempt 2 failed contextoverflow, again in 0
                trimmed to 2: 3075 -> 1225
                epoch 3 compaction
              > model 3.1.3
            lost context_overflow
                attempt 3 failed contextoverflow, for good
                turn 3 ended provider failed contextoverflow
              > idle
            user five
              > model 4.1.1
            reply six | read 0
                turn 4 ended done: six
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nA summary…
            user: four
            user: five
            model: six
        "#]],
    );
}

#[test]
fn a_cut_is_the_same_after_a_crash_and_waiting_words_come_after_it() {
    check(
        "set chars=1 context=2000 keep=2
         user one
         reply call read a | read 0
         steer s1 and hurry
         hold
         long 0 2500
         crash
         step
         crash
         go
         crash
         reply two | read 0",
        expect![[r#"
            set chars=1 context=2000 keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            steer s1 and hurry
                queued s1
              > run 0 read [mode bypass]
            hold
              > run 0 read [mode bypass]
            long 0 2500
              > trim cut 1
            crash
              > trim cut 1
            step
                trimmed to 3: 2528 -> 1232
              > epoch compaction
            crash
              > epoch compaction
            go
                epoch 2 compaction
                delivered s1
              > model 1.2.1
            crash
              > model 1.2.2
            reply two | read 0
                turn 1 ended done: two
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            user: and hurry
            model: two
        "#]],
    );
}

#[test]
fn where_it_is_enough_that_old_results_are_short_no_model_is_asked() {
    check(
        "set chars=1 context=3000 keep=2
         user look
         reply call read a | read 0
         long 0 2400
         reply call read b | read 0
         steer s1 and hurry
         hold
         long 0 800
         crash
         step
         crash
         go
         reply Read. | read 0",
        expect![[r#"
            set chars=1 context=3000 keep=2
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            long 0 2400
              > model 1.2.1
            reply call read b | read 0
              > run 0 read [mode bypass]
            steer s1 and hurry
                queued s1
              > run 0 read [mode bypass]
            hold
              > run 0 read [mode bypass]
            long 0 800
              > prune to 256
            crash
              > prune to 256
            step
                pruned 1 results, 2144 characters, 0 items: 3245 -> 1193
              > epoch compaction
            crash
              > epoch compaction
            go
                epoch 2 compaction
                delivered s1
              > model 1.3.1
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            ---
            user: look
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            user: and hurry
            model: Read.
        "#]],
    );
}

#[test]
fn where_that_is_not_enough_a_summary_is_asked_for_with_all_there_is() {
    check(
        "set chars=1 context=3000 keep=2
         user look
         reply call read a | read 0
         long 0 1000
         reply call read b | read 0
         long 0 2400
         summary Both were read.
         reply Read. | read 0",
        expect![[r#"
            set chars=1 context=3000 keep=2
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            long 0 1000
              > model 1.2.1
            reply call read b | read 0
              > run 0 read [mode bypass]
            long 0 2400
              > compact automatic cut 3
            summary Both were read.
                compacted 3
                epoch 2 compaction
              > model 1.3.1
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nBoth were read.\n\n[Kept beside the summary, word for word]…
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: Read.
        "#]],
    );
}

#[test]
fn what_a_provider_finds_too_long_is_cut_short_where_old_results_are() {
    check(
        "set chars=1 keep=2
         user look
         reply call read a | read 0
         long 0 2400
         reply call read b | read 0
         long 0 800
         lost context_overflow
         reply Read. | read 0",
        expect![[r#"
            set chars=1 keep=2
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            long 0 2400
              > model 1.2.1
            reply call read b | read 0
              > run 0 read [mode bypass]
            long 0 800
              > model 1.3.1
            lost context_overflow
                attempt 1 failed contextoverflow, again in 0
                pruned 1 results, 2144 characters, 0 items: 3245 -> 1193
                epoch 2 compaction
              > model 1.3.2
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            ---
            user: look
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: Read.
        "#]],
    );
}

#[test]
fn what_a_provider_finds_too_long_may_stay_longer_than_half_when_nothing_more_can_go() {
    check(
        "set chars=1 keep=1
         large 1000
         reply two | read 0
         large 2000
         lost context_overflow
         no summary
         reply three | read 0",
        expect![[r#"
            set chars=1 keep=1
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            large 2000
              > model 2.1.1
            lost context_overflow
                attempt 1 failed contextoverflow, again in 0
              > compact automatic cut 2
            no summary
                compaction failed: no summary came
                trimmed to 2: 3012 -> 2316
                epoch 2 compaction
              > model 2.1.2
            reply three | read 0
                turn 2 ended done: three
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            model: three
        "#]],
    );
}

#[test]
fn what_waits_to_be_said_needs_room_too() {
    check(
        &format!(
            "set chars=1 context=2000 keep=2
             user one
             reply call read a | read 0
             steer s1 {}
             long 0 2500",
            "s".repeat(500)
        ),
        expect![[r#"
            set chars=1 context=2000 keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            steer s1 ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss
                queued s1
              > run 0 read [mode bypass]
            long 0 2500
                trimmed to 3: 2528 -> 720
                epoch 2 compaction
                delivered s1
              > model 1.2.1
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            user: sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss…
        "#]],
    );
}

#[test]
fn without_automatic_compaction_a_request_is_sent_as_it_is() {
    check(
        "set chars=1 context=2000 automatic=no
         large 3000
         reply two | read 0",
        expect![[r#"
            set chars=1 context=2000 automatic=no
              > idle
            large 3000
                epoch 1 first
              > model 1.1.1
            reply two | read 0
                turn 1 ended done: two
              > idle
            ---
            user: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
            model: two
        "#]],
    );
}

#[test]
fn a_request_as_large_as_the_limit_fits_and_one_token_more_does_not() {
    check(
        "set chars=1 context=11
         user hi
         measure
         reply hello | read 0",
        expect![[r#"
            set chars=1 context=11
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            measure
                11 of 11
            reply hello | read 0
                turn 1 ended done: hello
              > idle
            ---
            user: hi
            model: hello
        "#]],
    );
    check(
        "set chars=1 context=10
         user hi
         measure",
        expect![[r#"
            set chars=1 context=10
              > idle
            user hi
                epoch 1 first
                turn 1 ended failed (the next request has about 11 tokens and 10 fit, and leavin…)
              > idle
            measure
                11 of 10, over
            ---
            user: hi
        "#]],
    );
}

#[test]
fn cut_back_counts_as_compacted() {
    let play = Play::of(
        "set chars=1 context=2000
         user one
         reply call read a | read 0
         long 0 2500
         reply two | read 0",
    );
    assert_eq!((play.state.compactions, play.shown().matches("trimmed").count()), (1, 1));
}
