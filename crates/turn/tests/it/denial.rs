//! Denials: who can deny, and that nothing lifts one.

use expect_test::expect;

use crate::door::check;

#[test]
fn deny_wins_over_a_decision_and_over_a_grant() {
    check(
        "set mode=ask
         user clean
         reply call bash make | call bash make clean
         allow 0
         set deny=bash(make:*)
         allow 1
         done 0 built all the same
         grant bash
         reply call bash make | call bash ls
         done 1 a b
         reply Not possible.",
        expect![[r#"
            set mode=ask
              > idle
            user clean
                epoch 1 first
              > model 1.1.1
            reply call bash make | call bash make clean
              > ask 0 bash (it runs the command `make`), ask 1 bash (it runs the command `make clean`)
            allow 0
              > run 0 bash [decision of person], ask 1 bash (it runs the command `make clean`)
            set deny=bash(make:*)
                call 1 failed: Not allowed: the rule bash(make:*) (test) denies it.
              > run 0 bash [decision of person]
            allow 1
              > run 0 bash [decision of person]
            done 0 built all the same
              > model 1.2.1
            grant bash
              > model 1.2.1
            reply call bash make | call bash ls
                call 0 failed: Not allowed: the rule bash(make:*) (test) denies it.
              > run 1 bash [rule bash (person)]
            done 1 a b
              > model 1.3.1
            reply Not possible.
                turn 1 ended done: Not possible.
              > idle
            ---
            user: clean
            model: <w1 bash {"command":"make"}> + <w2 bash {"command":"make clean"}>
            user: <w1 = built all the same> + <w2! = Not allowed: the rule bash(make:*) (test) denies it.>
            model: <w3 bash {"command":"make"}> + <w4 bash {"command":"ls"}>
            user: <w3! = Not allowed: the rule bash(make:*) (test) denies it.> + <w4 = a b>
            model: Not possible.
            misfits: 1
        "#]],
    );
}

#[test]
fn a_deny_rule_that_comes_late_still_stops_what_has_not_started() {
    check(
        "set at_once=1
         user write
         reply call note n | call write a | call read a
         set deny=write
         done 0 noted
         done 2 text
         reply Not written.",
        expect![[r#"
            set at_once=1
              > idle
            user write
                epoch 1 first
              > model 1.1.1
            reply call note n | call write a | call read a
              > run 0 note [mode bypass]
            set deny=write
                call 1 failed: Not allowed: the rule write (test) denies it.
              > run 0 note [mode bypass]
            done 0 noted
              > run 2 read [mode bypass]
            done 2 text
              > model 1.2.1
            reply Not written.
                turn 1 ended done: Not written.
              > idle
            ---
            user: write
            model: <w1 note {"text":"n"}> + <w2 write {"path":"a"}> + <w3 read {"path":"a"}>
            user: <w1 = noted> + <w2! = Not allowed: the rule write (test) denies it.> + <w3 = text>
            model: Not written.
        "#]],
    );
}

#[test]
fn with_nobody_to_ask_asking_means_no() {
    check(
        "set mode=ask asks=no
         user build
         reply call bash make | call read a
         done 1 text
         reply No way.",
        expect![[r#"
            set mode=ask asks=no
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make | call read a
                call 0 failed: Not allowed: it runs the command `make`, and nobody can be asked.
              > run 1 read [reads in the workspace are allowed]
            done 1 text
              > model 1.2.1
            reply No way.
                turn 1 ended done: No way.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}> + <w2 read {"path":"a"}>
            user: <w1! = Not allowed: it runs the command `make`, and nobody can be asked.> + <w2 = text>
            model: No way.
        "#]],
    );
}

#[test]
fn an_open_prompt_is_answered_when_nobody_can_be_asked_any_more() {
    check(
        "set mode=ask
         user build
         reply call bash make
         set asks=no
         reply No way.",
        expect![[r#"
            set mode=ask
              > idle
            user build
                epoch 1 first
              > model 1.1.1
            reply call bash make
              > ask 0 bash (it runs the command `make`)
            set asks=no
                call 0 failed: Not allowed: it runs the command `make`, and nobody can be asked.
              > model 1.2.1
            reply No way.
                turn 1 ended done: No way.
              > idle
            ---
            user: build
            model: <w1 bash {"command":"make"}>
            user: <w1! = Not allowed: it runs the command `make`, and nobody can be asked.>
            model: No way.
        "#]],
    );
}

#[test]
fn a_model_that_insists_on_what_is_denied_ends_its_turn() {
    check(
        "set repeats=3 deny=write
         user write
         reply call write a
         reply call write a
         reply call write a | call read b
         done 1 B",
        expect![[r#"
            set repeats=3 deny=write
              > idle
            user write
                epoch 1 first
              > model 1.1.1
            reply call write a
                call 0 failed: Not allowed: the rule write (test) denies it.
              > model 1.2.1
            reply call write a
                call 0 failed: Not allowed: the rule write (test) denies it.
              > model 1.3.1
            reply call write a | call read b
                call 0 failed: Not allowed: the rule write (test) denies it.
              > run 1 read [mode bypass]
            done 1 B
                turn 1 ended denied (the rule write (test) denies it)
              > idle
            ---
            user: write
            model: <w1 write {"path":"a"}>
            user: <w1! = Not allowed: the rule write (test) denies it.>
            model: <w2 write {"path":"a"}>
            user: <w2! = Not allowed: the rule write (test) denies it. + Note: this exact call has failed 2 times in a row. Calling it again unchanged will fail again; change something or expl…>
            model: <w3 write {"path":"a"}> + <w4 read {"path":"b"}>
            user: <w3! = Not allowed: the rule write (test) denies it.> + <w4 = B>
        "#]],
    );
}

#[test]
fn a_rule_a_person_gives_can_forbid_too() {
    use heeler_core::{Record, Rule, RuleEffect};

    let mut play = crate::door::Play::of("user go\nreply call bash make | call bash ls");
    let rule = Rule::parse("bash(make:*)", RuleEffect::Deny, "person").unwrap();
    play.write(Record::RuleGranted(Box::new(rule)));
    play.line("done 0 runs already");
    play.line("done 1 a b");
    play.line("reply call bash make");
    assert!(play.shown().contains("Not allowed: the rule bash(make:*) (person) denies it."));
}

#[test]
fn a_hole_in_the_journal_withdraws_what_was_granted() {
    use heeler_core::{Entry, Event, Record, Timestamp};
    use heeler_turn::state::Announcer;

    let mut play = crate::door::Play::of("set mode=ask\ngrant bash");
    let mut out = Announcer::collecting();
    let seq = play.state.seq + 2;
    let record = Record::TimePassed;
    play.state.apply_announcing(&Entry { seq, at: Timestamp(0), record }, &mut out);
    assert!(matches!(&out.into_events()[..], [Event::Notice { text }] if text.contains("missing")));
    assert_eq!(play.state.misfits, 1);
    play.line("user build");
    play.line("reply call bash make");
    assert!(play.shown().ends_with("> ask 0 bash (it runs the command `make`)\n"));
}
