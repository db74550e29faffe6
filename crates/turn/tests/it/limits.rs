//! Limits: each ends the turn with a valid history and says which it was; 0 means none.

use expect_test::expect;
use heeler_core::{Block, Entry, Event, LimitKind, Limits, Record, ThinkingSettings, Usage};
use heeler_turn::state::Announcer;

use crate::door::{Play, check};

#[test]
fn rounds() {
    check(
        "set rounds=2
         user hi
         reply call read a
         done 0 A
         reply call read b
         done 0 B
         user go on
         reply Thank you.",
        expect![[r#"
            set rounds=2
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1
            reply call read b
              > run 0 read [mode bypass]
            done 0 B
                turn 1 ended at its limit of rounds
              > idle
            user go on
              > model 2.1.1
            reply Thank you.
                turn 2 ended done: Thank you.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: <w2 read {"path":"b"}>
            user: <w2 = B>
            user: go on
            model: Thank you.
        "#]],
    );
}

#[test]
fn calls() {
    check(
        "set calls=2
         user hi
         reply call read a
         done 0 A
         reply call read b | call read c | call read d
         done 0 B",
        expect![[r#"
            set calls=2
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1
            reply call read b | call read c | call read d
                call 1 failed: Not run: the turn's limit of tool calls is reached.
                call 2 failed: Not run: the turn's limit of tool calls is reached.
              > run 0 read [mode bypass]
            done 0 B
                turn 1 ended at its limit of tool calls
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: <w2 read {"path":"b"}> + <w3 read {"path":"c"}> + <w4 read {"path":"d"}>
            user: <w2 = B> + <w3! = Not run: the turn's limit of tool calls is reached.> + <w4! = Not run: the turn's limit of tool calls is reached.>
        "#]],
    );
}

#[test]
fn tokens_shrink_the_output_limit_before_they_end_the_turn() {
    check(
        "set tokens=1000 output=500
         user hi
         reply call read a | used 400
         done 0 A
         reply call read b | used 150
         done 0 B",
        expect![[r#"
            set tokens=1000 output=500
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | used 400
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1 max 493
            reply call read b | used 150
              > run 0 read [mode bypass]
            done 0 B
                turn 1 ended at its limit of tokens
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: <w2 read {"path":"b"}>
            user: <w2 = B>
        "#]],
    );
}

#[test]
fn cost_shrinks_the_output_limit_before_it_ends_the_turn() {
    check(
        "set cost=60000 price=100 output=500
         user hi
         reply call read a | cost 20000
         done 0 A
         reply call read b | cost 20000
         done 0 B",
        expect![[r#"
            set cost=60000 price=100 output=500
              > idle
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a | cost 20000
              > run 0 read [mode bypass]
            done 0 A
              > model 1.2.1 max 393
            reply call read b | cost 20000
              > run 0 read [mode bypass]
            done 0 B
                turn 1 ended at its limit of cost
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            model: <w2 read {"path":"b"}>
            user: <w2 = B>
        "#]],
    );
}

#[test]
fn a_budget_that_no_request_fits_ends_every_turn_at_once() {
    check(
        "set tokens=100
         user hi
         user hello?
         steer s1 and now?",
        expect![[r#"
            set tokens=100
              > idle
            user hi
                epoch 1 first
                turn 1 ended at its limit of tokens
              > idle
            user hello?
                turn 2 ended at its limit of tokens
              > idle
            steer s1 and now?
                queued s1
                delivered s1
                turn 3 ended at its limit of tokens
              > idle
            ---
            user: hi
            user: hello?
            user: and now?
        "#]],
    );
}

#[test]
fn a_queue_opens_a_turn_with_a_budget_of_its_own() {
    check(
        "set tokens=700
         user hi
         steer s1 also this
         reply call read a | used 500
         done 0 A
         steer s2 and that",
        expect![[r#"
            set tokens=700
              > idle
            user hi
                epoch 1 first
              > model 1.1.1 max 698
            steer s1 also this
                queued s1
              > model 1.1.1 max 698
            reply call read a | used 500
              > run 0 read [mode bypass]
            done 0 A
                turn 1 ended at its limit of tokens
                delivered s1
              > model 2.1.1 max 691
            steer s2 and that
                queued s2
              > model 2.1.1 max 691
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: also this
        "#]],
    );
}

#[test]
fn a_budget_too_small_for_a_summary_cuts_the_conversation_without_one() {
    check(
        "set tokens=4000 context=2000 keep=1 chars=1
         large 1000
         reply An answer. | read 0
         large 1000
         reply call read a | read 0 | used 900
         long 0 1000
         reply Another.",
        expect![[r#"
            set tokens=4000 context=2000 keep=1 chars=1
              > idle
            large 1000
                epoch 1 first
              > model 1.1.1 max 2991
            reply An answer. | read 0
                turn 1 ended done: An answer.
              > idle
            large 1000
                trimmed to 2: 2019 -> 1316
                epoch 2 compaction
              > model 2.1.1 max 2684
            reply call read a | read 0 | used 900
              > run 0 read [mode bypass]
            long 0 1000
                trimmed to 1: 2332 -> 1214
                epoch 3 compaction
              > model 2.2.1 max 1886
            reply Another.
                turn 2 ended done: Another.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\n(Earlier messages were left out to make room.)\n\nWhat the …
            model: Another.
        "#]],
    );
}

#[test]
fn wall_time_counts_while_a_process_lives() {
    check(
        "set wall=5000
         tick 1000
         user hi
         tick 1000
         reply call read a | call bash ls
         tick 2000
         done 0 A
         crash
         wall
         user go on
         tick 1000
         crash 9000
         tick 9000
         reply Fine.",
        expect![[r#"
            set wall=5000
              > idle
            tick 1000
              > idle
            user hi
                epoch 1 first
              > wall at 6000, model 1.1.1
            tick 1000
              > wall at 6000, model 1.1.1
            reply call read a | call bash ls
              > wall at 6000, run 0 read [mode bypass], run 1 bash [mode bypass]
            tick 2000
              > wall at 6000, run 0 read [mode bypass], run 1 bash [mode bypass]
            done 0 A
              > wall at 6000, run 1 bash [mode bypass]
            crash
                call 1 failed: The program died while this call was running, so its outcome is unknown. Check …
              > wall at 6000, model 1.2.1
            wall
                turn 1 ended at its limit of wall time
              > idle
            user go on
              > wall at 9000, model 2.1.1
            tick 1000
              > wall at 9000, model 2.1.1
            crash 9000
              > wall at 18000, model 2.1.2
            tick 9000
              > wall at 18000, model 2.1.2
            reply Fine.
                turn 2 ended done: Fine.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}> + <w2 bash {"command":"ls"}>
            user: <w1 = A> + <w2! = The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.>
            user: go on
            model: Fine.
        "#]],
    );
}

#[test]
fn limits_can_change_while_a_turn_runs() {
    check(
        "user hi
         reply call read a
         set rounds=1
         done 0 A
         set rounds=0
         user go on
         reply call read b
         done 0 B
         reply Fine.",
        expect![[r#"
            user hi
                epoch 1 first
              > model 1.1.1
            reply call read a
              > run 0 read [mode bypass]
            set rounds=1
              > run 0 read [mode bypass]
            done 0 A
                turn 1 ended at its limit of rounds
              > idle
            set rounds=0
              > idle
            user go on
              > model 2.1.1
            reply call read b
              > run 0 read [mode bypass]
            done 0 B
              > model 2.2.1
            reply Fine.
                turn 2 ended done: Fine.
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: go on
            model: <w2 read {"path":"b"}>
            user: <w2 = B>
            model: Fine.
        "#]],
    );
}

#[test]
fn a_free_model_reaches_a_cost_limit_by_its_input_alone() {
    use heeler_core::{Cost, LimitKind, Prices};

    let mut play = Play::of("set cost=50\nuser hi");
    let input_only = Prices { input: 10, output: 0, cache_write: 10, cache_read: 10, long: None };
    play.state.settings.model.prices = Some(input_only);
    let turn = play.state.turn.as_mut().unwrap();
    turn.cost_spent = Cost(49);
    let turn = turn.clone();
    assert_eq!(heeler_turn::limits::reserve(&play.state, &turn), Err(LimitKind::Cost));
}

#[test]
fn without_prices_what_was_charged_reaches_a_cost_limit() {
    use heeler_core::{Cost, LimitKind};

    let mut play = Play::of("set cost=50\nuser hi");
    play.state.settings.model.prices = None;
    let mut spent = |cost| {
        let turn = play.state.turn.as_mut().unwrap();
        turn.cost_spent = Cost(cost);
        let turn = turn.clone();
        heeler_turn::limits::reserve(&play.state, &turn).err()
    };
    assert_eq!((spent(49), spent(50)), (None, Some(LimitKind::Cost)));
}

#[test]
fn what_waits_is_part_of_what_the_next_request_costs() {
    check(
        "set chars=1 tokens=300
         user hi
         reply call read a
         steer s1 and look at the other one, too
         done 0 A",
        expect![[r#"
            set chars=1 tokens=300
              > idle
            user hi
                epoch 1 first
              > model 1.1.1 max 289
            reply call read a
              > run 0 read [mode bypass]
            steer s1 and look at the other one, too
                queued s1
              > run 0 read [mode bypass]
            done 0 A
                turn 1 ended at its limit of tokens
                delivered s1
                turn 2 ended at its limit of tokens
              > idle
            ---
            user: hi
            model: <w1 read {"path":"a"}>
            user: <w1 = A>
            user: and look at the other one, too
        "#]],
    );
}

#[test]
fn new_limits_hold_from_the_next_round_on() {
    let mut play = Play::of("user hi\nreply call read a");
    let limits = Limits { rounds: 1, ..play.state.settings.limits };
    play.write(Record::LimitsChanged(limits));
    assert_eq!(play.state.settings.limits, limits);
    play.line("done 0 A");
    assert!(play.shown().ends_with("turn 1 ended at its limit of rounds\n  > idle\n"));
}

#[test]
fn the_smallest_answer_that_is_worth_asking_for_can_be_the_last() {
    let reserve = |limit: &str, most: u64| {
        let play = Play::of(&format!("hold\nset chars=1 {limit}={most}\nuser hi"));
        let turn = play.state.turn.clone().unwrap();
        heeler_turn::limits::reserve(&play.state, &turn).map(|reserve| reserve.output)
    };
    for limit in ["tokens", "price=1 cost"] {
        let least = (heeler_turn::limits::OUTPUT_TOKENS_MIN..)
            .find(|most| reserve(limit, *most).is_ok())
            .unwrap();
        assert_eq!(reserve(limit, least), Ok(heeler_turn::limits::OUTPUT_TOKENS_MIN), "{limit}");
    }
}

#[test]
fn settings_tell_of_new_limits_and_not_of_old_ones() {
    let play = Play::of("set rounds=9");
    for (rounds, told) in [(9, 0), (8, 1)] {
        let mut settings = play.state.settings.clone();
        settings.limits.rounds = rounds;
        let (seq, at) = (play.state.seq + 1, play.state.now);
        let record = Record::SettingsChanged(Box::new(settings));
        let mut out = Announcer::collecting();
        play.state.clone().apply_announcing(&Entry { seq, at, record }, &mut out);
        let events = out.into_events();
        let n = events.iter().filter(|event| matches!(event, Event::LimitsChanged { .. })).count();
        assert_eq!(n, told, "{rounds}");
    }
}

#[test]
fn calls_within_calls_count_and_too_many_of_them_end_the_turn() {
    check(
        "set calls=5
         user go
         reply call read a | call read b
         played 1 1
         played 0 2
         reply Enough.",
        expect![[r#"
            set calls=5
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call read a | call read b
              > run 0 read [mode bypass], run 1 read [mode bypass]
            played 1 1
              > run 0 read [mode bypass]
            played 0 2
              > model 1.2.1
            reply Enough.
                turn 1 ended done: Enough.
              > idle
            ---
            user: go
            model: <w1 read {"path":"a"}> + <w2 read {"path":"b"}>
            user: <w1 = played> + <w2 = played>
            model: Enough.
        "#]],
    );
    check(
        "set calls=5
         user go
         reply call read a | call read b
         played 1 1
         played 0 3",
        expect![[r#"
            set calls=5
              > idle
            user go
                epoch 1 first
              > model 1.1.1
            reply call read a | call read b
              > run 0 read [mode bypass], run 1 read [mode bypass]
            played 1 1
              > run 0 read [mode bypass]
            played 0 3
                turn 1 ended at its limit of tool calls
              > idle
            ---
            user: go
            model: <w1 read {"path":"a"}> + <w2 read {"path":"b"}>
            user: <w1 = played> + <w2 = played>
        "#]],
    );
}

#[test]
fn no_answer_is_shorter_than_what_the_model_thinks_with() {
    let mut play = Play::of("hold\nset chars=1\nuser hi");
    let thinking = |play: &mut Play, thinking| {
        play.state.settings.model.output_max = 32_000;
        play.state.settings.model.parameters.thinking = thinking;
    };
    let summary = |play: &Play| heeler_turn::limits::summary_output_max(&play.state.settings);
    thinking(&mut play, None);
    assert_eq!(summary(&play), 8192);
    thinking(&mut play, Some(ThinkingSettings::Effort("high".into())));
    assert_eq!(summary(&play), 16_384);
    thinking(&mut play, Some(ThinkingSettings::Budget(10_000)));
    assert_eq!(summary(&play), 18_192);
    let turn = play.state.turn.clone().unwrap();
    let input = play.state.estimate();
    let mut reserve = |tokens| {
        play.state.settings.limits.tokens = tokens;
        heeler_turn::limits::reserve(&play.state, &turn).map(|reserve| reserve.output)
    };
    assert_eq!(reserve(input + 10_255), Err(LimitKind::Tokens));
    assert_eq!(reserve(input + 10_256), Ok(10_256));
}

#[test]
fn the_end_of_the_wall_time_is_told_while_a_turn_runs_and_has_one() {
    let mut play = Play::of("set wall=500\nuser hi\ntick 20");
    let ends = play.state.wall_time_ends();
    let wakes = play.state.pending().into_iter().find_map(|effect| match effect.kind {
        heeler_core::EffectKind::Wake { at, .. } => Some(at),
        _ => None,
    });
    assert!(ends.is_some() && ends == wakes, "{ends:?} {wakes:?}");
    play.line("reply Hello.");
    assert_eq!(play.state.wall_time_ends(), None);
    assert_eq!(Play::of("set wall=0\nuser hi").state.wall_time_ends(), None);
}

#[test]
fn a_bill_is_partial_from_the_first_use_without_a_price_on() {
    use heeler_core::{Bill, Cost};

    let mut play = Play::of("user hi\nreply call read a | cost 7\ndone 0 A");
    assert_eq!(play.state.bill(), Bill { cost: Cost(7), ..Bill::default() });
    play.line("reply call read b");
    play.line("done 0 B");
    assert_eq!(play.state.bill(), Bill { cost: Cost(7), is_partial: true, ..Bill::default() });
    play.line("reply Done. | cost 2");
    assert_eq!(play.state.bill(), Bill { cost: Cost(9), is_partial: true, ..Bill::default() });
}

#[test]
fn of_an_answer_that_broke_off_more_was_written_than_its_beginning_told() {
    let state = Play::of("user hi").state;
    let part = [Block::text("x".repeat(400))];
    let check = |told: (u64, u64), whole: (u64, u64, bool), broken: (u64, u64, bool)| {
        let told = Usage { cache_read: told.0, output: told.1, ..Usage::default() };
        let seen = |usage: Usage| (usage.input_total(), usage.output, usage.is_estimated);
        assert_eq!(seen(state.usage(told, &part)), whole);
        assert_eq!(seen(state.usage_of_part(told, &part)), broken);
    };
    check((7, 1), (7, 1, false), (7, 100, true));
    check((7, 200), (7, 200, false), (7, 200, false));
    check((7, 0), (7, 100, true), (7, 100, true));
    let read = state.estimate().max(1);
    check((0, 0), (read, 100, true), (read, 100, true));
}
