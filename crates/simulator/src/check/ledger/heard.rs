//! What watchers are told of a record: each thing once, in order, and nothing that was not written.

use std::sync::Arc;

use heeler_core::{Block, Entry, Event, Message, Record, Role};

use super::Ledger;
use crate::check::{Checked, Invariant, ensure};

impl Ledger {
    /// Watchers hear of the end exactly when a turn ends, and of the outcome that was written.
    pub(super) fn check_terminal(entry: &Entry, events: &[Event], ended: bool) -> Checked {
        let mut told = events.iter().filter_map(|event| match event {
            Event::TurnFinished { turn, outcome, .. } => Some((*turn, outcome)),
            _ => None,
        });
        let (first, second) = (told.next(), told.next());
        let expected = match &entry.record {
            Record::TurnFinished { turn, outcome } if ended => Some((*turn, outcome)),
            _ => None,
        };
        ensure(first == expected && second.is_none(), Invariant::OneTerminalEvent, || {
            format!("record {}: told {first:?}, written {expected:?}", entry.seq)
        })
    }

    pub(super) fn take_events(&mut self, events: &[Event], said: Vec<String>) -> Checked {
        let mut heard = Vec::new();
        for event in events {
            match event {
                Event::Message { message } => {
                    self.log.push(Arc::clone(message));
                    self.message(message, &mut heard)?;
                }
                Event::CallFinished { call, .. } => {
                    if let Some(batch) = self.batch() {
                        batch.done(*call);
                    }
                }
                Event::PermissionDecided { id, decision, .. } => {
                    if let Some(batch) = self.batch() {
                        batch.resolved(*id, decision);
                    }
                }
                Event::Compacted { cut, message, .. } => {
                    self.compacted(*cut, message)?;
                }
                Event::CompactionFailed { .. } => self.compaction_failed(),
                Event::Trimmed { messages, .. } => self.trimmed(messages)?,
                Event::Pruned { changed, .. } => self.pruned(changed)?,
                Event::Restored { messages, .. } => self.restored(messages)?,
                Event::ReasoningLeftOut { messages, blocks } => {
                    self.reasoning_left_out(messages, *blocks)?;
                }
                _ => {}
            }
        }
        self.refused_is_gone()?;
        let said: Vec<String> = said.into_iter().filter(|text| !text.trim().is_empty()).collect();
        ensure(said == heard, Invariant::SaidOnceInOrder, || {
            format!("said was {said:?}, the model hears {heard:?}")
        })
    }

    fn message(&mut self, message: &Message, heard: &mut Vec<String>) -> Checked {
        let has_results = message.blocks.iter().any(|b| matches!(b, Block::ToolResult(_)));
        match message.role {
            Role::Assistant => match self.batch() {
                Some(batch) => batch.named(message),
                None => Ok(()),
            },
            Role::User if has_results => self.results(message),
            Role::User => {
                self.words.heard(&message.text());
                heard.push(message.text());
                Ok(())
            }
        }
    }

    fn results(&mut self, message: &Message) -> Checked {
        // The batch of a turn that just ended is gone with it.
        let Some(turn) = &mut self.turn else { return Ok(()) };
        let Some(batch) = &mut turn.batch else { return Ok(()) };
        batch.answered(message)?;
        batch.count_repeats(message, self.settings.limits.repeats, &mut turn.repeats)?;
        turn.deaths = 0;
        Ok(())
    }
}
