//! What watchers see is what durable records announce, in order, whatever their speed.

use std::collections::BTreeSet;

use heeler_core::{Event, View};
use heeler_engine::Seen;

use super::judge::Judge;
use crate::check::{Checked, Invariant, ensure, views_agree};

/// A watcher, as the judge follows it.
pub(super) struct Reader {
    /// How much of what was announced it has behind it.
    at: usize,
    view: View,
    ended: BTreeSet<u32>,
}

impl Judge {
    /// Somebody begins to watch, with this view. Gives the watcher's number.
    pub(super) fn reader_joins(&mut self, view: &View) -> (usize, Checked) {
        let reader =
            Reader { at: self.announced.len(), view: view.clone(), ended: BTreeSet::new() };
        self.readers.push(reader);
        (self.readers.len() - 1, self.is_view(view))
    }

    /// A watcher sees something.
    pub(super) fn reads(&mut self, reader: usize, seen: &Seen) -> Checked {
        let Self { announced, readers, state, is_broken, .. } = self;
        let reader = &mut readers[reader];
        match seen {
            Seen::Resync(view) => {
                reader.at = announced.len();
                reader.view = (**view).clone();
                if *is_broken { Ok(()) } else { views_agree(view, &state.view(), false) }
            }
            Seen::Event(envelope) => {
                let event = &envelope.event;
                reader.view.apply(event);
                if let Event::TurnFinished { turn, .. } = event {
                    ensure(reader.ended.insert(*turn), Invariant::OneTerminalEvent, || {
                        format!("the end of turn {turn} is told twice")
                    })?;
                }
                match envelope.seq {
                    Some(seq) => {
                        ensure(seq <= state.seq, Invariant::WrittenFirst, || {
                            format!("a watcher sees record {seq} before it is written")
                        })?;
                        let rest = &announced[reader.at..];
                        let passed = rest.iter().position(|(at, due)| *at == seq && due == event);
                        let passed = passed.filter(|n| rest[..*n].iter().all(|(_, e)| may_miss(e)));
                        ensure(passed.is_some(), Invariant::EventsAreRecords, || {
                            format!("a watcher sees {event:?} of {seq}, due is {:?}", rest.first())
                        })?;
                        reader.at += passed.unwrap_or_default() + 1;
                        Ok(())
                    }
                    None => {
                        let ends = matches!(event, Event::TurnFinished { .. });
                        ensure(!ends || *is_broken, Invariant::EventsAreRecords, || {
                            format!("{event:?} stands in no record")
                        })
                    }
                }
            }
        }
    }

    /// The session is closed, and the watcher has seen all there was.
    pub(super) fn reader_ends(&mut self, reader: usize) -> Checked {
        let reader = &self.readers[reader];
        let missed = self.announced[reader.at..].iter().find(|(_, event)| !may_miss(event));
        ensure(missed.is_none(), Invariant::EventsAreRecords, || {
            format!("a watcher never saw {missed:?}")
        })?;
        self.is_view(&reader.view)
    }

    /// What a watcher has is what the journal says; a session that broke has told its end besides.
    fn is_view(&self, view: &View) -> Checked {
        if self.is_broken { Ok(()) } else { views_agree(view, &self.state.view(), true) }
    }
}

/// Only the latest of these is sure to be seen.
fn may_miss(event: &Event) -> bool {
    matches!(event, Event::Usage { .. })
}
