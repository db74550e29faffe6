//! At the beginning of a session and at its end.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    BoxFuture, Clock, Event, HookEvent, HookMoment, HookOutcome, HookRequest, Hooks, Input,
    SteeringId, TurnOutcome,
};
use heeler_engine::{Parts, Seen, Session};

use crate::common::{Case, broken, check, denies, hook, nothing, settled, stage_with, virtually};

const ANSWERS: &str = r#"
    [[reply]]
    text = "one"
    [[reply]]
    text = "two"
    [[reply]]
    text = "three"
"#;

fn says(text: &str) -> HookOutcome {
    HookOutcome { context: vec![text.into()], ..nothing() }
}

fn at_start(parts: &mut Parts) {
    parts.hooks = Some(hook(HookEvent::SessionStart, |moment| async move {
        let HookMoment::SessionStart { resumed } = moment else { panic!("{moment:?}") };
        says(if resumed { "It is Monday." } else { "It is Friday." })
    }));
}

#[test]
fn what_is_said_goes_with_the_first_input() {
    check(
        Case::new(ANSWERS).says(["hi", "more"]).with(at_start),
        expect![[r#"
        hook SessionStart `guard`
        hook SessionStart `guard` after 0 ms: Continued
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "one"
        usage 10 + 5 of 10 + 5
        assistant message
        end of turn 1: Done "one"
        turn 2
        user message
        attempt 1.1
        text 0@0 "two"
        usage 10 + 5 of 20 + 10
        assistant message
        end of turn 2: Done "two"
        ---
        user: hi
        user: It is Friday.
        assistant: one
        user: more
        assistant: two
        --- 1 replies not asked for
    "#]],
    );
}

/// What hooks of the beginning say, when they say this.
fn check_start(outcome: HookOutcome, expected: Expect) {
    check(
        Case::new("[[reply]]\ntext = \"one\"").with(move |parts| {
            let answer = move |_| std::future::ready(outcome.clone());
            parts.hooks = Some(hook(HookEvent::SessionStart, answer));
        }),
        expected,
    );
}

#[test]
fn there_is_nothing_yet_to_deny_and_a_broken_one_is_told() {
    check_start(
        denies(),
        expect![[r#"
        hook SessionStart `guard`
        hook SessionStart `guard` after 0 ms: Denied
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "one"
        usage 10 + 5 of 10 + 5
        assistant message
        end of turn 1: Done "one"
        ---
        user: hi
        assistant: one
    "#]],
    );
    check_start(
        broken(),
        expect![[r#"
        hook SessionStart `guard`
        hook SessionStart `guard` after 0 ms: Broken { why: "it is out of order" }
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "one"
        usage 10 + 5 of 10 + 5
        assistant message
        end of turn 1: Done "one"
        ---
        user: hi
        assistant: one
    "#]],
    );
}

#[test]
fn what_is_said_waits_for_the_first_input_that_is_let_through() {
    struct Both;
    impl Hooks for Both {
        fn matches(&self, event: HookEvent, _: &str) -> bool {
            matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit)
        }

        fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
            let outcome = match request.moment {
                HookMoment::UserPromptSubmit { prompt } if prompt == "secret" => denies(),
                HookMoment::UserPromptSubmit { .. } => says("It was heard."),
                _ => says("It is Friday."),
            };
            Box::pin(std::future::ready(outcome))
        }
    }
    virtually(async {
        let stage = stage_with(ANSWERS, [], |parts| parts.hooks = Some(Arc::new(Both))).await;
        assert!(matches!(stage.say("secret").await, TurnOutcome::Denied { .. }));
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        assert_eq!(stage.say("more").await, TurnOutcome::Done);
        let state = stage.session.state().await.unwrap();
        let conversation =
            heeler_testkit::transcript(state.history.messages().iter().map(Arc::as_ref));
        expect![[r#"
            user: hi
            user: It is Friday.
            user: It was heard.
            assistant: one
            user: more
            user: It was heard.
            assistant: two
        "#]]
        .assert_eq(&conversation);
        stage.close().await;
    });
}

#[test]
fn each_process_asks_once() {
    virtually(async {
        let stage = stage_with(ANSWERS, [], at_start).await;
        stage.say("hi").await;
        let (parts, id) = (stage.parts.clone(), stage.session.id().clone());
        stage.close().await;
        let session = Session::open(parts, id).await.unwrap();
        session.steer(SteeringId("a".into()), Input::text("more")).await.unwrap();
        settled().await;
        assert_eq!(session.turn(Input::text("and more")).await, TurnOutcome::Done);
        let state = session.state().await.unwrap();
        let conversation =
            heeler_testkit::transcript(state.history.messages().iter().map(Arc::as_ref));
        expect![[r#"
            user: hi
            user: It is Friday.
            assistant: one
            user: more
            user: It is Monday.
            assistant: two
            user: and more
            assistant: three
        "#]]
        .assert_eq(&conversation);
        session.close().await;
    });
}

#[test]
fn the_end_is_told_and_not_waited_for() {
    virtually(async {
        let told = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&told);
        let stage = stage_with(ANSWERS, [], move |parts| {
            parts.hooks = Some(hook(HookEvent::SessionEnd, move |moment| {
                seen.lock().unwrap().push(moment);
                std::future::pending()
            }));
        })
        .await;
        stage.say("hi").await;
        let clock = stage.clock.clone();
        let began = clock.now();
        let (_, mut cursor) = stage.session.subscribe();
        stage.close().await;
        let seen = std::iter::from_fn(|| cursor.try_next());
        let notices: Vec<String> = seen
            .filter_map(|seen| match seen {
                Seen::Event(envelope) => match &envelope.event {
                    Event::Notice { text } => Some(text.clone()),
                    _ => None,
                },
                Seen::Resync(_) => None,
            })
            .collect();
        let expected =
            "the SessionEnd hooks were stopped after 5 s; a session waits no longer at its end";
        assert_eq!(notices, [expected]);
        assert_eq!(*told.lock().unwrap(), [HookMoment::SessionEnd]);
        assert_eq!(clock.now().since(began), 5_000);
    });
}

#[test]
fn who_looks_while_the_end_is_told_sees_that_the_session_is_open() {
    virtually(async {
        let stage = stage_with(ANSWERS, [], |parts| {
            parts.hooks = Some(hook(HookEvent::SessionEnd, |_| std::future::pending()));
        })
        .await;
        stage.say("hi").await;
        let (session, clock) = (stage.session.clone(), stage.clock.clone());
        let began = clock.now();
        let looked = async {
            let watched = session.watch().await;
            (watched.is_ok(), clock.now().since(began))
        };
        let renamed = async {
            let renamed = session.rename(None).await;
            (renamed.is_ok(), clock.now().since(began))
        };
        let (_, looked, renamed) = futures::join!(stage.close(), looked, renamed);
        // What comes too late is told so when the next owner can have the session.
        assert_eq!((looked, renamed), ((true, 0), (false, 5_000)));
    });
}
