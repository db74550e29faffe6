//! What has to hold however the steps of two threads interleave, or those of three that change places
//! a few times.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use heeler_core::{AgentPath, CallId, Envelope, Event, View};
use loom::future::block_on;
use loom::thread;

use crate::held::HeldProgress;
use crate::log::{Bounds, EventLog};
use crate::{Cursor, Seen};

/// Three threads have more orders than a test has time: all are tried in which so many times at most a
/// thread is stopped that could have gone on.
const PREEMPTIONS_MAX: usize = 3;

fn notice(text: &str) -> Envelope {
    let event = Event::Notice { text: text.into() };
    Envelope { seq: None, agent: AgentPath::default(), event }
}

fn text(seen: Seen) -> String {
    let Seen::Event(envelope) = seen else { return "resync".into() };
    match &envelope.event {
        Event::Notice { text } | Event::CallProgress { text, .. } => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Reads to the end.
fn read(mut cursor: Cursor) -> Vec<String> {
    block_on(async move {
        let mut texts = Vec::new();
        while let Some(seen) = cursor.next().await {
            texts.push(text(seen));
        }
        texts
    })
}

/// A reader sees each event once, in order, and then the end, wherever it falls asleep.
pub fn a_reader_sees_everything_and_the_end() {
    loom::model(|| {
        let log = EventLog::new(View::default());
        let (_, cursor) = log.subscribe();
        let reader = thread::spawn(move || read(cursor));
        log.publish([notice("1")]);
        log.publish([notice("2")]);
        log.close();
        assert_eq!(reader.join().unwrap(), ["1", "2"]);
    });
}

/// Who looked in vain is woken by what is published, though nothing else ever comes.
pub fn what_is_published_wakes_who_waits() {
    loom::model(|| {
        let log = EventLog::new(View::default());
        let (_, mut cursor) = log.subscribe();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let reader = thread::spawn(move || {
            let has_seen = {
                let next = pin!(cursor.next());
                next.poll(&mut Context::from_waker(&waker)).is_ready()
            };
            // Who leaves is woken by nobody.
            (has_seen, cursor)
        });
        log.publish([notice("1")]);
        let (has_seen, _cursor) = reader.join().unwrap();
        assert!(has_seen || woken.0.load(Ordering::SeqCst), "it would wait for ever");
    });
}

/// Remembers that it was woken. A model looks at it when all threads have ended.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Readers do not take each other's wake-ups.
pub fn every_reader_is_woken() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS_MAX);
    model.check(|| {
        let log = EventLog::new(View::default());
        let readers = [log.subscribe(), log.subscribe()]
            .map(|(_, cursor)| thread::spawn(move || read(cursor)));
        log.publish([notice("1")]);
        log.close();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), ["1"]);
        }
    });
}

/// Events of two threads, a tool's progress and the driver's, reach a reader whole.
pub fn two_writers_lose_nothing() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS_MAX);
    model.check(|| {
        let log = EventLog::new(View::default());
        let (_, cursor) = log.subscribe();
        let other = Arc::clone(&log);
        let writer = thread::spawn(move || other.publish([notice("1")]));
        let reader = thread::spawn(move || read(cursor));
        log.publish([notice("2")]);
        writer.join().unwrap();
        log.close();
        let mut texts = reader.join().unwrap();
        texts.sort();
        assert_eq!(texts, ["1", "2"]);
    });
}

/// A reader that falls behind while others publish is given a snapshot, and goes on from exactly there:
/// what it folds is the view, whichever events it saw.
pub fn who_falls_behind_misses_nothing() {
    // Of two events that wait the older one is given up.
    let bounds = Bounds {
        merge_bytes_min: 0,
        backlog_bytes_max: 3 * size_of::<Envelope>() / 2,
        joined_bytes_max: 0,
    };
    let says = |text: &str| {
        let event = Event::TextDelta { block: 0, offset: 0, text: text.into() };
        Envelope { seq: None, agent: AgentPath::default(), event }
    };
    let n_resyncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_resyncs);
    loom::model(move || {
        let mut whole = View::default();
        whole.apply(&Event::TurnStarted { turn: 1 });
        let log = EventLog::with_bounds(whole.clone(), bounds);
        let (mut view, mut cursor) = log.subscribe();
        let counted = Arc::clone(&counted);
        let reader = thread::spawn(move || {
            block_on(async move {
                while let Some(seen) = cursor.next().await {
                    match seen {
                        Seen::Event(envelope) => view.apply(&envelope.event),
                        Seen::Resync(now) => {
                            counted.fetch_add(1, Ordering::Relaxed);
                            view = *now;
                        }
                    }
                }
                view
            })
        });
        for text in ["a", "b", "c"] {
            whole.apply(&says(text).event);
            log.publish([says(text)]);
        }
        log.close();
        assert_eq!(reader.join().unwrap(), whole);
    });
    assert!(n_resyncs.load(Ordering::Relaxed) > 0, "it never fell behind");
}

/// Whoever subscribes while something is published finds it in the snapshot or as an event.
pub fn a_snapshot_and_its_cursor_are_one_step() {
    loom::model(|| {
        let log = EventLog::new(View::default());
        let other = Arc::clone(&log);
        let writer = thread::spawn(move || {
            let event = Event::TurnStarted { turn: 1 };
            other.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
        });
        let (mut view, mut cursor) = log.subscribe();
        writer.join().unwrap();
        let mut events = 0;
        while let Some(Seen::Event(envelope)) = cursor.try_next() {
            view.apply(&envelope.event);
            events += 1;
        }
        let mut whole = View::default();
        whole.apply(&Event::TurnStarted { turn: 1 });
        assert_eq!(view, whole, "after {events} events");
    });
}

/// A reader that gives up waiting, and then leaves, takes nothing with it.
pub fn a_reader_may_leave_at_any_time() {
    loom::model(|| {
        let log = EventLog::new(View::default());
        let (_, leaving) = log.subscribe();
        let (_, staying) = log.subscribe();
        let gone = thread::spawn(move || {
            let mut leaving = leaving;
            let waits = pin!(leaving.next());
            let _ = waits.poll(&mut Context::from_waker(Waker::noop()));
        });
        log.publish([notice("1")]);
        log.close();
        gone.join().unwrap();
        assert_eq!(read(staying), ["1"]);
    });
}

/// The progress of a call that began early: nothing is shown before it is let go, the latest is
/// never lost, and nothing is shown after what came later.
pub fn held_progress_is_shown_in_order() {
    loom::model(|| {
        let log = EventLog::new(View::default());
        let (_, mut cursor) = log.subscribe();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let held = Arc::new(HeldProgress::new(Arc::clone(&log), call));
        let tool = thread::spawn({
            let held = Arc::clone(&held);
            move || ["1", "2"].into_iter().for_each(|text| held.take(text.into()))
        });
        log.publish([notice("started")]);
        held.let_go();
        tool.join().unwrap();
        let texts: Vec<String> = std::iter::from_fn(|| cursor.try_next()).map(text).collect();
        let known: [&[&str]; 2] = [&["started", "1", "2"], &["started", "2"]];
        assert!(
            known.contains(&texts.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
            "{texts:?}"
        );
    });
}
