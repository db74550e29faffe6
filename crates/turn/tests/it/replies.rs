//! What the model says, and how a turn ends by it.

use expect_test::expect;

use crate::door::check;

#[test]
fn a_question_and_its_answer() {
    check(
        "user hello
         reply Hi there.",
        expect![[r#"
            user hello
                epoch 1 first
              > model 1.1.1
            reply Hi there.
                turn 1 ended done: Hi there.
              > idle
            ---
            user: hello
            model: Hi there.
        "#]],
    );
}

#[test]
fn a_text_with_a_call_goes_on_with_the_result() {
    check(
        "user what is in a?
         reply think Hm. | I will look. | call read a | stop tool_use
         done 0 forty-two
         reply It says forty-two.
         user thanks
         reply Any time.",
        expect![[r#"
            user what is in a?
                epoch 1 first
              > model 1.1.1
            reply think Hm. | I will look. | call read a | stop tool_use
              > run 0 read [mode bypass]
            done 0 forty-two
              > model 1.2.1
            reply It says forty-two.
                turn 1 ended done: It says forty-two.
              > idle
            user thanks
              > model 2.1.1
            reply Any time.
                turn 2 ended done: Any time.
              > idle
            ---
            user: what is in a?
            model: (Hm.) + I will look. + <w1 read {"path":"a"}>
            user: <w1 = forty-two>
            model: It says forty-two.
            user: thanks
            model: Any time.
        "#]],
    );
}

#[test]
fn a_pause_goes_on_by_itself_and_its_parts_are_one_message() {
    check(
        "user search
         reply I searched half. | stop pause
         reply Now all of it.",
        expect![[r#"
            user search
                epoch 1 first
              > model 1.1.1
            reply I searched half. | stop pause
              > model 1.2.1
            reply Now all of it.
                turn 1 ended done: Now all of it.
              > idle
            ---
            user: search
            model: I searched half.
            model: Now all of it.
        "#]],
    );
}

#[test]
fn every_other_stop_reason_ends_the_turn_in_its_own_way() {
    for (stop, outcome) in [
        ("end_turn", "done"),
        ("tool_use", "done"),
        ("stop_sequence", "done"),
        ("max_tokens", "truncated"),
        ("refusal", "refused"),
        ("content_filter", "refused"),
        ("interrupted", "cancelled"),
        ("something new", "done"),
    ] {
        let play = crate::door::Play::of(&format!("user hi\nreply Well. | stop {stop}"));
        let ended = format!("turn 1 ended {outcome}: Well.");
        assert!(play.shown().contains(&ended), "{stop}: {}", play.shown());
        assert!(play.state.pending().is_empty() && play.state.turn.is_none(), "{stop}");
    }
}

#[test]
fn a_refused_or_interrupted_reply_answers_its_calls_without_running_them() {
    check(
        "user hi
         reply No. | call read a | stop refusal
         user again
         reply call write a | stop interrupted",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply No. | call read a | stop refusal
                call 0 failed: Cancelled before it started; nothing was done.
                turn 1 ended refused
              > idle
            user again
              > model 2.1.1
            reply call write a | stop interrupted
                call 0 failed: Cancelled before it started; nothing was done.
                turn 2 ended cancelled
              > idle
            ---
            user: hi
            model: No. + <w1 read {"path":"a"}>
            user: <w1! = Cancelled before it started; nothing was done.>
            user: again
            model: <w2 write {"path":"a"}>
            user: <w2! = Cancelled before it started; nothing was done.>
        "#]],
    );
}

#[test]
fn an_empty_reply_ends_the_turn_and_leaves_nothing_behind() {
    check(
        "user hi
         reply
         user still there?
         reply think Yes. | Yes.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply
                notice: the model replied with nothing; the turn ends here
                turn 1 ended done
              > idle
            user still there?
              > model 2.1.1
            reply think Yes. | Yes.
                turn 2 ended done: Yes.
              > idle
            ---
            user: hi
            user: still there?
            model: (Yes.) + Yes.
        "#]],
    );
}

#[test]
fn an_empty_pause_does_not_go_on_for_ever() {
    check(
        "user hi
         reply stop pause",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply stop pause
                notice: the model replied with nothing; the turn ends here
                turn 1 ended done
              > idle
            ---
            user: hi
        "#]],
    );
}

#[test]
fn a_truncated_call_is_answered_as_invalid_and_the_whole_one_runs() {
    check(
        "user write it
         reply call read a | broken write | stop max_tokens
         done 0 text of a
         reply I gave up.",
        expect![[r#"
            user write it
                epoch 1 first
              > model 1.1.1
            reply call read a | broken write | stop max_tokens
                call 1 failed: The call was not run: its input was cut off. Send the whole input again.
              > run 0 read [mode bypass]
            done 0 text of a
              > model 1.2.1
            reply I gave up.
                turn 1 ended done: I gave up.
              > idle
            ---
            user: write it
            model: <w1 read {"path":"a"}> + <w2 write {}>
            user: <w1 = text of a> + <w2! = The call was not run: its input was cut off. Send the whole input again.>
            model: I gave up.
        "#]],
    );
}

#[test]
fn repeated_and_empty_ids_become_unique_on_the_wire() {
    check(
        "user look
         reply call read#same a | call read#same b | call read# c
         done 0 A
         done 1 B
         done 2 C
         reply call read#same a | call read#call_1_1_1 a
         done 1 second
         done 0 first
         reply All read.",
        expect![[r#"
            user look
                epoch 1 first
              > model 1.1.1
            reply call read#same a | call read#same b | call read# c
              > run 0 read [mode bypass], run 1 read [mode bypass], run 2 read [mode bypass]
            done 0 A
              > run 1 read [mode bypass], run 2 read [mode bypass]
            done 1 B
              > run 2 read [mode bypass]
            done 2 C
              > model 1.2.1
            reply call read#same a | call read#call_1_1_1 a
              > run 0 read [mode bypass], run 1 read [mode bypass]
            done 1 second
              > run 0 read [mode bypass]
            done 0 first
              > model 1.3.1
            reply All read.
                turn 1 ended done: All read.
              > idle
            ---
            user: look
            model: <same read {"path":"a"}> + <call_1_1_1 read {"path":"b"}> + <call_1_1_2 read {"path":"c"}>
            user: <same = A> + <call_1_1_1 = B> + <call_1_1_2 = C>
            model: <call_1_2_0 read {"path":"a"}> + <call_1_2_1 read {"path":"a"}>
            user: <call_1_2_0 = first> + <call_1_2_1 = second>
            model: All read.
        "#]],
    );
}

#[test]
fn a_terminal_call_ends_the_turn_when_it_succeeds() {
    check(
        "user hi
         reply call finish x
         error 0 not yet
         reply call finish y | call note z
         done 1 noted
         done 0 over
         user next
         reply Yes?",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call finish x
              > run 0 finish [mode bypass]
            error 0 not yet
                call 0 failed: not yet
              > model 1.2.1
            reply call finish y | call note z
              > run 0 finish [mode bypass], run 1 note [mode bypass]
            done 1 noted
              > run 0 finish [mode bypass]
            done 0 over
                turn 1 ended done
              > idle
            user next
              > model 2.1.1
            reply Yes?
                turn 2 ended done: Yes?
              > idle
            ---
            user: hi
            model: <w1 finish {"text":"x"}>
            user: <w1! = not yet>
            model: <w2 finish {"text":"y"}> + <w3 note {"text":"z"}>
            user: <w2 = over> + <w3 = noted>
            user: next
            model: Yes?
        "#]],
    );
}

#[test]
fn a_batch_that_answered_the_user_itself_ends_the_turn() {
    check(
        "user send them
         reply call note a | call note b
         handled 0 sent
         done 1 looked
         reply call note c
         handled 0 sent
         user and now?
         reply Done.",
        expect![[r#"
            user send them
                epoch 1 first
              > model 1.1.1
            reply call note a | call note b
              > run 0 note [mode bypass], run 1 note [mode bypass]
            handled 0 sent
              > run 1 note [mode bypass]
            done 1 looked
              > model 1.2.1
            reply call note c
              > run 0 note [mode bypass]
            handled 0 sent
                turn 1 ended done
              > idle
            user and now?
              > model 2.1.1
            reply Done.
                turn 2 ended done: Done.
              > idle
            ---
            user: send them
            model: <w1 note {"text":"a"}> + <w2 note {"text":"b"}>
            user: <w1 = sent + \n[The user has this answer already; do not give it again.]> + <w2 = looked>
            model: <w3 note {"text":"c"}>
            user: <w3 = sent + \n[The user has this answer already; do not give it again.]>
            user: and now?
            model: Done.
        "#]],
    );
}

#[test]
fn a_message_without_words_cannot_open_a_conversation() {
    check(
        "user
         user hello
         reply Hi.",
        expect![[r#"
            user
                turn 1 ended failed (nothing was said, so there is nothing to answer; write some…)
              > idle
            user hello
                epoch 1 first
              > model 2.1.1
            reply Hi.
                turn 2 ended done: Hi.
              > idle
            ---
            user: hello
            model: Hi.
        "#]],
    );
}
