//! The journal of a run: it hands the history to the driver and shows what is written, in order
//! and before it takes effect; nothing is kept.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heeler_core::{
    Appended, Block, BoxFuture, Cost, Durability, Entry, Event, Journal, Lease, Message,
    ProviderError, Record, Reply, SessionHeader, SessionId, SessionStore, SessionSummary,
    StopReason, StoreError, StoreErrorKind, Timestamp, ToolOutput, TurnOutcome, Usage,
    truncate_chars,
};

use heeler_engine::{Cursor, ImageDoor};

use super::recording::Recording;
use crate::client::{OnRetry, RetryNotice};
use crate::{ContextError, RunErrorKind};

/// The most notices that a result keeps, and that are told of a history.
pub(super) const NOTICES_MAX: usize = 100;

/// The longest reason of a refusal.
const REASON_CHARS_MAX: usize = 500;

/// The store of one run.
pub(super) struct RunJournal {
    header: SessionHeader,
    /// Handed over once.
    history: Mutex<Vec<Message>>,
    watch: Arc<Watch>,
}

/// What is seen of a run beside its state.
#[derive(Default)]
pub(crate) struct Watch {
    seen: Mutex<Seen>,
    on_retry: Option<OnRetry>,
    recording: Option<Mutex<Recording>>,
    /// The model's name, where the run has a limit of cost.
    counts_cost: Option<String>,
    /// Whether what a call gives is kept.
    keeps_output: bool,
    /// The run's own place in its events: what it notices is not lost with a reader that is behind.
    events: Mutex<Option<Cursor>>,
}

#[derive(Default, Clone)]
pub(super) struct Seen {
    /// The model call that is due or runs: its round within the run and its attempt, both from 1.
    pub(super) round: u32,
    pub(super) attempt: u32,
    /// The last round of the turns that are over.
    rounds_before: u32,
    /// How the first turn ended that was not done.
    pub(super) failed: Option<TurnOutcome>,
    pub(super) rounds: u32,
    /// What each turn has spent, by its number.
    spent: BTreeMap<u32, Spent>,
    turn_began: Option<Timestamp>,
    pub(super) stop: Option<StopReason>,
    /// Why the last answer was refused, in the words that stand in its place.
    pub(super) reason: String,
    /// The model that is asked, where that is a fallback.
    pub(super) fallback: Option<Arc<str>>,
    /// The failure of the attempt that runs, as the provider said it.
    pub(super) error: Option<ProviderError>,
    /// The model of whose answer nobody knows the cost, where a limit of it is to be kept.
    pub(super) untold: Option<String>,
    /// Why the history could not be trimmed.
    pub(super) context_error: Option<ContextError>,
    pub(super) is_over_budget: bool,
    /// The first notices; of the history, before anything happens.
    pub(super) notices: Vec<String>,
    /// What summaries cost that the context manager's own summariser made.
    pub(super) summaries: Usage,
    /// What the last call gave, where that is kept.
    pub(super) output: Option<Box<ToolOutput>>,
}

/// What a turn has spent of the limits that no sum of the session has.
#[derive(Default, Clone, Copy)]
pub(super) struct Spent {
    pub(super) rounds: u32,
    /// Tool calls that are over, with those within them.
    pub(super) calls: u32,
    /// How long it took, once it is over.
    pub(super) wall_millis: u64,
}

impl Seen {
    fn spent(&mut self, turn: u32) -> &mut Spent {
        self.spent.entry(turn).or_default()
    }

    /// What all turns before this one have spent.
    pub(super) fn spent_before(&self, turn: u32) -> Spent {
        self.spent.range(..turn).fold(Spent::default(), |sum, (_, spent)| Spent {
            rounds: sum.rounds.saturating_add(spent.rounds),
            calls: sum.calls.saturating_add(spent.calls),
            wall_millis: sum.wall_millis.saturating_add(spent.wall_millis),
        })
    }
}

impl Watch {
    pub(super) fn new(
        on_retry: Option<OnRetry>,
        recording: Option<Recording>,
        counts_cost: Option<String>,
    ) -> Self {
        let recording = recording.map(Mutex::new);
        Self { on_retry, recording, counts_cost, ..Self::default() }
    }

    /// One that keeps what the last call gave.
    pub(super) fn keeping_output() -> Self {
        Self { keeps_output: true, ..Self::default() }
    }

    /// Gathers what is noticed from this place on.
    pub(super) fn follow(&self, events: Cursor) {
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
    }

