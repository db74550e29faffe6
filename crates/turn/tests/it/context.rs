//! How much fits, and what starts a new prefix.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use expect_test::expect;
use heeler_core::{Block, Entry, Input, Record, Settings, Timestamp};
use heeler_turn::{CharacterEstimate, State, TokenEstimate, compact};

use crate::door::{Play, check};

#[test]
fn the_limit_itself_still_fits() {
    check(
        "set chars=1 context=1012 keep=1
         large 1000
         reply b | read 0
         user c
         measure
         reply d | read 0
         set context=1011
         measure
         user e",
        expect![[r#"
            set chars=1 context=1012 keep=1
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1
            reply b | read 0
                turn 1 ended done: b
              > idle
            user c
              > model 2.1.1
            measure
                1011 of 1012
            reply d | read 0
                turn 2 ended done: d
              > idle
            set context=1011
              > idle
            measure
                1012 of 1011, over
            user e
                trimmed to 2: 1013 -> 318
                epoch 2 compaction
              > model 3.1.1
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            user: e
        "#]],
    );
}

#[test]
fn the_limit_is_the_window_less_the_output_or_what_was_set_or_180_000() {
    check(
        "measure
         set output=1000 window=200000
         measure
         set output=300000
         measure
         set context=5000
         measure",
        expect![[r#"
            measure
                0 of 180000
            set output=1000 window=200000
              > idle
            measure
                0 of 199000
            set output=300000
              > idle
            measure
                0 of 1
            set context=5000
              > idle
            measure
                0 of 5000
            ---
        "#]],
    );
}

#[test]
fn another_model_or_other_parameters_start_an_epoch_and_limits_do_not() {
    check(
        "user one
         reply two
         set rounds=7 context=9000
         user three
         reply four
         set model=test/other
         user five
         reply six",
        expect![[r#"
            user one
                epoch 1 first
              > model 1.1.1
            reply two
                turn 1 ended done: two
              > idle
            set rounds=7 context=9000
              > idle
            user three
              > model 2.1.1
            reply four
                turn 2 ended done: four
              > idle
            set model=test/other
              > idle
            user five
                epoch 2 model
              > model 3.1.1
            reply six
                turn 3 ended done: six
              > idle
            ---
            user: one
            model: two
            user: three
            model: four
            user: five
            model: six
        "#]],
    );
}

/// Counts words, as a real tokenizer might.
struct Words;

impl TokenEstimate for Words {
    fn weigh(&self, text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn tokens(&self, weight: u64) -> u64 {
        weight
    }

    fn weight(&self, tokens: u64) -> u64 {
        tokens
    }
}

#[test]
fn a_real_tokenizer_replaces_the_estimate() {
    let mut state = State::with_estimate(Arc::new(Words));
    let mut settings = Settings::default();
    settings.estimate.chars_per_token = 1;
    let records = [
        Record::SettingsChanged(Box::new(settings)),
        Record::Input(Box::new(Input::text("three little words"))),
    ];
    for (seq, record) in (1..).zip(records) {
        state.apply(&Entry { seq, at: Timestamp(0), record });
    }
    assert_eq!(state.estimate(), 3);
    let mut history = state.history.clone();
    history.set_estimate(Arc::new(CharacterEstimate::new(4)));
    assert_eq!((history.weight(), state.history.weight()), (18, 3));
}

/// Counts how often what asks for a summary is weighed: once for each cut that is tried.
#[derive(Default)]
struct Tried(AtomicU64);

impl TokenEstimate for Tried {
    fn weigh(&self, text: &str) -> u64 {
        self.0.fetch_add(u64::from(text == compact::INSTRUCTION), Ordering::Relaxed);
        text.len() as u64
    }

    fn tokens(&self, weight: u64) -> u64 {
        weight
    }

    fn weight(&self, tokens: u64) -> u64 {
        tokens
    }
}

#[test]
fn of_a_long_conversation_few_cuts_are_tried() {
    let tried = Arc::new(Tried::default());
    let mut state = State::with_estimate(Arc::clone(&tried) as Arc<dyn TokenEstimate>);
    for _ in 0..5_000 {
        state.history.push_user(vec![Block::text("a")]);
        state.history.push_assistant(&[Block::text("b")], |_| String::new());
    }
    state.settings.estimate.context_limit = Some(1_000 + compact::INSTRUCTION.len() as u64);
    assert_eq!(state.compaction_cut(None), Some(1_000));
    assert!(tried.0.load(Ordering::Relaxed) <= 14);
}

#[test]
fn the_breakdown_says_where_the_tokens_are() {
    let mut play = Play::of("set chars=1\nuser hello\nreply Hi. | call read a");
    let before = play.state.breakdown();
    assert_eq!((before.system, before.tools, before.messages), (9, 0, 5 + 3 + 4 + 12));
    assert_eq!((before.last_user_text, before.last_user_results), (5, 0));
    play.line("done 0 12345678");
    let after = play.state.breakdown();
    assert_eq!((after.last_user_text, after.last_user_results), (0, 8));
    assert_eq!((after.total(), play.state.estimate()), (41, 41));
}

#[test]
fn steering_that_would_not_fit_is_preceded_by_a_compaction() {
    check(
        "set chars=1 context=2710 keep=2
         large 2000
         reply second | read 0
         user third
         reply call read a | read 0
         steer s1 a rather long wish
         long 0 660
         summary S",
        expect![[r#"
            set chars=1 context=2710 keep=2
              > idle
            large 2000
                epoch 1 first
              > model 1.1.1
            reply second | read 0
                turn 1 ended done: second
              > idle
            user third
              > model 2.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            steer s1 a rather long wish
                queued s1
              > run 0 read [mode bypass]
            long 0 660
              > compact automatic cut 3
            summary S
                compacted 3
                epoch 2 compaction
                delivered s1
              > model 2.2.1
            ---
            user: [Earlier conversation summary — treat as background context]\n\nS\n\n[Kept beside the summary, word for word]\nThe user's la…
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            user: a rather long wish
        "#]],
    );
}

#[test]
fn the_estimate_follows_what_the_models_own_calls_counted() {
    check(
        "set chars=1 keep=2
         user look
         reply call read a | read 31
         long 0 87
         measure
         reply call read b | read 224
         measure
         long 0 100
         measure
         reply Read. | read 428
         measure
         compact
         summary It says x.
         measure
         set automatic=no
         crash
         measure
         set chars=2
         measure",
        expect![[r#"
            set chars=1 keep=2
              > idle
            user look
                epoch 1 first
              > model 1.1.1
            reply call read a | read 31
              > run 0 read [mode bypass]
            long 0 87
              > model 1.2.1
            measure
                116 of 180000
            reply call read b | read 224
              > run 0 read [mode bypass]
            measure
                255 of 180000
            long 0 100
              > model 1.3.1
            measure
                448 of 180000
            reply Read. | read 428
                turn 1 ended done: Read.
              > idle
            measure
                453 of 180000
            compact
              > compact manual cut 3
            summary It says x.
                compacted 3
              > idle
            measure
                528 of 180000
            set automatic=no
              > idle
            crash
              > idle
            measure
                528 of 180000
            set chars=2
              > idle
            measure
                138 of 180000
            ---
            user: [Earlier conversation summary — treat as background context]\n\nIt says x.\n\n[Kept beside the summary, word for word]\nThe …
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>
            model: Read.
        "#]],
    );
}
