//! Slow readers of a real session: they see less, and arrive at the same view.

use std::sync::Arc;

use heeler_core::{Envelope, Event, ToolOutput, TurnOutcome, View};
use heeler_engine::{Cursor, Seen, Session};

use crate::common::{Stage, TestTool, stage, tool, virtually};

/// How many rounds with calls a turn of the busy script has.
const ROUNDS: usize = 40;
/// How often a call tells how far it is.
const REPORTS: usize = 500;

/// Tells how far it is, again and again.
fn reporting() -> TestTool {
    tool("report", |context, _| async move {
        for step in 0..REPORTS {
            context.progress.send(format!("step {step}"));
            if step % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(ToolOutput::text("reported"))
    })
}

/// Thinks, talks and calls for many rounds; then an answer is cut, and comes again.
async fn busy() -> Stage {
    let words = "some words, again ".repeat(100);
    let script = format!(
        r#"
        [[reply]]
        blocks = [{{ thinking = "{words}", signature = "s" }}, {{ text = "{words}" }},
                  {{ call = "report", input = {{ text = "{words}" }} }},
                  {{ call = "report", input = {{ text = "{words}" }} }}]
        chunks = 100
        repeat = {ROUNDS}
        [[reply]]
        text = "{words}"
        chunks = 300
        cut = {{}}
        [[reply]]
        text = "{words}"
        chunks = 300
        "#
    );
    stage(&script, [reporting()]).await
}

struct Reader {
    view: View,
    cursor: Cursor,
    seen: Vec<Arc<Envelope>>,
    resyncs: usize,
}

impl Reader {
    fn new(session: &Session) -> Self {
        let (view, cursor) = session.subscribe();
        Self { view, cursor, seen: Vec::new(), resyncs: 0 }
    }

    /// Reads to the end, and after every `stretch` events lets others go on so many times.
    async fn follow(mut self, stretch: usize, pauses: usize) -> Self {
        let mut steps = 0;
        while let Some(seen) = self.cursor.next().await {
            match seen {
                Seen::Event(envelope) => {
                    self.view.apply(&envelope.event);
                    self.seen.push(envelope);
                }
                Seen::Resync(view) => {
                    self.view = *view;
                    self.resyncs += 1;
                }
            }
            steps += 1;
            if steps % stretch == 0 {
                for _ in 0..pauses {
                    tokio::task::yield_now().await;
                }
            }
        }
        self
    }

    fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.seen.iter().filter(|envelope| wanted(&envelope.event)).count()
    }
}

/// Whether nothing may be merged into it.
fn is_control(event: &Event) -> bool {
    !matches!(
        event,
        Event::TextDelta { .. }
            | Event::ThinkingDelta { .. }
            | Event::ToolInputDelta { .. }
            | Event::CallProgress { .. }
            | Event::Usage { .. }
    )
}

#[test]
fn whoever_reads_arrives_at_the_view_of_a_busy_session() {
    virtually(async {
        let stage = busy().await;
        let asleep = Reader::new(&stage.session);
        let readers: Vec<_> = [(1, 0), (1, 1), (1, 9), (50, 3), (3, 200), (900, 2000)]
            .map(|(stretch, pauses)| {
                tokio::spawn(Reader::new(&stage.session).follow(stretch, pauses))
            })
            .into();
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let view = stage.session.state().await.unwrap().view();
        stage.close().await;

        let asleep = asleep.follow(1, 0).await;
        assert_eq!((&asleep.view, asleep.resyncs), (&view, 0), "who slept to the end");
        assert_eq!(view.messages.len(), 2 * ROUNDS + 2);
        let controls = asleep.count(is_control);
        let mut most = 0;
        for reader in readers {
            let reader = reader.await.unwrap();
            assert_eq!((&reader.view, reader.resyncs), (&view, 0));
            assert_eq!(reader.count(is_control), controls);
            most = most.max(reader.seen.len());
        }
        assert!(most > 10 * asleep.seen.len(), "{most} and {}", asleep.seen.len());
    });
}

#[test]
fn who_sleeps_sees_the_latest_of_each_call_and_what_the_turn_cost() {
    virtually(async {
        let stage = busy().await;
        let asleep = Reader::new(&stage.session);
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        let usage = stage.session.state().await.unwrap().view().usage;
        stage.close().await;

        let asleep = asleep.follow(1, 0).await;
        let calls = 2 * ROUNDS;
        let last = format!("step {}", REPORTS - 1);
        let is_last =
            |event: &Event| matches!(event, Event::CallProgress { text, .. } if *text == last);
        assert_eq!(asleep.count(is_last), calls, "the last word of each call");
        let progress = asleep.count(|event| matches!(event, Event::CallProgress { .. }));
        assert!(progress < 2 * REPORTS, "{progress} of {}", calls * REPORTS);

        let ended = |envelope: &Arc<Envelope>| matches!(envelope.event, Event::TurnFinished { .. });
        let before_end = asleep.seen.iter().take_while(|envelope| !ended(envelope));
        let told = before_end.filter_map(|envelope| match &envelope.event {
            Event::Usage { total, .. } => Some(*total),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        assert_eq!(told.last(), Some(&usage));
        assert!(told.len() < ROUNDS / 2, "{}", told.len());
    });
}

#[test]
fn the_text_of_a_sleeper_is_whole_and_in_few_parts() {
    virtually(async {
        let stage = busy().await;
        let asleep = Reader::new(&stage.session);
        assert_eq!(stage.say("hi").await, TurnOutcome::Done);
        stage.close().await;

        let asleep = asleep.follow(1, 0).await;
        let mut attempts = vec![(0, String::new())];
        for envelope in &asleep.seen {
            match &envelope.event {
                Event::AttemptStarted { .. } => attempts.push((0, String::new())),
                Event::TextDelta { offset, text, .. } => {
                    let (parts, so_far) = attempts.last_mut().unwrap();
                    assert_eq!(*offset, so_far.len() as u64);
                    so_far.push_str(text);
                    *parts += 1;
                }
                _ => {}
            }
        }
        let (begun, attempts) = attempts.split_first().unwrap();
        assert_eq!((begun.0, attempts.len()), (0, ROUNDS + 2));
        for (attempt, (_, text)) in attempts.iter().enumerate() {
            let is_cut = attempt == ROUNDS;
            let words = "some words, again ".repeat(100);
            assert!(if is_cut { words.starts_with(text) } else { words == *text }, "{attempt}");
        }
        let in_one = attempts.iter().filter(|(parts, _)| *parts == 1).count();
        assert!(in_one > ROUNDS / 2, "{in_one}");
    });
}
