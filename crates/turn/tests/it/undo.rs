//! What a compaction replaced comes back, where it fits.

use expect_test::expect;
use heeler_core::{Entry, Record};
use heeler_turn::State;

use crate::door::{Play, check};

#[test]
fn what_a_summary_replaced_stands_before_what_was_said_since() {
    check(
        "set keep=1
         undo
         user look
         reply I see.
         compact
         undo
         summary We looked.
         user and?
         reply Nothing.
         crash
         undo
         undo
         user again
         reply Still nothing.",
        expect![[r#"
            set keep=1
              > idle
            undo
                no: there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply I see.
                turn 1 ended done: I see.
              > idle
            compact
              > compact manual cut 1
            undo
                no: there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already
              > compact manual cut 1
            summary We looked.
                compacted 1
              > idle
            user and?
                epoch 2 compaction
              > model 2.1.1
            reply Nothing.
                turn 2 ended done: Nothing.
              > idle
            crash
              > idle
            undo
                restored to 4: 43 -> 7
              > idle
            undo
                no: there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already
              > idle
            user again
                epoch 3 compaction
              > model 3.1.1
            reply Still nothing.
                turn 3 ended done: Still nothing.
              > idle
            ---
            user: look
            model: I see.
            user: and?
            model: Nothing.
            user: again
            model: Still nothing.
        "#]],
    );
}

#[test]
fn results_that_were_cut_short_come_back_once_there_is_room() {
    check(
        "set chars=1 context=3000 keep=2
         user look
         reply call read a | read 0
         long 0 2400
         reply call read b | read 0
         long 0 800
         reply Read. | read 0
         undo
         set chars=1 context=9000 keep=2
         measure
         undo
         measure
         user more
         reply More. | read 0",
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
            long 0 800
                pruned 1 results, 2144 characters, 0 items: 3245 -> 1193
                epoch 2 compaction
              > model 1.3.1
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            undo
                no: what was there before does not fit: the next request would have about 3250 tokens and 3000 fit; choose a model with a larger window or a higher context limit
              > idle
            set chars=1 context=9000 keep=2
              > idle
            measure
                1198 of 9000
            undo
                restored to 6: 1198 -> 3250
              > idle
            measure
                3250 of 9000
            user more
                epoch 3 compaction
              > model 2.1.1
            reply More. | read 0
                turn 2 ended done: More.
              > idle
            ---
            user: look
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: Read.
            user: more
            model: More.
        "#]],
    );
}

#[test]
fn what_was_cut_back_without_a_model_comes_back() {
    check(
        "set keep=2 context=3000 chars=1
         user look
         reply call read a | read 0
         long 0 1000
         reply call read b | read 0
         long 0 2100
         no summary
         reply Read. | read 0
         set keep=2 context=9000 chars=1
         undo",
        expect![[r#"
            set keep=2 context=3000 chars=1
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
            long 0 2100
              > compact automatic cut 3
            no summary
                compaction failed: no summary came
                trimmed to 3: 3145 -> 1233
                epoch 2 compaction
              > model 1.3.1
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            set keep=2 context=9000 chars=1
              > idle
            undo
                restored to 6: 1238 -> 3150
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
fn of_two_summaries_the_last_is_taken_back() {
    check(
        "set keep=1
         user one
         reply One.
         user two
         reply Two.
         compact
         summary First.
         user three
         reply Three.
         compact
         summary Second.
         undo
         undo",
        expect![[r#"
            set keep=1
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply One.
                turn 1 ended done: One.
              > idle
            user two
              > model 2.1.1
            reply Two.
                turn 2 ended done: Two.
              > idle
            compact
              > compact manual cut 3
            summary First.
                compacted 3
              > idle
            user three
                epoch 2 compaction
              > model 3.1.1
            reply Three.
                turn 3 ended done: Three.
              > idle
            compact
              > compact manual cut 3
            summary Second.
                compacted 3
              > idle
            undo
                restored to 4: 39 -> 41
              > idle
            undo
                no: there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nFirst.\n\n[Kept beside the summary, word for word]\nThe user…
            model: Two.
            user: three
            model: Three.
        "#]],
    );
}

#[test]
fn nothing_comes_back_while_a_summary_is_made() {
    check(
        "set keep=1
         user one
         reply One.
         compact
         summary First.
         user two
         reply Two.
         compact
         undo
         no summary
         undo",
        expect![[r#"
            set keep=1
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply One.
                turn 1 ended done: One.
              > idle
            compact
              > compact manual cut 1
            summary First.
                compacted 1
              > idle
            user two
                epoch 2 compaction
              > model 2.1.1
            reply Two.
                turn 2 ended done: Two.
              > idle
            compact
              > compact manual cut 3
            undo
                no: there is nothing to bring back: nothing was summarized or cut short here, or the last of it was brought back already
              > compact manual cut 3
            no summary
                compaction failed: no summary came
              > idle
            undo
                restored to 4: 40 -> 5
              > idle
            ---
            user: one
            model: One.
            user: two
            model: Two.
        "#]],
    );
}

#[test]
fn a_record_of_it_without_anything_to_bring_back_is_a_misfit() {
    let mut state = State::new();
    let at = heeler_core::Timestamp(1);
    state.apply(&Entry { seq: 1, at, record: Record::Restored });
    assert_eq!((state.misfits, state.history.len()), (1, 0));
}

#[test]
fn a_turn_without_words_ends_where_the_model_spoke_last() {
    check(
        "set keep=0
         user look
         reply I see.
         compact
         summary We looked.
         user
         undo
         user again",
        expect![[r#"
            set keep=0
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply I see.
                turn 1 ended done: I see.
              > idle
            compact
              > compact manual cut 2
            summary We looked.
                compacted 2
              > idle
            user
                epoch 2 compaction
              > model 2.1.1
            undo
                restored to 2: 38 -> 4
                turn 2 ended failed (nothing was said, so there is nothing to answer; write some…)
              > idle
            user again
                epoch 3 compaction
              > model 3.1.1
            ---
            user: look
            model: I see.
            user: again
        "#]],
    );
}

#[test]
fn what_waits_needs_room_too() {
    let mut play = Play::of(
        "set chars=1 context=4000 keep=1 automatic=no
         large 1500
         reply seen | read 0
         compact
         summary S
         user and?",
    );
    assert_eq!(play.state.undo_compaction(), Ok(Record::Restored));
    play.line(&format!("steer s1 {}", "x".repeat(2600)));
    assert!(play.state.undo_compaction().is_err());
}

#[test]
fn an_answer_that_paused_goes_on() {
    let script = "set keep=0\nuser look\nreply I see.\ncompact\nsummary We looked.\nuser and?";
    let mut play = Play::of(&format!("{script}\nhold\nreply I searched half. | stop pause"));
    let due = play.state.pending();
    play.line("undo");
    let due: Vec<_> = due.into_iter().map(|effect| effect.id).collect();
    assert!(play.state.turn.is_some());
    play.line("go");
    assert_eq!(play.state.pending()[0].id, due[0]);
}

#[test]
fn it_counts_as_what_it_takes_back_does() {
    let mut play = Play::of(
        "set chars=1 context=3000 keep=2
         user look
         reply call read a | read 0
         long 0 2400
         reply call read b | read 0
         long 0 800
         reply Read. | read 0",
    );
    assert_eq!(play.state.compactions, 1);
    play.line("set chars=1 context=9000 keep=2");
    play.line("undo");
    assert_eq!(play.state.compactions, 2);
}
