//! Watchers: what they fold is the view, whenever they come and however slowly they read.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Block, Event, EventStream, Input, ModelEvent, ModelRequest, Provider, Reply, StopReason,
    TurnOutcome, Usage, View,
};
use heeler_engine::{Cursor, Parts, Seen};

use crate::common::{Stage, Watcher, echo, failing, stage, stage_with, virtually};

const BUSY: &str = r#"
    [[reply]]
    blocks = [{ text = "let me see what there is" }, { call = "echo", input = { text = "1" } },
              { call = "fail", input = { text = "2" } }]
    chunks = 4
    [[reply]]
    text = "half an answer"
    chunks = 3
    cut = {}
    [[reply]]
    text = "the whole answer"
    chunks = 3
"#;

async fn busy() -> Stage {
    stage(BUSY, [echo(), failing()]).await
}

/// Thinks aloud in parts of one MiB, and lets others run between them, as a network does.
struct Dripping {
    parts: usize,
    part_bytes: usize,
}

impl Provider for Dripping {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let text = "x".repeat(self.part_bytes);
        let thinking = (0..self.parts)
            .map(move |_| Ok(ModelEvent::ThinkingDelta { block: 0, text: text.clone() }));
        let reply = Reply {
            blocks: vec![Block::text("short")],
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            provider_id: None,
        };
        let events = thinking.chain([Ok(ModelEvent::Finished(reply))]);
        Box::pin(futures::stream::iter(events).then(|event| async {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            event
        }))
    }
}

/// A session with a model that thinks so many MiB.
async fn thinking(mebibytes: usize) -> Stage {
    drip(Dripping { parts: mebibytes, part_bytes: 1024 * 1024 }).await
}

async fn drip(model: Dripping) -> Stage {
    let tune = |parts: &mut Parts| parts.provider = Arc::new(model);
    stage_with("reply = [{ text = \"unused\" }]", [], tune).await
}

#[test]
fn a_watcher_that_comes_late_has_missed_nothing() {
    virtually(async {
        let mut stage = busy().await;
        let turn = stage.session.turn(Input::text("hi"));
        let mut late = Vec::new();
        loop {
            late.push(Watcher::new(&stage.session));
            let event = stage.watcher.until(|_| true).await;
            if matches!(event, Event::TurnFinished { .. }) {
                break;
            }
        }
        assert_eq!(turn.await, TurnOutcome::Done);
        assert!(late.len() > 15, "{} watchers", late.len());
        let view = stage.session.state().await.unwrap().view();
        stage.close().await;
        for mut watcher in late {
            watcher.rest().await;
            assert_eq!((watcher.view, watcher.resyncs), (view.clone(), 0));
        }
    });
}

#[test]
fn records_are_numbered_in_order_and_deltas_are_not() {
    virtually(async {
        let mut stage = busy().await;
        stage.say("hi").await;
        stage.watcher.drain();
        let mut last = 0;
        for envelope in &stage.watcher.seen {
            let is_delta =
                matches!(envelope.event, Event::TextDelta { .. } | Event::ToolInputDelta { .. });
            assert_eq!(envelope.seq.is_none(), is_delta, "{:?}", envelope.event);
            assert!(envelope.seq.unwrap_or(last) >= last, "{:?}", envelope.event);
            last = envelope.seq.unwrap_or(last);
            assert!(envelope.agent.is_main());
        }
        assert_eq!(last, stage.session.state().await.unwrap().seq);
        stage.close().await;
    });
}

#[test]
fn deltas_tell_their_place_in_the_block() {
    virtually(async {
        let mut stage = busy().await;
        stage.say("hi").await;
        stage.watcher.drain();
        let mut text = String::new();
        for envelope in &stage.watcher.seen {
            match &envelope.event {
                Event::AttemptStarted { .. } => text.clear(),
                Event::TextDelta { offset, text: more, .. } => {
                    assert_eq!(*offset, text.len() as u64);
                    text.push_str(more);
                }
                _ => {}
            }
        }
        assert_eq!(text, "the whole answer");
        stage.close().await;
    });
}

