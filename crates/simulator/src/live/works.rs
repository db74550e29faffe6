//! Work that goes on after its call, and what must hold of it: what it gives while its session goes on
//! stands in the journal, and a session that ends tells it so.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use heeler_core::{Block, CallId, CancellationToken, Completion, Input, ToolOutput};
use heeler_turn::State;

use super::judge::Judge;
use super::outside::{Inner, Outside};
use crate::check::{Checked, Invariant, ensure};
use crate::matrix::Fault;
use crate::tools;

/// What stands for the result of work that somebody cancelled.
const CANCELLED: &str =
    "Cancelled before it was done. Anything it had already changed is still changed.";

/// The works of one process.
#[derive(Default)]
pub(super) struct Works {
    begun: BTreeMap<CallId, Work>,
    cancelled: BTreeSet<CallId>,
    /// The record of their result is written.
    ended: BTreeSet<CallId>,
    /// Gave their results before anybody closed the session.
    due: BTreeSet<CallId>,
}

/// Work whose handle was taken.
struct Work {
    ends: bool,
    /// What its handle gave.
    given: Option<ToolOutput>,
    told: CancellationToken,
}

/// Work begins; it ends after a while, or once it is told to.
pub(super) fn begin(outside: &Outside, call: CallId, completion: Completion) {
    let told = completion.cancelled().clone();
    let Some((millis, output)) = outside.with(|inner| {
        let (millis, output) = tools::work(call, &mut inner.chance);
        let work = Work { ends: millis.is_some(), given: None, told: told.clone() };
        inner.judge.works.begun.insert(call, work);
        (millis, output)
    }) else {
        return;
    };
    let outside = outside.clone();
    tokio::spawn(async move {
        let over = async {
            match millis {
                Some(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                None => std::future::pending().await,
            }
        };
        let is_told = tokio::select! {
            biased;
            () = told.cancelled() => true,
            () = over => false,
        };
        outside.moment().await;
        if !is_told {
            outside.with(|inner| inner.hit(Fault::WorkEnds));
        }
        let is_dropped = outside.take(|inner| inner.work_ends(call, &output)).await;
        match is_dropped {
            true => drop(completion),
            false => completion.finish(output),
        }
    });
}

impl Inner {
    /// Whether the work's handle is dropped instead of used.
    fn work_ends(&mut self, call: CallId, output: &ToolOutput) -> bool {
        let is_dropped = self.chance.percent(10);
        let given = match is_dropped {
            true => ToolOutput::error("the work ended without a result"),
            false => output.clone(),
        };
        if let Some(work) = self.judge.works.begun.get_mut(&call) {
            work.given = Some(given);
        }
        is_dropped
    }

    /// Work that goes on; for whoever waits for it, work that ends. Rarely work that is over.
    pub(super) fn some_work(&mut self, act: Fault) -> Option<CallId> {
        let works = &self.judge.works;
        let ends = |call: &CallId| works.begun.get(call).is_some_and(|work| work.ends);
        let fits = |call: &CallId| act != Fault::WorkAwaited || ends(call);
        let mut calls: Vec<CallId> = match self.chance.percent(20) {
            true => works.ended.iter().copied().collect(),
            false => self.judge.state.background.iter().map(|work| work.call).collect(),
        };
        calls.retain(fits);
        let at = self.chance.index(calls.len());
        calls.into_iter().nth(at)
    }
}

impl Works {
    /// Whether any was begun.
    pub(super) fn any(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Somebody wants the work cancelled.
    pub(super) fn cancel(&mut self, call: CallId) {
        self.cancelled.insert(call);
    }

    /// What is given from here on may come too late.
    pub(super) fn close(&mut self) {
        let given = self.begun.iter().filter(|(_, work)| work.given.is_some());
        self.due = given.map(|(call, _)| *call).collect();
    }

    /// A record says what the handle gave, or that somebody cancelled the work.
    pub(super) fn is_result(&mut self, call: CallId, input: &Input) -> Checked {
        self.ended.insert(call);
        let said = input.blocks.iter().filter_map(Block::as_text).next_back().unwrap_or_default();
        let given = self.begun.get(&call).and_then(|work| work.given.as_ref());
        let is_given = given.is_some_and(|output| output.text_content() == said);
        let is_cancelled = self.cancelled.contains(&call) && said == CANCELLED;
        ensure(is_given || is_cancelled, Invariant::ResultIsOutput, || {
            format!("the work of {call} gave {given:?}, the record says {said:?}")
        })
    }

    /// Nothing that was given in time is missing, and every handle was told.
    pub(super) fn closed(&self, state: &State, is_broken: bool) -> Checked {
        let missing = state.background.iter().find(|work| self.due.contains(&work.call));
        ensure(is_broken || missing.is_none(), Invariant::WorkIsTold, || {
            format!("{missing:?} gave its result, and it stands nowhere")
        })?;
        let untold =
            self.begun.iter().find(|(_, work)| !work.told.is_cancelled() && work.given.is_none());
        ensure(untold.is_none(), Invariant::WorkIsTold, || {
            format!("the session is closed, and the work of {:?} was not told", untold.map(|w| w.0))
        })
    }
}

impl Judge {
    /// Somebody was told that the work of a call is over.
    pub(super) fn work_is_over(&self, call: CallId) -> Checked {
        let goes_on = self.state.background.iter().any(|work| work.call == call);
        ensure(self.is_broken || !goes_on, Invariant::AnswersAreTrue, || {
            format!("the work of {call} is told to be over, and goes on")
        })
    }

    /// Somebody was told that the work of a call is cancelled, or that it was over before.
    pub(super) fn work_is_cancelled(&self, call: CallId, worked: bool) -> Checked {
        self.work_is_over(call)?;
        let works = &self.works;
        let is_told = works.begun.get(&call).is_some_and(|work| work.told.is_cancelled());
        let is_true = if worked { is_told } else { works.ended.contains(&call) };
        ensure(self.is_broken || is_true, Invariant::WorkIsTold, || {
            format!("the work of {call} was cancelled ({worked}), and told: {is_told}")
        })
    }
}
