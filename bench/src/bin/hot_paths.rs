//! The hot paths, for `cargo xtask instructions`, which counts what they execute.
//!
//! `hot-paths NAME` prepares what a path works on and then walks it in [`measured`], the only
//! function that is counted; it prints how often it was walked. No clock, no network, no chance.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use futures::FutureExt as _;
use heeler_core::{
    Durability, Entry, Policy, Record, Rule, RuleEffect, SessionHeader, SessionId,
    SessionStore as _, Settings, Timestamp,
};
use heeler_providers::anthropic::{Decoder, Encoder};
use heeler_shell::Place;
use heeler_store::FileStore;
use heeler_turn::State;
use serde_json::{Value, json};

/// Rounds that a session has behind it.
const ROUNDS: usize = 300;
/// Records of a round.
const RECORDS: usize = 5;
/// How often a path is walked that is not a whole session.
const TIMES: usize = 200;
/// Deltas of a chunk of 16 KiB.
const DELTAS: usize = 120;
/// Bytes of a command's result.
const RESULT_BYTES: usize = 2000;
/// What a request may answer.
const OUTPUT_MAX: u64 = 32_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let times = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["decode-delta"] => decode_delta(1)?,
        ["decode-delta-16k"] => decode_delta(DELTAS)?,
        ["apply-record"] => apply_record()?,
        ["encode-request"] => encode_request()?,
        ["write-line"] => write_line()?,
        ["read-line"] => read_line()?,
        ["judge-command"] => judge_command()?,
        _ => {
            bail!(
                "usage: hot-paths apply-record|decode-delta|decode-delta-16k|encode-request|judge-command|read-line|write-line"
            )
        }
    };
    println!("{times}");
    Ok(())
}

/// What is counted. Its name is what the counting program looks for.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