#[test]
fn a_reader_too_far_behind_is_given_the_view() {
    virtually(async {
        let mut stage = thinking(9).await;
        // This one never reads while the text comes, the other keeps up.
        let mut slow = Watcher::new(&stage.session);
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::TurnFinished { .. })).await;
        assert_eq!(turn.await, TurnOutcome::Done);
        slow.drain();
        assert_eq!((slow.resyncs, slow.lines.len()), (1, 0));
        assert_eq!(slow.view, stage.session.state().await.unwrap().view());
        stage.watcher.drain();
        assert_eq!((stage.watcher.resyncs, stage.watcher.view.clone()), (0, slow.view.clone()));
        // From there on it is a reader like any other.
        stage.session.compact(None).await.unwrap();
        drop(stage.watcher);
        stage.session.close().await;
        slow.rest().await;
        assert_eq!(slow.resyncs, 1);
    });
}

#[test]
fn a_reader_within_the_limit_sees_every_event() {
    virtually(async {
        let mut stage = thinking(7).await;
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.watcher.drain();
        assert_eq!(stage.watcher.resyncs, 0);
        let deltas = stage.watcher.lines.iter().filter(|line| line.starts_with("thinking")).count();
        assert_eq!(deltas, 7);
        stage.close().await;
    });
}

#[test]
fn one_event_larger_than_the_log_reaches_who_keeps_up() {
    virtually(async {
        let part_bytes = 9 * 1024 * 1024;
        let mut stage = drip(Dripping { parts: 1, part_bytes }).await;
        let turn = stage.session.turn(Input::text("hi"));
        stage.watcher.until(|event| matches!(event, Event::ThinkingDelta { .. })).await;
        assert_eq!(turn.await, TurnOutcome::Done);
        stage.watcher.drain();
        assert_eq!(stage.watcher.resyncs, 0);
        stage.close().await;
    });
}

#[test]
fn a_cursor_of_a_closed_session_ends() {
    virtually(async {
        let stage = busy().await;
        let (_, mut cursor) = stage.session.subscribe();
        stage.close().await;
        assert!(cursor.next().await.is_none() && cursor.next().await.is_none());
        assert!(cursor.try_next().is_none());
    });
}

/// Folds to the end, yielding every so often.
async fn fold(mut view: View, mut cursor: Cursor, pause_every: usize) -> View {
    let mut seen = 0;
    while let Some(next) = cursor.next().await {
        match next {
            Seen::Event(envelope) => view.apply(&envelope.event),
            Seen::Resync(now) => view = *now,
        }
        seen += 1;
        if seen % pause_every == 0 {
            tokio::task::yield_now().await;
        }
    }
    view
}

#[test]
fn readers_on_other_threads_arrive_at_the_same_view() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        for _ in 0..100 {
            let stage = busy().await;
            let readers: Vec<_> = [1, 2, 7, 1000]
                .map(|pause_every| {
                    let (view, cursor) = stage.session.subscribe();
                    tokio::spawn(fold(view, cursor, pause_every))
                })
                .into();
            let turn = stage.session.turn(Input::text("hi"));
            tokio::task::yield_now().await;
            let (view, cursor) = stage.session.subscribe();
            let late = tokio::spawn(fold(view, cursor, 3));
            assert_eq!(turn.await, TurnOutcome::Done);
            let view = stage.session.state().await.unwrap().view();
            stage.session.close().await;
            for reader in readers.into_iter().chain([late]) {
                assert_eq!(reader.await.unwrap(), view);
            }
        }
    });
}

#[test]
fn a_view_is_cheap_to_keep() {
    virtually(async {
        let stage = busy().await;
        let (before, _) = stage.session.subscribe();
        stage.say("hi").await;
        let (after, _) = stage.session.subscribe();
        assert_eq!(before.messages.len(), 0, "a snapshot changed");
        let state = stage.session.state().await.unwrap();
        let shared = after.messages.iter().zip(state.history.messages().iter());
        assert!(shared.into_iter().all(|(a, b)| Arc::ptr_eq(a, b)), "messages were copied");
        stage.close().await;
    });
}
