//! Compaction: when the head becomes a summary, and what waits for it.

use expect_test::expect;
use heeler_core::{Compacted, Cost, Record, Usage};

use crate::door::{Play, check};

#[test]
fn it_comes_before_a_request_that_would_not_fit_also_after_large_results() {
    check(
        "set context=3000 keep=2 chars=1
         user look
         measure
         reply call read a
         long 0 1000
         measure
         reply call read b | read 1029
         long 0 2100
         measure
         summary The file was read.
         measure
         reply Read.",
        expect![[r#"
            set context=3000 keep=2 chars=1
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            measure
                13 of 3000
            reply call read a
              > run 0 read [mode bypass]
            long 0 1000
              > model 1.2.1
            measure
                1029 of 3000
            reply call read b | read 1029
              > run 0 read [mode bypass]
            long 0 2100
              > compact automatic cut 3
            measure
                3145 of 3000, over
            summary The file was read.
                compacted 3
                epoch 2 compaction
              > model 1.3.1
            measure
                2279 of 3000
            reply Read.
                turn 1 ended done: Read.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThe file was read.\n\n[Kept beside the summary, word for wo…
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: Read.
        "#]],
    );
}

#[test]
fn one_that_fails_is_not_tried_again_before_the_next_reply_nor_after_two() {
    check(
        "set keep=2 context=3000 chars=1
         user look
         reply call read a | read 0
         long 0 1000
         reply call read b | read 0
         long 0 2100
         no summary
         measure
         reply call read c | read 0
         long 0 1900
         no summary
         measure
         reply call read d | read 0
         long 0 2500
         measure
         reply That is all. | read 0",
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
            measure
                1233 of 3000
            reply call read c | read 0
              > run 0 read [mode bypass]
            long 0 1900
              > compact automatic cut 3
            no summary
                compaction failed: no summary came
                trimmed to 3: 3149 -> 2068
                epoch 3 compaction
              > model 1.4.1
            measure
                2068 of 3000
            reply call read d | read 0
              > run 0 read [mode bypass]
            long 0 2500
                trimmed to 3: 4584 -> 1233
                epoch 4 compaction
              > model 1.5.1
            measure
                1233 of 3000
            reply That is all. | read 0
                turn 1 ended done: That is all.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            model: <w4 read {"path":"d"}>
            user: <w4 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: That is all.
        "#]],
    );
}

#[test]
fn a_provider_that_can_answer_nothing_costs_no_messages() {
    for (kind, is_kept) in [
        ("auth", true),
        ("billing", true),
        ("rate_limit", true),
        ("overloaded", true),
        ("network", true),
        ("unknown_model", true),
        // These may be about the one request: what is left may do.
        ("server", false),
        ("invalid_request", false),
        ("context_overflow", false),
    ] {
        let play = Play::of(&format!(
            "set context=3000 keep=2 chars=1
             user look
             reply call read a | read 0
             long 0 1000
             reply call read b | read 0
             long 0 2100
             no summary {kind}"
        ));
        let shown = play.shown();
        assert_eq!(!shown.contains("trimmed to"), is_kept, "{shown}");
        assert_eq!(shown.contains("turn 1 ended"), is_kept, "{shown}");
        assert_eq!(shown.contains("model 1.3.1"), !is_kept, "{shown}");
    }
}

#[test]
fn by_hand_while_nothing_runs() {
    check(
        "set keep=2
         user one
         reply two
         user three
         reply four
         compact
         summary They counted to two.
         user five
         reply six",
        expect![[r#"
            set keep=2
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            reply four
                turn 2 ended done: four
              > idle
            compact
              > compact manual cut 2
            summary They counted to two.
                compacted 2
              > idle
            user five
                epoch 2 compaction
              > model 3.1.1
            reply six
                turn 3 ended done: six
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted to two.
            user: three
            model: four
            user: five
            model: six
        "#]],
    );
}

#[test]
fn by_hand_while_the_model_answers_it_comes_after_the_batch() {
    check(
        "set keep=1
         user one
         reply two
         user three
         compact
         reply call read a
         done 0 A
         summary They counted.
         reply four",
        expect![[r#"
            set keep=1
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            compact
              > model 2.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
              > compact manual cut 2
            summary They counted.
                compacted 2
                epoch 2 compaction
              > model 2.2.1
            reply four
                turn 2 ended done: four
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted.
            user: three
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: four
        "#]],
    );
}

#[test]
fn by_hand_during_the_last_answer_it_comes_after_the_turn() {
    check(
        "set keep=1
         user one
         reply two
         user three
         compact
         reply four
         summary They counted.
         user five
         reply six",
        expect![[r#"
            set keep=1
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            user three
              > model 2.1.1
            compact
              > model 2.1.1
            reply four
                turn 2 ended done: four
              > compact manual cut 2
            summary They counted.
                compacted 2
              > idle
            user five
                epoch 2 compaction
              > model 3.1.1
            reply six
                turn 3 ended done: six
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted.
            user: three
            model: four
            user: five
            model: six
        "#]],
    );
}

#[test]
fn an_input_during_one_waits_for_it() {
    check(
        "set keep=1
         user one
         reply two
         compact
         user three
         summary They counted.
         reply four",
        expect![[r#"
            set keep=1
              > idle
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            compact
              > compact manual cut 1
            user three
              > compact manual cut 1
            summary They counted.
                compacted 1
                epoch 2 compaction
              > model 2.1.1
            reply four
                turn 2 ended done: four
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey counted.
            model: two
            user: three
            model: four
        "#]],
    );
}

#[test]
fn eight_messages_stay_unless_somebody_says_otherwise() {
    check(
        "user 1
         reply 2
         user 3
         reply 4
         user 5
         reply 6
         user 7
         reply 8
         user 9
         reply 10
         compact
         summary Counting.",
        expect![[r#"
            user 1
                epoch 1 first
              > model 1.1.1
            reply 2
                turn 1 ended done: 2
              > idle
            user 3
              > model 2.1.1
            reply 4
                turn 2 ended done: 4
              > idle
            user 5
              > model 3.1.1
            reply 6
                turn 3 ended done: 6
              > idle
            user 7
              > model 4.1.1
            reply 8
                turn 4 ended done: 8
              > idle
            user 9
              > model 5.1.1
            reply 10
                turn 5 ended done: 10
              > idle
            compact
              > compact manual cut 2
            summary Counting.
                compacted 2
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nCounting.
            user: 3
            model: 4
            user: 5
            model: 6
            user: 7
            model: 8
            user: 9
            model: 10
        "#]],
    );
}

#[test]
fn a_cut_that_would_part_a_call_from_its_result_is_refused() {
    use heeler_core::{CompactionCause, CompactionStarted};

    let script = "user one\nreply call read a\ndone 0 A\nreply call read b";
    for (cut, fits) in [(0, false), (1, true), (2, false), (3, true), (4, false), (5, false)] {
        let mut play = crate::door::Play::of(script);
        let cause = CompactionCause::Manual;
        play.write(Record::CompactionStarted(CompactionStarted { cut, cause, focus: None }));
        assert_eq!(play.state.compaction.is_some(), fits, "cut {cut}");
    }
}

#[test]
fn a_record_of_before_gives_the_message_it_gave_then() {
    use heeler_core::Kept;

    let kept = Kept { said_chars_max: 9, steps_max: 9, files_max: 9 };
    let beside = "S\n\n[Kept beside the summary, word for word]\nThe user's last message:\n> a";
    for (kept, summary) in [(None, "S"), (Some(kept), beside)] {
        let mut play = crate::door::Play::of("set keep=1\nuser a\nreply b\ncompact");
        let (usage, cost) = (Usage::default(), None);
        let compacted = Compacted { summary: "S".into(), usage, cost, kept };
        play.write(Record::Compacted(Box::new(compacted)));
        let first = play.state.history.messages().first().unwrap();
        assert_eq!(**first, heeler_turn::compact::summary_message(summary));
    }
}

#[test]
fn a_compaction_that_died_keeps_what_it_is_to_look_at() {
    let focus = |play: &crate::door::Play| match &play.state.pending()[0].kind {
        heeler_core::EffectKind::Compact { focus, .. } => focus.as_deref().map(str::to_owned),
        other => panic!("{other:?}"),
    };
    let mut play = crate::door::Play::of("set keep=1\nuser a\nreply b\ncompact the tests");
    assert_eq!(focus(&play).as_deref(), Some("the tests"));
    play.line("crash");
    assert_eq!(focus(&play).as_deref(), Some("the tests"));
}

#[test]
fn each_compaction_is_an_effect_of_its_own() {
    use heeler_core::EffectId;

    let mut play = crate::door::Play::of("set keep=1\nuser a\nreply b\nuser c\nreply d\ncompact");
    let due = |play: &crate::door::Play| play.state.pending()[0].id;
    assert_eq!(due(&play), EffectId::Compact(1));
    ["summary S", "user e", "reply f", "compact"].iter().for_each(|line| play.line(line));
    assert_eq!(due(&play), EffectId::Compact(2));
}

#[test]
fn one_that_somebody_wants_is_taken_however_long_it_is() {
    let play = crate::door::Play::of("set chars=1 context=1000 keep=1\nuser a\nreply b\ncompact");
    let (summary, usage, cost) = ("z".repeat(3000), Usage::default(), None);
    let judged = play.state.judge_summary(Compacted { summary, usage, cost, kept: None });
    let Record::Compacted(compacted) = judged else { panic!("{judged:?}") };
    assert!(compacted.kept.is_some(), "it says how much stands beside it");
}

#[test]
fn what_an_epoch_reads_again_is_counted_with_its_first_answer() {
    let mut play = crate::door::Play::of("set keep=1\nuser a\nreply b\ncompact\nsummary S");
    for (line, tokens) in [("user c", 0), ("reply d", 100), ("user e", 100), ("reply f", 100)] {
        play.line(line);
        assert_eq!(play.state.reread.tokens, tokens, "{line}");
    }
}

#[test]
fn a_summary_has_room_for_what_its_request_leaves_of_the_context() {
    let room = |context: u64, focus: Option<&str>| {
        let said = "user look\nreply Seen.\nuser more\nreply Done.";
        let play = Play::of(&format!("set context={context} keep=2 chars=1\n{said}"));
        play.state.summary_room(2, focus)
    };
    let most = room(40_000, None);
    assert!((2..40_000).contains(&most), "{most}");
    assert_eq!(room(50_000, None), most + 10_000);
    let with_focus = room(40_000, Some(&"y".repeat(1_000)));
    assert!(with_focus <= most - 1_000, "{with_focus} of {most}");
}

#[test]
fn what_a_summary_cost_that_is_not_taken_is_told() {
    let play = Play::of(
        "set context=3000 keep=2 chars=1
         user look
         reply call read a
         long 0 1000
         reply call read b | read 1029
         long 0 2100",
    );
    let usage = Usage { input: 10, output: 5, ..Usage::default() };
    for summary in [String::new(), "z".repeat(5000)] {
        let cost = Some(Cost(3));
        let judged = play.state.judge_summary(Compacted { summary, usage, cost, kept: None });
        let Record::CompactionFailed(failed) = judged else { panic!("{judged:?}") };
        assert_eq!((failed.usage, failed.cost), (usage, cost), "{}", failed.error);
    }
}