/// Deltas as they come from the network, so many in a chunk, up to the event that is handed on.
fn decode_delta(in_chunk: usize) -> Result<usize> {
    let event = |data: Value| {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
    };
    let start = event(
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
        "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    );
    let block = event(json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": ""}}));
    let delta = event(json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": "some words of an answer"}}));
    let delta = delta.repeat(in_chunk);
    let (mut decoder, mut events) = (Decoder::new(), VecDeque::new());
    decoder.feed(start.as_bytes(), &mut events)?;
    decoder.feed(block.as_bytes(), &mut events)?;
    // What grows has grown before.
    for _ in 0..TIMES {
        decoder.feed(delta.as_bytes(), &mut events)?;
        decoder.publish(&mut events);
        events.clear();
    }
    let mut n_events = 0;
    measured(|| {
        for _ in 0..TIMES {
            decoder.feed(delta.as_bytes(), &mut events)?;
            decoder.publish(&mut events);
            n_events += events.drain(..).count();
        }
        anyhow::Ok(())
    })?;
    ensure!(n_events == TIMES, "{n_events} events of {TIMES} chunks");
    Ok(TIMES * in_chunk)
}

/// The records of a whole session, one after the other.
fn apply_record() -> Result<usize> {
    let entries = session(ROUNDS)?;
    let state = measured(|| fold(&entries));
    check(&state, ROUNDS)?;
    Ok(entries.len())
}

/// The request after round 300, of which one message is new.
fn encode_request() -> Result<usize> {
    let entries = session(ROUNDS + 1)?;
    let (before, last) = entries.split_at(entries.len() - RECORDS);
    let state = fold(before);
    check(&state, ROUNDS)?;
    let encoder = Encoder::default();
    encoder.encode(&state.request(OUTPUT_MAX).context("no request")?)?;
    // Each has a last message of its own that nobody has encoded.
    let states: Vec<State> = (0..TIMES)
        .map(|_| {
            let mut state = state.clone();
            last.iter().for_each(|entry| state.apply(entry));
            state
        })
        .collect();
    let mut n_bytes = 0;
    measured(|| {
        for state in &states {
            let request = state.request(OUTPUT_MAX).context("no request")?;
            n_bytes += encoder.encode(&request)?.iter().map(|chunk| chunk.len()).sum::<usize>();
        }
        anyhow::Ok(())
    })?;
    ensure!(n_bytes > TIMES * ROUNDS * RESULT_BYTES, "{n_bytes} bytes are too few");
    Ok(TIMES)
}

/// The records of a whole session, written to its journal one at a time.
fn write_line() -> Result<usize> {
    let entries = session(ROUNDS)?;
    let folder = tempfile::tempdir()?;
    let (store, header) = (FileStore::open(folder.path())?, header()?);
    store.create(header.clone()).now_or_never().context("creating waits")??;
    let lease = Arc::new(store.lease(header.id).now_or_never().context("the lease waits")??);
    let lines: Vec<Arc<[Entry]>> = entries.iter().map(|entry| [entry.clone()].into()).collect();
    let written = measured(|| {
        for line in lines {
            let appended = store.append(Arc::clone(&lease), line, Durability::Written);
            appended.now_or_never().context("an append waits")??;
        }
        anyhow::Ok(())
    });
    written?;
    Ok(entries.len())
}

/// The journal of a whole session, read back.
fn read_line() -> Result<usize> {
    let entries = session(ROUNDS)?;
    let folder = tempfile::tempdir()?;
    let (store, header) = (FileStore::open(folder.path())?, header()?);
    store.create(header.clone()).now_or_never().context("creating waits")??;
    let lease = store.lease(header.id.clone()).now_or_never().context("the lease waits")??;
    let appended = store.append(Arc::new(lease), entries.clone().into(), Durability::Written);
    appended.now_or_never().context("an append waits")??;
    let journal = measured(|| store.read(header.id).now_or_never()).context("reading waits")??;
    ensure!(journal.entries.len() == entries.len(), "the journal is not what was written");
    Ok(entries.len())
}

/// A command line as models write them, read by both parsers of shell. None is read twice, so none
/// lies in a cache.
fn judge_command() -> Result<usize> {
    let place = Place { workspace: "/space/project", home: Some("/home/user"), temp: None };
    let line = |n: usize| {
        format!(
            "cd crates/part{n} && cargo test --quiet test_{n} 2>&1 | grep -v '^ok {n}' | tail -20"
        )
    };
    let lines: Vec<String> = (0..=TIMES).map(line).collect();
    // What is made once for all lines is made by the first.
    let read = |line: &String| heeler_shell::read(line, &place).commands.len();
    let n_once = lines.first().map_or(0, read);
    let n_commands = measured(|| lines.iter().skip(1).map(read).sum::<usize>());
    ensure!(n_once > 3 && n_commands == TIMES * n_once, "{n_commands} commands are too few");
    Ok(TIMES)
}

fn header() -> Result<SessionHeader> {
    let id: SessionId = "01900000-0000-7000-8000-000000000001".parse()?;
    Ok(SessionHeader { id, created: Timestamp(0), workspace: "/space".into() })
}

fn fold(entries: &[Entry]) -> State {
    let mut state = State::new();
    entries.iter().for_each(|entry| state.apply(entry));
    state
}

/// Whether all of it was taken: the input, and an answer and a result a round.
fn check(state: &State, rounds: usize) -> Result<()> {
    let messages = state.request(OUTPUT_MAX).context("no request")?.messages.len();
    ensure!(
        state.misfits == 0 && messages == 1 + 2 * rounds,
        "{messages} messages, {} misfits",
        state.misfits
    );
    Ok(())
}

/// A turn that has run so many commands, read as it would be from a journal: whatever records look
/// like one day, such a journal opens.
fn session(rounds: usize) -> Result<Vec<Entry>> {
    let tool = json!({"name": "Bash", "description": "Runs a command.",
        "input_schema": "{\"type\":\"object\"}"});
    let rule = Rule::parse("Bash(printf:*)", RuleEffect::Allow, "bench")?;
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let settings = Record::SettingsChanged(Box::new(Settings { policy, ..Settings::default() }));
    let mut records = vec![
        json!({"kind": "opened", "body": {"incarnation": 1, "build": "bench"}}),
        serde_json::to_value(settings)?,
        json!({"kind": "input", "body": {"blocks": [{"text": {"text": "go"}}]}}),
        json!({"kind": "epoch_started", "body": {"epoch": 1, "cause": "first",
            "system": "words ".repeat(500), "tools": vec![tool; 7], "model": "anthropic/m",
            "system_hash": "a", "tools_hash": "b"}}),
    ];
    for round in 1..=rounds {
        let up_to = records.len();
        let call = format!("1.{round}.0");
        let input = format!(r#"{{"command":"printf %02000d {round}"}}"#);
        records.extend([
            json!({"kind": "model_started", "body": {"turn": 1, "round": round, "attempt": 1,
                "epoch": 1, "up_to": up_to, "reserve": {"input": 10_000, "output": 32_000}}}),
            json!({"kind": "model_replied", "body": {"turn": 1, "round": round, "attempt": 1,
            "reply": {"stop": "tool_use", "usage": {"input": 10, "output": 20}, "blocks": [
                {"text": {"text": "Now I run it once more, and look at what it says."}},
                {"tool_use": {"id": format!("toolu_{round}"), "name": "Bash", "input": input}},
            ]}}}),
            json!({"kind": "call_planned", "body": {"call": call, "plan": {"ready": {"facts": {
                "accesses": [{"command": "printf %02000d 1"}], "resources": [], "replay_safe": false,
                "exclusive": false, "terminal": false}}}}}),
            json!({"kind": "call_started", "body": {"call": call}}),
            json!({"kind": "call_finished", "body": {"call": call, "millis": 3, "output": {
                "for_llm": "0".repeat(RESULT_BYTES)}}}),
        ]);
    }
    let entry = |(at, record): (usize, Value)| {
        let shown = record["kind"].to_string();
        let record: Record = serde_json::from_value(record).context(shown)?;
        Ok(Entry { seq: at as u64 + 1, at: Timestamp(1000 + at as u64), record })
    };
    records.into_iter().enumerate().map(entry).collect()
}
