//! A journal that ends anywhere, or has a flipped byte anywhere, goes on: the process that takes
//! it over ends the turn, no call with a side effect runs twice, and every request is valid.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail its test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use heeler::engine::stores::FileStore;
use heeler::engine::{
    Access, CallId, Entry, Facts, Input, Parts, Record, Session, SessionId, SessionStore, Toolset,
    TurnOutcome,
};
use heeler::{
    Block, BoxFuture, EventStream, ModelEvent, ModelRequest, Provider, RawJson, Reply, Role,
    StopReason, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolUse, Usage,
};
use proptest::prelude::*;

/// A model whose answer follows from the request alone, so that it goes on wherever a journal
/// ends: two calls, one call, the answer. It refuses what a real provider would refuse.
struct Model;

impl Provider for Model {
    fn stream(&self, request: ModelRequest) -> EventStream {
        check_valid(&request);
        let replies = request.messages.iter().filter(|m| m.message.role == Role::Assistant).count();
        let call = |id: &str, n: usize| {
            Block::from(ToolUse {
                id: id.into(),
                name: "append".into(),
                input: RawJson::parse(&format!(r#"{{"n":{n}}}"#)).unwrap(),
                invalid: None,
                cache: None,
            })
        };
        let (blocks, stop) = match replies {
            // The second id repeats: providers do that.
            0 => (vec![Block::text("two"), call("x", 1), call("x", 2)], StopReason::ToolUse),
            1 => (vec![call("", 3)], StopReason::ToolUse),
            _ => (vec![Block::text("done")], StopReason::EndTurn),
        };
        let reply = Reply { blocks, stop, usage: Usage::default(), provider_id: None };
        Box::pin(futures::stream::iter([Ok(ModelEvent::Finished(reply))]))
    }
}

/// Every call has its one result in the next message, in order, and roles alternate.
fn check_valid(request: &ModelRequest) {
    let mut calls: Vec<&str> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let expected = if at % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.message.role, expected);
        let blocks = &message.message.blocks;
        assert!(blocks.iter().all(|block| !block.is_empty()) && !blocks.is_empty());
        let results: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(result.tool_use_id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(results, calls);
        calls = message.message.tool_uses().map(|call| call.id.as_str()).collect();
    }
    assert!(calls.is_empty() && request.messages.last().unwrap().message.role == Role::User);
}

/// A tool with a side effect: it notes which call ran.
struct Append {
    ran: Arc<Mutex<Vec<CallId>>>,
}

impl Tool for Append {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("append", "Appends.", RawJson::parse(r#"{"type":"object"}"#).unwrap())
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { accesses: vec![Access::Opaque("appends".into())], ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        self.ran.lock().unwrap().push(context.call);
        Box::pin(async { Ok(ToolOutput::text("appended")) })
    }
}

fn id() -> SessionId {
    "cut".parse().unwrap()
}

fn parts(store: &FileStore, ran: &Arc<Mutex<Vec<CallId>>>) -> Parts {
    let mut parts = Parts::new(Arc::new(Model), Arc::new(store.clone()));
    parts.tools = Toolset::new([Arc::new(Append { ran: Arc::clone(ran) }) as _]).unwrap();
    parts.settings.model.name = "test/model".into();
    parts
}

/// The journal of a whole turn.
async fn whole_journal(folder: &Path) -> Vec<u8> {
    let store = FileStore::open(folder).unwrap();
    let parts = parts(&store, &Arc::default());
    let session = Session::create_with_id(parts, id(), "/space").await.unwrap();
    assert_eq!(session.turn(Input::text("go")).await, TurnOutcome::Done);
    session.close().await;
    fs::read(store.journal_path(&id())).unwrap()
}

/// The sound journal's entries.
async fn entries(folder: &Path, journal: &[u8]) -> Vec<Entry> {
    let store = FileStore::open(folder).unwrap();
    fs::write(store.journal_path(&id()), journal).unwrap();
    store.read(id()).await.unwrap().entries
}

/// Goes on with what is left of a journal that once held `written`. Says which calls ran twice;
/// `None` when the journal is refused.
async fn go_on(folder: &Path, written: &[Entry], journal: &[u8]) -> Option<BTreeSet<CallId>> {
    let store = FileStore::open(folder).unwrap();
    fs::write(store.journal_path(&id()), journal).unwrap();
    let before = store.read(id()).await.ok()?;
    let last = before.entries.last().map_or(0, |entry| entry.seq);
    let started: BTreeSet<CallId> = written
        .iter()
        .take_while(|entry| entry.seq <= last)
        .filter_map(|entry| match entry.record {
            Record::CallStarted { call } => Some(call),
            _ => None,
        })
        .collect();
    let ran = Arc::default();
    let session = Session::open(parts(&store, &ran), id()).await.ok()?;
    session.resume().await;
    // A damaged turn has ended; whatever the next one calls has ids of its own.
    assert_eq!(session.turn(Input::text("and now?")).await, TurnOutcome::Done);
    assert!(session.state().await.unwrap().final_answer().contains("done"));
    session.close().await;

    let after = store.read(id()).await.unwrap();
    assert_eq!(after.entries[..before.entries.len()], before.entries, "a written record is lost");
    let ran: Vec<CallId> = ran.lock().unwrap().clone();
    let unique: BTreeSet<CallId> = ran.iter().copied().collect();
    assert_eq!(unique.len(), ran.len(), "a call ran twice in one process");
    Some(started.intersection(&unique).copied().collect())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A folder in memory where there is one: each cut syncs several times.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}

#[test]
fn a_journal_cut_at_any_byte_goes_on() {
    let first = scratch();
    let journal = runtime().block_on(whole_journal(first.path()));
    let written = runtime().block_on(entries(first.path(), &journal));
    let header = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Two halves side by side: the machine has two cores, and a cut takes milliseconds.
    let middle = header + (journal.len() - header) / 2;
    std::thread::scope(|scope| {
        for range in [header..middle, middle..journal.len() + 1] {
            let (journal, written) = (&journal, &written);
            scope.spawn(move || {
                let folder = scratch();
                let runtime = runtime();
                for end in range {
                    let twice = runtime.block_on(go_on(folder.path(), written, &journal[..end]));
                    assert_eq!(twice, Some(BTreeSet::new()), "cut at byte {end}");
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A flipped byte may hide that a call was started; whatever opens, runs nothing twice that
    /// stood before its last readable record, and goes on with valid requests.
    #[test]
    fn a_journal_with_flipped_bytes_goes_on_or_is_refused(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..=255), 1..4)
    ) {
        let folder = scratch();
        let runtime = runtime();
        let mut journal = runtime.block_on(whole_journal(folder.path()));
        let written = runtime.block_on(entries(folder.path(), &journal));
        for (at, flip) in &flips {
            let at = at.index(journal.len());
            journal[at] ^= flip;
        }
        let twice = runtime.block_on(go_on(folder.path(), &written, &journal));
        prop_assert_eq!(twice.unwrap_or_default(), BTreeSet::new());
    }
}
