//! How soon a session with a very long journal goes on.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use heeler_core::{
    Compacted, CompactionCause, CompactionStarted, Durability, Entry, Input, InterruptCause,
    Record, SessionHeader, SessionStore, Timestamp, TurnOutcome, Usage,
};
use heeler_store::FileStore;

use super::figure::{Budget, Figure, Values};
use super::place::{Place, now};
use super::process::{again, run};
use super::server::{Order, Server};
use super::wire::answer;

/// The session.
const ID: &str = "bench-long";
/// What is said in it: turns of so many bytes, 100 MB together.
const TURNS: u32 = 2700;
const TURN_BYTES: usize = 40_000;
/// Turns between two compactions.
const COMPACTED_TURNS: u32 = 10;

/// From the start of the program to its first request, in a new session and in a long one.
pub(super) fn resume(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let server = Server::start(vec![answer(0, &[])], Order::Counted)?;
    fill(place)?;
    let mut resumed = place.exec(server.url());
    resumed.args(["--resume", ID]);
    // The first process has no checkpoint yet, reads it all and keeps one.
    let first = first_request(&server, &mut again(&resumed))?;
    let mut both = [Values::default(), Values::default()];
    let commands = [place.exec(server.url()), resumed];
    for _ in 0..runs {
        for (values, command) in both.iter_mut().zip(&commands) {
            values.push(first_request(&server, &mut again(command))?);
        }
    }
    let [fresh, resumed] = both;
    let figure = |name: &str, heeler, budget| Figure {
        name: name.to_owned(),
        unit: "ms",
        reference: fresh.clone(),
        heeler,
        budget,
    };
    Ok(vec![
        figure("100 MB resumed without a checkpoint", Values::from_iter([first]), Budget::None),
        figure("100 MB resumed, beside a new session", resumed, Budget::AtMost(100.0)),
    ])
}

fn first_request(server: &Server, command: &mut std::process::Command) -> Result<f64> {
    let used = run(command)?;
    let exchanges = server.take();
    let first = exchanges.first().context("no request came")?;
    Ok((first.came - used.started).as_secs_f64() * 1000.0)
}

/// Writes the journal as long work leaves it: turns, and a compaction now and then.
fn fill(place: &Place) -> Result<()> {
    let store = FileStore::open(place.folder("home"))?;
    let workspace = place.folder("work").display().to_string();
    now(store.create(SessionHeader { id: ID.parse()?, created: Timestamp(1), workspace }))?;
    let lease = Arc::new(now(store.lease(ID.parse()?))?);
    let mut seq = 0;
    for turn in 1..=TURNS {
        let mut records = vec![
            Record::Input(Box::new(Input::text(format!("{turn} ").repeat(TURN_BYTES / 5)))),
            Record::Interrupted { cause: InterruptCause::Cancelled },
            Record::TurnFinished { turn, outcome: TurnOutcome::Cancelled },
        ];
        if turn % COMPACTED_TURNS == 0 {
            // The first time there is no summary of before.
            let cut = u64::from(COMPACTED_TURNS + u32::from(turn > COMPACTED_TURNS));
            let cause = CompactionCause::Manual;
            records.push(Record::CompactionStarted(CompactionStarted { cut, cause, focus: None }));
            let summary = "what was said before ".repeat(100);
            let usage = Usage::default();
            records.push(Record::Compacted(Box::new(Compacted {
                summary,
                usage,
                cost: None,
                kept: None,
            })));
        }
        let numbered = (seq + 1..).zip(records);
        let entries: Arc<[Entry]> =
            numbered.map(|(seq, record)| Entry { seq, at: Timestamp(1), record }).collect();
        seq += entries.len() as u64;
        now(store.append(Arc::clone(&lease), entries, Durability::Written))?;
    }
    Ok(())
}