    /// Takes in what was noticed up to now: with every record, so that never much waits here.
    pub(super) fn gather(&self) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(events) = events.as_mut() else { return };
        while let Some(event) = events.try_next() {
            if let heeler_engine::Seen::Event(envelope) = event
                && let Event::Notice { text } = &envelope.event
            {
                let notices = &mut self.seen().notices;
                notices.extend((notices.len() < NOTICES_MAX).then(|| text.clone()));
            }
        }
    }

    /// Tells the recorder, if there is one.
    pub(super) fn record(&self, tell: impl FnOnce(&mut Recording)) {
        if let Some(recording) = &self.recording {
            tell(&mut recording.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The provider's failure, or what was made up for one because the history cannot be trimmed.
    pub(super) fn failure(&self, otherwise: ProviderError) -> RunErrorKind {
        let seen = self.seen();
        match (&seen.context_error, &seen.untold) {
            (Some(error), _) => RunErrorKind::Context(error.clone()),
            (None, Some(model)) => RunErrorKind::CostUntold(model.clone()),
            (None, None) => RunErrorKind::Provider {
                error: seen.error.clone().unwrap_or(otherwise),
                attempts: seen.attempt,
                fallback: seen.fallback.as_deref().map(str::to_owned),
            },
        }
    }

    /// Notes that nobody knows what an answer cost.
    fn see_cost(&self, cost: Option<Cost>) {
        let Some(model) = self.counts_cost.as_deref().filter(|_| cost.is_none()) else { return };
        let mut seen = self.seen();
        let model = seen.fallback.as_deref().unwrap_or(model).to_owned();
        seen.untold.get_or_insert(model);
    }

    fn see(&self, entry: &Entry) {
        self.record(|recording| recording.see(entry));
        match &entry.record {
            Record::ModelStarted(started) => {
                let mut seen = self.seen();
                seen.round = seen.rounds_before.saturating_add(started.round);
                seen.attempt = started.attempt;
                // One that fails without the provider's words is not told with those of another.
                seen.error = None;
                seen.turn_began.get_or_insert(entry.at);
            }
            Record::ModelReplied(replied) => {
                let mut seen = self.seen();
                seen.rounds += 1;
                seen.spent(replied.turn).rounds += 1;
                seen.stop = Some(replied.reply.stop.clone());
                seen.reason = reason(&replied.reply);
                drop(seen);
                self.see_cost(replied.cost);
            }
            Record::ModelFailed(failed) => {
                if failed.usage.is_unpriced(failed.cost) {
                    self.see_cost(None);
                }
                let (Some(at), Some(on_retry)) = (failed.retry_at, &self.on_retry) else { return };
                let error = self.seen().error.clone();
                let notice = RetryNotice {
                    attempt: failed.attempt,
                    wait: Duration::from_millis(at.since(entry.at)),
                    error: error
                        .unwrap_or_else(|| ProviderError::new(failed.kind, &*failed.message)),
                };
                // Whoever only listens never stops a run.
                let _ = catch_unwind(AssertUnwindSafe(|| on_retry(&notice)));
            }
            Record::CallFinished { call, output, inner_calls, .. } => {
                let mut seen = self.seen();
                let calls = &mut seen.spent(call.turn).calls;
                *calls = calls.saturating_add(inner_calls.saturating_add(1));
                if self.keeps_output {
                    seen.output = Some(output.clone());
                }
            }
            Record::TurnFinished { turn, outcome, .. } => {
                let mut seen = self.seen();
                seen.rounds_before = seen.round;
                if *outcome != TurnOutcome::Done {
                    seen.failed.get_or_insert_with(|| outcome.clone());
                }
                let began = seen.turn_began.take().unwrap_or(entry.at);
                seen.spent(*turn).wall_millis = entry.at.since(began);
            }
            _ => {}
        }
    }
}

impl RunJournal {
    pub(super) fn new(header: SessionHeader, history: Vec<Message>, watch: Arc<Watch>) -> Self {
        Self { header, history: Mutex::new(history), watch }
    }
}

impl SessionStore for RunJournal {
    fn create(&self, _: SessionHeader) -> BoxFuture<Result<(), StoreError>> {
        ready(Ok(()))
    }

    fn lease(&self, id: SessionId) -> BoxFuture<Result<Lease, StoreError>> {
        ready(Ok(Lease { id, guard: Box::new(()) }))
    }

    fn read(&self, _: SessionId) -> BoxFuture<Result<Journal, StoreError>> {
        let mut messages =
            std::mem::take(&mut *self.history.lock().unwrap_or_else(PoisonError::into_inner));
        let (header, watch) = (self.header.clone(), Arc::clone(&self.watch));
        Box::pin(async move {
            let notes = ImageDoor::default().admit_messages(&mut messages).await;
            let told =
                |(i, note): (usize, String)| format!("message {} of the history: {note}", i + 1);
            watch.seen().notices.extend(notes.into_iter().map(told));
            let record = Record::HistoryGiven { messages };
            let entries = vec![Entry { seq: 1, at: header.created, record }];
            Ok(Journal { header, entries, damage: Vec::new(), torn_bytes: 0 })
        })
    }

    fn append(
        &self,
        _: Arc<Lease>,
        entries: Arc<[Entry]>,
        _: Durability,
    ) -> BoxFuture<Result<Appended, StoreError>> {
        let watch = Arc::clone(&self.watch);
        Box::pin(async move {
            entries.iter().for_each(|entry| watch.see(entry));
            watch.gather();
            Ok(Appended::Written)
        })
    }

    fn list(&self, _: String, _: usize) -> BoxFuture<Result<Vec<SessionSummary>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn delete(&self, id: SessionId) -> BoxFuture<Result<(), StoreError>> {
        let text = format!("{id} is a run's own session");
        ready(Err(StoreError::new(StoreErrorKind::Busy, text)))
    }
}

/// What stands in the place of a refused answer, as one line. It comes last: what was said before the
/// refusal, if anything, is another text.
fn reason(reply: &Reply) -> String {
    if !matches!(reply.stop, StopReason::Refusal | StopReason::ContentFilter) {
        return String::new();
    }
    let texts = reply.blocks.iter().rev().filter_map(Block::as_text);
    let text = texts.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default();
    let plain = text.replace(char::is_control, " ");
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_chars(&line, REASON_CHARS_MAX).into_owned()
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<T> {
    Box::pin(std::future::ready(value))
}
