//! `--json`: one versioned event a line.

use std::io::Write;
use std::sync::Arc;

use heeler_core::{Envelope, Event, SessionId, TurnOutcome, View};
use heeler_engine::{Seen, Session};
use serde::Serialize;

use super::Printer;
use super::finish::{EVENTS_VERSION, Finish};
use crate::say::say;

/// Lines up to so many bytes are one write; what one read of an answer brings fits.
const WRITE_BYTES: usize = 64 * 1024;

/// Prints events as JSON Lines.
pub(super) struct JsonPrinter {
    /// What is not written yet; bytes in memory, as a journal's line is made, so that a program has
    /// what writes JSON once.
    waiting: Vec<u8>,
    /// The end of the last turn, until it is known whether another one follows.
    held_back: Option<Arc<Envelope>>,
}

impl Default for JsonPrinter {
    fn default() -> Self {
        Self { waiting: Vec::with_capacity(WRITE_BYTES), held_back: None }
    }
}

/// One line.
#[derive(Serialize)]
struct Line<T> {
    v: u32,
    #[serde(flatten)]
    event: T,
}

/// Lines that are no events of the session.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Own<'a> {
    /// The first line.
    SessionStarted { session: &'a SessionId, model: &'a str },
    /// The reader was too slow; this is the view now.
    Resync { view: &'a View },
    /// A turn that an earlier process had left is finished; the terminal event is still to come.
    ResumedTurnFinished { turn: u32, outcome: &'a TurnOutcome, answer: &'a str },
}

impl Printer for JsonPrinter {
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()> {
        self.line(&Own::SessionStarted { session: session.id(), model })
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        match seen {
            Seen::Resync(view) => self.line(&Own::Resync { view }),
            Seen::Event(envelope) => self.event(envelope),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(&self.waiting).and_then(|()| out.flush());
        self.waiting.clear();
        written
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        if finish.session.is_none()
            && let Some(complaint) = finish.complaint()
        {
            say(format_args!("heeler: {complaint}"));
        }
        finish.write_line(&mut self.waiting)?;
        self.flush()
    }
}

impl JsonPrinter {
    /// The end of the last turn is told by the terminal event, that of an earlier one here.
    fn event(&mut self, envelope: &Arc<Envelope>) -> std::io::Result<()> {
        if let Event::TurnFinished { .. } = &envelope.event {
            self.held_back = Some(Arc::clone(envelope));
            return Ok(());
        }
        let held_back = self.held_back.take();
        if let Event::TurnStarted { .. } = &envelope.event
            && let Some(Event::TurnFinished { turn, outcome, answer }) =
                held_back.as_deref().map(|envelope| &envelope.event)
        {
            self.line(&Own::ResumedTurnFinished { turn: *turn, outcome, answer })?;
        }
        self.line(envelope.as_ref())
    }

    fn line<T: Serialize>(&mut self, event: &T) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.waiting, &Line { v: EVENTS_VERSION, event })?;
        self.waiting.push(b'\n');
        if self.waiting.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }
}
