//! Work that goes on after its call: it ends when it does, or never, or somebody cancels it.

use heeler_core::{
    Block, CallId, Durability, Input, InputOrigin, Record, SteeringQueued, ToolOutput,
};
use heeler_turn::words;

use super::{Stop, World};
use crate::matrix::Fault;
use crate::tools;

/// Work of this process.
pub(super) struct Work {
    /// When it ends; `None` for never.
    lands_at: Option<u64>,
    output: ToolOutput,
}

impl World<'_> {
    /// What the records say has begun goes on, and nothing else does.
    pub(super) fn follow_works(&mut self) {
        let Self { works, state, chance, now, .. } = self;
        works.retain(|call, _| state.background.iter().any(|work| work.call == *call));
        for work in &state.background {
            works.entry(work.call).or_insert_with(|| {
                let (millis, output) = tools::work(work.call, chance);
                Work { lands_at: millis.map(|millis| *now + millis), output }
            });
        }
    }

    /// The work that ends first.
    pub(super) fn next_work(&self) -> Option<(u64, CallId)> {
        let ends = self.works.iter().filter_map(|(call, work)| Some((work.lands_at?, *call)));
        ends.min()
    }

    /// Between turns, people do not always wait until work ends.
    pub(super) fn waits_for_works(&mut self) -> bool {
        self.state.turn.is_some() || self.chance.percent(60)
    }

    /// Work may end at any moment, also between a record and the effects it brings.
    pub(super) fn ends_some_work(&mut self) -> Result<bool, Stop> {
        if self.works.is_empty() || !self.chance.percent(6) {
            return Ok(false);
        }
        let calls: Vec<CallId> = self.works.keys().copied().collect();
        let call = self.chance.pick(&calls);
        self.end_work(call)?;
        Ok(true)
    }

    /// Work ends by itself.
    pub(super) fn end_work(&mut self, call: CallId) -> Result<(), Stop> {
        let Some(Work { output, .. }) = self.works.remove(&call) else { return Ok(()) };
        self.count(Fault::WorkEnds);
        let record = told(call, &output);
        // Said before its record was heard of, it is said again.
        let records =
            if self.chance.percent(10) { vec![record.clone(), record] } else { vec![record] };
        self.write(records, Durability::Written)
    }

    /// Somebody cancels work; `None` when there is none.
    pub(super) fn cancelled_work(&mut self) -> Option<Vec<Record>> {
        let calls: Vec<CallId> = self.works.keys().copied().collect();
        let call = *calls.get(self.chance.index(calls.len()))?;
        let mut records = vec![told(call, &ToolOutput::error(words::BACKGROUND_CANCELLED))];
        if self.chance.percent(30) {
            // It was just over, and comes after all.
            records.extend(self.works.get(&call).map(|work| told(call, &work.output)));
        }
        Some(records)
    }
}

/// What work came to, in words for the model.
fn told(call: CallId, output: &ToolOutput) -> Record {
    let head = words::background_finished(tools::LATER, call, output.is_error);
    let blocks = vec![Block::text(head), Block::text(output.text_content())];
    let input = Input { blocks, origin: InputOrigin::default() };
    Record::SteeringQueued(Box::new(SteeringQueued::of_background(call, input)))
}
