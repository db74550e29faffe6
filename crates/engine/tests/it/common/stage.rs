//! A session to play a scenario on, and a watcher that folds what it sees.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{Entropy, Envelope, Event, Input, Provider, SessionStore, TurnOutcome, View};
use heeler_engine::{Cursor, Parts, Seen, Session, Toolset};
use heeler_providers::scripted::Scripted;
use heeler_script::{Script, UsageSpec};
use heeler_store::MemoryStore;
use heeler_testkit::VirtualClock;
use tokio::runtime::Runtime;

use super::{TestTool, line};

/// Sleeps up to this long end by themselves when nothing else can go on.
const JUMP_MILLIS_MAX: u64 = 60_000;
/// Longer than any test; on a paused runtime it is over once nothing moves any more.
const FOR_EVER: Duration = Duration::from_secs(366 * 24 * 3600);
/// What a reply is said to use when its script does not say.
const USAGE: UsageSpec = UsageSpec { input: 10, output: 5, cache_read: 0, cache_write: 0 };

/// Everything a scenario touches.
pub(crate) struct Stage {
    pub session: Session,
    pub parts: Parts,
    pub model: Scripted,
    pub clock: VirtualClock,
    pub watcher: Watcher,
}

/// Runs a scenario on one thread in virtual time. Fails when nothing moves any more, and when a
/// task outlives the scenario.
pub(crate) fn virtually<T>(scenario: impl Future<Output = T>) -> T {
    let runtime = paused();
    let result = runtime.block_on(async {
        let ended = tokio::time::timeout(FOR_EVER, scenario).await;
        // Whatever still has something to do gets to it before this is over.
        tokio::time::sleep(FOR_EVER).await;
        ended
    });
    assert_eq!(runtime.metrics().num_alive_tasks(), 0, "tasks outlive the session");
    result.expect("nothing moves any more")
}

/// A runtime of one thread in virtual time. Dropping it is the death of a process: every task
/// is gone at once, with nothing written.
pub(crate) fn paused() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        // The scenario takes turns with every task, however busy they are.
        .event_interval(1)
        .build()
        .unwrap()
}

/// Waits until nothing can go on: on a paused runtime, only then a sleep ends.
pub(crate) async fn settled() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// A session with this script and these tools, over a store in memory.
pub(crate) async fn stage<const N: usize>(script: &str, tools: [TestTool; N]) -> Stage {
    stage_with(script, tools, |_| ()).await
}

/// As [`stage`], with parts changed by `tune`.
pub(crate) async fn stage_with<const N: usize>(
    script: &str,
    tools: [TestTool; N],
    tune: impl FnOnce(&mut Parts),
) -> Stage {
    let clock = VirtualClock::auto(1_000_000, JUMP_MILLIS_MAX);
    let mut script = Script::parse(script).unwrap();
    script.options.usage.get_or_insert(USAGE);
    let model = Scripted::from_script(script, Arc::new(clock.clone()));
    let mut parts = parts(Arc::new(model.clone()), Arc::new(MemoryStore::new()), clock.clone());
    parts.tools = toolset(tools);
    tune(&mut parts);
    let id = "s".parse().unwrap();
    let session = Session::create_with_id(parts.clone(), id, "/space").await.unwrap();
    let watcher = Watcher::new(&session);
    Stage { session, parts, model, clock, watcher }
}

/// Parts without anything that depends on the machine.
pub(crate) fn parts(
    provider: Arc<dyn Provider>,
    store: Arc<dyn SessionStore>,
    clock: VirtualClock,
) -> Parts {
    let mut parts = Parts::new(provider, store);
    parts.clock = Arc::new(clock);
    parts.entropy = Arc::new(Middle);
    parts.settings.model.name = "script/test".into();
    parts.heartbeat_millis = 0;
    parts.build = "test".into();
    parts
}

pub(crate) fn toolset(tools: impl IntoIterator<Item = TestTool>) -> Toolset {
    let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn heeler_core::Tool>);
    Toolset::new(tools).unwrap()
}

/// Chance that is always in the middle, so that waits are half their step.
struct Middle;

impl Entropy for Middle {
    fn next(&self) -> u64 {
        u64::MAX / 2
    }
}

impl Stage {
    /// One turn from beginning to end.
    pub(crate) async fn say(&self, text: &str) -> TurnOutcome {
        self.session.turn(Input::text(text)).await
    }

    /// Closes the session and gives all lines its watcher saw.
    pub(crate) async fn close(mut self) -> Vec<String> {
        self.session.close().await;
        self.watcher.rest().await;
        self.watcher.lines
    }
}

/// Reads events, folds them and keeps a line of each.
pub(crate) struct Watcher {
    cursor: Cursor,
    pub view: View,
    pub lines: Vec<String>,
    pub seen: Vec<Arc<Envelope>>,
    pub resyncs: usize,
}

impl Watcher {
    pub(crate) fn new(session: &Session) -> Self {
        let (view, cursor) = session.subscribe();
        Self { cursor, view, lines: Vec::new(), seen: Vec::new(), resyncs: 0 }
    }

    /// Waits for an event and takes everything before it.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let seen = self.cursor.next().await;
            let seen = seen.unwrap_or_else(|| panic!("never seen; before: {:#?}", self.lines));
            if let Some(event) = self.take(seen)
                && wanted(&event)
            {
                return event;
            }
        }
    }

    /// Takes what is there.
    pub(crate) fn drain(&mut self) {
        while let Some(seen) = self.cursor.try_next() {
            self.take(seen);
        }
    }

    /// Takes everything until the session is closed.
    pub(crate) async fn rest(&mut self) {
        while let Some(seen) = self.cursor.next().await {
            self.take(seen);
        }
    }

    /// How turns ended, as the terminal events said.
    pub(crate) fn endings(&self) -> Vec<(u32, TurnOutcome)> {
        let ending = |envelope: &Arc<Envelope>| match &envelope.event {
            Event::TurnFinished { turn, outcome, .. } => Some((*turn, outcome.clone())),
            _ => None,
        };
        self.seen.iter().filter_map(ending).collect()
    }

    fn take(&mut self, seen: Seen) -> Option<Event> {
        match seen {
            Seen::Event(envelope) => {
                self.view.apply(&envelope.event);
                self.lines.push(line(&envelope.event));
                let event = envelope.event.clone();
                self.seen.push(envelope);
                Some(event)
            }
            Seen::Resync(view) => {
                self.view = *view;
                self.resyncs += 1;
                None
            }
        }
    }
}
