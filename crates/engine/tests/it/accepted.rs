//! Answers that a provider writes by itself: what broke is read there, and what watchers saw of it
//! is told anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use heeler_core::{
    AcceptedAnswer, Block, EventStream, ModelEvent, ModelRequest, Provider, ProviderError,
    ProviderErrorKind, Record, Reply, SessionStore, StopReason, Usage,
};
use heeler_store::MemoryStore;

use crate::common::{stage_with, virtually};

/// Breaks off in the middle of each answer, which it keeps.
#[derive(Default)]
struct Keeps {
    asked: AtomicUsize,
    told: AtomicUsize,
    /// How the first of those that read an answer again find it.
    first_told: Option<ProviderErrorKind>,
}

impl Provider for Keeps {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let n = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = AcceptedAnswer { dialect: "d".into(), id: format!("r{n}") };
        let text = ModelEvent::TextDelta { block: 0, text: "half ".into() };
        Box::pin(futures::stream::iter([
            Ok(ModelEvent::Accepted(answer)),
            Ok(text),
            Err(ProviderError::new(ProviderErrorKind::Network, "broke")),
        ]))
    }

    fn resume(&self, _: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        let n = self.told.fetch_add(1, Ordering::SeqCst);
        if let Some(kind) = self.first_told.filter(|_| n == 0) {
            return Box::pin(futures::stream::iter([Err(ProviderError::new(kind, "not here"))]));
        }
        let text = format!("half of {}", answer.id);
        let usage = Usage { input: 10, output: 5, ..Usage::default() };
        let blocks = vec![Block::text(text.clone())];
        let reply = Reply { blocks, stop: StopReason::EndTurn, usage, provider_id: None };
        Box::pin(futures::stream::iter([
            Ok(ModelEvent::TextDelta { block: 0, text }),
            Ok(ModelEvent::Finished(reply)),
        ]))
    }
}

/// What watchers see of a turn, and what stands in the journal.
fn play(first_told: Option<ProviderErrorKind>) -> String {
    virtually(async {
        let provider = Arc::new(Keeps { first_told, ..Keeps::default() });
        let store = Arc::new(MemoryStore::new());
        let stage = stage_with("reply = [{ text = \"unused\" }]", [], |parts| {
            parts.provider = Arc::clone(&provider) as Arc<dyn Provider>;
            parts.store = Arc::clone(&store) as Arc<dyn SessionStore>;
        })
        .await;
        stage.say("hi").await;
        let mut seen = stage.close().await.join("\n") + "\n---\n";
        let journal = store.read("s".parse().unwrap()).await.unwrap();
        for entry in &journal.entries {
            if !matches!(entry.record, Record::Opened(_) | Record::SettingsChanged(_)) {
                seen.push_str(&format!("{}\n", entry.record.kind()));
            }
        }
        let (asked, told) = (&provider.asked, &provider.told);
        seen + &format!("asked {asked:?}, told {told:?}\n")
    })
}

#[test]
fn a_broken_connection_pays_once() {
    expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "half "
        attempt 1 failed, next in 500 ms: Network broke
        attempt 1.2
        text 0@0 "half of r1"
        usage 10 + 5 of 10 + 5
        assistant message
        end of turn 1: Done "half of r1"
        ---
        input
        epoch_started
        model_started
        model_accepted
        model_failed
        time_passed
        model_started
        model_replied
        turn_finished
        asked 1, told 1
    "#]]
    .assert_eq(&play(None));
}

#[test]
fn an_answer_that_is_gone_is_asked_for_anew() {
    expect![[r#"
        turn 1
        user message
        epoch 1 First
        attempt 1.1
        text 0@0 "half "
        attempt 1 failed, next in 500 ms: Network broke
        attempt 1.2
        attempt 2 failed, next in 1000 ms: Server not here
        attempt 1.3
        text 0@0 "half "
        attempt 3 failed, next in 2000 ms: Network broke
        attempt 1.4
        text 0@0 "half of r2"
        usage 10 + 5 of 10 + 5
        assistant message
        end of turn 1: Done "half of r2"
        ---
        input
        epoch_started
        model_started
        model_accepted
        model_failed
        time_passed
        model_started
        model_failed
        time_passed
        model_started
        model_accepted
        model_failed
        time_passed
        model_started
        model_replied
        turn_finished
        asked 2, told 2
    "#]]
    .assert_eq(&play(Some(ProviderErrorKind::Server)));
}
