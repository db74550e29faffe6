//! The whole shipped engine in virtual time: real sessions, and everything outside them simulated.
//!
//! Each process is a runtime of one thread whose time is virtual; its death is that the runtime is
//! dropped, at any await of what is outside. Read in this order: `outside` (what there is),
//! `store`, `provider`, `tool` (what the engine is handed), `crowd` and `whims` (what
//! people do), `judge`, `reader`, `answers`,
//! `works` (what must hold).
//!
//! Invariant: nothing here calls into the engine but what everybody can call.

mod answers;
mod crowd;
mod judge;
mod outside;
mod provider;
mod reader;
mod store;
mod tool;
mod whims;
mod works;

use tokio::runtime::Builder;

use crate::chance::Chance;
use crate::check::{Invariant, Violation, ensure};
use crate::run::Run;
use crowd::Crowd;
use outside::{End, Outside};

/// More processes than any run needs.
const PROCESSES_MAX: u32 = 100;

/// Runs one session from its first process to its last.
pub(crate) fn play(chance: Chance) -> Run {
    let outside = Outside::new(chance);
    let (mut processes, mut crashes) = (0, 0);
    let result = loop {
        processes += 1;
        match live(&outside) {
            Ok(Ended::Died) => crashes += 1,
            Ok(Ended::Closed) => {}
            Ok(Ended::AllDone) => {
                let inner = outside.lock();
                break inner.judge.end(inner.store.entries());
            }
            Err(violation) => break Err(violation),
        }
        if processes == PROCESSES_MAX {
            break Err(Violation::new(Invariant::Ends, "processes come and go for ever"));
        }
    };
    let mut inner = outside.lock();
    let chance = std::mem::replace(&mut inner.chance, Chance::taped(Vec::new()));
    Run {
        result,
        turns: u64::from(inner.judge.state.turns),
        crashes,
        matrix: inner.matrix.clone(),
        journal: inner.store.entries().to_vec(),
        tape: chance.into_tape(),
    }
}

/// How a process came to its end.
enum Ended {
    Died,
    Closed,
    AllDone,
}

/// One process.
fn live(outside: &Outside) -> Result<Ended, Violation> {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        // Who ends the process is heard before any other task does another step.
        .event_interval(1)
        .build()
        .map_err(|error| Violation::new(Invariant::Ends, format!("no runtime: {error}")))?;
    let is_done = runtime.block_on(async {
        outside.begin_process();
        let is_done = tokio::select! {
            biased;
            () = outside.ended() => false,
            is_done = Crowd::live(outside.clone()) => is_done,
        };
        outside.stop_clock();
        is_done
    });
    let tasks_left = runtime.metrics().num_alive_tasks();
    drop(runtime);
    match outside.end_process() {
        Some(End::Broke(violation)) => Err(violation),
        Some(End::Died { .. }) => Ok(Ended::Died),
        None => {
            ensure(tasks_left == 0, Invariant::NothingLeaks, || {
                format!("{tasks_left} tasks outlive the session")
            })?;
            Ok(if is_done { Ended::AllDone } else { Ended::Closed })
        }
    }
}
