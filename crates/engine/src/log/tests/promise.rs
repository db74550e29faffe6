//! The promise: whoever reads, however slowly, folds what it sees to the view.
//!
//! Random events, random readers. The fold here is the test's own; beside it, what each reader saw
//! is compared with what was published since its last snapshot, merged away by other rules than
//! the log's: controls as they were, deltas put together by block, the latest of the rest.

use std::cell::Cell;
use std::collections::BTreeMap;

use heeler_core::{Event, View};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::event::{Maker, show};
use super::*;

const CASES: u32 = 400;
/// Readers that read on their own: after every step, every third, only at the end.
const PERIODS: [usize; 3] = [1, 3, usize::MAX];

#[derive(Debug, Clone)]
enum Step {
    Publish(Vec<String>),
    /// A reader, and how many it takes.
    Read(usize, usize),
    Join,
    Leave(usize),
    /// A pass out of turn; passes change nothing for anybody.
    Merge,
}

fn line() -> impl Strategy<Value = String> {
    let delta = ("text|text|think|input|gap", 0u32..3, "[a-z]{1,12}")
        .prop_map(|(word, block, text)| format!("{word} {block} {text}"));
    let latest = prop_oneof![
        (0u32..3, "[a-z]{1,9}").prop_map(|(call, text)| format!("progress {call} {text}")),
        (1u32..99).prop_map(|n| format!("beat {n}")),
        (1u32..99).prop_map(|n| format!("usage {n}")),
    ];
    let call = ("started|finished|asked|decided", 0u32..3).prop_map(|(w, n)| format!("{w} {n}"));
    let other =
        ("turn|end|queued|delivered|compacted", 1u32..4).prop_map(|(w, n)| format!("{w} {n}"));
    let text = ("user|assistant|retry|notice", "[a-z]{1,9}").prop_map(|(w, t)| format!("{w} {t}"));
    let bare = prop_oneof![Just("attempt".to_owned()), Just("compacting".to_owned())];
    let control = prop_oneof![call, other, text, bare];
    let event = prop_oneof![12 => delta, 3 => latest, 2 => control];
    (0u32..5, event).prop_map(|(agent, event)| match agent {
        0 => format!("child {event}"),
        _ => event,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec(line(), 1..5).prop_map(Step::Publish),
        4 => (0usize..9, 1usize..20).prop_map(|(reader, n)| Step::Read(reader, n)),
        1 => Just(Step::Join),
        1 => (0usize..9).prop_map(Step::Leave),
        1 => Just(Step::Merge),
    ]
}

/// From bounds that every few events reach, to none that is reached.
fn bounds() -> impl Strategy<Value = Bounds> {
    (0usize..4000, 1500usize..30_000, 0usize..60).prop_map(|(merge, backlog, joined)| Bounds {
        merge_bytes_min: merge,
        backlog_bytes_max: backlog,
        joined_bytes_max: joined,
    })
}

struct Reader {
    view: View,
    cursor: Cursor,
    /// Since the last snapshot.
    seen: Vec<Arc<Envelope>>,
    /// How much was published before it.
    from: usize,
}

/// What a run met, so that no case goes untried unnoticed.
#[derive(Default)]
struct Met {
    resyncs: Cell<usize>,
    events_merged: Cell<usize>,
    readers_without_resync: Cell<usize>,
}

struct Run {
    log: Arc<EventLog>,
    view: View,
    published: Vec<Envelope>,
    readers: Vec<Reader>,
    bounds: Bounds,
}

impl Run {
    fn join(&mut self) {
        let (view, cursor) = self.log.subscribe();
        assert_eq!(view, self.view, "a snapshot");
        self.readers.push(Reader { view, cursor, seen: Vec::new(), from: self.published.len() });
    }

    fn publish(&mut self, envelopes: Vec<Envelope>) {
        for envelope in envelopes.iter().filter(|envelope| envelope.agent.is_main()) {
            self.view.apply(&envelope.event);
        }
        self.published.extend(envelopes.iter().cloned());
        self.log.publish(envelopes);
        let (kept, bytes) = self.log.lock().backlog.size();
        assert!(bytes <= self.bounds.backlog_bytes_max || kept == 1, "{kept} events, {bytes}");
    }

    fn read(&mut self, reader: usize, n: usize, met: &Met) {
        let published = self.published.len();
        let Some(reader) = self.readers.get_mut(reader) else { return };
        for _ in 0..n {
            match reader.cursor.try_next() {
                Some(Seen::Event(envelope)) => {
                    if envelope.agent.is_main() {
                        reader.view.apply(&envelope.event);
                    }
                    reader.seen.push(envelope);
                }
                Some(Seen::Resync(view)) => {
                    assert_eq!(*view, self.view, "a resync");
                    reader.view = *view;
                    reader.seen.clear();
                    reader.from = published;
                    met.resyncs.set(met.resyncs.get() + 1);
                }
                None => {
                    assert_eq!(reader.view, self.view, "the promise");
                    return;
                }
            }
        }
    }

    fn finish(mut self, met: &Met) {
        for reader in 0..self.readers.len() {
            self.read(reader, usize::MAX, met);
            let Reader { seen, from, .. } = &self.readers[reader];
            let published = &self.published[*from..];
            assert_eq!(Gist::of(seen.iter().map(|seen| &**seen)), Gist::of(published));
            let merged = met.events_merged.get() + published.len() - seen.len();
            met.events_merged.set(merged);
            let whole = usize::from(*from == 0 && !published.is_empty());
            met.readers_without_resync.set(met.readers_without_resync.get() + whole);
        }
        assert_eq!(self.log.lock().backlog.size(), (0, 0));
    }
}

/// What merging must not change, for each agent.
#[derive(Debug, Default, PartialEq)]
struct Gist(BTreeMap<AgentPath, AgentGist>);

#[derive(Debug, Default, PartialEq)]
struct AgentGist {
    /// Control events, and between them the deltas; a usage before the end it belongs to.
    spans: Vec<String>,
    open: BTreeMap<String, Vec<(u64, String)>>,
    usage: Option<String>,
    latest: BTreeMap<String, String>,
}

impl Gist {
    fn of<'a>(envelopes: impl IntoIterator<Item = &'a Envelope>) -> Self {
        let mut gist = Self::default();
        for envelope in envelopes {
            gist.0.entry(envelope.agent.clone()).or_default().take(envelope);
        }
        gist
    }
}

