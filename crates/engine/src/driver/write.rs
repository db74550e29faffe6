//! Records on their way: applied, then written, then shown.
//!
//! The machine decides with what was applied. What nobody outside can tell from what was decided
//! may wait to be written, until something is to be done or waited for: an answer, the plans of its
//! calls and their start are one append. Everything else is written at once.

use std::sync::Arc;

use heeler_core::{
    AgentPath, Durability, Entry, Envelope, Event, InterruptCause, OutboundMessage, Record,
    StoreError, TurnOutcome,
};
use heeler_turn::state::Announcer;

use super::{Driver, wrong};
use crate::bugs::{Bug, is_on};
use crate::session::TurnEnd;

/// Records that were applied and are not written yet, with what they have for those outside.
#[derive(Default)]
pub(super) struct Unwritten {
    entries: Vec<Entry>,
    pub(super) seen: Vec<Envelope>,
    messages: Vec<OutboundMessage>,
    /// The turn that runs for all who cannot see these records.
    turn: Option<u32>,
}

impl Unwritten {
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn turn(&self) -> Option<u32> {
        self.turn
    }
}

impl Driver {
    /// Writes records and tells watchers, in that order, and whatever was held before.
    pub(super) async fn write(
        &mut self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        self.hold(records);
        self.flush(durability).await
    }

    /// Applies records; they are written before anything is done that follows from them.
    pub(super) fn hold(&mut self, records: Vec<Record>) {
        if records.is_empty() {
            return;
        }
        self.is_settled = false;
        if self.unwritten.is_empty() {
            self.unwritten.turn = self.running_turn();
        }
        let at = self.parts.clock.now();
        for record in records {
            let entry =
                Entry { seq: self.state.seq.max(self.lost_up_to).saturating_add(1), at, record };
            let mut out = Announcer::collecting();
            let with = self.correspondence(&entry.record);
            self.state.apply_announcing(&entry, &mut out);
            let events = out.into_events();
            self.unwritten.messages.extend(self.messages(with, &events));
            let seen =
                |event| Envelope { seq: Some(entry.seq), agent: AgentPath::default(), event };
            self.unwritten.seen.extend(events.into_iter().map(seen));
            self.unwritten.entries.push(entry);
        }
    }

    /// Writes what is held, in one append, and tells watchers.
    pub(super) async fn flush(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let entries: Arc<[Entry]> = std::mem::take(&mut self.unwritten.entries).into();
        let lease = Arc::clone(&self.lease);
        let append = self.parts.store.append(lease, Arc::clone(&entries), durability);
        self.tell_too_early();
        let mut appended = append.await;
        if appended.is_err() && is_on(Bug::RepeatedAppend) {
            let (lease, entries) = (Arc::clone(&self.lease), Arc::clone(&entries));
            appended = self.parts.store.append(lease, entries, durability).await;
        }
        appended?;
        let Unwritten { mut seen, messages, .. } = std::mem::take(&mut self.unwritten);
        let ended: Vec<(u32, TurnOutcome)> = seen.iter().filter_map(ended_turn).collect();
        self.send_messages(messages);
        wrong::spoil(&mut seen);
        self.log.publish(seen);
        self.seen_at = self.parts.clock.now();
        for (turn, outcome) in ended {
            self.tell_outcome(turn, &outcome);
        }
        self.tell_of_compactions(&entries);
        self.keep_checkpoint(&entries);
        Ok(())
    }

    pub(super) fn tell_outcome(&mut self, turn: u32, outcome: &TurnOutcome) {
        let (done, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|waiting| waiting.turn <= turn);
        self.waiting = waiting;
        for waiting in done {
            // Whoever dropped the turn does not want to know.
            let number = Some(waiting.turn);
            let _ = waiting.done.send(TurnEnd { outcome: outcome.clone(), number });
        }
    }

    fn tell_of_compactions(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.record {
                Record::CompactionFailed(failed) if failed.stays_due => {}
                Record::Compacted(_) => self.end_compaction(true),
                Record::CompactionFailed(_) => self.end_compaction(false),
                Record::Interrupted { cause } => {
                    self.end_compaction(false);
                    if *cause == InterruptCause::Cancelled && !self.compaction_wanted.is_empty() {
                        let text = "cancelled before the conversation was summarized";
                        self.show(Event::Notice { text: text.into() });
                        self.refuse_compaction();
                    }
                }
                _ => {}
            }
        }
    }

    /// Tells who waits for the compaction that ended. Any summary serves who wanted nothing of it in
    /// particular; the others have one of their own begun.
    fn end_compaction(&mut self, worked: bool) {
        let served = self.compaction_wanted.extract_if(.., |(focus, _)| focus.is_none());
        let served = served.map(|(_, done)| done);
        for done in self.compaction_waiting.drain(..).chain(served) {
            let _ = done.send(worked);
        }
    }

    /// Tells all who want a compaction, or wait for one, that there is none.
    pub(super) fn refuse_compaction(&mut self) {
        let wanted = self.compaction_wanted.drain(..).map(|(_, done)| done);
        for done in self.compaction_waiting.drain(..).chain(wanted) {
            let _ = done.send(false);
        }
    }
}

/// The turn that ends with an event, and how.
pub(super) fn ended_turn(seen: &Envelope) -> Option<(u32, TurnOutcome)> {
    match &seen.event {
        Event::TurnFinished { turn, outcome, .. } => Some((*turn, outcome.clone())),
        _ => None,
    }
}
