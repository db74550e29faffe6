//! What a slow reader sees instead of what was published.

use expect_test::{Expect, expect};
use heeler_core::View;

use super::event::{Maker, show};
use super::*;

/// Publishes events, one a line; `fast reads` and `slow reads` take what is there then, `merge`
/// is a pass. Says what each reader saw in the end.
fn check(script: &str, expected: Expect) {
    let log = EventLog::new(View::default());
    let (_, mut fast) = log.subscribe();
    let (_, mut slow) = log.subscribe();
    let (mut fast_saw, mut slow_saw) = (Vec::new(), Vec::new());
    let mut maker = Maker::default();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line {
            "fast reads" => fast_saw.extend(drain(&mut fast)),
            "slow reads" => slow_saw.extend(drain(&mut slow)),
            "merge" => log.merge(),
            event => log.publish([maker.make(event)]),
        }
    }
    let mut shown = String::new();
    for (name, saw, mut cursor) in [("fast", fast_saw, fast), ("slow", slow_saw, slow)] {
        let mut saw = events(&saw);
        saw.extend(events(&drain(&mut cursor)));
        shown.push_str(&format!("{name}:\n"));
        saw.iter().for_each(|envelope| shown.push_str(&format!("  {}\n", show(envelope))));
    }
    expected.assert_eq(&shown);
}

#[test]
fn deltas_are_joined_by_block_and_agent() {
    check(
        "
        text 0 let
        child text 0 other
        think 1 hm
        text 0 me
        input 2 {
        input 3 [
        think 1 hm
        child text 0 wise
        input 2 }
        text 0 see
        input 3 ]
        merge
        ",
        expect![[r#"
            fast:
              text 0@0 letmesee
              child text 0@0 otherwise
              think 1@0 hmhm
              input 2@0 {}
              input 3@0 []
            slow:
              text 0@0 letmesee
              child text 0@0 otherwise
              think 1@0 hmhm
              input 2@0 {}
              input 3@0 []
        "#]],
    );
}

#[test]
fn deltas_are_not_joined_across_a_control_event_of_their_agent() {
    check(
        "
        text 0 a
        notice main
        text 0 b
        child notice other
        text 0 c
        child text 0 d
        notice main
        child text 0 e
        merge
        fast reads
        ",
        expect![[r#"
            fast:
              text 0@0 a
              notice main
              text 0@1 bc
              child notice other
              child text 0@0 de
              notice main
            slow:
              text 0@0 a
              notice main
              text 0@1 bc
              child notice other
              child text 0@0 de
              notice main
        "#]],
    );
}

#[test]
fn text_is_not_moved_before_other_text_and_gaps_stay() {
    check(
        "
        text 0 a
        text 1 b
        text 0 c
        text 0 d
        gap 0 e
        text 0 f
        merge
        slow reads
        ",
        expect![[r#"
            fast:
              text 0@0 a
              text 1@0 b
              text 0@1 cd
              text 0@4 ef
            slow:
              text 0@0 a
              text 1@0 b
              text 0@1 cd
              text 0@4 ef
        "#]],
    );
}

#[test]
fn nothing_is_joined_that_a_reader_stands_between() {
    check(
        "
        text 0 a
        text 0 b
        fast reads
        text 0 c
        text 0 d
        merge
        fast reads
        text 0 e
        merge
        ",
        expect![[r#"
            fast:
              text 0@0 a
              text 0@1 b
              text 0@2 cd
              text 0@4 e
            slow:
              text 0@0 abcd
              text 0@4 e
        "#]],
    );
}

#[test]
fn of_progress_heartbeats_and_usage_only_the_latest_is_kept() {
    check(
        "
        progress 1 begun
        progress 2 begun
        beat 1
        usage 10
        child usage 1
        fast reads
        notice between
        progress 1 half
        beat 2
        progress 1 nearly
        usage 20
        beat 3
        merge
        ",
        expect![[r#"
            fast:
              progress 1 begun
              progress 2 begun
              beat 1
              usage 10
              child usage 1
              notice between
              progress 1 nearly
              usage 20
              beat 3
            slow:
              progress 2 begun
              child usage 1
              notice between
              progress 1 nearly
              usage 20
              beat 3
        "#]],
    );
}

#[test]
fn the_end_of_a_turn_comes_after_what_it_cost() {
    check(
        "
        usage 1
        usage 2
        child end 1
        usage 3
        end 1
        usage 4
        usage 5
        end 2
        merge
        ",
        expect![[r#"
            fast:
              child end 1
              usage 3
              end 1
              usage 5
              end 2
            slow:
              child end 1
              usage 3
              end 1
              usage 5
              end 2
        "#]],
    );
}

#[test]
fn who_is_behind_by_little_sees_each_event() {
    let script = "text 0 a\n text 0 b\n beat 1\n beat 2";
    check(
        script,
        expect![[r#"
            fast:
              text 0@0 a
              text 0@1 b
              beat 1
              beat 2
            slow:
              text 0@0 a
              text 0@1 b
              beat 1
              beat 2
        "#]],
    );
}