impl AgentGist {
    fn take(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::TextDelta { block, offset, text } => self.delta("text", *block, *offset, text),
            Event::ThinkingDelta { block, offset, text } => {
                self.delta("think", *block, *offset, text);
            }
            Event::ToolInputDelta { block, offset, text } => {
                self.delta("input", *block, *offset, text);
            }
            Event::CallProgress { call, text } => {
                self.latest.insert(call.to_string(), text.clone());
            }
            Event::Heartbeat { .. } => {
                self.latest.insert("heartbeat".into(), show(envelope));
            }
            Event::Usage { .. } => self.usage = Some(show(envelope)),
            control => {
                if matches!(control, Event::TurnFinished { .. }) {
                    self.spans.push(format!("{:?}", self.usage));
                }
                self.spans.push(format!("{:?}", std::mem::take(&mut self.open)));
                self.spans.push(format!("{control:?}"));
            }
        }
    }

    /// Puts it behind what it continues.
    fn delta(&mut self, kind: &str, block: u32, offset: u64, text: &str) {
        let parts = self.open.entry(format!("{kind} {block}")).or_default();
        match parts.last_mut() {
            Some((start, so_far)) if *start + so_far.len() as u64 == offset => {
                so_far.push_str(text);
            }
            _ => parts.push((offset, text.to_owned())),
        }
    }
}

fn play(bounds: Bounds, steps: &[Step], met: &Met) {
    let log = EventLog::with_bounds(View::default(), bounds);
    let (view, published, readers) = (View::default(), Vec::new(), Vec::new());
    let mut run = Run { log, view, published, readers, bounds };
    PERIODS.iter().for_each(|_| run.join());
    let mut maker = Maker::default();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Publish(lines) => {
                run.publish(lines.iter().map(|line| maker.make(line)).collect());
            }
            Step::Read(reader, n) => run.read(PERIODS.len() + reader, *n, met),
            Step::Join => run.join(),
            Step::Leave(reader) => {
                let reader = PERIODS.len() + reader;
                if reader < run.readers.len() {
                    run.readers.remove(reader);
                }
            }
            Step::Merge => run.log.merge(),
        }
        for (reader, period) in PERIODS.into_iter().enumerate() {
            if at % period == period - 1 {
                run.read(reader, usize::MAX, met);
            }
        }
    }
    run.finish(met);
}

#[test]
fn whoever_reads_folds_to_the_view() {
    let met = Met::default();
    let mut runner = TestRunner::new(Config::with_cases(CASES));
    let steps = prop::collection::vec(step(), 1..150);
    let result = runner.run(&(bounds(), steps), |(bounds, steps)| {
        play(bounds, &steps, &met);
        Ok(())
    });
    result.unwrap();
    let met = [met.resyncs, met.events_merged, met.readers_without_resync].map(|n| n.get());
    assert!(met.iter().all(|n| *n > CASES as usize), "{met:?}");
}
